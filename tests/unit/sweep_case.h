/* A sweep of a few chunks to cut into parts: GPT-3 175B on 64 A100. */
#ifndef CALC_TESTS_SWEEP_CASE_H
#define CALC_TESTS_SWEEP_CASE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "sweep.h"

typedef struct sweep_case {
    calc_app app;
    calc_system system;
    calc_space space;
    calc_designs designs;
    calc_sweep_options options;
} sweep_case;

static inline void sweep_case_get(const void *context, uint64_t index, calc_app *app,
                                  calc_system *system)
{
    const sweep_case *c = context;
    ck_assert_uint_eq(index, 0);
    *app = c->app;
    *system = c->system;
}

static inline void sweep_case_objective(calc_objective *out, const char *text)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_objective_parse(out, text, &errors), CALC_OK);
}

/* Keeps everything that is counted comparable: no pruning. `c` stays where it is. */
static inline void sweep_case_init(sweep_case *c)
{
    static const int64_t procs = 64;
    static const int64_t batch = 64;
    static const int64_t datatype = CALC_DATATYPE_FLOAT16;
    calc_errors errors = {0};
    *c = (sweep_case){.designs = {.count = 1, .get = sweep_case_get, .context = c},
                      .options = {.objectives = 3, .top = 20, .no_prune = true, .threads = 1}};
    ck_assert_int_eq(
        calc_load(CALC_KIND_APP, &c->app, CALC_DATA_DIR_SOURCE "/models/gpt3-175B.json", &errors),
        CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &c->system,
                               CALC_DATA_DIR_SOURCE "/systems/a100_80g.json", &errors),
                     CALC_OK);
    ck_assert_int_eq(calc_space_init(&c->space), CALC_OK);
    ck_assert_int_eq(calc_space_set(&c->space, CALC_AXIS_num_procs, &procs, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&c->space, CALC_AXIS_batch_size, &batch, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&c->space, CALC_AXIS_datatype, &datatype, 1), CALC_OK);
    sweep_case_objective(&c->options.objective[0], "sample_rate");
    sweep_case_objective(&c->options.objective[1], "mem1");
    sweep_case_objective(&c->options.objective[2], "mem2");
    sweep_case_objective(&c->options.top_by, "sample_rate");
}

/* Counts, fronts and tops are the same to the bit. */
static inline void sweep_case_same(const calc_sweep_result *a, const calc_sweep_result *b)
{
    calc_pack x = {0};
    calc_pack y = {0};
    calc_pack_result(&x, a);
    calc_pack_result(&y, b);
    ck_assert_uint_eq(x.size, y.size);
    ck_assert_mem_eq(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
}

#endif
