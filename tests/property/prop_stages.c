/* A list that says what the execution says without it changes nothing: calc_resolve() takes it
   away, and evaluated as a list it gives the same numbers. On every shipped execution with a
   pipeline, and on random layouts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "frame.h"
#include "random_modern.h"
#include "shipped.h"
#include "spec/stage_list.h"

const calc_test_frame calc_tests = {.timeout_s = 120};

/* What the sums of stages one by one and of classes may differ by. */
#define ROUNDING 1e-9

/* ---- Layouts --------------------------------------------------------------------------------- */

static void random_layouts(calc_shipped_visit *each)
{
    for (uint64_t i = 0; i < 600; i++) {
        calc_rng rng;
        calc_random_layout l;
        char name[64];
        calc_rng_init(&rng, 20261122, i);
        (i % 4 == 0 ? calc_random_layout_make : calc_random_modern_make)(&rng, &l);
        snprintf(name, sizeof name, "random layout %llu", (unsigned long long)i);
        /* Stages that train different shares of their blocks are not modelled. */
        if (l.exec.strategy.trained == CALC_TRAINED_BLOCKS) {
            l.exec.strategy.trained = CALC_TRAINED_HEAD;
        }
        l.exec.strategy.trained_blocks = 0;
        each(name, &l);
    }
}

static calc_shipped_visit *visit_some;

/* Layouts with chunks again with one block of each that recomputes. */
static void also_some(const char *name, const calc_random_layout *layout)
{
    calc_random_layout some = *layout;
    char text[512];
    visit_some(name, layout);
    if (some.exec.pipeline_interleaving > 1 && some.exec.training) {
        some.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        some.exec.strategy.recompute_modules = some.exec.strategy.offload_modules = 0;
        some.exec.strategy.seq_par_ag_redo = false;
        some.exec.recompute_blocks = some.exec.pipeline_interleaving;
        snprintf(text, sizeof text, "%.400s, recomputing some", name);
        visit_some(text, &some);
    }
}

static void every_layout(calc_shipped_visit *each)
{
    visit_some = each;
    calc_shipped_all(also_some);
    random_layouts(also_some);
}

static calc_stage_stats row[CALC_MAX_PLACES];
static calc_random_layout plain, listed;

static bool both_ways(const calc_exec *e)
{
    return e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_ZB_V ||
           e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ||
           e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
}

/* Write into `listed` what `plain` says, a place per stage or per stage and chunk. Ends that are
 * spread over all stages (pipeline_balance free) are not those of a list, and stages that list how
 * many of their blocks recompute have no groups of them.
 * @return false if a list cannot say it */
static bool list_stages(const calc_random_layout *from, bool by_chunk)
{
    plain = *from;
    if (plain.exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
        plain.exec.recompute_blocks = 0;
    }
    listed = plain;
    const calc_exec *e = &plain.exec;
    const calc_strategy *s = &e->strategy;
    int64_t chunks = by_chunk ? e->pipeline_interleaving : 1;
    if (e->pipeline_par * e->pipeline_interleaving > CALC_MAX_PLACES ||
        e->inference.phase != CALC_INFERENCE_PHASE_NONE || both_ways(e) ||
        e->pipeline_balance == CALC_PIPELINE_BALANCE_FREE || s->recompute_group > 1) {
        return false;
    }
    size_t count =
        calc_each_stage(&plain.app, &plain.system, e, CALC_COMPAT_NONE, row, CALC_MAX_PLACES);
    ck_assert_uint_eq(count, (size_t)e->pipeline_par);
    calc_stage_run run[CALC_MAX_PLACES];
    calc_stage_list list = {.chips = 1, .name = {"main"}, .system = {&listed.system}};
    for (int64_t i = 0; i < e->pipeline_par * chunks; i++) {
        int64_t blocks = (int64_t)row[i % e->pipeline_par].blocks;
        double again = e->recompute_blocks > 0 && e->recompute_blocks < blocks
                           ? (double)e->recompute_blocks
                           : (double)blocks;
        again = s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE ? 0 : again;
        if ((double)blocks != row[i % e->pipeline_par].blocks ||
            blocks % e->pipeline_interleaving != 0 || fmod(again, (double)chunks) != 0) {
            return false;
        }
        run[i] = (calc_stage_run){.places = 1,
                                  .blocks = (int16_t)(blocks / chunks),
                                  .recompute_blocks = (int16_t)(again / (double)chunks),
                                  .recompute = (int16_t)s->activation_recompute,
                                  .chip = 1,
                                  .modules = (int16_t)s->recompute_modules};
    }
    if (!calc_stage_list_pack(run, e->pipeline_par * chunks, &list)) {
        return false;
    }
    listed.exec.stages = list;
    listed.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    listed.exec.first_stage_blocks = listed.exec.last_stage_blocks = 0;
    calc_errors errors = {0};
    ck_assert_msg(calc_check(&listed.app, &listed.system, &listed.exec, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    return true;
}

/* ---- To the bit ------------------------------------------------------------------------------ */

static int compared, with_chunks, with_recomputation, uneven;

static double value_of(const calc_stats *s, const calc_field *field)
{
    return *(const double *)(const void *)((const char *)s + field->offset);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void count(const calc_exec *e)
{
    compared++;
    with_chunks += e->pipeline_interleaving > 1;
    with_recomputation += e->strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE;
    uneven += row[0].blocks != row[e->pipeline_par - 1].blocks;
}

/* Dense blocks are where they are in a list. Otherwise those beyond the first chunk are spread, and
 * chunks of a stage hold alike. */
static bool spreads_dense(const calc_random_layout *l)
{
    bool chunks = l->exec.pipeline_interleaving > 1;
    return l->app.num_experts > 0 && l->exec.pipeline_par > 1 &&
           (l->app.dense_blocks > (int64_t)row[0].blocks || (chunks && l->app.dense_blocks > 0));
}

static void moves_no_bit(const char *name, bool by_chunk)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    calc_stats a, b;
    calc_resolve(&listed.app, &listed.system, &listed.exec);
    if (listed.exec.stages.count > 0) {
        ck_assert_msg(plain.exec.pipeline_balance != CALC_PIPELINE_BALANCE_BLOCKS ||
                          plain.exec.first_stage_blocks + plain.exec.last_stage_blocks > 0 ||
                          spreads_dense(&plain),
                      "%s: the list is kept", name);
        return; /* blocks in the middle differ, too, or in kind: only a list says it */
    }
    calc_run(&plain.app, &plain.system, &plain.exec, CALC_COMPAT_NONE, &a);
    calc_run(&listed.app, &listed.system, &listed.exec, CALC_COMPAT_NONE, &b);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        ck_assert_msg(same_bits(value_of(&a, field), value_of(&b, field)),
                      "%s%s: %s is %.17g without the list, %.17g with it", name,
                      by_chunk ? " by chunk" : "", field->key, value_of(&a, field),
                      value_of(&b, field));
    }
    ck_assert_int_eq(a.verdict, b.verdict);
    count(&plain.exec);
}

static void resolved_like_the_uniform(const char *name, const calc_random_layout *layout)
{
    for (int by_chunk = 0; by_chunk <= (layout->exec.pipeline_interleaving > 1); by_chunk++) {
        if (layout->exec.training && list_stages(layout, by_chunk)) {
            moves_no_bit(name, by_chunk);
        }
    }
}

CALC_TEST(a_list_that_says_what_the_execution_says_moves_no_bit)
{
    compared = with_chunks = with_recomputation = uneven = 0;
    every_layout(resolved_like_the_uniform);
    printf("to the bit: %d layouts, %d with chunks, %d that recompute, %d uneven\n", compared,
           with_chunks, with_recomputation, uneven);
    ck_assert_int_ge(compared, 300);
    ck_assert_int_ge(with_chunks, 20);
    ck_assert_int_ge(with_recomputation, 50);
    ck_assert_int_ge(uneven, 3);
}

/* ---- Evaluated as a list --------------------------------------------------------------------- */

static bool is_near(double a, double b)
{
    return fabs(a - b) <= ROUNDING * fmax(fabs(a), fabs(b)) || (isnan(a) && isnan(b));
}

/* What the host adds is what is left of the passes when their kernels are taken away. */
static bool is_near_of(const calc_field *field, double a, double b, double passes_s)
{
    return is_near(a, b) ||
           (strcmp(field->key, "host_time") == 0 && is_near(a + passes_s, b + passes_s));
}

/* What the simulation of the pipeline says of a layout; in closed form if it is too large. */
static calc_stats exact(const calc_random_layout *l)
{
    calc_stats stats;
    size_t bytes = 0;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_exact_bytes(&l->exec, &bytes, &errors), CALC_OK);
    void *workspace = malloc(bytes);
    ck_assert_ptr_nonnull(workspace);
    calc_run_exact(&l->app, &l->system, &l->exec, workspace, &stats);
    free(workspace);
    return stats;
}

static bool is_simulated(const calc_exec *e)
{
    calc_errors errors = {0};
    size_t bytes;
    return calc_exact_bytes(e, &bytes, &errors) == CALC_OK;
}

static void same_rows(const char *name, bool by_chunk)
{
    static calc_stage_stats other[CALC_MAX_PLACES];
    const calc_table *table = calc_table_of(CALC_KIND_STAGE);
    size_t stages = calc_each_stage(&listed.app, &listed.system, &listed.exec, CALC_COMPAT_NONE,
                                    other, CALC_MAX_PLACES);
    ck_assert_uint_eq(stages, (size_t)plain.exec.pipeline_par);
    for (size_t k = 0; k < stages; k++) {
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            if (field->type != CALC_TYPE_REAL) {
                continue;
            }
            double a = *(const double *)(const void *)((const char *)&row[k] + field->offset);
            double b = *(const double *)(const void *)((const char *)&other[k] + field->offset);
            ck_assert_msg(is_near_of(field, a, b, row[k].fw_time),
                          "%s%s: %s of stage %zu is %.17g, %.17g with a list", name,
                          by_chunk ? " by chunk" : "", field->key, k, a, b);
        }
    }
}

static void evaluated_as_a_list(const char *name, const calc_random_layout *layout)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (int by_chunk = 0; by_chunk <= (layout->exec.pipeline_interleaving > 1); by_chunk++) {
        if (!list_stages(layout, by_chunk) || spreads_dense(&plain)) {
            continue;
        }
        same_rows(name, by_chunk);
        bool simulated = plain.exec.training && is_simulated(&plain.exec);
        calc_stats a, b;
        if (simulated) {
            a = exact(&plain);
            b = exact(&listed);
            ck_assert_msg(fabs(b.pipeline_closed_form_error) < ROUNDING,
                          "%s: the pipeline of the list is %g from its simulation", name,
                          b.pipeline_closed_form_error);
        } else if (!plain.exec.training) {
            calc_run(&plain.app, &plain.system, &plain.exec, CALC_COMPAT_NONE, &a);
            calc_run(&listed.app, &listed.system, &listed.exec, CALC_COMPAT_NONE, &b);
        } else {
            continue;
        }
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            if (strcmp(field->key, "pipeline_closed_form_error") == 0) {
                continue; /* the pipeline of a list is simulated already */
            }
            ck_assert_msg(is_near_of(field, value_of(&a, field), value_of(&b, field), a.fw_time),
                          "%s%s: %s is %.17g without the list, %.17g with it", name,
                          by_chunk ? " by chunk" : "", field->key, value_of(&a, field),
                          value_of(&b, field));
        }
        ck_assert_int_eq(a.verdict, b.verdict);
        count(&plain.exec);
    }
}

CALC_TEST(evaluated_as_a_list_it_gives_the_same_numbers)
{
    compared = with_chunks = with_recomputation = uneven = 0;
    every_layout(evaluated_as_a_list);
    printf("as lists: %d layouts, %d with chunks, %d that recompute, %d uneven\n", compared,
           with_chunks, with_recomputation, uneven);
    ck_assert_int_ge(compared, 300);
    ck_assert_int_ge(with_chunks, 20);
    ck_assert_int_ge(with_recomputation, 50);
    ck_assert_int_ge(uneven, 3);
}
