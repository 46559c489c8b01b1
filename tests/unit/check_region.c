/* Regions: no layout of a cell is shorter than the region of its unit says, by calc_run(). */
#include "bound.h"

#include <stdio.h>

#include "base/rng.h"
#include "frame.h"
#include "sweep_case.h"
#include "units.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

/** Rows of cells that are looked at, of so many, and layouts of each. */
enum { ONE_OF = 2, LAYOUTS = 16 };

/* Ends, chunks, offload, experts; latent attention and dense blocks before those; a host. */
static const struct {
    const char *app, *system;
    int64_t procs, batch;
    calc_compat compat;
} model[] = {
    {"gpt3-175B", "a100_80g", 64, 128, CALC_COMPAT_NONE},
    {"llama3-70B", "h100_sxm", 32, 32, CALC_COMPAT_NONE},
    {"deepseek-v2-236B", "h100_sxm", 64, 64, CALC_COMPAT_NONE},
    {"qwen3-30B-A3B", "b200", 16, 32, CALC_COMPAT_NONE},
    {"gpt3-13B", "a100_80g", 16, 16, CALC_COMPAT_REPAIRED},
};

static sweep_case example;
static calc_rng rng;
static calc_rows rows;
static calc_region region;
static calc_exec base;
static calc_cell cell;
static uint64_t seen, tight;

static void load(calc_kind kind, void *out, const char *folder, const char *name)
{
    char path[256];
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/%s/%s.json", CALC_DATA_DIR_SOURCE, folder, name);
    ck_assert_int_eq(calc_load(kind, out, path, &errors), CALC_OK);
}

static void pick(calc_axis axis, int64_t a, int64_t b)
{
    const int64_t value[] = {a, b};
    ck_assert_int_eq(calc_space_set(&example.space, axis, value, a == b ? 1 : 2), CALC_OK);
}

static void set_up(int i)
{
    sweep_case_init(&example);
    load(CALC_KIND_APP, &example.app, "models", model[i].app);
    load(CALC_KIND_SYSTEM, &example.system, "systems", model[i].system);
    example.system.chip.mem2 = example.system.chip.mem1;
    example.system.straggler_growth = 0.01;
    pick(CALC_AXIS_num_procs, model[i].procs, model[i].procs);
    pick(CALC_AXIS_batch_size, model[i].batch, model[i].batch);
    pick(CALC_AXIS_zero_stage, 0, 3);
    pick(CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS, CALC_PIPELINE_BALANCE_ENDS);
    example.options.compat = model[i].compat;
    seen = tight = 0;
    base = (calc_exec){0};
    calc_rng_init(&rng, (uint64_t)i, 31);
}

static void tear_down(void)
{
    calc_rows_free(&rows);
    calc_space_free(&example.space);
}

/* No step of the worker's cell is shorter. */
static double least_s(const calc_worker *w)
{
    calc_stage_terms t = {.compat = example.options.compat, .training = w->cell.exec.training};
    if (memcmp(&base, &w->base, sizeof base) != 0) {
        base = w->base;
        ck_assert_int_eq(calc_rows_fill(&rows, w->space, w->app, w->system, &base, t.compat, true),
                         CALC_OK);
        region = calc_region_of(&rows);
    }
    memcpy(&cell, &w->cell, sizeof cell);
    calc_stage_terms_pipeline(&rows.shape, &cell.exec, &t);
    calc_cell_settle(&cell, &t, true);
    return calc_region_least_s(&region, &cell.floor);
}

static void visit(void *context, const calc_worker_place *place)
{
    const calc_worker *w = place->worker;
    uint64_t points = w->counts.total - place->first;
    (void)context;
    if (calc_rng_below(&rng, ONE_OF) > 0 || w->cell.fitting == 0) {
        return;
    }
    double bound_s = least_s(w);
    for (int i = 0; i < LAYOUTS; i++) {
        calc_exec exec;
        calc_stats s;
        uint64_t at = (uint64_t)(calc_rng_real(&rng) * (double)points);
        if (calc_worker_decode(place, at < points ? at : 0, &exec) != CALC_VERDICT_OK) {
            continue;
        }
        calc_run(w->app, w->system, &exec, example.options.compat, &s);
        ck_assert_msg(s.total_time >= bound_s, "%.17g below %.17g", s.total_time, bound_s);
        seen++;
        tight += s.total_time < 1.25 * bound_s;
    }
}

CALC_TEST_LOOP(no_layout_is_shorter_than_the_region_of_its_unit, 0,
               (int)(sizeof model / sizeof *model))
{
    calc_sweep_counts counts;
    set_up(_i);
    ck_assert_int_eq(calc_units_walk(&example.space, &example.designs, example.options.compat,
                                     visit, NULL, &counts),
                     CALC_OK);
    ck_assert_uint_gt(seen, 1000);
    if (example.options.compat) {
        ck_assert(!region.known && tight == 0);
    } else {
        ck_assert(region.known);
        ck_assert_uint_gt(tight, 0); /* or it says nothing */
    }
    tear_down();
}
