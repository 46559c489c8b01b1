/* The step of unequal stages: simulated with few micro-batches, and extrapolated exactly from
 * there. */
#include "model/schedule/schedule_sim.h"

#include <math.h>
#include <stddef.h>

#include "model/operators/processor.h"
#include "spec/schedule.h"

/* Pass k of a stage belongs to chunk k/2 % v, and backward to chunk v-1 - k/2 % v: micro-batches
   come in rounds of two. In slot k stage 0 does forward k and backward k - 2v, then stage 1 forward
   k and backward k - 2v + 2, as far as there are such passes. A forward waits for the same of stage
   0, or for that of stage 1 two passes earlier, which is the chunk before; a backward likewise for
   stage 1, or for stage 0 two passes earlier. All of that was done in this slot or two slots ago.
 */

/** A stage: when it is free, and when it was done with its last two forwards and backwards. */
typedef struct worker {
    double now_s;
    double fw_s[2], bw_s[2];
} worker;

bool calc_schedule_two_fits(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_1F1B && s->stages == 2 && s->chunks > 1 &&
           s->microbatches % 2 == 0;
}

static void forward(worker *w, int i, const calc_schedule_pass *pass, double ready_s)
{
    w->now_s = calc_max(w->now_s, ready_s) + pass->fw_s;
    w->fw_s[i] = w->now_s;
}

static void backward(worker *w, int i, const calc_schedule_pass *pass, double ready_s)
{
    w->now_s = calc_max(w->now_s, ready_s) + (pass->bw_s + pass->wgrad_s);
    w->bw_s[i] = w->now_s;
}

/* Two slots: the forwards of a chunk and, 2v passes later, the backwards of another one. */
typedef struct slots {
    const calc_schedule_pass *fw, *bw, *next_bw; /* of both stages; NULL: no such pass. The last is
                                                    of stage 1, which is a chunk ahead */
    bool fw_waits, bw_waits; /* for the chunk before, which is on the other stage */
} slots;

static void run(const slots *s, worker *first, worker *second)
{
    for (int i = 0; i < 2; i++) {
        if (s->fw) {
            forward(first, i, &s->fw[0], s->fw_waits ? second->fw_s[i] : 0);
        }
        if (s->bw) {
            backward(first, i, &s->bw[0], second->bw_s[i]);
        }
        if (s->fw) {
            forward(second, i, &s->fw[1], first->fw_s[i]);
        }
        if (s->next_bw) {
            backward(second, i, &s->next_bw[1], s->bw_waits ? first->bw_s[i] : 0);
        }
    }
}

double calc_schedule_two_s(const calc_schedule_shape *s, const calc_schedule_pass *pass)
{
    int64_t v = s->chunks;
    int64_t turns = s->microbatches / 2 * v; /* pairs of passes */
    int64_t chunk = 0; /* forward; with as many turns after v more, backward */
    worker first = {0};
    worker second = {0};
    for (int64_t k = 0; k < turns + v; k++) {
        int64_t next = chunk + 1 < v ? chunk + 1 : 0;
        bool last = k + 1 >= turns + v;
        const slots two = {
            .fw = k < turns ? &pass[2 * chunk] : NULL,
            .bw = k >= v ? &pass[2 * (v - 1 - chunk)] : NULL,
            .next_bw = k + 1 >= v && !last ? &pass[2 * (v - 1 - next)] : NULL,
            .fw_waits = chunk > 0,
            .bw_waits = next > 0,
        };
        run(&two, &first, &second);
        chunk = next;
    }
    return calc_max(first.now_s, second.now_s);
}

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

static double run_s(const calc_schedule_sim *sim, void *workspace)
{
    return calc_schedule_two_fits(&sim->shape) ? calc_schedule_two_s(&sim->shape, sim->pass)
                                               : calc_schedule_sim_s(sim, workspace, NULL, NULL);
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
        double few_s = run_s(&sim, workspace);
        sim.shape.microbatches = few + period;
        double more_s = run_s(&sim, workspace);
        double slope_s = (more_s - few_s) / (double)period;
        step_s = more_s + (double)(m - few - period) * slope_s;
        if (fabs(slope_s - busy_s) * (double)period <= SAME * more_s) {
            return more_s + (double)(m - few - period) * busy_s;
        }
        few += (few + period - 1) / period * period;
    }
    sim.shape.microbatches = m;
    return all_fit ? run_s(&sim, workspace) : step_s;
}

double calc_schedule_steady_s(const calc_schedule_shape *shape, const calc_schedule_pass *pass)
{
    _Alignas(16) char workspace[WORKSPACE];
    return calc_schedule_steady_in(shape, pass, workspace, sizeof workspace);
}
