/* Pipelines whose stages are listed: on two chips, with recomputation of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "frame.h"
#include "shipped_case.h"

#define ROUNDING 1e-9

enum { STAGES = 8, MOST_MICROBATCHES = 256 };

static shipped_case c;
static calc_system slow; /* another chip, with half the network between nodes */

static void set(const char *assignment)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_set(&c.app, &c.system, &c.exec, assignment, NULL, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

static void setup(void)
{
    memset(&c, 0, sizeof c);
    load_shipped(CALC_KIND_APP, &c.app, "models", "llama3-70B");
    load_shipped(CALC_KIND_SYSTEM, &c.system, "systems", "h100_sxm");
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_512");
    load_shipped(CALC_KIND_SYSTEM, &slow, "systems", "a800");
    slow.networks[1].bytes_per_s /= 2;
    set("pipeline_par=8");
    set("data_par=16");
    set("context_par=1");
    set("pipeline_interleaving=1");
    set("pipeline_par_overlap=false");
    set("tensor_par_overlap=none");
    set("seq_par_ag_redo=false");
}

const calc_test_frame calc_tests = {.setup = setup};

static void give_systems(shipped_case *to)
{
    for (int32_t i = 0; i < to->exec.stages.chips; i++) {
        to->exec.stages.system[i] =
            strcmp(to->exec.stages.name[i], "slow") == 0 ? &slow : &to->system;
    }
}

static void is_legal(const shipped_case *l)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_check(&l->app, &l->system, &l->exec, &errors) == CALC_OK, "%s: %s",
                  errors.item[0].pointer, errors.item[0].text);
}

/* Rows of the stages of a layout, whose list is kept. */
static void rows_of(shipped_case *l, calc_stage_stats row[STAGES])
{
    give_systems(l);
    is_legal(l);
    ck_assert_uint_eq(calc_each_stage(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, row, STAGES),
                      STAGES);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= ROUNDING * fmax(fabs(a), fabs(b));
}

static void same_row(const calc_stage_stats *got, const calc_stage_stats *want, const char *what)
{
    const calc_table *table = calc_table_of(CALC_KIND_STAGE);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if (field->type == CALC_TYPE_REAL) {
            double a = *(const double *)(const void *)((const char *)got + field->offset);
            double b = *(const double *)(const void *)((const char *)want + field->offset);
            ck_assert_msg(is_near(a, b), "%s: %s is %.17g, not %.17g", what, field->key, a, b);
        }
    }
}

/* ---- Two chips ------------------------------------------------------------------------------- */

#define TWO_CHIPS                                                                                  \
    "\"blocks\": [\"4x7\", \"4x13\"], \"system\": [\"4xslow\", \"4xfast\"], "                      \
    "\"activation_recompute\": {\"fast\": \"full\"}, \"recompute_blocks\": {\"fast\": 3}"

/* A layout on one chip whose middle stages have so many blocks. */
static shipped_case uniform(const calc_system *system, int middle, int first)
{
    shipped_case l = c;
    l.system = *system;
    l.exec.stages = (calc_stage_list){0};
    l.exec.first_stage_blocks = first;
    l.exec.last_stage_blocks = 80 - first - 6 * middle;
    return l;
}

CALC_TEST(a_stage_is_that_of_the_uniform_layout_on_its_chip)
{
    calc_stage_stats mixed[STAGES], on_slow[STAGES], on_fast[STAGES];
    shipped_case a = uniform(&slow, 7, 19);
    shipped_case b = uniform(&c.system, 13, 1);
    b.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    b.exec.recompute_blocks = 3;
    rows_of(&a, on_slow);
    rows_of(&b, on_fast);
    set("stages={" TWO_CHIPS "}");
    rows_of(&c, mixed);
    same_row(&mixed[1], &on_slow[1], "stage 1");
    same_row(&mixed[2], &on_slow[2], "stage 2");
    same_row(&mixed[5], &on_fast[5], "stage 5");
    same_row(&mixed[6], &on_fast[6], "stage 6");
    ck_assert(mixed[2].fw_time != mixed[5].fw_time);
}

CALC_TEST(at_the_boundary_messages_go_at_the_pace_of_the_slower_network)
{
    calc_stage_stats mixed[STAGES], like[STAGES], late[STAGES];
    /* On the fast chip with the network of the slow one, a stage sends as the first of it does. */
    calc_system between = c.system;
    between.networks[1] = slow.networks[1];
    shipped_case b = uniform(&between, 13, 1);
    b.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    b.exec.recompute_blocks = 3;
    rows_of(&b, like);
    set("stages={" TWO_CHIPS "}");
    rows_of(&c, mixed);
    ck_assert(is_near(mixed[4].bw_time, like[4].bw_time));
    ck_assert(mixed[4].bw_time > mixed[5].bw_time);         /* its neighbour's are both fast */
    ck_assert(is_near(mixed[4].fw_time, mixed[5].fw_time)); /* forward to a neighbour like it */
    ck_assert(is_near(mixed[3].fw_time, mixed[2].fw_time)); /* its own network is the slower one */
    set("stages={" TWO_CHIPS ", \"join_latency\": 1e-3}");
    rows_of(&c, late);
    for (int i = 0; i < STAGES; i++) {
        double forward_s = i == 3 ? 1e-3 : 0;
        double back_s = i == 4 ? 1e-3 : 0;
        ck_assert_msg(is_near(late[i].fw_time, mixed[i].fw_time + forward_s), "stage %d", i);
        ck_assert_msg(is_near(late[i].bw_time, mixed[i].bw_time + back_s), "stage %d", i);
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

/* One-forward-one-backward, operation by operation: a stage does one when the one before it is done
 * and its input has come. */
static double simulated_s(const calc_stage_stats row[STAGES], int microbatches)
{
    static double forward_s[STAGES][MOST_MICROBATCHES], back_s[STAGES][MOST_MICROBATCHES];
    int forward[STAGES] = {0}, back[STAGES] = {0};
    double now_s[STAGES] = {0};
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = 0; s < STAGES; s++) {
            int ahead = STAGES - s; /* micro-batches that a stage holds at most */
            bool may_forward = forward[s] < microbatches && forward[s] - back[s] < ahead;
            if (may_forward && (s == 0 || forward[s - 1] > forward[s])) {
                int i = forward[s]++;
                double from_s = s > 0 ? fmax(now_s[s], forward_s[s - 1][i]) : now_s[s];
                now_s[s] = forward_s[s][i] = from_s + row[s].fw_time;
                moved = true;
            }
            bool may_back = back[s] < forward[s] &&
                            (forward[s] - back[s] == ahead || forward[s] == microbatches);
            if (may_back && (s == STAGES - 1 || back[s + 1] > back[s])) {
                int i = back[s]++;
                double from_s = s < STAGES - 1 ? fmax(now_s[s], back_s[s + 1][i]) : now_s[s];
                now_s[s] = back_s[s][i] = from_s + row[s].bw_time;
                moved = true;
            }
        }
    }
    double end_s = 0;
    for (int s = 0; s < STAGES; s++) {
        ck_assert_int_eq(back[s], microbatches);
        end_s = fmax(end_s, now_s[s]);
    }
    return end_s;
}

static void step_is_simulated(const char *assignment)
{
    calc_stage_stats row[STAGES];
    calc_stats stats;
    set(assignment);
    rows_of(&c, row);
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
    const calc_stage_stats *slowest = &row[(int)stats.slowest_stage];
    for (int i = 0; i < STAGES; i++) {
        ck_assert(row[i].fw_time + row[i].bw_time <=
                  (slowest->fw_time + slowest->bw_time) * (1 + ROUNDING));
    }
    double pipeline_s =
        stats.num_microbatches * (slowest->fw_time + slowest->bw_time) + stats.bubble_time;
    double want_s = simulated_s(row, (int)stats.num_microbatches);
    ck_assert_msg(is_near(pipeline_s, want_s), "%s: %.17g s, simulated %.17g s", assignment,
                  pipeline_s, want_s);
    double rest_s = stats.straggler_time + stats.dp_comm_exposed_time + stats.optim_step_time +
                    stats.overhead_time;
    ck_assert(is_near(stats.total_time, pipeline_s + rest_s));
}

CALC_TEST(the_step_is_that_of_its_stages_simulated)
{
    step_is_simulated("stages={" TWO_CHIPS "}");
    step_is_simulated("stages={" TWO_CHIPS ", \"join_latency\": 1e-3}");
    step_is_simulated("stages=[3, 17, 2, 18, 1, 19, 5, 15]");
    step_is_simulated("stages={\"blocks\": [\"4x13\", \"4x7\"], \"system\": [\"4xfast\", "
                      "\"4xslow\"]}");
    set("batch_size=48"); /* 3 micro-batches on 8 stages */
    step_is_simulated("stages={" TWO_CHIPS "}");
}

CALC_TEST(rates_count_the_peaks_of_both_chips)
{
    calc_stats stats;
    set("stages={" TWO_CHIPS "}");
    give_systems(&c);
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
    double peak = (c.system.chip.matrix[c.exec.strategy.datatype].flop_per_s +
                   slow.chip.matrix[c.exec.strategy.datatype].flop_per_s) /
                  2 * (double)c.exec.num_procs;
    ck_assert(is_near(stats.model_flops_utilization, stats.model_flops / stats.total_time / peak));
}

CALC_TEST(the_fullest_stage_has_least_room_on_its_own_chip)
{
    calc_stats stats;
    set("stages={" TWO_CHIPS "}");
    give_systems(&c);
    slow.chip.mem1.capacity_bytes = 0x1p35; /* 32 GiB: what the first stage needs is close */
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
    ck_assert_double_eq(stats.peak_stage, 0);
    ck_assert_double_eq(stats.mem_tier1_capacity, 0x1p35);
    slow.chip.mem1.capacity_bytes = stats.proc_mem_tier1_cap_req;
    ck_assert_int_eq(calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats),
                     CALC_VERDICT_OK);
    slow.chip.mem1.capacity_bytes -= 1;
    ck_assert_int_eq(calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats),
                     CALC_VERDICT_MEM1_CAPACITY);
}

/* ---- Recomputation --------------------------------------------------------------------------- */

/* Rows of a list whose stages recompute so many blocks beside those of the execution. */
static void recomputes_like(int blocks, const shipped_case *like)
{
    calc_stage_stats listed[STAGES], want[STAGES];
    char text[128];
    shipped_case l = *like;
    snprintf(text, sizeof text,
             "stages={\"activation_recompute\": [\"8xfull\"], \"recompute_blocks\": %d}", blocks);
    set(text);
    rows_of(&c, listed);
    rows_of(&l, want);
    for (int i = 0; i < STAGES; i++) {
        same_row(&listed[i], &want[i], text);
    }
}

CALC_TEST(none_some_and_all_blocks_recompute_as_the_execution_has_them)
{
    shipped_case like = c;
    recomputes_like(0, &like);
    like.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    recomputes_like(10, &like);
    recomputes_like(11, &like); /* more than there are */
    like.exec.recompute_blocks = 3;
    recomputes_like(3, &like);
}

CALC_TEST(one_more_block_that_recomputes_never_takes_more_memory_nor_less_time)
{
    calc_stage_stats row[STAGES], before[STAGES];
    for (int chunks = 1; chunks <= 2; chunks++) {
        c.exec.pipeline_interleaving = chunks;
        for (int n = 0; n <= 10; n += chunks) {
            char text[128];
            snprintf(text, sizeof text,
                     "stages={\"activation_recompute\": [\"8xfull\"], \"recompute_blocks\": %d}",
                     n);
            set(text);
            rows_of(&c, row);
            for (int i = 0; i < STAGES && n > 0; i++) {
                ck_assert_msg(row[i].mem_tier1 <= before[i].mem_tier1 * (1 + ROUNDING),
                              "stage %d, %d blocks", i, n);
                ck_assert_msg(row[i].bw_time > before[i].bw_time, "stage %d, %d blocks", i, n);
            }
            memcpy(before, row, sizeof before);
        }
    }
}

/* The most that chunks of a stage hold at any time of the interleaved order, of so many bytes each:
 * all passes, one by one. */
static double most_held(int stage, int chunks, int microbatches, const double bytes[2])
{
    int all = microbatches * chunks;
    int warm = 2 * (STAGES - 1 - stage) + (chunks - 1) * STAGES;
    int held[2] = {0, 0};
    double most = 0;
    for (int forward = 0, back = 0; back < all;) {
        if (forward < all && forward <= warm + back) {
            held[forward++ / STAGES % chunks]++;
        } else {
            held[chunks - 1 - back++ / STAGES % chunks]--;
        }
        most = fmax(most, held[0] * bytes[0] + held[1] * bytes[1]);
    }
    return most;
}

CALC_TEST(chunks_that_differ_hold_what_their_order_makes_them_hold)
{
    calc_stage_stats whole[STAGES], lean[STAGES], row[STAGES];
    calc_stats stats;
    c.exec.pipeline_interleaving = 2;
    set("stages={\"blocks\": [\"16x5\"], \"activation_recompute\": \"none\"}");
    rows_of(&c, whole);
    set("stages={\"blocks\": [\"16x5\"], \"activation_recompute\": \"full\"}");
    rows_of(&c, lean);
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
    for (int first = 0; first < 2; first++) { /* the first chunk recomputes, or the second */
        set(first == 0 ? "stages={\"blocks\": [\"16x5\"], \"activation_recompute\": "
                         "[\"8xfull\", \"8xnone\"]}"
                       : "stages={\"blocks\": [\"16x5\"], \"activation_recompute\": "
                         "[\"8xnone\", \"8xfull\"]}");
        rows_of(&c, row);
        for (int i = 0; i < STAGES; i++) {
            double bytes[2];
            bytes[first] = lean[i].act_space / lean[i].in_flight / 2;
            bytes[1 - first] = whole[i].act_space / whole[i].in_flight / 2;
            double want = most_held(i, 2, (int)stats.num_microbatches, bytes);
            ck_assert_msg(is_near(row[i].act_space, want), "stage %d, chunk %d: %.17g, not %.17g",
                          i, first, row[i].act_space, want);
        }
    }
}

CALC_TEST(chunks_of_a_stage_take_the_time_of_what_they_recompute_together)
{
    calc_stage_stats together[STAGES], apart[STAGES];
    c.exec.pipeline_interleaving = 2;
    set("stages={\"activation_recompute\": [\"8xfull\"], \"recompute_blocks\": 6}");
    rows_of(&c, together);
    set("stages={\"blocks\": [\"16x5\"], \"activation_recompute\": \"full\", "
        "\"recompute_blocks\": [\"8x5\", \"8x1\"]}");
    rows_of(&c, apart);
    for (int i = 0; i < STAGES; i++) {
        ck_assert(is_near(apart[i].bw_time, together[i].bw_time));
        ck_assert(is_near(apart[i].fw_time, together[i].fw_time));
    }
    /* The first chunk of the first stage holds more micro-batches: recomputing it saves more. */
    ck_assert(apart[0].mem_tier1 < together[0].mem_tier1);
}

/* ---- Capacities ------------------------------------------------------------------------------ */

CALC_TEST(a_smaller_memory_of_fewer_bytes_may_be_the_fuller_one)
{
    calc_stats stats;
    calc_stage_stats row[STAGES];
    set("stages={\"blocks\": [\"4x5\", \"4x15\"], \"system\": [\"4xslow\", \"4xfast\"]}");
    rows_of(&c, row);
    ck_assert(row[4].mem_tier1 > row[0].mem_tier1);
    slow.chip.mem1.capacity_bytes = row[0].mem_tier1 * 1.1;
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
    ck_assert_double_eq(stats.peak_stage, 0);
    ck_assert_double_eq(stats.proc_mem_tier1_cap_req, row[0].mem_tier1);
}
