#include "taylor/yaml.h"

#include <math.h>
#include <string.h>

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static calc_status parse(const char *csv, calc_csv_rows *rows, calc_errors *errors)
{
    calc_text text = {strdup(csv), strlen(csv)};
    return calc_csv_table_parse(rows, &calc_taylor_profiles, text, "profile.csv", errors);
}

static const calc_taylor_candidate here = {.layout = {16, 4, 1, 8}, .expert = 32};

CALC_TEST(columns_are_found_by_name)
{
    calc_csv_rows rows;
    calc_errors errors = {0};
    calc_taylor_ratios r;
    ck_assert_int_eq(parse("moe_bw,hratio,re_grow_ration,note,bfratio,dmratio,ep,pp,tp,dp\n"
                           "2.5,1.4,0.9,x,2.1,0.35,32,8,4,16\n",
                           &rows, &errors),
                     CALC_OK);
    ck_assert(calc_taylor_profiles_find(&rows, &here, &r));
    ck_assert_double_eq(r.layer_ms, 2.5);
    ck_assert_double_eq(r.head, 1.4);
    ck_assert_double_eq(r.again, 0.9);
    ck_assert_double_eq(r.backward, 2.1);
    ck_assert_double_eq(r.dense, 0.35);
    calc_csv_rows_free(&rows);
}

CALC_TEST(blanks_and_absent_columns_are_preset_but_the_time)
{
    calc_csv_rows rows;
    calc_errors errors = {0};
    calc_taylor_ratios r;
    ck_assert_int_eq(parse("dp,tp,pp,ep,bfratio\n16,4,8,32,\n", &rows, &errors), CALC_OK);
    ck_assert(calc_taylor_profiles_find(&rows, &here, &r));
    ck_assert_double_eq(r.dense, 0.3);
    ck_assert_double_eq(r.backward, 2);
    ck_assert_double_eq(r.again, 1);
    ck_assert_double_eq(r.head, 1.5);
    ck_assert(isnan(r.layer_ms));
    calc_csv_rows_free(&rows);
}

CALC_TEST(the_last_row_of_a_layout_counts)
{
    calc_csv_rows rows;
    calc_errors errors = {0};
    calc_taylor_ratios r;
    ck_assert_int_eq(parse("dp,tp,pp,ep,moe_bw\n16,4,8,32,1\n16,4,8,32,2\n16,4,8,16,3\n"
                           "16,4,4,32,4\n16,8,8,32,5\n8,4,8,32,6\n",
                           &rows, &errors),
                     CALC_OK);
    ck_assert(calc_taylor_profiles_find(&rows, &here, &r));
    ck_assert_double_eq(r.layer_ms, 2);
    calc_taylor_candidate other = here;
    other.expert = 64;
    ck_assert(!calc_taylor_profiles_find(&rows, &other, &r));
    calc_csv_rows_free(&rows);
}

CALC_TEST(rows_that_are_wrong_are_told_and_the_others_kept)
{
    calc_csv_rows rows;
    calc_errors errors = {0};
    calc_taylor_ratios r;
    char line[1024];
    ck_assert_int_ne(
        parse("dp,tp,pp,ep,moe_bw\n16,4,8,32,1\n16,4,8,x,2\n16,4,8,8,-2\n", &rows, &errors),
        CALC_OK);
    ck_assert_int_eq(errors.count, 2);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line,
                     "profile.csv:3:8: ep: expected a whole number from 1 to 1e6, found \"x\"");
    ck_assert(calc_taylor_profiles_find(&rows, &here, &r));
    calc_csv_rows_free(&rows);
}
