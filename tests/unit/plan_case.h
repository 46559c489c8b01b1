/** @file plan_case.h  Small models on shipped machines, to plan and to try all divisions of. */
#ifndef CALC_TESTS_PLAN_CASE_H
#define CALC_TESTS_PLAN_CASE_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "plan/planner.h"
#include "shipped_case.h"
#include "spec/stage_list.h"

/** A planner of one layout: all that it points to. Does not move. */
typedef struct plan_case {
    calc_app app;
    calc_planner_chip chip[CALC_MAX_CHIPS];
    calc_exec only;
    calc_planner planner;
} plan_case;

/** The same to the bit. There is nothing to compare between the verdict and the first statistic. */
#define ASSERT_SAME_STATS(a, b)                                                                    \
    do {                                                                                           \
        ck_assert_int_eq((a)->verdict, (b)->verdict);                                              \
        ck_assert_mem_eq((const char *)(a) + offsetof(calc_stats, block_fw_flops),                 \
                         (const char *)(b) + offsetof(calc_stats, block_fw_flops),                 \
                         sizeof *(a)-offsetof(calc_stats, block_fw_flops));                        \
    } while (0)

/** Llama 2 70B with few blocks on tensor_par 4 and data_par 2. */
static inline void plan_case_init(plan_case *c, int blocks, int stages, int microbatches, int chips)
{
    static const char *const names[] = {"a800", "h800", "h100_sxm"};
    memset(c, 0, sizeof *c);
    load_shipped(CALC_KIND_APP, &c->app, "models", "llama2-70B");
    load_shipped(CALC_KIND_EXEC, &c->only, "executions", "llama3-70B_512");
    c->app.num_blocks = blocks;
    for (int i = 0; i < chips; i++) {
        snprintf(c->chip[i].name, sizeof c->chip[i].name, "%s", names[i]);
        load_shipped(CALC_KIND_SYSTEM, &c->chip[i].system, "systems", names[i]);
        c->chip[i].most_procs = INT64_MAX;
    }
    calc_exec *e = &c->only;
    e->strategy.tensor_par = 4;
    e->strategy.context_par = 1;
    e->strategy.data_par = 2;
    e->pipeline_par = stages;
    e->pipeline_interleaving = 1;
    e->num_procs = (int64_t)4 * 2 * stages;
    e->batch_size = (int64_t)2 * microbatches;
    c->planner = (calc_planner){.app = &c->app,
                                .chips = chips,
                                .chip = c->chip,
                                .only = &c->only,
                                .recompute = true,
                                .top = 1,
                                .threads = 1};
}

static inline calc_planner_result plan_case_run(const calc_planner *planner)
{
    calc_planner_result r;
    calc_errors errors = {0};
    ck_assert_msg(calc_planner_run(planner, &r, &errors) == CALC_OK, "%s", errors.item[0].text);
    return r;
}

#endif
