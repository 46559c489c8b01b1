#include "io/json_put.h"

#include "io/utf8.h"
#include "spec/field.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void calc_json_string(calc_output *out, const char *text)
{
    size_t length = strlen(text);
    calc_output_text(out, "\"");
    for (size_t i = 0; i < length;) {
        size_t step = calc_utf8_length(text + i, length - i);
        if (step == 0) {
            calc_output_text(out, "\xef\xbf\xbd"); /* U+FFFD */
            step = 1;
        } else if (text[i] == '"' || text[i] == '\\') {
            calc_output_printf(out, "\\%c", text[i]);
        } else if ((unsigned char)text[i] < 0x20) {
            calc_output_printf(out, "\\u%04x", (unsigned)text[i]);
        } else {
            calc_output_write(out, text + i, step);
        }
        i += step;
    }
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
    char text[32];
    calc_put_raw(put, key, calc_number_text(value, 1, text));
}

void calc_put_rounded(calc_put *put, const char *key, double value, int digits)
{
    calc_put_key(put, key);
    if (isfinite(value)) {
        calc_output_printf(put->out, "%.*g", digits, value);
    } else {
        calc_output_text(put->out, "null");
    }
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

void calc_put_rows(calc_put *put, calc_kind kind, const void *object)
{
    const calc_table *table = calc_table_of(kind);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        calc_put_number(put, field->key,
                        calc_member_number(field, (const char *)object + field->offset));
    }
}
