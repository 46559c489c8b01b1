#include "model/operators/encoder.h"

#include "model/operators/adapter.h"
#include "model/operators/processor.h"
#include "model/operators/transformer.h"

const char calc_encoder_part[] = "encoder";

double calc_encoder_patches(const calc_encoder *encoder, const calc_strategy *strategy)
{
    return (double)(strategy->patches_per_image > 0 ? strategy->patches_per_image
                                                    : encoder->patches);
}

/* The layout of an encoder: whole on every rank, and as wide as activations. */
static calc_strategy alone(const calc_strategy *strategy)
{
    calc_strategy s = *strategy;
    s.tensor_par = s.context_par = s.expert_par = s.expert_tensor_par = 1;
    s.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    s.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    s.attention_type = CALC_ATTENTION_TYPE_MULTIHEAD;
    s.matrix_datatype = CALC_FORMAT_AUTO;
    s.lora_rank = 0;
    s.packed_size = 0;
    s.mlp_tiles = 0;
    return s;
}

/* A stack of blocks over the images of a micro-batch, or of one where there are none. */
static calc_shape shape_of(const calc_shape *model, const calc_strategy *own)
{
    const calc_encoder *e = model->encoder;
    double patches = calc_max(1, calc_encoder_patches(e, own));
    const calc_app app = {
        .hidden = e->hidden,
        .feedforward = e->feedforward,
        .seq_size = (int64_t)patches,
        .attn_heads = e->attn_heads,
        .attn_size = e->attn_size > 0 ? e->attn_size : e->hidden / e->attn_heads,
        .num_blocks = e->num_blocks,
        .ffn_type = e->ffn_type == CALC_FFN_TYPE_AUTO ? CALC_FFN_TYPE_GELU : e->ffn_type,
        .norm_type = e->norm_type == CALC_NORM_TYPE_AUTO ? CALC_NORM_TYPE_LAYER : e->norm_type,
        .norm_place = e->norm_place,
        .position_type = e->position_type == CALC_POSITION_TYPE_AUTO ? CALC_POSITION_TYPE_NONE
                                                                     : e->position_type,
        .bias = e->bias == CALC_CHOICE_AUTO ? CALC_CHOICE_TRUE : e->bias,
        .dropout = CALC_CHOICE_FALSE,
        .qk_norm = e->qk_norm,
    };
    calc_shape s = calc_shape_of(&app, own, 1, 0);
    double images = model->microbatch * own->images_per_sequence;
    double full = calc_min(s.blocks, (double)e->full_blocks);
    if (e->window > 0 && (double)e->window < patches) { /* what a patch attends to, the mean */
        s.packed = (full * patches + (s.blocks - full) * (double)e->window) / s.blocks;
    }
    s.microbatch = images > 0 ? images : 1;
    s.tokens = s.microbatch * patches;
    return s;
}

/* A matrix with all that it keeps: its input. */
static void add_matrix(calc_build *b, const char *name, double rows, double inner, double columns,
                       bool bias, double copies)
{
    calc_operator *o = calc_build_matrix(b, name, CALC_OPERATOR_MATRIX, 0, rows, inner, columns, 1);
    o->weights += bias ? columns : 0;
    o->without = 1 - copies;
    calc_build_keep(o, rows * inner * b->shape->element_bytes, CALC_RECOMPUTE_ALL);
}

static void add_projector(calc_build *b, const calc_encoder *e, double hidden)
{
    double merge = calc_max(1, (double)e->merge);
    double rows = b->tokens / merge / calc_max(1, (double)e->pool);
    double width = (double)e->hidden * merge;
    double copies = calc_max(1, (double)e->projectors);
    if (e->merge_matrix) {
        add_matrix(b, "patch merger", rows, width, (double)e->hidden, false, copies);
        width = (double)e->hidden;
    }
    for (int64_t i = 0; i < e->projector_layers; i++) {
        double wide = e->projector_width > 0 ? (double)e->projector_width : hidden;
        add_matrix(b, "projector layer", rows, width, wide, e->projector_bias, copies);
        double bytes = rows * wide * b->shape->element_bytes;
        calc_operator *o =
            calc_build_vector(b, "projector activation", 0, rows * wide, 2 * bytes, 3 * bytes);
        o->without = 1 - copies;
        calc_build_keep(o, bytes, CALC_RECOMPUTE_ALL);
        width = wide;
    }
    add_matrix(b, "projector", rows, width, hidden, e->projector_bias, copies);
}

/* Operators, none of them frozen; `tower` of them are before the projector's. */
static size_t list(const calc_recipe *recipe, calc_operator *out, size_t *tower)
{
    const calc_encoder *e = recipe->shape->encoder;
    const calc_strategy own = alone(recipe->strategy);
    const calc_shape s = shape_of(recipe->shape, &own);
    calc_recipe r = *recipe;
    r.kind = CALC_DENSE_BLOCK;
    r.shape = &s;
    r.strategy = &own;
    r.context_inner = 1;
    size_t count = calc_transformer_block(&r, out);
    for (size_t i = 0; i < count; i++) {
        out[i].without = 1 - s.blocks;
    }
    calc_build b = calc_build_start(&r, out);
    b.count = count;
    add_matrix(&b, "patch embedding", b.tokens, (double)e->patch_values, s.hidden, false, 1);
    out[b.count - 1].weights += (double)e->positions * s.hidden + (double)e->other_weights;
    *tower = b.count;
    add_projector(&b, e, recipe->shape->hidden);
    for (size_t i = 0; i < b.count; i++) {
        calc_operator *o = &out[i];
        o->part = calc_encoder_part;
        if (recipe->strategy->images_per_sequence <= 0) {
            out[i] = (calc_operator){.name = o->name,
                                     .kind = o->kind,
                                     .without = o->without,
                                     .part = o->part,
                                     .weights = o->weights};
        }
    }
    return b.count;
}

size_t calc_encoder_list(const calc_recipe *recipe, size_t begun, calc_operator *out)
{
    size_t tower;
    if (!recipe->shape->encoder) {
        return begun;
    }
    size_t count = list(recipe, out + begun, &tower);
    calc_adapter_freeze(recipe->shape, recipe->strategy, recipe->training, CALC_FROZEN_ENCODER, out,
                        begun, begun + tower);
    calc_adapter_freeze(recipe->shape, recipe->strategy, recipe->training, CALC_FROZEN_PROJECTOR,
                        out, begun + tower, begun + count);
    return begun + count;
}

double calc_encoder_checkpoint_bytes(const calc_shape *shape, const calc_strategy *strategy)
{
    const calc_encoder *e = shape->encoder;
    bool backward = strategy->trained == CALC_TRAINED_ALL &&
                    strategy->encoder_trained == CALC_ENCODER_TRAINED_ALL;
    return e && backward ? shape->microbatch * strategy->images_per_sequence *
                               calc_encoder_patches(e, strategy) *
                               (double)(e->hidden * e->num_blocks) * shape->element_bytes
                         : 0;
}

/* What a sequence has of each operator: weights that are trained, and all; arithmetic. */
typedef struct sums {
    double trained, all;
    double flop; /* forward, and twice that for what is trained */
} sums;

static sums sum(const calc_shape *shape, const calc_strategy *strategy, bool training)
{
    static const calc_chip chip; /* no time is asked for */
    calc_operator item[CALC_MAX_OPERATORS];
    sums s = {0, 0, 0};
    if (!shape->encoder) {
        return s;
    }
    calc_shape one = *shape;
    one.microbatch = 1;
    const calc_recipe recipe = {
        .shape = &one, .chip = &chip, .strategy = strategy, .training = training};
    size_t tower;
    size_t count = list(&recipe, item, &tower);
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &item[i];
        bool trained =
            training && strategy->trained == CALC_TRAINED_ALL &&
            (strategy->encoder_trained == CALC_ENCODER_TRAINED_ALL ||
             (i >= tower && strategy->encoder_trained == CALC_ENCODER_TRAINED_PROJECTOR));
        double share = calc_operator_share(o);
        s.all += share * o->weights;
        s.trained += trained ? share * o->weights : 0;
        s.flop +=
            o->kind == CALC_OPERATOR_VECTOR ? 0 : share * o->flop[CALC_PASS_FW] * (trained ? 3 : 1);
    }
    return s;
}

double calc_encoder_weights(const calc_shape *shape, const calc_strategy *strategy, bool trained)
{
    sums s = sum(shape, strategy, true);
    return trained ? s.trained : s.all;
}

double calc_encoder_flop(const calc_shape *shape, const calc_strategy *strategy, bool training)
{
    return sum(shape, strategy, training).flop;
}
