#include "cli/sweep/sweep_write.h"

#include "cli/sweep/sweep_order.h"
#include "io/csv.h"
#include "io/json_save.h"
#include "parallel.h"
#include "spec/field.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

void calc_sweep_write_json(calc_output *out, const calc_sweep_study *study,
                           const calc_sweep_result *result)
{
    const calc_sweep_order order = calc_sweep_order_of(study, calc_sweep_found_best_of_all(result));
    const calc_sweep_data data = {
        .study = study, .result = result, .sure = calc_sweep_order_sure, .context = &order};
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_sweep_put_results(&put, &data);
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

void calc_sweep_write_summary(calc_output *out, const calc_sweep_result *result)
{
    calc_put put = calc_put_to(out);
    calc_sweep_put_summary(&put, NULL, result);
    calc_output_text(out, "\n");
}
