#include "taylor/memory.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static calc_status parse(const char *csv, calc_csv_rows *rows, calc_errors *errors)
{
    calc_text text = {strdup(csv), strlen(csv)};
    return calc_csv_table_parse(rows, &calc_taylor_probes, text, "peaks.csv", errors);
}

static void fails(const char *csv, const char *printed)
{
    calc_csv_rows rows;
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_ne(parse(csv, &rows, &errors), CALC_OK);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_csv_rows_free(&rows);
}

CALC_TEST(two_peaks_give_base_and_experts)
{
    calc_taylor_fit fit = calc_taylor_fit_of(4, 162358, 8, 96950);
    ck_assert_double_eq(fit.expert_mb, 523264);
    ck_assert_double_eq(fit.base_mb, 31542);
    ck_assert_double_eq(calc_taylor_fit_mb(&fit, 4), 162358);
    ck_assert_double_eq(calc_taylor_fit_mb(&fit, 8), 96950);
    fit = calc_taylor_fit_of(8, 96950, 32, 47894); /* not neighbours */
    ck_assert_double_eq(fit.expert_mb, 523264);
}

/* Peaks at ep 4 and 8. Those of 16,8,8 are published; the others follow from the rows that Taylor
 * keeps, of which two or more fix both terms; for 64,4,4 and 32,8,4 it keeps one, so that their
 * experts' part is chosen such that ep 32 does not fit. */
static const char peaks[] = "dp,tp,pp,ep,peak_mem\n"
                            "16,8,8,4,162358\n16,8,8,8,96950\n"
                            "64,4,4,4,301965\n64,4,4,8,170893\n"
                            "32,8,4,4,287613\n32,8,4,8,156792\n"
                            "8,8,16,4,101784\n8,8,16,8,68632\n"
                            "4,8,32,4,71710\n4,8,32,8,54686\n";

CALC_TEST(layouts_that_taylor_keeps_are_kept)
{
    static const struct {
        calc_taylor_layout layout;
        int64_t expert;
        double peak_mb;
    } kept[] = {{{16, 8, 1, 8}, 32, 47894}, {{16, 8, 1, 8}, 64, 39718},
                {{64, 4, 1, 4}, 64, 56205}, {{32, 8, 1, 4}, 64, 42323.625},
                {{8, 8, 1, 16}, 16, 52056}, {{8, 8, 1, 16}, 32, 43768},
                {{8, 8, 1, 16}, 64, 39624}, {{4, 8, 1, 32}, 8, 54686},
                {{4, 8, 1, 32}, 16, 46174}, {{4, 8, 1, 32}, 32, 41918}};
    enum { KEPT = sizeof kept / sizeof *kept };
    const double limit_mb = 55 * 1024;
    calc_csv_rows rows;
    calc_errors errors = {0};
    size_t found = 0;
    ck_assert_int_eq(parse(peaks, &rows, &errors), CALC_OK);
    for (size_t i = 0; i < KEPT; i++) {
        if (i > 0 && memcmp(&kept[i].layout, &kept[i - 1].layout, sizeof kept[i].layout) == 0) {
            continue;
        }
        calc_taylor_fit fit = calc_taylor_probes_fit(&rows, &kept[i].layout);
        ck_assert_int_eq(fit.probes, 2);
        for (int64_t ep = 1; ep <= 128; ep++) {
            if (calc_taylor_tries(&kept[i].layout, 0, 64, ep) &&
                calc_taylor_fit_mb(&fit, ep) <= limit_mb) {
                ck_assert_uint_lt(found, KEPT);
                ck_assert_int_eq(kept[found].layout.data, kept[i].layout.data);
                ck_assert_int_eq(kept[found].expert, ep);
                ck_assert_double_eq(calc_taylor_fit_mb(&fit, ep), kept[found].peak_mb);
                found++;
            }
        }
    }
    ck_assert_uint_eq(found, KEPT);
    calc_csv_rows_free(&rows);
}

CALC_TEST(a_missing_probe_is_no_zero)
{
    const calc_taylor_layout there = {16, 8, 1, 8}, absent = {8, 16, 1, 8};
    calc_csv_rows rows;
    calc_errors errors = {0};
    ck_assert_int_eq(parse("pp,ep,dp,tp,peak_mem\n8,4,16,8,162358\n8,4,16,8,1\n", &rows, &errors),
                     CALC_OK);
    ck_assert_int_eq(calc_taylor_probes_fit(&rows, &there).probes, 1);
    ck_assert_int_eq(calc_taylor_probes_fit(&rows, &absent).probes, 0);
    calc_csv_rows_free(&rows);
}

CALC_TEST(powers_of_two_that_divide_are_tried)
{
    const calc_taylor_layout l = {6, 4, 1, 1};
    int tried[] = {1, 2, 4, 8};
    int count = 0;
    for (int64_t ep = 1; ep <= 24; ep++) {
        if (calc_taylor_tries(&l, 0, 24, ep)) {
            ck_assert_int_lt(count, 4);
            ck_assert_int_eq(ep, tried[count++]);
        }
    }
    ck_assert_int_eq(count, 4);
    ck_assert(!calc_taylor_tries(&l, 0, 4, 8));
    ck_assert(!calc_taylor_tries(&l, 12, 24, 8));
    ck_assert(calc_taylor_tries(&l, 12, 24, 4));
}

CALC_TEST(wrong_tables_are_refused_with_their_place)
{
    fails("dp,tp,pp,ep\n1,1,1,1\n",
          "peaks.csv:1: column \"peak_mem\" is missing\n  hint: the first row names the columns: "
          "dp,tp,pp,ep,peak_mem, the last in MB");
    fails("dp,tp,pp,ep,peak_mem\n1,1,1,1,x\n",
          "peaks.csv:2:9: peak_mem: expected a number from 1 to 1e9, found \"x\"");
    fails("dp,tp,pp,ep,peak_mem\n0,1,1,1,5\n",
          "peaks.csv:2:1: dp: expected a whole number from 1 to 1e6, found \"0\"");
}
