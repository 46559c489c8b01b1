/* The list of the best layouts found, which of them are alike, and when a search ends. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "plan/planner.h"
#include "space.h"
#include "spec/stage_list.h"

double calc_planner_limit_s(const calc_planner_result *r, size_t kept)
{
    return r->count < kept ? INFINITY : r->found[r->count - 1].stats.total_time;
}

static bool is_less(const calc_stats *a, const calc_stats *b)
{
    return a->total_time < b->total_time || (a->total_time == b->total_time &&
                                             a->proc_mem_tier1_cap_req < b->proc_mem_tier1_cap_req);
}

bool calc_planner_keeps_part(const calc_exec *exec)
{
    calc_activation_recompute how = exec->strategy.activation_recompute;
    return how != CALC_ACTIVATION_RECOMPUTE_NONE && how != CALC_ACTIVATION_RECOMPUTE_FULL;
}

bool calc_planner_alike(const calc_exec *a, const calc_exec *b)
{
    calc_exec e;
    if (a->pipeline_par != b->pipeline_par || a->strategy.tensor_par != b->strategy.tensor_par ||
        a->microbatch_size != b->microbatch_size ||
        a->pipeline_interleaving != b->pipeline_interleaving) {
        return false; /* sooner */
    }
    calc_space_copy(&e, a);
    e.pipeline_balance = b->pipeline_balance;
    e.first_stage_blocks = b->first_stage_blocks;
    e.last_stage_blocks = b->last_stage_blocks;
    e.recompute_blocks = b->recompute_blocks;
    e.strategy.activation_recompute = b->strategy.activation_recompute;
    e.strategy.recompute_modules = b->strategy.recompute_modules;
    e.strategy.seq_par_ag_redo = b->strategy.seq_par_ag_redo;
    return calc_axis_compare(&e, b) == 0;
}

/* Whether both are as many blocks on every chunk, in the same parallelism: all that a table of
 * plans has of a layout. */
static bool reads_alike(const calc_exec *a, const calc_exec *b)
{
    calc_stage_run place[2][CALC_MAX_PLACES];
    int64_t places = calc_stage_list_expand(&a->stages, place[0]);
    const calc_strategy *s = &a->strategy;
    const calc_strategy *t = &b->strategy;
    bool alike = a->pipeline_par == b->pipeline_par && s->tensor_par == t->tensor_par &&
                 s->data_par == t->data_par && s->context_par == t->context_par &&
                 s->expert_par == t->expert_par && a->microbatch_size == b->microbatch_size &&
                 a->pipeline_interleaving == b->pipeline_interleaving &&
                 a->pipeline_balance == b->pipeline_balance &&
                 a->first_stage_blocks == b->first_stage_blocks &&
                 a->last_stage_blocks == b->last_stage_blocks &&
                 places == calc_stage_list_expand(&b->stages, place[1]);
    for (int64_t i = 0; i < places && alike; i++) {
        alike = place[0][i].blocks == place[1][i].blocks;
    }
    return alike;
}

/* Whether they differ in recomputation and in their divisions alone, or in nothing that is shown.
 */
static bool is_same_layout(const calc_planner_found *a, const calc_planner_found *b)
{
    bool same = a->place.kinds > 0 && a->place.kinds == b->place.kinds;
    for (int i = 0; i < a->place.kinds && same; i++) {
        same = a->place.chip[i] == b->place.chip[i] && a->place.stages[i] == b->place.stages[i];
    }
    return a->candidate == b->candidate ||
           (same && (calc_planner_alike(&a->base, &b->base) || reads_alike(&a->exec, &b->exec)));
}

void calc_planner_know_bound(calc_planner_result *r, const calc_planner_found *f)
{
    for (size_t i = 0; i < r->count; i++) {
        calc_planner_found *g = &r->found[i];
        if (g->candidate == f->candidate) {
            g->bound_s = fmin(fmax(g->bound_s, f->bound_s), g->stats.total_time);
            g->proven = g->proven || g->bound_s == g->stats.total_time;
        }
    }
}

void calc_planner_take(calc_planner_result *r, size_t kept, const calc_planner_found *f)
{
    size_t same = 0;
    while (same < r->count && !is_same_layout(&r->found[same], f)) {
        same++;
    }
    if (same < r->count && !is_less(&f->stats, &r->found[same].stats)) {
        return;
    }
    if (same < r->count) {
        memmove(&r->found[same], &r->found[same + 1], (r->count - same - 1) * sizeof *r->found);
        r->count--;
    }
    size_t at = r->count;
    while (at > 0 && is_less(&f->stats, &r->found[at - 1].stats)) {
        at--;
    }
    if (at == kept) {
        return;
    }
    r->count += r->count < kept;
    memmove(&r->found[at + 1], &r->found[at], (r->count - at - 1) * sizeof *r->found);
    r->found[at] = *f;
}

void calc_planner_stop_begin(calc_planner_stop *stop, const calc_planner *planner)
{
    stop->planner = planner;
    stop->end_s = planner->time_limit_s > 0 ? calc_clock_s(CLOCK_MONOTONIC) + planner->time_limit_s
                                            : INFINITY;
    atomic_flag_clear(&stop->asks);
    atomic_init(&stop->stopped, false);
}

void calc_planner_stop_note(calc_planner_stop *stop, const calc_planner_result *r, double bound_s)
{
    double best_s = r->count > 0 ? r->found[0].stats.total_time : INFINITY;
    while (atomic_flag_test_and_set(&stop->asks)) { /* another thread tells it */
    }
    stop->now = (calc_planner_progress){r->candidates, r->balanced, best_s, bound_s};
    atomic_flag_clear(&stop->asks);
}

bool calc_planner_stop_asked(void *context)
{
    calc_planner_stop *stop = context;
    const calc_planner *p = stop->planner;
    if (!atomic_load(&stop->stopped) && !atomic_flag_test_and_set(&stop->asks)) {
        if (calc_clock_s(CLOCK_MONOTONIC) > stop->end_s ||
            (p->progress && p->progress(p->context, &stop->now))) {
            atomic_store(&stop->stopped, true);
        }
        atomic_flag_clear(&stop->asks);
    }
    return atomic_load(&stop->stopped);
}
