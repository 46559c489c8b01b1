#include "cli/sweep/sweep_write.h"

#include <math.h>

#include "cli/draw/breakdown.h"
#include "cli/sweep/sweep_order.h"
#include "cli/sweep/sweep_read.h"
#include "io/csv.h"
#include "io/json_save.h"
#include "parallel.h"
#include "spec/compat.h"
#include "spec/field.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

void calc_sweep_put_design(calc_put *put, const char *key, const calc_sweep_study *study,
                           uint64_t design)
{
    const calc_designs_builder *builder = &study->builder;
    calc_design_parts parts = calc_designs_parts(builder, design);
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_put_text(put, "application", parts.app->name);
    calc_put_text(put, "system", parts.system->name);
    for (size_t i = 0; i < builder->axes; i++) {
        bool word = builder->axis[i].ref.field->type == CALC_TYPE_ENUM;
        char text[32];
        calc_designs_value_text(builder, design, i, text);
        (word ? calc_put_text : calc_put_raw)(put, builder->axis[i].path, text);
    }
    calc_put_close(put);
}

void calc_sweep_put_parts(calc_put *put, const calc_sweep_study *study,
                          const calc_sweep_found *found)
{
    bool ours = study->options.compat == CALC_COMPAT_NONE;
    calc_breakdown_put_time(put, "time", &found->stats);
    calc_breakdown_put_memory(put, "memory1", &found->exec, &found->stats, 1, ours);
    calc_breakdown_put_memory(put, "memory2", &found->exec, &found->stats, 2, ours);
}

static void put_list(calc_put *put, const char *key, const calc_sweep_study *study,
                     const calc_sweep_order *order, const calc_front *list)
{
    calc_put_array(put, key, CALC_PUT_LINES);
    for (size_t i = 0; i < list->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(study, &list->item[i], &found);
        calc_put_object(put, NULL, CALC_PUT_LINES);
        calc_sweep_put_design(put, "design", study, found.design);
        calc_put_struct(put, "execution", CALC_KIND_EXEC, &found.exec);
        calc_put_struct(put, "stats", CALC_KIND_STATS, &found.stats);
        calc_sweep_order_put(put, order, &found);
        calc_sweep_put_parts(put, study, &found);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_lists(calc_put *put, const calc_sweep_study *study, const calc_sweep_order *order,
                      const calc_sweep_group *group)
{
    put_list(put, "front", study, order, &group->front);
    put_list(put, "top", study, order, &group->top);
}

/* Members shared by the layouts of a group. */
static void put_group_key(calc_put *put, const calc_sweep_study *study, size_t index)
{
    const calc_values *procs = &study->space.axis[CALC_AXIS_num_procs];
    size_t per_design = study->options.per_num_procs ? procs->count : 1;
    if (study->options.per_num_procs) {
        calc_put_count(put, "num_procs", procs->value[index % per_design]);
    }
    if (study->options.per_design) {
        calc_sweep_put_design(put, "design", study, index / per_design);
    }
}

static void put_objective(calc_put *put, const char *key, const calc_objective *objective)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_put_text(put, "statistic", objective->field->key);
    calc_put_text(put, "direction", objective->up ? "up" : "down");
    calc_put_close(put);
}

void calc_sweep_put_study(calc_put *put, const calc_sweep_study *study)
{
    char rules[CALC_COMPAT_TEXT];
    const calc_sweep_options *o = &study->options;
    calc_put_text(put, "version", CALC_VERSION);
    calc_put_text(put, "compat", calc_compat_text(o->compat, rules));
    calc_put_array(put, "applications", CALC_PUT_LINE);
    for (size_t i = 0; i < study->builder.apps; i++) {
        calc_put_text(put, NULL, study->builder.app[i].name);
    }
    calc_put_close(put);
    calc_put_array(put, "systems", CALC_PUT_LINE);
    for (size_t i = 0; i < study->builder.systems; i++) {
        calc_put_text(put, NULL, study->builder.system[i].name);
    }
    calc_put_close(put);
    calc_put_array(put, "objectives", CALC_PUT_LINE);
    for (size_t i = 0; i < o->objectives; i++) {
        put_objective(put, NULL, &o->objective[i]);
    }
    calc_put_close(put);
    put_objective(put, "top_by", &o->top_by);
    calc_sweep_read_put_remarks(put, study);
}

void calc_sweep_write_json(calc_output *out, const calc_sweep_study *study,
                           const calc_sweep_result *result)
{
    const calc_sweep_order order = calc_sweep_order_of(study, calc_sweep_found_best_of_all(result));
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_sweep_put_study(&put, study);
    if (result->partial) {
        calc_put_flag(&put, "partial", true);
    }
    if (!study->options.per_num_procs && !study->options.per_design) {
        put_lists(&put, study, &order, &result->group[0]);
        calc_put_end(&put);
        return;
    }
    calc_put_array(&put, "groups", CALC_PUT_LINES);
    for (size_t g = 0; g < result->groups_count; g++) {
        calc_put_object(&put, NULL, CALC_PUT_LINES);
        put_group_key(&put, study, g);
        put_lists(&put, study, &order, &result->group[g]);
        calc_put_close(&put);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void calc_sweep_write_header(calc_output *out, const calc_sweep_study *study, const char *first)
{
    calc_output_printf(out, "%s%sapplication,system", first ? first : "", first ? "," : "");
    for (size_t i = 0; i < study->builder.axes; i++) {
        calc_csv_text(out, study->builder.axis[i].path, false);
    }
    calc_csv_header(out, CALC_KIND_EXEC, false);
    calc_csv_header(out, CALC_KIND_STATS, false);
    calc_output_text(out, "\n");
}

void calc_sweep_write_row(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_found *found, bool is_first)
{
    calc_design_parts parts = calc_designs_parts(&study->builder, found->design);
    calc_csv_text(out, parts.app->name, is_first);
    calc_csv_text(out, parts.system->name, false);
    for (size_t i = 0; i < study->builder.axes; i++) {
        char text[32];
        calc_csv_text(out, calc_designs_value_text(&study->builder, found->design, i, text), false);
    }
    calc_csv_values(out, CALC_KIND_EXEC, &found->exec, false);
    calc_csv_values(out, CALC_KIND_STATS, &found->stats, false);
    calc_output_text(out, "\n");
}

/* Rows of a list: all threads make those of a few pieces at a time, which are written in order. */
enum { PIECE = 16, PIECES = 64 };

typedef struct rows {
    const calc_sweep_study *study;
    const char *name;
    const calc_front *list;
    size_t first;              /* of the first piece */
    calc_output *text[PIECES]; /* in memory; NULL if memory is short */
} rows;

static void write_piece(const rows *r, size_t piece, calc_output *out)
{
    size_t first = r->first + piece * PIECE;
    for (size_t i = first; i < first + PIECE && i < r->list->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(r->study, &r->list->item[i], &found);
        calc_output_printf(out, "%s,%zu", r->name, i + 1);
        calc_sweep_write_row(out, r->study, &found, false);
    }
}

static void make_piece(void *context, size_t piece)
{
    const rows *r = context;
    if (r->text[piece]) {
        write_piece(r, piece, r->text[piece]);
    }
}

static void write_rows(calc_output *out, const calc_sweep_study *study, const char *name,
                       const calc_front *list)
{
    rows r = {.study = study, .name = name, .list = list};
    bool several = list->count > PIECE; /* else threads cost more than they save */
    for (size_t i = 0; i < PIECES && several; i++) {
        (void)!calc_output_open_memory(&r.text[i], NULL, NULL);
    }
    for (; r.first < list->count; r.first += (size_t)PIECES * PIECE) {
        size_t left = (list->count - r.first + PIECE - 1) / PIECE;
        size_t pieces = left < PIECES ? left : PIECES;
        calc_parallel_for(several ? study->options.threads : 1, pieces, make_piece, &r);
        for (size_t i = 0; i < pieces; i++) {
            size_t length;
            const char *text = r.text[i] ? calc_output_take(r.text[i], &length) : NULL;
            if (text) {
                calc_output_write(out, text, length);
            } else {
                write_piece(&r, i, out);
            }
        }
    }
    for (size_t i = 0; i < PIECES; i++) {
        calc_output_discard(r.text[i]);
    }
}

void calc_sweep_write_csv(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_result *result)
{
    calc_sweep_write_header(out, study, "list,rank");
    for (size_t g = 0; g < result->groups_count; g++) {
        const calc_sweep_group *group = &result->group[g];
        write_rows(out, study, result->partial ? "partial front" : "front", &group->front);
        write_rows(out, study, result->partial ? "partial top" : "top", &group->top);
    }
}

/* ---- Summary --------------------------------------------------------------------------------- */

double calc_sweep_write_rate(const calc_sweep_result *result)
{
    return result->elapsed_s > 0 ? (double)result->counts.evaluated / result->elapsed_s : 0;
}

void calc_sweep_put_counts(calc_put *put, const calc_sweep_counts *c)
{
    calc_put_count(put, "feasible", (int64_t)c->feasible);
    calc_put_count(put, "filtered", (int64_t)c->filtered);
    calc_put_count(put, "skipped", (int64_t)c->skipped);
    calc_put_object(put, "rejected", CALC_PUT_LINES);
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        calc_put_count(put, calc_verdict_text((calc_verdict)v), (int64_t)c->rejected[v]);
    }
    calc_put_close(put);
}

void calc_sweep_write_summary(calc_output *out, const calc_sweep_result *result)
{
    double rate = calc_sweep_write_rate(result);
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "version", CALC_VERSION);
    calc_put_flag(&put, "partial", result->partial);
    calc_put_object(&put, "counts", CALC_PUT_LINES);
    calc_put_count(&put, "total", (int64_t)result->counts.total);
    calc_put_count(&put, "evaluated", (int64_t)result->counts.evaluated);
    calc_sweep_put_counts(&put, &result->counts);
    calc_put_close(&put);
    calc_put_rounded(&put, "elapsed_s", result->elapsed_s, 6);
    calc_put_count(&put, "threads", result->threads);
    calc_put_text(&put, "cpu", result->cpu);
    calc_put_count(&put, "evaluations_per_second", llround(rate));
    calc_put_count(&put, "evaluations_per_second_per_core", llround(rate / result->threads));
    calc_put_end(&put);
}
