#include "tune/model.h"

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
    /* Software places blocks, embedding and head in more ways than its options say: how much of
     * what unequal stages cost is so is open. */
    calc_verdict even =
        calc_run(app, system, exec, (calc_compat)1 << CALC_COMPAT_EVEN_STAGES, &other);
    bool known = even == CALC_VERDICT_OK || even == CALC_VERDICT_MEM1_CAPACITY;
    c->term[CALC_TUNE_TERM_UNEVEN] = known ? log(stats->total_time / other.total_time) : 0;
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

static void place(calc_tune_candidate *c, const calc_app *app, const calc_exec *exec)
{
    const calc_strategy *s = &exec->strategy;
    double context = fmax(1, (double)s->context_par);
    double tokens = (double)exec->microbatch_size * (double)app->seq_size / context;
    c->coordinate[CALC_TUNE_COORDINATE_TOKENS] = log2(fmax(1, tokens));
    c->coordinate[CALC_TUNE_COORDINATE_TENSOR] = log2((double)s->tensor_par);
    c->coordinate[CALC_TUNE_COORDINATE_CONTEXT] = log2(context);
    c->coordinate[CALC_TUNE_COORDINATE_PIPELINE] = log2((double)exec->pipeline_par);
    c->coordinate[CALC_TUNE_COORDINATE_CHUNKS] = log2((double)exec->pipeline_interleaving);
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
    place(out, app, exec);
    return true;
}

/* On a cluster of its own, values always share errors: by how much is open. Chosen on truths that
 * are not drawn from the prior (docs/tune.md). */
static const calc_tune_sizes usual[] = {
    {2, 1, 0.5, 0.05}, {2, 1, 1, 0.05},  {2, 1, 2, 0.05},  {1, 2, 0.5, 0.05}, {1, 2, 1, 0.05},
    {1, 2, 2, 0.05},   {2, 1, 0.5, 0.1}, {2, 1, 1, 0.1},   {2, 1, 2, 0.1},    {1, 2, 0.5, 0.1},
    {1, 2, 1, 0.1},    {1, 2, 2, 0.1},   {2, 1, 0.5, 0.2}, {2, 1, 1, 0.2},    {2, 1, 2, 0.2},
    {1, 2, 0.5, 0.2},  {1, 2, 1, 0.2},   {1, 2, 2, 0.2}};

calc_tune_prior calc_tune_prior_default(void)
{
    /* The result of calc_tune_learn() on tests/measured, rounded: scripts/make_tune shows it. */
    return (calc_tune_prior){
        .common = 0.0155,
        .term = {[CALC_TUNE_TERM_MATRIX] = 0.0333,
                 [CALC_TUNE_TERM_ATTENTION] = 0.0771,
                 [CALC_TUNE_TERM_MEMORY] = 0.1096,
                 [CALC_TUNE_TERM_NETWORK0] = 0.1011,
                 [CALC_TUNE_TERM_NETWORK1] = 0.1619,
                 [CALC_TUNE_TERM_HOST] = 0.0423,
                 [CALC_TUNE_TERM_BUBBLE] = 0.0845,
                 [CALC_TUNE_TERM_DATA] = 0.6442,
                 [CALC_TUNE_TERM_OPTIMIZER] = 0.4994,
                 [CALC_TUNE_TERM_HEAD] = 0.0937,
                 [CALC_TUNE_TERM_UNEVEN] = 0.7179},
        .kernels = {.sd = 0.0877,
                    .length = {[CALC_TUNE_COORDINATE_TOKENS] = 0.601,
                               [CALC_TUNE_COORDINATE_TENSOR] = 0.224,
                               [CALC_TUNE_COORDINATE_CONTEXT] = 0.341}},
        .schedule =
            {.sd = 0.0313,
             .length =
                 {[CALC_TUNE_COORDINATE_PIPELINE] = 4.655, [CALC_TUNE_COORDINATE_CHUNKS] = 0.5480}},
        .own = 0.0183,
        .memory_common = 0.0039,
        .memory_space = {[CALC_TUNE_SPACE_STATE] = 0.0053,
                         [CALC_TUNE_SPACE_ACTIVATIONS] = 0.0457,
                         [CALC_TUNE_SPACE_OTHER] = 0.0242},
        .memory_own = 0.0110,
        .size = usual,
        .sizes = sizeof usual / sizeof *usual,
    };
}

calc_tune_prior calc_tune_prior_for(const calc_tune_prior *prior, bool probes)
{
    calc_tune_prior out = *prior;
    for (int i = 0; probes && i < CALC_TUNE_SPACES; i++) {
        out.memory_space[i] = 0.5;
    }
    return out;
}

double calc_tune_field_covariance(const calc_tune_field *field, const double *a, const double *b)
{
    double square = 0;
    for (int i = 0; i < CALC_TUNE_COORDINATES; i++) {
        if (field->length[i] > 0) {
            double apart = (a[i] - b[i]) / field->length[i];
            square += apart * apart;
        }
    }
    return field->sd * field->sd * exp(-sqrt(square));
}

double calc_tune_computed(const calc_tune_candidate *c)
{
    return c->term[CALC_TUNE_TERM_MATRIX] + c->term[CALC_TUNE_TERM_ATTENTION] +
           c->term[CALC_TUNE_TERM_MEMORY] + c->term[CALC_TUNE_TERM_HOST];
}

/* Covariance of the errors of two candidates' times, without the error that each has alone. */
static double shared(const calc_tune_prior *prior, const calc_tune_candidate *a,
                     const calc_tune_candidate *b)
{
    double sum = prior->common * prior->common +
                 calc_tune_field_covariance(&prior->schedule, a->coordinate, b->coordinate) +
                 calc_tune_computed(a) * calc_tune_computed(b) *
                     calc_tune_field_covariance(&prior->kernels, a->coordinate, b->coordinate);
    for (int term = 0; term < CALC_TUNE_TERMS; term++) {
        sum += a->term[term] * b->term[term] * prior->term[term] * prior->term[term];
    }
    return sum;
}

double calc_tune_model_difference(const calc_tune_prior *prior, const calc_tune_candidate *a,
                                  const calc_tune_candidate *b, bool alike)
{
    double both = shared(prior, a, a) + shared(prior, b, b) + 2 * prior->own * prior->own;
    return sqrt(both - (alike ? 2 * shared(prior, a, b) : 0));
}

double calc_tune_model_sure(const calc_tune_prior *prior, const calc_tune_candidate *a,
                            const calc_tune_candidate *b, bool alike, double ahead)
{
    double t = ahead / calc_tune_model_difference(prior, a, b, alike);
    double u = t / sqrt(4 + t * t);
    return 0.5 + 0.75 * (u - u * u * u / 3);
}
