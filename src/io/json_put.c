#include "io/json_put.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "io/json_runs.h"
#include "io/utf8.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/software.h"

void calc_json_string(calc_output *out, const char *text)
{
    size_t length = strlen(text), from = 0; /* what is written as it is */
    calc_output_text(out, "\"");
    for (size_t i = 0, step; i < length; i += step) {
        size_t known = calc_utf8_length(text + i, length - i);
        bool quoted = text[i] == '"' || text[i] == '\\';
        step = known > 0 ? known : 1;
        if (known > 0 && !quoted && (unsigned char)text[i] >= 0x20) {
            continue;
        }
        calc_output_write(out, text + from, i - from);
        from = i + step;
        if (known == 0) {
            calc_output_text(out, "\xef\xbf\xbd"); /* U+FFFD */
        } else {
            calc_output_printf(out, quoted ? "\\%c" : "\\u%04x", (unsigned)text[i]);
        }
    }
    calc_output_write(out, text + from, length - from);
    calc_output_text(out, "\"");
}

calc_put calc_put_to(calc_output *out)
{
    return (calc_put){.out = out, .step = 2};
}

static void end_line(calc_put *put)
{
    calc_output_printf(put->out, "\n%*s", put->indent, "");
}

void calc_put_key(calc_put *put, const char *key)
{
    if (put->depth > 0) {
        bool lines = put->level[put->depth - 1].lines;
        if (put->level[put->depth - 1].used) {
            calc_output_text(put->out, lines ? "," : ", ");
        }
        if (lines) {
            end_line(put);
        }
        put->level[put->depth - 1].used = true;
    }
    assert((key != NULL) == (put->depth > 0 && put->level[put->depth - 1].end == '}'));
    if (key) {
        calc_output_text(put->out, "\"");
        calc_output_text(put->out, key);
        calc_output_text(put->out, "\": ");
    }
}

static void begin(calc_put *put, const char *key, calc_put_layout layout, const char *begin,
                  char end)
{
    calc_put_key(put, key);
    assert(put->depth < CALC_PUT_DEPTH);
    bool lines = layout == CALC_PUT_LINES && !put->flat;
    put->level[put->depth].end = end;
    put->level[put->depth].lines = lines;
    put->level[put->depth].used = false;
    put->depth++;
    put->indent += lines ? put->step : 0;
    calc_output_text(put->out, begin);
}

void calc_put_object(calc_put *put, const char *key, calc_put_layout layout)
{
    begin(put, key, layout, "{", '}');
}

void calc_put_array(calc_put *put, const char *key, calc_put_layout layout)
{
    begin(put, key, layout, "[", ']');
}

void calc_put_document(calc_put *put)
{
    calc_putf(put, "{\nformat: %d", CALC_FORMAT);
}

void calc_put_close(calc_put *put)
{
    assert(put->depth > 0);
    put->depth--;
    if (put->level[put->depth].lines) {
        put->indent -= put->step;
        if (put->level[put->depth].used) {
            end_line(put);
        }
    }
    calc_output_write(put->out, &put->level[put->depth].end, 1);
}

void calc_put_end(calc_put *put)
{
    calc_put_close(put);
    assert(put->depth == 0);
    calc_output_text(put->out, "\n");
}

void calc_put_raw(calc_put *put, const char *key, const char *json)
{
    calc_put_key(put, key);
    calc_output_text(put->out, json);
}

void calc_put_text(calc_put *put, const char *key, const char *text)
{
    calc_put_key(put, key);
    calc_json_string(put->out, text);
}

void calc_put_number(calc_put *put, const char *key, double value)
{
    calc_put_raw(put, key, CALC_NUMBER(value));
}

void calc_put_rounded(calc_put *put, const char *key, double value, int digits)
{
    char text[CALC_DECIMAL_SIZE];
    calc_put_raw(put, key, isfinite(value) ? calc_decimal_rounded(value, digits, text) : "null");
}

void calc_put_count(calc_put *put, const char *key, int64_t value)
{
    calc_put_key(put, key);
    calc_output_printf(put->out, "%" PRId64, value);
}

void calc_put_flag(calc_put *put, const char *key, bool value)
{
    calc_put_raw(put, key, value ? "true" : "false");
}

void calc_putf(calc_put *put, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    while (*(fmt += strspn(fmt, " ,"))) {
        char text[64];
        size_t length = strcspn(fmt, ":%{}[]");
        const char *key = fmt[length] == ':' ? text : NULL;
        bool flag = key && fmt[length - 1] == '?';
        snprintf(text, sizeof text, "%.*s", (int)length - flag, fmt);
        fmt += key ? length + strspn(fmt + length, ": ") : 0;
        if (*fmt == '}' || *fmt == ']') {
            assert(put->depth > 0 && put->level[put->depth - 1].end == *fmt);
            calc_put_close(put);
            fmt++;
        } else if (*fmt == '{' || *fmt == '[') {
            calc_put_layout layout = fmt[1] == '\n' ? CALC_PUT_LINES : CALC_PUT_LINE;
            (*fmt == '{' ? calc_put_object : calc_put_array)(put, key, layout);
            fmt += layout == CALC_PUT_LINES ? 2 : 1;
        } else {
            size_t end = strcspn(fmt, "sgdu");
            if (fmt[end] == 's') {
                calc_put_text(put, key, va_arg(args, const char *));
            } else if (fmt[end] == 'g' && end > 1) {
                calc_put_rounded(put, key, va_arg(args, double), (int)strtol(fmt + 2, NULL, 10));
            } else if (fmt[end] == 'g') {
                calc_put_number(put, key, va_arg(args, double));
            } else if (flag) {
                calc_put_flag(put, key, va_arg(args, int));
            } else {
                calc_put_count(put, key,
                               fmt[1] == 'z'   ? (int64_t)va_arg(args, size_t)
                               : fmt[1] == 'j' ? va_arg(args, intmax_t)
                                               : va_arg(args, int));
            }
            fmt += end + 1;
        }
    }
    va_end(args);
}

void calc_put_rows(calc_put *put, calc_kind kind, const void *object)
{
    const calc_table *table = calc_table_of(kind);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        calc_put_number(put, field->key,
                        calc_member_number(field, (const char *)object + field->offset));
    }
}

static void put_table(calc_put *put, const char *key, const calc_table *table, const char *object);

static void put_scaled(calc_put *put, const char *key, double value, double scale)
{
    calc_put_raw(put, key, calc_number_text(value, scale, (char[32]){""}));
}

static void put_op(calc_put *put, const calc_field *field, const calc_network_op *op)
{
    calc_put_array(put, field->key, CALC_PUT_LINE);
    calc_put_number(put, NULL, op->scalar);
    if (field->flags & CALC_POINT_TO_POINT) {
        calc_put_raw(put, NULL, "null");
    } else {
        calc_put_number(put, NULL, op->offset);
    }
    calc_put_close(put);
}

/* The members of a set, in the order of their choices. */
static void put_set(calc_put *put, const char *key, const calc_field *field, int64_t set)
{
    calc_put_array(put, key, CALC_PUT_LINE);
    for (size_t i = 0; field->choices[i]; i++) {
        if ((uint64_t)set >> i & 1) {
            calc_put_text(put, NULL, field->choices[i]);
        }
    }
    calc_put_close(put);
}

static void put_list(calc_put *put, const calc_field *field, const char *member)
{
    int64_t count = *(const int64_t *)(const void *)(member - field->offset + field->count);
    calc_put_array(put, field->key, CALC_PUT_LINES);
    for (int64_t i = 0; i < count; i++) {
        put_table(put, NULL, field->table, member + (size_t)i * field->element);
    }
    calc_put_close(put);
}

/* An element that is all zero is not offered. */
static void put_map(calc_put *put, const calc_field *field, const char *member)
{
    calc_put_object(put, field->key, CALC_PUT_LINES);
    for (size_t i = 0; field->choices[i]; i++) {
        const char *element = member + i * field->element;
        size_t zeros = 0;
        while (zeros < field->element && !element[zeros]) {
            zeros++;
        }
        if (zeros < field->element) {
            put_table(put, field->choices[i], field->table, element);
        }
    }
    calc_put_close(put);
}

void calc_json_put_member(calc_put *put, const calc_field *field, const void *value)
{
    const char *member = value, *choice;
    const calc_curve *curve = value;
    bool plain;
    switch (field->type) {
    case CALC_TYPE_INT:
        calc_put_count(put, field->key, *(const int64_t *)value);
        break;
    case CALC_TYPE_REAL:
        put_scaled(put, field->key, *(const double *)value, calc_field_scale(field));
        break;
    case CALC_TYPE_BOOL:
        calc_put_flag(put, field->key, *(const bool *)value);
        break;
    case CALC_TYPE_ENUM:
        /* A choice between yes, no and auto is true or false in JSON. */
        choice = field->choices[*(const int *)value];
        plain = strcmp(choice, "true") == 0 || strcmp(choice, "false") == 0;
        (plain ? calc_put_raw : calc_put_text)(put, field->key, choice);
        break;
    case CALC_TYPE_SET:
        put_set(put, field->key, field, *(const int64_t *)value);
        break;
    case CALC_TYPE_CURVE:
        calc_put_array(put, field->key, CALC_PUT_LINE);
        for (int64_t i = 0; i < curve->count; i++) {
            calc_put_array(put, NULL, CALC_PUT_LINE);
            put_scaled(put, NULL, curve->threshold[i], calc_field_scale(field));
            calc_putf(put, "%g]", curve->efficiency[i]);
        }
        calc_put_close(put);
        break;
    case CALC_TYPE_OP:
        put_op(put, field, value);
        break;
    case CALC_TYPE_OBJECT:
        put_table(put, field->key, field->table, member);
        break;
    case CALC_TYPE_LIST:
        put_list(put, field, member);
        break;
    case CALC_TYPE_MAP:
        put_map(put, field, member);
        break;
    case CALC_TYPE_SYSTEM:
    case CALC_TYPE_ENGINE: /* both begin with a name */
        calc_put_text(put, field->key, value);
        break;
    case CALC_TYPE_NOTE:
        break;
    }
}

/* What a layout says where its software says otherwise is written, though it be what an absent key
 * means. */
static bool is_left_out(const calc_table *table, size_t row, const char *object)
{
    const calc_field *field = &table->rows[row];
    const calc_exec *exec = (const void *)object;
    bool said = table == calc_table_of(CALC_KIND_EXEC) && exec->software[0] &&
                calc_exec_rows_has(&exec->stated, row);
    return field->type == CALC_TYPE_NOTE ||
           (field->flags & CALC_OPTIONAL && !said && calc_absent_is(field, object + field->offset));
}

static void put_members(calc_put *put, const calc_table *table, const char *object)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if (field->flags & CALC_AUTO && /* only executions have such fields */
            ((const calc_exec *)(const void *)object)->automatic & calc_automatic_bit(field)) {
            calc_put_text(put, field->key, "auto");
        } else if (!calc_json_lists_put(put, field, object) && !is_left_out(table, i, object)) {
            calc_json_put_member(put, field, object + field->offset);
        }
    }
}

static void put_table(calc_put *put, const char *key, const calc_table *table, const char *object)
{
    bool parts = !put->brief;
    for (size_t i = 0; i < table->count; i++) {
        parts = parts || table->rows[i].table;
    }
    calc_put_object(put, key, parts ? CALC_PUT_LINES : CALC_PUT_LINE);
    put_members(put, table, object);
    calc_put_close(put);
}

void calc_put_struct(calc_put *put, const char *key, calc_kind kind, const void *object)
{
    put_table(put, key, calc_table_of(kind), object);
}

void calc_put_engine(calc_put *put, const calc_serving_engine *engine)
{
    calc_put_document(put);
    put_members(put, calc_serving_engine_table(), (const char *)engine);
    calc_put_close(put);
}

void calc_put_open(calc_put *put, calc_kind kind, const void *object)
{
    calc_put_document(put);
    put_members(put, calc_table_of(kind), object);
}

void calc_json_save(calc_output *out, calc_kind kind, const void *object, int indent)
{
    calc_put put = calc_put_to(out);
    put.indent = indent;
    calc_put_open(&put, kind, object);
    calc_put_close(&put);
}

#include "spec/alias.h"

static const char *type_of(const calc_field *field)
{
    static const char *const types[] = {
        [CALC_TYPE_INT] = "integer",  [CALC_TYPE_REAL] = "number",   [CALC_TYPE_BOOL] = "boolean",
        [CALC_TYPE_ENUM] = "choice",  [CALC_TYPE_SET] = "set",       [CALC_TYPE_CURVE] = "curve",
        [CALC_TYPE_OP] = "operation", [CALC_TYPE_SYSTEM] = "system", [CALC_TYPE_ENGINE] = "engine",
        [CALC_TYPE_NOTE] = "text"};
    return field->flags & CALC_STAGES     ? "stages"
           : field->flags & CALC_LAYERS   ? "layers"
           : field->flags & CALC_STACK    ? "pattern"
           : field->flags & CALC_SOFTWARE ? "software"
                                          : types[field->type];
}

const char *calc_json_absent_text(const calc_field *field, const char *set, char buffer[64])
{
    switch (field->flags & CALC_OPTIONAL ? field->type : CALC_TYPE_NOTE) {
    case CALC_TYPE_INT:
    case CALC_TYPE_REAL:
        return calc_number_text(field->absent, 1, buffer);
    case CALC_TYPE_BOOL:
        return "false";
    case CALC_TYPE_ENUM:
        snprintf(buffer, 64, "\"%s\"", field->choices[0]);
        return buffer;
    case CALC_TYPE_SET:
        return set;
    default:
        return NULL;
    }
}

/* calc_field_visitor */
static void put_field(void *context, const char *path, const calc_field *field)
{
    calc_put *put = context;
    char text[64];
    bool number = field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL;
    calc_put_object(put, path, CALC_PUT_LINE);
    calc_put_text(put, "type", type_of(field));
    if (field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_SET) {
        put_set(put, "choices", field, -1);
    }
    if (number && field->lo < field->hi) {
        calc_putf(put, "minimum: %g, maximum: %g", field->flags & CALC_OR_ZERO ? 0 : field->lo,
                  field->hi);
    }
    if (field->unit) {
        calc_put_text(put, "unit", field->unit);
    }
    const char *absent = calc_json_absent_text(field, "\"none\"", text);
    if (absent) {
        calc_put_raw(put, "default", absent);
    }
    if (field->flags & CALC_AUTO) {
        calc_put_flag(put, "auto", true);
    }
    if (field->flags & CALC_MORE) {
        calc_put_flag(put, "more_is_better", true);
    }
    if (field->also[0]) {
        calc_put_array(put, "also", CALC_PUT_LINE);
        for (const char *const *also = field->also; *also; also++) {
            calc_put_text(put, NULL, *also);
        }
        calc_put_close(put);
    }
    calc_putf(put, "description: %s}", field->doc);
}

void calc_put_fields(calc_put *put, calc_kind kind)
{
    calc_put_object(put, "fields", CALC_PUT_LINES);
    calc_field_each(calc_table_of(kind), put_field, put);
    calc_put_close(put);
}

void calc_put_reasons(calc_put *put, const calc_reason *reason, size_t count)
{
    calc_put_array(put, "reasons", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_putf(put, "{verdict: %s, text: %s, hint: %s}", calc_verdict_text(reason[i].verdict),
                  reason[i].text, reason[i].hint);
    }
    calc_put_close(put);
}

void calc_put_layers(calc_put *put, const calc_layer_stats *layer, size_t count)
{
    calc_put_array(put, "layers", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_putf(put, "{name: %s", layer[i].name);
        calc_put_rows(put, CALC_KIND_LAYER, &layer[i]);
        calc_put_close(put);
    }
    calc_put_close(put);
}

void calc_put_stages(calc_put *put, const calc_stage_stats *stage, size_t count)
{
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_rows(put, CALC_KIND_STAGE, &stage[i]);
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* "key": [first, first + stride, ...] for a group of more than one. */
static void put_group(calc_put *put, const char *key, int64_t first, int64_t stride, int64_t count)
{
    if (count == 1) {
        return;
    }
    calc_put_array(put, key, CALC_PUT_LINE);
    for (int64_t i = 0; i < count; i++) {
        calc_put_count(put, NULL, first + i * stride);
    }
    calc_put_close(put);
}

void calc_peers_save(calc_output *out, const calc_exec *exec)
{
    int64_t tensor_par = exec->strategy.tensor_par;
    int64_t replica = tensor_par * exec->pipeline_par; /* ranks of one replica */
    int64_t ranks = replica * exec->strategy.data_par;
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    for (int64_t rank = 0; rank < ranks; rank++) {
        int64_t in_replica = rank % replica;
        char key[32];
        snprintf(key, sizeof key, "%" PRId64, rank);
        calc_put_object(&put, key, CALC_PUT_LINE);
        put_group(&put, "tensor", rank - rank % tensor_par, 1, tensor_par);
        if (exec->pipeline_par > 1) {
            calc_put_count(&put, "pipeline",
                           rank - in_replica + (in_replica + tensor_par) % replica);
        }
        put_group(&put, "data", in_replica, replica, exec->strategy.data_par);
        calc_put_close(&put);
    }
    calc_put_end(&put);
}
