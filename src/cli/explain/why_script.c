#include "cli/explain/why_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_complete.h"
#include "formats/export.h"
#include "plan/why.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { NODE_PROCS = 8, MARGIN = 4, PINNED = 64, PIN = CALC_VALUE_TEXT + 64 };

const calc_framework *calc_why_script_of(const calc_inputs *inputs)
{
    const calc_framework *framework = inputs->input[CALC_KIND_APP].framework;
    bool own = framework && !inputs->input[CALC_KIND_EXEC].text.data;
    for (size_t i = 0; own && calc_framework_list[i]; i++) {
        if (calc_framework_list[i] == framework) {
            return framework;
        }
    }
    return NULL;
}

bool calc_why_script_start(const calc_inputs *inputs, calc_exec *start)
{
    const calc_framework *framework = calc_why_script_of(inputs);
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    char procs[24], text[PINNED][PIN], value[CALC_VALUE_TEXT];
    const char *set[PINNED];
    calc_exec *found = NULL;
    calc_errors ignored = {0};
    size_t pins = 0, count = 0;
    if (!framework || framework->serves) {
        return false;
    }
    calc_inputs own = *inputs;
    snprintf(procs, sizeof procs, "%lld", (long long)inputs->exec.num_procs);
    own.procs = procs;
    own.batch = NULL;
    own.framework = framework->name;
    for (size_t i = 0; i < table->count && pins < PINNED; i++) {
        const calc_field *field = &table->rows[i];
        calc_value_text(field, (const char *)&inputs->exec + field->offset, value);
        if (*value && calc_why_keeps(field, &inputs->exec) &&
            strcmp(field->key, "num_procs") != 0) {
            /* With the blank, "auto" of a number format is a value, and not left open. */
            snprintf(text[pins], PIN, "exe.%s= %s", field->key, value);
            set[pins] = text[pins];
            pins++;
        }
    }
    bool is =
        calc_is_yes(calc_sweep_front_of(&own, set, pins, NULL, 0, &found, &count, &ignored)) &&
        count > 0;
    if (is) {
        *start = found[0];
    }
    free(found);
    return is;
}

/* Both layouts as settings. @return whether there are any */
static bool export_both(const calc_inputs *in, const calc_exec *other, calc_settings two[2])
{
    const calc_framework *framework = calc_why_script_of(in);
    calc_errors ignored = {0};
    return framework &&
           calc_is_yes(
               calc_export(framework, &in->app, &in->exec, NODE_PROCS, &two[0], &ignored)) &&
           calc_is_yes(calc_export(framework, &in->app, other, NODE_PROCS, &two[1], &ignored));
}

/* A line under way. */
typedef struct line {
    calc_output *out;
    int columns, used;
} line;

static void add(void *context, const char *key, const char *from, const char *to)
{
    line *l = context;
    char text[256];
    snprintf(text, sizeof text, "%s%s%s%s%s", to ? "" : "without ", key, from && to ? " " : "",
             from && to ? from : "", to && (*to || from) ? from ? " -> " : " " : "");
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s", to ? to : "");
    int width = (int)strlen(text) + 2;
    bool breaks = l->used == 0 || l->used + width > l->columns;
    if (breaks) {
        calc_output_printf(l->out, "%s%*s", l->used ? ",\n" : "", MARGIN, "");
        l->used = MARGIN;
    }
    calc_output_printf(l->out, "%s%s", breaks ? "" : ", ", text);
    l->used += width;
}

void calc_why_script_write(calc_output *out, const calc_inputs *in, const calc_exec *other)
{
    calc_settings two[2] = {{0}};
    line l = {out, calc_paint_columns(), 0};
    if (export_both(in, other, two)) {
        calc_settings_compare(&two[0], &two[1], add, &l);
        calc_output_text(out, l.used ? "\n" : "");
    }
    calc_settings_free(&two[0]);
    calc_settings_free(&two[1]);
}

static void put_setting(void *context, const char *key, const char *from, const char *to)
{
    (void)from;
    if (to) {
        calc_put_text(context, key, to);
    } else {
        calc_put_raw(context, key, "null");
    }
}

void calc_why_script_put(calc_put *put, const calc_inputs *in, const calc_exec *other)
{
    calc_settings two[2] = {{0}};
    if (export_both(in, other, two)) {
        calc_put_object(put, "settings", CALC_PUT_LINE);
        calc_settings_compare(&two[0], &two[1], put_setting, put);
        calc_put_close(put);
    }
    calc_settings_free(&two[0]);
    calc_settings_free(&two[1]);
}
