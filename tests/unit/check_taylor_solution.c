#include "taylor/memory.h"

#include <string.h>

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static const calc_taylor_ask ask = {.stages = 2, .chunks = 2, .layers = {1, 7}};
static const calc_balance_share shares[4] = {{.layers = {1, 1}, .full = {1, 0}},
                                             {.layers = {0, 2}},
                                             {.layers = {0, 3}, .selective = {0, 2}},
                                             {.layers = {0, 1}}};

CALC_TEST(a_division_is_read_as_it_was_written)
{
    calc_text text = {0};
    calc_output *out;
    calc_errors errors = {0};
    calc_taylor_ask found;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_taylor_solution_write(&ask, shares, 66.5, out);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_int_eq(calc_taylor_solution_parse(text.data, text.length, "a.sol", &found, share,
                                                &objective, &errors),
                     CALC_OK);
    ck_assert_double_eq(objective, 66.5);
    ck_assert_int_eq(found.stages, 2);
    ck_assert_int_eq(found.chunks, 2);
    ck_assert_int_eq(found.layers[0], 1);
    ck_assert_int_eq(found.layers[1], 7);
    ck_assert_mem_eq(share, shares, sizeof shares);
    calc_text_free(&text);
}

static void fails(const char *text, const char *printed)
{
    calc_errors errors = {0};
    calc_taylor_ask found;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    char line[1024];
    ck_assert_int_ne(
        calc_taylor_solution_parse(text, strlen(text), "a.sol", &found, share, &objective, &errors),
        CALC_OK);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(texts_that_are_no_division_are_refused)
{
    fails("", "a.sol: no layers: expected lines \"layers_1_0_0 4\"");
    fails("objective 3\nx 4\n", "a.sol: no layers: expected lines \"layers_1_0_0 4\"");
    fails("layers_1_0_0\n", "a.sol:1:13: expected a name and its value");
    fails("layers_1_0_0 2\nlayers_1_1_0 x\n", "a.sol:2:14: expected a name and its value");
    fails("layers_1_0_0 2000\n", "a.sol:1:14: layers_1_0_0: expected a count from 0 to 1024, found "
                                 "2000");
    fails("layers_1_0_0 -1\n",
          "a.sol:1:14: layers_1_0_0: expected a count from 0 to 1024, found -1");
    fails("layers_1_200_3 1\n", "a.sol: 201 stages of 4 chunks: expected at most 512 together");
}

CALC_TEST(names_of_others_are_passed_over)
{
    const char text[] =
        "# note\nlayers_1_0_0 2.0000001\r\nlayers_2_0_0 9\nlayers_1_999_0 9\nother 5\n";
    calc_errors errors = {0};
    calc_taylor_ask found;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    ck_assert_int_eq(
        calc_taylor_solution_parse(text, strlen(text), "a.sol", &found, share, &objective, &errors),
        CALC_OK);
    ck_assert_int_eq(found.stages, 1);
    ck_assert_int_eq(share[0].layers[1], 2);
}
