#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "frame.h"
#include "validate/results.h"

static char folder[256];
static const char unseen[] = "unseen.csv";

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    unlink(unseen);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* `own` runs of the engine "a", off by 1, 2, 3, ... %, and 40 of "b", off by 50 %. */
static void write_file(int own)
{
    FILE *f = fopen(unseen, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "id,engine,error\n");
    for (int i = 1; i <= own; i++) {
        fprintf(f, "a%d,a,%s%.2f\n", i, i % 2 ? "-" : "", i / 100.0);
    }
    for (int i = 0; i < 40; i++) {
        fprintf(f, "b%d,b,0.5\n", i);
    }
    fclose(f);
}

CALC_TEST(nine_in_ten_unseen_runs_of_the_engine_are_within_the_reach)
{
    calc_serving_reach reach;
    calc_errors errors = {0};
    write_file(30);
    ck_assert_int_eq(calc_serving_reach_read(&reach, "a", unseen, &errors), CALC_OK);
    ck_assert(reach.own);
    ck_assert_uint_eq(reach.runs, 30);
    /* The 28th of 31: ceil(0.9 * 31). In order: 29 % too low is |log(0.71)| = 0.342, 27 % 0.315, 30
     * % too high 0.262, 28 % 0.247, 25 % too low 0.288; so 0.342, 0.315, 0.288 are the three
     * largest. */
    ck_assert_double_eq_tol(reach.reach, -log(1 - 0.25), 1e-12);
}

CALC_TEST(an_engine_with_few_runs_has_those_of_all)
{
    calc_serving_reach reach;
    calc_errors errors = {0};
    write_file(29);
    ck_assert_int_eq(calc_serving_reach_read(&reach, "a", unseen, &errors), CALC_OK);
    ck_assert(!reach.own);
    ck_assert_uint_eq(reach.runs, 69);
    ck_assert_double_eq_tol(reach.reach, log(1.5), 1e-12);
}

CALC_TEST(a_missing_file_is_an_error)
{
    calc_serving_reach reach;
    calc_errors errors = {0};
    write_file(30);
    ck_assert_int_eq(calc_serving_reach_read(&reach, "a", "nowhere.csv", &errors),
                     CALC_ERR_NOT_FOUND);
    ck_assert(isnan(reach.reach));
}
