/* Published errors of others beside those of calc on the same runs. */
#include "validate/features.h"

#include "frame.h"
#include "run_case.h"
#include "scratch.h"

#include <stdio.h>

enum { MAX = 3 };
#define HEAD "simulator,machine,quantity,runs,rows,error_percent,worst_percent,note\n"

static char folder[256];
static calc_runs_row row[MAX];
static calc_prediction prediction[MAX];
static calc_result item[MAX];
static calc_results results;
static calc_peers peers;
static calc_errors errors;

static void add(const char *id, calc_quantity quantity, double error)
{
    size_t i = results.count++;
    row[i] = plain_row();
    row[i].id = id;
    calc_run_map_row(&prediction[i].map, &row[i]);
    item[i] = (calc_result){
        .prediction = &prediction[i], .quantity = quantity, .error = error, .remark = ""};
}

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    results = (calc_results){.prediction = prediction, .item = item};
    peers = (calc_peers){0};
    errors = (calc_errors){0};
    add("one_1", CALC_QUANTITY_STEP_TIME, 0.10);
    add("one_2", CALC_QUANTITY_STEP_TIME, -0.30);
    add("one_2", CALC_QUANTITY_MEMORY, 0.02);
}

static void leave(void)
{
    calc_peers_free(&peers);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_status read_text(const char *text)
{
    FILE *file = fopen("peers.csv", "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    return calc_peers_read(&peers, "peers.csv", &results, &errors);
}

CALC_TEST(rows_of_one_simulator_machine_and_quantity_are_one_peer)
{
    ck_assert_int_eq(read_text(HEAD "A,x,step_time,one_1,1,-4,,\n"
                                    "A,x,step_time,one_2,1,8,,last\n"
                                    "A,x,memory,one_2,1,1.5,,\n"
                                    "A,y,step_time,,1,3,,elsewhere\n"),
                     CALC_OK);
    ck_assert_uint_eq(peers.count, 3);
    const calc_peer *p = &peers.item[0];
    ck_assert_uint_eq(p->rows, 2);
    ck_assert_double_eq_tol(p->mean_abs, 0.06, 1e-12);
    ck_assert_double_eq_tol(p->worst_abs, 0.08, 1e-12);
    ck_assert_str_eq(p->note, "last");
    ck_assert_uint_eq(p->ours.count, 2);
    ck_assert_double_eq_tol(p->ours.mean_abs, 0.2, 1e-12);
    ck_assert_double_eq_tol(p->ours.worst_abs, 0.3, 1e-12);
    ck_assert_uint_eq(peers.item[1].ours.count, 1);
    ck_assert_double_eq_tol(peers.item[1].ours.mean_abs, 0.02, 1e-12);
    ck_assert_uint_eq(peers.item[2].ours.count, 0);
    ck_assert_uint_eq(peers.item[2].listed, 0);
}

/* An average weighs as many rows as it has; of it the worst is not known. */
CALC_TEST(averages_weigh_their_rows)
{
    ck_assert_int_eq(read_text(HEAD "A,x,step_time,one_*,3,8,,\nA,x,step_time,none,1,4,,\n"
                                    "B,x,step_time,,,5,,\nC,x,step_time,,,,10,bound\n"),
                     CALC_OK);
    ck_assert_uint_eq(peers.item[0].rows, 4);
    ck_assert_double_eq_tol(peers.item[0].mean_abs, 0.07, 1e-12);
    ck_assert_double_eq_tol(peers.item[0].worst_abs, 0.04, 1e-12);
    ck_assert_uint_eq(peers.item[0].ours.count, 2);
    ck_assert_uint_eq(peers.item[1].rows, 0);
    ck_assert_double_eq_tol(peers.item[1].mean_abs, 0.05, 1e-12);
    ck_assert(isnan(peers.item[1].worst_abs));
    ck_assert(isnan(peers.item[2].mean_abs));
    ck_assert_double_eq_tol(peers.item[2].worst_abs, 0.10, 1e-12);
}

/* Errors that are not there do not count. */
CALC_TEST(runs_that_are_not_predicted_are_left_out)
{
    item[1].error = (double)NAN;
    ck_assert_int_eq(read_text(HEAD "A,x,step_time,one_*,2,8,,\n"), CALC_OK);
    ck_assert_uint_eq(peers.item[0].ours.count, 1);
    ck_assert_uint_eq(peers.item[0].listed, 2);
}

/* Of simulators of serving nothing is said beside runs of training. */
CALC_TEST(quantities_that_no_run_has_are_left_out)
{
    ck_assert_int_eq(read_text(HEAD "A,x,tpot,,1,8,,\nA,x,memory,,1,4,,\nB,x,ttft,one_*,1,8,,\n"),
                     CALC_OK);
    ck_assert_uint_eq(peers.count, 1);
    ck_assert_int_eq(peers.item[0].quantity, CALC_QUANTITY_MEMORY);
}

CALC_TEST(broken_rows_are_named)
{
    static const struct {
        const char *row;
        calc_status status;
    } bad[] = {{"A,x,step_time,one_1,1,-4,\n", CALC_ERR_FIELD},
               {"A,x,time,one_1,1,-4,,\n", CALC_ERR_TYPE},
               {"A,x,step_time,one_1,many,-4,,\n", CALC_ERR_TYPE},
               {"A,x,step_time,one_1,-1,-4,,\n", CALC_ERR_TYPE},
               {"A,x,step_time,one_1,1,4 %,,\n", CALC_ERR_TYPE}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "%s", bad[i].row);
        errors = (calc_errors){0};
        ck_assert_int_eq(read_text(text), bad[i].status);
        ck_assert_int_eq(errors.item[0].line, 2);
        calc_peers_free(&peers);
    }
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_peers_read(&peers, "no_such.csv", &results, &errors), CALC_ERR_NOT_FOUND);
}

CALC_TEST(the_shipped_peers_are_read)
{
    ck_assert_int_eq(
        calc_peers_read(&peers, CALC_TEST_DATA "/measured/peers.csv", &results, &errors), CALC_OK);
    const calc_peer *p = &peers.item[0];
    ck_assert_str_eq(p->simulator, "SimuMax v1.2");
    ck_assert_uint_eq(p->rows, 43);
    ck_assert_double_eq_tol(p->mean_abs, 0.0562, 5e-5);
    ck_assert_double_eq_tol(p->worst_abs, 0.1354, 5e-5);
}
