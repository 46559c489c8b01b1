/** @file run_sources.h  Known properties of the software of a published table that its rows do not
 *  print: kernels, overlaps, precision of gradients. A source is known by the start of its rows'
 *  ids. */
#ifndef CALC_VALIDATE_RUN_SOURCES_H
#define CALC_VALIDATE_RUN_SOURCES_H

#include "validate/runs.h"

/** Features of a source's software: X(NAME, what is assumed). */
#define CALC_RUN_TRAIT_LIST(X)                                                                     \
    X(UNFUSED_ATTENTION, "attention without a flash kernel (GPT code of 2020 to 2022)")            \
    X(DROPOUT, "dropout, the default of GPT code")                                                 \
    X(UNFUSED_LOSS, "loss in several kernels")                                                     \
    X(EAGER, "eager PyTorch")                                                                      \
    X(EAGER_UNLESS_COMPILED, "eager PyTorch, as no torch.compile is named")                        \
    X(PORTABLE_ATTENTION, "portable flash attention kernels")                                      \
    X(FUSED_TENSOR_OVERLAP, "fused tensor-parallel overlap, this software's default")              \
    X(NO_TENSOR_OVERLAP, "no tensor-parallel overlap")                                             \
    X(DATA_OVERLAP, "gradient and weight communication overlapped, this software's default")       \
    X(NO_MESSAGE_OVERLAP, "pipeline messages not overlapped")                                      \
    X(HALF_GRADIENTS, "gradients reduced in 16 bits, this software's default")                     \
    X(FLOAT8_GATHER, "weights in 8 bits gathered in 8 bits, this software's default")              \
    X(FLOAT16_GRADIENTS, "float16 gradients reduced as they are; of bfloat16, float32 sums")       \
    X(NODE_LIMITED_DISPATCH, "one copy of a token per rank and node (DeepEP, HybridEP)")           \
    X(SPLIT_EXPERTS, "experts split over the tensor-parallel ranks")                               \
    X(ULYSSES, "context parallelism by all-to-all")                                                \
    X(NO_RECOMPUTE, "no recomputation")                                                            \
    X(SPREAD_EXPERTS, "expert parallelism over as many ranks as there are experts")                \
    X(MICROBATCH_1, "micro-batch not printed: 1")                                                  \
    X(MICROBATCH_PER_STAGE, "micro-batch not printed: a rank's batch in one per stage")            \
    X(MICROBATCH_SEARCH, "micro-batch and interleaving not printed: the fastest predicted")        \
    X(CHUNKS_8, "interleaving not printed: 8 chunks")                                              \
    X(CHUNKS_2, "interleaving not printed: 2 chunks, this software's default")                     \
    X(BALANCED_ENDS, "embedding and head count as a block each")                                   \
    X(COST_BALANCED, "stages of equal arithmetic, the head's counted")                             \
    X(FLOAT32_SHARDS, "sharded weights in float32, gathered in 16 bits (FSDP2)")                   \
    X(LAUNCH_BLOCKING, "CUDA_LAUNCH_BLOCKING=1 on more than 20 nodes")                             \
    X(WHOLE_TENSORS, "sharded optimizer by whole tensors: one broadcast per rank")                 \
    X(WIDE_INPUTS, "inputs of 8-bit multiplications kept in 16 bits (torchao)")                    \
    X(ENGINE_BUFFERS, "Transformer Engine's dummy weight gradients and workspaces")

enum {
#define CALC_X(name, text) CALC_RUN_TRAIT_INDEX_##name,
    CALC_RUN_TRAIT_LIST(CALC_X)
#undef CALC_X
        CALC_RUN_TRAITS
};
enum {
#define CALC_X(name, text) CALC_RUN_TRAIT_##name = 1 << CALC_RUN_TRAIT_INDEX_##name,
    CALC_RUN_TRAIT_LIST(CALC_X)
#undef CALC_X
};

/** One source. */
typedef struct calc_run_source {
    const char *prefix;   /**< its ids start with this */
    const char *contains; /**< and contain this; NULL: anything */
    int experts;          /**< 1: mixtures of experts only, -1: dense models only, 0: both */
    const char *name;     /**< of the group it forms */
    int traits;           /**< CALC_RUN_TRAIT_* */
    const char *reason;   /**< why its rows are not predicted; NULL: they are */
} calc_run_source;

/** Name of the sources that are not known. */
#define CALC_RUN_SOURCE_OTHER "other"

/** The source of a row: its own for an own run, otherwise the source that its id means; the last
 *  one of the table, CALC_RUN_SOURCE_OTHER, if none is known. */
const calc_run_source *calc_run_source_of(const calc_runs_row *row);

/** Who published the runs of a source, where independence is meant: "nvidia" for all tables of its
 *  software, recipes and clusters; else the first word of the source's name.
 *  @param length  filled with how many bytes of the text count */
const char *calc_run_source_publisher(const calc_run_source *source, size_t *length);

/** The sentence of one trait. */
const char *calc_run_source_assumption(int trait);

#endif
