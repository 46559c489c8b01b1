/* The least step of a task, beside all that few layers can do; coarse beside uniform ones. */
#include "galvatron/better.h"
#include "galvatron/layout.h"
#include "galvatron_search_case.h"

#include <math.h>

#include "frame.h"

enum { LAYERS = 4 };

static galvatron_case c;
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
    ck_assert_int_eq(calc_galvatron_pose(&posed, &at, task), CALC_OK);
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
            calc_status status = calc_galvatron_better(&posed, end, INFINITY, &joined);
            ck_assert_int_eq(status, expected < INFINITY ? CALC_OK : CALC_ERR_RULE);
            if (status != CALC_OK) {
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
            ck_assert_int_eq(calc_galvatron_better(&posed, end, step_s * 0.9, &joined), CALC_OK);
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
