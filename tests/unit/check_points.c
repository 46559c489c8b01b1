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

CALC_TEST(missing_columns_are_all_named)
{
    ck_assert_int_eq(parse("op,dtype,value\nx,y,1\n"), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, 2);
    ck_assert_str_eq(errors.item[0].text, "column \"shape\" is missing");
    ck_assert_str_eq(errors.item[1].text, "column \"metric\" is missing");
    ck_assert_str_eq(errors.item[0].file, "o.csv");
    ck_assert_int_eq(errors.item[0].line, 1);
    ck_assert_ptr_nonnull(strstr(errors.item[0].hint, "op,dtype,shape,metric,value"));
    ck_assert_int_eq(parse(""), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, 5);
}

CALC_TEST(what_is_no_number_is_an_error_in_its_cell)
{
    static const char *const bad[] = {"", "8x", "-1", "inf", "nan", "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        start_csv();
        put("a,copy,,bytes=8,time,1,s\n\"a\",copy,,\"bytes=8\",time,%s,s\n", bad[i]);
        ck_assert_int_eq(parse(point_csv), CALC_ERR_TYPE);
        ck_assert_int_eq(errors.count, 1);
        ck_assert_int_eq(errors.item[0].line, 3);
        ck_assert_int_eq(errors.item[0].column, 26);
        char words[80];
        snprintf(words, sizeof words, "value: expected a number of 0 or more, found \"%s\"",
                 bad[i]);
        ck_assert_str_eq(errors.item[0].text, words);
        ck_assert_uint_eq(points.count, 1);
    }
}

CALC_TEST(rows_that_are_too_short_and_broken_quotes_are_errors)
{
    start_csv();
    put("a,copy\n");
    ck_assert_int_eq(parse(point_csv), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "the row has 2 cells, \"dtype\" is the 3. column");
    ck_assert_int_eq(errors.item[0].line, 2);
    start_csv();
    put("a,\"copy\n");
    ck_assert_int_eq(parse(point_csv), CALC_ERR_SYNTAX);
    errors = (calc_errors){0};
    calc_points_free(&points);
    ck_assert_int_eq(calc_points_read(&points, "no/such.csv", &errors), CALC_ERR_NOT_FOUND);
    ck_assert_str_eq(errors.item[0].file, "no/such.csv");
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

CALC_TEST(rows_of_one_machine_are_chosen)
{
    calc_system system = load_system("a100_sxm_80g");
    start_csv();
    put("a,copy,,bytes=8e6,time,1,ms\nb 1,copy,,bytes=8e6,time,1,ms\nc,x,,,time,1,ms\n");
    put("a,gemm,fp8,m=64 k=64 n=64,time,1,us\n");
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    ck_assert_int_eq(calc_points_select(&points, NULL, &system, &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "the measurements are of more than one machine: a,b 1");
    ck_assert_str_eq(errors.item[0].file, "o.csv");
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_points_select(&points, "d", &system, &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text,
                     "no row that can be used is of d; there are rows of: a,b 1");
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    ck_assert_int_eq(calc_points_select(&points, "c", &system, &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text,
                     "no row can be used; the first says: no operator that is compared");
    ck_assert_int_eq(errors.item[0].line, 4);
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    ck_assert_int_eq(calc_points_select(&points, "x,b 1", &system, &errors), CALC_OK);
    ck_assert_str_eq(points.item[0].reason, "another machine");
    ck_assert_str_eq(points.item[1].reason, "");
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    ck_assert_int_eq(calc_points_select(&points, "a,b 1", &system, &errors), CALC_OK);
    ck_assert_str_eq(points.item[0].reason, "");
    ck_assert_str_eq(points.item[3].reason, "the system has no matrix engine in float8");
    ck_assert_int_eq(parse("op,dtype,shape,metric,value\nx,,,time,1\n"), CALC_OK);
    ck_assert_int_eq(calc_points_select(&points, NULL, &system, &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text,
                     "no row can be used; the first says: no operator that is compared");
}
