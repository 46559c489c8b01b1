/* Lists of layers: one that says what the execution says moves no bit; evaluated as a list it gives
   the same numbers; runs may be cut anywhere; and steps of two kinds of layers are as long as both
   make them. On every shipped execution that trains, and on random layouts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "frame.h"
#include "model/stages/placed.h"
#include "random_modern.h"
#include "shipped.h"
#include "spec/layer_list.h"

const calc_test_frame calc_tests = {.timeout_s = 240};

/* What the sums of stages and parts one by one may differ by. */
#define ROUNDING 1e-9
/* The ends count in the mean block whose gradients are whole, with the layers beside them. */
#define MEAN_BLOCK 1e-5

/* ---- Layouts --------------------------------------------------------------------------------- */

static void every_layout(calc_shipped_visit *each)
{
    calc_shipped_all(each);
    for (uint64_t i = 0; i < 600; i++) {
        calc_rng rng;
        calc_random_layout l;
        char name[64];
        calc_rng_init(&rng, 20261123, i);
        (i % 4 == 0 ? calc_random_layout_make : calc_random_modern_make)(&rng, &l);
        snprintf(name, sizeof name, "random layout %llu", (unsigned long long)i);
        each(name, &l);
    }
}

static bool is_legal(const calc_random_layout *l)
{
    calc_errors errors = {0};
    return calc_check(&l->app, &l->system, &l->exec, &errors) == CALC_OK;
}

static calc_layer_list list_of(const calc_random_layout *l, const calc_layer_strategy *strategy)
{
    calc_layer_list list = {.count = 1, .ends = *strategy};
    list.run[0] = (calc_layer_run){(int16_t)l->app.num_blocks, *strategy};
    return list;
}

/* All that the execution says of its layers. */
static calc_layer_strategy said(const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    return (calc_layer_strategy){
        .tensor_par = (int16_t)s->tensor_par,
        .context_par = (int16_t)(s->context_par > 1 ? s->context_par : 1),
        .expert_par = (int16_t)(s->expert_par > 1 ? s->expert_par : 1),
        .context_par_type = (int16_t)s->context_par_type,
        .zero_stage = (int16_t)(s->zero_stage > 0 ? s->zero_stage : s->optimizer_sharding),
        .recompute = (int16_t)s->activation_recompute,
        .modules = (int16_t)s->recompute_modules,
    };
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static double value_of(const calc_stats *s, const calc_field *field)
{
    return *(const double *)(const void *)((const char *)s + field->offset);
}

static void same_stats(const char *name, const calc_stats *a, const calc_stats *b, double rounding)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    ck_assert_msg(a->verdict == b->verdict, "%s: %s without the list, %s with it", name,
                  calc_verdict_text(a->verdict), calc_verdict_text(b->verdict));
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        double x = value_of(a, field);
        double y = value_of(b, field);
        bool same = memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y)) ||
                    fabs(x - y) <= rounding * fmax(fabs(x), fabs(y)) + (rounding > 0 ? 1e-15 : 0);
        ck_assert_msg(same, "%s: %s is %.17g without the list, %.17g with it", name, field->key, x,
                      y);
    }
}

static calc_stats stats_of(const calc_random_layout *l)
{
    calc_stats stats;
    calc_run(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, &stats);
    return stats;
}

/* ---- Neutral lists --------------------------------------------------------------------------- */

static int compared, with_chunks, with_experts;

static void count(const calc_random_layout *l)
{
    compared++;
    with_chunks += l->exec.pipeline_interleaving > 1;
    with_experts += l->app.num_experts > 0;
}

static void neutral(const char *name, const calc_random_layout *layout)
{
    calc_random_layout listed = *layout;
    const calc_layer_strategy all = said(&layout->exec);
    for (int way = 0; way < 2; way++) {
        listed.exec.layers = list_of(layout, way == 0 ? &calc_layer_as_exec : &all);
        if (layout->app.num_blocks > 10000 || !is_legal(&listed)) {
            continue;
        }
        calc_resolve(&listed.app, &listed.system, &listed.exec);
        ck_assert_msg(listed.exec.layers.count == 0, "%s: the list is kept", name);
        calc_stats a = stats_of(layout);
        calc_stats b = stats_of(&listed);
        same_stats(name, &a, &b, 0);
        count(layout);
    }
}

CALC_TEST(a_list_that_says_what_the_execution_says_moves_no_bit)
{
    compared = with_chunks = with_experts = 0;
    every_layout(neutral);
    printf("to the bit: %d lists, %d with chunks, %d with experts\n", compared, with_chunks,
           with_experts);
    ck_assert_int_ge(compared, 400);
    ck_assert_int_ge(with_chunks, 20);
    ck_assert_int_ge(with_experts, 50);
}

/* What the simulation of the pipeline says of a layout. */
static bool exact(const calc_random_layout *l, calc_stats *stats)
{
    size_t bytes = 0;
    calc_errors errors = {0};
    if (calc_exact_bytes(&l->exec, &bytes, &errors) != CALC_OK) {
        return false;
    }
    void *workspace = malloc(bytes);
    ck_assert_ptr_nonnull(workspace);
    calc_run_exact(&l->app, &l->system, &l->exec, workspace, stats);
    free(workspace);
    stats->pipeline_closed_form_error = 0; /* the pipeline of a list is simulated already */
    return true;
}

/* Dense blocks are where they are in a list; without one those beyond the first chunk are spread.
 */
static bool spreads_dense(const calc_random_layout *l)
{
    return l->app.num_experts > 0 && l->app.dense_blocks > 0 && l->exec.pipeline_par > 1;
}

static void same_rows(const char *name, const calc_random_layout *a, const calc_random_layout *b)
{
    static calc_stage_stats x[CALC_MAX_PLACES], y[CALC_MAX_PLACES];
    const calc_table *table = calc_table_of(CALC_KIND_STAGE);
    size_t stages =
        calc_each_stage(&a->app, &a->system, &a->exec, CALC_COMPAT_NONE, x, CALC_MAX_PLACES);
    ck_assert_uint_eq(
        calc_each_stage(&b->app, &b->system, &b->exec, CALC_COMPAT_NONE, y, CALC_MAX_PLACES),
        stages);
    for (size_t k = 0; k < stages; k++) {
        /* What is left of long times when they are subtracted is as exact as they are. */
        double slack = 1e-15 * fmax(1, x[k].fw_time + x[k].bw_time);
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            double p = *(const double *)(const void *)((const char *)&x[k] + field->offset);
            double q = *(const double *)(const void *)((const char *)&y[k] + field->offset);
            ck_assert_msg(field->type != CALC_TYPE_REAL || (isnan(p) && isnan(q)) ||
                              fabs(p - q) <= ROUNDING * fmax(fabs(p), fabs(q)) + slack,
                          "%s: %s of stage %zu is %.17g, %.17g with a list", name, field->key, k, p,
                          q);
        }
    }
}

/* Chunks with an end have a block less: without a list they hold as much as the others. */
static bool counts_ends(const calc_exec *e)
{
    return e->pipeline_interleaving > 1 && e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
}

static void evaluated(const char *name, const calc_random_layout *layout)
{
    calc_random_layout listed = *layout;
    calc_stats a, b;
    listed.exec.layers = list_of(layout, &calc_layer_as_exec);
    if (layout->app.num_blocks > 10000 || !layout->exec.training || spreads_dense(layout) ||
        counts_ends(&layout->exec) || !is_legal(&listed) ||
        stats_of(layout).verdict == CALC_VERDICT_INTERLEAVING || !exact(layout, &a)) {
        return;
    }
    ck_assert(exact(&listed, &b));
    same_stats(name, &a, &b, ROUNDING);
    same_rows(name, layout, &listed);
    count(layout);
}

CALC_TEST(evaluated_as_a_list_it_gives_the_same_numbers)
{
    compared = with_chunks = with_experts = 0;
    every_layout(evaluated);
    printf("as lists: %d layouts, %d with chunks, %d with experts\n", compared, with_chunks,
           with_experts);
    ck_assert_int_ge(compared, 150);
    ck_assert_int_ge(with_chunks, 10);
    ck_assert_int_ge(with_experts, 20);
}

/* ---- Two kinds of layers --------------------------------------------------------------------- */

/* A strategy beside that of the execution: one field of it changed. */
static calc_layer_strategy other_of(const calc_exec *e, int which)
{
    calc_layer_strategy s = calc_layer_as_exec;
    switch (which % 5) {
    case 0:
        s.recompute = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL
                          ? CALC_ACTIVATION_RECOMPUTE_NONE
                          : CALC_ACTIVATION_RECOMPUTE_FULL;
        break;
    case 1:
        s.zero_stage = e->strategy.zero_stage == 3 ? 1 : 3;
        break;
    case 2:
        s.tensor_par = (int16_t)(2 * e->strategy.tensor_par);
        break;
    case 3:
        s.context_par = 2;
        break;
    default:
        s.zero_stage = 2;
    }
    return s;
}

static calc_random_layout halves(const calc_random_layout *l, const calc_layer_strategy *other,
                                 int64_t first)
{
    calc_random_layout two = *l;
    calc_layer_list *list = &two.exec.layers;
    *list = (calc_layer_list){.count = 2, .ends = calc_layer_as_exec};
    list->run[0] = (calc_layer_run){(int16_t)first, *other};
    list->run[1] = (calc_layer_run){(int16_t)(l->app.num_blocks - first), calc_layer_as_exec};
    return two;
}

static bool may_differ(const calc_random_layout *l)
{
    return l->exec.training && l->app.num_blocks >= 4 && l->app.num_blocks <= 10000;
}

static void cut(const char *name, const calc_random_layout *layout)
{
    for (int which = 0; which < 5 && may_differ(layout); which++) {
        const calc_layer_strategy other = other_of(&layout->exec, which);
        calc_random_layout whole = halves(layout, &other, layout->app.num_blocks / 2);
        calc_random_layout parts = whole;
        calc_layer_list *list = &parts.exec.layers;
        list->count = 4;
        list->run[3] = list->run[2] = list->run[1];
        list->run[1] = list->run[0];
        list->run[0].blocks = list->run[2].blocks = 1;
        list->run[1].blocks--;
        list->run[3].blocks--;
        if (is_legal(&whole)) {
            calc_stats a = stats_of(&whole);
            calc_stats b = stats_of(&parts);
            ck_assert(is_legal(&parts));
            same_stats(name, &a, &b, ROUNDING);
            count(layout);
        }
    }
}

CALC_TEST(runs_may_be_cut_anywhere)
{
    compared = with_chunks = with_experts = 0;
    every_layout(cut);
    printf("cut: %d lists, %d with chunks, %d with experts\n", compared, with_chunks, with_experts);
    ck_assert_int_ge(compared, 200);
}

/* Without a pipeline, without experts and with nothing hidden, a step is a sum over its layers, and
 * so is what is held: one more of a kind is as much as another one more. */
static void additive(const char *name, const calc_random_layout *layout)
{
    calc_random_layout l = *layout;
    l.exec.strategy.data_par_overlap = false;
    l.exec.strategy.optimizer = CALC_OPTIMIZER_ADAM; /* Muon splits no matrix: the largest counts */
    l.exec.strategy.param_gather_overlap = CALC_CHOICE_AUTO;
    for (int which = 0; which < 5; which++) {
        const calc_layer_strategy other = other_of(&l.exec, which);
        calc_random_layout one = halves(&l, &other, 1);
        calc_random_layout two = halves(&l, &other, 2);
        calc_random_layout three = halves(&l, &other, 3);
        if (!may_differ(&l) || l.exec.pipeline_par > 1 || l.app.num_experts > 0 ||
            !is_legal(&one)) {
            continue;
        }
        calc_stats a = stats_of(&one);
        calc_stats b = stats_of(&two);
        calc_stats c = stats_of(&three);
        double time_s = a.total_time - 2 * b.total_time + c.total_time;
        double held = a.act_space + a.act_checkpoint_size -
                      2 * (b.act_space + b.act_checkpoint_size) +
                      (c.act_space + c.act_checkpoint_size);
        ck_assert_msg(fabs(time_s) <= ROUNDING * b.total_time, "%s, %d: %.17g s of %.17g s", name,
                      which, time_s, b.total_time);
        ck_assert_msg(fabs(held) <= ROUNDING * (b.act_space + b.act_checkpoint_size),
                      "%s, %d: %.17g bytes", name, which, held);
        count(&l);
    }
}

CALC_TEST(every_layer_of_a_kind_costs_as_much)
{
    compared = with_chunks = with_experts = 0;
    every_layout(additive);
    printf("additive: %d lists\n", compared);
    ck_assert_int_ge(compared, 20);
}

/* Turned round, the same layers take as long but for the ends, which are then beside others; layers
 * of a model that lists them are not the same ones turned round. */
static void turned(const char *name, const calc_random_layout *layout)
{
    for (int which = 0; which < 5; which++) {
        const calc_layer_strategy other = other_of(&layout->exec, which);
        /* The head gathers again where the layers beside it do. */
        bool again = which == 0 && layout->exec.strategy.seq_par_ag_redo;
        /* So does an encoder of images, which recomputes as the layers beside it do. */
        again = again || layout->exec.strategy.images_per_sequence > 0;
        if (!may_differ(layout) || again || layout->exec.pipeline_par > 1 ||
            layout->app.num_experts > 0 || layout->app.stack.layers > 0) {
            continue;
        }
        int64_t half = layout->app.num_blocks / 2;
        calc_random_layout there = halves(layout, &other, half);
        calc_random_layout back = there;
        back.exec.layers.run[0] = there.exec.layers.run[1];
        back.exec.layers.run[1] = there.exec.layers.run[0];
        if (!is_legal(&there)) {
            continue;
        }
        calc_stats a = stats_of(&there);
        calc_stats b = stats_of(&back);
        /* Both ways there is one change beside an end, and one between layers. */
        ck_assert_msg(fabs(a.total_time - b.total_time) <= ROUNDING * a.total_time,
                      "%s, %d: %.17g s, turned %.17g s", name, which, a.total_time, b.total_time);
        ck_assert_msg(fabs(a.proc_mem_tier1_cap_req - b.proc_mem_tier1_cap_req) <=
                          MEAN_BLOCK * a.proc_mem_tier1_cap_req,
                      "%s, %d: %.17g bytes, turned %.17g", name, which, a.proc_mem_tier1_cap_req,
                      b.proc_mem_tier1_cap_req);
        count(layout);
    }
}

CALC_TEST(on_one_stage_the_order_of_two_kinds_is_nothing)
{
    compared = with_chunks = with_experts = 0;
    every_layout(turned);
    printf("turned: %d lists\n", compared);
    ck_assert_int_ge(compared, 20);
}
