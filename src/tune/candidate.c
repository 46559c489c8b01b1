#include "tune/candidate.h"

#include <math.h>

/* A term's change for its elasticity. Derivatives of maxima are one-sided; a percent is below every
 * uncertainty that is known here. */
#define LONGER 1.01

static void slow_engine(calc_engine *engine)
{
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        engine[i].flop_per_s /= LONGER;
    }
}

/* Slow down the part of a machine that a term stands for. @return whether the machine has it */
static bool slow(calc_system *system, calc_tune_term term)
{
    calc_chip *chip = &system->chip;
    int network = (int)term - CALC_TUNE_TERM_NETWORK0;
    switch (term) {
    case CALC_TUNE_TERM_MATRIX:
        slow_engine(chip->matrix);
        return true;
    case CALC_TUNE_TERM_ATTENTION:
        chip->attention.fw_efficiency /= LONGER;
        chip->attention.bw_efficiency /= LONGER;
        chip->attention.unfused_efficiency /= LONGER;
        return true;
    case CALC_TUNE_TERM_MEMORY:
        slow_engine(chip->vector);
        chip->mem1.bytes_per_s /= LONGER;
        return true;
    case CALC_TUNE_TERM_NETWORK0:
    case CALC_TUNE_TERM_NETWORK1:
        if (network >= system->networks_count) {
            return false;
        }
        system->networks[network].bytes_per_s /= LONGER;
        system->networks[network].latency_s *= LONGER;
        system->networks[network].latency_log2_s *= LONGER;
        system->networks[network].hop_s *= LONGER;
        return true;
    case CALC_TUNE_TERM_HOST:
        chip->host.block_s *= LONGER;
        chip->host.moe_block_s *= LONGER;
        chip->host.expert_s *= LONGER;
        chip->launch.matrix_s *= LONGER;
        chip->launch.vector_s *= LONGER;
        return true;
    default:
        return false;
    }
}

/* Terms of the machine come from slowing it down; the others are parts of the step. */
static void weigh_terms(calc_tune_candidate *c, const calc_app *app, const calc_system *system,
                        const calc_exec *exec, const calc_stats *stats)
{
    calc_system slower;
    calc_stats other;
    for (int term = 0; term < CALC_TUNE_TERM_BUBBLE; term++) {
        slower = *system;
        c->term[term] = 0;
        if (slow(&slower, (calc_tune_term)term)) {
            calc_run(app, &slower, exec, CALC_COMPAT_NONE, &other);
            double change = log(other.total_time / stats->total_time) / log(LONGER);
            c->term[term] = isfinite(change) ? fmax(change, 0) : 0;
        }
    }
    c->term[CALC_TUNE_TERM_BUBBLE] = stats->bubble_time / stats->total_time;
    c->term[CALC_TUNE_TERM_DATA] = stats->dp_comm_exposed_time / stats->total_time;
    c->term[CALC_TUNE_TERM_OPTIMIZER] = stats->optim_step_time / stats->total_time;
    c->term[CALC_TUNE_TERM_HEAD] = stats->head_time / stats->total_time;
    for (int term = CALC_TUNE_TERM_BUBBLE; term < CALC_TUNE_TERMS; term++) {
        c->term[term] = isnan(c->term[term]) ? 0 : c->term[term];
    }
}

/* Offloaded memory is not in the first tier. The parts are those of the whole, and the remainder is
 * `other`. */
static void weigh_spaces(calc_tune_candidate *c, const calc_strategy *strategy, const calc_stats *s)
{
    double weights = strategy->weight_offload ? s->weight_space_with_offload : s->weight_space;
    double optimizer =
        strategy->optimizer_offload ? s->optimizer_space_with_offload : s->optimizer_space;
    bool moved = strategy->activations_offload || strategy->offload_modules;
    double activations = moved ? s->act_space_with_offload : s->act_space + s->act_checkpoint_size;
    double grads =
        strategy->optimizer_offload ? s->weight_grad_space_with_offload : s->weight_grad_space;
    double state_bytes = weights + optimizer + grads;
    double activation_bytes = activations + s->act_grad_space;
    double state = isnan(state_bytes) ? 0 : fmin(state_bytes / c->memory_bytes, 1);
    double rest = isnan(activation_bytes) ? 0 : fmin(activation_bytes / c->memory_bytes, 1 - state);
    c->space[CALC_TUNE_SPACE_STATE] = state;
    c->space[CALC_TUNE_SPACE_ACTIVATIONS] = rest;
    c->space[CALC_TUNE_SPACE_OTHER] = 1 - state - rest;
}

static void place(calc_tune_candidate *c, const calc_app *app, const calc_exec *exec,
                  const calc_stats *stats)
{
    const calc_strategy *s = &exec->strategy;
    double context = fmax(1, (double)s->context_par);
    double tokens = (double)exec->microbatch_size * (double)app->seq_size / context;
    c->coordinate[CALC_TUNE_COORDINATE_TOKENS] = log2(fmax(1, tokens));
    c->coordinate[CALC_TUNE_COORDINATE_TENSOR] = log2((double)s->tensor_par);
    c->coordinate[CALC_TUNE_COORDINATE_CONTEXT] = log2(context);
    c->coordinate[CALC_TUNE_COORDINATE_PIPELINE] = log2((double)exec->pipeline_par);
    c->coordinate[CALC_TUNE_COORDINATE_CHUNKS] = log2((double)exec->pipeline_interleaving);
    c->coordinate[CALC_TUNE_COORDINATE_MICROBATCHES] = log2(fmax(1, stats->num_microbatches));
    c->coordinate[CALC_TUNE_COORDINATE_DATA] = log2((double)s->data_par);
    c->coordinate[CALC_TUNE_COORDINATE_EXPERT] = log2(fmax(1, (double)s->expert_par));
    c->coordinate[CALC_TUNE_COORDINATE_RECOMPUTE] = (double)s->activation_recompute;
    c->coordinate[CALC_TUNE_COORDINATE_ZERO] = (double)s->zero_stage;
}

bool calc_tune_candidate_of(calc_tune_candidate *out, const calc_app *app,
                            const calc_system *system, const calc_exec *exec)
{
    calc_stats stats;
    calc_verdict verdict = calc_run(app, system, exec, CALC_COMPAT_NONE, &stats);
    bool fits = verdict == CALC_VERDICT_OK || verdict == CALC_VERDICT_MEM1_CAPACITY;
    if (!fits || !(stats.total_time > 0) || !(stats.proc_mem_tier1_cap_req > 0)) {
        return false;
    }
    *out = (calc_tune_candidate){.step_s = stats.total_time,
                                 .memory_bytes = stats.proc_mem_tier1_cap_req,
                                 .capacity_bytes = system->chip.mem1.capacity_bytes,
                                 .fits = (double)NAN};
    weigh_terms(out, app, system, exec, &stats);
    weigh_spaces(out, &exec->strategy, &stats);
    place(out, app, exec, &stats);
    return true;
}
