/* The constants of a machine under which the model is nearest to its measured operators. Kernels
 * are fitted together, each collective of each network for itself. Minimises sum over points of w
 * 2 (sqrt(1 + r^2) - 1), r = (log predicted - log measured) / scatter + sum over constants of
 * (number - start)^2 / 2^2 in the logarithms of constants, or of their odds (constant.h).
 * `scatter` is estimated from the points of a class themselves. A step adds times up: the w of a
 * multiplication is its arithmetic over the mean of its class. It is 1 for attention, whose work
 * grows with the square of its length so that the longest would decide alone, and for messages, of
 * which the small ones tell the latency. The second sum is weak: a factor of seven costs as much
 * as a point that is one scatter off; it decides where the points do not. */
#include "calibrate/points.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "calibrate/fit.h"
#include "io/utf8.h"
#include "model/cost/block.h"
#include "model/cost/cost_kernel.h"
#include "model/stages/measured_block.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "validate/error_groups.h"

#define LOG CALC_CONSTANT_LOG
#define LOGIT CALC_CONSTANT_LOGIT

/* Formats of a row: of narrow matrices, whose results have 16 bits, or of everything. */
static void set_formats(calc_strategy *s, const calc_point *p)
{
    bool eight = p->datatype == CALC_DATATYPE_FLOAT8, four = p->datatype == CALC_DATATYPE_FLOAT4;
    s->datatype = eight || four ? CALC_DATATYPE_BFLOAT16 : p->datatype;
    s->matrix_datatype = eight ? CALC_FORMAT_FLOAT8 : four ? CALC_FORMAT_FLOAT4 : CALC_FORMAT_AUTO;
}

static void start(const calc_point *p, calc_app *app, calc_exec *exec)
{
    calc_absent_fill(calc_table_of(CALC_KIND_APP), app);
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), exec);
    set_formats(&exec->strategy, p);
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
    exec->num_procs = s->tensor_par * calc_ranks_or_one(s->context_par);
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
    const char *shown = calc_utf8_shown(word, strlen(word));
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

void calc_point_block_ask(const calc_point *p, const calc_system *system,
                          char reason[CALC_POINT_REASON])
{
    block b;
    calc_errors errors = {0};
    make(&b, p, system);
    if (calc_check(&b.app, system, &b.exec, &errors) != CALC_OK) {
        say(reason, "block", errors.item[0].text, errors.item[0].hint);
    }
}

calc_kernel_key calc_point_block_key(const calc_point *p, const calc_system *system)
{
    block b;
    make(&b, p, system);
    return calc_measured_block_key(&b.context);
}

static calc_exec exec_of(const calc_point *p)
{
    calc_exec exec = {.num_procs = 1,
                      .strategy.tensor_par = 1,
                      .pipeline_par = 1,
                      .strategy.data_par = 1,
                      .microbatch_size = 1,
                      .strategy.flash_attention = true,
                      .training = true};
    set_formats(&exec.strategy, p);
    if (exec.strategy.matrix_datatype != CALC_FORMAT_AUTO && calc_point_is_serving(p)) {
        exec.strategy.scaling = CALC_SCALING_BLOCK;
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
    static const int order[CALC_PASS_COUNT][3] = {
        [CALC_PASS_FW] = {0, 1, 2}, [CALC_PASS_AGRAD] = {0, 2, 1}, [CALC_PASS_WGRAD] = {1, 0, 2}};
    const int *of = order[p->pass];
    bool grouped = p->class == CALC_POINT_GROUPED || p->class == CALC_POINT_SERVING_GROUPED;
    if (grouped) {
        bool plain = shape.matrix_bytes >= shape.element_bytes || calc_point_is_serving(p);
        b.chip = plain ? &system->chip : NULL;
        o = calc_build_matrix(&b, "", CALC_OPERATOR_GROUPED, 0, n[0] * n[1], n[3], n[2], n[0]);
    } else {
        o = calc_build_matrix(&b, "", CALC_OPERATOR_MATRIX, 0, n[of[0]], n[of[1]], n[of[2]], 1);
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
    return kernel_s(p, system, exec, &shape, o, CALC_PASS_FW);
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
    static const calc_collective_op ops[CALC_POINT_CLASSES] = {
        [CALC_POINT_ALL_REDUCE] = CALC_OP_ALL_REDUCE,
        [CALC_POINT_ALL_GATHER] = CALC_OP_ALL_GATHER,
        [CALC_POINT_REDUCE_SCATTER] = CALC_OP_REDUCE_SCATTER,
        [CALC_POINT_ALL_TO_ALL] = CALC_OP_ALL_TO_ALL,
        [CALC_POINT_P2P] = CALC_OP_P2P};
    return ops[class];
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
    case CALC_POINT_NORM: {
        calc_operator operators[CALC_MAX_OPERATORS];
        calc_shape s = build_norm(p, &exec, operators);
        return kernel_s(p, system, &exec, &s, &operators[0], norm_pass(p));
    }
    case CALC_POINT_BLOCK: {
        block b;
        make(&b, p, system);
        return calc_measured_block_model_s(&b.context);
    }
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

/* A fit under way: points and constants that are fitted together. */
typedef struct task {
    calc_point_fit *fit;
    const calc_point **used; /* all that a fit may see; borrowed */
    size_t count;
    const calc_point **point; /* those of this one */
    size_t points;
    double *deviation; /* room for as many numbers */
    double scatter[CALC_POINT_CLASSES];
    double mean_flop[CALC_POINT_CLASSES]; /* 0: all points weigh the same */
    size_t index[CALC_POINT_CONSTANTS];   /* of the free constants */
    size_t free;
    double start[CALC_POINT_CONSTANTS]; /* by index of constant, on its scale */
    double x[CALC_POINT_CONSTANTS];     /* of the free ones, in spreads from start */
    double error[CALC_POINT_CONSTANTS];
} task;

#define OF(class) (1U << CALC_POINT_##class)
#define IN(datatype) (1U << CALC_DATATYPE_##datatype)
#define WIDE (IN(FLOAT16) | IN(BFLOAT16) | IN(FLOAT32))

/* Whether there are points of some classes, with operands in one of some formats; 0: in any. */
static bool has(const task *t, unsigned classes, unsigned formats)
{
    for (size_t i = 0; i < t->count; i++) {
        const calc_point *p = t->used[i];
        if (classes >> p->class & 1 && (formats == 0 || formats >> p->datatype & 1)) {
            return true;
        }
    }
    return false;
}

/* How many different numbers points of some classes have at a size, 2 of several; of those on a
 * network, if it is not below 0. */
static int numbers_at(const task *t, unsigned classes, int64_t network, size_t size)
{
    double one = 0;
    int numbers = 0;
    for (size_t i = 0; i < t->count && numbers < 2; i++) {
        const calc_point *p = t->used[i];
        if (classes >> p->class & 1 &&
            (network < 0 || calc_point_network(p, &t->fit->system) == network)) {
            numbers += numbers == 0 || p->size[size] != one;
            one = p->size[size];
        }
    }
    return numbers;
}

/* Add the constant whose first path is made by `fmt`. Where the file does not give it, it starts
 * from `usual`. */
static calc_point_constant *add(calc_point_fit *fit, const char *unit, calc_constant_scale scale,
                                double usual, const char *fmt, ...) CALC_PRINTF(5, 6);
static calc_point_constant *add(calc_point_fit *fit, const char *unit, calc_constant_scale scale,
                                double usual, const char *fmt, ...)
{
    if (fit->count == CALC_POINT_CONSTANTS) {
        return NULL;
    }
    calc_point_constant *c = &fit->item[fit->count++];
    va_list list;
    va_start(list, fmt);
    vsnprintf(c->path[0], sizeof c->path[0], fmt, list);
    va_end(list);
    c->constant = (calc_constant){
        .name = c->path[0], .path = {c->path[0]}, .unit = unit, .scale = scale, .spread = 2};
    c->before = calc_constant_get(&c->constant, &fit->system);
    c->value = c->before;
    c->relative_error = (double)NAN;
    calc_field_ref ref;
    if (!(c->before > 0) && calc_field_find(CALC_KIND_SYSTEM, c->path[0], &ref) == CALC_OK) {
        void *member = (char *)&fit->system + ref.offset;
        double *number = member;
        *number = usual;
    }
    return c;
}

static void add_matrix(const task *t, calc_datatype datatype)
{
    if (!has(t, OF(MATRIX) | OF(GROUPED), 1U << datatype) ||
        !(t->fit->system.chip.matrix[datatype].flop_per_s > 0)) {
        return;
    }
    calc_point_constant *c =
        add(t->fit, "", LOGIT, 0.5, "matrix.%s.gflops_efficiency", calc_datatype_names[datatype]);
    /* Both formats of 16 bits run alike: one that has no points follows the other. */
    calc_datatype other = datatype == CALC_DATATYPE_BFLOAT16  ? CALC_DATATYPE_FLOAT16
                          : datatype == CALC_DATATYPE_FLOAT16 ? CALC_DATATYPE_BFLOAT16
                                                              : datatype;
    if (c && other != datatype && !has(t, OF(MATRIX) | OF(GROUPED), 1U << other) &&
        t->fit->system.chip.matrix[other].flop_per_s > 0) {
        snprintf(c->path[1], sizeof c->path[1], "matrix.%s.gflops_efficiency",
                 calc_datatype_names[other]);
        c->constant.path[1] = c->path[1];
    }
}

/* Constants of kernels: where they start if the file does not give them, and of which classes there
 * must be points, of which others, in which formats, and in narrow ones, too; and a size in which
 * points must differ. Matrix multiplications alone would pass traffic that they hide for
 * bandwidth. */
/* clang-format off */
static const struct {
    const char *path, *unit;
    calc_constant_scale scale;
    double usual;
    unsigned classes, others, formats;
    bool narrow;
    size_t size; /* 0: none */
} kernels[] = {
    {"grouped.efficiency", "", LOG, 1, .classes = OF(GROUPED), .others = OF(MATRIX)},
    {"launch.matrix", "s", LOG, 5e-6, .classes = OF(GROUPED) | OF(MATRIX)},
    {"mem1.MB_efficiency", "", LOGIT, 0.8, .classes = OF(MEMORY) | OF(NORM)},
    {"launch.vector", "s", LOG, 5e-6, .classes = OF(MEMORY) | OF(NORM)},
    {"attention.fw_efficiency", "", LOGIT, 0.6, .classes = OF(ATTENTION_FW)},
    {"attention.bw_efficiency", "", LOGIT, 0.5, .classes = OF(ATTENTION_BW)},
    {"attention.launch", "s", LOG, 3e-5, .classes = OF(ATTENTION_FW) | OF(ATTENTION_BW)},
    {"attention.softmax_size", "", LOG, 30, .classes = OF(ATTENTION_FW) | OF(ATTENTION_BW)},
    {"serving.matrix.memory_efficiency", "", LOGIT, 0.8, .classes = OF(SERVING_MATRIX)},
    {"serving.matrix.fixed", "s", LOG, 3e-6, .classes = OF(SERVING_MATRIX)},
    {"serving.matrix.efficiency", "", LOG, 0.7, .classes = OF(SERVING_MATRIX), .formats = WIDE},
    {"serving.matrix.efficiency_8bit", "", LOG, 0.6, .classes = OF(SERVING_MATRIX), .formats = IN(FLOAT8)},
    {"serving.matrix.efficiency_4bit", "", LOG, 0.5, .classes = OF(SERVING_MATRIX), .formats = IN(FLOAT4)},
    {"serving.matrix.quantize", "s", LOG, 2e-6, .classes = OF(SERVING_MATRIX), .formats = WIDE, .narrow = true},
    {"serving.grouped.memory_efficiency", "", LOGIT, 0.8, .classes = OF(SERVING_GROUPED)},
    {"serving.grouped.fixed", "s", LOG, 1.2e-5, .classes = OF(SERVING_GROUPED)},
    {"serving.grouped.efficiency", "", LOG, 0.7, .classes = OF(SERVING_GROUPED), .formats = WIDE},
    {"serving.grouped.efficiency_8bit", "", LOG, 0.6, .classes = OF(SERVING_GROUPED), .formats = IN(FLOAT8)},
    {"serving.grouped.efficiency_4bit", "", LOG, 0.5, .classes = OF(SERVING_GROUPED), .formats = IN(FLOAT4)},
    {"serving.decode.memory_efficiency", "", LOGIT, 0.8, .classes = OF(SERVING_DECODE)},
    {"serving.decode.fixed", "s", LOG, 8e-6, .classes = OF(SERVING_DECODE)},
    {"serving.decode.growth", "s", LOG, 3e-6, .classes = OF(SERVING_DECODE), .size = 1},
    {"serving.prefill.memory_efficiency", "", LOG, 0.5, .classes = OF(SERVING_PREFILL)},
    {"serving.prefill.fixed", "s", LOG, 1e-5, .classes = OF(SERVING_PREFILL)},
    {"serving.prefill.efficiency", "", LOG, 0.6, .classes = OF(SERVING_PREFILL)},
    {"serving.prefill.softmax_size", "", LOG, 100, .classes = OF(SERVING_PREFILL), .size = 4},
    {"serving.all_reduce.one_shot_efficiency", "", LOGIT, 0.6, .classes = OF(SERVING_ALL_REDUCE)},
    {"serving.all_reduce.fixed", "s", LOG, 3e-6, .classes = OF(SERVING_ALL_REDUCE)},
    {"serving.all_reduce.doubling", "s", LOG, 5e-7, .classes = OF(SERVING_ALL_REDUCE), .size = 1},
    {"serving.all_reduce.two_shot_efficiency", "", LOGIT, 0.5, .classes = OF(SERVING_ALL_REDUCE)},
    {"serving.all_reduce.two_shot", "s", LOG, 4e-6, .classes = OF(SERVING_ALL_REDUCE)},
};
/* clang-format on */

/* Add the constants of kernels that have points. Constants absent from the file start from a usual
 * value in the fit's system. */
static void add_kernels(const task *t)
{
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        add_matrix(t, (calc_datatype)i);
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        unsigned classes = kernels[i].classes, others = kernels[i].others;
        if (has(t, classes, kernels[i].formats) && (others == 0 || has(t, others, 0)) &&
            (!kernels[i].narrow || has(t, classes, IN(FLOAT8) | IN(FLOAT4))) &&
            (kernels[i].size == 0 || numbers_at(t, classes, -1, kernels[i].size) > 1)) {
            add(t->fit, kernels[i].unit, kernels[i].scale, kernels[i].usual, "%s", kernels[i].path);
        }
    }
}

/* Add those of one collective on one network: share of the bandwidth, fixed latency, and latency
 * per step where groups of several sizes were measured. */
static void add_network(const task *t, int64_t network, calc_point_class class)
{
    int groups = numbers_at(t, 1U << class, network, 1);
    if (groups == 0) {
        return;
    }
    const calc_network *n = &t->fit->system.networks[network];
    const char *name = calc_point_class_name(class);
    double latency_s = n->latency_s > 0 ? n->latency_s : 5e-6;
    add(t->fit, "", LOGIT, n->efficiency, "networks[%d].op_parameters.%s.efficiency", (int)network,
        name);
    add(t->fit, "s", LOG, latency_s, "networks[%d].op_parameters.%s.latency_fixed", (int)network,
        name);
    if (groups > 1) {
        add(t->fit, "s", LOG, 1e-6, "networks[%d].op_parameters.%s.latency_step", (int)network,
            name);
    }
}

#define SPREAD 2
#define SCATTER_BEFORE 0.05
#define SCATTER_LEAST 0.002

static void put(task *t, const double *x)
{
    for (size_t k = 0; k < t->free; k++) {
        calc_point_constant *c = &t->fit->item[t->index[k]];
        c->value = calc_constant_from_free(&c->constant, t->start[t->index[k]] + x[k] * SPREAD);
        calc_constant_set(&c->constant, &t->fit->system, c->value);
    }
}

static double log_error(const task *t, size_t i)
{
    return log(calc_point_time_s(t->point[i], &t->fit->system) / t->point[i]->measured_s);
}

static void residuals(void *context, const double *x, double *residual)
{
    task *t = context;
    put(t, x);
    for (size_t i = 0; i < t->points; i++) {
        double mean_flop = t->mean_flop[t->point[i]->class];
        double weight = mean_flop > 0 ? calc_point_flop(t->point[i]) / mean_flop : 1;
        *residual++ = sqrt(weight) *
                      calc_least_squares_soft(log_error(t, i) / t->scatter[t->point[i]->class]);
    }
    for (size_t k = 0; k < t->free; k++) {
        *residual++ = x[k];
    }
}

static calc_status solve(task *t, calc_errors *errors)
{
    calc_least_squares problem = {.residuals = residuals,
                                  .context = t,
                                  .parameters = t->free,
                                  .count = t->points + t->free,
                                  .step = 1e-5,
                                  .most = 60};
    calc_status status = calc_least_squares_solve(&problem, t->x, t->error, errors);
    put(t, t->x);
    return status;
}

/* The scatter of the points of each class: 1.48 times the median deviation, as of a normal
 * distribution. */
static void measure_scatter(task *t)
{
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        size_t count = 0;
        for (size_t i = 0; i < t->points; i++) {
            if ((int)t->point[i]->class == class) {
                t->deviation[count++] = fabs(log_error(t, i));
            }
        }
        if (count > 2) {
            CALC_SORT(t->deviation, count, calc_order_numbers);
            t->scatter[class] = fmax(SCATTER_LEAST, 1.4826 * t->deviation[count / 2]);
        }
    }
}

/* Standard error over the value. */
static double relative_error(const task *t, size_t k)
{
    const calc_point_constant *c = &t->fit->item[t->index[k]];
    double error = t->error[k] * SPREAD;
    return c->constant.scale == CALC_CONSTANT_LOG ? error : error * (1 - c->value);
}

static calc_point_standing standing_of(const task *t, size_t k)
{
    bool contradicts = fabs(t->x[k]) > CALC_POINT_CONTRADICTED * t->error[k];
    return relative_error(t, k) < CALC_POINT_DETERMINED ? CALC_POINT_FITTED
           : contradicts                                ? CALC_POINT_ADJUSTED
                                                        : CALC_POINT_STAYS;
}

/* Take the constant back that the points say least of. @return false if all are determined */
static bool give_one_up(task *t)
{
    size_t worst = t->free;
    for (size_t k = 0; k < t->free; k++) {
        if (standing_of(t, k) == CALC_POINT_STAYS &&
            (worst == t->free || relative_error(t, k) > relative_error(t, worst))) {
            worst = k;
        }
    }
    if (worst == t->free) {
        return false;
    }
    calc_point_constant *c = &t->fit->item[t->index[worst]];
    c->value = c->before;
    calc_constant_set(&c->constant, &t->fit->system, c->before);
    t->free--;
    for (size_t k = worst; k < t->free; k++) {
        t->index[k] = t->index[k + 1];
        t->x[k] = t->x[k + 1];
    }
    return true;
}

double calc_point_round(double value, int digits)
{
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

static calc_status fit_group(task *t, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        t->scatter[class] = SCATTER_BEFORE;
    }
    size_t count[CALC_POINT_CLASSES] = {0};
    memset(t->mean_flop, 0, sizeof t->mean_flop);
    for (size_t i = 0; i < t->points; i++) {
        calc_point_class class = t->point[i]->class;
        double more = calc_point_flop(t->point[i]) - t->mean_flop[class];
        t->mean_flop[class] += more / (double)++count[class];
    }
    for (size_t k = 0; k < t->free; k++) {
        calc_point_constant *c = &t->fit->item[t->index[k]];
        double value = calc_constant_get(&c->constant, &t->fit->system);
        bool share = c->constant.scale == LOGIT;
        t->start[t->index[k]] =
            calc_constant_to_free(&c->constant, share ? fmin(fmax(value, 0.02), 0.98) : value);
        t->x[k] = 0;
    }
    do {
        status = solve(t, errors);
        if (status == CALC_OK && t->free > 0) {
            measure_scatter(t);
            status = solve(t, errors);
        }
    } while (status == CALC_OK && give_one_up(t));
    for (size_t k = 0; status == CALC_OK && k < t->free; k++) {
        calc_point_constant *c = &t->fit->item[t->index[k]];
        c->standing = standing_of(t, k);
        c->relative_error = relative_error(t, k);
        c->value = calc_point_round(c->value, 4);
        calc_constant_set(&c->constant, &t->fit->system, c->value);
    }
    return status;
}

/* Fit the constants from `first` on to the points of a network and class; network -1: to kernels.
 */
static calc_status fit_points(task *t, size_t first, int64_t network, calc_point_class class,
                              calc_errors *errors)
{
    t->points = 0;
    t->free = 0;
    for (size_t i = 0; i < t->count; i++) {
        const calc_point *p = t->used[i];
        if (network < 0 ? !calc_point_is_network(p) && p->class != CALC_POINT_BLOCK
                        : p->class == class && calc_point_network(p, &t->fit->system) == network) {
            t->point[t->points++] = p;
        }
    }
    for (size_t k = first; k < t->fit->count; k++) {
        t->index[t->free++] = k;
    }
    return t->points > 0 && t->free > 0 ? fit_group(t, errors) : CALC_OK;
}

calc_status calc_point_fit_make(calc_point_fit *out, const calc_point *points, size_t count,
                                const bool *skip, const calc_system *before, calc_errors *errors)
{
    *out = (calc_point_fit){.system = *before};
    task *t = calc_make(1, sizeof *t);
    t->fit = out;
    t->used = calc_make(count, sizeof(calc_point *));
    t->point = calc_make(count, sizeof(calc_point *));
    t->deviation = calc_make(count, sizeof *t->deviation);
    for (size_t i = 0; i < count; i++) {
        if (calc_point_is_used(&points[i]) && !(skip && skip[i])) {
            t->used[t->count++] = &points[i];
        }
    }
    add_kernels(t);
    calc_status status = fit_points(t, 0, -1, CALC_POINT_MATRIX, errors);
    for (int64_t i = 0; i < out->system.networks_count; i++) {
        for (int class = CALC_POINT_ALL_REDUCE; class <= CALC_POINT_P2P; class ++) {
            size_t first = out->count;
            add_network(t, i, (calc_point_class) class);
            if (status == CALC_OK && out->count > first) {
                status = fit_points(t, first, i, (calc_point_class) class, errors);
            }
        }
    }
    free(t->used);
    free(t->point);
    free(t->deviation);
    free(t);
    return status;
}
