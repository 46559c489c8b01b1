#include "cli/run/run_operators.h"

#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "model/run.h"
#include "spec/field.h"

static const char *const passes[CALC_PASS_COUNT] = {"forward", "activation gradient",
                                                    "weight gradient"};

/* Why a layout has no operators to look up; NULL if it has some. */
static const char *refusal(const calc_inputs *in)
{
    if (in->exec.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return "measured operators are looked up in training steps, not in serving";
    }
    return NULL;
}

calc_status calc_run_operators_make(calc_run_operators *out, const char *path, const char *rows,
                                    const calc_inputs *in, calc_stats *stats, calc_errors *errors)
{
    const char *why = refusal(in);
    if (why) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL, "%s", why);
    }
    calc_text text = {0};
    calc_status status = calc_text_read(&text, path, errors);
    if (status == CALC_OK) {
        calc_digest_text(text.data, text.length, out->sha256);
        status = calc_points_parse(&out->points, text, path, errors);
        calc_complain_points(&out->points);
    }
    status =
        status == CALC_OK ? calc_points_select(&out->points, rows, &in->system, errors) : status;
    status = status == CALC_OK ? calc_point_table_make(&out->table, out->points.item,
                                                       out->points.count, NULL, &in->system, errors)
                               : status;
    if (status == CALC_OK) {
        calc_layout layout;
        calc_layout_of(&in->app, &in->system, &in->exec, CALC_COMPAT_NONE, &out->table.table,
                       &layout);
        out->block = calc_measured_block_of(&layout.context);
        calc_run_measured(&in->app, &in->system, &in->exec, &out->table.table, stats);
        out->count = calc_operator_stats_measured(&in->app, &in->system, &in->exec,
                                                  CALC_COMPAT_NONE, &out->table.table, out->layer,
                                                  out->source, CALC_MAX_LAYERS);
    }
    return status;
}

void calc_run_operators_free(calc_run_operators *operators)
{
    calc_points_free(&operators->points);
    calc_point_table_free(&operators->table);
}

/* ---- For people ------------------------------------------------------------------------------ */

/* The mark after a time that names its source. */
static const char marks[CALC_KERNEL_SOURCES + 1] = " ^~=";

static void write_pass(calc_output *out, const calc_operator_source *s, int pass)
{
    char text[CALC_HUMAN_MAX];
    bool has = s->time_s[pass] > 0;
    char mark = has ? marks[s->source[pass]] : ' ';
    calc_output_printf(out, "%16s", has ? calc_human_seconds(s->time_s[pass], text) : "-");
    if (mark != ' ' || pass + 1 < CALC_PASS_COUNT) {
        calc_output_printf(out, " %c", mark);
    }
}

static bool runs(const calc_operator_source *s)
{
    bool any = false;
    for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
        any = any || s->time_s[pass] > 0;
    }
    return any;
}

/* A block as a whole, where the file has some; without measurements of it, its operators follow. */
static void write_block(calc_output *out, const calc_measured_block *b)
{
    static const char *const what[CALC_KERNEL_SOURCES] = {
        "no block of this structure is measured", "no block near this one is measured",
        "forward and backward, communication included",
        "forward and backward, communication included"};
    char text[CALC_HUMAN_MAX];
    if (b->time_s > 0) {
        calc_output_printf(out, "  %-26s%16s %c %s\n", "block", calc_human_seconds(b->time_s, text),
                           marks[b->source], what[b->source]);
    }
}

void calc_run_operators_write(calc_output *out, const calc_run_operators *o)
{
    double time_s[CALC_KERNEL_SOURCES] = {0};
    double total_s = 0;
    calc_output_printf(out, "\n%-28s%16s%18s%18s\n", "Where times come from", passes[0],
                       "activation grad.", "weight grad.");
    write_block(out, &o->block);
    if (o->block.measured) {
        time_s[o->block.source] = total_s = o->block.time_s;
    }
    for (size_t i = 0; i < o->count; i++) {
        const calc_operator_source *s = &o->source[i];
        if (!runs(s)) {
            continue;
        }
        calc_output_printf(out, "  %-26s", o->layer[i].name);
        for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
            write_pass(out, s, pass);
            time_s[s->source[pass]] += s->time_s[pass];
            total_s += s->time_s[pass];
        }
        calc_output_text(out, "\n");
    }
    calc_output_text(out, "  ");
    for (int k = CALC_KERNEL_SOURCES; k-- > 0 && total_s > 0;) {
        calc_output_printf(out, "%s%c%s %.0f %%", k < CALC_KERNEL_EXACT ? ", " : "", marks[k],
                           calc_kernel_source_text((calc_kernel_source)k),
                           100 * time_s[k] / total_s);
    }
    calc_output_text(out, " of these times\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_time(calc_put *put, const char *name, const char *pass, calc_kernel_source source,
                     double time_s, double model_s)
{
    if (time_s > 0) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "name", name);
        calc_put_text(put, "pass", pass);
        calc_put_text(put, "source", calc_kernel_source_text(source));
        calc_put_number(put, "time", time_s);
        calc_put_number(put, "model_time", model_s);
        calc_put_close(put);
    }
}

void calc_run_operators_put(calc_put *put, const calc_run_operators *o)
{
    calc_put_array(put, "operators", CALC_PUT_LINES);
    put_time(put, "block", "forward and backward", o->block.source, o->block.time_s,
             o->block.model_s);
    for (size_t i = 0; i < o->count; i++) {
        for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
            const calc_operator_source *s = &o->source[i];
            put_time(put, o->layer[i].name, passes[pass], s->source[pass], s->time_s[pass],
                     s->model_s[pass]);
        }
    }
    calc_put_close(put);
}
