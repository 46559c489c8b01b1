/* Rules between the fields of an execution's inference and the others, and between a system's
 * rates of serving. */

#include "base/buffer.h"
#include "base/error.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/serving_engine.h"

/* Add an error about a field of inference. */
#define BROKEN(errors, field, hint, ...)                                                           \
    calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/inference/" #field, hint, __VA_ARGS__)
#define RULE(broken, ...) CALC_RULE(broken, BROKEN(__VA_ARGS__))

/* A parallel size of the prefill pool must divide the dimension that it splits. */
static void must_divide(calc_errors *errors, const char *pointer, int64_t value, const char *what,
                        int64_t n)
{
    calc_rules_must_divide(errors, pointer, value, what, n, n);
}

static void check_lengths(const calc_app *a, const calc_exec *e, calc_errors *errors)
{
    const calc_inference *i = &e->inference;
    bool serves =
        i->phase == CALC_INFERENCE_PHASE_SERVE || i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    RULE(serves && i->generate_size < 2, errors, generate_size,
         i->generate_size == 0 && i->prompt_size == 0
             ? "say how long requests are: prompt_size and generate_size, for example 1024 each"
             : "use at least 2, or phase \"prefill\"",
         "a request that generates %lld token%s is not decoded", (long long)i->generate_size,
         i->generate_size == 1 ? "" : "s");
    RULE(a->lm_head == CALC_CHOICE_FALSE && i->phase != CALC_INFERENCE_PHASE_NONE &&
             i->phase != CALC_INFERENCE_PHASE_PREFILL,
         errors, phase, "use \"prefill\"", "a model without a head (lm_head) generates nothing");
    /* With two pools a router sends each request to the replica with most room. */
    bool routed = i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED && i->batch > e->strategy.data_par;
    long long data_par = e->strategy.data_par;
    RULE(i->batch % data_par != 0 && !routed, errors, batch,
         CALC_TEXT(96, "use a multiple of data_par: %lld", (i->batch / data_par + 1) * data_par),
         "%lld is not a multiple of data_par = %lld", (long long)i->batch, data_par);
    RULE(i->speculative_tokens == 0 && (i->speculative_accept > 0 || i->speculative_cost > 0),
         errors, speculative_tokens, "give speculative_tokens, or leave them out",
         "nothing is drafted: speculative_accept and speculative_cost have no effect");
    RULE(*i->engine.name && i->speculative_tokens > 0 && i->speculative_cost == 0 &&
             a->mtp_blocks == 0,
         errors, speculative_cost,
         "say it: 0.14 was measured of EAGLE-3 beside 8 B parameters, 1e-6 is that of n-grams",
         "drafts of an engine take time, and the model has no mtp_blocks that draft");
}

/* Fields of arriving and waiting requests. */
static void check_queue(const calc_exec *e, calc_errors *errors)
{
    const calc_inference *i = &e->inference;
    int64_t batch = i->batch > 0 ? i->batch : e->batch_size;
    bool queues =
        i->phase == CALC_INFERENCE_PHASE_SERVE || i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    bool given = i->max_sequences > 0 || i->requests > 0 || i->arrival_rate > 0 ||
                 i->prompt_spread > 0 || i->generate_spread > 0;
    bool together = i->phase == CALC_INFERENCE_PHASE_SERVE;
    RULE(!queues && given, errors, phase,
         "use phase \"serve\" or \"disaggregated\", or leave them out",
         "nothing waits where one phase runs alone: max_sequences, requests, arrival_rate, "
         "prompt_spread and generate_spread have no effect");
    RULE(!together && i->hold_steps > 0, errors, hold_steps, "use phase \"serve\", or leave it out",
         "no prompt is prefilled between the steps that decode");
    RULE(i->arrival_rate > 0 && i->batch > 0, errors, batch,
         "leave out one of the two, or use max_sequences",
         "requests arrive at arrival_rate: batch has no effect");
    RULE(i->arrival_rate == 0 && i->requests > 0 && i->requests < batch, errors, requests,
         "use at least the batch", "%lld are fewer than the batch of %lld", (long long)i->requests,
         (long long)batch);
}

static void check_layout(const calc_exec *e, calc_errors *errors)
{
    if (e->strategy.context_par > 1 && e->inference.phase != CALC_INFERENCE_PHASE_PREFILL) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/context_par",
                        "use 1, or phase \"prefill\"",
                        "decoding with context parallelism is not modelled yet");
    }
    if (e->pipeline_interleaving > 1) {
        calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/pipeline_interleaving", "use 1",
                        "chunks of a stage shorten the bubble of training: serving has no use for "
                        "them");
    }
}

static void check_pool(const calc_app *a, const calc_exec *e, calc_errors *errors)
{
    const calc_inference *i = &e->inference;
    if (i->phase != CALC_INFERENCE_PHASE_DISAGGREGATED) {
        RULE(i->prefill_procs > 0 || i->prefill_tensor_par > 0 || i->prefill_expert_par > 0 ||
                 i->prefill_system.name[0],
             errors, prefill_procs, "use phase \"disaggregated\", or leave it out",
             "only disaggregated serving has a prefill pool");
        return;
    }
    calc_exec pool;
    calc_prefill_pool_of(e, &pool);
    int64_t tensor = pool.strategy.tensor_par;
    int64_t expert = pool.strategy.expert_par;
    int64_t replica = tensor * e->pipeline_par;
    must_divide(errors, "/inference/prefill_tensor_par", tensor, "attn_heads", a->attn_heads);
    must_divide(errors, "/inference/prefill_tensor_par", tensor, "hidden", a->hidden);
    must_divide(errors, "/inference/prefill_tensor_par", tensor, "feedforward", a->feedforward);
    if (i->prefill_procs < 1 || i->prefill_procs % replica != 0) {
        BROKEN(errors, prefill_procs,
               CALC_TEXT(96, "use a multiple of %lld: %lld", (long long)replica,
                         (long long)((i->prefill_procs / replica + 1) * replica)),
               "%lld processors are no replicas of tensor %lld * pipeline %lld",
               (long long)i->prefill_procs, (long long)tensor, (long long)e->pipeline_par);
        return;
    }
    int64_t split = pool.strategy.expert_tensor_par > 1 ? pool.strategy.expert_tensor_par : 1;
    if (expert * split <= 1) {
        return;
    }
    if (a->num_experts > 0) {
        must_divide(errors, "/inference/prefill_expert_par", expert,
                    i->redundant_experts > 0 ? "num_experts + redundant_experts" : "num_experts",
                    a->num_experts + i->redundant_experts);
        must_divide(errors, expert > 1 ? "/inference/prefill_expert_par" : "/expert_tensor_par",
                    expert * split, "the processors of a prefill stage",
                    i->prefill_procs / e->pipeline_par);
    }
    if (pool.strategy.dispatch_type == CALC_DISPATCH_TYPE_REPLICATED && expert * split != tensor) {
        must_divide(errors, "/inference/prefill_expert_par", expert, "prefill_tensor_par", tensor);
    }
}

void calc_rules_inference(const calc_app *app, const calc_exec *exec, calc_errors *errors)
{
    const calc_inference *i = &exec->inference;
    if (i->phase == CALC_INFERENCE_PHASE_NONE) {
        RULE(!calc_absent_is(calc_table_find(calc_table_of(CALC_KIND_EXEC), "inference"), i),
             errors, phase, "use \"prefill\", \"decode\", \"serve\" or \"disaggregated\"",
             "without a phase the other fields of inference have no effect");
        return;
    }
    RULE(exec->training, errors, phase, "use training false", "nothing is served in training");
    check_lengths(app, exec, errors);
    check_queue(exec, errors);
    check_layout(exec, errors);
    if (exec->strategy.weight_offload || exec->strategy.activations_offload) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC,
                        exec->strategy.weight_offload ? "/weight_offload" : "/activations_offload",
                        "use false", "serving from the second memory tier is not modelled yet");
    }
    check_pool(app, exec, errors);
}

/* The first rate of a kernel must be present for the others to count. */
void calc_rules_serving(const calc_system *system, calc_errors *errors)
{
    const calc_table *rates = calc_table_find(calc_table_of(CALC_KIND_SYSTEM), "serving")->table;
    for (size_t i = 0; i < rates->count; i++) {
        const calc_field *kernel = &rates->rows[i];
        const calc_field *first = &kernel->table->rows[0];
        const char *values = (const char *)&system->chip.serving + kernel->offset;
        bool others = first->flags & CALC_OR_ZERO &&
                      calc_absent_is(first, values + first->offset) &&
                      !calc_absent_is(kernel, values);
        if (others) {
            calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_SYSTEM,
                            CALC_TEXT(96, "/serving/%s", kernel->key),
                            CALC_TEXT(96, "give %s, or none of them", first->key),
                            "without %s the other rates have no effect", first->key);
        }
    }
}
