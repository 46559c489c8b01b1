/** @file modern_case.h  Small modern models and layouts to vary from, beside those of small_case.h.
 *  Sizes and rates are powers of two where they can be, so that expected numbers are exact. */
#ifndef CALC_TEST_MODERN_CASE_H
#define CALC_TEST_MODERN_CASE_H

#include <string.h>

#include "model/cost/block.h"
#include "model/stages/stages.h"
#include "small_case.h"

/** 8 Llama blocks: 4 query heads on 2 key heads of 16, 256 wide, 512 words. */
static inline calc_app modern_app(void)
{
    calc_app app = small_app();
    app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    app.causal = true;
    app.kv_heads = 2;
    app.vocab_size = 512;
    return app;
}

/** The same with 8 experts of width 32 after 2 dense blocks, 2 of them a token, and shared ones of
 *  width 64. */
static inline calc_app moe_app(void)
{
    calc_app app = modern_app();
    app.num_experts = 8;
    app.experts_per_token = 2;
    app.expert_feedforward = 32;
    app.shared_feedforward = 64;
    app.dense_blocks = 2;
    return app;
}

/** Latent attention: ranks 32 and 16, heads of 16 + 8 and 16. */
static inline calc_app latent_app(void)
{
    calc_app app = modern_app();
    app.kv_heads = 0;
    app.q_lora_rank = 32;
    app.kv_lora_rank = 16;
    app.qk_nope_size = 16;
    app.qk_rope_size = 8;
    app.v_size = 16;
    return app;
}

/** small_exec() with flash attention, fused activation and sequence parallelism. */
static inline calc_exec modern_exec(int64_t tensor_par, int64_t pipeline_par, int64_t data_par)
{
    calc_exec exec = small_exec(tensor_par, pipeline_par, data_par);
    exec.strategy.flash_attention = true;
    exec.strategy.fused_activation = true;
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    exec.strategy.seq_par_ag_redo = true;
    exec.strategy.fused_cross_entropy = true;
    exec.strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
    return exec;
}

/** A model on a machine, with what the functions of the model want to be handed. The context points
 *  into it: do not copy. */
typedef struct modern_case {
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_shape shape;
    calc_cost_context context;
    calc_operator operators[CALC_MAX_OPERATORS];
    size_t count;
    calc_cost cost;
} modern_case;

/** Fill what follows from app, system and exec. */
static inline void resolve(modern_case *c)
{
    c->shape = calc_shape_of(&c->app, &c->exec.strategy, c->exec.microbatch_size, c->exec.seq_size);
    c->context = calc_cost_context_of(&c->system, &c->exec, &c->shape, CALC_COMPAT_NONE);
}

/** The block of a kind and its cost, with what the execution recomputes. */
static inline void make_block(modern_case *c, calc_block_kind kind)
{
    resolve(c);
    c->count = calc_block_operators(&c->context, kind, c->operators);
    calc_cost_sum(&c->context, c->operators, c->count,
                  calc_operator_recompute(&c->exec.strategy, c->exec.training), &c->cost);
}

static inline modern_case case_of(calc_app app, calc_exec exec)
{
    modern_case c;
    memset(&c, 0, sizeof c);
    c.app = app;
    c.system = small_system();
    c.exec = exec;
    return c;
}

/** The operator of that name; the test fails if there is none or more than one. */
static inline const calc_operator *named(const modern_case *c, const char *name)
{
    const calc_operator *found = NULL;
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->operators[i].name, name) == 0) {
            ck_assert_msg(found == NULL, "two operators are called %s", name);
            found = &c->operators[i];
        }
    }
    ck_assert_msg(found != NULL, "no operator is called %s", name);
    return found;
}

/** Whether there is an operator of that name. */
static inline bool has_operator(const modern_case *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->operators[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

#endif
