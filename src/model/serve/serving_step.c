#include "model/serve/serving_step.h"

#include "model/operators/processor.h"

double calc_serving_steps(const calc_serving *r)
{
    return (r->generate - 1) / r->tokens_per_step;
}

bool calc_serving_queues(const calc_serving *r)
{
    return r->i->phase == CALC_INFERENCE_PHASE_SERVE ||
           r->i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
}

double calc_serving_engine_s(const calc_serving *r, double sequences)
{
    (void)sequences;
    return r->i->step_overhead_s;
}

/* ---- Prefill --------------------------------------------------------------------------------- */

/* What the engine takes for the passes of a prefill [s]. */
static double engine_s(const calc_serving *r)
{
    return (r->prefilled.chunks + 1) * calc_serving_engine_s(r, r->prefilled.work.prompts);
}

double calc_serving_prefill(calc_serving *r, double prompts)
{
    calc_inference_prefill_of(r->prefill, prompts, r->fresh, r->cached, r->chunk, &r->prefilled);
    return r->prefilled.latency_s + engine_s(r);
}

double calc_serving_busy_s(const calc_serving *r)
{
    return r->prefilled.busy_s + engine_s(r);
}

void calc_serving_report_prefill(calc_serving *r, double times)
{
    r->part[r->parts++] = (calc_serving_part){&r->prefilled.chunk, times * r->prefilled.chunks};
    r->part[r->parts++] = (calc_serving_part){&r->prefilled.last, times};
    r->overhead_s += times * engine_s(r);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

double calc_serving_around_s(const calc_serving *r, const calc_inference_pass *pass)
{
    return calc_max(pass->latency_s, r->groups * pass->slow.total_s);
}

calc_inference_pass_work calc_serving_decoding(const calc_serving *r, double sequences)
{
    double spread = r->i->generate_spread;
    return (calc_inference_pass_work){
        .sequences = sequences / r->groups,
        .queries = 1 + (double)r->i->speculative_tokens,
        .drafts = r->model.drafts,
        .context = r->prompt + r->generate / 2 * (1 + spread * spread / 3),
    };
}

/* What a step takes beside its pass: the engine, and drafts by another model. */
static double beside_s(const calc_serving *r, const calc_inference_pass_work *work)
{
    double drafts = (double)r->i->speculative_tokens;
    double drafting_s = 0;
    if (drafts > 0 && r->i->speculative_cost > 0) {
        calc_inference_pass_work one = *work;
        calc_inference_pass alone;
        one.queries = 1;
        calc_inference_pass_of(&r->model, &one, &alone);
        drafting_s = drafts * r->i->speculative_cost * calc_serving_around_s(r, &alone);
    }
    return calc_serving_engine_s(r, work->sequences * r->groups) + drafting_s;
}

double calc_serving_decode(calc_serving *r, double sequences)
{
    calc_inference_pass_work work = calc_serving_decoding(r, sequences);
    double extra_s = beside_s(r, &work);
    calc_inference_pass_of(&r->model, &work, &r->plain);
    r->plain_s = calc_serving_around_s(r, &r->plain) + extra_s;
    r->sequences = sequences;
    r->work = work;
    return extra_s;
}
