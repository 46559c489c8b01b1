#include "points.h"

#include "model/verdict.h"
#include "point.h"
#include "serve.h"

/* Every point of a choice of a row as calc_run() has it. */
static void run_points(calc_worker *w, const calc_row *row, calc_exec *e, calc_sweep_group *group)
{
    const calc_cell *c = &w->cell;
    size_t flags = c->reduces * c->gathers;
    bool rejected = calc_verdict_offload_blocks(e, c->fewest_blocks);
    for (size_t chunking = 0; chunking < c->fitting; chunking++) {
        for (size_t pair = 0; pair < c->pipelines * c->datas; pair++) {
            if (!calc_cell_pairs_with(c, row->data_network, pair) ||
                c->verdict[row->network][pair] != CALC_VERDICT_OK) {
                continue;
            }
            if (rejected) {
                w->counts.rejected[CALC_VERDICT_OFFLOAD_BLOCKS] += flags;
                continue;
            }
            for (size_t flag = 0; flag < flags && w->status == CALC_OK; flag++) {
                calc_cell_put_point(c, pair, &c->chunking[chunking], flag, e);
                calc_point_take(w, group, e, NULL, CALC_POINT_RUN);
            }
        }
    }
}

void calc_points_run(calc_worker *w, size_t first, size_t last, calc_sweep_group *group)
{
    const calc_cell *c = &w->cell;
    calc_exec e = c->exec;
    e.pipeline_interleaving = 1;
    for (size_t i = first; i < last; i++) {
        const calc_row *row = &w->rows.row[i];
        int64_t expert_par = row->exec.strategy.expert_par;
        size_t choices = calc_cell_choices_count(c, &w->rows, expert_par, row->choices);
        if (!c->legal[row->spread]) {
            continue;
        }
        /* Rows of a table differ in their strategies. */
        e.strategy = row->exec.strategy;
        e.strategy.data_par = c->exec.strategy.data_par;
        for (size_t choice = 0; choice < choices && w->status == CALC_OK; choice++) {
            calc_worker_put_choice(w, choice, &e);
            if (w->serve) {
                size_t legal = calc_cell_choices_of(c, expert_par)[choice];
                calc_serve_row(w->serve, i * w->rows.choices + legal, &e);
            }
            run_points(w, row, &e, group);
        }
    }
}
