#include "plan/sweep_found.h"

#include <stdatomic.h>
#include <string.h>

#include "parallel.h"

void calc_sweep_found_run(const calc_sweep_study *study, const calc_found *found,
                          calc_sweep_found *out)
{
    calc_app app;
    calc_system system;
    study->designs.get(study->designs.context, found->design, &app, &system);
    out->design = found->design;
    out->exec = calc_found_exec(found);
    calc_run(&app, &system, &out->exec, study->options.compat, &out->stats);
}

static void name_systems(const calc_sweep_study *study, calc_front *list)
{
    for (size_t i = 0; i < list->count; i++) {
        calc_found *found = &list->item[i];
        calc_exec exec = calc_found_exec(found);
        exec.inference.engine = study->space.inference.engine;
        if (exec.inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
            exec.inference.prefill_system = study->space.inference.prefill_system;
        }
        memcpy(found->layout, &exec, sizeof found->layout);
    }
}

void calc_sweep_found_systems(const calc_sweep_study *study, calc_sweep_result *result)
{
    for (size_t g = 0; g < result->groups_count; g++) {
        name_systems(study, &result->group[g].front);
        name_systems(study, &result->group[g].top);
    }
}

calc_status calc_sweep_found_search(const calc_sweep_study *study, bool no_prune,
                                    calc_sweep_counts *counts, bool *found, calc_found *best,
                                    calc_errors *errors)
{
    const calc_sweep_options options = {.compat = study->options.compat,
                                        .top = 1,
                                        .top_by = study->options.top_by,
                                        .constraints = study->options.constraints,
                                        .constraint = study->options.constraint,
                                        .runs = study->options.runs,
                                        .runs_context = study->options.runs_context,
                                        .runs_name = study->options.runs_name,
                                        .no_prune = no_prune,
                                        .threads = study->options.threads,
                                        .cpu = study->options.cpu};
    calc_sweep_result result = {0};
    calc_status status = calc_sweep(&study->space, &study->designs, &options, &result, errors);
    *found = status == CALC_OK && result.group[0].top.count > 0;
    if (*found) {
        *best = result.group[0].top.item[0];
    }
    if (counts) {
        *counts = result.counts;
    }
    calc_sweep_result_free(&result);
    return status;
}

int calc_sweep_found_simpler(const calc_exec *a, const calc_exec *b)
{
    enum { PARTS = 5 };
    double part[2][PARTS];
    for (int i = 0; i < 2; i++) {
        const calc_exec *e = i == 0 ? a : b;
        const calc_strategy *s = &e->strategy;
        double context = s->context_par > 1 ? (double)s->context_par : 1;
        double sharded = s->zero_stage == 3 ? (double)s->data_par : 1;
        part[i][0] = (double)s->tensor_par * (double)e->pipeline_par * context * sharded;
        part[i][1] = (double)s->tensor_par;
        part[i][2] = s->expert_par > 1 ? (double)s->expert_par : 1;
        part[i][3] = (double)e->pipeline_interleaving;
        part[i][4] = (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE) +
                     s->weight_offload + s->activations_offload + s->optimizer_offload;
    }
    int k = 0;
    while (k < PARTS - 1 && part[0][k] == part[1][k]) {
        k++;
    }
    return (part[0][k] > part[1][k]) - (part[0][k] < part[1][k]);
}

/* A list that all threads evaluate with calc_run(). */
typedef struct question {
    const calc_sweep_study *study;
    const calc_front *list;
    const calc_objective *objective;
    size_t count;
    atomic_bool differs;
} question;

static void ask(void *context, size_t i)
{
    question *q = context;
    const calc_found *item = &q->list->item[i];
    calc_app app;
    calc_system system;
    calc_stats stats;
    const calc_exec exec = calc_found_exec(item);
    q->study->designs.get(q->study->designs.context, item->design, &app, &system);
    /* What was read from a file may break any rule. */
    bool agrees =
        calc_check(&app, &system, &exec, NULL) == CALC_OK &&
        calc_run(&app, &system, &exec, q->study->options.compat, &stats) == CALC_VERDICT_OK;
    for (size_t k = 0; k < q->count && agrees; k++) {
        agrees = calc_objective_of(&q->objective[k], &stats) == item->objective[k];
    }
    if (!agrees) {
        atomic_store(&q->differs, true);
    }
}

static bool list_agrees(const calc_sweep_study *study, const calc_front *list,
                        const calc_objective *objective, size_t count)
{
    enum { SEVERAL = 64 }; /* below that, threads cost more than they save */
    question q = {.study = study, .list = list, .objective = objective, .count = count};
    calc_parallel_for(list->count < SEVERAL ? 1 : study->options.threads, list->count, ask, &q);
    return !atomic_load(&q.differs);
}

bool calc_sweep_found_agree(const calc_sweep_study *study, const calc_sweep_result *result)
{
    const calc_sweep_options *o = &study->options;
    bool fine = true;
    for (size_t g = 0; g < result->groups_count && fine; g++) {
        fine = list_agrees(study, &result->group[g].front, o->objective, o->objectives) &&
               list_agrees(study, &result->group[g].top, &o->top_by, 1);
    }
    return fine;
}

const calc_found *calc_sweep_found_best(const calc_sweep_group *group)
{
    const calc_front *list = group->top.count > 0 ? &group->top : &group->front;
    return list->count > 0 ? list->item : NULL;
}

const calc_found *calc_sweep_found_best_of_all(const calc_sweep_result *result)
{
    const calc_found *best = NULL;
    for (size_t g = 0; g < result->groups_count; g++) {
        const calc_found *found = calc_sweep_found_best(&result->group[g]);
        if (found && (!best || found->objective[0] < best->objective[0])) {
            best = found;
        }
    }
    return best;
}
