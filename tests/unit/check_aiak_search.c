/* AIAK's strategies: the search against all candidates balanced one by one, against calc's own
 * step, and against the published example. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aiak/pipeline.h"
#include "balance/relaxed.h"
#include "cli/as/aiak_text.h"
#include "frame.h"
#include "shipped_case.h"
#include "small_case.h"

enum { TOP = 5, ROOM = 2000 };

static calc_app the_app;
static calc_system systems[CALC_AIAK_CHIPS];
static calc_aiak_strategy best[TOP], other[TOP];
static calc_aiak_found found;

/* @param chips  names of systems, NULL at the end */
static calc_aiak_task task_of(const char *model, const char *const *chips, int64_t gpus)
{
    calc_aiak_task task = {.app = &the_app, .gpus = gpus, .batch = 512, .sequence = 4096};
    load_shipped(CALC_KIND_APP, &the_app, "models", model);
    for (; chips[task.chips]; task.chips++) {
        load_shipped(CALC_KIND_SYSTEM, &systems[task.chips], "systems", chips[task.chips]);
        task.system[task.chips] = &systems[task.chips];
        task.most[task.chips] = CALC_AIAK_UNLIMITED;
    }
    return task;
}

static const char *const both[] = {"a800", "h800", NULL};
static const char *const slow[] = {"a800", NULL};

static void search(const calc_aiak_task *task, calc_aiak_strategy *out)
{
    calc_aiak_search(task, TOP, out, &found);
    ck_assert(!found.cut);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

CALC_TEST(sizes_are_legal_and_complete)
{
    static calc_aiak_sizes sizes[ROOM];
    calc_aiak_task task = task_of("llama2-70B", slow, 256);
    size_t count = calc_aiak_sizes_list(&task, sizes, ROOM);
    int found_ones = 0;
    ck_assert_uint_gt(count, 50);
    for (size_t i = 0; i < count; i++) {
        calc_exec exec;
        calc_errors errors = {0};
        const calc_aiak_sizes *s = &sizes[i];
        calc_aiak_exec(&task, s, CALC_BALANCE_NONE, &exec);
        ck_assert_msg(calc_check(&the_app, &systems[0], &exec, &errors) == CALC_OK, "%s",
                      errors.item[0].text);
        ck_assert_int_eq(s->stages * s->tensor_par * s->data_par, 256);
        ck_assert_int_le(s->tensor_par, 8);
        ck_assert_int_eq(512 % (s->data_par * s->microbatch), 0);
        ck_assert_int_ge(512 / (s->data_par * s->microbatch), s->stages);
        found_ones += s->microbatch == 1;
    }
    /* tp 1, 2, 4, 8 times pp 1, 2, 4, ... 64, as far as there are processors for them; 512
     * sequences are enough for all. */
    ck_assert_int_eq(found_ones, 7 + 7 + 7 + 6);
}

static bool listed(const calc_aiak_task *task, int stages, int tensor_par)
{
    static calc_aiak_sizes sizes[ROOM];
    size_t count = calc_aiak_sizes_list(task, sizes, ROOM);
    for (size_t i = 0; i < count; i++) {
        if (sizes[i].stages == stages && sizes[i].tensor_par == tensor_par) {
            return true;
        }
    }
    return false;
}

/* 512 sequences on 512 replicas are one micro-batch; 5 stages divide 40 processors, heads do not.
 */
CALC_TEST(micro_batches_are_as_many_as_stages_at_least)
{
    calc_aiak_task task = task_of("llama2-70B", slow, 1024);
    ck_assert(listed(&task, 1, 2));
    ck_assert(!listed(&task, 2, 1));
    ck_assert(listed(&task, 4, 2));
    task.gpus = 40;
    ck_assert(listed(&task, 5, 8));
    ck_assert(!listed(&task, 3, 1));
    task = task_of("llama2-70B", slow, 256);
    ck_assert(!listed(&task, 128, 1)); /* more than layers */
    the_app.kv_heads = 6;
    the_app.attn_heads = 60;
    ck_assert(listed(&task, 1, 2));
    ck_assert(!listed(&task, 1, 4));
}

/* A guide's example: 256 processors, a800:128, h800:160. */
CALC_TEST(stages_of_a_chip_are_as_many_as_its_limit_allows)
{
    static const int want[][3] = {{2, 1, 1}, {4, 2, 2}, {8, 4, 5}, {16, 8, 10}};
    calc_aiak_task task = task_of("llama2-70B", both, 256);
    int step;
    task.most[0] = 128;
    task.most[1] = 160;
    for (int i = 0; i < 4; i++) {
        calc_aiak_sizes sizes = {want[i][0], 2, 1, 128 / want[i][0]};
        ck_assert_int_eq(calc_aiak_most_stages(&task, &sizes, 0, &step), want[i][1]);
        ck_assert_int_eq(calc_aiak_most_stages(&task, &sizes, 1, &step), want[i][2]);
        ck_assert_int_eq(step, 1);
    }
    calc_aiak_sizes half_nodes = {64, 2, 1, 2};
    ck_assert_int_eq(calc_aiak_most_stages(&task, &half_nodes, 0, &step), 32);
    ck_assert_int_eq(step, 2);
    task.most[0] = 132;
    ck_assert_int_eq(calc_aiak_most_stages(&task, &half_nodes, 0, &step), 32);
    task.gpus = 6; /* less than a node */
    task.most[0] = 3;
    calc_aiak_sizes few = {6, 1, 1, 1};
    ck_assert_int_eq(calc_aiak_most_stages(&task, &few, 0, &step), 3);
    ck_assert_int_eq(step, 1);
}

/* ---- All candidates -------------------------------------------------------------------------- */

static calc_aiak_layouts layouts;
static calc_balance_problem problem;
static calc_balance_solution solution;
static double totals[ROOM];
static int total_count, bounded;

static void balance_chain(const calc_aiak_task *task, const calc_aiak_bound *bound,
                          const calc_aiak_chain *chain, double *best_s)
{
    static const calc_balance_options options = {.evaluations = 200};
    calc_balance_chip chip[CALC_AIAK_CHIPS];
    int stages[CALC_AIAK_CHIPS] = {0};
    if (calc_aiak_problem(task, &layouts, chain, &problem)) {
        return;
    }
    for (int i = 0; i < chain->kinds; i++) {
        stages[chain->chip[i]] = chain->stages[i];
    }
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    if (!solution.feasible) {
        return;
    }
    double bound_s = calc_balance_quick_s(&problem);
    double least_s = calc_aiak_least_s(task, bound, stages);
    calc_aiak_chips_of(&layouts, chain, chip);
    calc_balance_step step =
        calc_balance_step_of(chip, &problem, solution.share, solution.answer.step_s);
    ck_assert_msg(bound_s <= solution.answer.step_s, "bound %.9g of %.9g", bound_s,
                  solution.answer.step_s);
    ck_assert_msg(least_s <= step.total_s, "at least %.9g of %.9g", least_s, step.total_s);
    ck_assert_double_le(bound->after_s, step.total_s - step.pipeline_s);
    bounded++;
    *best_s = fmin(*best_s, step.total_s);
}

/* Every way to recompute; the best of them is the strategy. */
static void balance_sets(const calc_aiak_task *task, const calc_aiak_bound *bound,
                         calc_aiak_chain chain)
{
    double best_s = INFINITY;
    if (chain.kinds == 1 && the_app.num_blocks % bound->sizes.stages != 0) {
        return;
    }
    for (int set = 0; set < 1 << chain.kinds; set++) {
        for (int i = 0; i < chain.kinds; i++) {
            chain.selective[i] = set >> i & 1;
        }
        balance_chain(task, bound, &chain, &best_s);
    }
    if (best_s < INFINITY) {
        ck_assert_int_lt(total_count, ROOM);
        totals[total_count++] = best_s;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

CALC_TEST_LOOP(the_best_of_all_candidates_are_found, 0, 2)
{
    static calc_aiak_sizes sizes[ROOM];
    calc_aiak_task task = task_of(_i ? "llama2-7B" : "llama2-13B", both, _i ? 16 : 32);
    task.most[0] = 16;
    total_count = bounded = 0;
    size_t count = calc_aiak_sizes_list(&task, sizes, ROOM);
    for (size_t i = 0; i < count; i++) {
        calc_aiak_bound bound;
        int p = sizes[i].stages;
        calc_aiak_layouts_of(&task, &sizes[i], &layouts);
        calc_aiak_bound_of(&task, &sizes[i], &layouts, &bound);
        for (int a = 0; a <= p; a++) {
            int64_t each = sizes[i].tensor_par * sizes[i].data_par;
            bool whole = a == p || (each * a % 8 == 0 && each * (p - a) % 8 == 0);
            if (each * a > task.most[0] || (!whole && a > 0)) {
                continue;
            }
            calc_aiak_chain one = {.kinds = 1, .chip = {a == 0}, .stages = {p}};
            calc_aiak_chain up = {.kinds = 2, .chip = {0, 1}, .stages = {a, p - a}};
            calc_aiak_chain down = {.kinds = 2, .chip = {1, 0}, .stages = {p - a, a}};
            if (a == 0 || a == p) {
                balance_sets(&task, &bound, one);
            } else {
                balance_sets(&task, &bound, up);
                balance_sets(&task, &bound, down);
            }
        }
    }
    ck_assert_int_gt(total_count, TOP);
    qsort(totals, (size_t)total_count, sizeof *totals, compare);
    search(&task, best);
    ck_assert_int_eq(found.count, TOP);
    for (int i = 0; i < TOP; i++) {
        assert_near(best[i].step.total_s, totals[i]);
    }
    ck_assert_int_lt(found.balanced, bounded / 2);
}

/* ---- What is found --------------------------------------------------------------------------- */

/* One kind of chips is calc's own layout. */
CALC_TEST(a_strategy_of_one_chip_is_a_run_of_calc)
{
    calc_aiak_task task = task_of("llama2-70B", slow, 256);
    search(&task, best);
    ck_assert_int_eq(found.count, TOP);
    int compared = 0;
    for (int i = 0; i < TOP; i++) {
        const calc_aiak_strategy *s = &best[i];
        calc_exec exec;
        calc_stats stats;
        calc_balance_recompute all = s->again[0] > 0 ? CALC_BALANCE_FULL : CALC_BALANCE_NONE;
        calc_aiak_exec(&task, &s->sizes, s->chain.selective[0] ? CALC_BALANCE_SELECTIVE : all,
                       &exec);
        if (s->again[0] > 0 && !s->all_again[0]) {
            continue; /* blocks beside recomputed ones gather again only where a list says so */
        }
        compared++;
        ck_assert_int_eq(calc_run(&the_app, &systems[0], &exec, CALC_COMPAT_NONE, &stats),
                         CALC_VERDICT_OK);
        ck_assert_double_eq_tol(s->step.total_s, stats.total_time, 1e-9 * stats.total_time);
        ck_assert_double_eq_tol(s->most_bytes[0], stats.proc_mem_tier1_cap_req,
                                1e-9 * stats.proc_mem_tier1_cap_req);
        ck_assert_double_eq_tol(s->tokens_per_s, 512 * 4096 / stats.total_time,
                                1e-9 * s->tokens_per_s);
    }
    ck_assert_int_ge(compared, 3);
}

CALC_TEST(strategies_come_in_order_with_all_layers)
{
    calc_aiak_task task = task_of("llama2-70B", both, 256);
    task.most[0] = 128;
    task.most[1] = 160;
    search(&task, best);
    ck_assert_int_eq(found.count, TOP);
    for (int i = 0; i < TOP; i++) {
        const calc_aiak_strategy *s = &best[i];
        int layers = 0;
        int stages = 0;
        ck_assert(i == 0 || s->tokens_per_s <= best[i - 1].tokens_per_s);
        for (int k = 0; k < s->sizes.stages; k++) {
            layers += s->layers[k];
            ck_assert_int_ge(s->layers[k], 1);
        }
        ck_assert_int_eq(layers, 80);
        for (int k = 0; k < s->chain.kinds; k++) {
            int chip = s->chain.chip[k];
            stages += s->chain.stages[k];
            ck_assert_int_le(s->chain.stages[k] * s->sizes.tensor_par * s->sizes.data_par,
                             task.most[chip]);
            ck_assert_double_le(s->most_bytes[k], systems[chip].chip.mem1.capacity_bytes);
        }
        ck_assert_int_eq(stages, s->sizes.stages);
        for (int k = 0; k < i; k++) {
            ck_assert(memcmp(&s->sizes, &best[k].sizes, sizeof s->sizes) != 0 ||
                      memcmp(&s->chain, &best[k].chain, sizeof s->chain) != 0);
        }
    }
}

/* 7 of 8 processors are fast: a stage of slow ones is best first, and next to that best last. */
CALC_TEST(chips_are_tried_in_every_order)
{
    calc_aiak_task task = task_of("llama2-70B", both, 256);
    task.batch = 1024;
    task.most[0] = 32;
    task.most[1] = 224;
    search(&task, best);
    ck_assert_int_eq(best[0].chain.chip[0], 0);
    ck_assert_int_eq(best[1].chain.chip[0], 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(best[i].sizes.stages, 8);
        ck_assert_int_eq(best[i].sizes.tensor_par, 2);
        ck_assert_int_eq(best[i].sizes.data_par, 16);
        ck_assert_int_eq(best[i].chain.kinds, 2);
    }
}

/* On few processors layers must be recomputed: as many on every stage of a chip. */
CALC_TEST(recomputation_is_alike_on_a_chip)
{
    calc_aiak_task task = task_of("llama2-70B", both, 32);
    int again = 0;
    task.sequence = 8192;
    task.most[0] = task.most[1] = 16;
    search(&task, best);
    ck_assert_int_gt(found.count, 0);
    for (int i = 0; i < found.count; i++) {
        const calc_aiak_strategy *s = &best[i];
        int stage = 0;
        for (int k = 0; k < s->chain.kinds; k++) {
            bool all = true;
            for (int left = s->chain.stages[k]; left > 0; left--, stage++) {
                int least = s->again[k] < s->layers[stage] ? s->again[k] : s->layers[stage];
                ck_assert_int_eq(s->share[stage].full[0], least);
                all = all && least == s->layers[stage];
            }
            ck_assert_int_eq(s->all_again[k], all);
            again += s->again[k];
        }
    }
    ck_assert_int_gt(again, 0);
}

CALC_TEST(more_of_a_chip_is_never_slower)
{
    calc_aiak_task task = task_of("llama2-13B", both, 64);
    double before = 0;
    task.most[1] = 64;
    for (int most = 0; most <= 64; most += 16) {
        task.most[1] = most > 0 ? most : 8;
        search(&task, best);
        ck_assert_double_ge(best[0].tokens_per_s, before);
        before = best[0].tokens_per_s;
    }
    task.most[1] = CALC_AIAK_UNLIMITED;
    search(&task, other);
    ck_assert_double_eq(other[0].tokens_per_s, before);
}

CALC_TEST(what_does_not_fit_is_not_found)
{
    calc_aiak_task task = task_of("llama-1800B", slow, 64);
    search(&task, best);
    ck_assert_int_eq(found.count, 0);
    ck_assert_int_gt(found.candidates, 0);
    ck_assert_int_eq(found.balanced, 0);
    task = task_of("llama2-7B", slow, 24);
    search(&task, best);
    ck_assert_int_gt(found.sizes, 0);
    task.batch = 1;
    search(&task, best);
    ck_assert_int_eq(found.sizes, 0);
}

/* The published division of Llama 2 70B over one A800 stage and seven of H800 is what peak rates
 * alone make of it: 64 micro-batches, 80 layers, 2338.5 forward passes of a layer on an H800. */
CALC_TEST(peak_rates_divide_70b_as_published)
{
    static const calc_balance_options options = {.evaluations = 20000};
    double slower = 989.4 / 312;
    memset(&problem, 0, sizeof problem);
    problem.shape = (calc_schedule_shape){CALC_PIPELINE_SCHEDULE_1F1B, 8, 1, 64};
    problem.layers[0] = 80;
    problem.chips = 2;
    problem.layer[0][0] =
        (calc_balance_layer){.fw_s = slower, .agrad_s = slower, .wgrad_s = slower};
    problem.layer[1][0] = (calc_balance_layer){.fw_s = 1, .agrad_s = 1, .wgrad_s = 1};
    problem.least_layers = 1;
    problem.alike_on_chip = true;
    for (int i = 0; i < 8; i++) {
        problem.stage[i] = (calc_balance_stage){.chip = i > 0, .limit_bytes = INFINITY};
    }
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    ck_assert_int_eq(solution.share[0].layers[0], 3);
    for (int i = 1; i < 8; i++) {
        ck_assert_int_eq(solution.share[i].layers[0], 11);
    }
    ck_assert_double_eq_tol(solution.answer.step_s, 2338.5, 0.05);
    ck_assert_double_le(calc_balance_quick_s(&problem), solution.answer.step_s);
    ck_assert_double_ge(calc_balance_quick_s(&problem), 0.97 * solution.answer.step_s);
}

/* The chips of a cluster as AIAK's planner is told of them, and how many processors they are to be:
 * unit/check_aiak_search.txt. */
static void answer(const char *said, FILE *out)
{
    char text[128] = "", complaint[256];
    calc_aiak_task of = {0};
    sscanf(said, "%" SCNd64 " %127s", &of.gpus, text);
    if (!calc_aiak_chips_parse(text, &of, complaint, sizeof complaint)) {
        fprintf(out, "%s\n", complaint);
        return;
    }
    for (int i = 0; i < of.chips; i++) {
        fprintf(out, "%s: %jd; ", of.chip[i], (intmax_t)of.most[i]);
    }
    fprintf(out, "%s\n",
            calc_aiak_chips_suffice(&of, complaint, sizeof complaint) ? "enough" : complaint);
}

const calc_test_frame calc_tests = {
    .timeout_s = 120, .cases = "unit/check_aiak_search.txt", .answer = answer};

CALC_TEST(models_of_theirs_are_files_of_ours)
{
    int count = 0;
    for (; calc_aiak_models[count]; count++) {
        char path[512];
        calc_app app;
        calc_errors errors = {0};
        const char *name = calc_aiak_models[count];
        snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/models/%.*sB.json",
                 (int)strlen(name) - 1, name);
        ck_assert_msg(calc_load(CALC_KIND_APP, &app, path, &errors) == CALC_OK, "%s", path);
    }
    ck_assert_int_eq(count, 14);
}

/* Strategies as AIAK's planner prints them. */

static calc_aiak_task task;
static calc_aiak_strategy strategy;

static void guide_strategy(void)
{
    static const int layers[] = {3, 11, 11, 11, 11, 11, 11, 11};
    task = (calc_aiak_task){
        .app = &the_app, .chips = 2, .chip = {"a800", "h800"}, .batch = 1024, .sequence = 4096};
    memset(&strategy, 0, sizeof strategy);
    strategy.sizes = (calc_aiak_sizes){8, 2, 1, 16};
    strategy.chain = (calc_aiak_chain){.kinds = 2, .chip = {0, 1}, .stages = {1, 7}};
    memcpy(strategy.layers, layers, sizeof layers);
    strategy.again[1] = 3;
    strategy.most_bytes[0] = 25.00778579711914 * 0x1p30;
    strategy.most_bytes[1] = 72.89899063110352 * 0x1p30;
    strategy.step.total_s = 17.62220148337528;
}

static const calc_aiak_text mixed = {
    .model = "llama2-70b", .rms = true, .rope = true, .task = &task};

static void assert_text(const calc_aiak_text *text, bool json, const char *want)
{
    calc_output *out;
    calc_text got = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &got, &errors), CALC_OK);
    calc_aiak_text_put(out, text, &strategy, json);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_str_eq(got.data, want);
    calc_text_free(&got);
}

/* 1024 * 4096 / 17.62... = 238012.487. */
CALC_TEST(throughput_is_tokens_per_second_rounded_up)
{
    ck_assert_int_eq(calc_aiak_throughput(1024, 4096, 17.62220148337528), 238013);
    ck_assert_int_eq(calc_aiak_throughput(512, 4096, 2), 1048576);
}

/* The values of AIAK's documentation. */
CALC_TEST(chips_that_differ_have_lists_of_stages)
{
    guide_strategy();
    assert_text(&mixed, false,
                "{'sim_throughput': 238013, 'sim_total_time_s': 17.62220148337528, "
                "'chip-order': ['a800', 'h800'], "
                "'max-use-mem-size': [25.00778579711914, 72.89899063110352], 'strategy': "
                "{'pipeline-model-parallel-size': 8, 'tensor-model-parallel-size': 2, "
                "'micro-batch-size': 1, 'use-flash-attn': '', 'sequence-parallel': '', "
                "'use-distributed-optimizer': '', 'fused-rmsnorm': '', "
                "'apply-rotary-positional-embedding-kernel': '', 'pipeline-stage-chips': "
                "['a800', 'h800', 'h800', 'h800', 'h800', 'h800', 'h800', 'h800'], "
                "'pipeline-stage-layers': [3, 11, 11, 11, 11, 11, 11, 11], "
                "'recompute-granularity': [None, 'full'], 'recompute-method': [None, 'block'], "
                "'recompute-num-layers': [None, 3]}}");
}

CALC_TEST(one_kind_of_chips_has_one_entry_and_no_layers)
{
    guide_strategy();
    strategy.chain = (calc_aiak_chain){.kinds = 1, .chip = {1}, .stages = {8}};
    strategy.all_again[0] = true;
    strategy.again[0] = 10;
    strategy.step.total_s = 16;
    strategy.most_bytes[0] = 0x1p34;
    assert_text(&mixed, false,
                "{'sim_throughput': 262144, 'sim_total_time_s': 16.0, 'chip-order': ['h800'], "
                "'max-use-mem-size': [16.0], "
                "'strategy': {'pipeline-model-parallel-size': 8, 'tensor-model-parallel-size': 2, "
                "'micro-batch-size': 1, 'use-flash-attn': '', 'sequence-parallel': '', "
                "'use-distributed-optimizer': '', 'fused-rmsnorm': '', "
                "'apply-rotary-positional-embedding-kernel': '', 'pipeline-stage-chips': "
                "['h800'], 'recompute-granularity': ['full'], 'recompute-method': ['uniform'], "
                "'recompute-num-layers': [1]}}");
}

CALC_TEST(switches_that_are_off_are_left_out_and_json_has_null)
{
    calc_aiak_text plain = mixed;
    plain.rms = plain.rope = false;
    guide_strategy();
    strategy.sizes = (calc_aiak_sizes){2, 1, 4, 1};
    strategy.chain =
        (calc_aiak_chain){.kinds = 2, .chip = {1, 0}, .stages = {1, 1}, .selective = {false, true}};
    strategy.again[1] = 0;
    strategy.step.total_s = 16;
    strategy.most_bytes[0] = strategy.most_bytes[1] = 0x1.8p30;
    assert_text(&plain, true,
                "{\"sim_throughput\": 262144, \"sim_total_time_s\": 16.0, "
                "\"chip-order\": [\"h800\", \"a800\"], \"max-use-mem-size\": "
                "[1.5, 1.5], \"strategy\": {\"pipeline-model-parallel-size\": 2, "
                "\"tensor-model-parallel-size\": 1, \"micro-batch-size\": 4, \"use-flash-attn\": "
                "\"\", \"pipeline-stage-chips\": [\"h800\", \"a800\"], \"pipeline-stage-layers\": "
                "[3, 11], \"recompute-granularity\": [null, \"selective\"], \"recompute-method\": "
                "[null, null], \"recompute-num-layers\": [null, null]}}");
}
