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

/* ---- Prefill --------------------------------------------------------------------------------- */

double calc_serving_beside_s(const calc_serving *r, const calc_exec *pool, double pass_s,
                             double sequences, bool prompts)
{
    double ranks = (double)pool->strategy.tensor_par;
    const calc_shape *s = &r->model.shape;
    double issued_s =
        s->blocks * r->engine.issue_s + calc_shape_moe_blocks(s) * r->engine.issue_moe_s;
    return calc_engine_beside_s(&r->engine, pass_s, sequences, ranks,
                                prompts ? issued_s / (double)pool->pipeline_par : 0);
}

/* Overhead of the engine for the passes of a prefill [s]. */
static double engine_s(const calc_serving *r)
{
    const calc_exec *pool = r->prefill->exec;
    const calc_prefill *p = &r->prefilled;
    double chunks_s =
        p->chunks * calc_serving_beside_s(r, pool, p->chunk.latency_s, p->work.prompts, true);
    return chunks_s + calc_serving_beside_s(r, pool, p->last.latency_s, p->work.prompts, true);
}

double calc_serving_run_prefill(calc_serving *r, double prompts)
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

/* Drafts by another model, in a step [s]. */
static double drafting_s(const calc_serving *r, const calc_inference_pass_work *work)
{
    double drafts = (double)r->i->speculative_tokens;
    if (drafts <= 0 || r->i->speculative_cost <= 0) {
        return 0;
    }
    calc_inference_pass_work one = *work;
    calc_inference_pass alone;
    one.queries = 1;
    calc_inference_pass_of(&r->model, &one, &alone);
    return drafts * r->i->speculative_cost * calc_serving_around_s(r, &alone);
}

double calc_serving_step_s(const calc_serving *r, const calc_inference_pass *pass, bool prompts)
{
    double pass_s = calc_serving_around_s(r, pass);
    return pass_s + calc_serving_beside_s(r, r->exec, pass_s, r->sequences, prompts) +
           r->drafting_s;
}

double calc_serving_run_decode(calc_serving *r, double sequences)
{
    calc_inference_pass_work work = calc_serving_decoding(r, sequences);
    calc_inference_pass_of(&r->model, &work, &r->plain);
    r->sequences = sequences;
    r->drafting_s = drafting_s(r, &work);
    r->plain_s = calc_serving_step_s(r, &r->plain, false);
    r->work = work;
    return r->plain_s - calc_serving_around_s(r, &r->plain);
}
