#include "rl/passes.h"

#include <math.h>

#include "model/operators/parameters.h"
#include "spec/format.h"

/* Without gradients nothing is kept, recomputed, reduced or moved for them. */
static void drop_backward(calc_exec *e)
{
    calc_strategy *s = &e->strategy;
    s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s->recompute_modules = 0;
    s->recompute_group = 0;
    s->distribute_saved_activations = false;
    s->data_par_overlap = false;
    s->seq_par_ag_redo = false;
    s->activations_offload = s->optimizer_offload = s->grad_offload = false;
    s->offload_modules = 0;
    s->delayed_wgrad = false;
    if (s->trained != CALC_TRAINED_ALL) { /* its format is that of trained weights */
        s->weight_datatype = CALC_FORMAT_AUTO;
    }
    s->trained = CALC_TRAINED_ALL;
    s->trained_blocks = 0;
    e->recompute_blocks = 0;
    e->deferred_head_wgrad = 0;
    e->pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
}

calc_exec calc_rl_pass_exec(const calc_exec *exec, const calc_rl_tokens *tokens, double sequences,
                            int64_t micro_tokens, bool training)
{
    calc_exec e = *exec;
    double whole = tokens->prompt + tokens->lengths.mean;
    double attended = calc_rl_lengths_attended(&tokens->lengths, tokens->prompt);
    e.seq_size = (int64_t)round(attended);
    if (micro_tokens > 0) {
        e.microbatch_size = (int64_t)fmax(1, floor((double)micro_tokens / attended));
    }
    /* Ranks that split tokens have equal parts, of context parallelism from both ends. */
    int64_t cp = e.strategy.context_par > 1 ? 2 * e.strategy.context_par : 1;
    bool splits = e.strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR || cp > 1;
    int64_t part = cp * (splits ? e.strategy.tensor_par : 1);
    if (e.seq_size % cp != 0 || e.microbatch_size * e.seq_size % part != 0) {
        e.seq_size = (int64_t)fmax(1, round(attended / (double)part)) * part;
    }
    double each = (double)(e.microbatch_size * e.strategy.data_par);
    each *= e.pipeline_interleaving > 1 ? (double)e.pipeline_par : 1; /* in rounds of the stages */
    double packs = ceil(sequences * whole / (double)e.seq_size / each - 1e-9);
    e.batch_size = (int64_t)(fmax(1, packs) * each);
    e.training = training;
    if (!training) {
        drop_backward(&e);
    }
    e.inference.phase = CALC_INFERENCE_PHASE_NONE;
    return e;
}

double calc_rl_tensors(const calc_app *app, const calc_exec *exec)
{
    calc_strategy whole = exec->strategy;
    double dense, expert;
    whole.tensor_par = 1;
    whole.context_par = whole.expert_par = whole.expert_tensor_par = 1;
    const calc_shape shape = calc_shape_of(app, &whole, 1, exec->seq_size);
    calc_parameters_tensors(&shape, 1, &dense, &expert);
    return dense + expert;
}

double calc_rl_weight_bytes(const calc_app *app, const calc_exec *exec, calc_format format)
{
    calc_parameters p;
    calc_count_parameters(app, &p);
    double stored = calc_format_bytes_or(exec->strategy.weight_datatype,
                                         calc_datatype_bytes(exec->strategy.datatype));
    return p.total * calc_format_bytes_or(format, stored);
}
