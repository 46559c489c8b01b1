#include "axis_parse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "show.h"
#include "spec/amount.h"
#include "spec/choice_set.h"
#include "spec/field.h"

/* ---- Errors --------------------------------------------------------------------------------- */

calc_status calc_axis_error(const calc_axis_text *text, size_t item, calc_errors *errors,
                            calc_status status, const char *hint, const char *fmt, ...)
{
    char pointer[sizeof errors->item->pointer] = "";
    char message[sizeof errors->item->text];
    if (text->pointer) {
        calc_append(pointer, sizeof pointer, "%s", text->pointer);
        if (text->list && item != CALC_AXIS_KEY) {
            calc_append(pointer, sizeof pointer, "/%zu", item);
        }
    } else if (item != CALC_AXIS_KEY) {
        const char *path = text->key;
        (void)calc_kind_split(&path, CALC_KIND_EXEC);
        calc_path_pointer(path, pointer, sizeof pointer);
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    int before = errors ? errors->count : 0;
    calc_errors_add(errors, status, CALC_KIND_NONE, pointer, hint, "%s", message);
    if (errors && errors->count > before && text->name) {
        calc_error_place(&errors->item[before], text->name, 0, 0);
    }
    return status;
}

/* ---- The text being read -------------------------------------------------------------------- */

enum { WORD_SIZE = 256 };

typedef struct reader {
    const calc_field *field;
    const calc_axis_text *text;
    size_t item;
    calc_errors *errors;
    calc_status status; /* of the first error */
    double *value;
    size_t count, capacity;
    bool full; /* no room for more values */
} reader;

#define FAIL(r, status_, hint, ...)                                                                \
    failed(r, calc_axis_error((r)->text, (r)->item, (r)->errors, status_, hint, __VA_ARGS__))

static bool failed(reader *r, calc_status status)
{
    if (r->status == CALC_OK) {
        r->status = status;
    }
    return false;
}

/* Whether there is room for `more` values, which `from` asks for. */
static bool has_room(reader *r, double more, const char *from)
{
    char shown[CALC_SHOW_SIZE];
    r->full = (double)r->count + more > CALC_AXIS_MAX_VALUES;
    return !r->full || FAIL(r, CALC_ERR_RANGE, NULL, "with \"%s\" the axis has more than %d values",
                            calc_show(shown, from), CALC_AXIS_MAX_VALUES);
}

static bool add(reader *r, double value, const char *from)
{
    if (!has_room(r, 1, from)) {
        return false;
    }
    double *grown = calc_grown(r->value, r->count, &r->capacity, sizeof *grown);
    if (!grown) {
        r->full = true;
        return FAIL(r, CALC_ERR_NOMEM, NULL, "out of memory");
    }
    r->value = grown;
    r->value[r->count++] = value;
    return true;
}

#define STAR_HINT "\"*\" stands alone, and only for fields of the execution"

/* ---- One value ------------------------------------------------------------------------------ */

/* Whether the whole word is a decimal number: not hexadecimal, infinite or NaN. */
static bool is_number(const char *word, double *out)
{
    char *end;
    *out = strtod(word, &end);
    return *word && *end == '\0' && strspn(word, "+-.0123456789eE") == strlen(word);
}

/* Report "expected EXPECTED, found WORD". */
static bool wrong_type(reader *r, const char *expected, const char *word, const char *hint)
{
    char shown[CALC_SHOW_SIZE];
    double number;
    if (is_number(word, &number)) {
        return FAIL(r, CALC_ERR_TYPE, hint, "expected %s, found %s", expected,
                    calc_show(shown, word));
    }
    return FAIL(r, CALC_ERR_TYPE, strcmp(word, "*") == 0 ? STAR_HINT : hint,
                "expected %s, found string \"%s\"", expected, calc_show(shown, word));
}

static bool read_number(reader *r, const char *word, double *out)
{
    char hint[128] = "";
    bool number = is_number(word, out);
    bool whole = r->field->type == CALC_TYPE_INT;
    bool fits = number && *out == floor(*out) && fabs(*out) < 0x1p53;
    if (whole && number && strpbrk(word, "+.eE")) {
        if (fits) {
            snprintf(hint, sizeof hint, "write %.0f", *out);
        }
        number = false;
    } else if (!number) {
        calc_amount amount = calc_amount_read(word, r->field->unit, out);
        number =
            amount == CALC_AMOUNT_UNIT && (!whole || (*out == floor(*out) && fabs(*out) < 0x1p53));
        if (amount == CALC_AMOUNT_WRONG_UNIT) {
            snprintf(hint, sizeof hint, "%s", calc_amount_units(r->field->unit));
        }
    }
    if (!number) {
        return wrong_type(r, whole ? "an integer" : "a number", word, hint);
    }
    *out = *out == 0 ? 0 : *out; /* without the sign of a zero */
    return true;
}

/* A number in the range of the field. */
static bool read_value(reader *r, const char *word, double *out)
{
    if (!read_number(r, word, out)) {
        return false;
    }
    if (!calc_field_in_range(r->field, *out)) {
        char shown[CALC_SHOW_SIZE];
        char range[128];
        return FAIL(r, CALC_ERR_RANGE, NULL, "%s is out of range, expected %s",
                    calc_show(shown, word),
                    calc_field_range_text(r->field, *out, range, sizeof range));
    }
    return true;
}

static bool read_bool(reader *r, const char *word)
{
    bool is_true = strcmp(word, "true") == 0;
    if (!is_true && strcmp(word, "false") != 0) {
        const char *hint = strcmp(word, "1") == 0   ? "write true"
                           : strcmp(word, "0") == 0 ? "write false"
                                                    : NULL;
        return wrong_type(r, "true or false", word, hint);
    }
    return add(r, is_true, word);
}

static bool not_a_choice(reader *r, const char *word)
{
    char shown[CALC_SHOW_SIZE];
    char choices[CALC_CHOICE_SET_SIZE];
    char hint[CALC_HINT_SIZE];
    const char *near = calc_nearest(word, r->field->choices);
    calc_did_you_mean(near, hint);
    if (!near && r->field->type == CALC_TYPE_SET) {
        snprintf(hint, sizeof hint, "several are joined by +: %s+%s", r->field->choices[0],
                 r->field->choices[1]);
    }
    return FAIL(r, CALC_ERR_RANGE, strcmp(word, "*") == 0 ? STAR_HINT : hint,
                "\"%s\" is not one of %s", calc_show(shown, word),
                calc_choices_text(r->field->choices, choices, sizeof choices));
}

static bool read_choice(reader *r, const char *word)
{
    int index = calc_choice_index(r->field->choices, word);
    return index < 0 ? not_a_choice(r, word) : add(r, index, word);
}

/* One set: "core_attn+mlp", "none". An empty word is a slip, not an empty set. */
static bool read_set(reader *r, const char *word)
{
    char bad[CALC_CHOICE_SET_SIZE] = "";
    int64_t set;
    bool fine = *word && calc_choice_set_parse(r->field->choices, word, &set, bad);
    return fine ? add(r, (double)set, word) : not_a_choice(r, bad);
}

/* ---- Ranges --------------------------------------------------------------------------------- */

/* The decimal number that was meant: 0.1 + 2 * 0.1 is 0.3. */
static double to_15_digits(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    return value == floor(value) ? value : strtod(text, NULL);
}

static bool add_by_step(reader *r, const char *range, double lo, double hi, double step)
{
    /* The last step may miss hi by a rounding error. */
    double steps = floor((hi - lo) / step + 1e-9);
    bool added = has_room(r, steps + 1, range);
    for (double i = 0; i <= steps && added; i++) {
        added = add(r, to_15_digits(lo + i * step), range);
    }
    return added;
}

static bool add_by_factor(reader *r, const char *range, double lo, double hi, double factor)
{
    bool added = has_room(r, log(hi / lo) / log(factor), range);
    for (double value = lo; value <= hi && added; value = to_15_digits(value * factor)) {
        added = add(r, value, range);
    }
    return added;
}

/* Split a word at colons, which become ends. @return parts, at most 4 */
static int split(char *word, char *part[4])
{
    int count = 1;
    part[0] = word;
    for (char *at = strchr(word, ':'); at && count < 4; at = strchr(at + 1, ':')) {
        *at = '\0';
        part[count++] = at + 1;
    }
    return count;
}

static bool read_range(reader *r, const char *word)
{
    char parts[WORD_SIZE];
    char shown[CALC_SHOW_SIZE];
    char *part[4];
    double lo;
    double hi;
    double step = 1;
    snprintf(parts, sizeof parts, "%s", word);
    calc_show(shown, word);
    int count = split(parts, part);
    if (count < 2 || count > 3) {
        return FAIL(r, CALC_ERR_TYPE, "write lo:hi, lo:hi:step or lo:hi:xFACTOR",
                    "\"%s\" is not a range", shown);
    }
    bool factor = count == 3 && part[2][0] == 'x';
    if (!read_value(r, part[0], &lo) || !read_value(r, part[1], &hi) ||
        (count == 3 && !read_number(r, part[2] + factor, &step))) {
        return false;
    }
    if (hi < lo) {
        char hint[WORD_SIZE];
        snprintf(hint, sizeof hint, "write %.40s:%.40s", part[1], part[0]);
        return FAIL(r, CALC_ERR_RANGE, hint, "the range \"%s\" is empty", shown);
    }
    if (factor && (step <= 1 || lo <= 0)) {
        return FAIL(r, CALC_ERR_RANGE, NULL, "\"%s\" must begin above 0 and grow by more than x1",
                    shown);
    }
    if (step <= 0) {
        return FAIL(r, CALC_ERR_RANGE, NULL, "the step of \"%s\" is not more than 0", shown);
    }
    return factor ? add_by_factor(r, word, lo, hi, step) : add_by_step(r, word, lo, hi, step);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static bool read_word(reader *r, const char *word)
{
    double number;
    switch (r->field->type) {
    case CALC_TYPE_BOOL:
        return read_bool(r, word);
    case CALC_TYPE_ENUM:
        return read_choice(r, word);
    case CALC_TYPE_SET:
        return read_set(r, word);
    default:
        if (strchr(word, ':')) {
            return read_range(r, word);
        }
        return read_value(r, word, &number) && add(r, number, word);
    }
}

/* The words of an item, between commas and without the spaces around them, up to a wrong one. */
static void read_item(reader *r, const char *item)
{
    bool fine = true;
    for (const char *at = item; at && fine;) {
        char word[WORD_SIZE];
        char shown[CALC_SHOW_SIZE];
        const char *comma = r->text->one ? NULL : strchr(at, ',');
        const char *end = comma ? comma : at + strlen(at);
        while (at < end && *at == ' ') {
            at++;
        }
        while (at < end && end[-1] == ' ') {
            end--;
        }
        if (end - at >= WORD_SIZE) {
            fine = FAIL(r, CALC_ERR_TYPE, NULL, "\"%s\" is too long", calc_show(shown, at));
        } else {
            snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
            fine = read_word(r, word);
        }
        at = comma ? comma + 1 : NULL;
    }
}

/* Whether the next item is worth reading: there is room for its values, or for its error. */
static bool may_go_on(const reader *r)
{
    return !r->full && (r->status == CALC_OK || (r->errors && r->errors->count < CALC_MAX_ERRORS));
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t sort_unique(double *value, size_t count)
{
    size_t kept = 0;
    qsort(value, count, sizeof *value, compare_numbers);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || value[kept - 1] < value[i]) {
            value[kept++] = value[i];
        }
    }
    return kept;
}

calc_status calc_axis_parse(const calc_field *field, const calc_axis_text *text, double **value,
                            size_t *count, calc_errors *errors)
{
    reader r = {.field = field, .text = text, .errors = errors};
    for (; r.item < text->count && may_go_on(&r); r.item++) {
        read_item(&r, text->item[r.item]);
    }
    if (r.status != CALC_OK) {
        free(r.value);
        r.value = NULL;
        r.count = 0;
    }
    *value = r.value;
    *count = r.value ? sort_unique(r.value, r.count) : 0;
    return r.status;
}
