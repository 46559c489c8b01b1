#include "formats/import_batch.h"

#include "base/error.h"

#define SET(name, number) (plan->value[CALC_PLAN_##name] = (double)(number))
#define SAYS(name) calc_plan_says(plan, CALC_PLAN_##name)
#define VALUE(name) calc_plan_value(plan, CALC_PLAN_##name)

/* Number of replicas, if the number of processors is known; else 0. */
static double replicas_of(const calc_plan *plan)
{
    double each = VALUE(TENSOR) * VALUE(PIPELINE) * VALUE(CONTEXT);
    return SAYS(PROCS) ? floor(plan->value[CALC_PLAN_PROCS] / each) : 0;
}

static calc_status settle_product(calc_plan *plan, calc_errors *errors)
{
    double replicas = replicas_of(plan);
    if (!SAYS(PROCS) && SAYS(BATCH) && SAYS(MICROBATCH) && SAYS(MICROBATCHES)) {
        SET(DATA, floor(VALUE(BATCH) / VALUE(MICROBATCH) / VALUE(MICROBATCHES)));
    }
    if (!SAYS(BATCH) || !(replicas >= 1)) {
        return CALC_OK;
    }
    double batch = plan->value[CALC_PLAN_BATCH];
    double passes = VALUE(MICROBATCHES);
    if (!SAYS(MICROBATCH)) {
        double each = batch / replicas / passes;
        if (each >= 1 && each == floor(each)) {
            SET(MICROBATCH, each);
            return CALC_OK;
        }
    } else if (!SAYS(MICROBATCHES) || VALUE(MICROBATCH) * passes * replicas == batch) {
        return CALC_OK;
    }
    return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                           "the global batch of %.0f is not micro-batch * accumulation * replicas: "
                           "%.0f * %.0f * %.0f",
                           batch, VALUE(MICROBATCH), passes, replicas);
}

static void settle_local_batch(calc_plan *plan)
{
    double local = VALUE(LOCAL_BATCH);
    if (!(VALUE(PIPELINE) > 1)) {
        SET(MICROBATCH, local);
    } else if (!SAYS(BATCH)) {
        double passes = floor(local / VALUE(MICROBATCH));
        SET(MICROBATCHES, passes >= 1 ? passes : 1);
    }
}

/* Sharding by TorchTitan's policy "default": weights stay gathered in the step if there are stages.
 * Replicas that consist of one shard are not sharded. */
static void settle_sharding(calc_plan *plan)
{
    if (SAYS(SHARD_RANKS) && plan->value[CALC_PLAN_SHARD_RANKS] == 1) {
        SET(SHARDED, 0);
    } else if (!SAYS(SHARDED) && VALUE(PIPELINE) > 1) {
        SET(SHARDED, 2);
    }
}

calc_status calc_import_batch(const calc_framework *framework, calc_plan *plan, calc_errors *errors)
{
    if (SAYS(LOCAL_BATCH)) {
        settle_local_batch(plan);
    }
    if (framework == &calc_framework_torchtitan) {
        settle_sharding(plan);
        if (SAYS(MODEL) && (SAYS(CHUNK_BLOCKS) || VALUE(RECOMPUTE_EVERY) > 1)) {
            SET(BLOCKS, calc_plan_model_blocks((int)plan->value[CALC_PLAN_MODEL]));
        }
        return CALC_OK;
    }
    if (framework != &calc_framework_deepspeed) {
        return CALC_OK;
    }
    /* Default of runtime/zero/config.py for a missing overlap_comm. */
    if (VALUE(SHARDED) == 3 && !SAYS(GRAD_OVERLAP)) {
        SET(GRAD_OVERLAP, 1);
    }
    return settle_product(plan, errors);
}
