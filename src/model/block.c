#include "model/block.h"

#include <assert.h>

#include "model/processor.h"

/* A block under construction, with what its layers have in common. */
typedef struct builder {
    calc_layer_shape shape;
    calc_layer *layers;
    size_t count;
    double tokens; /* of a micro-batch */
    double hidden;
    double attn_width;      /* of all heads together */
    double key_value_width; /* of all keys; of all values */
    double elements;        /* of the residual stream */
    double kept_elements;   /* of it on one rank between communication steps */
    bool overlapped;
    bool recompute_all, recompute_attn;
} builder;

/* Short names for the flags. */
enum {
    RECOMPUTE = CALC_LAYER_RECOMPUTE,
    RECOMM = CALC_LAYER_RECOMM,
    REUSED = CALC_LAYER_ACTIVATION_REUSED,
    ACTIVATION_DROPPED = CALC_LAYER_ACTIVATION_RECOMPUTED,
    OUTPUT_DROPPED = CALC_LAYER_OUTPUT_RECOMPUTED
};

static unsigned when(bool condition, unsigned flags)
{
    return condition ? flags : 0;
}

/* Room for one more layer. */
static calc_layer *next(builder *b)
{
    assert(b->count < CALC_MAX_LAYERS);
    return &b->layers[b->count++];
}

static void add_projection(builder *b, const char *name, double columns)
{
    /* Its input is held by the fork before it. */
    calc_layer_linear(next(b), &b->shape, name,
                      when(b->recompute_all, RECOMPUTE) | REUSED | ACTIVATION_DROPPED, b->tokens,
                      b->hidden, columns);
}

/* Residual fork and layer norm, which open both halves of a block. */
static void add_entry(builder *b, const char *fork_name, const char *norm_name)
{
    unsigned recompute = when(b->recompute_all, RECOMPUTE);
    calc_layer_fork(next(b), &b->shape, fork_name, recompute, b->kept_elements, 2);
    calc_layer_norm(next(b), &b->shape, norm_name, recompute | REUSED | ACTIVATION_DROPPED,
                    b->kept_elements, b->hidden);
}

/* Dropout and residual sum, which close both halves. */
static void add_exit(builder *b, const char *dropout_name, const char *residual_name)
{
    unsigned recompute = when(b->recompute_all, RECOMPUTE);
    calc_layer_dropout(next(b), &b->shape, dropout_name, recompute, b->kept_elements);
    calc_layer_residual(next(b), &b->shape, residual_name, recompute | REUSED | ACTIVATION_DROPPED,
                        b->kept_elements);
}

/* The matrix multiplication that ends a half, and the reduction of its partial sums. */
static void add_output(builder *b, const char *linear_name, const char *comm_name,
                       const char *overlapped_name, double inner)
{
    unsigned recompute = when(b->recompute_all, RECOMPUTE);
    unsigned recomm = when(b->recompute_all, RECOMM);
    if (b->overlapped) {
        calc_layer_linear_overlapped(next(b), &b->shape, overlapped_name, recompute | recomm, true,
                                     b->tokens, inner, b->hidden);
        return;
    }
    calc_layer_linear(next(b), &b->shape, linear_name, recompute, b->tokens, inner / b->shape.ranks,
                      b->hidden);
    calc_layer_tensor_par_comm(next(b), &b->shape, comm_name, recomm | ACTIVATION_DROPPED, true,
                               b->elements);
}

static void add_query_key_value(builder *b, const calc_exec *exec)
{
    bool redo = b->recompute_attn || exec->seq_par_ag_redo;
    bool multiquery = exec->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY;
    double ranks = b->shape.ranks;
    unsigned gather_again = when(redo, RECOMM);
    unsigned fork_flags = when(redo, RECOMPUTE | ACTIVATION_DROPPED);
    if (b->overlapped) {
        const char *name = multiquery ? "AttnBlock_Query_AG" : "AttnBlock_QKV_AG";
        double columns = multiquery ? b->attn_width : b->attn_width * 3;
        calc_layer_linear_overlapped(next(b), &b->shape, name,
                                     when(b->recompute_all, RECOMPUTE) | gather_again, false,
                                     b->tokens, b->hidden, columns);
        if (!multiquery) {
            return;
        }
        calc_layer_fork(next(b), &b->shape, "AttnBlock_KV_Fork", fork_flags, b->elements, 2);
    } else {
        calc_layer_tensor_par_comm(next(b), &b->shape, "AttnBlock_F", gather_again, false,
                                   b->elements);
        calc_layer_fork(next(b), &b->shape, "AttnBlock_Multihead_Fork", fork_flags, b->elements, 3);
        add_projection(b, "AttnBlock_Query", b->attn_width / ranks);
    }
    /* The one key and value of multiquery attention is computed whole on every rank. */
    double columns = multiquery ? b->key_value_width : b->key_value_width / ranks;
    add_projection(b, "AttnBlock_Key", columns);
    add_projection(b, "AttnBlock_Value", columns);
}

static void add_attention(builder *b, const calc_app *app, const calc_exec *exec)
{
    double heads = (double)app->attn_heads / b->shape.ranks;
    double seq = (double)app->seq_size;
    double microbatch = (double)exec->microbatch_size;
    double size = (double)app->attn_size;
    double scores = heads * (seq * seq) * microbatch;
    unsigned recompute = when(b->recompute_attn, RECOMPUTE);
    unsigned dropped = recompute | when(b->recompute_attn, OUTPUT_DROPPED);

    add_entry(b, "AttnBlock_Fork", "AttnBlock_LayerNorm");
    add_query_key_value(b, exec);
    calc_layer_batch_matmul(next(b), &b->shape, "AttnBlock_Multihead_Key_Query", dropped,
                            microbatch * heads, seq, size, seq);
    calc_layer_softmax(next(b), &b->shape, "AttnBlock_Multihead_SoftMax", dropped, scores);
    calc_layer_dropout(next(b), &b->shape, "AttnBlock_Multihead_DropOut",
                       recompute | when(b->recompute_attn, ACTIVATION_DROPPED), scores);
    calc_layer_batch_matmul(next(b), &b->shape, "AttnBlock_Multihead_Attn",
                            when(b->recompute_all, RECOMPUTE), microbatch * heads, seq, seq, size);
    add_output(b, "AttnBlock_MLP", "AttnBlock_G", "AttnBlock_MLP_RS", b->attn_width);
    add_exit(b, "AttnBlock_DropOut", "AttnBlock_Residual");
}

static void add_mlp(builder *b, const calc_app *app, const calc_exec *exec)
{
    double feedforward = (double)app->feedforward;
    double ranks = b->shape.ranks;
    bool redo = b->recompute_all || exec->seq_par_ag_redo;
    unsigned recompute = when(b->recompute_all, RECOMPUTE);

    add_entry(b, "MlpBlock_Fork", "MlpBlock_LayerNorm");
    if (b->overlapped) {
        calc_layer_linear_overlapped(next(b), &b->shape, "MlpBlock_Mlp1_AG",
                                     recompute | when(redo, RECOMM), false, b->tokens, b->hidden,
                                     feedforward);
    } else {
        calc_layer_tensor_par_comm(next(b), &b->shape, "MlpBlock_F", when(redo, RECOMM), false,
                                   b->elements);
        calc_layer_linear(next(b), &b->shape, "MlpBlock_Mlp1",
                          recompute | when(redo, ACTIVATION_DROPPED), b->tokens, b->hidden,
                          feedforward / ranks);
    }
    calc_layer_gelu(next(b), &b->shape, "MlpBlock_GeLU", recompute, feedforward * b->tokens / ranks,
                    exec->fused_activation);
    add_output(b, "MlpBlock_Mlp2", "MlpBlock_G", "MlpBlock_Mlp2_RS", feedforward);
    add_exit(b, "MlpBlock_DropOut", "MlpBlock_Residual");
}

size_t calc_block_layers(const calc_app *app, const calc_exec *exec, calc_layer *out)
{
    double tokens = (double)exec->microbatch_size * (double)app->seq_size;
    double ranks = (double)exec->tensor_par;
    double elements = tokens * (double)app->hidden;
    bool sequence_par = exec->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    bool multiquery = exec->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY;
    double attn_width = (double)app->attn_heads * (double)app->attn_size;
    builder b = {
        .shape = {calc_datatype_bytes(exec->datatype), ranks, exec->tensor_par_comm_type},
        .layers = out,
        .tokens = tokens,
        .hidden = (double)app->hidden,
        .attn_width = attn_width,
        .key_value_width = multiquery ? (double)app->attn_size : attn_width,
        .elements = elements,
        .kept_elements = sequence_par ? elements / ranks : elements,
        .overlapped = exec->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE,
        .recompute_all = exec->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL,
        .recompute_attn = exec->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE,
    };
    add_attention(&b, app, exec);
    add_mlp(&b, app, exec);
    return b.count;
}

/* Arithmetic and memory traffic of one pass over a layer without communication. */
static calc_block_work work_of(const calc_tensor_par *tp, const calc_layer *layer, calc_stage stage)
{
    calc_block_work work = {
        .flop = layer->flop[stage],
        .flop_s = calc_tensor_par_flop_s(tp, layer, stage),
        .bytes = layer->bytes[stage],
        .mem_s = calc_tensor_par_mem_s(tp, layer, stage),
    };
    work.time_s = calc_processing_s(tp->mode, work.flop_s, work.mem_s);
    return work;
}

static void add_work(calc_block_work *sum, const calc_block_work *work)
{
    sum->flop += work->flop;
    sum->flop_s += work->flop_s;
    sum->bytes += work->bytes;
    sum->mem_s += work->mem_s;
    sum->time_s += work->time_s;
}

/* Communication of one pass over a layer that has some; corrects the time of `work` for it.
 * @param required_bytes_per_s  raised to what the layer needs to hide it */
static void comm_of(const calc_tensor_par *tp, const calc_layer *layer, calc_stage stage,
                    calc_block_work *work, calc_block_comm comm[CALC_BLOCK_PLACES],
                    double *required_bytes_per_s)
{
    for (calc_block_place place = CALC_BASE_BLOCK; place < CALC_BLOCK_PLACES; place++) {
        comm[place].bytes = calc_tensor_par_bytes(tp, layer, stage, place);
        comm[place].link_s = calc_tensor_par_link_s(tp, layer, stage, place);
        double required =
            calc_tensor_par_required_bytes_per_s(tp, layer, work->flop_s, stage, place);
        *required_bytes_per_s = calc_max(*required_bytes_per_s, required);
    }
    calc_tensor_par_times times = calc_tensor_par_overlapped(tp, layer, work->flop_s, work->mem_s,
                                                             comm[CALC_BASE_BLOCK].link_s);
    bool alone = layer->comm == CALC_LAYER_COMM_ALONE;
    work->time_s = times.processing_s;
    comm[CALC_BASE_BLOCK].exposed_s = times.exposed_s;
    comm[CALC_EDGE_BLOCK].exposed_s = alone ? comm[CALC_EDGE_BLOCK].link_s : times.exposed_s;
}

static void add_comm(calc_block_comm *sum, const calc_block_comm *comm)
{
    for (calc_block_place place = CALC_BASE_BLOCK; place < CALC_BLOCK_PLACES; place++) {
        sum[place].bytes += comm[place].bytes;
        sum[place].link_s += comm[place].link_s;
        sum[place].exposed_s += comm[place].exposed_s;
    }
}

/* The forward communication that the backward pass of a layer repeats.
 * @param fw  that communication */
static void add_recomm(const calc_tensor_par *tp, const calc_layer *layer,
                       const calc_block_comm *fw, calc_block_comm *sum)
{
    for (calc_block_place place = CALC_BASE_BLOCK; place < CALC_BLOCK_PLACES; place++) {
        double link_s = calc_tensor_par_link_s(tp, layer, CALC_STAGE_WGRAD, place);
        sum[place].bytes += calc_tensor_par_bytes(tp, layer, CALC_STAGE_WGRAD, place);
        sum[place].link_s += link_s;
        /* An overlapped layer hides as much of the repetition as of the forward pass. */
        sum[place].exposed_s += layer->comm == CALC_LAYER_COMM_ALONE ? link_s : fw[place].exposed_s;
    }
}

/* The forward pass of a layer, and what the backward pass repeats of it. */
static void add_forward(const calc_tensor_par *tp, const calc_layer *layer, bool training,
                        calc_compat compat, calc_block *out)
{
    calc_block_work work = work_of(tp, layer, CALC_STAGE_FW);
    if (layer->comm != CALC_LAYER_COMM_NONE) {
        calc_block_comm comm[CALC_BLOCK_PLACES];
        comm_of(tp, layer, CALC_STAGE_FW, &work, comm, &out->required_bytes_per_s);
        add_comm(out->fw_comm, comm);
        if (training && layer->flags & CALC_LAYER_RECOMM) {
            add_recomm(tp, layer, comm, out->recomm);
        }
    }
    add_work(&out->fw, &work);
    if (training && layer->flags & CALC_LAYER_RECOMPUTE) {
        if (compat == CALC_COMPAT_CALCULON) {
            double time_s = work.time_s;
            work = out->fw;
            work.time_s = time_s;
        }
        add_work(&out->recompute, &work);
    }
}

/* The two backward passes of a layer. */
static void add_backward(const calc_tensor_par *tp, const calc_layer *layer, calc_block *out)
{
    calc_block_work agrad = work_of(tp, layer, CALC_STAGE_AGRAD);
    calc_block_work wgrad = {0};
    if (layer->weights > 0) {
        wgrad = work_of(tp, layer, CALC_STAGE_WGRAD);
    }
    if (layer->comm != CALC_LAYER_COMM_NONE) {
        calc_block_comm comm[CALC_BLOCK_PLACES];
        comm_of(tp, layer, CALC_STAGE_AGRAD, &agrad, comm, &out->required_bytes_per_s);
        add_comm(out->agrad_comm, comm);
        double unused = 0;
        comm_of(tp, layer, CALC_STAGE_WGRAD, &wgrad, comm, &unused);
    }
    add_work(&out->agrad, &agrad);
    add_work(&out->wgrad, &wgrad);
}

void calc_block_profile(const calc_app *app, const calc_system *system, const calc_exec *exec,
                        calc_compat compat, const calc_layer *layers, size_t count, calc_block *out)
{
    *out = (calc_block){0};
    calc_tensor_par tp = calc_tensor_par_of(system, exec);
    for (size_t i = 0; i < count; i++) {
        const calc_layer *layer = &layers[i];
        add_forward(&tp, layer, exec->training, compat, out);
        out->weight_bytes += layer->weight_bytes;
        bool reused = layer->flags & CALC_LAYER_ACTIVATION_REUSED;
        out->activation_working_bytes += reused ? 0 : layer->activation_bytes;
        out->activation_storage_bytes += layer->activation_bytes;
        if (!exec->training) {
            continue;
        }
        add_backward(&tp, layer, out);
        bool no_output = layer->flags & CALC_LAYER_OUTPUT_RECOMPUTED;
        bool no_activation = layer->flags & CALC_LAYER_ACTIVATION_RECOMPUTED;
        out->activation_storage_bytes -= no_output ? layer->output_bytes : 0;
        out->activation_storage_bytes -= no_activation ? layer->activation_bytes : 0;
        out->weight_grad_bytes += layer->weights * 4;
        out->activation_grad_bytes += layer->activation_grad_bytes;
    }
    if (exec->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL) {
        /* Everything is recomputed from the block's input. */
        out->activation_storage_bytes = 0;
        out->checkpoint_bytes = (double)exec->microbatch_size * (double)app->seq_size *
                                (double)app->hidden * calc_datatype_bytes(exec->datatype);
    }
}
