/** @file refusal_rules.h  Lists of rules by which frameworks refuse layouts, one list per source.
 *  Private to refusal*.c. */
#ifndef CALC_FORMATS_REFUSAL_RULES_H
#define CALC_FORMATS_REFUSAL_RULES_H

#include "formats/framework.h"

/** A model and its layout, resolved. */
typedef struct calc_resolved {
    calc_app app;
    calc_exec exec;
} calc_resolved;

/** One rule: a combination that is refused. */
typedef struct calc_refusal {
    bool (*applies)(const calc_resolved *r);
    const char *reason; /**< text with the names of our fields */
} calc_refusal;

/** A list of rules. */
typedef struct calc_refusals {
    const calc_refusal *item;
    size_t count;
} calc_refusals;

/** A rule: its name, and when it applies to the model `a`, the layout `e` and its strategy `s`. */
#define CALC_REFUSAL(name, condition)                                                              \
    static bool name(const calc_resolved *r)                                                       \
    {                                                                                              \
        const calc_app *a = &r->app;                                                               \
        const calc_exec *e = &r->exec;                                                             \
        const calc_strategy *s = &e->strategy;                                                     \
        (void)a, (void)e, (void)s;                                                                 \
        return condition;                                                                          \
    }

/** Defines a list under `name` from the array `rules`. */
#define CALC_REFUSALS(name, rules)                                                                 \
    const calc_refusals name = {rules, sizeof(rules) / sizeof *(rules)}

/** Rules of Megatron Core for every framework built on it, except FSDP, which has its own lists. */
extern const calc_refusals calc_refusals_core;
/** Whether stages hold equally many blocks, or are listed if they do not. */
extern const calc_refusals calc_refusals_even, calc_refusals_listed;
extern const calc_refusals calc_refusals_fsdp, calc_refusals_fsdp_0_15;
extern const calc_refusals calc_refusals_batch_overlap, calc_refusals_graphs, calc_refusals_flex;
extern const calc_refusals calc_refusals_mindspeed, calc_refusals_nemo;
extern const calc_refusals calc_refusals_torchtitan, calc_refusals_deepspeed, calc_refusals_paddle,
    calc_refusals_mindformers;
extern const calc_refusals calc_refusals_serve, calc_refusals_vllm, calc_refusals_sglang,
    calc_refusals_tensorrt_llm;

/** Micro-batches of a replica in one step. */
static inline int64_t calc_microbatches(const calc_exec *e)
{
    return e->batch_size / e->strategy.data_par / e->microbatch_size;
}

/** Whether n divides m; 0 counts as divisible by everything. */
static inline bool calc_divides(int64_t n, int64_t m)
{
    return m % n == 0;
}

#endif
