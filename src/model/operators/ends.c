#include "model/operators/adapter.h"
#include "model/operators/processor.h"
#include "model/operators/transformer.h"

/* Embedding, head and loss, and what multi-token prediction adds. */

/* No time of theirs depends on the chip. */
static calc_build start_end(const calc_shape *shape, const calc_strategy *strategy,
                            calc_operator *out)
{
    return calc_build_start(&(calc_recipe){.shape = shape, .strategy = strategy}, out);
}

/* Streams beside the plain one begin behind the embedding, or end before the head: AltUp's are
 * projections of it, and become one by others; hyper-connections and residual attention end in a
 * weighted sum. */
static void add_streams_end(calc_build *b, bool begin)
{
    const calc_shape *s = b->shape;
    double n = s->streams;
    double bytes = b->kept * s->hidden * s->element_bytes;
    if (s->residual == CALC_RESIDUAL_TYPE_ALTUP) {
        calc_operator *o = calc_build_matrix(b, "streams projection", CALC_OPERATOR_MATRIX, 0,
                                             b->kept, s->hidden, (n - 1) * s->hidden, 1);
        calc_build_keep(o, (begin ? 1 : n - 1) * bytes, CALC_RECOMPUTE_ALL);
    } else if (!begin && (s->residual == CALC_RESIDUAL_TYPE_HYPER ||
                          s->residual == CALC_RESIDUAL_TYPE_ATTENTION)) {
        bool hyper = s->residual == CALC_RESIDUAL_TYPE_HYPER;
        double read = hyper ? n : s->blocks / n;
        calc_operator *o = calc_build_vector(b, "streams sum", 0, read * b->kept * s->hidden,
                                             (read + 1) * bytes, (2 * read + 1) * bytes);
        o->flop[CALC_PASS_FW] = 2 * read * (hyper ? n : 1) * b->kept * s->hidden;
        o->flop[CALC_PASS_AGRAD] = 2 * o->flop[CALC_PASS_FW];
        o->weights = hyper ? n * n * s->hidden + n + 1 : 2 * s->hidden;
        calc_build_keep(o, hyper ? n * bytes : bytes, CALC_RECOMPUTE_ALL);
    }
}

size_t calc_transformer_embedding(const calc_shape *shape, const calc_strategy *strategy,
                                  calc_operator *out)
{
    calc_build b = start_end(shape, strategy, out);
    if (shape->vocab == 0) {
        return 0;
    }
    double elements = b.tokens * shape->hidden;
    double bytes = elements * shape->element_bytes;
    /* A gather touches the rows of its tokens, not the table. */
    b.traffic = 1; /* one kernel either way */
    calc_operator *o =
        calc_build_vector(&b, "embedding", 0, elements, 2 * bytes + 8 * b.tokens, 2 * 4 * elements);
    o->weights =
        (shape->vocab / shape->tensor_par + (shape->learned ? shape->seq : 0)) * shape->hidden;
    calc_build_close_tensor_par(&b, "embedding reduction", 0);
    if (shape->layer_embedding > 0) {
        double all = shape->layer_embedding * shape->blocks;
        o = calc_build_vector(&b, "layer embeddings", 0, b.tokens * all,
                              2 * b.tokens * all * shape->element_bytes, 2 * 4 * b.tokens * all);
        o->weights = shape->layer_vocab / shape->tensor_par * all;
        o = calc_build_matrix(&b, "layer embeddings projection", CALC_OPERATOR_MATRIX, 0, b.kept,
                              shape->hidden, all, 1);
        o->weights += shape->layer_embedding;
        calc_build_keep(o, bytes, CALC_RECOMPUTE_ALL);
    }
    add_streams_end(&b, true);
    return b.count;
}

size_t calc_transformer_head(const calc_shape *shape, const calc_strategy *strategy, bool training,
                             calc_operator *out)
{
    calc_build b = start_end(shape, strategy, out);
    if (shape->vocab == 0) {
        return 0;
    }
    b.training = training;
    double words = shape->words / shape->tensor_par;
    double lossy = strategy->loss_share > 0 ? strategy->loss_share : 1; /* tokens */
    bool gathers = training && shape->tensor_par > 1 &&
                   calc_framework_takes(strategy, CALC_FRAMEWORK_MEM_LOGITS_GATHERED);
    double logits = b.tokens * lossy * (gathers ? shape->words : words); /* that a loss sees */
    double chunks = calc_max(1, (double)strategy->loss_chunks);
    add_streams_end(&b, false);
    calc_transformer_norm(&b, "final norm", 0);
    if (shape->headless) {
        return b.count;
    }
    calc_build_open_tensor_par(&b, "head gather", 0, shape->hidden);
    calc_operator *head = calc_build_matrix(&b, "head", CALC_OPERATOR_HEAD, 0, b.tokens * lossy,
                                            shape->hidden, words, 1);
    double input_bytes = b.kept * shape->hidden * shape->element_bytes;
    calc_build_keep(head, input_bytes, 0);
    if (training && strategy->memory_model == CALC_MEMORY_MODEL_MEGATRON) {
        /* At the peak, when its backward pass ends: the gradient of the input, of all tokens; that
         * input, gathered again; and the rank's share of the gradient. */
        double whole_bytes = b.tokens * shape->hidden * shape->element_bytes;
        bool gathered = b.sequence_par && shape->tensor_par > 1;
        calc_build_keep(head, gathered ? 2 * whole_bytes + input_bytes : whole_bytes, 0);
    }
    calc_adapter_add(&b, b.count - 1, CALC_ADAPTER_NAMES("head"),
                     &(calc_adapter_product){CALC_LORA_MODULES_HEAD, words}, 1);
    if (gathers) { /* each rank takes its share of the gradient without another word */
        calc_build_collective(&b, "logits gather", 0, CALC_IN_TENSOR, logits * shape->element_bytes,
                              CALC_OP_ALL_GATHER, CALC_OP_NONE);
    }
    bool fused = strategy->fused_cross_entropy;
    b.traffic = 1;
    /* Fused: read, and written in place; unfused: single precision copies in several kernels. */
    calc_operator *o = calc_build_vector(&b, "loss", 0, logits, (fused ? 4 : 14) * logits,
                                         (fused ? 4 : 14) * logits);
    calc_operator_passes(o->flop, 5 * logits, 2 * logits);
    /* Unfused, in both formats: Megatron-LM's loss and its gradient overwrite the single precision
     * copy (core/tensor_parallel/cross_entropy.py), PyTorch's make new ones. */
    bool copies = strategy->eager || calc_framework_takes(strategy, CALC_FRAMEWORK_MEM_LOSS_COPIES);
    double unfused_bytes = (copies ? 2 : 1) * (shape->element_bytes + 4);
    /* DTensor's, in the backward pass: logarithms of probabilities, the gradient of the choice, the
     * probabilities, and the sum of the last two (torch/distributed/tensor/parallel/loss.py). */
    bool parallel = calc_framework_takes(strategy, CALC_FRAMEWORK_MEM_LOSS_PARALLEL);
    unfused_bytes = parallel && !gathers && shape->tensor_par > 1 ? 4 * 4 : unfused_bytes;
    bool held = calc_framework_takes(strategy, CALC_FRAMEWORK_MEM_LOGITS_HELD);
    unfused_bytes += held && chunks == 1 ? 4 : 0; /* what runs in parts returns none */
    if (training && !fused && calc_framework_takes(strategy, CALC_FRAMEWORK_MEM_LOGPROBS)) {
        /* prime-rl, models/layers/lm_head.py: kernels of float32 for each part of the vocabulary,
         * 6 + 8 + 4 + 8 + 8 + 4 + 12 + 4 bytes a logit, and 6 + 5 * 8 + 6 + 6 in the backward pass,
         * which multiplies the part again and adds it to the gradient of the input. */
        head->flop[CALC_PASS_AGRAD] += head->flop[CALC_PASS_FW];
        head->bytes[CALC_PASS_AGRAD] += head->bytes[CALC_PASS_FW];
        calc_operator_passes(o->bytes, 54 * logits,
                             58 * logits + 6 * b.tokens * lossy * shape->hidden * chunks);
        unfused_bytes = 2 + 4 + 4 + 4 + 4 + 4; /* with two results of the part before */
    }
    calc_build_keep(o, (fused ? shape->element_bytes : unfused_bytes) * logits / chunks, 0);
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        head->launches[pass] *= chunks;
        o->launches[pass] *= chunks;
    }
    return b.count;
}

size_t calc_transformer_mtp(const calc_shape *shape, const calc_strategy *strategy,
                            calc_operator *out)
{
    calc_build b = start_end(shape, strategy, out);
    double hidden = shape->hidden;
    double elements = 2 * b.kept * hidden;
    double bytes = elements * shape->element_bytes;
    calc_operator *o = calc_build_vector(&b, "prediction norms", 0, elements, 2 * bytes, 3 * bytes);
    o->weights = 3 * (shape->rms ? 1 : 2) * hidden;
    calc_build_keep(o, bytes, CALC_RECOMPUTE_ALL);
    o = calc_build_matrix(&b, "prediction projection", CALC_OPERATOR_MATRIX, 0, b.kept, 2 * hidden,
                          hidden, 1);
    calc_build_keep(o, bytes, CALC_RECOMPUTE_ALL);
    return b.count;
}
