/** @file pass_memo.h  Costs of passes that were asked for before: a sweep evaluates many layouts
 *  that run the same batches with the same strategy. A cost found equals the computed one to the
 *  bit. The memory is the caller's; of two passes that fall on the same place the later stays. */
#ifndef CALC_MODEL_PASS_MEMO_H
#define CALC_MODEL_PASS_MEMO_H

#include "model/serve/pass_cost.h"

/** Numbers in a batch. */
enum { CALC_PASS_MEMO_WORDS = sizeof(calc_inference_pass_work) / sizeof(uint64_t) };

/** What a pass is known by. */
typedef struct calc_pass_memo_key {
    uint64_t number, variant;
    uint64_t word[CALC_PASS_MEMO_WORDS]; /**< the bits of its batch */
} calc_pass_memo_key;

/** One pass. */
typedef struct calc_pass_memo_entry {
    calc_pass_memo_key key;
    bool known; /**< whether there is a cost */
    calc_pass_cost cost;
} calc_pass_memo_entry;

/** The common part of passes that differ in how experts are spread. */
typedef struct calc_pass_common_entry {
    calc_pass_memo_key key;
    bool known;
    calc_pass_common common;
} calc_pass_common_entry;

/** All of them; zeros at first. */
typedef struct calc_pass_memo {
    size_t count; /**< a power of two */
    calc_pass_memo_entry *entry;
    size_t commons; /**< a power of two, or 0: the common part is not kept */
    calc_pass_common_entry *common;
} calc_pass_memo;

/** The place of a batch, which is its own when this returns. The same batch of the next number has
 *  the next place: a sweep asks for them in this order.
 *  @param number, variant  the same for layouts that have the same cost of the same batch
 *  @return its cost if entry->known; if not, to be filled in */
calc_pass_memo_entry *calc_pass_memo_at(calc_pass_memo *memo, uint64_t number, uint64_t variant,
                                        const calc_inference_pass_work *work);

/** The same for the common part. @return NULL if it is not kept */
calc_pass_common_entry *calc_pass_memo_common_at(calc_pass_memo *memo, uint64_t number,
                                                 uint64_t variant,
                                                 const calc_inference_pass_work *work);

/** The cost of a pass: calc_pass_cost_of(), or a kept result of it or of an equal one. */
void calc_pass_memo_cost(const struct calc_inference_pass_model *model,
                         const calc_inference_pass_work *work, calc_pass_cost *out);

#endif
