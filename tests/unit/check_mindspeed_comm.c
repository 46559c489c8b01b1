#include "mindspeed/operators.h"

#include "frame.h"
#include "scratch.h"

static char folder[512];
static calc_mindspeed_comm comm;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    calc_mindspeed_comm_free(&comm);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_status read_text(const char *rows, calc_errors *errors)
{
    char text[2048];
    snprintf(text, sizeof text, "type,domains,datasize,time\n%s", rows);
    scratch_write("comm_prof.csv", text, strlen(text));
    return calc_mindspeed_comm_read(&comm, "comm_prof.csv", errors);
}

static double ask(calc_collective_op op, int64_t ranks, double bytes)
{
    return calc_mindspeed_comm_s(&comm, &(calc_mindspeed_message){op, ranks, bytes});
}

CALC_TEST(messages_are_found_to_the_byte)
{
    calc_errors errors = {0};
    ck_assert_int_eq(read_text("all_gather,8,1048576,100\n"
                               "alltoall,8,1048576,300\n"
                               "all_gather,8,1048576,900\n"
                               "all_gather,8,1048576,130\n"
                               "all_gather,8,1048576,1\n"
                               "all_gather,8,1048576,70\n"
                               "reduce_scatter,4,7,50\n"
                               "reduce_scatter,4,7,60\n",
                               &errors),
                     CALC_OK);
    ck_assert_uint_eq(comm.count, 3);
    ck_assert_double_eq_tol(ask(CALC_OP_ALL_GATHER, 8, 1048576), 100e-6, 1e-18); /* of 70 100 130 */
    ck_assert_double_eq_tol(ask(CALC_OP_ALL_TO_ALL, 8, 1048576), 300e-6, 1e-18);
    ck_assert_double_eq_tol(ask(CALC_OP_REDUCE_SCATTER, 4, 7), 55e-6, 1e-18);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 4, 1048576), 0);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 4, 1048576), 0);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 8, 1048575), 0);
    ck_assert_uint_eq(comm.found, 3);
    ck_assert_uint_eq(comm.missing_count, 2); /* each once */
    ck_assert_int_eq(comm.missing[0].ranks, 4);
    ck_assert_int_eq(comm.missing[0].op, CALC_OP_ALL_GATHER);
}

CALC_TEST(bad_rows_have_a_place)
{
    static const struct {
        const char *row, *text;
        int column;
    } cases[] = {
        {"broadcast,8,1024,5\n",
         "type: expected all_gather, reduce_scatter, all_reduce, all_to_all, alltoall, allgather, "
         "allreduce, p2p or reducescatter, found \"broadcast\"",
         1},
        {"all_gather,0,1024,5\n", "domains: expected a whole number from 1 to 1e6, found \"0\"",
         12},
        {"all_gather,8,0,5\n", "datasize: expected a number from 1 to 1e+15, found \"0\"", 14},
        {"all_gather,8,1024,0\n", "time: expected a number from 0.001 to 1e+12, found \"0\"", 19}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_errors errors = {0};
        ck_assert_int_eq(read_text(cases[i].row, &errors), CALC_ERR_TYPE);
        ck_assert_str_eq(errors.item[0].text, cases[i].text);
        ck_assert_int_eq(errors.item[0].line, 2);
        ck_assert_int_eq(errors.item[0].column, cases[i].column);
        calc_mindspeed_comm_free(&comm);
    }
}

CALC_TEST(a_file_without_rows)
{
    calc_errors errors = {0};
    ck_assert_int_eq(read_text("", &errors), CALC_OK);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 8, 1), 0);
    ck_assert_uint_eq(comm.missing_count, 1);
}
