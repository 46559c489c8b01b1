/* How sure it is that the best of a sweep is better: src/session/sweep_order.c; and the layout
 * to start with. */
#include "session/sweep_order.h"

#include <math.h>

#include "cli/sweep/sweep_rows.h"
#include "formats/export.h"
#include "frame.h"
#include "sweep_case.h"
#include "tune/model.h"

static sweep_case example;
static calc_sweep_study study;
static calc_sweep_result result;
static calc_errors errors;

static void set_up(void)
{
    sweep_case_init(&example);
    study = (calc_sweep_study){
        .space = example.space, .designs = example.designs, .options = example.options};
    errors = (calc_errors){0};
    result = (calc_sweep_result){0};
    ck_assert_int_eq(calc_sweep(&study.space, &study.designs, &study.options, &result, &errors),
                     CALC_OK);
}

static void tear_down(void)
{
    calc_sweep_result_free(&result);
    calc_space_free(&example.space);
}

const calc_test_frame calc_tests = {.setup = set_up, .teardown = tear_down, .timeout_s = 60};

static double sure_of(const calc_sweep_order *order, const calc_found *layout)
{
    calc_sweep_found found;
    calc_sweep_found_run(&study, layout, &found);
    return calc_sweep_order_sure(order, found.design, &found.exec, &found.stats);
}

/* By steps, as all have one batch. */
CALC_TEST(it_is_what_the_errors_of_both_say)
{
    const calc_front *top = &result.group[0].top;
    const calc_tune_prior prior = calc_tune_prior_default();
    const calc_sweep_order order = calc_sweep_order_of(&study, &top->item[0]);
    calc_tune_candidate best, other;
    calc_exec exec = calc_found_exec(&top->item[0]);
    ck_assert(order.known);
    ck_assert(calc_tune_candidate_of(&best, &example.app, &example.system, &exec));
    ck_assert_double_eq(sure_of(&order, &top->item[0]), 0.5);
    ck_assert_uint_eq(top->count, 20);
    for (size_t i = 1; i < top->count; i++) {
        exec = calc_found_exec(&top->item[i]);
        ck_assert(calc_tune_candidate_of(&other, &example.app, &example.system, &exec));
        double ahead = log(other.step_s / best.step_s);
        ck_assert_double_eq_tol(sure_of(&order, &top->item[i]),
                                calc_tune_model_sure(&prior, &best, &other, true, ahead), 1e-9);
        calc_sweep_found found;
        calc_sweep_found_run(&study, &top->item[i], &found);
        ck_assert_double_eq_tol(calc_sweep_order_share(&order, &found.stats),
                                best.step_s / other.step_s, 1e-12);
    }
}

CALC_TEST(equals_are_those_of_which_it_is_not_sure)
{
    const calc_front *front = &result.group[0].front;
    const calc_sweep_order order = calc_sweep_order_of(&study, &result.group[0].top.item[0]);
    size_t equals = 0;
    for (size_t i = 0; i < front->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(&study, &front->item[i], &found);
        double sure = sure_of(&order, &front->item[i]);
        bool equal = calc_sweep_order_equal(&order, sure, &found.stats);
        ck_assert_int_eq(equal, sure < 0.75);
        equals += equal;
    }
    ck_assert_uint_gt(equals, 0);
    ck_assert_uint_lt(equals, front->count);
}

/* By memory, or by Calculon's rules: an equal is what is within 1 %. */
CALC_TEST(where_nothing_is_known_equals_are_near)
{
    calc_sweep_found found;
    const calc_found *best = &result.group[0].top.item[0];
    study.options.compat = CALC_COMPAT_CALCULON;
    ck_assert(!calc_sweep_order_of(&study, best).known);
    ck_assert(!calc_sweep_order_of(&study, NULL).known);
    study.options.compat = CALC_COMPAT_NONE;
    sweep_case_objective(&study.options.top_by, "mem1");
    const calc_sweep_order order = calc_sweep_order_of(&study, best);
    ck_assert(!order.known);
    ck_assert_double_nan(sure_of(&order, best));
    calc_sweep_found_run(&study, best, &found);
    ck_assert(calc_sweep_order_equal(&order, NAN, &found.stats));
    found.stats.proc_mem_tier1_cap_req *= 1.009;
    ck_assert(calc_sweep_order_equal(&order, NAN, &found.stats));
    found.stats.proc_mem_tier1_cap_req *= 1.009;
    ck_assert(!calc_sweep_order_equal(&order, NAN, &found.stats));
}

/* ---- The layout to start with ---------------------------------------------------------------- */

static calc_exec layout_of(int64_t tensor, int64_t stages, int64_t chunks, int64_t micro)
{
    calc_exec exec = calc_found_exec(&result.group[0].top.item[0]);
    exec.strategy.tensor_par = tensor;
    exec.pipeline_par = stages;
    exec.pipeline_interleaving = chunks;
    exec.microbatch_size = micro;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    exec.strategy.weight_offload = exec.strategy.activations_offload = false;
    exec.strategy.optimizer_offload = false;
    return exec;
}

CALC_TEST(simpler_is_what_has_fewer_parts)
{
    calc_exec a = layout_of(4, 2, 1, 1);
    calc_exec b = layout_of(4, 4, 1, 1);
    ck_assert_int_lt(calc_sweep_found_simpler(&a, &b), 0);
    ck_assert_int_gt(calc_sweep_found_simpler(&b, &a), 0);
    b = layout_of(8, 1, 1, 1);
    ck_assert_int_lt(calc_sweep_found_simpler(&a, &b), 0);
    b = layout_of(2, 4, 8, 1); /* as many processors, but narrower */
    ck_assert_int_gt(calc_sweep_found_simpler(&a, &b), 0);
    b = layout_of(4, 2, 2, 1);
    ck_assert_int_lt(calc_sweep_found_simpler(&a, &b), 0);
    b = layout_of(4, 2, 1, 4); /* a micro-batch does not count */
    ck_assert_int_eq(calc_sweep_found_simpler(&a, &b), 0);
    b.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert_int_lt(calc_sweep_found_simpler(&a, &b), 0);
    a.strategy.weight_offload = a.strategy.optimizer_offload = true;
    ck_assert_int_gt(calc_sweep_found_simpler(&a, &b), 0);
    a.strategy.context_par = 2; /* before all switches */
    b.strategy.context_par = 1;
    ck_assert_int_gt(calc_sweep_found_simpler(&a, &b), 0);
    a = layout_of(1, 1, 1, 1);
    a.strategy.zero_stage = 3;
    a.strategy.data_par = 64;
    ck_assert_int_gt(calc_sweep_found_simpler(&a, &b), 0);
    a.strategy.zero_stage = 2;
    ck_assert_int_lt(calc_sweep_found_simpler(&a, &b), 0);
}

/* What a layout that is not known not to fit is worth. */
static double worth_of(const calc_found *layout)
{
    calc_sweep_found found;
    calc_sweep_found_run(&study, layout, &found);
    bool starts;
    ck_assert_int_eq(calc_export_starts(&example.app, &example.system, &found.exec, NULL, &starts),
                     CALC_OK);
    return starts ? found.stats.sample_rate : 0;
}

/* Beside a search of all that were kept. */
CALC_TEST(the_start_is_the_simplest_within_two_percent)
{
    const calc_front *list[] = {&result.group[0].top, &result.group[0].front};
    const calc_sweep_advice advice = calc_sweep_order_advise(NULL, &study, &result);
    const calc_exec start = calc_found_exec(advice.start.layout);
    double most = 0, worth = worth_of(advice.start.layout);
    for (size_t i = 0; i < list[0]->count + list[1]->count; i++) {
        bool front = i >= list[0]->count;
        most = fmax(most, worth_of(&list[front]->item[front ? i - list[0]->count : i]));
    }
    ck_assert_uint_eq(advice.fastest.number, 1);
    ck_assert(advice.start.starts);
    ck_assert_double_gt(most, 0);
    ck_assert_double_ge(worth, 0.98 * most);
    ck_assert_double_eq(worth_of(advice.safe.layout), most);
    for (size_t i = 0; i < list[0]->count + list[1]->count; i++) {
        bool front = i >= list[0]->count;
        const calc_found *layout = &list[front]->item[front ? i - list[0]->count : i];
        if (worth_of(layout) >= 0.98 * most) {
            const calc_exec exec = calc_found_exec(layout);
            int simpler = calc_sweep_found_simpler(&exec, &start);
            ck_assert(simpler > 0 || (simpler == 0 && worth_of(layout) <= worth));
        }
    }
    /* Memory says nothing of the order of times: the least that a framework runs. */
    calc_sweep_result_free(&result);
    result = (calc_sweep_result){0};
    sweep_case_objective(&study.options.top_by, "mem1");
    ck_assert_int_eq(calc_sweep(&study.space, &study.designs, &study.options, &result, &errors),
                     CALC_OK);
    const calc_sweep_advice least = calc_sweep_order_advise(NULL, &study, &result);
    ck_assert_ptr_eq(least.start.layout, least.safe.layout);
    study.options.compat = CALC_COMPAT_CALCULON;
    ck_assert_uint_eq(calc_sweep_order_advise(NULL, &study, &result).start.number, 1);
    const calc_sweep_result none = {0};
    ck_assert_ptr_null(calc_sweep_order_advise(NULL, &study, &none).start.layout);
}

/* What a row after the start is worth: less than its rate for what it has of tensor parallelism. */
static double hedged(const calc_found *layout)
{
    const calc_exec exec = calc_found_exec(layout);
    return worth_of(layout) * pow(0.97, log2((double)exec.strategy.tensor_par));
}

static bool same_sizes(const calc_found *a, const calc_found *b)
{
    const calc_exec p = calc_found_exec(a), q = calc_found_exec(b);
    return p.strategy.tensor_par == q.strategy.tensor_par && p.pipeline_par == q.pipeline_par &&
           p.strategy.data_par == q.strategy.data_par;
}

/* Of the best by their objective, of others by a run. */
CALC_TEST(the_share_of_a_row_is_its_rate_over_the_best)
{
    const calc_front *top = &result.group[0].top;
    const calc_sweep_order order = calc_sweep_order_of(&study, &top->item[0]);
    calc_sweep_found best, found;
    calc_sweep_found_run(&study, &top->item[0], &best);
    for (size_t i = 0; i < top->count; i++) {
        calc_sweep_row row = {.layout = &top->item[i], .number = i + 1};
        calc_sweep_row other = {.layout = &top->item[i]};
        calc_sweep_order_weigh(&order, &row);
        calc_sweep_order_weigh(&order, &other);
        calc_sweep_found_run(&study, row.layout, &found);
        double share = found.stats.sample_rate / best.stats.sample_rate;
        ck_assert_double_eq_tol(row.share, share, 1e-12);
        ck_assert_double_eq_tol(other.share, share, 1e-12);
        ck_assert_double_eq(row.worth, row.share); /* no experts that are spread */
    }
    calc_sweep_found_run(&study, &top->item[top->count - 1], &found);
    ck_assert_double_lt(found.stats.sample_rate, best.stats.sample_rate);
}

/* It comes first; then the best layout of other sizes each, beside a search of all. */
CALC_TEST(the_table_has_different_answers)
{
    const calc_front *top = &result.group[0].top;
    const calc_sweep_row start = {.layout = &top->item[6], .number = 7};
    calc_sweep_rows rows = {0};
    size_t shown = 0;
    calc_sweep_rows_best(&rows, &study, top, 3, &start, false);
    ck_assert_uint_ge(rows.count, 2);
    ck_assert_uint_le(rows.count, 3);
    ck_assert_ptr_eq(rows.row[0].layout, start.layout);
    for (size_t i = 0; i < rows.count; i++) {
        shown += 1 + rows.row[i].alike;
        ck_assert_int_eq(rows.row[i].equal, rows.row[i].number != 1 && rows.row[i].sure < 0.75);
    }
    for (size_t k = 0; k < top->count; k++) {
        const calc_found *other = &top->item[k];
        bool first = same_sizes(other, start.layout), found = first;
        for (size_t i = 1; i < rows.count; i++) {
            bool same = same_sizes(other, rows.row[i].layout);
            ck_assert(!(same && first));
            ck_assert(!same || hedged(other) <= hedged(rows.row[i].layout));
            found = found || same;
        }
        ck_assert(found || (rows.count == 3 && hedged(other) <= hedged(rows.row[2].layout)));
        shown -= found;
    }
    ck_assert_uint_eq(shown, 0);
    for (size_t i = 2; i < rows.count; i++) {
        ck_assert_double_ge(hedged(rows.row[i - 1].layout), hedged(rows.row[i].layout));
    }
    calc_sweep_rows_free(&rows);
}

/* Fewer sizes than rows: then layouts of the same sizes are rows, too. */
CALC_TEST(sizes_that_are_said_leave_the_rest_to_choose_from)
{
    calc_front top = result.group[0].top;
    calc_found *kept = top.item, list[20];
    ck_assert_uint_le(top.count, 20);
    size_t count = 0;
    for (size_t i = 0; i < top.count; i++) {
        list[count] = kept[i];
        count += same_sizes(&kept[i], &kept[0]);
    }
    ck_assert_uint_gt(count, 2);
    top.item = list;
    top.count = count;
    const calc_sweep_row start = {.layout = &list[0], .number = 1};
    calc_sweep_rows rows = {0};
    calc_sweep_rows_best(&rows, &study, &top, 2, &start, false);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert(same_sizes(rows.row[0].layout, rows.row[1].layout));
    calc_sweep_rows_free(&rows);
}
