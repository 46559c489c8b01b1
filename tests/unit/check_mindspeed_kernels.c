/* Files of a run: kernels of a profile, operators that were timed alone, measured configurations.
 */
#include "mindspeed/loop.h"

#include <math.h>

#include "frame.h"
#include "scratch.h"

static char folder[512];
static calc_mindspeed_times times;
static calc_mindspeed_results results;
static calc_errors errors;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    calc_mindspeed_times_free(&times);
    calc_mindspeed_results_free(&results);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

typedef enum written { KERNELS, CACHE, RESULTS } written;

static calc_status read_text(written file, const char *rows)
{
    static const char *const heads[] = {
        "Name,Type,Duration(us),Input Shapes,Output Shapes\n",
        "Type,Input Shapes,Output Shapes,fwd_time,bwd_time\n",
        "pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,peak_memory,e2e_time\n"};
    char text[4096];
    snprintf(text, sizeof text, "%s%s", heads[file], rows);
    scratch_write("f.csv", text, strlen(text));
    calc_mindspeed_times_free(&times);
    calc_mindspeed_results_free(&results);
    times = (calc_mindspeed_times){0};
    errors = (calc_errors){0};
    return file == KERNELS ? calc_mindspeed_kernels_read(&times, "f.csv", &errors)
           : file == CACHE ? calc_mindspeed_cache_read(&times, "f.csv", &errors)
                           : calc_mindspeed_results_read(&results, "f.csv", &errors);
}

CALC_TEST(kernels_of_a_step)
{
    ck_assert_int_eq(read_text(KERNELS,
                               "a,MatMulV2,100,\"512,4096;11008,4096\",\"512,11008\"\n"
                               "b,Add,50,\"512,4096;512,4096\",\"512,4096\"\n"
                               "c,MatMulV2,4.9,\"512,4096;11008,4096\",\"512,11008\"\n"
                               "d,BatchMatMul,5,\"\"\"8,16,64;8,64,32\"\"\",\"\"\"8,16,32\"\"\"\n"
                               "e,FlashAttentionScore,70,\"64,1,32;64,1,8;64,1,8\",\"64,1,32\"\n"
                               "f,hcom_allReduce_,70,N/A,N/A\n"),
                     CALC_OK);
    ck_assert_uint_eq(times.count, 2);
    ck_assert_double_eq_tol(times.item[0].time_s, 1e-4, 1e-18);
    ck_assert_double_eq(times.item[0].shape.size[3], 11008);
    ck_assert_double_eq(times.item[1].shape.size[0], 8);
    ck_assert_uint_eq(times.others, 2);
    ck_assert_uint_eq(times.brief, 1);
    ck_assert_uint_eq(times.odd, 1);
}

/* One of them may be short; the third has no second half. */
CALC_TEST(gradients_of_a_layer_norm_are_two_kernels)
{
    ck_assert_int_eq(read_text(KERNELS,
                               "a,LayerNormXBackpropV3,40,\"64,1,32;64,1,32\",\"64,1,32\"\n"
                               "b,LayerNormBetaGammaBackpropV2,3,\"64,1,32\",\"32;32\"\n"
                               "c,LayerNormXBackpropV3,40,\"64,1,32;64,1,32\",\"64,1,32\"\n"
                               "d,Add,1,\"64,1,32\",\"64,1,32\"\n"
                               "e,LayerNormXBackpropV3,40,\"64,1,32;64,1,32\",\"64,1,32\"\n"),
                     CALC_OK);
    ck_assert_uint_eq(times.count, 1);
    ck_assert_double_eq_tol(times.item[0].time_s, 43e-6, 1e-18);
    ck_assert_uint_eq(times.odd, 2);
}

CALC_TEST(times_of_both_passes)
{
    ck_assert_int_eq(read_text(CACHE,
                               "MatMul,\"512,4096;11008,4096\",\"512,11008\",100,900\n"
                               "RmsNorm,\"64,1,4096\",\"64,1,4096\",10,25\n"
                               "FlashAttentionScore,\"64,1,32;64,1,32;64,1,32\",\"64,1,32\",7,\n"
                               "MatMul,\"512,4096;11008,4096\",\"512,11008\",120,0\n"
                               "Add,\"1\",\"1\",1,1\n"),
                     CALC_OK);
    const calc_mindspeed_shape matrix = {CALC_MINDSPEED_MATMUL, {1, 512, 4096, 11008}};
    calc_mindspeed_shape norm = {CALC_MINDSPEED_RMS_NORM, {64, 1, 4096, 1}};
    calc_mindspeed_shape flash = {CALC_MINDSPEED_FLASH, {64, 1, 32, 1}};
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&times, &matrix), 110e-6, 1e-18);
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&times, &norm), 10e-6, 1e-18);
    norm.type = CALC_MINDSPEED_RMS_NORM_GRAD;
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&times, &norm), 25e-6, 1e-18);
    ck_assert_double_eq_tol(calc_mindspeed_cache_s(&times, &flash), 7e-6, 1e-18);
    flash.type = CALC_MINDSPEED_FLASH_GRAD;
    ck_assert_double_eq(calc_mindspeed_cache_s(&times, &flash), 0);
    ck_assert_uint_eq(times.others, 1);
}

CALC_TEST(results_are_read)
{
    static const char text[] = "1,8,1,1,1,2,1,0,41.5,1234.5\n"
                               "2,4,1,1,1,1,2,0,,oom\n"
                               "4,2,1,1,1,1,1,0,60,failed\n";
    ck_assert_int_eq(read_text(RESULTS, text), CALC_OK);
    ck_assert_uint_eq(results.count, 3);
    const calc_mindspeed_config second = {2, 4, 1, 1, 1, 1, 2, 0};
    const calc_mindspeed_config none = {2, 4, 1, 1, 1, 1, 1, 0};
    const calc_mindspeed_result *r = calc_mindspeed_results_find(&results, &second);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(r->end, CALC_MINDSPEED_OUT_OF_MEMORY);
    ck_assert(isnan(r->peak_bytes));
    ck_assert_ptr_null(calc_mindspeed_results_find(&results, &none));
    ck_assert_double_eq_tol(results.item[0].step_s, 1.2345, 1e-15);
    ck_assert_int_eq(results.item[0].end, CALC_MINDSPEED_RAN);
    ck_assert_double_eq_tol(results.item[0].peak_bytes, 41.5e9, 1);
    ck_assert_int_eq(results.item[2].end, CALC_MINDSPEED_FAILED);
    ck_assert_double_eq_tol(results.item[2].peak_bytes, 60e9, 1);
}

/* The first generation's configurations have no chunks and no experts. */
CALC_TEST(columns_that_may_be_missing)
{
    static const char text[] = "e2e_time,pp,tp,dp,ring_attention,ulysses,mbs\n5,1,2,3,4,5,6\n";
    scratch_write("r.csv", text, strlen(text));
    ck_assert_int_eq(calc_mindspeed_results_read(&results, "r.csv", &errors), CALC_OK);
    const calc_mindspeed_config c = {1, 2, 3, 4, 5, 6, 1, 0};
    ck_assert_ptr_nonnull(calc_mindspeed_results_find(&results, &c));
}

CALC_TEST(bad_rows_have_a_place)
{
    static const struct {
        written file;
        const char *rows, *error;
    } cases[] = {
        {KERNELS, "a,MatMulV2,100,\"512,4096;x\",\"512,11008\"\n",
         "f.csv:2:17: Input Shapes: expected shapes like 4096,4096;11008,4096, found "
         "\"512,4096;x\"\n  hint: sizes stand between commas, tensors between semicolons"},
        {KERNELS, "a,Add,1,\"1\",\"1\"\nb,MatMulV2,100,\"512,4096;4096,8\",\"512,?\"\n",
         "f.csv:3:35: Output Shapes: expected shapes like 4096,4096;11008,4096, found "
         "\"512,?\"\n  hint: sizes stand between commas, tensors between semicolons"},
        {KERNELS, "a,MatMulV2,-3,\"512,4096;4096,8\",\"512,8\"\n",
         "f.csv:2:12: Duration(us): expected a number of 0 or more, found \"-3\""},
        {CACHE, "RmsNorm,\"64,1,4o96\",\"64,1,4096\",10,25\n",
         "f.csv:2:10: Input Shapes: expected shapes like 4096,4096;11008,4096, found "
         "\"64,1,4o96\"\n  hint: sizes stand between commas, tensors between semicolons"},
        {CACHE, "RmsNorm,\"64,1,4096\",\"64,1,4096\",ten,25\n",
         "f.csv:2:33: fwd_time: expected a number of 0 or more, found \"ten\"\n  hint: leave it "
         "blank if it is not known"},
        {RESULTS, "1,8,1,1,1,2,1,0,41.5,-3\n",
         "f.csv:2:22: e2e_time: expected milliseconds above 0, oom or failed, found \"-3\""},
        {RESULTS, "1,8,1,1,1,2,1,0,41.5,12s\n",
         "f.csv:2:22: e2e_time: expected milliseconds above 0, oom or failed, found \"12s\""},
        {RESULTS, "1,8,1,1,1,2,1.5,0,41.5,12\n",
         "f.csv:2: vpp: expected a whole number, found 1.5"},
        {RESULTS, "0,8,1,1,1,2,1,0,41.5,12\n",
         "f.csv:2:1: pp: expected a whole number from 1 to 1e9, found \"0\""},
        {RESULTS, "1,8,1,1,1,2,1,0,4,12\n\n1,8,1,1,1,2,1,0,,13\n",
         "f.csv:4: the configuration was measured in line 2 already\n  hint: keep one row of each, "
         "or their mean"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char error[640];
        ck_assert_int_ne(read_text(cases[i].file, cases[i].rows), CALC_OK);
        ck_assert_int_eq(errors.count, 1);
        calc_error_print(&errors.item[0], error, sizeof error);
        ck_assert_str_eq(error, cases[i].error);
    }
}

CALC_TEST(files_without_the_columns)
{
    scratch_write("k.csv", "Type,Input Shapes\n", 18);
    ck_assert_int_eq(calc_mindspeed_kernels_read(&times, "k.csv", &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "column \"Output Shapes\" is missing");
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_mindspeed_kernels_read(&times, "none.csv", &errors), CALC_ERR_NOT_FOUND);
}
