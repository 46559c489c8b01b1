#include "spec/format.h"

#include "frame.h"
#include "small_case.h"

CALC_TEST(a_number_has_the_bytes_of_its_format)
{
    ck_assert_double_eq(calc_format_bytes(CALC_FORMAT_AUTO), 0);
    ck_assert_double_eq(calc_format_bytes(CALC_FORMAT_FLOAT4), 0.5625); /* NVFP4: 4.5 bits */
    ck_assert_double_eq(calc_format_bytes(CALC_FORMAT_FLOAT8), 1);
    ck_assert_double_eq(calc_format_bytes(CALC_FORMAT_FLOAT16), 2);
    ck_assert_double_eq(calc_format_bytes(CALC_FORMAT_BFLOAT16), 2);
    ck_assert_double_eq(calc_format_bytes(CALC_FORMAT_FLOAT32), 4);
    ck_assert_double_eq(calc_format_scaled_bytes(CALC_FORMAT_FLOAT8, false), 1);
    ck_assert_double_eq(calc_format_scaled_bytes(CALC_FORMAT_FLOAT8, true), 1.03125); /* MXFP8 */
    ck_assert_double_eq(calc_format_scaled_bytes(CALC_FORMAT_FLOAT4, true), 0.5625);
}

CALC_TEST(auto_is_what_the_caller_says_and_nothing_else_is)
{
    ck_assert_double_eq(calc_format_bytes_or(CALC_FORMAT_AUTO, 3), 3);
    ck_assert_double_eq(calc_format_bytes_or(CALC_FORMAT_FLOAT4, 3), 0.5625);
    ck_assert_double_eq(calc_format_bytes_or(CALC_FORMAT_FLOAT32, 3), 4);
    ck_assert_int_eq(calc_format_datatype(CALC_FORMAT_AUTO, CALC_DATATYPE_FLOAT8),
                     CALC_DATATYPE_FLOAT8);
    ck_assert_int_eq(calc_format_datatype(CALC_FORMAT_AUTO, CALC_DATATYPE_FLOAT32),
                     CALC_DATATYPE_FLOAT32);
}

CALC_TEST(an_engine_computes_in_the_format)
{
    ck_assert_int_eq(calc_format_datatype(CALC_FORMAT_FLOAT4, CALC_DATATYPE_BFLOAT16),
                     CALC_DATATYPE_FLOAT4);
    ck_assert_int_eq(calc_format_datatype(CALC_FORMAT_FLOAT8, CALC_DATATYPE_BFLOAT16),
                     CALC_DATATYPE_FLOAT8);
    ck_assert_int_eq(calc_format_datatype(CALC_FORMAT_FLOAT16, CALC_DATATYPE_BFLOAT16),
                     CALC_DATATYPE_FLOAT16);
    ck_assert_int_eq(calc_format_datatype(CALC_FORMAT_BFLOAT16, CALC_DATATYPE_FLOAT16),
                     CALC_DATATYPE_BFLOAT16);
    ck_assert_int_eq(calc_format_datatype(CALC_FORMAT_FLOAT32, CALC_DATATYPE_FLOAT16),
                     CALC_DATATYPE_FLOAT32);
}
