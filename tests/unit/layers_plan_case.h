/** @file layers_plan_case.h  Small models on shipped machines, to plan the layers of. */
#ifndef CALC_TESTS_LAYERS_PLAN_CASE_H
#define CALC_TESTS_LAYERS_PLAN_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "defaults.h"
#include "designs.h"
#include "plan/layers_join.h"
#include "shipped_case.h"

/** A planner and all that it points to. Does not move. */
typedef struct layers_plan {
    calc_app app;
    calc_planner_chip chip;
    calc_space space;
    calc_designs_builder builder;
    calc_planner planner;
} layers_plan;

static inline void layers_plan_axis(layers_plan *l, calc_axis axis, const int64_t *value,
                                    size_t count)
{
    ck_assert_int_eq(calc_space_set(&l->space, axis, value, count), CALC_OK);
    l->space.axis[axis].standard = false;
}

static inline void layers_plan_set(layers_plan *l, calc_axis axis, int64_t value)
{
    layers_plan_axis(l, axis, &value, 1);
}

/** Axes may be set from here on. */
static inline void layers_plan_init(layers_plan *l, const char *app, const char *system, int blocks,
                                    int procs, int batch)
{
    memset(l, 0, sizeof *l);
    load_shipped(CALC_KIND_APP, &l->app, "models", app);
    load_shipped(CALC_KIND_SYSTEM, &l->chip.system, "systems", system);
    l->app.num_blocks = blocks;
    l->app.dense_blocks = l->app.dense_blocks < blocks ? l->app.dense_blocks : 1;
    ck_assert_int_eq(calc_space_init(&l->space), CALC_OK);
    l->space.batch_is_maximum = false;
    layers_plan_set(l, CALC_AXIS_num_procs, procs);
    layers_plan_set(l, CALC_AXIS_batch_size, batch);
    l->planner = (calc_planner){
        .app = &l->app, .chips = 1, .chip = &l->chip, .space = &l->space, .top = 1, .threads = 1};
}

/** The other axes are as in calc plan. */
static inline void layers_plan_ready(layers_plan *l)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_designs_add_app(&l->builder, "app", &l->app), CALC_OK);
    ck_assert_int_eq(calc_designs_add_system(&l->builder, "sys", &l->chip.system), CALC_OK);
    ck_assert_int_eq(calc_defaults_modern(&l->space, &l->builder), CALC_OK);
    ck_assert_int_eq(calc_designs_make(&l->builder, &l->planner.design, &errors), CALC_OK);
}

static inline void layers_plan_free(layers_plan *l)
{
    calc_space_free(&l->space);
    calc_designs_builder_free(&l->builder);
}

static inline calc_planner_result layers_plan_run(const layers_plan *l)
{
    calc_planner_result r;
    calc_errors errors = {0};
    ck_assert_msg(calc_planner_layers_run(&l->planner, &r, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    return r;
}

/** Called with each candidate that has options. */
typedef void layers_plan_visit(const layers_plan *l, const calc_layers_case *c);

/** @return how many there are */
static inline int layers_plan_cases(const layers_plan *l, layers_plan_visit *visit)
{
    calc_layers_list list;
    int count = 0;
    ck_assert_int_eq(calc_layers_list_make(&l->planner, &list), CALC_OK);
    for (size_t i = 0; i < list.count; i++) {
        calc_layers_case c;
        calc_status status = calc_layers_case_of(&l->planner, &list.candidate[i], &c);
        ck_assert_int_ne(status, CALC_ERR_NOMEM);
        if (status == CALC_OK) {
            visit(l, &c);
            count++;
        }
        calc_layers_case_free(&c);
    }
    calc_layers_list_free(&list);
    return count;
}

/** Some models with layers of one kind and of two, on few processors with little memory. */
static inline int layers_plan_samples(layers_plan_visit *visit)
{
    static const struct {
        const char *app, *system;
        int blocks, procs, batch;
        double gib;
    } sample[] = {{"llama2-7B", "a100_sxm_40g", 6, 8, 16, 8},
                  {"llama3.2-1B", "h100_sxm", 8, 4, 8, 5},
                  {"mixtral-8x7B", "h100_sxm", 4, 8, 16, 24},
                  {"deepseek-v2-lite", "h100_sxm", 5, 4, 8, 12}};
    int count = 0;
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        static layers_plan l;
        layers_plan_init(&l, sample[i].app, sample[i].system, sample[i].blocks, sample[i].procs,
                         sample[i].batch);
        l.chip.system.chip.mem1.capacity_bytes = sample[i].gib * 0x1p30;
        layers_plan_ready(&l);
        count += layers_plan_cases(&l, visit);
        layers_plan_free(&l);
    }
    return count;
}

/** An option that ends may have: the first one. */
static inline int layers_plan_ends(const calc_layers_case *c)
{
    int i = 0;
    while (!c->option[i].ends) {
        i++;
    }
    return i;
}

#endif
