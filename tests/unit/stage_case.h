/** @file stage_case.h  All of an extended layout, down to the terms of its step, to vary from. */
#ifndef CALC_TEST_STAGE_CASE_H
#define CALC_TEST_STAGE_CASE_H

#include "model/stages/stage_parts.h"
#include "model/stages/stage_spent.h"
#include "model/stages/stage_step.h"
#include "modern_case.h"

/** Bandwidths of small_system() [bytes/s]: networks 0 and 1, memory tiers 1 and 2. */
static const double fast = 0x1p36, slow = 0x1p33, memory = 0x1p38, far_memory = 0x1p34;

/** A layout and what the functions of the model say of it. The context points into it: do not
 *  copy. */
typedef struct stage_case {
    modern_case c;
    calc_stages stages;
    calc_stage_parts parts;
    calc_stage_lines lines;
    calc_stage_terms terms;
    calc_stage_links links;
    double exposed; /**< share of messages */
} stage_case;

static inline void build(stage_case *s, calc_app app, calc_exec exec)
{
    s->c = case_of(app, exec);
}

/** Fill what follows from the application, the system and the execution. */
static inline void settle(stage_case *s)
{
    modern_case *c = &s->c;
    resolve(c);
    s->stages = calc_stages_split(&c->shape, &c->exec, CALC_COMPAT_NONE);
    calc_stage_parts_of(&c->context, &s->parts);
    s->lines = calc_stage_lines_of(&c->system, &c->exec, &c->exec.strategy, &c->context.groups,
                                   calc_stage_message_bytes(&c->shape));
    calc_stage_terms_of(&c->context, &c->exec, &s->parts, &s->lines, &s->terms, &s->links);
    s->exposed = calc_stage_exposed_messages(&s->terms, &c->exec.strategy);
}

static inline calc_stage_weights weights_of(stage_case *s, size_t index)
{
    settle(s);
    return calc_stage_weights_sum(&s->terms, &s->stages.item[index]);
}

static inline calc_stage_memory memory_of(stage_case *s, size_t index)
{
    calc_stage_weights w = weights_of(s, index);
    return calc_stage_memory_sum(&s->terms, &s->stages.item[index], &w, s->c.exec.pipeline_schedule,
                                 s->stages.chunks);
}

static inline calc_stage_pass pass_of(stage_case *s, size_t index)
{
    settle(s);
    return calc_stage_pass_of(&s->terms, &s->links, &s->stages.item[index], s->stages.chunks,
                              s->exposed);
}

/** Both passes over a stage; they add up to `all_s`. */
typedef struct stage_spent {
    double fw_s, bw_s, re_s, tensor_s, context_s, expert_s, repeated_s, sharded_s;
    double fw_offload_s, bw_offload_s, message_s, host_s, ends_s, all_s;
} stage_spent;

static inline stage_spent spent_of(stage_case *s, size_t index)
{
    calc_stage_pass pass = pass_of(s, index);
    calc_stage_spent t =
        calc_stage_spent_of(&s->c.context, &s->c.exec, &s->parts, &s->lines, &s->terms, &s->links,
                            &s->stages.item[index], s->stages.chunks);
    return (stage_spent){.fw_s = t.fw_s[CALC_SPENT_COMPUTE],
                         .bw_s = t.bw_s[CALC_SPENT_COMPUTE] + t.wgrad_s[CALC_SPENT_COMPUTE],
                         .re_s = calc_spent_s(&t, CALC_SPENT_RECOMPUTE),
                         .tensor_s = calc_spent_s(&t, CALC_SPENT_TENSOR),
                         .context_s = calc_spent_s(&t, CALC_SPENT_CONTEXT),
                         .expert_s = calc_spent_s(&t, CALC_SPENT_EXPERT),
                         .repeated_s = calc_spent_s(&t, CALC_SPENT_REPEATED),
                         .sharded_s = calc_spent_s(&t, CALC_SPENT_SHARDED),
                         .fw_offload_s = t.fw_s[CALC_SPENT_OFFLOAD],
                         .bw_offload_s = t.bw_s[CALC_SPENT_OFFLOAD],
                         .message_s = calc_spent_s(&t, CALC_SPENT_MESSAGE),
                         .host_s = calc_spent_s(&t, CALC_SPENT_HOST),
                         .ends_s = calc_spent_s(&t, CALC_SPENT_ENDS),
                         .all_s = calc_stage_pass_s(&pass)};
}

static inline calc_stage_reduction reduction_of(stage_case *s, size_t index)
{
    calc_stage_pass pass = pass_of(s, index);
    calc_stage_weights w = weights_of(s, index);
    return calc_stage_reduction_sum(&s->terms, &s->links, &s->stages.item[index], &w, &pass,
                                    s->stages.chunks);
}

/** 8 blocks without embedding and head. */
static inline calc_app without_ends(void)
{
    calc_app app = modern_app();
    app.vocab_size = 0;
    return app;
}

/** 8 blocks with experts, no others and no ends. */
static inline calc_app experts_only(void)
{
    calc_app app = moe_app();
    app.vocab_size = 0;
    app.dense_blocks = 0;
    return app;
}

/** Weights of a block of modern_app(), and the bytes it keeps for its 32 tokens. */
static const double block_weights = 64 * 128 + 64 * 64 + 3 * 64 * 256 + 2 * 64;
static const double block_bytes = 32.0 * (8 * 64 + 2 * (2 * 64 + 2 * 32) + 6 * 256 + 4 * 4);

/** What exists beside them when its activation passes back: gradients of the residual stream and of
 *  both inputs of the gate, and of its output, when that output is done with. */
static const double block_passing = 32.0 * 2 * (64 + 2 * 256);

#endif
