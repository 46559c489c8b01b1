/* Upstream's dynamic programme, beside its recurrence over every MB and every strategy. */
#include "galvatron/posed.h"
#include "galvatron_search_case.h"

#include <math.h>

#include "frame.h"

enum { LAYERS = 12, MOST_MB = 8000, STRATEGIES = 24 };

static galvatron_case c;
static calc_galvatron_posed posed;
static double value[2][MOST_MB + 1][STRATEGIES];
static int8_t back[LAYERS][MOST_MB + 1][STRATEGIES];

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
    ck_assert_int_eq(calc_galvatron_pose(&posed, &at, &task[_i % 2]), CALC_OK);
    ck_assert_int_le(posed.strategies, STRATEGIES);
    for (int room_mb = 1500 + 37 * (_i / 2); room_mb < MOST_MB; room_mb += 913) {
        for (int stage = 0; stage < 2; stage++) {
            int expected[LAYERS];
            int choice[LAYERS];
            double expected_mb;
            double remain_mb;
            bool fits = reference(stage, room_mb, expected, &expected_mb);
            calc_status status = calc_galvatron_whole(&posed, stage, room_mb, choice, &remain_mb);
            ck_assert_int_eq(status, fits ? CALC_OK : CALC_ERR_RULE);
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
    int choice[LAYERS];
    ck_assert_int_eq(calc_galvatron_whole(&posed, 0, -1, choice, &remain_mb), CALC_ERR_RULE);
    calc_galvatron_posed_free(&posed);
    galvatron_close(&c);
}
