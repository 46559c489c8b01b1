/* Files of measured operators: columns, rows that are errors, rows of other machines. */
#include "point_case.h"

#include "frame.h"

const calc_test_frame calc_tests = {.teardown = leave_points};

CALC_TEST(columns_may_be_in_any_order_and_have_others_beside_them)
{
    ck_assert_int_eq(parse("note,value,metric,shape,dtype,op,hardware\n"
                           "x,2,time,bytes=8,,copy,here\n"
                           "\n"
                           "x,20.5,tflops,m=1 k=2 n=3,fp16,gemm,there\n"),
                     CALC_OK);
    ck_assert_uint_eq(points.count, 2);
    ck_assert_str_eq(points.item[1].system, "there");
    ck_assert_str_eq(points.item[1].shape, "m=1 k=2 n=3");
    ck_assert_str_eq(points.item[1].unit, "");
    ck_assert(points.item[1].value == 20.5);
    ck_assert_int_eq(points.item[1].line, 4);
}

CALC_TEST(garbage_is_never_more_than_an_error)
{
    uint32_t seed = 20261122;
    for (int i = 0; i < 3000; i++) {
        static const char alphabet[] = "op,dtype,shape,metric,value\n\"\"=m k\n12.5e9,\r\xff";
        char text[160];
        size_t length = 0;
        bool header = i % 2 == 0;
        if (header) {
            length = (size_t)snprintf(text, sizeof text, "op,dtype,shape,metric,value\n");
        }
        while (length + 1 < sizeof text) {
            seed = seed * 1664525U + 1013904223U;
            text[length++] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        text[length] = '\0';
        calc_status status = parse(text);
        ck_assert_msg((status == CALC_OK) == (errors.count == 0), "%d: %s", i, text);
        for (size_t k = 0; k < points.count; k++) {
            ck_assert(!calc_point_is_used(&points.item[k]) || points.item[k].measured_s > 0);
        }
    }
}
