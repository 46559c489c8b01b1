/** @file adapter.h  Adapters beside the matrices of a block, and operators whose weights are
 * frozen. Sources: Hu et al. 2021 (LoRA, arXiv 2106.09685); Liu et al. 2024 (DoRA, arXiv
 * 2402.09353); Megatron-Bridge, peft/utils.py (how ranks split adapters). */
#ifndef CALC_MODEL_ADAPTER_H
#define CALC_MODEL_ADAPTER_H

#include "model/operators/build.h"
#include "spec/format.h"

/** A multiplication that a matrix stands for: its bit of lora_modules and its width on a rank; one
 *  of width 0 does not exist. */
typedef struct calc_adapter_product {
    int module;
    double width;
} calc_adapter_product;

/** Append the adapter of a matrix that lies at `at` in the list, if lora_modules names any of its
 *  products: a product of the input with lora_A, one of its result with lora_B, added to the
 *  output. Ranks that split the outputs of the matrix split the rank of lora_A; those that split
 *  its inputs add up the results of lora_A, and gather those of lora_B. What runs in tiles beside
 *  the matrix must be appended before.
 *  @param name  of both factors, static texts */
void calc_adapter_add(calc_build *b, size_t at, const char *const name[2],
                      const calc_adapter_product *products, int count);

/** Names of the factors beside a matrix, a literal. */
#define CALC_ADAPTER_NAMES(matrix) ((const char *const[]){matrix " lora_A", matrix " lora_B"})

/** The same for the grouped multiplications of routed experts, by lora_experts.
 *  @param at     of the multiplication
 *  @param up     whether it reads the residual stream, and so lora_A lies on the outer side
 *  @param local  experts on this rank */
void calc_adapter_add_experts(calc_build *b, size_t at, const char *const name[2],
                              const calc_adapter_product *products, int count, bool up,
                              double local);

/** What a list of operators is of. */
typedef enum calc_frozen_list {
    CALC_FROZEN_BLOCK,
    CALC_FROZEN_EMBEDDING,
    CALC_FROZEN_HEAD,
    CALC_FROZEN_ENCODER, /**< of images, and the projector behind it */
    CALC_FROZEN_PROJECTOR
} calc_frozen_list;

/** Take from operators what frozen weights do not need: gradients of weights and the inputs kept
 * for them, and the backward pass where no trained weight lies before. Nothing if none is frozen.
 */
void calc_adapter_freeze(const calc_shape *shape, const calc_strategy *strategy, bool training,
                         calc_frozen_list list, calc_operator *operators, size_t first, size_t end);

/** Host launches of a list over those of the same list with all weights trained, no adapters, and
 *  experts in grouped multiplications. */
double calc_adapter_launches(const calc_operator *operators, size_t count);

/** Whether any weight is frozen: by what is trained, or in a forward pass alone by a format that is
 *  not that of the computation. */
static inline bool calc_adapter_freezes(const calc_strategy *strategy, bool training)
{
    double bytes = calc_datatype_bytes(strategy->datatype);
    return training ? strategy->trained != CALC_TRAINED_ALL
                    : calc_format_is_widened(strategy) ||
                          calc_format_frozen_bytes(strategy->frozen_datatype, bytes) != bytes;
}

/** Share of the blocks that only a forward pass runs through, 0 to 1. */
double calc_adapter_untouched(const calc_shape *shape, const calc_strategy *strategy);

#endif
