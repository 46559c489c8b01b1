/** @file run_words.h  Free words of published tables: a reader of the cells `dtype`,
 * `zero_stage_fsdp`, `recompute` and `overlap` of a run. One reader for all sources: letters may be
 * large or small, words joined, spelt with a dash, an underscore, a dot or a blank ("HybridEP",
 * "hybrid-ep"). */
#ifndef CALC_VALIDATE_RUN_WORDS_H
#define CALC_VALIDATE_RUN_WORDS_H

#include "validate/runs.h"

/** The meanings of words: X(NAME). */
#define CALC_RUN_WORD_LIST(X)                                                                      \
    /* dtype */                                                                                    \
    X(FLOAT16)                                                                                     \
    X(FLOAT8)                                                                                      \
    X(FLOAT8_GATHER)                                                                               \
    X(FLOAT4)                                                                                      \
    X(BLOCK_SCALES)                                                                                \
    X(HALF_GRADIENTS) /* reduced in 16 bits; of overlap, too */                                    \
    /* zero_stage_fsdp */                                                                          \
    X(SHARDED_OPTIMIZER)                                                                           \
    X(SHARDED_GRADIENTS)                                                                           \
    X(SHARDED_WEIGHTS)                                                                             \
    X(SHARD_NODE)  /* a copy per node: PyTorch's HYBRID_SHARD */                                   \
    X(SHARD_GROUP) /* with the number of ranks that share a copy */                                \
    /* recompute */                                                                                \
    X(FULL)                                                                                        \
    X(BLOCKS) /* with their number in a stage */                                                   \
    X(SELECTIVE)                                                                                   \
    X(BY_OPERATOR)                                                                                 \
    X(CORE_ATTN)                                                                                   \
    X(LAYERNORM)                                                                                   \
    X(MLA_UP_PROJ)                                                                                 \
    X(MLP)                                                                                         \
    X(MOE_ACT)                                                                                     \
    X(SHARED_EXPERTS)                                                                              \
    X(MOE)                                                                                         \
    X(OFFLOAD)                                                                                     \
    /* overlap */                                                                                  \
    X(TENSOR_OVERLAP)                                                                              \
    X(GRADIENT_OVERLAP)                                                                            \
    X(GATHER_OVERLAP)                                                                              \
    X(MESSAGE_OVERLAP)                                                                             \
    X(EXPERT_OVERLAP)                                                                              \
    X(NODE_LIMITED)                                                                                \
    X(ULYSSES)                                                                                     \
    X(COMPILED)                                                                                    \
    X(GRAPHS)                                                                                      \
    X(FULL_GRAPH)                                                                                  \
    X(ENGINE_GRAPHS)                                                                               \
    X(ATTENTION_GRAPH)                                                                             \
    X(FUSED_EXPERTS)                                                                               \
    X(DELAYED_WGRAD)                                                                               \
    X(DEFERRED_WGRAD) /* of the head; with the number of micro-batches, 0: of all */               \
    X(FLOAT8_ATTENTION)                                                                            \
    X(STAGE_LIST) /* with the blocks of the first stage; the rest follows in the cell */

typedef enum calc_run_word {
#define CALC_X(name) CALC_RUN_WORD_##name,
    CALC_RUN_WORD_LIST(CALC_X)
#undef CALC_X
        CALC_RUN_WORDS,
    CALC_RUN_WORD_NOTHING = CALC_RUN_WORDS /**< of words that say nothing to the model */
} calc_run_word;

/** The statements in the cells of a run. */
typedef struct calc_run_words {
    bool on[CALC_RUN_WORDS];            /**< said */
    bool off[CALC_RUN_WORDS];           /**< denied: "no", "off", "=false" */
    const char *number[CALC_RUN_WORDS]; /**< digits behind the word, in the cell; NULL: none */
    char unread[80]; /**< that the first of the words that no table knows is not read, and its
                        column; "": all are read */
} calc_run_words;

/** Read the cells of a run. Words in no table count as not said. */
void calc_run_words_read(calc_run_words *out, const calc_runs_row *row);

/** The statement about a meaning: `unsaid` if there is none. A meaning both stated and denied
 *  counts as denied. */
bool calc_run_words_say(const calc_run_words *words, calc_run_word word, bool unsaid);

/** The number behind a word; 0: none. */
int64_t calc_run_words_number(const calc_run_words *words, calc_run_word word);

#endif
