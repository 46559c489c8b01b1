/** @file panel.h  Panels: rows of the table with a choice of state and offload each, side by side,
 *  so that one loop evaluates many of them. A lane is such a pair; a panel keeps an array of every
 *  term in which its lanes differ. The terms that they share, of a cell and a way to keep the
 *  state, are in one calc_stage_terms. */
#ifndef CALC_SWEEP_PANEL_H
#define CALC_SWEEP_PANEL_H

#include <stddef.h>

#include "model/cost/block_memory.h"
#include "model/stages/stage_step.h"
#include "model/stages/stages.h"

enum {
    CALC_PANEL_ALIGN = 64, /**< bytes that its arrays are aligned to */
    CALC_PANEL_VECTOR = 8, /**< lanes of the longest vector */
    /** Lanes of a panel: whole vectors, and no large power of two: else its arrays would meet in
     * the same lines of a cache. */
    CALC_PANEL_LANES = 136,
    CALC_PANEL_MESSAGES = 4 /**< sizes of messages between stages that rows differ in */
};

/** Members of calc_stage_terms in which lanes differ: X(name here, member there). */
#define CALC_PANEL_BLOCK_LIST(X, kind, index)                                                      \
    X(kind##_fw_s, block[index].fw_s)                                                              \
    X(kind##_agrad_s, block[index].agrad_s)                                                        \
    X(kind##_wgrad_s, block[index].wgrad_s)                                                        \
    X(kind##_spared_s, block[index].spared_s)                                                      \
    X(kind##_weights, block[index].weights.dense)                                                  \
    X(kind##_expert_weights, block[index].weights.expert)                                          \
    X(kind##_narrowed_bytes, block[index].narrowed_bytes)                                          \
    X(kind##_kept_bytes, block[index].kept_bytes)                                                  \
    X(kind##_whole_bytes, block[index].whole_bytes)                                                \
    X(kind##_away_bytes, block[index].away_bytes)                                                  \
    X(kind##_passing_bytes, block[index].passing_bytes)

#define CALC_PANEL_LIST(X)                                                                         \
    CALC_PANEL_BLOCK_LIST(X, dense, 0)                                                             \
    CALC_PANEL_BLOCK_LIST(X, moe, 1)                                                               \
    X(embedding_fw_s, embedding.fw_s)                                                              \
    X(embedding_agrad_s, embedding.agrad_s)                                                        \
    X(embedding_wgrad_s, embedding.wgrad_s)                                                        \
    X(embedding_weights, embedding.weights.dense)                                                  \
    X(embedding_whole_bytes, embedding.whole_bytes)                                                \
    X(head_fw_s, head.fw_s)                                                                        \
    X(head_agrad_s, head.agrad_s)                                                                  \
    X(head_wgrad_s, head.wgrad_s)                                                                  \
    X(head_weights, head.weights.dense)                                                            \
    X(head_expert_weights, head.weights.expert)                                                    \
    X(head_narrowed_bytes, head.narrowed_bytes)                                                    \
    X(head_kept_bytes, head.kept_bytes)                                                            \
    X(head_whole_bytes, head.whole_bytes)                                                          \
    X(framework_dense_bytes, framework_bytes[1][0])                                                \
    X(framework_moe_bytes, framework_bytes[0][1])                                                  \
    X(framework_both_bytes, framework_bytes[1][1])                                                 \
    X(framework_head_bytes, framework_head_bytes)                                                  \
    X(held_bytes, held_bytes)                                                                      \
    X(owned_bytes, owned_bytes)                                                                    \
    X(gathered_ahead, gathered_ahead)                                                              \
    X(whole_block_bytes, whole_block_bytes)                                                        \
    X(optimizer_s, optimizer_s)                                                                    \
    X(optimizer_owned_s, optimizer_owned_s)                                                        \
    X(weight_held_away, weight_held_away)                                                          \
    X(weight_owned_away, weight_owned_away)                                                        \
    X(optimizer_held_away, optimizer_held_away)                                                    \
    X(optimizer_owned_away, optimizer_owned_away)                                                  \
    X(expert_shards, expert_shards)

/** The same for terms that only Calculon's rules need: those that depend on the ranks that share a
 *  state, and all. */
#define CALC_PANEL_SHARED_RULE_LIST(X, kind, index)                                                \
    X(kind##_rule_bw_away_s, rule[index].bw_away_s)                                                \
    X(kind##_rule_optimizer_s, rule[index].optimizer_s)                                            \
    X(kind##_rule_tier1_block_bytes, rule[index].tier1.block_bytes)                                \
    X(kind##_rule_tier2_block_bytes, rule[index].tier2.block_bytes)                                \
    X(kind##_rule_fixed_bytes, rule[index].fixed_bytes)

#define CALC_PANEL_RULE_BLOCK_LIST(X, kind, index)                                                 \
    CALC_PANEL_SHARED_RULE_LIST(X, kind, index)                                                    \
    X(kind##_rule_edge_fw_s, rule[index].edge_fw_s)                                                \
    X(kind##_rule_edge_bw_s, rule[index].edge_bw_s)                                                \
    X(kind##_rule_fw_mem_s, rule[index].fw_mem_s)                                                  \
    X(kind##_rule_bw_mem_s, rule[index].bw_mem_s)                                                  \
    X(kind##_rule_fw_away_s, rule[index].fw_away_s)                                                \
    X(kind##_rule_busy_s, rule[index].busy_s)                                                      \
    X(kind##_rule_compute_s, rule[index].compute_s)                                                \
    X(kind##_rule_link_s, rule[index].link_s)                                                      \
    X(kind##_rule_edge_link_s, rule[index].edge_link_s)                                            \
    X(kind##_rule_optimizer_window_s, rule[index].optimizer_window_s)                              \
    X(kind##_rule_tier1_flight_bytes, rule[index].tier1.flight_bytes)                              \
    X(kind##_rule_tier2_flight_bytes, rule[index].tier2.flight_bytes)                              \
    X(kind##_rule_fixed_away_bytes, rule[index].fixed_away_bytes)

#define CALC_PANEL_RULE_LIST(X)                                                                    \
    CALC_PANEL_RULE_BLOCK_LIST(X, dense, 0) CALC_PANEL_RULE_BLOCK_LIST(X, moe, 1)

/** Members that all lanes of a panel share. */
#define CALC_PANEL_SHARED_LIST(X)                                                                  \
    X(stages)                                                                                      \
    X(microbatches)                                                                                \
    X(lost_rounds)                                                                                 \
    X(dense_first)                                                                                 \
    X(head_as_blocks)                                                                              \
    X(message_hidden)                                                                              \
    X(recompute_blocks)                                                                            \
    X(reduced_bytes)                                                                               \
    X(gathered_bytes)                                                                              \
    X(reductions)                                                                                  \
    X(window_share)                                                                                \
    X(contention)                                                                                  \
    X(growth)                                                                                      \
    X(overhead_s)                                                                                  \
    X(dense_shards)                                                                                \
    X(used_share)                                                                                  \
    X(reserved_bytes)

/** Lanes side by side. */
typedef struct calc_panel {
    size_t count; /**< up to the next whole vector the entries are harmless */
    unsigned short row[CALC_PANEL_LANES];    /**< of the table */
    unsigned char choice[CALC_PANEL_LANES];  /**< of the table */
    unsigned char spread[CALC_PANEL_LANES];  /**< of the row */
    unsigned char message[CALC_PANEL_LANES]; /**< number of its size of messages */
#define CALC_X(name, member) _Alignas(CALC_PANEL_ALIGN) double name[CALC_PANEL_LANES];
    CALC_PANEL_LIST(CALC_X)
    CALC_PANEL_RULE_LIST(CALC_X)
#undef CALC_X
} calc_panel;

/** The terms of a lane, as far as calc_stage_step_of() reads them.
 *  @param shared    terms common to all lanes of the panel
 *  @param compat    shared->compat; a constant where speed matters, as is
 *  @param training  shared->training
 *  @param t         filled member by member: compilers make vectors of that */
CALC_STAGE_INLINE void calc_panel_terms(const calc_panel *p, const calc_stage_terms *shared,
                                        calc_compat compat, bool training, size_t lane,
                                        calc_stage_terms *t)
{
    t->compat = compat;
    t->training = training;
    t->deferred.any = t->muon.any = t->frozen.any = false;
#define CALC_X(member) t->member = shared->member;
    CALC_PANEL_SHARED_LIST(CALC_X)
#undef CALC_X
#define CALC_X(name, member) t->member = p->name[lane];
    CALC_PANEL_LIST(CALC_X)
#undef CALC_X
#define CALC_X(name, member) t->member = compat ? p->name[lane] : 0;
    CALC_PANEL_RULE_LIST(CALC_X)
#undef CALC_X
}

/** Lanes that are computed for so many: whole vectors. */
static inline size_t calc_panel_whole(size_t lanes)
{
    return (lanes + CALC_PANEL_VECTOR - 1) / CALC_PANEL_VECTOR * CALC_PANEL_VECTOR;
}

/** Put the terms of a lane where it is. */
void calc_panel_put(calc_panel *panel, size_t lane, const calc_stage_terms *terms);

/** Set the terms that depend, by rule, on the ranks that share the state of a block: memory,
 *  optimizer, offload.
 *  @param kind  of block */
void calc_panel_put_shared(calc_panel *panel, size_t lane, int kind, const calc_rule_part *rule);

/** Add lanes of another panel to one that has room for them.
 *  @param lane  positions there
 *  @param rules  including the terms of Calculon's rules */
void calc_panel_add(calc_panel *panel, const calc_panel *from, const unsigned char *lane,
                    size_t count, bool rules);

/** Fill up the last vector with lanes that are there. Only if there are any. */
void calc_panel_pad(calc_panel *panel, bool rules);

#endif
