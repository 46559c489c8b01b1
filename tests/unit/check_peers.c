#include "scratch.h"

#include "io/peers.h"

#include <check.h>

static char folder[256];

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

static void groups_are(int tensor_par, int pipeline_par, int data_par, const char *expected)
{
    calc_exec exec = {.tensor_par = tensor_par, .pipeline_par = pipeline_par, .data_par = data_par};
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "peers.json", NULL), CALC_OK);
    calc_peers_save(out, &exec);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("peers.json", expected);
}

START_TEST(a_single_rank_has_no_peers)
{
    groups_are(1, 1, 1, "{\n  \"0\": {}\n}\n");
}
END_TEST

START_TEST(groups_of_one_are_left_out)
{
    groups_are(1, 1, 2, "{\n  \"0\": {\"data\": [0, 1]},\n  \"1\": {\"data\": [0, 1]}\n}\n");
    groups_are(1, 2, 1, "{\n  \"0\": {\"pipeline\": 1},\n  \"1\": {\"pipeline\": 0}\n}\n");
    groups_are(2, 1, 1, "{\n  \"0\": {\"tensor\": [0, 1]},\n  \"1\": {\"tensor\": [0, 1]}\n}\n");
}
END_TEST

START_TEST(ranks_are_numbered_by_data_then_stage_then_tensor)
{
    groups_are(2, 3, 2,
               "{\n"
               "  \"0\": {\"tensor\": [0, 1], \"pipeline\": 2, \"data\": [0, 6]},\n"
               "  \"1\": {\"tensor\": [0, 1], \"pipeline\": 3, \"data\": [1, 7]},\n"
               "  \"2\": {\"tensor\": [2, 3], \"pipeline\": 4, \"data\": [2, 8]},\n"
               "  \"3\": {\"tensor\": [2, 3], \"pipeline\": 5, \"data\": [3, 9]},\n"
               "  \"4\": {\"tensor\": [4, 5], \"pipeline\": 0, \"data\": [4, 10]},\n"
               "  \"5\": {\"tensor\": [4, 5], \"pipeline\": 1, \"data\": [5, 11]},\n"
               "  \"6\": {\"tensor\": [6, 7], \"pipeline\": 8, \"data\": [0, 6]},\n"
               "  \"7\": {\"tensor\": [6, 7], \"pipeline\": 9, \"data\": [1, 7]},\n"
               "  \"8\": {\"tensor\": [8, 9], \"pipeline\": 10, \"data\": [2, 8]},\n"
               "  \"9\": {\"tensor\": [8, 9], \"pipeline\": 11, \"data\": [3, 9]},\n"
               "  \"10\": {\"tensor\": [10, 11], \"pipeline\": 6, \"data\": [4, 10]},\n"
               "  \"11\": {\"tensor\": [10, 11], \"pipeline\": 7, \"data\": [5, 11]}\n"
               "}\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("peers");
    TCase *tests = tcase_create("peers");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, a_single_rank_has_no_peers);
    tcase_add_test(tests, groups_of_one_are_left_out);
    tcase_add_test(tests, ranks_are_numbered_by_data_then_stage_then_tensor);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
