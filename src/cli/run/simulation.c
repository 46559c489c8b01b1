#include "cli/run/simulation.h"

#include <stdlib.h>

#include "base/error.h"

/* Report an error whose place is the execution. */
static calc_status locate(const calc_inputs *inputs, calc_status status, calc_errors *errors)
{
    if (status != CALC_OK) {
        const calc_input *input = &inputs->input[CALC_KIND_EXEC];
        calc_errors_locate(errors, CALC_KIND_EXEC, input->text.data, input->text.length,
                           input->path);
    }
    return status;
}

/* Whether a step can be simulated, and the memory that takes. */
static calc_status needs(const calc_inputs *inputs, size_t *bytes, calc_errors *errors)
{
    return locate(inputs, calc_exact_bytes(&inputs->exec, bytes, errors), errors);
}

/* Whether there is a step to draw. */
static calc_status is_drawn(const calc_inputs *inputs, calc_errors *errors)
{
    calc_status status = CALC_OK;
    if (inputs->exec.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        status = calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/inference/phase",
                                 "run `calc run` for the numbers",
                                 "what is served has no step of a pipeline: its passes change");
    }
    return locate(inputs, status, errors);
}

calc_status calc_simulation_run(calc_simulation *s, const calc_inputs *inputs, calc_errors *errors)
{
    size_t bytes;
    calc_status status = is_drawn(inputs, errors);
    if (status == CALC_OK) {
        status = needs(inputs, &bytes, errors);
    }
    if (status != CALC_OK) {
        return status;
    }
    calc_timeline_of(&inputs->app, &inputs->system, &inputs->exec, CALC_COMPAT_NONE, &s->timeline);
    const calc_schedule_shape *shape = &s->timeline.shape;
    if (!s->timeline.fits) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                               "run `calc run` for the numbers",
                               "the stages and chunks do not divide the blocks: there is no step "
                               "to simulate");
    }
    size_t parts = (size_t)(shape->stages * shape->chunks);
    /* Both halves of a pair are events, but a pair is one operation of three. */
    size_t room = (size_t)(shape->stages * calc_schedule_ops_room(shape));
    calc_schedule_pass *pass = calloc(parts, sizeof *pass);
    void *workspace = malloc(bytes);
    s->stage = calloc((size_t)shape->stages, sizeof *s->stage);
    s->live = calloc((size_t)shape->stages, sizeof *s->live);
    s->events = (calc_schedule_events){.event = malloc(room * sizeof *s->events.event),
                                       .capacity = (int64_t)room};
    if (pass && workspace && s->stage && s->live && s->events.event) {
        calc_timeline_passes(&s->timeline, pass);
        calc_schedule_sim sim = {.shape = *shape, .pass = pass};
        s->pipeline_s = calc_schedule_sim_s(&sim, workspace, s->stage, &s->events);
    } else {
        status = calc_errors_no_memory(errors);
    }
    free(pass);
    free(workspace);
    return status;
}

bool calc_simulation_paired(const calc_schedule_event *e)
{
    return e[0].kind == CALC_SCHEDULE_FW && e[1].kind == CALC_SCHEDULE_BW_WHOLE &&
           e[0].stage == e[1].stage && e[0].chunk != e[1].chunk && e[0].start_s == e[1].start_s &&
           e[0].end_s == e[1].end_s && e[0].end_s > e[0].start_s;
}

void calc_simulation_free(calc_simulation *s)
{
    free(s->stage);
    free(s->live);
    free(s->events.event);
    *s = (calc_simulation){0};
}

calc_status calc_simulation_stats(const calc_inputs *inputs, calc_stats *stats, calc_errors *errors)
{
    size_t bytes;
    calc_status status = needs(inputs, &bytes, errors);
    if (status != CALC_OK) {
        return status;
    }
    void *workspace = malloc(bytes);
    if (!workspace) {
        return calc_errors_no_memory(errors);
    }
    calc_run_exact(&inputs->app, &inputs->system, &inputs->exec, workspace, stats);
    free(workspace);
    return CALC_OK;
}
