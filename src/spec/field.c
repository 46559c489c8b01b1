#include "spec/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "spec/alias.h"
#include "spec/job.h"
#include "spec/serving_engine.h"
#include "spec/stack.h"

/* ---- Words ---------------------------------------------------------------------------------- */

#define WORD(T, name, text) text,
#define WORD_OF_MORE(name, text, ...) text,
#define NAMES(type, TYPE)                                                                          \
    static const char *const type##_names[] = {CALC_##TYPE##_LIST(WORD, ) NULL};
CALC_ENUM_LIST(NAMES)
const char *const *const calc_datatype_names = datatype_names;
const char *const *const calc_memory_kind_names = memory_kind_names;
const char *const *const calc_network_kind_names = network_kind_names;
const char *const *const calc_pipeline_schedule_names = pipeline_schedule_names;
const char *const *const calc_part_type_names = part_type_names;
NAMES(lora_modules, LORA_MODULES)
NAMES(recompute_modules, RECOMPUTE_MODULES)
NAMES(offload_modules, OFFLOAD_MODULES)
NAMES(framework_mem, FRAMEWORK_MEM)
static const char *const verdict_names[] = {CALC_VERDICT_LIST(CALC_WORD_OF) NULL};
static const char *const job_algorithm_names[] = {CALC_JOB_ALGORITHM_LIST(WORD_OF_MORE) NULL};
static const char *const job_old_logprob_names[] = {CALC_JOB_OLD_LOGPROB_LIST(CALC_WORD_OF) NULL};
static const char *const job_offload_names[] = {CALC_JOB_OFFLOAD_LIST(CALC_WORD_OF) NULL};
static const char *const job_sync_method_names[] = {CALC_JOB_SYNC_METHOD_LIST(CALC_WORD_OF) NULL};

const char *calc_verdict_text(calc_verdict verdict)
{
    return (unsigned)verdict < CALC_VERDICT_COUNT ? verdict_names[verdict] : "unknown verdict";
}

/* ---- Tables, from the rows in calc/<name>.fields.h ------------------------------------------ */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Columns that follow from the type of a row, beside those that the row itself gives. */
#define COLUMNS_INT(S, name, arg) .offset = offsetof(S, name),
#define COLUMNS_REAL(S, name, arg) .offset = offsetof(S, name),
#define COLUMNS_BOOL(S, name, arg) .offset = offsetof(S, name),
#define COLUMNS_CURVE(S, name, arg) .offset = offsetof(S, name),
#define COLUMNS_OP(S, name, arg) .offset = offsetof(S, name),
#define COLUMNS_ENUM(S, name, arg) .offset = offsetof(S, name), .choices = arg##_names,
#define COLUMNS_SET(S, name, arg) .offset = offsetof(S, name), .choices = arg##_names,
#define COLUMNS_OBJECT(S, name, arg) .offset = offsetof(S, name), .table = &arg##_table,
#define COLUMNS_LIST(S, name, arg)                                                                 \
    .offset = offsetof(S, name), .count = offsetof(S, name##_count),                               \
    .element = sizeof(calc_##arg), .table = &arg##_table,
#define COLUMNS_MAP(S, name, arg)                                                                  \
    .offset = offsetof(S, name), .element = sizeof(calc_##arg), .table = &arg##_table,             \
    .choices = datatype_names,
#define COLUMNS_NOTE(S, name, arg) .offset = 0,
#define COLUMNS_SYSTEM(S, name, arg) .offset = offsetof(S, name),
#define COLUMNS_ENGINE(S, name, arg) .offset = offsetof(S, name),

/* The key comes first so that a row may override it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

#define ROW(S, n, t, arg, ...)                                                                     \
    {.name = #n, .key = #n, .type = CALC_TYPE_##t, COLUMNS_##t(S, n, arg) __VA_ARGS__},
/* A row that is a member of a part of the struct. */
#define PART_ROW(S, part, n, t, arg, ...)                                                          \
    {.name = #n, .key = #n, .type = CALC_TYPE_##t, COLUMNS_##t(S, part.n, arg) __VA_ARGS__},
#define TABLE(stem, label, S)                                                                      \
    static const calc_table stem##_table = {label, sizeof(S), COUNT(stem##_rows), stem##_rows};

#define CALC_TABLE(stem, label) static const calc_field stem##_rows[] = {
#define CALC_TABLE_ROW(stem, name, type, arg, ...) ROW(calc_##stem, name, type, arg, __VA_ARGS__)
#define CALC_END(stem, label)                                                                      \
    }                                                                                              \
    ;                                                                                              \
    TABLE(stem, label, calc_##stem)
#include "calc/parts.fields.h"
#define CALC_JOB_MEMBERS(...)
#include "calc/job_parts.fields.h"
#undef CALC_TABLE
#undef CALC_TABLE_ROW
#undef CALC_END

#define CALC_FIELD(name, type, arg, ...)
#define CALC_PART_FIELD(name, type, arg, ...)                                                      \
    ROW(calc_part, name, type, arg, __VA_ARGS__, .flags = CALC_OPTIONAL)
static const calc_field part_rows[] = {
    ROW(calc_part, type, ENUM, part_type, .doc = "what the part is")
#include "calc/app.fields.h"
#undef CALC_FIELD
#undef CALC_PART_FIELD
#define CALC_FIELD(name, type, arg, ...) ROW(calc_part, name, type, arg, __VA_ARGS__)
#include "calc/part.fields.h"
};
#undef CALC_FIELD
TABLE(part, "part", calc_part)

const calc_table *calc_part_table(void)
{
    return &part_table;
}

#define CALC_FIELD(name, type, arg, ...) ROW(calc_app, name, type, arg, __VA_ARGS__)
#define CALC_PART_FIELD CALC_FIELD
static const calc_field app_rows[] = {
#include "calc/app.fields.h"
};
#undef CALC_FIELD
#undef CALC_PART_FIELD
TABLE(app, "app", calc_app)

#define CALC_FIELD(name, type, arg, ...) ROW(calc_system, name, type, arg, __VA_ARGS__)
#define CALC_CHIP_FIELD(name, type, arg, ...)                                                      \
    PART_ROW(calc_system, chip, name, type, arg, __VA_ARGS__)
static const calc_field system_rows[] = {
#include "calc/system.fields.h"
};
#undef CALC_FIELD
TABLE(system, "sys", calc_system)

#define CALC_FIELD(name, type, arg, ...) ROW(calc_engine_traits, name, type, arg, __VA_ARGS__)
static const calc_field engine_traits_rows[] = {
#include "calc/engine_traits.fields.h"
};
#undef CALC_FIELD
TABLE(engine_traits, "engine traits", calc_engine_traits)

static const calc_field serving_engine_rows[] = {
#define CALC_FIELD(name, type, arg, ...)                                                           \
    PART_ROW(calc_serving_engine, traits, name, type, arg, __VA_ARGS__)
#include "calc/engine_traits.fields.h"
#undef CALC_FIELD
#define CALC_FIELD(name, type, arg, ...) ROW(calc_serving_engine, name, type, arg, __VA_ARGS__)
#include "calc/serving_engine.fields.h"
    ROW(calc_serving_engine, undetermined, NOTE, _, .flags = CALC_OPTIONAL,
        .doc = "traits of which runs of the engine say hardly more than other engines do")
        ROW(calc_serving_engine, source, NOTE, _, .flags = CALC_OPTIONAL,
            .doc = "where the numbers come from")};
#undef CALC_FIELD
TABLE(serving_engine, "engine", calc_serving_engine)

const calc_table *calc_serving_engine_table(void)
{
    return &serving_engine_table;
}

#define CALC_FIELD(name, type, arg, ...) ROW(calc_inference, name, type, arg, __VA_ARGS__)
static const calc_field inference_rows[] = {
#include "calc/inference.fields.h"
};
#undef CALC_FIELD
TABLE(inference, "inference", calc_inference)

#define CALC_FIELD(name, type, arg, ...) ROW(calc_exec, name, type, arg, __VA_ARGS__)
#define CALC_STRATEGY_FIELD(name, type, arg, ...)                                                  \
    PART_ROW(calc_exec, strategy, name, type, arg, __VA_ARGS__)
static const calc_field exec_rows[] = {
#include "calc/exec.fields.h"
};
#undef CALC_FIELD
_Static_assert(sizeof exec_rows / sizeof *exec_rows <= 8 * sizeof(calc_exec_rows), "a bit each");
TABLE(exec, "exe", calc_exec)

#define CALC_FIELD(name, type, arg, ...) ROW(calc_stats, name, type, arg, __VA_ARGS__)
static const calc_field stats_rows[] = {
#include "calc/stats.fields.h"
};
#undef CALC_FIELD
TABLE(stats, "stats", calc_stats)

#define CALC_FIELD(name, type, arg, ...) ROW(calc_layer_stats, name, type, arg, __VA_ARGS__)
static const calc_field layer_rows[] = {
#include "calc/layer.fields.h"
};
#undef CALC_FIELD
TABLE(layer, "layer", calc_layer_stats)

#define CALC_FIELD(name, type, arg, ...) ROW(calc_stage_stats, name, type, arg, __VA_ARGS__)
static const calc_field stage_rows[] = {
#include "calc/stage.fields.h"
};
#undef CALC_FIELD
TABLE(stage, "stage", calc_stage_stats)

#define CALC_FIELD(name, type, arg, ...) ROW(calc_job, name, type, arg, __VA_ARGS__)
static const calc_field job_rows[] = {
#include "calc/job.fields.h"
};
#undef CALC_FIELD
TABLE(job, "job", calc_job)

const calc_table *calc_job_table(void)
{
    return &job_table;
}

const calc_table *calc_job_role_table(void)
{
    return &job_role_table;
}

#pragma GCC diagnostic pop

const calc_table *calc_table_of(calc_kind kind)
{
    static const calc_table *const tables[CALC_KIND_COUNT] = {
        [CALC_KIND_APP] = &app_table,     [CALC_KIND_SYSTEM] = &system_table,
        [CALC_KIND_EXEC] = &exec_table,   [CALC_KIND_STATS] = &stats_table,
        [CALC_KIND_LAYER] = &layer_table, [CALC_KIND_STAGE] = &stage_table,
    };
    return (unsigned)kind < CALC_KIND_COUNT ? tables[kind] : NULL;
}

const char *calc_kind_name(calc_kind kind)
{
    const calc_table *table = calc_table_of(kind);
    return table ? table->name : "";
}

calc_kind calc_kind_split(const char **path, calc_kind last)
{
    for (calc_kind kind = CALC_KIND_APP; kind <= last; kind++) {
        size_t length = strlen(calc_kind_name(kind));
        if (strncmp(*path, calc_kind_name(kind), length) == 0 && (*path)[length] == '.') {
            *path += length + 1;
            return kind;
        }
    }
    return CALC_KIND_NONE;
}

void calc_path_pointer(const char *path, char *pointer, size_t size)
{
    pointer[0] = '\0';
    while (*path) {
        size_t length = strcspn(path, ".[]");
        calc_append(pointer, size, "/%.*s", (int)length, path);
        path += length;
        path += strspn(path, ".[]");
    }
}

/* ---- Fields by name ------------------------------------------------------------------------- */

const calc_field *calc_table_find(const calc_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].key, key) == 0) {
            return &table->rows[i];
        }
    }
    const calc_field *other = calc_alias_find(table, key);
    return other && !other->times[0] ? other : NULL;
}

int calc_choice_index(const char *const *choices, const char *text)
{
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            return i;
        }
    }
    const char *choice = calc_alias_choice(text);
    return choice ? calc_choice_index(choices, choice) : -1;
}

size_t calc_choices_count(const char *const *choices)
{
    size_t count = 0;
    while (choices[count]) {
        count++;
    }
    return count;
}

char *calc_choices_text(const char *const *choices, char *buffer, size_t size)
{
    buffer[0] = '\0';
    for (size_t i = 0; choices[i]; i++) {
        calc_append(buffer, size, "%s%s", i > 0 ? ", " : "", choices[i]);
    }
    return buffer;
}

bool calc_field_in_range(const calc_field *field, double number)
{
    if (field->lo == 0 && field->hi == 0) {
        return isfinite(number);
    }
    if (number == 0 && field->flags & CALC_OR_ZERO) {
        return true;
    }
    return number >= field->lo &&
           (field->flags & CALC_BELOW_HI ? number < field->hi : number <= field->hi);
}

char *calc_field_range_text(const calc_field *field, double number, char *buffer, size_t size)
{
    /* Limits this large only guard against typing errors: they are named only if broken. */
    const double GUARD = 1000000;
    char lo[32];
    char hi[32];
    const char *unit = field->unit ? field->unit : "";
    const char *space = field->unit ? " " : "";
    bool or_zero = field->flags & CALC_OR_ZERO;
    const char *to = field->flags & CALC_BELOW_HI ? "less than" : "at most";
    calc_number_text(field->lo, 1, lo);
    calc_number_text(field->hi, 1, hi);
    if (number > field->hi && field->hi >= GUARD) {
        snprintf(buffer, size, "%s %s%s%s", to, hi, space, unit);
    } else if (field->hi >= GUARD) {
        snprintf(buffer, size, "%sat least %s%s%s", or_zero ? "0, or " : "", lo, space, unit);
    } else if (field->flags & CALC_BELOW_HI) {
        snprintf(buffer, size, "at least %s and %s %s%s%s", lo, to, hi, space, unit);
    } else {
        snprintf(buffer, size, "%s%s to %s%s%s", or_zero ? "0, or " : "", lo, hi, space, unit);
    }
    return buffer;
}

double calc_field_scale(const calc_field *field)
{
    return field->scale > 0 ? field->scale : 1;
}

/* Next component of a path: up to '.', '[' or the end. False if it is empty or too long. */
static bool path_word(const char **path, char *word, size_t size)
{
    size_t length = strcspn(*path, ".[");
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(word, *path, length);
    word[length] = '\0';
    *path += length;
    return true;
}

/* Whether a path names a member of inference without saying so: by another name, or by its own
 * where no field of a layout begins so ("batch" is rather the batch of a step). */
static bool is_served(const char *path)
{
    const calc_field *field = calc_table_find(&inference_table, path);
    bool own = field && strcmp(field->key, path) == 0;
    for (size_t i = 0; own && i < exec_table.count; i++) {
        if (strncmp(exec_table.rows[i].key, path, strlen(path)) == 0) {
            return false;
        }
    }
    return field != NULL;
}

calc_status calc_field_find(calc_kind kind, const char *path, calc_field_ref *out)
{
    return calc_field_find_in(calc_table_of(kind), kind,
                              kind == CALC_KIND_EXEC ? calc_alias_head(path) : path, out);
}

calc_status calc_field_find_in(const calc_table *table, calc_kind kind, const char *path,
                               calc_field_ref *out)
{
    size_t offset = 0;
    char word[64];
    if (kind == CALC_KIND_EXEC && !calc_table_find(table, path) && is_served(path)) {
        offset = calc_table_find(table, "inference")->offset;
        table = &inference_table;
    }
    while (table && path_word(&path, word, sizeof word)) {
        const calc_field *field = calc_table_find(table, word);
        if (!field) {
            return CALC_ERR_FIELD;
        }
        offset += field->offset;
        if (*path == '\0') {
            *out = (calc_field_ref){kind, field, offset};
            return CALC_OK;
        }
        if (field->type == CALC_TYPE_LIST) {
            char *end;
            if (path[0] != '[' || path[1] < '0' || path[1] > '9') {
                return CALC_ERR_FIELD;
            }
            unsigned long index = strtoul(path + 1, &end, 10);
            if (index >= CALC_MAX_NETWORKS || *end != ']') {
                return CALC_ERR_FIELD;
            }
            offset += index * field->element;
            path = end + 1;
        } else if (field->type == CALC_TYPE_MAP) {
            if (*path++ != '.' || !path_word(&path, word, sizeof word)) {
                return CALC_ERR_FIELD;
            }
            int index = calc_choice_index(field->choices, word);
            if (index < 0) {
                return CALC_ERR_FIELD;
            }
            offset += (size_t)index * field->element;
        } else if (field->type != CALC_TYPE_OBJECT) {
            return CALC_ERR_FIELD;
        }
        if (*path++ != '.') {
            return CALC_ERR_FIELD;
        }
        table = field->table;
    }
    return CALC_ERR_FIELD;
}

double calc_member_number(const calc_field *field, const void *member)
{
    switch (field->type) {
    case CALC_TYPE_INT:
        return (double)*(const int64_t *)member;
    case CALC_TYPE_REAL:
        return *(const double *)member / calc_field_scale(field);
    case CALC_TYPE_BOOL:
        return *(const bool *)member;
    case CALC_TYPE_ENUM:
        return *(const int *)member;
    case CALC_TYPE_SET:
        return (double)*(const int64_t *)member;
    default:
        return NAN;
    }
}

bool calc_member_allowed(const calc_field *field, const void *member)
{
    double number = calc_member_number(field, member);
    switch (field->type) {
    case CALC_TYPE_ENUM:
        return number >= 0 && number < (double)calc_choices_count(field->choices);
    case CALC_TYPE_SET:
        return number >= 0 && number < ldexp(1, (int)calc_choices_count(field->choices));
    case CALC_TYPE_INT:
    case CALC_TYPE_REAL: /* a limit that was scaled and back may be off by its last bit */
        return (number == 0 && field->flags & CALC_OPTIONAL) ||
               calc_field_in_range(field, number) ||
               (field->type == CALC_TYPE_REAL &&
                (calc_field_in_range(field, nextafter(number, INFINITY)) ||
                 calc_field_in_range(field, nextafter(number, -INFINITY))));
    default:
        return true;
    }
}

static bool is_misfit(const calc_table *table, const void *object, bool zero, char *text,
                      size_t size)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *f = &table->rows[i];
        const void *member = (const char *)object + f->offset;
        double number = calc_member_number(f, member);
        if (f->type == CALC_TYPE_INT && !(zero && number == 0) && !calc_member_allowed(f, member)) {
            snprintf(text, size, "%s would be %.0f, expected %s", f->key, number,
                     calc_field_range_text(f, number, (char[128]){""}, 128));
            return true;
        }
    }
    return false;
}

bool calc_misfit(calc_kind kind, const void *object, bool zero, char *text, size_t size)
{
    const calc_app *app = kind == CALC_KIND_APP ? object : NULL;
    bool found = is_misfit(calc_table_of(kind), object, zero, text, size);
    for (int32_t i = 0; app && i < app->stack.parts && !found; i++) {
        found = is_misfit(&part_table, &app->stack.part[i], zero, text, size);
    }
    return found;
}

void calc_member_set(const calc_field *field, void *member, double number)
{
    switch (field->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_SET:
        *(int64_t *)member = (int64_t)number;
        break;
    case CALC_TYPE_REAL:
        *(double *)member = number * calc_field_scale(field);
        break;
    case CALC_TYPE_BOOL:
        *(bool *)member = number != 0;
        break;
    case CALC_TYPE_ENUM:
        *(int *)member = (int)number;
        break;
    default:
        break;
    }
}

double calc_field_number(const calc_field_ref *ref, const void *object)
{
    return calc_member_number(ref->field, (const char *)object + ref->offset);
}

char *calc_number_text(double value, double scale, char *buffer)
{
    enum { SIZE = CALC_DECIMAL_SIZE };
    if (!isfinite(value)) {
        return strcpy(buffer, "null");
    }
    if (scale == 1 && calc_decimal(value, buffer)) {
        return buffer;
    }
    double shown = value / scale;
    /* The quotient may miss the number that reads back as value; then one of its neighbours
     * does. */
    const double candidates[] = {shown, nextafter(shown, INFINITY), nextafter(shown, -INFINITY)};
    for (int precision = 15; precision <= 17; precision++) {
        for (size_t i = 0; i < COUNT(candidates); i++) {
            snprintf(buffer, SIZE, "%.*g", precision, candidates[i]);
            if (strtod(buffer, NULL) * scale == value) {
                if (fabs(candidates[i]) < 0x1p53 && strchr(buffer, 'e') &&
                    candidates[i] == floor(candidates[i])) {
                    snprintf(buffer, SIZE, "%.0f", candidates[i]);
                }
                return buffer;
            }
        }
    }
    snprintf(buffer, SIZE, "%.17g", shown);
    return buffer;
}

enum { PATH_SIZE = 128 };

static void each(const calc_table *table, const char *prefix, calc_field_visitor *visit,
                 void *context)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char path[PATH_SIZE];
        const char *inside = field->type == CALC_TYPE_LIST  ? "[N]."
                             : field->type == CALC_TYPE_MAP ? ".DATATYPE."
                                                            : ".";
        snprintf(path, sizeof path, "%s%s%s", prefix, field->key, field->table ? inside : "");
        if (field->table) {
            each(field->table, path, visit, context);
        } else {
            visit(context, path, field);
        }
    }
}

void calc_field_each(const calc_table *table, calc_field_visitor *visit, void *context)
{
    each(table, "", visit, context);
}

static bool same_curve(const calc_curve *a, const calc_curve *b)
{
    bool same = a->count == b->count;
    for (int64_t i = 0; i < a->count && same; i++) {
        same = a->threshold[i] == b->threshold[i] && a->efficiency[i] == b->efficiency[i];
    }
    return same;
}

/* Elements of a row with a count of its own. */
static size_t elements_of(const calc_field *field, const char *object)
{
    return field->type == CALC_TYPE_LIST
               ? (size_t) * (const int64_t *)(const void *)(object + field->count)
           : field->type == CALC_TYPE_MAP ? CALC_DATATYPE_COUNT
                                          : 1;
}

bool calc_same_row(const calc_field *field, const void *a, const void *b)
{
    const void *x = (const char *)a + field->offset;
    const void *y = (const char *)b + field->offset;
    const calc_network_op *p = x, *q = y;
    bool same = true;
    switch (field->type) {
    case CALC_TYPE_NOTE:
        return true;
    case CALC_TYPE_REAL:
        return *(const double *)x == *(const double *)y;
    case CALC_TYPE_BOOL:
        return *(const bool *)x == *(const bool *)y;
    case CALC_TYPE_ENUM:
        return *(const int *)x == *(const int *)y;
    case CALC_TYPE_INT:
    case CALC_TYPE_SET:
        return *(const int64_t *)x == *(const int64_t *)y;
    case CALC_TYPE_CURVE:
        return same_curve(x, y);
    case CALC_TYPE_OP:
        return p->scalar == q->scalar && p->offset == q->offset;
    case CALC_TYPE_SYSTEM: /* its name */
        return strcmp(x, y) == 0;
    case CALC_TYPE_ENGINE:
        return calc_serving_engine_same_name(x, y);
    case CALC_TYPE_OBJECT:
        return calc_same(field->table, x, y);
    case CALC_TYPE_LIST:
    case CALC_TYPE_MAP:
        same = elements_of(field, a) == elements_of(field, b);
        for (size_t i = 0; i < elements_of(field, a) && same; i++) {
            same = calc_same(field->table, (const char *)x + i * field->element,
                             (const char *)y + i * field->element);
        }
    }
    return same;
}

bool calc_same(const calc_table *table, const void *a, const void *b)
{
    bool same = table != calc_table_of(CALC_KIND_APP) ||
                calc_stack_same(&((const calc_app *)a)->stack, &((const calc_app *)b)->stack);
    for (size_t i = 0; i < table->count && same; i++) {
        same = calc_same_row(&table->rows[i], a, b);
    }
    return same;
}
