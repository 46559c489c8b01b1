/* calc_run_exact(): calc_run() with a simulated pipeline, or with simulated requests. */
#include "base/error.h"
#include "model/run.h"
#include "model/serve/serve_sim.h"
#include "model/timeline.h"
#include "spec/field.h"

enum { ALIGNMENT = 16 };

/* The times of the parts lie before the simulator's workspace. */
static size_t pass_bytes(const calc_schedule_shape *shape)
{
    size_t bytes = (size_t)(shape->stages * shape->chunks) * sizeof(calc_schedule_pass);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Serving: simulate its requests; for prompts or tokens alone there is nothing to simulate. */
static calc_status served_bytes(const calc_exec *exec, size_t *bytes, calc_errors *errors)
{
    double requests = calc_serve_sim_requests(exec);
    if (exec->inference.phase == CALC_INFERENCE_PHASE_PREFILL ||
        exec->inference.phase == CALC_INFERENCE_PHASE_DECODE) {
        *bytes = ALIGNMENT;
        return CALC_OK;
    }
    if (requests > CALC_MAX_EXACT_REQUESTS) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_EXEC, "/inference/requests",
                               "lower requests or the batch, or take the closed form",
                               "%.3g requests: at most %d are simulated", requests,
                               CALC_MAX_EXACT_REQUESTS);
    }
    double steps = calc_serve_sim_steps(exec);
    if (steps > CALC_MAX_EXACT_STEPS) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_EXEC, "/inference/generate_size",
                               "lower generate_size or requests, or take the closed form",
                               "%.3g requests of %lld tokens may take %.3g steps: at most %d are "
                               "simulated",
                               requests, (long long)exec->inference.generate_size, steps,
                               CALC_MAX_EXACT_STEPS);
    }
    *bytes = calc_serve_sim_bytes(exec);
    return CALC_OK;
}

calc_status calc_exact_bytes(const calc_exec *exec, size_t *bytes, calc_errors *errors)
{
    if (exec->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return served_bytes(exec, bytes, errors);
    }
    calc_schedule_shape shape = calc_timeline_shape(exec);
    calc_schedule_status status = calc_schedule_check(&shape);
    if (status != CALC_SCHEDULE_OK) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/pipeline_schedule",
                               "change pipeline_par or batch_size, or use another schedule",
                               "the schedule %s %s, not %lld stages and %lld micro-batches",
                               calc_pipeline_schedule_names[shape.kind],
                               calc_schedule_status_text(status), (long long)shape.stages,
                               (long long)shape.microbatches);
    }
    double passes = (double)shape.stages * (double)shape.chunks * (double)shape.microbatches;
    if (passes > CALC_MAX_EXACT_PASSES) {
        return calc_errors_add(
            errors, CALC_ERR_RANGE, CALC_KIND_EXEC, "/batch_size",
            "lower batch_size, or take the closed form",
            "%lld stages x %lld chunks x %lld micro-batches are %.3g passes: at most "
            "%d are simulated",
            (long long)shape.stages, (long long)shape.chunks, (long long)shape.microbatches, passes,
            CALC_MAX_EXACT_PASSES);
    }
    *bytes = pass_bytes(&shape) + calc_schedule_sim_bytes(&shape);
    return CALC_OK;
}

static double simulate(const calc_timeline *t, void *workspace)
{
    calc_schedule_pass *pass = workspace;
    calc_timeline_passes(t, pass);
    calc_schedule_sim sim = {.shape = t->shape, .pass = pass};
    return calc_schedule_sim_s(&sim, (char *)workspace + pass_bytes(&t->shape), NULL, NULL);
}

calc_verdict calc_run_exact(const calc_app *app, const calc_system *system, const calc_exec *exec,
                            void *workspace, calc_stats *s)
{
    calc_timeline t;
    if (exec->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return calc_run_inference_exact(app, system, exec, workspace, s);
    }
    calc_run(app, system, exec, CALC_COMPAT_NONE, s);
    calc_timeline_of(app, system, exec, CALC_COMPAT_NONE, &t);
    if (!t.fits) {
        return s->verdict;
    }
    double exact_s = simulate(&t, workspace);
    double later_s = exact_s - t.closed_s;
    double closed_total_s = s->total_time;
    s->pipeline_closed_form_error = t.closed_s / exact_s - 1;
    s->bubble_time = calc_run_bubble_s(exact_s, t.closed_s - s->bubble_time);
    s->straggler_time = (exact_s + t.deferred_s) * t.growth;
    s->total_time += later_s + later_s * t.growth;
    s->system_efficiency *= closed_total_s / s->total_time;
    s->total_efficiency *= closed_total_s / s->total_time;
    calc_run_rates(app, system, exec, s);
    return s->verdict;
}
