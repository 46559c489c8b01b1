#include "galvatron/measure.h"

#include "base/error.h"
#include "galvatron/reading.h"
#include "model/operators/processor.h"
#include "model/stages/layout.h"
#include "spec/absent.h"
#include "spec/field.h"

static const double MB = 1048576;
/* Message sizes for bandwidths: gradients are large messages, activations smaller ones. */
static const double ALLREDUCE_MB = 512, P2P_MB = 32;

/* ---- The model ------------------------------------------------------------------------------- */

static void exec_of(const calc_galvatron_synthesis *s, const calc_galvatron_run *run, calc_exec *e)
{
    static const calc_datatype datatypes[] = {CALC_DATATYPE_FLOAT32, CALC_DATATYPE_FLOAT16,
                                              CALC_DATATYPE_BFLOAT16};
    bool grouped = s->app->kv_heads > 0 && s->app->kv_heads < s->app->attn_heads;
    bool split = run->tensor_par > 1 && run->sequence_par;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), e);
    e->pipeline_par = run->stages ? 2 : 1;
    e->num_procs = run->tensor_par * e->pipeline_par;
    e->pipeline_interleaving = 1;
    e->batch_size = run->batch * e->pipeline_par;
    e->microbatch_size = run->batch;
    e->seq_size = run->sequence;
    e->training = true;
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    calc_strategy *strategy = &e->strategy;
    strategy->tensor_par = run->tensor_par;
    strategy->data_par = 1;
    strategy->datatype = datatypes[s->request->mixed_precision];
    strategy->fused_activation = true;
    strategy->flash_attention = true;
    strategy->attention_type =
        grouped ? CALC_ATTENTION_TYPE_GROUPED_QUERY : CALC_ATTENTION_TYPE_MULTIHEAD;
    strategy->activation_recompute =
        run->checkpoint ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE;
    strategy->tensor_par_comm_type =
        split ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    strategy->memory_model = CALC_MEMORY_MODEL_MEGATRON;
}

calc_status calc_galvatron_synthesis_check(const calc_galvatron_synthesis *s, calc_errors *errors)
{
    const calc_galvatron_request *request = s->request;
    calc_galvatron_run run = {.tensor_par = 1, .batch = 1, .sequence = request->layers[0].seq_len};
    calc_exec exec;
    if (request->types != 1) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "%d types of layers, expected 1: models of calc have no more",
                               request->types);
    }
    calc_status status = calc_galvatron_world_check(request, errors);
    if (status != CALC_OK) {
        return status;
    }
    exec_of(s, &run, &exec);
    exec.num_procs = calc_galvatron_world(request);
    exec.strategy.data_par = exec.num_procs;
    exec.batch_size = exec.num_procs;
    return calc_check(s->app, s->system, &exec, errors);
}

static double mean(const double of[CALC_STAGE_KINDS], double experts)
{
    return of[0] + (of[1] - of[0]) * experts;
}

/* Measures the mean layer, and the ends. */
static void take(const calc_layout *l, const calc_galvatron_run *run, calc_galvatron_measured *out)
{
    const calc_stage_terms *t = &l->terms;
    double experts = calc_shape_moe_blocks(&l->shape) / l->shape.blocks;
    double s[CALC_STAGE_KINDS], elements[CALC_STAGE_KINDS], bytes[CALC_STAGE_KINDS];
    double passing[CALC_STAGE_KINDS];
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        const calc_stage_part *block = &t->block[kind];
        s[kind] = block->fw_s;
        elements[kind] = block->weights.dense + block->weights.expert;
        bytes[kind] = run->checkpoint ? block->kept_bytes : block->whole_bytes;
        passing[kind] = block->passing_bytes;
    }
    double beside = mean(passing, experts);
    out->layer_ms = mean(s, experts) * 1e3;
    out->layer_elements = mean(elements, experts);
    out->layer_mb = mean(bytes, experts) / MB;
    out->other_ms = (t->embedding.fw_s + t->head.fw_s) * 1e3;
    out->first_elements = t->embedding.weights.dense;
    out->last_elements = t->head.weights.dense;
    out->first_mb = (t->embedding.whole_bytes + beside) / MB;
    out->last_mb = (t->head.whole_bytes + calc_max(beside, t->head.passing_bytes)) / MB;
}

bool calc_galvatron_measure(const calc_galvatron_synthesis *s, const calc_galvatron_run *run,
                            calc_galvatron_measured *out)
{
    calc_exec exec;
    calc_layout layout;
    calc_errors ignored = {0};
    exec_of(s, run, &exec);
    if (calc_check(s->app, s->system, &exec, &ignored) != CALC_OK) {
        return false;
    }
    calc_layout_of(s->app, s->system, &exec, CALC_COMPAT_NONE, NULL, &layout);
    take(&layout, run, out);
    return true;
}

/* ---- The machine ----------------------------------------------------------------------------- */

/* Ranks of a collective at this distance from one another. */
static double collective_ms(const calc_galvatron_synthesis *s, calc_collective_op op, int64_t ranks,
                            int64_t stride, double mb)
{
    const calc_group group = {.ranks = (double)ranks, .stride = (double)stride};
    calc_system system = *s->system;
    if (s->request->num_nodes > 1 && system.networks[0].size > s->request->num_gpus_per_node) {
        system.networks[0].size = s->request->num_gpus_per_node; /* at most one node apart */
    }
    return calc_collective_s(&system, op, &group, mb * MB) * 1e3;
}

static int64_t farthest(const calc_galvatron_synthesis *s, int64_t ranks)
{
    return calc_galvatron_world(s->request) / ranks;
}

double calc_galvatron_measure_allreduce(const calc_galvatron_synthesis *s, int64_t ranks,
                                        bool neighbours)
{
    double n = (double)ranks;
    return 2 * (n - 1) / n * ALLREDUCE_MB /
           collective_ms(s, CALC_OP_ALL_REDUCE, ranks, neighbours ? 1 : farthest(s, ranks),
                         ALLREDUCE_MB);
}

double calc_galvatron_measure_p2p(const calc_galvatron_synthesis *s, int64_t stages)
{
    return P2P_MB / collective_ms(s, CALC_OP_P2P, stages, farthest(s, stages), P2P_MB);
}

double calc_galvatron_measure_collective_ms(const calc_galvatron_synthesis *s, bool allreduce,
                                            int64_t ranks, double mb)
{
    return collective_ms(s, allreduce ? CALC_OP_ALL_REDUCE : CALC_OP_ALL_TO_ALL, ranks, 1, mb);
}

double calc_galvatron_measure_overlap(const calc_galvatron_synthesis *s)
{
    const calc_group all = {.ranks = (double)calc_galvatron_world(s->request), .stride = 1};
    int64_t top = calc_collective_top_network(s->system, &all);
    double usage = 0;
    for (int64_t i = 0; i <= top; i++) {
        usage = calc_max(usage, s->system->networks[i].processor_usage);
    }
    return 1 / (1 - usage);
}
