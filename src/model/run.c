/* calc_run(): take a layout apart, put its step together, and say whether it fits. */
#include "model/run.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/serve/inference.h"

/* Exposed time of a stage's reduction with the flags of the execution. */
static double reduction_s(const calc_exec *e, const calc_stage_reduction *x)
{
    return (e->strategy.data_par_overlap ? x->reduce_beside_s : x->reduce_s) +
           (calc_stage_gathers_beside(&e->strategy) ? x->gather_beside_s : x->gather_s);
}

/* With DualPipe half of the work of a stage is that of the opposite one: which two do most. */
static void set_busiest_pair(calc_step *r)
{
    const calc_stages *stages = &r->layout->stages;
    double most_s = 0;
    for (size_t i = 0; i < stages->count; i++) {
        for (size_t k = 0; k <= i; k++) {
            const calc_stage_class *a = &stages->item[i];
            const calc_stage_class *b = &stages->item[k];
            /* Positions in `a` that are opposite to one in `b`. */
            double first = calc_max(a->position, stages->stages - b->position - b->stages);
            double end = calc_min(a->position + a->stages, stages->stages - b->position);
            double s = calc_stage_pass_s(&r->pass[i]) + calc_stage_pass_s(&r->pass[k]);
            if (first < end && s > most_s) {
                most_s = s;
                r->busiest[0] = i;
                r->busiest[1] = k;
            }
        }
    }
}

/* Time and memory of each class of stages; which is the slowest, which the fullest. */
static void add_classes(calc_step *r, calc_stage_needs *needs, calc_stage_exposed *exposed)
{
    const calc_layout *l = r->layout;
    calc_pipeline_schedule schedule = l->exec->pipeline_schedule;
    double chunks = l->stages.chunks;
    double slowest_s = 0;
    for (size_t i = 0; i < l->stages.count; i++) {
        const calc_stage_class *c = &l->stages.item[i];
        calc_stage_weights w = calc_stage_weights_sum(&l->terms, c);
        calc_stage_class peak = calc_stage_at_peak(&l->terms, schedule, c);
        double held = calc_stage_in_flight(&l->terms, schedule, peak.position, chunks);
        calc_stage_memory m = calc_stage_memory_at(&l->terms, &peak, &w, schedule, held);
        calc_stage_tier2 away = calc_stage_tier2_at(&l->terms, c, &w, held);
        r->pass[i] = calc_stage_pass_of(&l->terms, &l->links, c, chunks, l->exposed);
        calc_stage_reduction x =
            calc_stage_reduction_sum(&l->terms, &l->links, c, &w, &r->pass[i], chunks);
        if (i == 0 || m.total > r->memory.total) {
            r->memory = m;
            r->fullest = i;
            r->peak_stage = peak.position;
        }
        if (i == 0 || reduction_s(l->exec, &x) > r->reduction_exposed_s) {
            r->reduction = x;
            r->reduction_exposed_s = reduction_s(l->exec, &x);
        }
        double s = calc_stage_pass_s(&r->pass[i]);
        r->slowest = s > slowest_s ? i : r->slowest;
        slowest_s = calc_max(slowest_s, s);
        *needs =
            calc_stage_needs_add(*needs, c, &m, &away, calc_stage_optimizer_sum(&l->terms, c, &w));
        *exposed = calc_stage_exposed_add(*exposed, &x);
    }
    r->optimizer_s = needs->optimizer_s;
    r->busiest[0] = r->busiest[1] = r->slowest;
    if (l->exec->training && schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        set_busiest_pair(r);
    }
}

double calc_run_bubble_s(double pipeline_s, double busy_s)
{
    double bubble_s = pipeline_s - busy_s;
    return fabs(bubble_s) > CALC_STAGE_ROUNDING * pipeline_s ? bubble_s : 0;
}

/* Idle time of the busiest stage. */
static double bubble_s(const calc_step *r)
{
    const calc_layout *l = r->layout;
    const calc_stage_pass *a = &r->pass[r->busiest[0]];
    const calc_stage_pass *b = &r->pass[r->busiest[1]];
    if (l->stages.stages <= 1) {
        return 0; /* a difference of sums would be nearly so */
    }
    if (calc_stage_rule(&l->terms, CALC_COMPAT_EVEN_STAGES)) {
        return calc_stage_even_bubble_s(&l->terms, &l->stages.item[0], a, l->stages.chunks);
    }
    double pass_s = (calc_stage_pass_s(a) + calc_stage_pass_s(b)) / 2;
    double busy_s = l->stages.microbatches * pass_s -
                    calc_stage_unsent_s(&l->terms, &l->links, l->stages.chunks);
    return calc_run_bubble_s(r->step.pipeline_s, busy_s);
}

/* Where blocks do not fit nobody asks for the time, which may take long to simulate: then less. */
static double pipeline_s(const calc_step *r)
{
    const calc_layout *l = r->layout;
    calc_pipeline_schedule schedule = l->exec->pipeline_schedule;
    int classes = calc_stages_classes(&l->stages);
    const calc_stage_class *c = l->stages.item;
    double chunks = l->stages.chunks;
    double deferred_s = calc_stage_deferred_s(&l->terms, classes, c, r->pass, chunks);
    if (l->stages.fit) {
        return calc_stage_pipeline_s(&l->terms, &l->links, schedule, classes, c, r->pass, chunks,
                                     l->exposed) +
               deferred_s;
    }
    calc_stage_special start = calc_stage_nothing_special;
    calc_stage_chunk_share share[CALC_MAX_STAGE_CLASSES] = {{0, 0}};
    if (chunks > 1) {
        start = calc_stage_first_chunk(&l->terms, c, chunks);
        calc_stage_chunk_shares(&l->terms, c, chunks, share);
    }
    return calc_stage_pipeline_least_s(&l->terms, &l->links, schedule, classes, c, r->pass, chunks,
                                       chunks > 1, share, l->exposed, &start) +
           deferred_s;
}

void calc_step_of(const calc_layout *l, calc_step *r)
{
    const calc_exec *exec = l->exec;
    r->layout = l;
    for (size_t i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        r->pass[i] = (calc_stage_pass){0};
    }
    r->slowest = 0;
    r->fullest = 0;
    calc_stage_needs needs = {0, 0, 0};
    calc_stage_exposed exposed = {0, 0, 0, 0};
    add_classes(r, &needs, &exposed);
    r->step = calc_stage_step_sum(&l->terms, &l->links, &needs, &exposed, pipeline_s(r));
    r->bubble_s = l->stages.fit ? bubble_s(r) : (double)NAN;
    bool beside = calc_stage_gathers_beside(&exec->strategy);
    r->total_s =
        l->stages.fit ? r->step.total_s[exec->strategy.data_par_overlap][beside] : (double)NAN;
}

static calc_verdict run(const calc_app *app, const calc_system *system, const calc_exec *exec,
                        calc_compat compat, const calc_kernel_table *measured, calc_stats *stats)
{
    if (exec->stages.count > 0 || exec->layers.count > 0) {
        return calc_run_placed(app, system, exec, measured, stats);
    }
    calc_layout layout;
    calc_step step;
    calc_layout_of(app, system, exec, compat, measured, &layout);
    calc_step_of(&layout, &step);
    return calc_step_stats(&step, stats);
}

calc_verdict calc_run(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_compat compat, calc_stats *stats)
{
    return exec->inference.phase != CALC_INFERENCE_PHASE_NONE
               ? calc_run_inference(app, system, exec, stats)
               : run(app, system, exec, compat, NULL, stats);
}

calc_verdict calc_run_measured(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, const calc_kernel_table *measured,
                               calc_stats *stats)
{
    return run(app, system, exec, CALC_COMPAT_NONE, measured, stats);
}
