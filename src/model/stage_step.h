/** @file stage_step.h  Stages in a step: the time of the pipeline from what each class of stages
 *  takes. Doubles only, in small inline functions, so that a sweep can call them on many layouts.
 */
#ifndef CALC_MODEL_STAGE_STEP_H
#define CALC_MODEL_STAGE_STEP_H

#include "model/processor.h"
#include "model/stages.h"

/** One micro-batch on a stage of a class [s]. */
typedef struct calc_stage_pass {
    double stages; /**< equal ones in a row */
    double fw_s, agrad_s, wgrad_s;
} calc_stage_pass;

static inline double calc_stage_pass_s(const calc_stage_pass *p)
{
    return p->fw_s + p->agrad_s + p->wgrad_s;
}

/** Time until the last stage has passed the last micro-batch back to the first [s].
 *  1F1B and GPipe: the longest of the paths that wait for one stage, physics of a flow shop; exact
 *  for equal stages, else a lower bound (docs/schedules.md has the measured error).
 *  @param pass  `count` classes in order of the pipeline */
static inline double calc_stage_pipeline_s(calc_pipeline_schedule schedule, bool training,
                                           const calc_stage_pass *pass, size_t count, double stages,
                                           double chunks, double microbatches)
{
    double sum_s = 0;
    double slowest_s = 0;
    size_t slowest = 0;
    for (size_t i = 0; i < count; i++) {
        double s = calc_stage_pass_s(&pass[i]);
        sum_s += pass[i].stages * s;
        slowest = s > slowest_s ? i : slowest;
        slowest_s = calc_max(slowest_s, s);
    }
    const calc_stage_pass *most = &pass[slowest];
    double others = stages - 1;
    if (!training) {
        return sum_s + (microbatches - 1) * slowest_s;
    }
    switch (schedule) {
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
        return microbatches * slowest_s + others * (most->fw_s + most->agrad_s - most->wgrad_s);
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
    case CALC_PIPELINE_SCHEDULE_ZB_V:
        return microbatches * slowest_s +
               others * calc_max(0, most->fw_s + most->agrad_s - 2 * most->wgrad_s);
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V:
        return microbatches * slowest_s +
               calc_max(0, stages / 2 - 1) *
                   calc_max(0, slowest_s + most->agrad_s - 2 * most->wgrad_s);
    default:
        break;
    }
    if (chunks > 1) {
        double rest = microbatches - stages * (double)(int64_t)(microbatches / stages);
        double lost = rest > 0 ? (chunks - 1) * (stages - rest) : 0;
        return microbatches * slowest_s + (sum_s - slowest_s + lost * slowest_s) / chunks;
    }
    double longest_s = 0;
    double before_s = 0;
    for (size_t i = 0; i < count; i++) {
        double s = calc_stage_pass_s(&pass[i]);
        double path_s = before_s + pass[i].stages * s + (microbatches - 1) * s;
        for (size_t j = i + 1; j < count; j++) {
            path_s += pass[j].stages * calc_max(0, 2 * calc_stage_pass_s(&pass[j]) - s);
        }
        longest_s = calc_max(longest_s, path_s);
        before_s += pass[i].stages * s;
    }
    return longest_s;
}

#endif
