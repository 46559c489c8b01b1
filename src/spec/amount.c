/* Numbers with a unit, as people write them: "80GiB", "400Gb/s", "10us". */
#include "spec/value_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef enum dimension {
    PURE,
    BYTES,
    BYTES_PER_S,
    TIME,
    TOKENS,
    FLOP,
    FLOP_PER_S,
    SAMPLES_PER_S,
    TOKENS_PER_S,
    PER_S,
    FLOP_PER_BYTE,
    WATT,
    JOULE,
    DOLLARS,
    DOLLARS_PER_H,
    BLOCKS,
    ELEMENTS,
    DIMENSIONS
} dimension;

/* Size of a unit: times * 10 ^ exp10 * 2 ^ exp2 base units of its dimension. */
typedef struct size {
    int exp10, exp2;
    double times;
} size;

static const struct {
    const char *text;
    dimension of;
    bool prefixed; /* it takes prefixes */
    size size;
} bases[] = {
    {"%", PURE, false, {-2, 0, 1}},
    {"B", BYTES, true, {0, 0, 1}},
    {"bytes", BYTES, true, {0, 0, 1}},
    {"byte", BYTES, true, {0, 0, 1}},
    {"b", BYTES, true, {0, -3, 1}},
    {"bits", BYTES, true, {0, -3, 1}},
    {"bit", BYTES, true, {0, -3, 1}},
    {"B/s", BYTES_PER_S, true, {0, 0, 1}},
    {"bytes/s", BYTES_PER_S, true, {0, 0, 1}},
    {"Bps", BYTES_PER_S, true, {0, 0, 1}},
    {"b/s", BYTES_PER_S, true, {0, -3, 1}},
    {"bit/s", BYTES_PER_S, true, {0, -3, 1}},
    {"bps", BYTES_PER_S, true, {0, -3, 1}},
    {"s", TIME, true, {0, 0, 1}},
    {"min", TIME, false, {0, 0, 60}},
    {"h", TIME, false, {0, 0, 3600}},
    {"days", TIME, false, {0, 0, 86400}},
    {"day", TIME, false, {0, 0, 86400}},
    {"d", TIME, false, {0, 0, 86400}},
    {"tokens", TOKENS, true, {0, 0, 1}},
    {"token", TOKENS, true, {0, 0, 1}},
    {"B", TOKENS, false, {9, 0, 1}},
    {"Btokens", TOKENS, false, {9, 0, 1}},
    {"FLOP", FLOP, true, {0, 0, 1}},
    {"FLOP/s", FLOP_PER_S, true, {0, 0, 1}},
    {"FLOPS", FLOP_PER_S, true, {0, 0, 1}},
    {"samples/s", SAMPLES_PER_S, true, {0, 0, 1}},
    {"tokens/s", TOKENS_PER_S, true, {0, 0, 1}},
    {"1/s", PER_S, false, {0, 0, 1}},
    {"/s", PER_S, false, {0, 0, 1}},
    {"FLOP/byte", FLOP_PER_BYTE, false, {0, 0, 1}},
    {"W", WATT, true, {0, 0, 1}},
    {"J", JOULE, true, {0, 0, 1}},
    {"USD", DOLLARS, true, {0, 0, 1}},
    {"USD/h", DOLLARS_PER_H, true, {0, 0, 1}},
    {"blocks", BLOCKS, false, {0, 0, 1}},
    {"elements", ELEMENTS, true, {0, 0, 1}},
};

static const struct {
    const char *text;
    size size;
    bool small; /* times take only these: none above 1 */
} prefixes[] = {
    {"", {0, 0, 1}, true},          {"m", {-3, 0, 1}, true},   {"u", {-6, 0, 1}, true},
    {"\xc2\xb5", {-6, 0, 1}, true}, {"n", {-9, 0, 1}, true},   {"K", {3, 0, 1}, false},
    {"k", {3, 0, 1}, false},        {"M", {6, 0, 1}, false},   {"G", {9, 0, 1}, false},
    {"T", {12, 0, 1}, false},       {"P", {15, 0, 1}, false},  {"Ki", {0, 10, 1}, false},
    {"Mi", {0, 20, 1}, false},      {"Gi", {0, 30, 1}, false}, {"Ti", {0, 40, 1}, false},
};

/* Whether a text is a prefix and `base` behind it. */
static bool is_made_of(const char *text, const char *prefix, const char *base)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && strcmp(text + length, base) == 0;
}

/* A unit of a dimension. @return whether the text is one */
static bool read_unit(const char *text, dimension of, size *out)
{
    for (size_t p = 0; p < COUNT(prefixes); p++) {
        bool suits = p == 0 || (prefixes[p].small == (of == TIME));
        if (suits && p > 0 && of != TIME && is_made_of(text, prefixes[p].text, "")) {
            *out = prefixes[p].size;
            return true;
        }
        for (size_t b = 0; b < COUNT(bases) && suits; b++) {
            if (bases[b].of == of && (p == 0 || bases[b].prefixed) &&
                is_made_of(text, prefixes[p].text, bases[b].text)) {
                const size x = prefixes[p].size, y = bases[b].size;
                *out = (size){x.exp10 + y.exp10, x.exp2 + y.exp2, x.times * y.times};
                return true;
            }
        }
    }
    return false;
}

/* The dimension and the size of a field's unit. One that is not listed has a dimension of its own
 * that nothing else fits. */
static dimension of_field(const char *unit, size *out)
{
    *out = (size){0, 0, 1};
    for (int of = BYTES; unit && of < DIMENSIONS; of++) {
        if (read_unit(unit, (dimension)of, out)) {
            return (dimension)of;
        }
    }
    return unit ? DIMENSIONS : PURE;
}

/* The decimal number with its point moved: "10" by -6 is 1e-05 to the bit, which 10 * 1e-6 is not.
 */
static double moved(const char *digits, int length, int by)
{
    char text[96];
    const char *exponent = memchr(digits, 'e', (size_t)length);
    exponent = exponent ? exponent : memchr(digits, 'E', (size_t)length);
    int mantissa = exponent ? (int)(exponent - digits) : length;
    long power = exponent ? strtol(exponent + 1, NULL, 10) : 0;
    snprintf(text, sizeof text, "%.*se%ld", mantissa < 64 ? mantissa : 64, digits, power + by);
    return strtod(text, NULL);
}

calc_amount calc_amount_read(const char *text, const char *unit, double *number)
{
    char *end;
    size is, wanted;
    double value = calc_decimal_at(text, &end);
    if (end == text || !isfinite(value)) {
        return CALC_AMOUNT_NO_NUMBER;
    }
    const char *behind = end + strspn(end, " ");
    if (*behind == '\0' && end < behind) {
        return CALC_AMOUNT_NO_NUMBER; /* a space and no unit */
    }
    if (*behind == '\0') {
        *number = value;
        return CALC_AMOUNT_BARE;
    }
    dimension of = of_field(unit, &wanted);
    if (of == DIMENSIONS || !read_unit(behind, of, &is)) {
        return CALC_AMOUNT_WRONG_UNIT;
    }
    value = moved(text, (int)(end - text), is.exp10 - wanted.exp10);
    *number = ldexp(value, is.exp2 - wanted.exp2) * is.times / wanted.times;
    return CALC_AMOUNT_UNIT;
}

const char *calc_amount_units(const char *unit)
{
    static const char *const texts[DIMENSIONS + 1] = {
        [PURE] = "it may end in K, M, G, T (1000 ...), Ki, Mi, Gi, Ti (1024 ...) or %",
        [BYTES] = "units are B, KB, MB, GB, TB (1000 ...), KiB, MiB, GiB, TiB (1024 ...)",
        [BYTES_PER_S] = "units are MB/s, GB/s, TB/s, and Gb/s of bits",
        [TIME] = "units are s, ms, us, ns, min, h and days",
        [TOKENS] = "units are tokens, Ktokens, Mtokens (1000 ...), Kitokens, Mitokens (1024 ...)",
        [FLOP] = "units are FLOP, GFLOP, TFLOP, PFLOP",
        [FLOP_PER_S] = "units are GFLOP/s, TFLOP/s, PFLOP/s",
        [SAMPLES_PER_S] = "its unit is samples/s",
        [TOKENS_PER_S] = "units are tokens/s, Ktokens/s, Mtokens/s",
        [PER_S] = "its unit is 1/s",
        [FLOP_PER_BYTE] = "its unit is FLOP/byte",
        [WATT] = "units are W, kW, MW",
        [JOULE] = "units are J, kJ, MJ",
        [DOLLARS] = "units are USD, KUSD, MUSD",
        [DOLLARS_PER_H] = "its unit is USD/h",
        [BLOCKS] = "its unit is blocks",
        [ELEMENTS] = "its unit is elements",
        [DIMENSIONS] = "it has no other unit",
    };
    size ignored;
    return texts[of_field(unit, &ignored)];
}

bool calc_amount_is_large(const char *unit)
{
    size own;
    dimension of = of_field(unit, &own);
    bool large = of == BYTES || of == BYTES_PER_S || of == FLOP || of == FLOP_PER_S;
    return large && own.exp10 == 0 && own.exp2 == 0;
}
