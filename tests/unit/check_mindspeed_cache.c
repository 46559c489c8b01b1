#include "mindspeed/operators.h"

#include "frame.h"
#include "scratch.h"

static char folder[512];

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static const char head[] = "Type,Input Shapes,Output Shapes,fwd_time,bwd_time\n";

static calc_status read_text(calc_mindspeed_times *cache, const char *rows, calc_errors *errors)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", head, rows);
    scratch_write("o.csv", text, strlen(text));
    return calc_mindspeed_cache_read(cache, "o.csv", errors);
}

CALC_TEST(times_of_both_passes)
{
    calc_mindspeed_times cache = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(read_text(&cache,
                               "MatMul,\"512,4096;11008,4096\",\"512,11008\",100,900\n"
                               "RmsNorm,\"64,1,4096\",\"64,1,4096\",10,25\n"
                               "FlashAttentionScore,\"64,1,32;64,1,32;64,1,32\",\"64,1,32\",7,\n"
                               "MatMul,\"512,4096;11008,4096\",\"512,11008\",120,0\n"
                               "Add,\"1\",\"1\",1,1\n",
                               &errors),
                     CALC_OK);
    const calc_mindspeed_shape matrix = {CALC_MINDSPEED_MATMUL, {1, 512, 4096, 11008}};
    calc_mindspeed_shape norm = {CALC_MINDSPEED_RMS_NORM, {64, 1, 4096, 1}};
    calc_mindspeed_shape flash = {CALC_MINDSPEED_FLASH, {64, 1, 32, 1}};
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&cache, &matrix), 110e-6, 1e-18);
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&cache, &norm), 10e-6, 1e-18);
    norm.type = CALC_MINDSPEED_RMS_NORM_GRAD;
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&cache, &norm), 25e-6, 1e-18);
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&cache, &flash), 7e-6, 1e-18);
    flash.type = CALC_MINDSPEED_FLASH_GRAD;
    ck_assert_double_eq(calc_mindspeed_cache_s(&cache, &flash), 0);
    ck_assert_uint_eq(cache.others, 1);
    calc_mindspeed_times_free(&cache);
}

CALC_TEST(bad_rows_have_a_place)
{
    calc_mindspeed_times cache = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(read_text(&cache, "RmsNorm,\"64,1,4o96\",\"64,1,4096\",10,25\n", &errors),
                     CALC_ERR_TYPE);
    ck_assert_int_eq(errors.item[0].line, 2);
    ck_assert_int_eq(errors.item[0].column, 10);
    calc_mindspeed_times_free(&cache);
    errors = (calc_errors){0};
    ck_assert_int_eq(read_text(&cache, "RmsNorm,\"64,1,4096\",\"64,1,4096\",ten,25\n", &errors),
                     CALC_ERR_TYPE);
    ck_assert_str_eq(errors.item[0].text,
                     "fwd_time: expected a number of 0 or more, found \"ten\"");
    calc_mindspeed_times_free(&cache);
}
