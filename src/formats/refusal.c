/* Source: Megatron-LM 0.20, megatron/training/arguments.py and
 * megatron/core/transformer/transformer_config.py; PaddleNLP 3.0,
 * paddlenlp/trainer/training_args.py. */
#include "formats/refusal.h"

/* A model and its layout, resolved. */
typedef struct resolved {
    calc_app app;
    calc_exec exec;
} resolved;

/* ---- Megatron Core --------------------------------------------------------------------------- */

static bool batch_overlap(const resolved *r)
{
    return r->app.num_experts > 0 &&
           r->exec.strategy.expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
}

static bool overlaps_without_chunks(const resolved *r)
{
    return batch_overlap(r) && r->exec.pipeline_par > 1 && r->exec.pipeline_interleaving == 1;
}

static bool overlaps_and_recomputes(const resolved *r)
{
    return batch_overlap(r) &&
           r->exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
}

static bool overlaps_without_expert_ranks(const resolved *r)
{
    return batch_overlap(r) && r->exec.strategy.expert_par <= 1;
}

/* Stages hold equally many blocks, but for the first and the last where they are given. */
static bool stages_are_uneven(const resolved *r)
{
    const calc_exec *e = &r->exec;
    bool first = e->first_stage_blocks > 0;
    bool last = e->last_stage_blocks > 0;
    int64_t blocks = r->app.num_blocks - e->first_stage_blocks - e->last_stage_blocks;
    int64_t stages = e->pipeline_par - first - last;
    if (e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS) {
        blocks += 2; /* embedding and head count as one each */
    }
    return e->pipeline_par > 1 && stages > 0 && blocks % (stages * e->pipeline_interleaving) != 0;
}

static bool blocks_are_spread_freely(const resolved *r)
{
    return r->exec.pipeline_par > 1 && r->exec.pipeline_balance == CALC_PIPELINE_BALANCE_FREE;
}

static bool experts_without_sequence_par(const resolved *r)
{
    return r->app.num_experts > 0 && r->exec.strategy.tensor_par > 1 &&
           r->exec.strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
}

static bool fused_without_sequence_par(const resolved *r)
{
    int overlap = (int)r->exec.strategy.tensor_par_overlap;
    return r->exec.strategy.tensor_par > 1 && overlap > CALC_TENSOR_PAR_OVERLAP_NONE &&
           overlap != CALC_TENSOR_PAR_OVERLAP_ASYNC &&
           r->exec.strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
}

static bool ends_and_lengths(const resolved *r)
{
    return r->exec.pipeline_balance == CALC_PIPELINE_BALANCE_ENDS &&
           (r->exec.first_stage_blocks > 0 || r->exec.last_stage_blocks > 0);
}

/* ---- PaddleNLP ------------------------------------------------------------------------------- */

static bool stages_and_sharded_gradients(const resolved *r)
{
    return r->exec.pipeline_par > 1 && r->exec.strategy.zero_stage >= 2;
}

/* ---------------------------------------------------------------------------------------------- */

typedef struct refusal {
    bool (*applies)(const resolved *r);
    const char *reason;
} refusal;

static const refusal overlap[] = {
    {overlaps_without_chunks,
     "expert_par_overlap batch with pipeline stages needs pipeline_interleaving of at least 2"},
    {overlaps_and_recomputes, "expert_par_overlap batch excludes activation_recompute full"},
    {overlaps_without_expert_ranks, "expert_par_overlap batch needs expert_par of at least 2"}};
static const refusal mcore[] = {
    {blocks_are_spread_freely,
     "pipeline_balance free is --pipeline-model-parallel-layout, which is yours to write"},
    {stages_are_uneven, "the blocks do not divide by stages and chunks: first_stage_blocks or "
                        "last_stage_blocks can take what is left"},
    {experts_without_sequence_par,
     "experts with tensor_par above 1 need tensor_par_comm_type rs_ag"},
    {fused_without_sequence_par,
     "tensor_par_overlap other than none and async needs tensor_par_comm_type rs_ag"},
    {ends_and_lengths, "pipeline_balance ends excludes first_stage_blocks and last_stage_blocks"}};
static const refusal paddle[] = {
    {stages_and_sharded_gradients, "zero_stage 2 and 3 exclude pipeline stages"}};

static const struct {
    const calc_framework *framework;
    const refusal *refusals;
    size_t count;
} checks[] = {
    {&calc_framework_megatron, overlap, sizeof overlap / sizeof *overlap},
    {&calc_framework_bridge, overlap, sizeof overlap / sizeof *overlap},
    {&calc_framework_megatron, mcore, sizeof mcore / sizeof *mcore},
    {&calc_framework_mindspeed, mcore, sizeof mcore / sizeof *mcore},
    {&calc_framework_nemo, mcore, sizeof mcore / sizeof *mcore},
    {&calc_framework_bridge, mcore, sizeof mcore / sizeof *mcore},
    {&calc_framework_paddle, paddle, sizeof paddle / sizeof *paddle},
};

size_t calc_export_refused(const calc_framework *framework, const calc_app *app,
                           const calc_exec *exec, void (*tell)(void *context, const char *reason),
                           void *context)
{
    resolved r = {*app, *exec};
    size_t told = 0;
    calc_plan_resolve(&r.app, &r.exec);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        for (size_t j = 0; checks[i].framework == framework && j < checks[i].count; j++) {
            if (checks[i].refusals[j].applies(&r)) {
                tell(context, checks[i].refusals[j].reason);
                told++;
            }
        }
    }
    return told;
}
