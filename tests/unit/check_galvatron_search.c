/* Galvatron's search beside what upstream answered, and beside itself with more memory. */
#include "base/rng.h"

#include <math.h>

#include "frame.h"
#include "galvatron/layout.h"
#include "galvatron/posed.h"
#include "galvatron_search_case.h"

static galvatron_case c;
static calc_galvatron_found found;
static calc_galvatron_found the_other;

static void search(calc_galvatron_found *out)
{
    ck_assert_int_eq(calc_galvatron_search(&c.request, &c.profiles, out), CALC_OK);
}

static double judge(const calc_galvatron_answer *answer)
{
    return calc_galvatron_judge_s(&c.request, &c.profiles, answer, NULL);
}

static const char *const modes[] = {"tp_only", "sp_only", "tp_with_sp"};

static void check_answer(const json_t *result)
{
    const calc_galvatron_answer *a = &found.best;
    char runs[2048];
    char expected[2048];
    ck_assert_int_eq(found.tasks, json_integer_value(json_object_get(result, "n_tasks")));
    ck_assert(found.proven);
    galvatron_expected_runs(result, expected, sizeof expected);
    ck_assert_int_eq(a->feasible, expected[0] != 0);
    if (!a->feasible) {
        ck_assert_double_gt(found.least_mb, found.limit_mb);
        return;
    }
    double step_s = json_number_value(json_object_get(result, "time_cost_s"));
    ck_assert_double_eq_tol(a->step_s, step_s, 1e-14 * step_s);
    double throughput = json_number_value(json_object_get(result, "throughput_samples_per_s"));
    ck_assert_double_eq_tol(a->throughput, throughput, 1e-14 * throughput);
    ck_assert_int_eq(a->task.gbsz, json_integer_value(json_object_get(result, "gbsz")));
    ck_assert_int_eq(a->task.chunks, json_integer_value(json_object_get(result, "chunks")));
    ck_assert_int_eq(a->task.pp, json_integer_value(json_object_get(result, "pp_size")));
    ck_assert_str_eq(modes[a->task.mode], json_string_value(json_object_get(result, "tp_sp_mode")));
    ck_assert_int_eq(a->task.buffer_tp,
                     json_integer_value(json_object_get(result, "global_buffer_tp_size")));
    ck_assert_int_eq(a->ends.tp * a->ends.sp,
                     json_integer_value(json_object_get(result, "embed_tp_sp")));
    ck_assert_int_eq(a->ends.sp > 1, json_integer_value(json_object_get(result, "embed_sp")));
    ck_assert_int_eq(a->ends.type == CALC_GALVATRON_ZERO3,
                     json_integer_value(json_object_get(result, "embed_sdp")));
    galvatron_runs(a, (int)calc_galvatron_layer_count(&c.request), runs, sizeof runs);
    for (int i = 0; i < a->task.pp; i++) {
        ck_assert_double_eq(a->used_mb[i],
                            json_number_value(json_array_get(
                                json_object_get(result, "memory_cost_MB"), (size_t)i)));
        ck_assert_double_eq(a->remain_mb[i],
                            json_number_value(json_array_get(
                                json_object_get(result, "memory_remain_MB"), (size_t)i)));
    }
    ck_assert_str_eq(runs, expected);
}

static json_t *open_case(int i)
{
    char path[256];
    galvatron_search_open(&c, galvatron_cases[i]);
    snprintf(path, sizeof path, "%s/result.json", galvatron_cases[i]);
    return galvatron_json(path);
}

CALC_TEST_LOOP(upstream_answers_are_reproduced_to_the_last_layer, 0, GALVATRON_CASES)
{
    json_t *result = open_case(_i);
    search(&found);
    check_answer(result);
    json_decref(result);
    galvatron_close(&c);
}

/* Upstream's inexact fits choose between two answers that are equally long by exact ones. */
CALC_TEST(exact_fits_decide_a_tie_otherwise)
{
    galvatron_search_open(&c, "20_llama2-7b_1x8_20G_bsz64_chunk8");
    search(&found);
    galvatron_load(&c);
    search(&the_other);
    ck_assert_mem_ne(found.best.layer, the_other.best.layer, sizeof found.best.layer);
    ck_assert_double_eq_tol(judge(&the_other.best), judge(&found.best), 1e-14);
    galvatron_close(&c);
}

CALC_TEST_LOOP(the_default_is_never_worse_than_upstream, 0, GALVATRON_CASES)
{
    json_t *result = open_case(_i);
    search(&found);
    c.request.compat = false;
    search(&the_other);
    ck_assert_int_eq(the_other.best.feasible, found.best.feasible);
    if (the_other.best.feasible) {
        ck_assert(the_other.proven);
        ck_assert_double_le(the_other.best.step_s, judge(&found.best) * (1 + 1e-12));
        ck_assert_double_eq_tol(judge(&the_other.best), the_other.best.step_s, 1e-12);
        ck_assert_double_ge(the_other.best.step_s / (double)the_other.best.task.gbsz,
                            the_other.unlimited_s * (1 - 1e-12));
        for (int i = 0; i < the_other.best.task.pp; i++) {
            ck_assert_double_ge(the_other.best.remain_mb[i], -1e-6);
        }
        if (the_other.second.feasible) {
            ck_assert_double_le(the_other.second.throughput, the_other.best.throughput);
        }
    }
    json_decref(result);
    galvatron_close(&c);
}

/* Two nodes, which upstream was measured on as well: 2.718392433 s, and 2.535687970 s where its
 * objective is the step. */
CALC_TEST(two_nodes_gain_eight_per_cent)
{
    galvatron_search_open(&c, "04_llama2-7b_1x4_40G_bsz32");
    c.request.num_nodes = 2;
    c.request.num_gpus_per_node = 8;
    c.request.min_bsz = c.request.max_bsz = 64;
    c.request.memory_constraint = 24;
    galvatron_load(&c);
    search(&found);
    ck_assert_double_eq_tol(found.best.step_s, 2.718392433, 1e-8);
    c.request.compat = false;
    search(&the_other);
    ck_assert(the_other.proven);
    ck_assert_double_le(the_other.best.step_s, 2.535687970);
    ck_assert_double_le(the_other.best.step_s, 0.94 * judge(&found.best));
    galvatron_close(&c);
}

CALC_TEST(more_memory_is_never_worse_but_for_upstream)
{
    galvatron_search_open(&c, "20_llama2-7b_1x8_20G_bsz64_chunk8");
    c.request.memory_constraint = 20;
    search(&found);
    c.request.memory_constraint = 21;
    search(&the_other);
    ck_assert_double_gt(the_other.best.step_s, found.best.step_s * 1.09);
    c.request.compat = false;
    double before_s = INFINITY;
    calc_rng rng;
    calc_rng_init(&rng, 14, 0);
    c.request.memory_constraint = 10;
    for (int i = 0; i < 1000; i++) {
        c.request.memory_constraint += 0.09 * calc_rng_real(&rng);
        search(&found);
        if (found.best.feasible) {
            ck_assert_double_le(found.best.step_s, before_s * (1 + 1e-9));
            before_s = found.best.step_s;
        } else {
            ck_assert(before_s == INFINITY);
            ck_assert_double_gt(found.least_mb, found.limit_mb);
        }
    }
    galvatron_close(&c);
}

CALC_TEST(budgets_grow_and_are_never_below_upstream)
{
    calc_galvatron_request r = {.compat = true};
    const double whole[][2] = {{16, 16384}, {20, 20480}, {21, 17204}, {24, 19661},
                               {36, 29492}, {40, 32768}, {80, 65536}};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        r.memory_constraint = whole[i][0];
        ck_assert_double_eq(calc_galvatron_limits_of(&r).limit_mb, whole[i][1]);
    }
    double before_mb = 0;
    for (int i = 1; i <= 768; i++) {
        double gb = i % 4 && i / 4 == 20 ? 21 : 0.25 * i; /* upstream takes whole ones */
        r.memory_constraint = gb;
        r.compat = true;
        double upstream_mb = calc_galvatron_limits_of(&r).limit_mb;
        r.compat = false;
        calc_galvatron_limits limits = calc_galvatron_limits_of(&r);
        ck_assert_double_ge(limits.limit_mb, fmax(before_mb, upstream_mb));
        ck_assert_double_eq(limits.limit_mb + limits.reserve_mb, gb * 1024);
        before_mb = limits.limit_mb;
    }
}

CALC_TEST(too_many_layers_are_refused)
{
    calc_galvatron_request r = {.types = 1, .layers = {{4096, CALC_GALVATRON_LAYERS + 1, 2048}}};
    ck_assert_int_eq(calc_galvatron_search(&r, &c.profiles, &found), CALC_ERR_RULE);
}

/* The least step of a task, beside all that few layers can do; coarse beside uniform ones. */

enum { LAYERS = 4 };

static calc_galvatron_posed posed;
static calc_galvatron_joined joined;
static calc_galvatron_answer answer;

/* Step of a sequence of strategies; INFINITY: it does not fit. */
static double step_of(int end, const int *choice)
{
    double sync_s[2] = {0};
    double nosync_s[2] = {0};
    int each = LAYERS / posed.task.pp;
    for (int stage = 0; stage < posed.task.pp; stage++) {
        double mb = 0;
        nosync_s[stage] = posed.ends_cost[end * posed.task.pp + stage].nosync_s;
        for (int i = 0; i < each; i++) {
            int own = choice[stage * each + i];
            const calc_layerwise_option *o = posed.stage[stage].kind[0].option;
            double switch_s =
                i ? posed.switch_s[o[choice[stage * each + i - 1]].group * CALC_GALVATRON_GROUPS +
                                   o[own].group]
                  : 0;
            mb += o[own].bytes;
            sync_s[stage] += posed.cost[own].sync_s + switch_s;
            nosync_s[stage] += posed.cost[own].nosync_s + switch_s;
        }
        if (mb > calc_galvatron_room_mb(&posed, end, stage)) {
            return INFINITY;
        }
    }
    return calc_galvatron_pipeline_s(posed.task.pp, posed.task.chunks, sync_s, nosync_s);
}

static double shortest(int end)
{
    int choice[LAYERS] = {0};
    double least_s = INFINITY;
    for (int i = 0; i >= 0;) {
        least_s = fmin(least_s, step_of(end, choice));
        for (i = LAYERS - 1; i >= 0 && ++choice[i] == posed.strategies; i--) {
            choice[i] = 0;
        }
    }
    return least_s;
}

static void pose(const calc_galvatron_task *task, double limit_mb)
{
    calc_galvatron_case at = {&c.request, &c.profiles, task->gbsz, task->chunks};
    calc_galvatron_pose(&posed, &at, task);
    posed.limit_mb = limit_mb;
}

static const calc_galvatron_task tasks[] = {
    {16, 1, 1, CALC_GALVATRON_TP_ONLY, 4}, {64, 4, 1, CALC_GALVATRON_TP_ONLY, 2},
    {16, 2, 1, CALC_GALVATRON_SP_ONLY, 2}, {16, 2, 2, CALC_GALVATRON_TP_ONLY, 4},
    {64, 8, 2, CALC_GALVATRON_SP_ONLY, 4}, {8, 1, 1, CALC_GALVATRON_TP_ONLY, 4},
    {32, 4, 2, CALC_GALVATRON_TP_ONLY, 2},
};
enum { TASKS = sizeof tasks / sizeof tasks[0] };

CALC_TEST_LOOP(no_choice_of_layers_is_shorter, 0, TASKS)
{
    galvatron_search_open(&c, "02_llama2-7b_1x8_24G_bsz64");
    c.request.compat = false;
    c.request.layers[0].layer_num = LAYERS;
    /* Reduction takes longer than a micro-batch, so that it is exposed. */
    for (int k = 0; k < CALC_GALVATRON_DOUBLINGS; k++) {
        c.profiles.consecutive[k] *= 12;
        c.profiles.strided[k] *= 20;
    }
    int fit = 0;
    int proven = 0;
    int other = 0; /* than what is shortest without reduction */
    for (double limit_mb = 4000; limit_mb < 22000; limit_mb *= 1.13) {
        pose(&tasks[_i], limit_mb);
        for (int end = 0; end < posed.ends; end += 3) {
            double expected = shortest(end);
            bool fits = calc_galvatron_better(&posed, end, INFINITY, &joined);
            ck_assert_int_eq(fits, expected < INFINITY);
            if (!fits) {
                continue;
            }
            ck_assert_double_le(joined.bound_s, expected * (1 + 1e-12));
            ck_assert_double_ge(joined.step_s, expected * (1 - 1e-12));
            if (joined.bound_s >= joined.step_s) {
                ck_assert_double_eq_tol(joined.step_s, expected, 1e-12 * expected);
                proven++;
            }
            calc_layerwise_point quick;
            ck_assert(calc_layerwise_best(&posed.stage[0], 1, 0, &quick));
            other += joined.point[0].micro_s > quick.micro_s;
            /* With a limit that nothing is below there is no need to find it. */
            double step_s = joined.step_s;
            ck_assert(calc_galvatron_better(&posed, end, step_s * 0.9, &joined));
            ck_assert_double_ge(joined.step_s, expected * (1 - 1e-12));
            fit++;
        }
        calc_galvatron_posed_free(&posed);
    }
    ck_assert_int_gt(fit, 5);
    ck_assert_int_gt(proven, fit / 2);
    ck_assert_int_ge(other, _i == 0);
    galvatron_close(&c);
}

/* Also where embedding and head may not be split as some layers are. */
CALC_TEST_LOOP(coarse_is_the_best_of_uniform_ones, 0, 3)
{
    galvatron_search_open(&c, "02_llama2-7b_1x8_24G_bsz64");
    c.request.compat = false;
    c.request.disable_embedding_lmhead_tp = _i == 1;
    c.request.disable_embedding_lmhead_sp = _i == 2;
    c.request.layers[0].layer_num = LAYERS;
    pose(&tasks[3], 9000);
    double least_s = INFINITY;
    for (int i = 0; i < posed.strategies; i++) {
        const int choice[LAYERS] = {i, i, i, i};
        for (int end = 0; end < posed.ends; end++) {
            calc_galvatron_strategy s = posed.layer[i];
            s.checkpoint = false;
            least_s = calc_galvatron_strategy_same(&s, &posed.end[end])
                          ? fmin(least_s, step_of(end, choice))
                          : least_s;
        }
    }
    ck_assert(least_s < INFINITY);
    ck_assert(calc_galvatron_coarse(&posed, &answer));
    ck_assert_double_eq_tol(answer.step_s, least_s, 1e-12);
    answer.task = posed.task;
    answer.division[0] = answer.division[1] = LAYERS / 2;
    double reshard_s;
    ck_assert_double_eq_tol(calc_galvatron_judge_posed_s(&posed, &answer, &reshard_s), least_s,
                            1e-12);
    ck_assert_double_eq(reshard_s, 0);
    ck_assert(_i != 1 || answer.ends.tp == 1);
    posed.limit_mb = 2000;
    ck_assert(!calc_galvatron_coarse(&posed, &answer));
    posed.limit_mb = 9000;
    posed.ends = 0;
    c.request.compat = true;
    ck_assert(!calc_galvatron_coarse(&posed, &answer));
    calc_galvatron_posed_free(&posed);
    galvatron_close(&c);
}

/* Upstream's dynamic programme, beside its recurrence over every MB and every strategy. */

enum { WHOLE_LAYERS = 12, MOST_MB = 8000, STRATEGIES = 24 };

static double value[2][MOST_MB + 1][STRATEGIES];
static int8_t back[WHOLE_LAYERS][MOST_MB + 1][STRATEGIES];

/* The recurrence as it stands. @return false: nothing fits */
static bool reference(int stage, int room_mb, int *choice, double *remain_mb)
{
    const calc_layerwise_stage *s = &posed.stage[stage];
    int type = calc_galvatron_type_of(&posed, stage, 0);
    int n = posed.strategies;
    double(*now)[STRATEGIES] = value[0];
    double(*next)[STRATEGIES] = value[1];
    memset(value, 0, sizeof value);
    for (int layer = 0; layer < s->kind[0].layers; layer++) {
        for (int mb = 0; mb <= room_mb; mb++) {
            for (int to = 0; to < n; to++) {
                int own_mb = (int)s->kind[0].option[to].bytes;
                next[mb][to] = INFINITY;
                for (int from = 0; from < n && mb >= own_mb; from++) {
                    double inter = stage == 0 && layer == 0
                                       ? 0
                                       : calc_galvatron_transition(&posed.c, &posed.layer[from],
                                                                   &posed.layer[to], type);
                    double sum = now[mb - own_mb][from] + (from == to ? 0 : inter) +
                                 posed.cost[type * n + to].sync_s;
                    if (sum < next[mb][to]) {
                        next[mb][to] = sum;
                        back[layer][mb][to] = (int8_t)from;
                    }
                }
            }
        }
        double(*swap)[STRATEGIES] = now;
        now = next;
        next = swap;
    }
    int at = 0;
    for (int i = 1; i < n; i++) {
        at = now[room_mb][i] < now[room_mb][at] ? i : at;
    }
    if (now[room_mb][at] == INFINITY) {
        return false;
    }
    for (int layer = s->kind[0].layers - 1, mb = room_mb; layer >= 0; layer--) {
        choice[layer] = at;
        int own_mb = (int)s->kind[0].option[at].bytes;
        at = back[layer][mb][at];
        mb -= own_mb;
        *remain_mb = mb;
    }
    return true;
}

CALC_TEST_LOOP(it_is_the_recurrence_to_the_last_layer, 0, 4)
{
    galvatron_search_open(&c, "03_llama2-7b_1x8_16G_bsz64");
    c.request.layers[0].layer_num = 9;
    calc_galvatron_case at = {&c.request, &c.profiles, 64, 16};
    const calc_galvatron_task task[] = {{64, 16, 2, CALC_GALVATRON_TP_ONLY, 4},
                                        {64, 16, 2, CALC_GALVATRON_TP_WITH_SP, 2}};
    int fit = 0;
    int mixed = 0;
    calc_galvatron_pose(&posed, &at, &task[_i % 2]);
    ck_assert_int_le(posed.strategies, STRATEGIES);
    for (int room_mb = 1500 + 37 * (_i / 2); room_mb < MOST_MB; room_mb += 913) {
        for (int stage = 0; stage < 2; stage++) {
            int expected[WHOLE_LAYERS];
            int choice[WHOLE_LAYERS];
            double expected_mb;
            double remain_mb;
            bool fits = reference(stage, room_mb, expected, &expected_mb);
            ck_assert(calc_galvatron_whole(&posed, stage, room_mb, choice, &remain_mb) == fits);
            if (!fits) {
                continue;
            }
            for (int i = 0; i < posed.stage[stage].kind[0].layers; i++) {
                ck_assert_int_eq(choice[i], expected[i]);
                mixed += i > 0 && choice[i] != choice[i - 1];
            }
            ck_assert_double_eq(remain_mb, expected_mb);
            fit++;
        }
    }
    ck_assert_int_gt(fit, 6);
    ck_assert_int_gt(mixed, 3);
    double remain_mb;
    int choice[WHOLE_LAYERS];
    ck_assert(!calc_galvatron_whole(&posed, 0, -1, choice, &remain_mb));
    calc_galvatron_posed_free(&posed);
    galvatron_close(&c);
}
