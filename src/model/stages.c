#include "model/stages.h"

#include <math.h>

#include "model/processor.h"
#include "spec/format.h"

/* What the documentation of overlap_shares.fields.h gives for absent shares. */
#define DATA_PAR_WINDOW 0.7
#define PIPELINE_PAR_HIDDEN 0.85
/* Gradients of the last bucket have nothing left to hide behind. */
#define LAST_BUCKET 0.03
/* Host work that is left when a graph launches the kernels. */
#define GRAPH_LEAVES 0.1
#define RECOMPUTE_GROWTH 0.5

/* ---- Blocks of stages ------------------------------------------------------------------------ */

static bool whole(double x)
{
    return x == floor(x);
}

/* Blocks of the first, most and last stages, when some of them are given. */
static bool given_ends(const calc_exec *e, double blocks, double p, double *first, double *middle,
                       double *last)
{
    double rest = blocks;
    double even = p;
    *first = (double)e->first_stage_blocks;
    *last = (double)e->last_stage_blocks;
    if (p < 2) {
        return false;
    }
    rest -= *first + *last;
    even -= (*first > 0) + (*last > 0);
    *middle = even > 0 ? rest / even : 0;
    *first = *first > 0 ? *first : *middle;
    *last = *last > 0 ? *last : *middle;
    return even > 0 ? whole(*middle) && *middle >= 0 : rest == 0;
}

/* @param others  what counts as blocks beside them in the chunks of a stage */
static void add_class(calc_stages *s, double stages, double blocks, double others)
{
    if (stages <= 0) {
        return;
    }
    double position = 0;
    for (size_t i = 0; i < s->count; i++) {
        position += s->item[i].stages;
    }
    s->item[s->count++] =
        (calc_stage_class){.stages = stages, .position = position, .dense = blocks};
    s->fit = s->fit && blocks > 0 && (s->ends_spread || whole((blocks + others) / s->chunks));
    s->most_blocks = calc_max(s->most_blocks, blocks);
}

/* Which blocks have experts: the first chunk of the first stage begins with dense ones; what is
 * left of them is spread evenly, as are blocks without experts further on. */
static void set_kinds(calc_stages *s, const calc_shape *shape)
{
    if (shape->experts == 0) {
        return;
    }
    double moe = calc_shape_moe_blocks(shape);
    double dense = shape->blocks - moe;
    double prefix = shape->dense_blocks;
    double per_chunk = s->item[0].dense / s->chunks;
    bool alone = !s->ends_spread && prefix > 0 && s->stages > 1 && shape->moe_every == 1;
    double held = alone ? (prefix < per_chunk ? prefix : per_chunk) : 0;
    double first_blocks = alone ? s->item[0].dense : 0;
    double rest_share =
        shape->blocks > first_blocks ? (dense - held) / (shape->blocks - first_blocks) : 0;
    for (size_t i = 0; i < s->count; i++) {
        calc_stage_class *c = &s->item[i];
        double blocks = c->dense;
        double mine = alone && i == 0 ? held : blocks * rest_share;
        c->dense = mine;
        c->moe = blocks - mine;
    }
}

/* The first class is one stage, so that it may have the embedding; so is the last. */
calc_stages calc_stages_split(const calc_shape *shape, const calc_exec *exec)
{
    double p = (double)exec->pipeline_par;
    double blocks = shape->blocks;
    calc_stages s = {
        .stages = p,
        .chunks = (double)exec->pipeline_interleaving,
        .microbatches = (double)(exec->batch_size / exec->data_par / exec->microbatch_size),
        .ends_spread = exec->pipeline_balance == CALC_PIPELINE_BALANCE_FREE && p > 1,
        .fit = true,
    };
    double first;
    double middle;
    double last;
    if (p == 1) {
        add_class(&s, 1, blocks, 0);
        s.fit = true;
    } else if (exec->first_stage_blocks > 0 || exec->last_stage_blocks > 0) {
        bool fits = given_ends(exec, blocks, p, &first, &middle, &last);
        add_class(&s, 1, first, 0);
        add_class(&s, p - 2, middle, 0);
        add_class(&s, 1, last, 0);
        s.fit = s.fit && fits;
    } else if (s.ends_spread) {
        add_class(&s, 1, blocks / p, 0);
        add_class(&s, p - 2, blocks / p, 0);
        add_class(&s, 1, blocks / p, 0);
        s.fit = blocks >= p;
    } else {
        double ends = exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS ? 1 : 0;
        double all = blocks + 2 * ends;
        double low = floor(all / p);
        double more = all - low * p; /* stages with one block more: the first ones */
        add_class(&s, 1, low + (more > 0) - ends, ends);
        add_class(&s, calc_max(0, more - 1), low + 1, 0);
        add_class(&s, p - 1 - calc_max(1, more), low, 0);
        add_class(&s, 1, low - ends, ends);
    }
    s.item[0].first = true;
    s.item[s.count - 1].last = true;
    set_kinds(&s, shape);
    return s;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

/* What the host needs to issue a block, forward and backward. Graphs launch most of it; ranks of
 * tensor parallelism meet at every collective, so the slowest host sets the pace. */
static double host_s(const calc_cost_context *c, calc_block_kind kind)
{
    const calc_host *h = &c->system->host;
    const calc_exec *e = c->exec;
    bool full = e->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    bool narrow = c->shape->matrix_bytes < c->shape->element_bytes;
    double issued_s = h->block_s + (kind == CALC_MOE_BLOCK ? h->moe_block_s : 0);
    double quantized_s = kind == CALC_MOE_BLOCK && narrow
                             ? h->expert_s * c->shape->experts / c->shape->expert_par
                             : 0;
    double again = full ? 1 + calc_share_or(h->recompute_growth, RECOMPUTE_GROWTH) : 1;
    double ranks = c->shape->tensor_par;
    double meet = ranks > 4 ? 1 + h->tensor_par_growth * log2(ranks / 4) : 1;
    double once = e->training ? 1 : 1.0 / 3;
    return (issued_s * (1 - (1 - GRAPH_LEAVES) * e->cuda_graph) + quantized_s) * again * meet *
           once;
}

/* Host and processor take turns in being behind, kernel by kernel, so that a block takes longer
 * than the longer of the two sums: by 12 % where they are equal. A norm of sixth power stands for
 * that.
 * @param host  host time of a block over that of its processor
 * @return factor on the latter */
static double host_wait(double host)
{
    double squared = host * host;
    return cbrt(sqrt(1 + squared * squared * squared));
}

void calc_stage_parts_of(const calc_cost_context *c, calc_stage_parts *out)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    const calc_shape *shape = c->shape;
    unsigned recompute = calc_transformer_recompute(c->exec);
    *out = (calc_stage_parts){0};
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        bool used = kind == CALC_MOE_BLOCK ? shape->experts > 0
                                           : calc_shape_moe_blocks(shape) < shape->blocks;
        if (used) {
            size_t count = calc_transformer_block(shape, c->system, c->exec, kind, operators);
            calc_cost_sum(c, operators, count, recompute, &out->block[kind]);
            out->host_s[kind] = host_s(c, kind);
        }
    }
    size_t count = calc_transformer_embedding(shape, c->exec, operators);
    calc_cost_sum(c, operators, count, 0, &out->embedding);
    count = calc_transformer_head(shape, c->exec, operators);
    calc_cost_sum(c, operators, count, 0, &out->head);
    if (shape->mtp_blocks > 0) {
        count = calc_transformer_mtp(shape, c->exec, operators);
        calc_cost_sum(c, operators, count, 0, &out->mtp);
    }
    double scattered =
        c->exec->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR ? 1 : shape->tensor_par;
    out->message_bytes = c->exec->pipeline_par > 1
                             ? shape->tokens * shape->hidden * shape->element_bytes / scattered
                             : 0;
}

/* ---- State ----------------------------------------------------------------------------------- */

int64_t calc_zero_stage(const calc_exec *exec)
{
    return exec->zero_stage > 0 ? exec->zero_stage : exec->optimizer_sharding;
}

calc_state_bytes calc_state_bytes_of(const calc_exec *e, const calc_shape *shape)
{
    double master = shape->weight_bytes < 4 ? 4 : 0;
    return (calc_state_bytes){
        .weight = shape->weight_bytes,
        .grad = shape->grad_bytes,
        .reduced = calc_format_bytes_or(e->grad_reduce_datatype, shape->grad_bytes),
        .master = calc_format_bytes_or(e->master_datatype, master),
        .moment = calc_format_bytes_or(e->optimizer_moment_datatype, 4),
    };
}

/* Blocks of the kind that multi-token prediction repeats. */
static calc_block_kind last_kind(const calc_shape *shape)
{
    return shape->experts > 0 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK;
}

calc_stage_weights calc_stage_weights_of(const calc_stage_parts *parts, const calc_stages *stages,
                                         const calc_shape *shape, size_t index)
{
    const calc_stage_class *c = &stages->item[index];
    const calc_cost *dense = &parts->block[CALC_DENSE_BLOCK];
    const calc_cost *moe = &parts->block[CALC_MOE_BLOCK];
    calc_stage_weights w = {
        .dense = c->dense * dense->dense_weights + c->moe * moe->dense_weights,
        .expert = c->moe * moe->expert_weights,
    };
    bool both = c->first && c->last;
    if (stages->ends_spread) {
        w.dense += (parts->embedding.dense_weights + parts->head.dense_weights) / stages->stages;
        return w;
    }
    w.dense += c->first ? parts->embedding.dense_weights : 0;
    if (c->last) {
        /* One table for both ends if they are tied and on the same stage. */
        w.dense +=
            parts->head.dense_weights - (shape->tied && both ? parts->embedding.dense_weights : 0);
        const calc_cost *extra = &parts->block[last_kind(shape)];
        w.dense += shape->mtp_blocks * (parts->mtp.dense_weights + extra->dense_weights);
        w.expert += shape->mtp_blocks * extra->expert_weights;
    }
    return w;
}

/* Replicas that share the state of dense and of expert weights. */
static void sharding(const calc_cost_context *c, double *dense, double *expert)
{
    double limit = c->exec->fsdp_par > 0 ? (double)c->exec->fsdp_par : INFINITY;
    *dense = c->groups.dense_data.ranks < limit ? c->groups.dense_data.ranks : limit;
    *expert = c->groups.expert_data.ranks < limit ? c->groups.expert_data.ranks : limit;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

double calc_stage_in_flight(calc_pipeline_schedule schedule, double position, double p, double v,
                            double m)
{
    double held;
    switch (schedule) {
    case CALC_PIPELINE_SCHEDULE_GPIPE:
        return m;
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
    case CALC_PIPELINE_SCHEDULE_ZB_V:
        held = p;
        break;
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
        held = 2 * (p - position) - 1;
        break;
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V:
        held = p + 1;
        break;
    default:
        if (v > 1) {
            double chunks = (v - 1) * p + 2 * (p - 1 - position) + 1;
            return (chunks < m * v ? chunks : m * v) / v;
        }
        held = p - position;
    }
    return held < m ? held : m;
}

/* Copies of weights that TransformerEngine keeps as a dummy gradient: one per shape of a matrix. */
static double framework_bytes(const calc_cost_context *c, const calc_stage_class *class)
{
    enum { MOST = 2 * CALC_MAX_OPERATORS };
    if (!(c->exec->framework_mem >> CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD & 1)) {
        return 0;
    }
    calc_operator operators[CALC_MAX_OPERATORS];
    double seen[MOST];
    size_t shapes = 0;
    double sum = 0;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        if ((kind == CALC_MOE_BLOCK ? class->moe : class->dense) == 0) {
            continue;
        }
        size_t count = calc_transformer_block(c->shape, c->system, c->exec, kind, operators);
        for (size_t i = 0; i < count; i++) {
            const calc_operator *o = &operators[i];
            double one = o->weights;
            if (o->kind == CALC_OPERATOR_GROUPED) {
                one /= c->shape->experts / c->shape->expert_par;
            } else if (o->kind != CALC_OPERATOR_MATRIX) {
                continue;
            }
            size_t k = 0;
            while (k < shapes && seen[k] != one) {
                k++;
            }
            if (k == shapes) {
                seen[shapes++] = one;
                sum += one;
            }
        }
    }
    if (class->last) {
        sum += c->shape->vocab / c->shape->tensor_par * c->shape->hidden;
    }
    return sum * c->shape->element_bytes;
}

/* Activations of the stage's blocks for one micro-batch; some blocks may not recompute. */
static double stored_bytes(const calc_cost_context *c, const calc_stage_parts *parts,
                           const calc_stage_class *class, double kept_share)
{
    const calc_cost *dense = &parts->block[CALC_DENSE_BLOCK];
    const calc_cost *moe = &parts->block[CALC_MOE_BLOCK];
    double lean = class->dense * dense->kept_bytes + class->moe * moe->kept_bytes;
    double rich = class->dense * dense->kept_whole_bytes + class->moe * moe->kept_whole_bytes;
    if (class->last && c->shape->mtp_blocks > 0) {
        const calc_cost *extra = &parts->block[last_kind(c->shape)];
        double more = c->shape->mtp_blocks * parts->mtp.kept_bytes;
        lean += more + c->shape->mtp_blocks * extra->kept_bytes;
        rich += more + c->shape->mtp_blocks * extra->kept_whole_bytes;
    }
    return kept_share * rich + (1 - kept_share) * lean;
}

/* Blocks of a stage that do not recompute, of all. */
static double rich_share(const calc_exec *e, double blocks)
{
    if (e->recompute_blocks == 0 || blocks <= 0) {
        return 0;
    }
    double lean = (double)e->recompute_blocks;
    return lean < blocks ? 1 - lean / blocks : 0;
}

static void add_state(const calc_cost_context *c, const calc_stage_weights *w,
                      const calc_stage_class *class, calc_stage_memory *out)
{
    const calc_exec *e = c->exec;
    calc_state_bytes b = calc_state_bytes_of(e, c->shape);
    double dense;
    double expert;
    sharding(c, &dense, &expert);
    int64_t zero = calc_zero_stage(e);
    double all = w->dense + w->expert;
    double shared = w->dense / dense + w->expert / expert;
    double blocks = calc_max(1, class->dense + class->moe);
    double copies = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ? 2 : 1;
    /* Sharded weights are gathered block by block, one ahead. */
    out->weight = copies * b.weight * (zero >= 3 ? shared + 2 * all / blocks : all);
    if (!e->training) {
        return;
    }
    bool calculon = e->memory_model == CALC_MEMORY_MODEL_CALCULON;
    bool partly = zero >= 2 || (calculon && zero >= 1);
    /* Gradients of the block at hand are whole. */
    out->grad = copies * (partly ? b.grad * shared + 4 * all / blocks : b.grad * all);
    out->optimizer = (b.master + 2 * b.moment) * (zero >= 1 ? shared : all);
}

calc_stage_memory calc_stage_memory_of(const calc_cost_context *c, const calc_stage_parts *parts,
                                       const calc_stages *stages, size_t index)
{
    const calc_exec *e = c->exec;
    const calc_stage_class *class = &stages->item[index];
    calc_stage_memory out = {0};
    calc_stage_weights w = calc_stage_weights_of(parts, stages, c->shape, index);
    add_state(c, &w, class, &out);
    double rich = rich_share(e, class->dense + class->moe);
    const calc_cost *dense = &parts->block[CALC_DENSE_BLOCK];
    const calc_cost *moe = &parts->block[CALC_MOE_BLOCK];
    double dense_gap = class->dense > 0 ? dense->kept_whole_bytes - dense->kept_bytes : 0;
    double moe_gap = class->moe > 0 ? moe->kept_whole_bytes - moe->kept_bytes : 0;
    if (e->training) {
        out.in_flight = calc_stage_in_flight(e->pipeline_schedule, class->position, stages->stages,
                                             stages->chunks, stages->microbatches);
        out.activation = stored_bytes(c, parts, class, rich) * out.in_flight;
        /* What recomputation does not store exists for the block at hand. */
        out.working = calc_max(dense_gap, moe_gap) * (rich < 1);
        out.ends = class->last ? parts->head.kept_bytes * (1 + c->shape->mtp_blocks) : 0;
        out.framework = framework_bytes(c, class);
    } else {
        out.working = calc_max(dense->kept_whole_bytes, moe->kept_whole_bytes);
        out.ends = class->last ? parts->head.kept_bytes : 0;
    }
    out.total = out.weight + out.grad + out.optimizer + out.activation + out.working + out.ends +
                out.framework;
    return out;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Communication of sharded weights in a block: the gathers of a pass hide behind it, and slow what
 * they run beside. */
typedef struct sharded {
    double fw_s, bw_s; /* exposed */
    double link_s;
} sharded;

/* Time to reduce (or gather) elements of the dense and expert groups. */
static double data_op_s(const calc_cost_context *c, calc_collective_op op, double dense_bytes,
                        double expert_bytes)
{
    double s = calc_collective_s(c->system, op, &c->groups.dense_data, dense_bytes) +
               calc_collective_s(c->system, op, &c->groups.expert_data, expert_bytes);
    return s;
}

/* The same where shards are spread over fsdp_par ranks only and replicated beyond. */
static double shard_op_s(const calc_cost_context *c, calc_collective_op op, double dense_bytes,
                         double expert_bytes)
{
    double limit = (double)c->exec->fsdp_par;
    calc_group dense = c->groups.dense_data;
    calc_group expert = c->groups.expert_data;
    if (limit <= 0 || limit >= dense.ranks) {
        return data_op_s(c, op, dense_bytes, expert_bytes);
    }
    calc_group dense_out = {dense.ranks / limit, dense.stride * limit, dense.network};
    dense.ranks = limit;
    double expert_in = expert.ranks < limit ? expert.ranks : limit;
    calc_group expert_out = {expert.ranks / expert_in, expert.stride * expert_in, expert.network};
    expert.ranks = expert_in;
    double s = calc_collective_s(c->system, op, &dense, dense_bytes) +
               calc_collective_s(c->system, op, &expert, expert_bytes);
    if (op == CALC_OP_REDUCE_SCATTER) {
        s +=
            calc_collective_s(c->system, CALC_OP_ALL_REDUCE, &dense_out, dense_bytes / limit) +
            calc_collective_s(c->system, CALC_OP_ALL_REDUCE, &expert_out, expert_bytes / expert_in);
    }
    return s;
}

/* What of `link_s` is exposed beside a window, and what it costs the window. */
static double exposed_s(const calc_cost_context *c, double link_s, double window_s, double least_s)
{
    const calc_overlap_shares *o = &c->system->overlap;
    double usable = calc_share_or(o->data_par, DATA_PAR_WINDOW);
    double beside_s = link_s < window_s ? link_s : window_s;
    return calc_max(least_s, link_s - usable * window_s) + o->contention * beside_s;
}

static sharded sharded_block(const calc_cost_context *c, const calc_cost *block)
{
    sharded out = {0};
    int64_t zero = calc_zero_stage(c->exec);
    if (zero < 3 || c->groups.dense_data.ranks <= 1) {
        return out;
    }
    calc_state_bytes b = calc_state_bytes_of(c->exec, c->shape);
    double gather_s = shard_op_s(c, CALC_OP_ALL_GATHER, b.weight * block->dense_weights,
                                 b.weight * block->expert_weights);
    double reduce_s = c->exec->training
                          ? shard_op_s(c, CALC_OP_REDUCE_SCATTER, b.reduced * block->dense_weights,
                                       b.reduced * block->expert_weights)
                          : 0;
    out.fw_s = exposed_s(c, gather_s, calc_cost_fw_s(block), 0);
    if (c->exec->training) {
        out.bw_s = exposed_s(c, gather_s + reduce_s, calc_cost_agrad_s(block) + block->wgrad_s, 0);
    }
    out.link_s = (c->exec->training ? 2 : 1) * gather_s + reduce_s;
    return out;
}

/* Add `blocks` blocks of a kind to a stage. */
static void add_blocks(const calc_cost_context *c, const calc_cost *b, double host, double blocks,
                       double re_share, calc_stage_time *t)
{
    if (blocks <= 0) {
        return;
    }
    sharded s = sharded_block(c, b);
    double repeated_s = b->tensor.re_exposed_s + b->context.re_exposed_s + b->expert.re_exposed_s;
    double skipped_s = (1 - re_share) * (b->re_s + repeated_s);
    double fw_s = calc_cost_fw_s(b) + s.fw_s;
    double agrad_s = calc_cost_agrad_s(b) + s.bw_s - skipped_s;
    double all_s = fw_s + agrad_s + b->wgrad_s;
    /* A block cannot run faster than the host issues it: every pass waits in proportion. */
    double slow = all_s > 0 ? host_wait(host / all_s) : 1;
    t->fw_s += blocks * fw_s * slow;
    t->agrad_s += blocks * agrad_s * slow;
    t->wgrad_s += blocks * b->wgrad_s * slow;
    t->kernel_fw_s += blocks * b->fw_s;
    t->kernel_bw_s += blocks * (b->agrad_s + b->wgrad_s);
    t->kernel_re_s += blocks * b->re_s * re_share;
    t->repeated_s += blocks * repeated_s * re_share;
    t->tensor_s += blocks * (b->tensor.fw_exposed_s + b->tensor.bw_exposed_s);
    t->context_s += blocks * (b->context.fw_exposed_s + b->context.bw_exposed_s);
    t->expert_s += blocks * (b->expert.fw_exposed_s + b->expert.bw_exposed_s);
    t->sharded_s += blocks * (s.fw_s + s.bw_s);
    t->host_s += blocks * all_s * (slow - 1);
}

/* Add a part of the model that is not a block. */
static void add_end(const calc_cost *end, double share, calc_stage_time *t)
{
    double fw_s = share * calc_cost_fw_s(end);
    double agrad_s = share * calc_cost_agrad_s(end);
    double wgrad_s = share * end->wgrad_s;
    t->fw_s += fw_s;
    t->agrad_s += agrad_s;
    t->wgrad_s += wgrad_s;
    t->ends_s += fw_s + agrad_s + wgrad_s;
}

static void add_message(const calc_cost_context *c, const calc_stage_parts *parts,
                        const calc_stages *stages, calc_stage_time *t)
{
    if (stages->stages <= 1) {
        return;
    }
    const calc_overlap_shares *o = &c->system->overlap;
    double hidden =
        c->exec->pipeline_par_overlap ? calc_share_or(o->pipeline_par, PIPELINE_PAR_HIDDEN) : 0;
    double s = calc_collective_s(c->system, CALC_OP_P2P, &c->groups.pipeline, parts->message_bytes);
    s *= stages->chunks * (1 - hidden);
    t->fw_s += s;
    t->message_s += s;
    if (c->exec->training) {
        t->agrad_s += s;
        t->message_s += s;
    }
}

static void scale_time(calc_stage_time *t, double factor)
{
    double *field = (double *)t;
    for (size_t i = 0; i < sizeof *t / sizeof *field; i++) {
        field[i] *= factor;
    }
}

calc_stage_time calc_stage_time_of(const calc_cost_context *c, const calc_stage_parts *parts,
                                   const calc_stages *stages, size_t index)
{
    const calc_stage_class *class = &stages->item[index];
    calc_stage_time t = {0};
    double re = 1 - rich_share(c->exec, class->dense + class->moe);
    add_blocks(c, &parts->block[CALC_DENSE_BLOCK], parts->host_s[CALC_DENSE_BLOCK], class->dense,
               re, &t);
    add_blocks(c, &parts->block[CALC_MOE_BLOCK], parts->host_s[CALC_MOE_BLOCK], class->moe, re, &t);
    double spread = 1 / stages->stages;
    if (class->first || stages->ends_spread) {
        add_end(&parts->embedding, stages->ends_spread ? spread : 1, &t);
    }
    if (class->last || stages->ends_spread) {
        double share = stages->ends_spread ? spread : 1;
        double depth = c->shape->mtp_blocks;
        add_end(&parts->head, share * (1 + depth), &t);
        if (depth > 0) {
            add_end(&parts->mtp, share * depth, &t);
            add_end(&parts->block[last_kind(c->shape)], share * depth, &t);
        }
    }
    scale_time(&t, 1 / calc_share_or(c->exec->software_efficiency, 1));
    add_message(c, parts, stages, &t);
    return t;
}

calc_stage_reduction calc_stage_reduction_of(const calc_cost_context *c,
                                             const calc_stage_parts *parts,
                                             const calc_stages *stages, size_t index,
                                             const calc_stage_time *time)
{
    calc_stage_reduction out = {0};
    const calc_exec *e = c->exec;
    const calc_shape *shape = c->shape;
    int64_t zero = calc_zero_stage(e);
    if (!e->training || zero >= 3) {
        return out;
    }
    calc_state_bytes b = calc_state_bytes_of(e, shape);
    calc_stage_weights w = calc_stage_weights_of(parts, stages, shape, index);
    double p = stages->stages;
    double v = stages->chunks;
    double m = stages->microbatches;
    double each_step = zero >= 2 && p == 1 ? m : 1;
    out.reduce_s = each_step * data_op_s(c, zero >= 1 ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_REDUCE,
                                         b.reduced * w.dense, b.reduced * w.expert);
    if (zero >= 1) {
        out.gather_s = data_op_s(c, CALC_OP_ALL_GATHER, b.weight * w.dense, b.weight * w.expert);
    }
    /* With chunks, the gradients of one are final while micro-batches still run through others. */
    double round = p < m ? p : m;
    double windows = v > 1 && p > 1 ? round * (v - 1) / v : 1;
    windows = calc_max(windows, each_step);
    double bw_window_s = (time->agrad_s + time->wgrad_s) * windows;
    double fw_window_s = time->fw_s * windows;
    bool gathers = e->param_gather_overlap == CALC_CHOICE_AUTO
                       ? e->data_par_overlap
                       : e->param_gather_overlap == CALC_CHOICE_TRUE;
    out.exposed_s = e->data_par_overlap
                        ? exposed_s(c, out.reduce_s, bw_window_s, LAST_BUCKET * out.reduce_s)
                        : out.reduce_s;
    out.exposed_s += gathers ? exposed_s(c, out.gather_s, fw_window_s, LAST_BUCKET * out.gather_s)
                             : out.gather_s;
    if (shape->tied && shape->vocab > 0 && p > 1) {
        /* First and last stage add up the gradients of the one table. */
        calc_group ends = c->groups.pipeline;
        ends.ranks = 2;
        ends.stride *= p - 1;
        double s = calc_collective_s(c->system, CALC_OP_ALL_REDUCE, &ends,
                                     b.reduced * parts->embedding.dense_weights);
        out.reduce_s += s;
        out.exposed_s += s;
    }
    return out;
}

double calc_stage_optimizer_s(const calc_cost_context *c, const calc_stage_weights *w)
{
    if (!c->exec->training) {
        return 0;
    }
    calc_state_bytes b = calc_state_bytes_of(c->exec, c->shape);
    double dense;
    double expert;
    sharding(c, &dense, &expert);
    int64_t zero = calc_zero_stage(c->exec);
    double all = w->dense + w->expert;
    double mine = zero >= 1 ? w->dense / dense + w->expert / expert : all;
    double held = zero >= 2 ? mine : all;
    /* Gradients are cleared and read for their norm, scaled, and read; state is read and written.
     */
    double bytes = 2 * b.grad * held + (3 * b.grad + 2 * (b.master + 2 * b.moment)) * mine;
    double own = c->system->optimizer_efficiency;
    const calc_memory_tier *memory = &c->system->mem1;
    return own > 0 ? bytes / (memory->bytes_per_s * own) : calc_memory_tier_s(memory, bytes);
}
