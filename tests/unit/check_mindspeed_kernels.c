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

static calc_mindspeed_times kernels;

static calc_status read_text(const char *rows, calc_errors *errors)
{
    char text[4096];
    snprintf(text, sizeof text, "Name,Type,Duration(us),Input Shapes,Output Shapes\n%s", rows);
    scratch_write("k.csv", text, strlen(text));
    calc_mindspeed_times_free(&kernels);
    return calc_mindspeed_kernels_read(&kernels, "k.csv", errors);
}

CALC_TEST(kernels_of_a_step)
{
    calc_errors errors = {0};
    ck_assert_int_eq(read_text("a,MatMulV2,100,\"512,4096;11008,4096\",\"512,11008\"\n"
                               "b,Add,50,\"512,4096;512,4096\",\"512,4096\"\n"
                               "c,MatMulV2,4.9,\"512,4096;11008,4096\",\"512,11008\"\n"
                               "d,BatchMatMul,5,\"\"\"8,16,64;8,64,32\"\"\",\"\"\"8,16,32\"\"\"\n"
                               "e,FlashAttentionScore,70,\"64,1,32;64,1,8;64,1,8\",\"64,1,32\"\n"
                               "f,hcom_allReduce_,70,N/A,N/A\n",
                               &errors),
                     CALC_OK);
    ck_assert_uint_eq(kernels.count, 2);
    ck_assert_double_eq_tol(kernels.item[0].time_s, 1e-4, 1e-18);
    ck_assert_double_eq(kernels.item[0].shape.size[3], 11008);
    ck_assert_double_eq(kernels.item[1].shape.size[0], 8);
    ck_assert_uint_eq(kernels.others, 2);
    ck_assert_uint_eq(kernels.brief, 1);
    ck_assert_uint_eq(kernels.odd, 1);
    calc_mindspeed_times_free(&kernels);
}

/* One of them may be short; the third has no second half. */
CALC_TEST(gradients_of_a_layer_norm_are_two_kernels)
{
    calc_errors errors = {0};
    ck_assert_int_eq(read_text("a,LayerNormXBackpropV3,40,\"64,1,32;64,1,32\",\"64,1,32\"\n"
                               "b,LayerNormBetaGammaBackpropV2,3,\"64,1,32\",\"32;32\"\n"
                               "c,LayerNormXBackpropV3,40,\"64,1,32;64,1,32\",\"64,1,32\"\n"
                               "d,Add,1,\"64,1,32\",\"64,1,32\"\n"
                               "e,LayerNormXBackpropV3,40,\"64,1,32;64,1,32\",\"64,1,32\"\n",
                               &errors),
                     CALC_OK);
    ck_assert_uint_eq(kernels.count, 1);
    ck_assert_double_eq_tol(kernels.item[0].time_s, 43e-6, 1e-18);
    ck_assert_uint_eq(kernels.odd, 2);
    calc_mindspeed_times_free(&kernels);
}

static void refused(const char *rows, const char *expected)
{
    calc_errors errors = {0};
    char text[640];
    ck_assert_int_ne(read_text(rows, &errors), CALC_OK);
    calc_error_print(&errors.item[0], text, sizeof text);
    ck_assert_str_eq(text, expected);
    calc_mindspeed_times_free(&kernels);
}

CALC_TEST(bad_rows_have_a_place)
{
    refused("a,MatMulV2,100,\"512,4096;x\",\"512,11008\"\n",
            "k.csv:2:17: Input Shapes: expected shapes like 4096,4096;11008,4096, found "
            "\"512,4096;x\"\n  hint: sizes stand between commas, tensors between semicolons");
    refused("a,Add,1,\"1\",\"1\"\nb,MatMulV2,100,\"512,4096;4096,8\",\"512,?\"\n",
            "k.csv:3:35: Output Shapes: expected shapes like 4096,4096;11008,4096, found "
            "\"512,?\"\n  hint: sizes stand between commas, tensors between semicolons");
    refused("a,MatMulV2,-3,\"512,4096;4096,8\",\"512,8\"\n",
            "k.csv:2:12: Duration(us): expected a number of 0 or more, found \"-3\"");
}

CALC_TEST(files_without_the_columns)
{
    calc_errors errors = {0};
    scratch_write("k.csv", "Type,Input Shapes\n", 18);
    ck_assert_int_eq(calc_mindspeed_kernels_read(&kernels, "k.csv", &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "column \"Output Shapes\" is missing");
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_mindspeed_kernels_read(&kernels, "none.csv", &errors),
                     CALC_ERR_NOT_FOUND);
    calc_mindspeed_times_free(&kernels);
}
