#include "axis.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "objective.h"
#include "spec/alias.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/value_text.h"
#include "variants.h"

/* ---- Errors --------------------------------------------------------------------------------- */

/* Add an error about an item of an axis or its key. @return status */

static calc_status calc_axis_error(const calc_axis_text *text, size_t item, calc_errors *errors,
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
    if (!CALC_PUSH(r->value, r->count, r->capacity, &value)) {
        r->full = true;
        return FAIL(r, CALC_ERR_NOMEM, NULL, "out of memory");
    }
    return true;
}

#define STAR_HINT "\"*\" stands alone, for fields whose legal values a rule says"

/* ---- One value ------------------------------------------------------------------------------ */

static bool is_number(const char *word, double *out)
{
    return calc_decimal_read(word, false, -HUGE_VAL, HUGE_VAL, out);
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
    if (whole && number && strpbrk(word, ".eE")) {
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
    const char *const *choices = r->field->choices, *near = calc_nearest(word, choices);
    return FAIL(r, CALC_ERR_RANGE,
                strcmp(word, "*") == 0                    ? STAR_HINT
                : near || r->field->type != CALC_TYPE_SET ? CALC_DID_YOU_MEAN(near)
                                                          : CALC_JOINED(choices),
                "\"%s\" is not one of %s", calc_show(shown, word), CALC_CHOICES(choices));
}

/* ---- Ranges --------------------------------------------------------------------------------- */

/* The decimal number that was meant: 0.1 + 2 * 0.1 is 0.3. */
static double to_15_digits(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    return value == floor(value) ? value : strtod(text, NULL);
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
    /* The last step may miss hi by a rounding error. */
    double steps = factor ? log(hi / lo) / log(step) : floor((hi - lo) / step + 1e-9) + 1;
    double value = factor ? lo : to_15_digits(lo);
    bool added = has_room(r, steps, word);
    for (double i = 1; (factor ? value <= hi : i <= steps) && added; i++) {
        added = add(r, value, word);
        value = to_15_digits(factor ? value * step : lo + i * step);
    }
    return added;
}

/* ---- All of it ------------------------------------------------------------------------------ */

static bool read_word(reader *r, const char *word)
{
    char bad[CALC_CHOICE_SET_SIZE] = "";
    double number;
    int64_t set;
    int index;
    switch (r->field->type) {
    case CALC_TYPE_BOOL:
        return read_bool(r, word);
    case CALC_TYPE_ENUM:
        index = calc_choice_index(r->field->choices, word);
        return index < 0 ? not_a_choice(r, word) : add(r, index, word);
    case CALC_TYPE_SET: /* "core_attn+mlp", "none"; an empty word is a slip, not an empty set */
        return *word && calc_choice_set_parse(r->field->choices, word, &set, bad)
                   ? add(r, (double)set, word)
                   : not_a_choice(r, bad);
    default:
        if (strchr(word, ':')) {
            return read_range(r, word);
        }
        return read_value(r, word, &number) && add(r, number, word);
    }
}

/* The words of an item, without the spaces beside the commas between them, up to a wrong one. */
static void read_item(reader *r, const char *item)
{
    bool fine = true;
    for (const char *at = item; at && fine;) {
        char word[WORD_SIZE];
        char shown[CALC_SHOW_SIZE];
        const char *comma = r->text->one ? NULL : strchr(at, ',');
        const char *end = comma ? comma : at + strlen(at);
        while (at > item && at < end && *at == ' ') {
            at++;
        }
        while (comma && at < end && end[-1] == ' ') {
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

calc_status calc_axis_parse(const calc_field *field, const calc_axis_text *text, double **value,
                            size_t *count, calc_errors *errors)
{
    reader r = {.field = field, .text = text, .errors = errors};
    /* Whether the next item is worth reading: there is room for its values, or for its error. */
    for (; r.item < text->count &&
           (!r.full && (r.status == CALC_OK || (r.errors && r.errors->count < CALC_MAX_ERRORS)));
         r.item++) {
        read_item(&r, text->item[r.item]);
    }
    if (r.status != CALC_OK) {
        free(r.value);
        r.value = NULL;
        r.count = 0;
    }
    if (r.count > 0) {
        CALC_SORT(r.value, r.count, calc_order_numbers);
    }
    *value = r.value;
    *count = 0;
    for (size_t i = 0; i < r.count; i++) {
        if (*count == 0 || r.value[*count - 1] < r.value[i]) {
            r.value[(*count)++] = r.value[i];
        }
    }
    return r.status;
}

enum { PATH_SIZE = 128, KINDS = 3, MAX_CHOICES = 32 };

/* In the order in which a name without prefix is looked up. The application and the system have no
 * field in common. */
static const calc_kind kinds[KINDS] = {CALC_KIND_EXEC, CALC_KIND_APP, CALC_KIND_SYSTEM};

/* ---- Keys that are no axes ------------------------------------------------------------------ */

static const char *const study_keys[] = {CALC_STUDY_KEY_LIST(CALC_WORD_OF) NULL};

calc_study_key calc_study_key_find(const char *key)
{
    int index = calc_choice_index(study_keys, key);
    return index < 0 ? CALC_STUDY_KEY_COUNT : (calc_study_key)index;
}

/* ---- Finding the field ---------------------------------------------------------------------- */

static void unknown(const calc_axis_text *text, calc_kind only, const char *path,
                    calc_errors *errors)
{
    char shown[CALC_SHOW_SIZE];
    char hint[PATH_SIZE + 32];
    bool keys = only == CALC_KIND_NONE && !text->name; /* of a file */
    calc_alias_hint(only, path, keys ? study_keys : NULL, hint, sizeof hint);
    calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD, hint, "unknown %s \"%s\"%s%s",
                    text->name ? "field" : "key", calc_show(shown, path),
                    only == CALC_KIND_NONE ? "" : " in ", calc_kind_name(only));
}

static calc_status find(const calc_axis_text *text, const char **path, calc_field_ref *ref,
                        calc_errors *errors)
{
    *path = text->key;
    calc_kind only = calc_kind_split(path, CALC_KIND_EXEC);
    for (int i = 0; i < KINDS; i++) {
        if ((only == CALC_KIND_NONE || only == kinds[i]) &&
            calc_field_find(kinds[i], *path, ref) == CALC_OK) {
            /* A name on the command line may be of a choice that the application has, too: as with
             * calc_set(), one must say which is meant. A file is an execution. */
            calc_field_ref other;
            if (only == CALC_KIND_NONE && text->name && ref->kind == CALC_KIND_EXEC &&
                ref->field->type == CALC_TYPE_ENUM &&
                calc_field_find(CALC_KIND_APP, *path, &other) == CALC_OK) {
                char hint[2 * PATH_SIZE];
                snprintf(hint, sizeof hint, "qualify it: app.%.100s or exe.%.100s", *path, *path);
                return calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD, hint,
                                       "\"%s\" is in app and exe", *path);
            }
            /* Results call a field by its key, whatever other name was typed. */
            *path = strpbrk(*path, ".[") ? *path : ref->field->key;
            return CALC_OK;
        }
    }
    unknown(text, only, *path, errors);
    return CALC_ERR_FIELD;
}

/* ---- Fields of the application and the system ------------------------------------------------ */

/* Whether the element of a list or map that a field is in is there: a network, or an engine that
 * computes in a datatype. */
static bool exists(const calc_system *system, const calc_field_ref *ref)
{
    const calc_table *table = calc_table_of(CALC_KIND_SYSTEM);
    const char *object = (const char *)system;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *row = &table->rows[i];
        size_t elements = row->type == CALC_TYPE_LIST  ? CALC_MAX_NETWORKS
                          : row->type == CALC_TYPE_MAP ? CALC_DATATYPE_COUNT
                                                       : 0;
        if (ref->offset < row->offset || ref->offset >= row->offset + elements * row->element) {
            continue;
        }
        size_t index = (ref->offset - row->offset) / row->element;
        if (row->type == CALC_TYPE_LIST) {
            return (int64_t)index < *(const int64_t *)(const void *)(object + row->count);
        }
        const calc_field *first = &row->table->rows[0];
        const char *element = object + row->offset + index * row->element;
        return calc_field_in_range(first, calc_member_number(first, element + first->offset));
    }
    return true;
}

/* ---- Fields of the execution ---------------------------------------------------------------- */

static calc_status set_values(calc_space *space, calc_axis axis, const double *value, size_t count)
{
    int64_t *whole = malloc((count > 0 ? count : 1) * sizeof *whole);
    if (!whole) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        whole[i] = calc_axis_value(axis, value[i]);
    }
    calc_status status = calc_space_set(space, axis, whole, count);
    free(whole);
    return status;
}

/* Every legal value of a field of the execution itself. */
static calc_status set_all(calc_space *space, calc_axis axis, const calc_axis_text *text,
                           calc_errors *errors)
{
    static const double stages[] = {0, 1, 2, 3};
    const calc_field *field = calc_axis_field(axis);
    bool choice = field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_BOOL;
    bool optional = calc_axis_is_optional(axis);
    double choices[MAX_CHOICES] = {0, 1};
    const double *value = choices;
    size_t count = field->choices ? 0 : 2;
    if (axis == CALC_AXIS_zero_stage) {
        value = stages;
        count = sizeof stages / sizeof *stages;
    } else if (axis == CALC_AXIS_context_par || axis == CALC_AXIS_expert_par ||
               axis == CALC_AXIS_expert_tensor_par) { /* variants list them */
        count = 0;
    } else if (axis == CALC_AXIS_num_procs || axis == CALC_AXIS_batch_size ||
               (optional && !choice)) {
        return calc_axis_error(text, 0, errors, CALC_ERR_TYPE,
                               optional ? NULL : "for example 8:8192:x2",
                               "expected values, found \"*\": no rule says which are legal");
    } else if (axis == CALC_AXIS_datatype || optional) {
        /* `all` stands for the datatype that is best for the system, and for the search rules of
         * Calculon, which has no optional fields. */
        while (field->choices && field->choices[count] && count < MAX_CHOICES) {
            choices[count] = (double)count;
            count++;
        }
    } else {
        count = 0;
    }
    calc_status status = CALC_OK;
    if (count == 0) {
        calc_space_set_all(space, axis);
    } else {
        status = set_values(space, axis, value, count);
    }
    return status;
}

/* The name of a document, which is for the caller to find: one, as a file has it.
 * @param what  it is of */
static calc_status set_name(char *out, size_t size, const char *what, const calc_axis_text *text,
                            const char *path, calc_errors *errors)
{
    const char *name = text->item[0];
    if (text->count > 1 || strchr(name, ',')) {
        return calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_UNSUPPORTED,
                               "sweep them one after the other",
                               "\"%s\" has one value for all layouts", path);
    }
    if (!*name || strlen(name) >= size) {
        return calc_axis_error(text, 0, errors, CALC_ERR_RANGE, NULL,
                               "expected the name of a %s, of at most %zu letters", what, size - 1);
    }
    strcpy(out, name);
    return CALC_OK;
}

/* Values of a field of the execution, or of what it serves. */
static calc_status set_in_space(calc_space *space, const calc_axis_text *text,
                                const calc_field_ref *ref, const char *path, const double *value,
                                size_t count, calc_errors *errors)
{
    calc_axis axis = calc_axis_of(ref->field);
    if (axis == CALC_AXIS_COUNT) { /* deeper inside `inference`, of which all have one value */
        if (count > 1) {
            return calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_UNSUPPORTED, "give one",
                                   "\"%s\" has one value for all layouts", path);
        }
        size_t start = calc_axis_field(CALC_AXIS_inference)->offset;
        calc_member_set(ref->field, (char *)&space->inference + (ref->offset - start), value[0]);
        return CALC_OK;
    }
    for (size_t i = 0; i < count && count > 1 && axis == CALC_AXIS_inference_phase; i++) {
        if (value[i] == CALC_INFERENCE_PHASE_NONE) {
            return calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_RULE,
                                   "sweep them one after the other",
                                   "nothing is served in phase none: it is not beside others");
        }
    }
    return set_values(space, axis, value, count);
}

/* ---- Any axis ------------------------------------------------------------------------------- */

/* The error of a field that has no values to sweep. */
static calc_status refuse(const calc_axis_text *text, const calc_field *field, const char *path,
                          calc_errors *errors)
{
    bool list = field->flags & (CALC_STAGES | CALC_LAYERS);
    if (field->type != CALC_TYPE_NOTE) {
        return calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD,
                               "only numbers, choices and true or false can be swept",
                               "\"%s\" is more than one value", path);
    }
    return list ? calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD, "leave the list out",
                                  "%s are not listed in a space: %s", path,
                                  field->flags & CALC_STAGES ? "a sweep spreads the blocks"
                                                             : "all of its layers are alike")
                : calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD, NULL,
                                  "\"%s\" is a note for people and cannot be swept", path);
}

calc_status calc_axis_set(calc_space *space, calc_designs_builder *designs,
                          const calc_axis_text *text, calc_errors *errors)
{
    calc_field_ref ref;
    const char *path;
    const char *item = text->count == 1 ? text->item[0] : "";
    calc_axis_text parsed = *text;
    char shown[CALC_SHOW_SIZE];
    double *value;
    size_t count;
    calc_status status = find(text, &path, &ref, errors);
    if (status != CALC_OK) {
        return status;
    }
    const calc_axis axis = ref.kind == CALC_KIND_EXEC ? calc_axis_of(ref.field) : CALC_AXIS_COUNT;
    const bool batch = axis == CALC_AXIS_batch_size;
    const bool maximum = batch && strncmp(item, "<=", 2) == 0;
    if (axis == CALC_AXIS_inference_prefill_system) {
        calc_other_system *other = &space->inference.prefill_system;
        other->system = NULL;
        return set_name(other->name, sizeof other->name, "system", text, path, errors);
    }
    if (axis == CALC_AXIS_inference_engine) {
        char name[CALC_SOFTWARE_NAME];
        status = set_name(name, sizeof name, "serving engine", text, path, errors);
        if (status == CALC_OK) {
            calc_serving_engine_put(&space->inference.engine, name);
        }
        return status;
    }
    if (axis == CALC_AXIS_software) {
        return set_name(space->software, sizeof space->software, "software document", text, path,
                        errors);
    }
    if (!calc_field_is_single(ref.field)) {
        return refuse(text, ref.field, path, errors);
    }
    if (axis < CALC_AXIS_EXEC_COUNT && strcmp(item, "*") == 0) {
        return set_all(space, axis, text, errors);
    }
    item += maximum ? 2 : 0;
    parsed.item = maximum ? &item : text->item;
    for (size_t i = 0; i < designs->systems && ref.kind == CALC_KIND_SYSTEM; i++) {
        if (!exists(&designs->system[i].system, &ref)) {
            return calc_axis_error(text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD, NULL,
                                   "%s has no %s", designs->system[i].name, calc_show(shown, path));
        }
    }
    status = calc_axis_parse(ref.field, &parsed, &value, &count, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = ref.kind == CALC_KIND_EXEC
                 ? set_in_space(space, text, &ref, path, value, count, errors)
                 : calc_designs_add_axis(designs, &ref, path, value, count);
    free(value);
    if (status == CALC_ERR_NOMEM) {
        calc_axis_error(text, CALC_AXIS_KEY, errors, status, NULL, "out of memory");
    } else if (batch) {
        space->batch_is_maximum = maximum;
        space->batch_is_of_replica = false;
    }
    return status;
}

calc_status calc_axis_assign(calc_space *space, calc_designs_builder *designs, bool one,
                             const char *assignment, calc_errors *errors)
{
    char shown[CALC_SHOW_SIZE];
    char name[CALC_SHOW_SIZE + 8];
    char key[PATH_SIZE] = "";
    const char *equals = strchr(assignment, '=');
    const char *item = equals ? equals + 1 + strspn(equals + 1, " ") : "";
    calc_axis_text text = {.key = key, .item = &item, .count = 1, .name = name};
    snprintf(name, sizeof name, "--%s %s", one ? "set" : "axis", calc_show(shown, assignment));
    if (!equals) {
        return calc_axis_error(&text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD,
                               one ? "for example tensor_par=8" : "for example tensor_par=1,2,4",
                               one ? "expected FIELD=VALUE" : "expected FIELD=VALUES");
    }
    if (equals - assignment >= PATH_SIZE) {
        return calc_axis_error(&text, CALC_AXIS_KEY, errors, CALC_ERR_FIELD, NULL,
                               "no field has so long a name");
    }
    snprintf(key, sizeof key, "%.*s", (int)(equals - assignment), assignment);
    const char *path = key;
    calc_field_ref ref;
    (void)calc_kind_split(&path, CALC_KIND_EXEC);
    bool known = calc_field_find(CALC_KIND_EXEC, path, &ref) == CALC_OK;
    bool lists_stages = strcmp(path, "stages") == 0; /* not at all, whatever it is */
    text.one = one && known && ref.field->type == CALC_TYPE_SET;
    if (one && !lists_stages && !text.one && strpbrk(item, ",:*")) {
        return calc_axis_error(&text, CALC_AXIS_KEY, errors, CALC_ERR_TYPE,
                               "--axis takes several values", "expected one value");
    }
    return calc_axis_set(space, designs, &text, errors);
}
