#include "words.h"

#include "spec/field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 2048, PATHS = 2048, PATH_SIZE = 128, DEEP = 3, BUCKETS = 1024 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

void fuzz_put(fuzz_out *out, const char *data, size_t length)
{
    if (length <= out->capacity - out->length) {
        memcpy(out->data + out->length, data, length);
        out->length += length;
    }
}

void fuzz_put_text(fuzz_out *out, const char *text)
{
    fuzz_put(out, text, strlen(text));
}

void fuzz_put_number(fuzz_out *out, double value)
{
    char text[32];
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(text, sizeof text, "%.0f", value);
    } else {
        snprintf(text, sizeof text, "%.17g", value);
    }
    fuzz_put_text(out, text);
}

size_t fuzz_below(calc_rng *rng, size_t bound)
{
    return calc_rng_below(rng, (uint32_t)bound);
}

bool fuzz_one_in(calc_rng *rng, uint32_t times)
{
    return calc_rng_below(rng, times) == 0;
}

/* ---- Rows of all tables -----------------------------------------------------------------------
 */

typedef struct row {
    const calc_table *table;
    const calc_field *field;
    int next; /* of its bucket; -1: the last */
} row;

typedef struct vocabulary {
    int rows, paths;
    row row[ROWS];
    int bucket[BUCKETS];
    char path[PATHS][PATH_SIZE]; /* with the name of the kind */
    const char *kind;            /* of the paths that are added */
} vocabulary;

static size_t bucket_of(const char *key, size_t length)
{
    size_t hash = 5381;
    for (size_t i = 0; i < length; i++) {
        hash = hash * 33 + (unsigned char)key[i];
    }
    return hash % BUCKETS;
}

static void add_table(vocabulary *v, const calc_table *table)
{
    for (int i = 0; i < v->rows; i++) {
        if (v->row[i].table == table) {
            return;
        }
    }
    for (size_t i = 0; i < table->count && v->rows < ROWS; i++) {
        const calc_field *field = &table->rows[i];
        size_t bucket = bucket_of(field->key, strlen(field->key));
        v->row[v->rows] = (row){table, field, v->bucket[bucket]};
        v->bucket[bucket] = v->rows++;
    }
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].table) {
            add_table(v, table->rows[i].table);
        }
    }
}

static void add_path(void *context, const char *path, const calc_field *field)
{
    vocabulary *v = context;
    (void)field;
    if (v->paths < PATHS) {
        snprintf(v->path[v->paths++], PATH_SIZE, "%s.%s", v->kind, path);
    }
}

static const vocabulary *known(void)
{
    static vocabulary v;
    if (v.rows == 0) {
        memset(v.bucket, -1, sizeof v.bucket);
        for (int kind = 0; kind < CALC_KIND_COUNT; kind++) {
            v.kind = calc_kind_name((calc_kind)kind);
            add_table(&v, calc_table_of((calc_kind)kind));
            calc_field_each(calc_table_of((calc_kind)kind), add_path, &v);
        }
        add_table(&v, calc_part_table());
    }
    return &v;
}

const calc_field *fuzz_field_of(calc_rng *rng, const char *key, size_t length,
                                const calc_table **table)
{
    const vocabulary *v = known();
    int found = -1, count = 0;
    for (int i = v->bucket[bucket_of(key, length)]; i >= 0; i = v->row[i].next) {
        const char *name = v->row[i].field->key;
        if (strncmp(name, key, length) == 0 && !name[length] &&
            fuzz_one_in(rng, (uint32_t)++count)) {
            found = i;
        }
    }
    if (found < 0) {
        return NULL;
    }
    *table = v->row[found].table;
    return v->row[found].field;
}

const calc_field *fuzz_field_any(calc_rng *rng)
{
    const vocabulary *v = known();
    return v->row[fuzz_below(rng, (size_t)v->rows)].field;
}

void fuzz_put_path(fuzz_out *out, calc_rng *rng)
{
    static const char *const odd_index[] = {"-1", "99", "1e3", "0x1", "", "2147483648"};
    const vocabulary *v = known();
    const char *path = v->path[fuzz_below(rng, (size_t)v->paths)];
    if (fuzz_one_in(rng, 3)) {
        path = strchr(path, '.') + 1;
    }
    for (const char *c = path; *c; c++) {
        if (strncmp(c, "[N]", 3) == 0) {
            fuzz_put_text(out, "[");
            if (fuzz_one_in(rng, 8)) {
                fuzz_put_text(out, odd_index[fuzz_below(rng, COUNT(odd_index))]);
            } else {
                fuzz_put_number(out, (double)fuzz_below(rng, CALC_MAX_NETWORKS + 1));
            }
            fuzz_put_text(out, "]");
            c += 2;
        } else if (strncmp(c, "DATATYPE", 8) == 0) {
            fuzz_put_text(out, calc_datatype_names[fuzz_below(rng, CALC_DATATYPE_COUNT)]);
            c += 7;
        } else {
            fuzz_put(out, c, 1);
        }
    }
}

/* ---- Values -----------------------------------------------------------------------------------
 */

/* clang-format off */
static const char *const odd_numbers[] = {
    "0", "-0", "-0.0", "-1", "1", "2", "3", "7", "0.1", "0.5", "1.5", "1e-9", "1e15", "1e18",
    "1e300", "-1e300", "1e308", "1e309", "-1e999", "4.9e-324", "1e-320", "2.2250738585072014e-308",
    "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551615", "18446744073709551616", "2147483647",
    "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "32767", "32768",
    "65535", "65536", "127", "128", "255", "256", "1048576", "1.0000000000000002",
    "0.99999999999999989", "99999999999999999999999999999999999999999999999999"};

/* What no JSON has, but other formats and texts with units may. */
static const char *const odd_numerals[] = {
    "0x10", "1e", "1.", ".5", "01", "+1", "1_000", "1,000", "NaN", "Infinity", "-Infinity", "nan",
    "inf", "-inf", ".inf", ".nan", "1GiB", "-5us", "1e400GB", "3 ms", "50%", "1/2", "1e-400s"};

/* What some reader gives a meaning, without quotes. */
static const char *const odd_words[] = {
    "", "none", "None", "null", "NULL", "true", "True", "TRUE", "yes", "off", "no", "auto", "*",
    "all", "default", "1:8:x2", "1:1e9", "1,2,4", "1:8", "8*2", "2x3", "2x3,1x2", "1x0", "x",
    "float8", "bf16", "fp8", "int4", "full", "-", "--", "=", "==", "<=", "$X", "${X}", "$(id)",
    "`id`", "%s%n", "../x", "/x", "a.b", "a[0]", "[0]", "a,b", "'", "<b>", "{{x}}", "&a", "*a",
    "!!int 1", "|", ">-", "? a", "- ", "# x", "@x", "<<", "~", "{exe}", "\\n", "\\u0000", "\\t",
    "\\ud83d\\ude00", "\xc3\xa9", "\xf0\x9f\x98\x80", "\x7f"};

/* What breaks texts of some kind. */
static const char *const odd_bytes[] = {
    "\"", "\\", "\\ud800", "\\x", "\xff\xfe", "\xed\xa0\x80", "\xc0\x80", "\x1b[31m", "\x01", "\r",
    "\n", "\t", "\xf4\x90\x80\x80", "\xe2\x80\xa8"};

static const char *const odd_structures[] = {
    "[]", "{}", "[[]]", "[{}]", "[null]", "[1]", "[1, 2]", "[-1]", "[\"\"]", "{\"a\": 1}",
    "{\"\": {}}", "[[0, 1]]", "[[1, 1]]", "[[8, 0.5], [0, 0.1]]", "[1, null]", "[1, -1]", "[2, 0]",
    "{\"set\": {}}", "[[[[[[[[[]]]]]]]]]", "[true, false]", "[0, 0, 0, 0]", "[1, \"a\"]"};
/* clang-format on */

static void put_word(fuzz_out *out, const char *word, bool quoted)
{
    fuzz_put_text(out, quoted ? "\"" : "");
    fuzz_put_text(out, word);
    fuzz_put_text(out, quoted ? "\"" : "");
}

/* One of a list. */
#define ANY(list) list[fuzz_below(rng, COUNT(list))]

void fuzz_put_odd(fuzz_out *out, calc_rng *rng, bool quoted)
{
    switch (fuzz_below(rng, 10)) {
    case 0:
    case 1:
    case 2:
        fuzz_put_text(out, ANY(odd_numbers));
        break;
    case 3:
        put_word(out, fuzz_one_in(rng, 2) ? ANY(odd_numerals) : ANY(odd_numbers), quoted);
        break;
    case 4:
        fuzz_put_text(out, ANY(odd_structures));
        break;
    case 5:
        quoted = quoted && !fuzz_one_in(rng, 8); /* drawn first by every compiler */
        put_word(out, ANY(odd_words), quoted);
        break;
    case 6:
        fuzz_put_text(out, quoted ? "\"" : "");
        fuzz_put_path(out, rng);
        fuzz_put_text(out, fuzz_one_in(rng, 2) ? "=" : " <= ");
        fuzz_put_text(out, ANY(odd_numbers));
        fuzz_put_text(out, quoted ? "\"" : "");
        break;
    case 7:
        if (fuzz_one_in(rng, 4)) {
            put_word(out, ANY(odd_bytes), quoted);
        } else {
            fuzz_put_text(out, fuzz_one_in(rng, 2) ? "null" : "true");
        }
        break;
    default:
        put_word(out, ANY(odd_words), quoted);
        break;
    }
}

void fuzz_put_near(fuzz_out *out, calc_rng *rng, double value)
{
    static const double factors[] = {2, 0.5, -1, 1e3, 1e6, 1e9, 1e15, 1e-3, 1e-6, 1e-9, 1.5, 3};
    switch (fuzz_below(rng, 4)) {
    case 0:
        value += (double)fuzz_below(rng, 5) - 2;
        break;
    case 1:
        value = nextafter(value, fuzz_one_in(rng, 2) ? INFINITY : -INFINITY);
        break;
    case 2:
        value += (calc_rng_real(rng) - 0.5) * value;
        break;
    default:
        value *= factors[fuzz_below(rng, COUNT(factors))];
        break;
    }
    fuzz_put_number(out, isfinite(value) ? value : 1e308);
}

/* In the range by the order of magnitude, at its ends, or just beyond. */
static double number_of(calc_rng *rng, const calc_field *field)
{
    bool whole = field->type == CALC_TYPE_INT;
    bool open = field->lo == 0 && field->hi == 0;
    double lo = open ? -1e6 : field->lo, hi = open || isinf(field->hi) ? 1e6 : field->hi;
    double value;
    switch (fuzz_below(rng, 12)) {
    case 0:
        return lo;
    case 1:
        return hi;
    case 2:
        return whole ? lo - 1 : nextafter(lo, -INFINITY);
    case 3:
        return whole ? hi + 1 : nextafter(hi, INFINITY);
    case 4:
        return whole ? ldexp(1, (int)fuzz_below(rng, 64)) : nextafter(hi, -INFINITY);
    case 5:
        return 0;
    case 6:
    case 7:
        value = (double)(1 << fuzz_below(rng, 12));
        break;
    case 8:
        value = (double)fuzz_below(rng, 10);
        break;
    default: {
        double from = lo > 0 ? lo : whole ? 1 : hi * 1e-9;
        value = from * pow(hi / from, calc_rng_real(rng) * calc_rng_real(rng));
        break;
    }
    }
    return whole ? floor(value) : value;
}

static const char *choice_of(calc_rng *rng, const calc_field *field)
{
    size_t count = 0;
    while (field->choices[count]) {
        count++;
    }
    return field->choices[fuzz_below(rng, count)];
}

static void put_pairs(fuzz_out *out, calc_rng *rng)
{
    double size = (double)(1 << fuzz_below(rng, 20));
    fuzz_put_text(out, "[");
    for (size_t i = fuzz_below(rng, 10); i > 0; i--, size = floor(size / 2)) {
        fuzz_put_text(out, "[");
        fuzz_put_number(out, size);
        fuzz_put_text(out, ", ");
        fuzz_put_number(out, calc_rng_real(rng));
        fuzz_put_text(out, "], ");
    }
    fuzz_put_text(out, "[0, ");
    fuzz_put_number(out, fuzz_one_in(rng, 9) ? 0 : calc_rng_real(rng));
    fuzz_put_text(out, "]]");
}

static void put_value(fuzz_out *out, calc_rng *rng, const calc_field *field, bool quoted,
                      int depth);

/* Most rows of a table, or some. */
static void put_object(fuzz_out *out, calc_rng *rng, const calc_table *table, int depth)
{
    bool most = !fuzz_one_in(rng, 3);
    const char *comma = "";
    fuzz_put_text(out, "{");
    for (size_t i = 0; i < table->count && depth < DEEP; i++) {
        const calc_field *field = &table->rows[i];
        bool optional = field->flags & CALC_OPTIONAL;
        if (fuzz_one_in(rng, optional || !most ? 8 : 1)) {
            fuzz_put_text(out, comma);
            put_word(out, field->key, true);
            fuzz_put_text(out, ": ");
            put_value(out, rng, field, true, depth + 1);
            comma = ", ";
        }
    }
    fuzz_put_text(out, "}");
}

static void put_structure(fuzz_out *out, calc_rng *rng, const calc_field *field, int depth)
{
    if (field->type == CALC_TYPE_OBJECT) {
        put_object(out, rng, field->table, depth);
        return;
    }
    size_t count =
        fuzz_one_in(rng, 20) ? CALC_MAX_NETWORKS + fuzz_below(rng, 2) : fuzz_below(rng, 3);
    fuzz_put_text(out, field->type == CALC_TYPE_LIST ? "[" : "{");
    for (size_t i = 0; i <= count; i++) {
        fuzz_put_text(out, i > 0 ? ", " : "");
        if (field->type == CALC_TYPE_MAP) {
            put_word(out, choice_of(rng, field), true);
            fuzz_put_text(out, ": ");
        }
        put_object(out, rng, field->table, depth);
    }
    fuzz_put_text(out, field->type == CALC_TYPE_LIST ? "]" : "}");
}

static void put_set(fuzz_out *out, calc_rng *rng, const calc_field *field)
{
    fuzz_put_text(out, "[");
    for (size_t i = fuzz_below(rng, 5); i > 0; i--) {
        put_word(out, choice_of(rng, field), true);
        fuzz_put_text(out, i > 1 ? ", " : "");
    }
    fuzz_put_text(out, "]");
}

/* With its unit, if it has one, as text. */
static void put_quantity(fuzz_out *out, calc_rng *rng, const calc_field *field, bool quoted)
{
    static const char *const units[] = {"",    "us",   "ms", "s",    "GiB",     "MB", "TB",
                                        "KiB", "GB/s", "%",  "Gb/s", "TFLOP/s", "k",  "M"};
    bool own = field->unit && fuzz_one_in(rng, 2);
    fuzz_put_text(out, quoted ? "\"" : "");
    fuzz_put_number(out, number_of(rng, field));
    fuzz_put_text(out, fuzz_one_in(rng, 2) ? " " : "");
    fuzz_put_text(out, own ? field->unit : units[fuzz_below(rng, COUNT(units))]);
    fuzz_put_text(out, quoted ? "\"" : "");
}

static void put_value(fuzz_out *out, calc_rng *rng, const calc_field *field, bool quoted, int depth)
{
    if (fuzz_one_in(rng, depth > 0 ? 40 : 8)) {
        fuzz_put_odd(out, rng, quoted);
        return;
    }
    if (field->flags & CALC_AUTO && fuzz_one_in(rng, 5)) {
        put_word(out, "auto", quoted);
        return;
    }
    switch (field->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_REAL:
        if (fuzz_one_in(rng, 12)) {
            put_quantity(out, rng, field, quoted);
        } else {
            fuzz_put_number(out, number_of(rng, field));
        }
        break;
    case CALC_TYPE_BOOL:
        fuzz_put_text(out, fuzz_one_in(rng, 2) ? "true" : "false");
        break;
    case CALC_TYPE_ENUM:
        put_word(out, choice_of(rng, field), quoted);
        break;
    case CALC_TYPE_SET:
        put_set(out, rng, field);
        break;
    case CALC_TYPE_CURVE:
        put_pairs(out, rng);
        break;
    case CALC_TYPE_OP:
        fuzz_put_text(out, fuzz_one_in(rng, 2) ? "[1, null]" : "[2, -1]");
        break;
    case CALC_TYPE_OBJECT:
    case CALC_TYPE_LIST:
    case CALC_TYPE_MAP:
        put_structure(out, rng, field, depth);
        break;
    default:
        fuzz_put_odd(out, rng, quoted);
        break;
    }
}

void fuzz_put_value(fuzz_out *out, calc_rng *rng, const calc_field *field, bool quoted)
{
    put_value(out, rng, field, quoted, 0);
}

void fuzz_put_member(fuzz_out *out, calc_rng *rng, const calc_field *field)
{
    put_word(out, field->key, true);
    fuzz_put_text(out, ": ");
    put_value(out, rng, field, true, 0);
}
