#include "defaults.h"

#include <math.h>
#include <string.h>

#include "model/operators/transformer.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/rules.h"
#include "spec/serving_engine.h"
#include "spec/software.h"
#include "units.h"
#include "variants.h"

/* What may hold for every model and every machine of a sweep. */
enum {
    EXPERTS = 1 << 0,
    LATENT = 1 << 1,
    BIASED = 1 << 2,
    SERVED_BY_NONE = 1 << 3, /* engines have kernels that frameworks of training lack */
    TRAINED_FLOAT8 = 1 << 4,
    SCALES_FLOAT8 = 1 << 5, /* somebody asks for it, with a scale per tensor */
    FLOAT8 = 1 << 6,        /* machines multiply in it */
    CUDA = 1 << 7,          /* platforms: this one, these two; or none is specified */
    CUDA_OR_ROCM = 1 << 8,
    CUDA_OR_CANN = 1 << 9,
    UNBIASED = 1 << 10,
    SCALES_BLOCKS = 1 << 11 /* of float8, in units that also multiply in float4 */
};

/* Those that do, and sizes on which the usual choices depend. */
typedef struct facts {
    unsigned hold;
    bool dense;     /* no model has experts */
    bool small;     /* every model: the host may launch kernels more slowly than they run */
    double longest; /* sequence, in tokens */
    int64_t domain; /* processors on the fastest network of every machine */
} facts;

enum {
    NORMS = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM,
    NORMS_AND_ACT = NORMS | 1 << CALC_RECOMPUTE_MODULES_MOE_ACT,
    NORMS_ACT_AND_LATENT = NORMS_AND_ACT | 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ
};

/* The usual choices of training. Of the rows of an axis the first whose needs hold counts. Values:
 * all that are legal in a context, or only the last one of these. */
#define ROW(axis, needs, last, reason, ...)                                                        \
    {                                                                                              \
        CALC_AXIS_##axis, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}, last, \
            needs, reason                                                                          \
    }
static const struct {
    calc_axis axis;
    size_t count;
    int64_t value[3];
    bool last;
    unsigned needs; /* of what may hold */
    const char *reason;
} defaults[] = {
    ROW(flash_attention, 0, false, "every framework has it", true),
    ROW(memory_model, 0, false, "whole gradients, as Megatron-LM keeps them",
        CALC_MEMORY_MODEL_MEGATRON),
    ROW(fused_cross_entropy, 0, false, "no second copy of the logits", true),
    ROW(matrix_datatype, TRAINED_FLOAT8 | FLOAT8, false, "the model was trained in it",
        CALC_FORMAT_FLOAT8),
    ROW(scaling, TRAINED_FLOAT8 | FLOAT8, false, "with matrix_datatype", CALC_SCALING_BLOCK),
    ROW(weight_datatype, SCALES_FLOAT8 | FLOAT8 | CUDA, false,
        "--fp8-param-gather: they travel as narrow as they are multiplied", CALC_FORMAT_AUTO,
        CALC_FORMAT_FLOAT8),
    ROW(dispatch_datatype, TRAINED_FLOAT8 | FLOAT8, false, "tokens travel as the experts read them",
        CALC_FORMAT_FLOAT8),
    ROW(grad_datatype, CUDA, false, "as NVIDIA's recipes sum them", CALC_FORMAT_BFLOAT16),
    ROW(activation_recompute, 0, false, "nothing, everything, or what is cheap to compute again",
        CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL,
        CALC_ACTIVATION_RECOMPUTE_MODULES),
    ROW(recompute_modules, EXPERTS | LATENT, false, "cheap to compute again", 0,
        NORMS_ACT_AND_LATENT),
    ROW(recompute_modules, EXPERTS, false, "cheap to compute again", 0, NORMS_AND_ACT),
    ROW(recompute_modules, 0, false, "cheap to compute again", 0, NORMS),
    ROW(pipeline_balance, 0, false, "embedding and head as a block each, or as none",
        CALC_PIPELINE_BALANCE_BLOCKS, CALC_PIPELINE_BALANCE_ENDS),
    ROW(tensor_par_comm_type, 0, true, "sequence parallelism: less memory, no more traffic",
        CALC_TENSOR_PAR_COMM_TYPE_AR, CALC_TENSOR_PAR_COMM_TYPE_RS_AG),
    ROW(seq_par_ag_redo, 0, true, "as frameworks gather", false, true),
    ROW(tensor_par_overlap, CUDA, true, "user buffers, async tensor parallelism",
        CALC_TENSOR_PAR_OVERLAP_NONE, CALC_TENSOR_PAR_OVERLAP_ASYNC, CALC_TENSOR_PAR_OVERLAP_FUSED),
    ROW(tensor_par_overlap, 0, true, "beside the backward pass", CALC_TENSOR_PAR_OVERLAP_NONE,
        CALC_TENSOR_PAR_OVERLAP_ASYNC),
    ROW(dispatch_type, EXPERTS | FLOAT8 | CUDA_OR_ROCM, false,
        "one copy of a token per node: DeepEP, HybridEP", CALC_DISPATCH_TYPE_NODE_LIMITED),
    ROW(unfused_experts, EXPERTS | BIASED | SERVED_BY_NONE | CUDA, false,
        "no kernel of a framework has clamped, biased gates", true),
    ROW(fused_experts, EXPERTS | UNBIASED | SERVED_BY_NONE | SCALES_BLOCKS | CUDA, false,
        "Transformer Engine's grouped MLP, in NVIDIA's recipes since 26.06", true),
    ROW(expert_par_overlap, EXPERTS | CUDA_OR_CANN, false,
        "one micro-batch's exchange beside another", CALC_EXPERT_PAR_OVERLAP_NONE,
        CALC_EXPERT_PAR_OVERLAP_BATCH),
    ROW(delayed_wgrad, EXPERTS | CUDA_OR_CANN, false, "with expert_par_overlap batch", true),
    ROW(zero_stage, 0, false, "2 and 3 without stages and experts on several ranks", 0, 2, 3),
    ROW(optimizer_sharding, 0, true, "less memory, no more traffic", false, true),
    ROW(data_par_overlap, 0, true, "beside the backward pass", false, true),
    ROW(pipeline_par_overlap, 0, true, "beside other chunks", false, true),
    ROW(weight_offload, 0, false, "a last resort: --axis weight_offload='*'", false),
    ROW(activations_offload, 0, false, "a last resort: --axis activations_offload='*'", false),
    ROW(optimizer_offload, 0, false, "a last resort: --axis optimizer_offload='*'", false),
};

/* A space whose axes are set. */
typedef struct setter {
    calc_space *space;
    calc_status status; /* CALC_ERR_NOMEM: nothing more is set */
} setter;

/* Set the values of an axis that nobody set.
 * @param value   `count` of them; NULL: every legal value
 * @param last    only the last one that is legal counts
 * @param reason  why: calc_values.reason */
static void put(setter *s, calc_axis axis, const int64_t *value, size_t count, bool last,
                const char *reason)
{
    calc_values *values = &s->space->axis[axis];
    if (!values->standard || s->status != CALC_OK) {
        return;
    }
    if (value) {
        s->status = calc_space_set(s->space, axis, value, count);
    } else {
        calc_space_set_all(s->space, axis);
    }
    if (s->status == CALC_OK) {
        values->last = last;
        values->standard = true;
        values->reason = reason;
    }
}

/* Whether ranks are laid out in an order: nobody asks for networks of groups. */
static bool ordered(const calc_space *space)
{
    static const calc_axis nets[] = {CALC_AXIS_tensor_par_net,       CALC_AXIS_pipeline_par_net,
                                     CALC_AXIS_data_par_net,         CALC_AXIS_context_par_net,
                                     CALC_AXIS_expert_par_net,       CALC_AXIS_expert_data_par_net,
                                     CALC_AXIS_expert_tensor_par_net};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        if (!space->axis[nets[i]].standard) {
            return false;
        }
    }
    return true;
}

/* The largest number of a field of the application in any design: from its swept values, or from
 * the applications. */
static double calc_defaults_most(const calc_designs_builder *designs, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_APP), key);
    double most = 0;
    for (size_t i = 0; i < designs->axes; i++) {
        const calc_design_axis *axis = &designs->axis[i];
        if (axis->ref.field == field) {
            return axis->value[axis->count - 1]; /* ascending */
        }
    }
    for (size_t i = 0; i < designs->apps; i++) {
        const char *member = (const char *)&designs->app[i].app + field->offset;
        most = fmax(most, calc_member_number(field, member));
    }
    return most;
}

/* What does not hold, of which a condition says whether it does. */
static unsigned lost(bool holds, unsigned fact)
{
    return holds ? 0 : fact;
}

static facts facts_of(const calc_space *space, const calc_designs_builder *designs)
{
    const calc_values *seqs = &space->axis[CALC_AXIS_seq_size];
    bool own = seqs->standard || seqs->count == 0 || seqs->value[0] == 0; /* of the models */
    double longest = seqs->count > 0 ? (double)seqs->value[seqs->count - 1] : 0;
    facts f = {.dense = calc_defaults_most(designs, "num_experts") == 0,
               .small = calc_defaults_most(designs, "hidden") <= CALC_DEFAULTS_SMALL_WIDTH,
               .longest = own ? fmax(longest, calc_defaults_most(designs, "seq_size")) : longest,
               .domain = INT64_MAX};
    const calc_values *asked = &space->axis[CALC_AXIS_matrix_datatype];
    bool float8 = !asked->standard && asked->count == 1 && asked->value[0] == CALC_FORMAT_FLOAT8;
    bool blocks = calc_space_has(space, CALC_AXIS_scaling, CALC_SCALING_BLOCK);
    unsigned none = lost(float8 && !blocks, SCALES_FLOAT8) |
                    lost(space->inference.phase == CALC_INFERENCE_PHASE_NONE, SERVED_BY_NONE);
    for (size_t i = 0; i < designs->apps; i++) {
        const calc_app *a = &designs->app[i].app;
        none |= lost(a->num_experts > 0, EXPERTS) | lost(a->kv_lora_rank > 0, LATENT) |
                lost(a->bias, BIASED) | lost(!a->bias, UNBIASED) |
                lost(a->trained_datatype == CALC_FORMAT_FLOAT8, TRAINED_FLOAT8);
    }
    for (size_t i = 0; i < designs->systems; i++) {
        const calc_system *s = &designs->system[i].system;
        bool cuda = s->platform == CALC_PLATFORM_ANY || s->platform == CALC_PLATFORM_CUDA;
        f.domain = s->networks_count > 0 && s->networks[0].size < f.domain ? s->networks[0].size
                                                                           : f.domain;
        none |= lost(s->chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s > 0, FLOAT8) |
                lost(s->chip.matrix[CALC_DATATYPE_FLOAT4].flop_per_s > 0, SCALES_BLOCKS) |
                lost(cuda, CUDA) | lost(cuda || s->platform == CALC_PLATFORM_ROCM, CUDA_OR_ROCM) |
                lost(cuda || s->platform == CALC_PLATFORM_CANN, CUDA_OR_CANN);
    }
    bool blocks8 = asked->standard ? (none & (TRAINED_FLOAT8 | FLOAT8)) == 0 : float8 && blocks;
    f.hold = ~(none | lost(blocks8, SCALES_BLOCKS));
    return f;
}

/* The divisors of experts up to a domain. */
static void put_spreads(setter *s, const calc_designs_builder *designs, int64_t domain)
{
    enum { MOST = 1024 };
    int64_t value[MOST];
    size_t count = 0;
    double most = calc_defaults_most(designs, "num_experts");
    for (int64_t d = 1; d <= domain && (double)d <= most && count < MOST; d++) {
        bool divides = false;
        for (size_t i = 0; i < designs->apps; i++) {
            divides = divides || designs->app[i].app.num_experts % d == 0;
        }
        value[count] = d;
        count += divides;
    }
    put(s, CALC_AXIS_expert_par, value, count, false,
        "divisors of the experts, on the fastest network");
}

/* Axes whose values depend on sizes of the models. */
static void set_sizes(setter *s, const calc_designs_builder *designs, const facts *f)
{
    const int64_t graphs[] = {
        calc_axis_value(CALC_AXIS_cuda_graph, 0),
        calc_axis_value(CALC_AXIS_cuda_graph, f->dense ? 1 : CALC_GRAPHED_ATTENTION)};
    int64_t split[8], node[CALC_DEFAULTS_MOST_NODE];
    size_t count = 0, nodes = 0;
    for (int64_t c = 1; c <= CALC_MOST_CONTEXT_PAR &&
                        (c == 1 || f->longest >= (double)(c * CALC_DEFAULTS_RANK_TOKENS));
         c *= 2) {
        split[count++] = c;
    }
    /* Fused communication knows one node, and nobody splits matrices over slower networks. */
    while (nodes < CALC_DEFAULTS_MOST_NODE && (int64_t)nodes < f->domain) {
        node[nodes] = (int64_t)nodes + 1;
        nodes++;
    }
    if (f->domain >= CALC_DEFAULTS_LEAST_NODE && f->domain <= CALC_DEFAULTS_MOST_NODE &&
        s->space->inference.phase == CALC_INFERENCE_PHASE_NONE) {
        put(s, CALC_AXIS_tensor_par, node, nodes, false, "on the fastest network");
    }
    if (!f->dense && f->domain < CALC_DEFAULTS_WIDE_DOMAIN) {
        put(s, CALC_AXIS_expert_par, NULL, 0, false, "every divisor of the experts");
    } else if (!f->dense) {
        put_spreads(s, designs, f->domain);
    }
    if (count > 1) {
        put(s, CALC_AXIS_context_par, split, count, false,
            "as long as a rank has 4,096 tokens of a sequence");
    }
    const unsigned needs = CUDA | (f->dense ? 0 : EXPERTS | FLOAT8);
    if ((needs & ~f->hold) == 0 && (!f->dense || f->small)) {
        put(s, CALC_AXIS_cuda_graph, graphs, 2, false,
            f->dense ? "the kernels of a narrow model are short"
                     : "attention and router, whose kernels are short");
    }
    put(s, CALC_AXIS_attention_type, NULL, 0, false, "the model's");
    if (s->space->axis[CALC_AXIS_microbatch_size].standard) {
        s->space->most_tokens = CALC_DEFAULTS_MOST_TOKENS;
        s->space->axis[CALC_AXIS_microbatch_size].reason = "of at most 32,768 tokens on a rank";
    }
}

calc_status calc_defaults_modern(calc_space *space, const calc_designs_builder *designs)
{
    static const int64_t bfloat16 = CALC_DATATYPE_BFLOAT16;
    static const int64_t order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    const facts f = facts_of(space, designs);
    bool offered = true;
    bool seen[CALC_AXIS_COUNT] = {false};
    setter s = {space, CALC_OK};
    for (size_t i = 0; i < designs->systems; i++) {
        const calc_chip *chip = &designs->system[i].system.chip;
        offered = offered && chip->matrix[bfloat16].flop_per_s > 0 &&
                  chip->vector[bfloat16].flop_per_s > 0;
    }
    /* Where somebody says what to recompute, parts are only searched if they are asked for. */
    const calc_values *recompute = &space->axis[CALC_AXIS_activation_recompute];
    seen[CALC_AXIS_recompute_modules] =
        !recompute->standard &&
        !calc_space_has(space, CALC_AXIS_activation_recompute, CALC_ACTIVATION_RECOMPUTE_MODULES);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        calc_axis axis = defaults[i].axis;
        if (!seen[axis] && (defaults[i].needs & ~f.hold) == 0) {
            seen[axis] = true;
            put(&s, axis, defaults[i].value, defaults[i].count, defaults[i].last,
                defaults[i].reason);
        }
    }
    if (ordered(space)) {
        put(&s, CALC_AXIS_rank_order, &order, 1, false, "neighbours share the fastest network");
    }
    if (offered) {
        put(&s, CALC_AXIS_datatype, &bfloat16, 1, false, "every machine has it");
    }
    set_sizes(&s, designs, &f);
    return s.status;
}

calc_status calc_defaults_software(calc_space *space, const calc_exec *software)
{
    setter s = {space, CALC_OK};
    for (int i = 0; i < CALC_AXIS_EXEC_COUNT; i++) {
        const calc_axis axis = (calc_axis)i;
        const int64_t value[] = {0, calc_axis_get(software, axis)};
        bool legal = calc_axis_field(axis)->flags & CALC_AUTO ||
                     axis == CALC_AXIS_param_gather_overlap; /* in some contexts */
        if (calc_exec_rows_has(&software->wished, (size_t)i)) {
            put(&s, axis, legal ? value : value + 1, legal ? 2 : 1, legal,
                "as the software has it");
        }
    }
    return s.status;
}

/* ---- Serving --------------------------------------------------------------------------------- */

/* The default search for layouts that serve, and for one forward pass. */

/* Whether something is served in a phase. */
static bool has_phase(const calc_space *space, calc_inference_phase phase)
{
    const calc_values *phases = &space->axis[CALC_AXIS_inference_phase];
    bool found = space->inference.phase == phase;
    for (size_t i = 0; i < phases->count; i++) {
        found = found || phases->value[i] == (int64_t)phase;
    }
    return found;
}

/* Without a backward pass there is nothing to recompute, to gather again or to overlap with, and no
 * state to shard; requests come in batches of their own, whatever the micro-batch is. */
static void set_forward(setter *s)
{
    static const struct {
        calc_axis axis;
        int64_t value;
    } forward[] = {
        {CALC_AXIS_activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE},
        {CALC_AXIS_recompute_modules, 0},
        {CALC_AXIS_expert_par_overlap, CALC_EXPERT_PAR_OVERLAP_NONE},
        {CALC_AXIS_delayed_wgrad, false},
        {CALC_AXIS_grad_datatype, CALC_FORMAT_AUTO},
        {CALC_AXIS_seq_par_ag_redo, false},
        {CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE},
        {CALC_AXIS_optimizer_sharding, false},
        {CALC_AXIS_zero_stage, 0},
        {CALC_AXIS_cuda_graph, 0},
        {CALC_AXIS_microbatch_size, 1}, /* of what is served: */
        {CALC_AXIS_context_par, 0},
    };
    size_t count = sizeof forward / sizeof *forward;
    count -= s->space->inference.phase == CALC_INFERENCE_PHASE_NONE ? 2 : 0;
    for (size_t i = 0; i < count; i++) {
        put(s, forward[i].axis, &forward[i].value, 1, false, "there is no backward pass");
    }
}

/* The same for a field of what is served, of which the execution that is completed may have a
 * value. */
static void put_served(setter *s, calc_axis axis, const int64_t *value, size_t count)
{
    const calc_field *field = calc_axis_field(axis);
    if (calc_axis_member(field, (const char *)&s->space->inference + field->offset) == 0) {
        put(s, axis, value, count, false, NULL);
    }
}

/* Requests in flight on a replica, four to an octave. With a rate of arrivals, or a batch of them
 * all, they mean nothing. */
static void set_batches(setter *s)
{
    calc_space *space = s->space;
    enum { OCTAVES = 12, STEPS = 4 };
    int64_t value[OCTAVES * STEPS];
    size_t count = 0;
    bool free = space->inference.arrival_rate == 0 && space->inference.batch == 0;
    if (space->axis[CALC_AXIS_batch_size].count > 0) {
        return;
    }
    for (int64_t base = 1; count < (free ? OCTAVES * STEPS : 1); base *= 2) {
        for (int64_t step = 0; step < (free ? STEPS : 1); step++) {
            value[count++] = base + base * step / STEPS;
        }
    }
    space->batch_is_of_replica = true;
    put(s, CALC_AXIS_batch_size, value, count, false, "requests in flight on a replica");
}

/* Two pools share the processors that there are: prefill has sixteenths of them, or single ones. */
static void set_pools(setter *s)
{
    calc_space *space = s->space;
    enum { PARTS = 16, MOST = 64 };
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    bool alone = space->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    int64_t decode[MOST * (PARTS + 1)];
    int64_t prefill[MOST * PARTS];
    size_t decodes = 0;
    size_t prefills = 0;
    bool asked = !space->axis[CALC_AXIS_inference_prefill_procs].standard ||
                 space->inference.prefill_procs > 0 || procs->count == 0 || procs->count > MOST;
    if (asked || !has_phase(space, CALC_INFERENCE_PHASE_DISAGGREGATED) || s->status != CALC_OK) {
        return;
    }
    for (size_t i = 0; i < procs->count; i++) {
        int64_t all = procs->value[i];
        int64_t part = all % PARTS == 0 ? all / PARTS : 1;
        for (int64_t k = 1; k < PARTS && k * part < all; k++) {
            prefill[prefills++] = k * part;
            decode[decodes++] = all - k * part;
        }
        if (!alone) {
            decode[decodes++] = all;
        }
    }
    bool own = procs->standard;
    s->status = calc_values_set(&space->all_procs, procs->value, procs->count);
    if (s->status == CALC_OK && prefills > 0) {
        s->status = calc_space_set(space, CALC_AXIS_num_procs, decode, decodes);
        space->axis[CALC_AXIS_num_procs].standard = own;
        put_served(s, CALC_AXIS_inference_prefill_procs, prefill, prefills);
    }
}

/* The number formats that all designs have from their checkpoints, where somebody asks for no other
 * ones. @return whether these are the same of all */
static bool formats_of(const calc_space *space, const calc_designs_builder *designs, calc_exec *out)
{
    bool same = true;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), out);
    out->training = false;
    out->inference = space->inference;
    const calc_exec open = *out;
    for (size_t i = 0; i < designs->apps * designs->systems; i++) {
        calc_exec e = open;
        calc_checkpoint_formats_take(&designs->app[i / designs->systems].app,
                                     &designs->system[i % designs->systems].system, &e);
        same = same && (i == 0 || calc_axis_compare(&e, out) == 0);
        *out = e;
    }
    return same;
}

/* Weights and their multiplications as they were published, where nobody asks for others: then each
 * layout has what is left of its checkpoint's. */
static void set_formats(setter *s, const calc_designs_builder *designs)
{
    static const calc_axis axes[] = {CALC_AXIS_weight_datatype, CALC_AXIS_weight_scale_bits,
                                     CALC_AXIS_matrix_datatype, CALC_AXIS_scaling};
    static const calc_axis served[] = {CALC_AXIS_inference_kv_datatype,
                                       CALC_AXIS_inference_wide_attention};
    bool some = false;
    calc_exec e;
    for (size_t i = 0; i < designs->apps; i++) {
        some = some || !calc_absent_is(calc_table_find(calc_table_of(CALC_KIND_APP), "checkpoint"),
                                       &designs->app[i].app.checkpoint);
    }
    bool same = some && formats_of(s->space, designs, &e);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        same = same && s->space->axis[axes[i]].standard;
    }
    for (size_t i = 0; i < sizeof axes / sizeof *axes && some; i++) {
        int64_t value = same ? calc_axis_get(&e, axes[i]) : 0;
        put(s, axes[i], &value, 1, false,
            axes[i] == CALC_AXIS_scaling ? "with matrix_datatype"
            : same                       ? "the checkpoint's"
                                         : "the checkpoint's, with its weights");
    }
    for (size_t i = 0; i < sizeof served / sizeof *served && same; i++) {
        int64_t value = calc_axis_get(&e, served[i]);
        if (value != 0) {
            put_served(s, served[i], &value, 1);
        }
    }
}

/* The usual choices for serving: requests in flight, experts, chunks, and with two pools their
 * sizes. */
static void set_serving(setter *s, const calc_designs_builder *designs)
{
    static const int64_t chunk[] = {128, 256, 512, 1024, 2048, 4096, 8192, 16384};
    static const int64_t split[] = {1, 2, 4, 8};
    static const int64_t comm[] = {CALC_TENSOR_PAR_COMM_TYPE_AR, CALC_TENSOR_PAR_COMM_TYPE_RS_AG};
    static const int64_t dispatch[] = {CALC_DISPATCH_TYPE_NODE_LIMITED,
                                       CALC_DISPATCH_TYPE_REPLICATED};
    set_batches(s);
    set_formats(s, designs);
    /* Rows take the second where experts need it. */
    put(s, CALC_AXIS_tensor_par_comm_type, comm, 2, false, "engines all-reduce");
    if (calc_defaults_most(designs, "num_experts") > 0) { /* calc_serving_engine_spread() */
        put(s, CALC_AXIS_expert_tensor_par, NULL, 0, true,
            "experts are split over the ranks that spread them leaves");
        put(s, CALC_AXIS_dispatch_type, dispatch, 2, true, "as engines bring tokens to experts");
    }
    if (has_phase(s->space, CALC_INFERENCE_PHASE_SERVE)) {
        put_served(s, CALC_AXIS_inference_chunk_size, chunk, sizeof chunk / sizeof *chunk);
    }
    if (has_phase(s->space, CALC_INFERENCE_PHASE_DISAGGREGATED)) {
        put_served(s, CALC_AXIS_inference_prefill_tensor_par, split, sizeof split / sizeof *split);
    }
    set_pools(s);
}

calc_status calc_defaults_set(calc_space *space, const calc_designs_builder *designs,
                              calc_compat compat)
{
    static const int64_t no_training = false;
    bool today = true;
    calc_exec plain;
    setter s = {space, CALC_OK};
    bool serves = space->inference.phase != CALC_INFERENCE_PHASE_NONE;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &plain);
    for (size_t i = 0; i < designs->apps && compat != CALC_COMPAT_NONE; i++) {
        today = today && calc_calculon_lacks(&designs->app[i].app, &plain.strategy);
    }
    if (today) {
        s.status = calc_defaults_modern(space, designs);
    }
    if (serves) {
        put(&s, CALC_AXIS_training, &no_training, 1, false, "it is served");
    }
    if (!calc_space_has(space, CALC_AXIS_training, true)) {
        set_forward(&s);
    }
    if (serves) {
        set_serving(&s, designs);
    }
    return s.status;
}

calc_status calc_defaults_stages(calc_space *space, const calc_designs_builder *designs,
                                 const calc_sweep_options *options)
{
    enum { MOST = 64 };
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    int64_t most = procs->count > 0 ? procs->value[procs->count - 1] : 0;
    int64_t stages[MOST] = {1};
    int64_t count = 1;
    bool waits = false;
    setter s = {space, CALC_OK};
    for (size_t i = 0; i < options->constraints; i++) {
        const calc_constraint *c = &options->constraint[i]; /* on what a user waits for? */
        bool time = c->field->unit && strcmp(c->field->unit, "s") == 0;
        waits =
            waits || (c->kind == CALC_KIND_STATS &&
                      (time || c->field->offset == offsetof(calc_stats, tokens_per_s_per_user)));
    }
    for (size_t i = 0; i < designs->systems; i++) {
        int64_t node = designs->system[i].system.networks[0].size;
        for (; count < MOST && (count + 1) * node <= most; count++) {
            stages[count] = count + 1;
        }
    }
    if (waits && space->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        put(&s, CALC_AXIS_pipeline_par, stages, (size_t)count, false,
            "no stages within a node where users wait");
    }
    return s.status;
}

void calc_defaults_check(const calc_space *space, const calc_designs_builder *designs,
                         calc_errors *errors)
{
    int before = errors->count;
    calc_exec plain;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &plain);
    (void)!calc_served_at(space, 0, &plain.inference);
    plain.training = !calc_space_has(space, CALC_AXIS_training, false);
    plain.pipeline_par = plain.pipeline_interleaving = 1;
    plain.strategy.tensor_par = plain.strategy.data_par = 1;
    plain.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    for (size_t i = 0; i < designs->apps && errors->count == before; i++) {
        calc_rules_inference(&designs->app[i].app, &plain, errors);
    }
    for (size_t i = 0; i < designs->systems && errors->count == before; i++) {
        const calc_system *system = &designs->system[i].system;
        const calc_values *datatypes = &space->axis[CALC_AXIS_datatype];
        /* Layouts may use any network of the run's system. */
        plain.strategy.data_par_net = system->networks_count - 1;
        plain.strategy.datatype =
            datatypes->count > 0 ? (calc_datatype)datatypes->value[0] : calc_units_datatype(system);
        calc_rules_prefill_system(&designs->app[0].app, system, &plain, errors);
        calc_serving_engine_check(system, &space->inference.engine, errors);
    }
}
