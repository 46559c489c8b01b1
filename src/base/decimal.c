#include "base/decimal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between LEAST and MOST the digits follow from whole numbers of 128 bits, without rounding. */
#define LEAST 1e-10
#define MOST 1e36

__extension__ typedef unsigned __int128 wide;

enum { DIGITS = 17 };
static const uint64_t ten_to_17 = 100000000000000000;

/* A number between LEAST and MOST: value * 10^(16 - exponent) = over / under, at least 10^16 and
 * below 10^17; the next number is `step / under` away. */
typedef struct ratio {
    int exponent;
    wide over, under, step;
    uint64_t whole; /* of the quotient */
    wide rest;
} ratio;

static uint64_t power_of_five(int exponent)
{
    static const uint64_t low[] = {1,       5,        25,        125,       625,
                                   3125,    15625,    78125,     390625,    1953125,
                                   9765625, 48828125, 244140625, 1220703125};
    return exponent < 14 ? low[exponent] : low[exponent - 14] * 6103515625;
}

/* @param mantissa, binary  value = mantissa * 2^binary @param exponent  of ten */
static ratio ratio_at(uint64_t mantissa, int binary, int exponent)
{
    ratio r = {.exponent = exponent};
    int up = DIGITS - 1 - exponent; /* times 10^up */
    if (up >= 0) {
        r.step = power_of_five(up);
        r.over = mantissa * r.step;
        int shift = -(binary + up);
        if (shift > 0) {
            r.under = (wide)1 << shift;
            r.whole = (uint64_t)(r.over >> shift);
            r.rest = r.over & (r.under - 1);
        } else {
            r.step <<= -shift;
            r.over <<= -shift;
            r.under = 1;
            r.whole = (uint64_t)r.over;
        }
    } else {
        r.under = (wide)power_of_five(-up) << -up;
        r.over = (wide)mantissa << binary;
        r.step = (wide)1 << binary;
        r.whole = (uint64_t)(r.over / r.under);
        r.rest = r.over % r.under;
    }
    return r;
}

/* The first `digits` digits, rounded, as a whole number; `unit` is 10^(17 - digits). */
static uint64_t rounded(const ratio *r, uint64_t unit)
{
    uint64_t first = r->whole / unit;
    wide twice = 2 * (r->whole % unit * r->under + r->rest);
    wide one = unit * r->under;
    return first + (twice > one || (twice == one && first % 2 == 1));
}

/* Whether this number is the nearest to `decimal`. Of two equally near ones the even one counts. */
static bool reads_back(const ratio *r, uint64_t decimal, bool is_even)
{
    wide product = decimal * r->under;
    wide twice = 2 * (product > r->over ? product - r->over : r->over - product);
    return twice < r->step || (twice == r->step && is_even);
}

/* Digits of a number. @return their end */
static char *put_digits(uint64_t number, char *out)
{
    char reversed[DIGITS + 3];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        *out++ = reversed[--count];
    }
    return out;
}

/* Write the digits as %g does. @param digits  requested precision */
static void put_number(char *out, const char *digit, int count, int exponent, int digits)
{
    if (exponent < -4 || exponent >= digits) {
        *out++ = digit[0];
        if (count > 1) {
            *out++ = '.';
            memcpy(out, digit + 1, (size_t)count - 1);
            out += count - 1;
        }
        *out++ = 'e';
        *out++ = exponent < 0 ? '-' : '+';
        exponent = abs(exponent); /* two digits: LEAST and MOST */
        *out++ = (char)('0' + exponent / 10);
        *out++ = (char)('0' + exponent % 10);
        *out = '\0';
        return;
    }
    int whole = exponent + 1;
    if (whole <= 0) {
        memcpy(out, "0.000", 5);
        out += 2 - whole;
    }
    for (int i = 0; i < count || i < whole; i++) {
        if (i == whole && i > 0) {
            *out++ = '.';
        }
        *out++ = i < count ? digit[i] : '0';
    }
    *out = '\0';
}

/* With `digits` digits, or up to `most` until it reads back. */
static bool decimal(double value, int digits, int most, char *buffer)
{
    double size = fabs(value);
    uint64_t mantissa;
    const uint64_t hidden = (uint64_t)1 << 52;
    memcpy(&mantissa, &size, sizeof mantissa);
    int binary = (int)(mantissa >> 52) - 1075;
    mantissa = (mantissa & (hidden - 1)) | hidden;
    /* The number below a power of two is nearer than the one above. */
    if (!(size >= LEAST && size <= MOST) || mantissa == hidden) {
        return false;
    }
    int exponent = (int)floor((binary + 52) * 0.30102999566398120); /* log10(2), or one less */
    ratio r = ratio_at(mantissa, binary, exponent);
    if (r.whole >= ten_to_17) {
        r = ratio_at(mantissa, binary, exponent + 1);
    }
    char digit[DIGITS + 3] = {0};
    uint64_t unit = 1;
    for (int i = digits; i < DIGITS; i++) {
        unit *= 10;
    }
    uint64_t number = rounded(&r, unit);
    while (digits < most && !reads_back(&r, number * unit, mantissa % 2 == 0)) {
        unit /= 10;
        digits++;
        number = rounded(&r, unit);
    }
    bool carried = number * unit == ten_to_17; /* 9.99... is 10 */
    while (number % 10 == 0) {
        number /= 10;
    }
    int count = (int)(put_digits(number, digit) - digit);
    *buffer = '-';
    put_number(buffer + (value < 0), digit, count, r.exponent + carried, digits);
    return true;
}

/* A whole number of some digits at most, below 2^53. */
static bool whole(double value, int digits, char *buffer)
{
    bool is_whole = value == floor(value) && fabs(value) < 0x1p53 && fabs(value) < pow(10, digits);
    if (is_whole) {
        *buffer = '-';
        *put_digits((uint64_t)fabs(value), buffer + (signbit(value) != 0)) = '\0';
    }
    return is_whole;
}

bool calc_decimal(double value, char *buffer)
{
    return whole(value, DIGITS, buffer) || decimal(value, DIGITS - 2, DIGITS, buffer);
}

char *calc_decimal_rounded(double value, int digits, char *buffer)
{
    if (!whole(value, digits, buffer) && !decimal(value, digits, digits, buffer)) {
        snprintf(buffer, CALC_DECIMAL_SIZE, "%.*g", digits, value);
    }
    return buffer;
}

char *calc_decimal_grouped(double value, char *buffer)
{
    char digits[CALC_DECIMAL_SIZE / 2];
    int length = snprintf(digits, sizeof digits, "%.0f", fabs(value));
    if (length >= (int)sizeof digits) {
        snprintf(buffer, CALC_DECIMAL_SIZE, "%.3e", value);
        return buffer;
    }
    char *out = buffer;
    if (value < 0) {
        *out++ = '-';
    }
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

double calc_decimal_at(const char *text, char **end)
{
    const char *digits = text + (*text == '-');
    /* "0x10", and "024", of "1,024" */
    bool other = digits[0] == '0' &&
                 (digits[1] == 'x' || digits[1] == 'X' || isdigit((unsigned char)digits[1]));
    if (other || !isdigit((unsigned char)digits[digits[0] == '.'])) {
        *end = (char *)text;
        return 0;
    }
    return strtod(text, end);
}

bool calc_decimal_read(const char *text, bool whole, double lo, double hi, double *out)
{
    char *end;
    double value = calc_decimal_at(text, &end);
    bool fine = end != text && *end == '\0' && isfinite(value) && value >= lo && value <= hi &&
                (*text != '-' || lo < 0) && !(whole && strpbrk(text, ".eE"));
    *out = fine ? value : *out;
    return fine;
}
