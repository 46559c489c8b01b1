#include "cli/draw/human.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

_Static_assert((int)CALC_HUMAN_MAX >= (int)CALC_DECIMAL_SIZE, "a buffer takes a grouped number");

/* Decimals that show `digits` significant digits, after rounding to them. */
static int decimals(double value, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    int count = digits - 1 - exponent;
    return count < 0 ? 0 : count > 12 ? 12 : count;
}

static char *not_available(char *buffer)
{
    return strcpy(buffer, "n/a");
}

char *calc_human_integer(double value, char *buffer)
{
    return isfinite(value) ? calc_decimal_grouped(value, buffer) : not_available(buffer);
}

char *calc_human_counted(double value, const char *noun, char *buffer)
{
    calc_human_integer(value, buffer);
    size_t length = strlen(buffer);
    snprintf(buffer + length, CALC_HUMAN_MAX - length, " %s%s", noun, value == 1 ? "" : "s");
    return buffer;
}

char *calc_human_number(double value, char *buffer)
{
    if (!isfinite(value) || fabs(value) >= 999.95) {
        return calc_human_integer(value, buffer);
    }
    snprintf(buffer, CALC_HUMAN_MAX, "%.*f", value == 0 ? 0 : decimals(value, 4), value);
    return buffer;
}

/* Value in the largest unit of which it has at least one; units from large to small. */
static char *with_unit(double value, const char *const *units, const double *scales, size_t count,
                       char *buffer)
{
    if (!isfinite(value)) {
        return not_available(buffer);
    }
    size_t i = 0;
    while (i + 1 < count && fabs(value) < scales[i] * 0.99995) {
        i++;
    }
    char number[CALC_HUMAN_MAX];
    calc_human_number(value / scales[i], number);
    snprintf(buffer, CALC_HUMAN_MAX, "%.*s%s", CALC_HUMAN_MAX - 8, number, units[i]);
    return buffer;
}

char *calc_human_count(double value, char *buffer)
{
    static const char *const units[] = {" T", " B", " M", " K", ""};
    static const double scales[] = {1e12, 1e9, 1e6, 1e3, 1};
    return with_unit(value, units, scales, 5, buffer);
}

char *calc_human_seconds(double seconds, char *buffer)
{
    static const char *const units[] = {" s", " ms", " us", " ns"};
    static const double scales[] = {1, 1e-3, 1e-6, 1e-9};
    return seconds == 0 ? strcpy(buffer, "0 s") : with_unit(seconds, units, scales, 4, buffer);
}

char *calc_human_bytes(double bytes, char *buffer)
{
    static const char *const units[] = {" TiB", " GiB", " MiB", " KiB", " B"};
    static const double scales[] = {0x1p40, 0x1p30, 0x1p20, 0x1p10, 1};
    return with_unit(bytes, units, scales, 5, buffer);
}

char *calc_human_percent(double fraction, char *buffer)
{
    if (!isfinite(fraction)) {
        return not_available(buffer);
    }
    snprintf(buffer, CALC_HUMAN_MAX, "%.1f %%", 100 * fraction);
    return buffer;
}

void calc_human_apportion(const double *part, size_t count, int64_t whole, int64_t *share)
{
    enum { MAX = 32 };
    double remainder[MAX];
    double sum = 0;
    assert(count <= MAX);
    for (size_t i = 0; i < count; i++) {
        sum += part[i];
    }
    int64_t left = whole;
    for (size_t i = 0; i < count; i++) {
        double exact = part[i] / sum * (double)whole;
        share[i] = (int64_t)floor(exact);
        remainder[i] = exact - floor(exact);
        left -= share[i];
    }
    for (; left > 0; left--) {
        size_t largest = 0;
        for (size_t i = 1; i < count; i++) {
            if (remainder[i] > remainder[largest]) {
                largest = i;
            }
        }
        share[largest]++;
        remainder[largest] = -1;
    }
}
