#include "calibrate/point_time.h"

#include <stdio.h>
#include <string.h>

#include "io/utf8.h"
#include "model/cost/block.h"
#include "model/cost/cost_kernel.h"
#include "model/cost/pass_kernel.h"
#include "model/stages/measured_block.h"
#include "spec/absent.h"

static void start(const calc_point *p, calc_app *app, calc_exec *exec)
{
    calc_absent_fill(calc_table_of(CALC_KIND_APP), app);
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), exec);
    bool narrow = p->datatype == CALC_DATATYPE_FLOAT8 || p->datatype == CALC_DATATYPE_FLOAT4;
    exec->strategy.datatype = narrow ? CALC_DATATYPE_BFLOAT16 : p->datatype;
    exec->strategy.matrix_datatype = p->datatype == CALC_DATATYPE_FLOAT8   ? CALC_FORMAT_FLOAT8
                                     : p->datatype == CALC_DATATYPE_FLOAT4 ? CALC_FORMAT_FLOAT4
                                                                           : CALC_FORMAT_AUTO;
    app->seq_size = (int64_t)p->size[1]; /* "seq_size" sets the execution's */
    app->num_blocks = 1;
    exec->pipeline_par = exec->pipeline_interleaving = exec->microbatch_size = 1;
    exec->strategy.tensor_par = exec->strategy.data_par = 1;
    exec->training = true;
}

/* What follows from the words. */
static void finish(calc_app *app, calc_exec *exec)
{
    calc_strategy *s = &exec->strategy;
    if (app->attn_size == 0) {
        app->attn_size = app->hidden >= app->attn_heads ? app->hidden / app->attn_heads : 1;
    }
    exec->batch_size = exec->microbatch_size;
    if (s->attention_type == CALC_ATTENTION_TYPE_MULTIHEAD) {
        bool grouped = app->kv_heads > 0 && app->kv_heads < app->attn_heads;
        s->attention_type = app->kv_lora_rank > 0 ? CALC_ATTENTION_TYPE_MULTI_LATENT
                            : grouped             ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                                                  : CALC_ATTENTION_TYPE_MULTIHEAD;
    }
    exec->num_procs = s->tensor_par * (s->context_par > 1 ? s->context_par : 1);
}

/* A reason that is whole, or a short one: half a letter is no UTF-8. */
static void say(char reason[CALC_POINT_REASON], const char *of, const char *text, const char *hint)
{
    int length =
        snprintf(reason, CALC_POINT_REASON, "\"%s\": %s%s%s", of, text, *hint ? "; " : "", hint);
    if (length >= CALC_POINT_REASON) {
        snprintf(reason, CALC_POINT_REASON, "\"%s\" is not possible", of);
    }
}

/* Set the field that a word names. @return whether it is one of a block */
static bool set(const char *word, calc_app *app, calc_exec *exec, char reason[CALC_POINT_REASON])
{
    calc_system none = {0};
    calc_errors errors = {0};
    calc_field_ref where;
    char shown[CALC_UTF8_SHOW_SIZE];
    calc_utf8_show(shown, word, strlen(word));
    if (calc_set(app, &none, exec, word, &where, &errors) != CALC_OK) {
        const calc_error *e = &errors.item[0];
        say(reason, shown, e->text, e->hint);
        return false;
    }
    bool several = app->num_blocks != 1 || exec->pipeline_par != 1 ||
                   exec->strategy.data_par != 1 || exec->stages.count > 0 || exec->layers.count > 0;
    bool trains = exec->training && exec->inference.phase == CALC_INFERENCE_PHASE_NONE;
    if (where.kind == CALC_KIND_SYSTEM || app->num_experts > 0 || several || !trains) {
        say(reason, shown, "a row is of one block, without experts", "");
        return false;
    }
    return true;
}

bool calc_point_block_of(const calc_point *p, calc_app *app, calc_exec *exec,
                         char reason[CALC_POINT_REASON])
{
    bool fine = true;
    start(p, app, exec);
    for (const char *at = p->shape + strspn(p->shape, ", "); *at && fine; at += strspn(at, ", ")) {
        char word[CALC_POINT_REASON];
        size_t length = strcspn(at, ", ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        fine = set(word, app, exec, reason);
        at += length;
    }
    if (fine) {
        finish(app, exec);
    }
    return fine;
}

/* The context of a block, and all that it borrows. */
typedef struct block {
    calc_app app;
    calc_exec exec;
    calc_shape shape;
    calc_cost_context context;
} block;

static void make(block *b, const calc_point *p, const calc_system *system)
{
    char reason[CALC_POINT_REASON];
    (void)calc_point_block_of(p, &b->app, &b->exec, reason); /* used points say nothing else */
    calc_resolve(&b->app, system, &b->exec);
    b->shape = calc_shape_of(&b->app, &b->exec.strategy, b->exec.microbatch_size, b->exec.seq_size);
    b->context = calc_cost_context_of(system, &b->exec, &b->shape, CALC_COMPAT_NONE);
}

bool calc_point_block_runs(const calc_point *p, const calc_system *system,
                           char reason[CALC_POINT_REASON])
{
    block b;
    calc_errors errors = {0};
    make(&b, p, system);
    if (calc_check(&b.app, system, &b.exec, &errors) != CALC_OK) {
        say(reason, "block", errors.item[0].text, errors.item[0].hint);
        return false;
    }
    return true;
}

/* Time of its forward and backward pass by the model [s]. */
static double point_block_s(const calc_point *p, const calc_system *system)
{
    block b;
    make(&b, p, system);
    return calc_measured_block_model_s(&b.context);
}

calc_kernel_key calc_point_block_key(const calc_point *p, const calc_system *system)
{
    block b;
    make(&b, p, system);
    return calc_measured_block_key(&b.context);
}

static calc_exec exec_of(const calc_point *p)
{
    bool narrow = p->datatype == CALC_DATATYPE_FLOAT8 || p->datatype == CALC_DATATYPE_FLOAT4;
    calc_exec exec = {.num_procs = 1,
                      .strategy.tensor_par = 1,
                      .pipeline_par = 1,
                      .strategy.data_par = 1,
                      .microbatch_size = 1,
                      .strategy.datatype = narrow ? CALC_DATATYPE_BFLOAT16 : p->datatype,
                      .strategy.flash_attention = true,
                      .training = true};
    if (narrow) {
        exec.strategy.matrix_datatype =
            p->datatype == CALC_DATATYPE_FLOAT8 ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_FLOAT4;
        exec.strategy.scaling =
            calc_point_is_serving(p) ? CALC_SCALING_BLOCK : exec.strategy.scaling;
    }
    return exec;
}

static calc_shape shape_of(const calc_point *p)
{
    double bytes = p->datatype == CALC_DATATYPE_FLOAT32 ? 4 : 2;
    double narrow = p->datatype == CALC_DATATYPE_FLOAT8   ? 1
                    : p->datatype == CALC_DATATYPE_FLOAT4 ? 0.5
                                                          : bytes;
    return (calc_shape){.blocks = 1,
                        .dense_blocks = 1,
                        .hidden = 1,
                        .feedforward = 1,
                        .moe_every = 1,
                        .flash = true,
                        .causal = p->causal,
                        .tensor_par = 1,
                        .context_par = 1,
                        .expert_par = 1,
                        .expert_tensor_par = 1,
                        .microbatch = 1,
                        .element_bytes = bytes,
                        .matrix_bytes = narrow,
                        .weight_bytes = bytes,
                        .kept_bytes = bytes,
                        .grad_bytes = p->result_bytes};
}

/* Time of a kernel, by the rates of serving if it is one of serving. */
static double kernel_s(const calc_point *p, const calc_system *system, const calc_exec *exec,
                       const calc_shape *shape, const calc_operator *o, calc_pass pass)
{
    calc_cost_context context = calc_cost_context_of(system, exec, shape, CALC_COMPAT_NONE);
    context.serving = calc_point_is_serving(p) ? &system->chip.serving : NULL;
    return calc_cost_kernel_s(&context, o, pass);
}

/* The operands' sizes are those of the multiplication itself; those of a grouped one, of its
 * forward pass. Conversion to a narrow format is a kernel of its own in a benchmark. */
static double matrix_s(const calc_point *p, const calc_system *system, const calc_exec *exec)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_shape shape = shape_of(p);
    const calc_recipe recipe = {.shape = &shape, .strategy = &exec->strategy};
    calc_build b = calc_build_start(&recipe, operators);
    const double *n = p->size;
    calc_operator *o;
    bool grouped = p->class == CALC_POINT_GROUPED || p->class == CALC_POINT_SERVING_GROUPED;
    if (grouped) {
        bool plain = shape.matrix_bytes >= shape.element_bytes || calc_point_is_serving(p);
        b.chip = plain ? &system->chip : NULL;
        o = calc_build_matrix(&b, "", CALC_OPERATOR_GROUPED, 0, n[0] * n[1], n[3], n[2], n[0]);
    } else if (p->pass == CALC_PASS_WGRAD) {
        o = calc_build_matrix(&b, "", CALC_OPERATOR_MATRIX, 0, n[1], n[0], n[2], 1);
    } else if (p->pass == CALC_PASS_AGRAD) {
        o = calc_build_matrix(&b, "", CALC_OPERATOR_MATRIX, 0, n[0], n[2], n[1], 1);
    } else {
        o = calc_build_matrix(&b, "", CALC_OPERATOR_MATRIX, 0, n[0], n[1], n[2], 1);
    }
    double batch = grouped ? 1 : n[3];
    o->flop[p->pass] *= batch;
    o->bytes[p->pass] *= batch;
    return kernel_s(p, system, exec, &shape, o, p->pass);
}

/* The attention of a block of these heads. */
static double attention_s(const calc_point *p, const calc_system *system, const calc_exec *exec)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_shape s = shape_of(p);
    s.microbatch = p->size[0];
    s.seq = p->size[1];
    s.tokens = p->size[0] * p->size[1];
    s.heads = s.local_heads = p->size[2];
    s.kv_heads = s.local_kv_heads = p->size[3];
    s.qk_size = p->size[4];
    s.v_size = p->size[5];
    calc_cost_context context = calc_cost_context_of(system, exec, &s, CALC_COMPAT_NONE);
    size_t count = calc_block_operators(&context, CALC_DENSE_BLOCK, operators);
    size_t i = 0;
    while (i + 1 < count && operators[i].kind != CALC_OPERATOR_ATTENTION) {
        i++;
    }
    return calc_cost_kernel_s(&context, &operators[i],
                              p->class == CALC_POINT_ATTENTION_BW ? CALC_PASS_AGRAD : CALC_PASS_FW);
}

/* Attention of a serving pass (inference_pass.h): of whole prompts, or of one new token behind
 * each cache. */
static double served_s(const calc_point *p, const calc_system *system, const calc_exec *exec)
{
    calc_shape s = shape_of(p);
    const double *n = p->size;
    bool decodes = p->class == CALC_POINT_SERVING_DECODE;
    double width = n[4] + n[5];
    double fresh = n[0] * (decodes ? 1 : n[1]);
    double pairs = decodes ? n[0] * n[1] : n[0] * n[1] * (n[1] + 1) / 2;
    calc_operator o = {.kind = CALC_OPERATOR_ATTENTION, .cached = decodes ? n[1] : 0};
    s.qk_size = n[4];
    s.v_size = n[5];
    o.flop[CALC_PASS_FW] = o.work[CALC_PASS_FW] = 2 * pairs * n[2] * width;
    o.bytes[CALC_PASS_FW] = fresh * n[2] * width * s.element_bytes +
                            (n[0] * n[1] + fresh) * n[3] * width * p->cached_bytes;
    return kernel_s(p, system, exec, &s, &o, CALC_PASS_FW);
}

static double memory_s(const calc_point *p, const calc_system *system, const calc_exec *exec)
{
    calc_shape shape = shape_of(p);
    calc_operator operators[CALC_MAX_OPERATORS];
    const calc_recipe recipe = {.shape = &shape, .strategy = &exec->strategy};
    calc_build b = calc_build_start(&recipe, operators);
    calc_operator *o = calc_build_vector(&b, "", 0, 0, p->size[0], p->size[0]);
    calc_cost_context context = calc_cost_context_of(system, exec, &shape, CALC_COMPAT_NONE);
    return calc_cost_kernel_s(&context, o, CALC_PASS_FW);
}

/* The norm before the attention of a block of that width; `operators` has room for a block. */
static calc_shape build_norm(const calc_point *p, const calc_exec *exec, calc_operator *operators)
{
    static const calc_chip none;
    calc_shape s = shape_of(p);
    s.tokens = p->size[0];
    s.hidden = p->size[1];
    s.rms = p->rms;
    s.heads = s.local_heads = s.kv_heads = s.local_kv_heads = s.seq = s.qk_size = s.v_size = 1;
    const calc_recipe recipe = {.shape = &s, .chip = &none, .strategy = &exec->strategy};
    calc_transformer_block(&recipe, operators);
    return s;
}

static calc_pass norm_pass(const calc_point *p)
{
    return p->pass == CALC_PASS_FW ? CALC_PASS_FW : CALC_PASS_AGRAD;
}

static double norm_s(const calc_point *p, const calc_system *system, const calc_exec *exec)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_shape s = build_norm(p, exec, operators);
    calc_cost_context context = calc_cost_context_of(system, exec, &s, CALC_COMPAT_NONE);
    return calc_cost_kernel_s(&context, &operators[0], norm_pass(p));
}

double calc_point_bytes(const calc_point *p)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    if (p->class != CALC_POINT_NORM) {
        return p->class == CALC_POINT_MEMORY ? p->size[0] : 0;
    }
    calc_exec exec = exec_of(p);
    build_norm(p, &exec, operators);
    return operators[0].bytes[norm_pass(p)];
}

static calc_group group_of(const calc_point *p)
{
    return (calc_group){.ranks = p->class == CALC_POINT_P2P ? 2 : p->size[1],
                        .stride = calc_point_is_serving(p) ? 1 : p->size[2]};
}

calc_collective_op calc_point_op(calc_point_class class)
{
    switch (class) {
    case CALC_POINT_ALL_REDUCE:
    case CALC_POINT_SERVING_ALL_REDUCE:
        return CALC_OP_ALL_REDUCE;
    case CALC_POINT_ALL_GATHER:
        return CALC_OP_ALL_GATHER;
    case CALC_POINT_REDUCE_SCATTER:
        return CALC_OP_REDUCE_SCATTER;
    case CALC_POINT_ALL_TO_ALL:
        return CALC_OP_ALL_TO_ALL;
    default:
        return CALC_OP_P2P;
    }
}

double calc_point_time_s(const calc_point *p, const calc_system *system)
{
    calc_exec exec = exec_of(p);
    calc_group group = group_of(p);
    switch (p->class) {
    case CALC_POINT_MATRIX:
    case CALC_POINT_GROUPED:
    case CALC_POINT_SERVING_MATRIX:
    case CALC_POINT_SERVING_GROUPED:
        return matrix_s(p, system, &exec);
    case CALC_POINT_SERVING_PREFILL:
    case CALC_POINT_SERVING_DECODE:
        return served_s(p, system, &exec);
    case CALC_POINT_SERVING_ALL_REDUCE: {
        double library_s = calc_collective_s(system, CALC_OP_ALL_REDUCE, &group, p->size[0]);
        return calc_pass_link_s(system, CALC_OP_ALL_REDUCE, &group, p->size[0], library_s);
    }
    case CALC_POINT_ATTENTION_FW:
    case CALC_POINT_ATTENTION_BW:
        return attention_s(p, system, &exec);
    case CALC_POINT_MEMORY:
        return memory_s(p, system, &exec);
    case CALC_POINT_NORM:
        return norm_s(p, system, &exec);
    case CALC_POINT_BLOCK:
        return point_block_s(p, system);
    case CALC_POINT_ALL_TO_ALL:
        return calc_collective_all_to_all_s(system, &group, p->size[0], 1);
    default:
        return calc_collective_s(system, calc_point_op(p->class), &group, p->size[0]);
    }
}

int64_t calc_point_network(const calc_point *p, const calc_system *system)
{
    if (!calc_point_is_network(p)) {
        return -1;
    }
    calc_group group = group_of(p);
    int64_t top = calc_collective_top_network(system, &group);
    bool alone = top == 0 || calc_collective_inner_ranks(system, &group) <= 1;
    return alone || p->class == CALC_POINT_P2P ? top : -1;
}
