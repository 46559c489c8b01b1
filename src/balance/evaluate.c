#include "balance/evaluate.h"

#include <stdlib.h>

#include "balance/choice.h"
#include "balance/flight.h"
#include "balance/parts.h"
#include "balance/rounds.h"
#include "model/operators/processor.h"

/* Deviation of a further micro-batch from the busiest stage's time that counts as rounding. */
#define SAME 1e-12

static bool interleaved(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_1F1B && s->chunks > 1;
}

static bool is_plain(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_1F1B && s->chunks == 1;
}

/* ---- Time -------------------------------------------------------------------------------------*/

static double rounds_s(const calc_schedule_shape *s, const calc_schedule_pass *pass)
{
    double fw_s[CALC_BALANCE_STAGES];
    double bw_s[CALC_BALANCE_STAGES];
    for (int64_t i = 0; i < s->stages; i++) {
        fw_s[i] = pass[i].fw_s;
        bw_s[i] = pass[i].bw_s + pass[i].wgrad_s;
    }
    return calc_balance_rounds_s((int)s->stages, s->microbatches, fw_s, bw_s);
}

static bool make_room(calc_balance_room *r, size_t size)
{
    if (size <= r->size) {
        return true;
    }
    void *bytes = realloc(r->bytes, size);
    if (bytes == NULL) {
        return false;
    }
    r->bytes = bytes;
    r->size = size;
    return true;
}

/* Every operation of a shape simulated; negative if there is no memory for that. */
static double simulated_s(const calc_balance_problem *p, int64_t microbatches,
                          const calc_schedule_pass *pass, calc_balance_room *r)
{
    calc_schedule_shape shape = p->shape;
    shape.microbatches = microbatches;
    if (interleaved(&shape)) {
        calc_balance_parts parts = calc_balance_parts_of(&shape, p->less_memory);
        return make_room(r, calc_balance_parts_bytes(&parts))
                   ? calc_balance_parts_s(&parts, pass, r->bytes)
                   : -1;
    }
    calc_schedule_sim sim = {.shape = shape, .pass = pass};
    return make_room(r, calc_schedule_sim_bytes(&shape))
               ? calc_schedule_sim_s(&sim, r->bytes, NULL, NULL)
               : -1;
}

static double pass_s(const calc_schedule_pass *p)
{
    return p->fw_s + p->bw_s + p->wgrad_s;
}

/* Work of a stage per micro-batch. DualPipe's stages do half of theirs for the opposite stage. */
static double busy_s(const calc_schedule_shape *s, const calc_schedule_pass *pass, int stage)
{
    if (s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        return (pass_s(&pass[stage]) + pass_s(&pass[s->stages - 1 - stage])) / 2;
    }
    double all_s = 0;
    for (int chunk = 0; chunk < s->chunks; chunk++) {
        all_s += pass_s(&pass[calc_balance_place_of(s, stage, chunk)]);
    }
    return all_s;
}

/* As schedule_steady.h, for any number of stages: each further period of micro-batches adds no less
 * than the one before, until it adds the time of the busiest stage. */
static double steady_s(const calc_balance_problem *p, const calc_schedule_pass *pass,
                       calc_balance_room *r)
{
    const calc_schedule_shape *s = &p->shape;
    int64_t m = s->microbatches;
    int64_t period = interleaved(s) ? s->stages : 1;
    if (s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        period = 2;
    }
    double most_s = 0;
    for (int stage = 0; stage < s->stages; stage++) {
        most_s = calc_max(most_s, busy_s(s, pass, stage));
    }
    for (int64_t few = 3 * s->stages + m % period; few + period < m / 2; few *= 2) {
        few += (m - few) % period;
        double few_s = simulated_s(p, few, pass, r);
        double more_s = few_s < 0 ? few_s : simulated_s(p, few + period, pass, r);
        double slope_s = (more_s - few_s) / (double)period;
        if (more_s < 0) {
            return more_s;
        }
        if (calc_max(slope_s - most_s, most_s - slope_s) * (double)period <= SAME * more_s) {
            return more_s + (double)(m - few - period) * most_s;
        }
    }
    return simulated_s(p, m, pass, r);
}

/* ---- Memory -----------------------------------------------------------------------------------*/

static void look(const calc_balance_problem *p, int stage, double bytes, calc_balance_answer *out)
{
    out->peak_bytes[stage] = bytes;
    out->most_bytes = calc_max(out->most_bytes, bytes);
    double over_bytes = bytes - p->stage[stage].limit_bytes;
    int worst = out->worst_stage;
    if (over_bytes > out->peak_bytes[worst] - p->stage[worst].limit_bytes) {
        out->worst_stage = stage;
    }
    out->lacks_bytes = calc_max(out->lacks_bytes, over_bytes);
    out->fits = out->lacks_bytes <= 0;
}

static calc_status memory(const calc_balance_problem *p, const calc_balance_share *share,
                          calc_balance_answer *out)
{
    if (is_plain(&p->shape)) {
        for (int stage = 0; stage < p->shape.stages; stage++) {
            double flight = calc_schedule_in_flight(&p->shape, stage);
            look(p, stage, calc_balance_stage_bytes(p, stage, flight, &share[stage]), out);
        }
        return CALC_OK;
    }
    calc_balance_flights flights;
    calc_status status = calc_balance_flights_begin(&flights, p);
    for (int stage = 0; status == CALC_OK && stage < p->shape.stages; stage++) {
        look(p, stage, calc_balance_flights_bytes(&flights, p, stage, share), out);
    }
    calc_balance_flights_end(&flights);
    return status;
}

double calc_balance_step_s(const calc_balance_problem *p, const calc_balance_share *share,
                           calc_balance_room *r)
{
    calc_schedule_pass pass[CALC_BALANCE_PLACES] = {{0}};
    int places = (int)(p->shape.stages * p->shape.chunks);
    for (int place = 0; place < places; place++) {
        pass[place] = calc_balance_pass_of(p, place, &share[place]);
    }
    return is_plain(&p->shape) ? rounds_s(&p->shape, pass) : steady_s(p, pass, r);
}

calc_status calc_balance_evaluate(const calc_balance_problem *p, const calc_balance_share *share,
                                  calc_balance_answer *out)
{
    *out = (calc_balance_answer){.fits = true};
    if (calc_schedule_check(&p->shape) != CALC_SCHEDULE_OK) {
        return CALC_ERR_RULE;
    }
    calc_balance_room r = {NULL, 0};
    out->step_s = calc_balance_step_s(p, share, &r);
    free(r.bytes);
    return out->step_s < 0 ? CALC_ERR_NOMEM : memory(p, share, out);
}
