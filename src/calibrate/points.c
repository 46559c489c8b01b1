#include "calibrate/points.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/make.h"
#include "io/csv_table.h"
#include "io/utf8.h"
#include "spec/field.h"

/* The meaning of a row of measured operators: its kernel or collective,
 * sizes and time in seconds. */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Names of sizes end with NULL. */
static const struct {
    const char *name, *operators; /* "|" separates */
    calc_point_class served;
    const char *size[CALC_POINT_SIZES + 1];
} classes[CALC_POINT_CLASSES] = {
#define CALC_X(name, text, operators, served, ...)                                                 \
    {text, operators, CALC_POINT_##served, {__VA_ARGS__, NULL}},
    CALC_POINT_CLASS_LIST(CALC_X)
#undef CALC_X
};

static const struct {
    const char *names;
    calc_datatype datatype;
} datatypes[] = {
    {"|bf16|bfloat16|", CALC_DATATYPE_BFLOAT16},
    {"|fp16|float16|half|", CALC_DATATYPE_FLOAT16},
    {"|fp32|float32|float|", CALC_DATATYPE_FLOAT32},
    {"|fp8|float8|e4m3|", CALC_DATATYPE_FLOAT8},
    {"|fp4|float4|nvfp4|mxfp4|", CALC_DATATYPE_FLOAT4},
};

static bool refuse(calc_point *p, const char *fmt, ...) CALC_PRINTF(2, 3);
static bool refuse(calc_point *p, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vsnprintf(p->reason, sizeof p->reason, fmt, list);
    va_end(list);
    return false;
}

/* Whether "|a|b|" has the word of that length, whatever its case. */
static bool has_word(const char *words, const char *word, size_t length)
{
    for (const char *at = words + 1; *at; at = strchr(at, '|') + 1) {
        if (strcspn(at, "|") == length && strncasecmp(at, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* The text after "key=" in the shape; NULL if it is not there. */
static const char *find_key(const char *shape, const char *key, size_t *length)
{
    size_t key_length = strlen(key);
    for (const char *at = shape; *at;) {
        at += strspn(at, ", ");
        size_t all = strcspn(at, ", ");
        if (all > key_length && at[key_length] == '=' && strncasecmp(at, key, key_length) == 0) {
            *length = all - key_length - 1;
            return at + key_length + 1;
        }
        at += all;
    }
    return NULL;
}

static bool key_is(const char *shape, const char *key, const char *words)
{
    size_t length;
    const char *text = find_key(shape, key, &length);
    return text && has_word(words, text, length);
}

/* A number, with KiB, MiB or GiB after it. */
static double parse_size(const char *text)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    char *end;
    double number = calc_decimal_at(text, &end);
    if (end == text) {
        return (double)NAN;
    }
    const char *after = end + strspn(end, " ");
    for (size_t i = 0; i < COUNT(units); i++) {
        if (strncmp(after, units[i], 3) == 0) {
            return ldexp(number, 10 * (int)(i + 1));
        }
    }
    return *end == '\0' || strchr(", ", *end) ? number : (double)NAN;
}

/* Sizes that may be left out. */
static double absent_size(const calc_point *p, size_t index)
{
    const char *name = classes[p->class].size[index];
    if (strcmp(name, "kv_head_num") == 0) {
        return p->size[2];
    }
    if (strcmp(name, "v_head_dim") == 0) {
        return p->size[4];
    }
    bool one = calc_is_word("b batch stride microbatch_size tensor_par", name);
    return one || (strcmp(name, "ranks") == 0 && p->class == CALC_POINT_P2P) ? 1.0 : (double)NAN;
}

static bool read_sizes(calc_point *p)
{
    for (size_t i = 0; classes[p->class].size[i]; i++) {
        size_t length;
        const char *name = classes[p->class].size[i];
        const char *text = find_key(p->shape, name, &length);
        double size = text && length > 0 ? parse_size(text) : absent_size(p, i);
        if (isnan(size) && !isnan(p->size[i]) && p->size[i] > 0) {
            size = p->size[i]; /* the operator's name said it */
        }
        if (isnan(size) && strcmp(name, "bytes") == 0 && strchr("0123456789", p->shape[0]) &&
            p->shape[0]) {
            size = parse_size(p->shape); /* "16 MiB" */
        }
        if (isnan(size)) {
            return text && length > 0 ? refuse(p, "%s is not a number", name)
                                      : refuse(p, "shape lacks %s", name);
        }
        if (!(size >= 1 && size <= 1e15)) {
            return refuse(p, "%s is %g; 1 to 1e15 is possible", name, size);
        }
        p->size[i] = size;
    }
    return true;
}

/* Which pass a matrix multiplication is part of: transposition of its operands says so where it is
 * given (TN forward, NN gradient of activations, NT of weights). */
static void read_pass(calc_point *p)
{
    bool wgrad = key_is(p->shape, "stage", "|bwd_grad_w|wgrad|") ||
                 (key_is(p->shape, "layout", "|nt|") && key_is(p->shape, "accumulate", "|true|"));
    bool agrad = key_is(p->shape, "stage", "|bwd_grad_act|agrad|dgrad|bwd|") ||
                 key_is(p->shape, "layout", "|nn|");
    p->pass = wgrad ? CALC_PASS_WGRAD : agrad ? CALC_PASS_AGRAD : CALC_PASS_FW;
    bool wide = key_is(p->shape, p->class == CALC_POINT_GROUPED ? "main_grad_dtype" : "out_dtype",
                       "|fp32|float32|float|");
    p->result_bytes = wide ? 4 : 2;
    p->rms = strncasecmp(p->op, "rms", 3) == 0;
    p->causal = !key_is(p->shape, "causal", "|false|0|");
    p->cached_bytes = key_is(p->shape, "kv_dtype", "|fp8|float8|e4m3|") ? 1 : 2;
}

/* The operator's name, with an optional suffix: "allreduce_8gpu". One of serving is replayed as a
 * graph, or has no meaning in it. */
static bool read_class(calc_point *p)
{
    size_t length = strlen(p->op);
    double ranks = (double)NAN;
    const char *last = strrchr(p->op, '_');
    if (last && isdigit((unsigned char)last[1]) && strstr(last, "gpu")) {
        ranks = strtod(last + 1, NULL);
        length = (size_t)(last - p->op);
    }
    int class = 0;
    while (class < CALC_POINT_CLASSES &&
           (length == 0 || !has_word(classes[class].operators, p->op, length))) {
        class ++;
    }
    if (class == CALC_POINT_CLASSES) {
        return refuse(p, "no operator that is compared");
    }
    p->class = (calc_point_class) class;
    p->size[1] = calc_point_is_network(p) ? ranks : (double)NAN;
    if (key_is(p->shape, "stage", "|serving|")) {
        p->class = classes[class].served;
    }
    return p->class < CALC_POINT_CLASSES || refuse(p, "no operator that serving has rates of");
}

static bool read_datatype(calc_point *p)
{
    p->datatype = CALC_DATATYPE_BFLOAT16;
    if (p->class == CALC_POINT_MEMORY || p->class == CALC_POINT_SERVING_ALL_REDUCE ||
        calc_point_is_network(p)) {
        return true;
    }
    for (size_t i = 0; i < COUNT(datatypes); i++) {
        if (has_word(datatypes[i].names, p->dtype, strlen(p->dtype)) && p->dtype[0]) {
            p->datatype = datatypes[i].datatype;
            return true;
        }
    }
    return refuse(p, "dtype \"%s\" is not a number format",
                  calc_utf8_shown(p->dtype, strlen(p->dtype)));
}

/* Arithmetic as benchmarks count it: attention on the whole square of scores unless they say
 * otherwise, and its backward pass as two and a half times forward. */
static double counted_flop(const calc_point *p)
{
    const double *n = p->size;
    switch (p->class) {
    case CALC_POINT_MATRIX:
    case CALC_POINT_GROUPED:
    case CALC_POINT_SERVING_MATRIX:
    case CALC_POINT_SERVING_GROUPED:
        return 2 * n[0] * n[1] * n[2] * n[3];
    case CALC_POINT_SERVING_DECODE:
        return 2 * n[0] * n[1] * n[2] * (n[4] + n[5]);
    case CALC_POINT_SERVING_PREFILL:
    case CALC_POINT_ATTENTION_FW:
    case CALC_POINT_ATTENTION_BW: {
        double square = 2 * n[0] * n[2] * n[1] * n[1] * (n[4] + n[5]);
        double passes = p->class == CALC_POINT_ATTENTION_BW ? 2.5 : 1;
        return square * passes * (key_is(p->shape, "counted", "|causal|") ? 0.5 : 1);
    }
    default:
        return 0;
    }
}

/* Bytes that the bus bandwidth of nccl-tests is of (its doc/PERFORMANCE.md). */
static double bus_bytes(const calc_point *p)
{
    double share = (p->size[1] - 1) / p->size[1];
    switch (p->class) {
    case CALC_POINT_ALL_REDUCE:
    case CALC_POINT_SERVING_ALL_REDUCE:
        return 2 * p->size[0] * share;
    case CALC_POINT_MEMORY:
    case CALC_POINT_P2P:
        return p->size[0];
    case CALC_POINT_NORM:
    case CALC_POINT_BLOCK:
        return (double)NAN; /* whose bytes? only times are clear */
    default:
        return p->size[0] * share;
    }
}

static double time_unit_s(const char *unit)
{
    static const struct {
        const char *name;
        double s;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    for (size_t i = 0; i < COUNT(units); i++) {
        if (strcmp(units[i].name, unit) == 0) {
            return units[i].s;
        }
    }
    return (double)NAN;
}

/* Seconds, from the measured quantity; NaN if that gives no time. */
static double seconds(const calc_point *p)
{
    static const char fraction[] = "fraction of ";
    const char *unit = p->unit[0] ? p->unit : p->metric;
    double flop = counted_flop(p);
    bool sends = p->class == CALC_POINT_SERVING_ALL_REDUCE || calc_point_is_network(p);
    bool bytes = sends || p->class == CALC_POINT_MEMORY || p->class == CALC_POINT_NORM ||
                 p->class == CALC_POINT_BLOCK;
    if (has_word("|time|latency|latency_median|real_time|", p->metric, strlen(p->metric))) {
        return p->value * time_unit_s(p->unit);
    }
    if (strncmp(unit, fraction, sizeof fraction - 1) == 0) {
        char *rest;
        double peak = calc_decimal_at(unit + sizeof fraction - 1, &rest);
        bool of_flop = strncmp(rest, " TFLOPS", 7) == 0 && !bytes;
        bool of_bytes = strncmp(rest, " GB/s", 5) == 0 && bytes;
        return of_flop    ? flop / (p->value * peak * 1e12)
               : of_bytes ? bus_bytes(p) / (p->value * peak * 1e9)
                          : (double)NAN;
    }
    if (strncasecmp(p->metric, "tflops", 6) == 0 && p->metric[6] == '\0' && !bytes) {
        return flop / (p->value * 1e12);
    }
    if (bytes && (strncmp(p->metric, "busbw", 5) == 0 || strcmp(p->metric, "bandwidth") == 0) &&
        strstr(unit, "GB/s")) {
        return bus_bytes(p) / (p->value * 1e9);
    }
    if (sends && strncmp(p->metric, "algbw", 5) == 0 && strstr(unit, "GB/s")) {
        return p->size[0] / (p->value * 1e9);
    }
    return (double)NAN;
}

static bool read_seconds(calc_point *p)
{
    if (!(p->value > 0)) {
        return refuse(p, "value is 0");
    }
    p->measured_s = seconds(p);
    if (isnan(p->measured_s)) {
        return refuse(p, "metric \"%s\" with unit \"%s\" gives no time",
                      calc_utf8_shown(p->metric, strlen(p->metric)),
                      calc_utf8_shown(p->unit, strlen(p->unit)));
    }
    if (!(p->measured_s > 1e-9 && p->measured_s < 1e4)) {
        return refuse(p, "the time would be %.3g s", p->measured_s);
    }
    return true;
}

/* Fill the members of a point after its texts, or its reason. */
static void point_meaning(calc_point *p)
{
    calc_app app; /* of a block, whose settings stand beside its sizes */
    calc_exec exec;
    bool used = read_class(p) && read_datatype(p) && read_sizes(p) &&
                (p->class != CALC_POINT_BLOCK || calc_point_block_of(p, &app, &exec, p->reason));
    bool among = p->class == CALC_POINT_SERVING_ALL_REDUCE ||
                 (calc_point_is_network(p) && p->class != CALC_POINT_P2P);
    if (used && among && p->size[1] < 2) {
        used = refuse(p, "ranks is %g; 2 or more communicate", p->size[1]);
    }
    if (used) {
        read_pass(p);
        read_seconds(p);
    }
}

enum { NAMES_SIZE = 200 };

/* Columns that are read, in any order; others are ignored. */
#define COLUMN(member) .name = #member, CALC_CSV_MEMBER(calc_point, member)
static const calc_csv_column columns[] = {
    {CALC_CSV_MEMBER(calc_point, line)},
    {COLUMN(system), .also = "hardware", .flags = CALC_CSV_OPTIONAL},
    {COLUMN(op)},
    {COLUMN(dtype)},
    {COLUMN(shape)},
    {COLUMN(metric)},
    {COLUMN(value), .hi = HUGE_VAL},
    {COLUMN(unit), .flags = CALC_CSV_OPTIONAL}};

static const calc_csv_table point_file =
    CALC_CSV_TABLE(columns, calc_point,
                   "the first row names the columns: "
                   "op,dtype,shape,metric,value and, if wanted, system and unit");

calc_status calc_points_parse(calc_points *out, calc_text text, const char *name,
                              calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &point_file, text, name, errors);
    *out = (calc_points){rows.item, rows.count, rows.text, name};
    for (size_t i = 0; i < out->count; i++) {
        point_meaning(&out->item[i]);
    }
    return status;
}

CALC_CSV_READS_AS(calc_points_read, calc_points, calc_points_parse)

CALC_FREES(calc_points_free, calc_points, of->item, of->text.data)

/* Whether `name` is one of the names between commas. */
static bool is_listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* The machines that usable rows name, for people. @return how many */
static size_t list_machines(const calc_points *points, char names[NAMES_SIZE])
{
    size_t count = 0;
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        char shown[CALC_UTF8_SHOW_SIZE];
        size_t k = 0; /* the first of the same machine */
        while (k < i && (!calc_point_is_used(&points->item[k]) ||
                         strcmp(points->item[k].system, p->system) != 0)) {
            k++;
        }
        if (!calc_point_is_used(p) || k < i) {
            continue;
        }
        if (used + 4 + sizeof shown < NAMES_SIZE) {
            used += (size_t)snprintf(names + used, NAMES_SIZE - used, "%s%s", count ? "," : "",
                                     calc_utf8_show(shown, p->system, strlen(p->system)));
        } else if (count > 0 && names[used - 1] != '.') {
            used += (size_t)snprintf(names + used, NAMES_SIZE - used, "...");
        }
        count++;
    }
    return count;
}

calc_status calc_points_select(calc_points *points, const char *rows, const calc_system *system,
                               calc_errors *errors)
{
    char names[NAMES_SIZE];
    size_t machines = list_machines(points, names);
    if (!rows && machines > 1) {
        return calc_errors_at(errors, CALC_ERR_FIELD, points->name, 0, 0,
                              "--rows NAME[,NAME...] chooses by the column \"system\"",
                              "the measurements are of more than one machine: %s", names);
    }
    size_t found = 0;
    const calc_point *refused = NULL; /* the first of the machine */
    for (size_t i = 0; i < points->count; i++) {
        calc_point *p = &points->item[i];
        bool other = rows && !is_listed(rows, p->system);
        bool computes = p->class <= CALC_POINT_ATTENTION_BW || p->class == CALC_POINT_BLOCK ||
                        (calc_point_is_serving(p) && p->class != CALC_POINT_SERVING_ALL_REDUCE);
        if (other) {
            snprintf(p->reason, sizeof p->reason, "another machine");
        } else if (calc_point_is_used(p) && computes &&
                   !(system->chip.matrix[p->datatype].flop_per_s > 0)) {
            snprintf(p->reason, sizeof p->reason, "the system has no matrix engine in %s",
                     calc_datatype_names[p->datatype]);
        } else if (calc_point_is_used(p) && p->class == CALC_POINT_BLOCK) {
            calc_point_block_ask(p, system, p->reason);
        }
        found += calc_point_is_used(p);
        refused = !refused && !other && !calc_point_is_used(p) ? p : refused;
    }
    if (found > 0) {
        return CALC_OK;
    }
    if (rows && machines > 0 && !refused) {
        return calc_errors_at(errors, CALC_ERR_FIELD, points->name, 0, 0, NULL,
                              "no row that can be used is of %.60s; there are rows of: %s", rows,
                              names);
    }
    return calc_errors_at(errors, CALC_ERR_FIELD, points->name, refused ? refused->line : 0, 0,
                          NULL, "no row can be used; the first says: %s",
                          refused             ? refused->reason
                          : points->count > 0 ? points->item[0].reason
                                              : "there are none");
}

const char *calc_point_class_name(calc_point_class class)
{
    return classes[class].name;
}

double calc_point_flop(const calc_point *point)
{
    bool multiplies = point->class == CALC_POINT_MATRIX || point->class == CALC_POINT_GROUPED;
    return multiplies ? 2 * point->size[0] * point->size[1] * point->size[2] * point->size[3] : 0;
}

calc_kernel_key calc_point_key(const calc_point *p, const calc_system *system)
{
    if (p->class == CALC_POINT_BLOCK) {
        return calc_point_block_key(p, system);
    }
    int sizes = 0;
    while (classes[p->class].size[sizes]) {
        sizes++;
    }
    bool wgrad = p->pass == CALC_PASS_WGRAD;
    calc_kernel_key key = {.pass = (int)p->pass, .datatype = (int)p->datatype};
    calc_kernel_key_sizes(&key, p->size, sizes);
    if (calc_point_is_serving(p)) {
        key.kind = CALC_KERNEL_SERVING; /* in no step of training */
        key.variant = (int)p->class;
        return key;
    }
    switch (p->class) {
    case CALC_POINT_MATRIX:
    case CALC_POINT_GROUPED:
        key.kind = p->class == CALC_POINT_MATRIX ? CALC_KERNEL_MATRIX : CALC_KERNEL_GROUPED;
        key.variant = wgrad ? (int)p->result_bytes : 0;
        break;
    case CALC_POINT_ATTENTION_FW:
    case CALC_POINT_ATTENTION_BW:
        key.kind = CALC_KERNEL_ATTENTION;
        key.pass = p->class == CALC_POINT_ATTENTION_FW ? CALC_PASS_FW : CALC_PASS_AGRAD;
        key.variant = p->causal;
        break;
    case CALC_POINT_MEMORY:
    case CALC_POINT_NORM: {
        double bytes = calc_point_bytes(p);
        key = (calc_kernel_key){.kind = CALC_KERNEL_MEMORY};
        calc_kernel_key_sizes(&key, &bytes, 1);
        break;
    }
    default: {
        double ranks = p->class == CALC_POINT_P2P ? 2 : p->size[1];
        key = (calc_kernel_key){.kind = CALC_KERNEL_COLLECTIVE,
                                .variant = (int)calc_point_op(p->class)};
        calc_kernel_key_sizes(&key, (double[]){p->size[0], ranks, p->size[2]}, 3);
    }
    }
    return key;
}

void calc_point_table_make(calc_point_table *out, const calc_point *points, size_t count,
                           const bool *skip, const calc_system *system)
{
    *out = (calc_point_table){.owned = calc_make(count, sizeof *out->owned)};
    out->table.point = out->owned;
    for (size_t i = 0; i < count; i++) {
        const calc_point *p = &points[i];
        if (calc_point_is_used(p) && !(skip && skip[i])) {
            out->owned[out->table.count++] =
                (calc_kernel_point){calc_point_key(p, system), p->measured_s,
                                    log(p->measured_s / calc_point_time_s(p, system))};
        }
    }
}

CALC_FREES(calc_point_table_free, calc_point_table, of->owned)

const calc_kernel_table *calc_point_tables_of(void *of, const char *machine,
                                              const calc_system *system)
{
    calc_point_tables *t = of;
    const calc_points *all = &t->points;
    calc_points own = {calc_make(all->count, sizeof *own.item), all->count, {0}, all->name};
    const calc_kernel_table *made = NULL;
    t->errors = (calc_errors){0};
    if (t->count == CALC_DOCUMENTS_MAX) {
        calc_errors_no_memory(&t->errors);
        free(own.item);
        return NULL;
    }
    for (size_t i = 0; i < own.count; i++) {
        own.item[i] = all->item[i];
        own.item[i].system = *own.item[i].system ? own.item[i].system : machine;
    }
    if (calc_points_select(&own, machine, system, &t->errors) == CALC_OK) {
        calc_point_table *table = &t->table[t->count++];
        calc_point_table_make(table, own.item, own.count, NULL, system);
        made = &table->table;
    }
    free(own.item);
    return made;
}

void calc_point_tables_free(calc_point_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        calc_point_table_free(&tables->table[i]);
    }
    calc_points_free(&tables->points);
}
