/* The step of unequal stages: simulated with few micro-batches, and extrapolated exactly from
 * there. */
#include "model/schedule/schedule_sim.h"

#include <math.h>
#include <stddef.h>

#include "model/operators/processor.h"
#include "spec/schedule.h"

enum { WORKSPACE = 1 << 19 };

/* Deviation of a further micro-batch from the busiest stage's time that counts as rounding. */
#define SAME 1e-12

/* After so many micro-batches more, all stages do the same again. */
static int64_t period_of(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_1F1B && s->chunks > 1
               ? s->stages
               : calc_schedule_traits_of(s->kind).even;
}

static bool has_room(const calc_schedule_shape *s, int64_t microbatches, size_t bytes)
{
    calc_schedule_shape few = *s;
    few.microbatches = microbatches;
    return calc_schedule_sim_bytes(&few) <= bytes;
}

/* The fewest micro-batches that fill the pipeline, and as many periods short of all. */
static int64_t fewest(const calc_schedule_shape *s)
{
    int64_t period = period_of(s);
    int64_t least = 2 * s->stages;
    return least + (s->microbatches - least) % period;
}

bool calc_schedule_steady_fits(const calc_schedule_shape *s)
{
    int64_t most = fewest(s) + period_of(s);
    return has_room(s, s->microbatches < most ? s->microbatches : most, WORKSPACE);
}

/* A micro-batch on the busiest stage. DualPipe's stages do half of theirs for the opposite one. */
static double busiest_s(const calc_schedule_shape *s, const calc_schedule_pass *pass)
{
    double most_s = 0;
    for (int64_t i = 0; i < s->stages; i++) {
        double stage_s = 0;
        for (int64_t chunk = 0; chunk < s->chunks; chunk++) {
            stage_s += calc_schedule_pass_s(&pass[calc_schedule_place(s, i, chunk)]);
        }
        if (calc_schedule_traits_of(s->kind).copies > 1) {
            stage_s = (stage_s + calc_schedule_pass_s(&pass[s->stages - 1 - i])) / 2;
        }
        most_s = calc_max(most_s, stage_s);
    }
    return most_s;
}

double calc_schedule_steady_in(const calc_schedule_shape *shape, const calc_schedule_pass *pass,
                               void *workspace, size_t bytes)
{
    calc_schedule_sim sim = {.shape = *shape, .pass = pass};
    int64_t m = shape->microbatches;
    int64_t period = period_of(shape);
    double busy_s = busiest_s(shape, pass);
    double step_s = 0;
    int64_t few = fewest(shape);
    bool all_fit = has_room(shape, m, bytes);
    /* Two runs of few micro-batches should be less than one of all. */
    while (few + period < m && has_room(shape, few + period, bytes) &&
           !(all_fit && 2 * few + period >= m)) {
        sim.shape.microbatches = few;
        double few_s = calc_schedule_sim_s(&sim, workspace, NULL, NULL);
        sim.shape.microbatches = few + period;
        double more_s = calc_schedule_sim_s(&sim, workspace, NULL, NULL);
        double slope_s = (more_s - few_s) / (double)period;
        step_s = more_s + (double)(m - few - period) * slope_s;
        if (fabs(slope_s - busy_s) * (double)period <= SAME * more_s) {
            return more_s + (double)(m - few - period) * busy_s;
        }
        few += (few + period - 1) / period * period;
    }
    sim.shape.microbatches = m;
    return all_fit ? calc_schedule_sim_s(&sim, workspace, NULL, NULL) : step_s;
}

double calc_schedule_steady_s(const calc_schedule_shape *shape, const calc_schedule_pass *pass)
{
    _Alignas(16) char workspace[WORKSPACE];
    return calc_schedule_steady_in(shape, pass, workspace, sizeof workspace);
}
