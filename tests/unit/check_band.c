/* Bands: the conformal quantile of known numbers, weights of tables, classes that are alike. */
#include "residuals_case.h"
#include "validate/residuals.h"

#include <math.h>

#include "frame.h"

static void enter(void)
{
    case_residuals = (calc_residuals){0};
    case_begin();
}

static void leave(void)
{
    calc_residuals_free(&case_residuals);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static const calc_band_query plain = {.traits = {.family = "H100", .bits = 16, .processors = 8}};

/* `count` runs of one table, off by 0.01, -0.02, 0.03 ... */
static void add_many(int count)
{
    for (int i = 1; i <= count; i++) {
        case_add(case_run("one", i % 2 ? 0.01 * i : -0.01 * i));
    }
}

CALC_TEST(the_reach_is_the_conformal_quantile)
{
    /* ceil(0.9 (n + 1)): of 39 runs the 36th, of 30 the 28th. */
    add_many(39);
    case_end();
    calc_band band = calc_band_of(&case_residuals, &plain);
    ck_assert_double_eq_tol(band.reach, 0.36, 1e-9);
    ck_assert(band.runs == 39 && band.tables == 1 && band.alike == 15);
    /* -0.38 -0.36 ... -0.02 are 19, then 0.01 is the 20th of 39. */
    ck_assert_double_eq_tol(band.median, 0.01, 1e-9);
    calc_band_query other = plain;
    other.unseen = CALC_UNSEEN_SOURCE; /* twice as far */
    ck_assert_double_eq_tol(calc_band_of(&case_residuals, &other).reach, 0.72, 1e-9);
}

CALC_TEST(a_share_counts_runs_with_their_sign)
{
    /* -0.38 ... -0.02 are 19, 0.01 ... 0.39 twenty, and one more is above all. */
    add_many(39);
    case_end();
    ck_assert_double_eq_tol(calc_band_share(&case_residuals, &plain, 0), 19. / 40, 1e-9);
    ck_assert_double_eq_tol(calc_band_share(&case_residuals, &plain, 0.015), 20. / 40, 1e-9);
    ck_assert_double_eq_tol(calc_band_share(&case_residuals, &plain, 1), 39. / 40, 1e-9);
    ck_assert_double_eq(calc_band_share(&case_residuals, &plain, -1), 0);
    /* The 36th of 40, as 90 % are wanted: the 17th of the positive ones. */
    double most = calc_band_of(&case_residuals, &plain).most;
    ck_assert_double_eq_tol(most, 0.33, 1e-9);
    ck_assert_double_eq_tol(calc_band_share(&case_residuals, &plain, most), 0.9, 1e-9);
}

CALC_TEST(thirty_runs_are_a_class)
{
    add_many(30);
    case_end();
    calc_band band = calc_band_of(&case_residuals, &plain);
    ck_assert_double_eq_tol(band.reach, 0.28, 1e-9);
    ck_assert_uint_eq(band.alike, 15);
}

CALC_TEST(too_few_runs_have_no_reach)
{
    /* The 9th of 9 is the last that a quantile of 0.9 of 10 can be. */
    add_many(9);
    case_end();
    calc_band band = calc_band_of(&case_residuals, &plain);
    ck_assert_double_eq_tol(band.reach, 0.09, 1e-9);
    ck_assert(band.runs == 9 && band.alike == 0);
    leave();
    enter();
    add_many(8);
    case_end();
    band = calc_band_of(&case_residuals, &plain);
    ck_assert(isnan(band.reach) && band.runs == 8 && isfinite(band.median));
    leave();
    enter();
    case_end();
    band = calc_band_of(&case_residuals, &plain);
    ck_assert(isnan(band.reach) && isnan(band.median) && band.runs == 0 && band.tables == 0);
}

CALC_TEST(a_large_table_does_not_outvote_the_others)
{
    /* 32 runs of one table weigh 8 together, two tables of one run 1 each: 10 in all. Of 10 and
     * one more of the mean weight, 10/34, nine tenths are 9.26: the second table of one run is
     * needed. Were all runs equal, it would be the 32nd of 34. */
    for (int i = 0; i < 32; i++) {
        case_add(case_run("large", 0.1));
    }
    case_add(case_run("small", 0.5));
    case_add(case_run("other", -0.6));
    case_end();
    calc_band band = calc_band_of(&case_residuals, &plain);
    ck_assert_double_eq_tol(band.reach, 0.6, 1e-9);
    ck_assert_double_eq_tol(band.median, 0.1, 1e-9);
    ck_assert_uint_eq(band.tables, 3);
}

/* 30 runs off by `value`, which differ from the plain ones as `change` says. */
static void add_class(double value, void (*change)(calc_residual *run))
{
    for (int i = 0; i < 30; i++) {
        calc_residual run = case_run("one", value);
        change(&run);
        case_add(run);
    }
}

static void larger(calc_residual *run)
{
    run->traits.processors = 9;
}

static void narrower(calc_residual *run)
{
    run->traits.bits = 8;
}

static void older(calc_residual *run)
{
    run->traits.family = "A100";
}

static void of_experts(calc_residual *run)
{
    run->traits.experts = true;
    run->traits.family = "A100";
}

CALC_TEST(what_is_not_alike_enough_joins_step_by_step)
{
    add_many(29); /* one too few at each step: reaches tell which class it was */
    add_class(1, larger);
    add_class(2, narrower);
    add_class(3, older);
    add_class(4, of_experts);
    case_end();
    calc_band_query q = plain;
    calc_band band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 59 && band.reach == 1);
    ck_assert_uint_eq(band.alike, CALC_ALIKE_FAMILY | CALC_ALIKE_KIND | CALC_ALIKE_BITS);
    q.traits.processors = 128; /* 9 to 128 */
    band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 30 && band.alike == 15 && band.reach == 1);
    q.traits.processors = 129;
    ck_assert_uint_eq(calc_band_of(&case_residuals, &q).runs, 59);
    q.traits.bits = 4;
    band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 89 && band.reach == 2);
    ck_assert_uint_eq(band.alike, CALC_ALIKE_FAMILY | CALC_ALIKE_KIND);
    q.traits.family = "";
    band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 119 && band.reach == 3 && band.alike == CALC_ALIKE_KIND);
    q.quantity = CALC_QUANTITY_MEMORY;
    ck_assert_uint_eq(calc_band_of(&case_residuals, &q).runs, 0);
}

CALC_TEST(any_kind_is_the_last_class)
{
    /* Errors are typically 0.15, the 15th of 29, and of mixtures of experts 0.6, four times that:
     * each is in units of its kind, and comes to four times as much of experts. */
    add_many(29);
    add_class(0.6, of_experts);
    case_end();
    calc_band_query q = plain;
    calc_band band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 59 && band.alike == 0);
    /* 30 runs of experts come to 0.15; above it are 14 of 59: 0.9 of 60 is the 54th, the 24th. */
    ck_assert_double_eq_tol(band.reach, 0.24, 1e-9);
    ck_assert_double_eq_tol(calc_band_share(&case_residuals, &q, 0.15), (14 + 8 + 30) / 60., 1e-9);
    q.traits.experts = true;
    band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 30 && band.alike == CALC_ALIKE_KIND && band.reach == 0.6);
    leave();
    enter();
    add_many(39);
    for (int i = 0; i < 5; i++) {
        calc_residual run = case_run("one", 0.8);
        of_experts(&run);
        case_add(run);
    }
    case_end();
    band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 44 && band.alike == 0);
    /* Typical: 0.2 and 0.8. Five come to 0.2 beside 39 dense ones: the 41st of 44 is the 36th. */
    ck_assert_double_eq_tol(band.reach, 4 * 0.36, 1e-9);
}

CALC_TEST(a_single_publisher_is_no_class)
{
    for (int i = 1; i <= 39; i++) {
        calc_residual run = case_run("one", 0.01);
        run.fold[CALC_UNSEEN_SOURCE] = 7;
        case_add(run);
    }
    add_class(0.3, older);
    case_end();
    calc_band band = calc_band_of(&case_residuals, &plain);
    ck_assert(band.runs == 69 && band.alike == CALC_ALIKE_KIND && band.reach == 0.3);
}

/* Forecasts of 40 of 80 runs, off by 0.01 to 0.4 where another publisher's are by 0.6. */
CALC_TEST(later_software_has_forecasts_where_they_are_enough)
{
    char text[4096] = "id,before,forecast\n";
    calc_forecasts forecasts;
    calc_errors errors = {0};
    for (int i = 1; i <= 80; i++) {
        case_add(case_run("one", 0.3));
        size_t used = strlen(text);
        if (i <= 40) {
            snprintf(text + used, sizeof text - used, "run_%d,20%02d-02,%.2f\n", i - 1,
                     i <= 9 ? 25 : 26, 0.01 * i);
        }
    }
    case_end();
    calc_text file = {0};
    calc_output *out;
    ck_assert_int_eq(calc_output_open_memory(&out, &file, NULL), CALC_OK);
    calc_output_text(out, text);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(calc_forecasts_parse(&forecasts, file, "case", &errors), CALC_OK);
    calc_band_query q = plain;
    q.unseen = CALC_UNSEEN_RELEASE;
    calc_band before = calc_band_of(&case_residuals, &q);
    ck_assert(before.runs == 80 && before.reach == 0.6); /* there is no forecast yet */
    ck_assert_int_eq(calc_residuals_take_forecasts(&case_residuals, &forecasts, NULL), CALC_OK);
    calc_band band = calc_band_of(&case_residuals, &q);
    ck_assert_uint_eq(band.runs, 40);
    ck_assert_double_eq_tol(band.reach, 0.01 * 37, 1e-9); /* ceil(0.9 * 41) */
    q.without = &case_residuals.item[20];                 /* of 2026: nine are left */
    ck_assert_double_eq_tol(calc_band_of(&case_residuals, &q).reach, 0.6, 1e-9);
    q.quantity = CALC_QUANTITY_MEMORY;
    ck_assert(isnan(calc_band_of(&case_residuals, &q).reach));
    calc_forecasts_free(&forecasts);
}

/* 40 runs of three kinds of software on another machine, off by 0.02 to 0.8: they are compared
 * whatever they are of, without the publisher of the run that is left out. */
CALC_TEST(unseen_software_is_compared_with_all_of_it)
{
    add_many(39);
    case_end();
    calc_errors errors = {0};
    calc_text text = {0};
    calc_output *out;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_output_text(out, "id,quantity,source,publisher,machine,family,kind,bits,processors,"
                          "unseen_software\n");
    for (int i = 1; i <= 40; i++) {
        calc_output_printf(out, "other_%d,step_time,%s,%s,v100_sxm,V100,dense,16,%d,%.2f\n", i,
                           i > 20 ? "far" : "near",
                           i > 20  ? "c"
                           : i % 2 ? "a"
                                   : "b",
                           i, -0.02 * i);
    }
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(calc_residuals_add_software(&case_residuals, text, "case", &errors), CALC_OK);
    ck_assert_uint_eq(case_residuals.count, 79);
    calc_band_query q = plain;
    ck_assert_uint_eq(calc_band_of(&case_residuals, &q).runs, 39); /* they are no others' */
    q.unseen = CALC_UNSEEN_SOFTWARE;
    calc_band band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 40 && band.tables == 2 && band.alike == 0);
    ck_assert_double_eq_tol(band.reach, 0.02 * 37, 1e-9); /* ceil(0.9 * 41) */
    q.without = calc_residuals_find(&case_residuals, "other_40", CALC_QUANTITY_STEP_TIME);
    ck_assert_ptr_nonnull(q.without);
    band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 20);
    ck_assert_double_eq_tol(band.reach, 0.02 * 19, 1e-9);
    ck_assert_str_eq(calc_residuals_family(&case_residuals, "v100_sxm"), "V100");
    /* A broken file is refused, and what there was stays. */
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_output_text(out, "id,source\nx,y\n");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    calc_text_free(&case_residuals.software);
    ck_assert_int_eq(calc_residuals_add_software(&case_residuals, text, "case", &errors),
                     CALC_ERR_FIELD);
    ck_assert_uint_eq(case_residuals.count, 79);
}

CALC_TEST(a_fold_is_left_out)
{
    add_many(39);
    for (int i = 0; i < 10; i++) {
        calc_residual run = case_run("two", 5);
        run.fold[CALC_UNSEEN_WIDTH] = 2;
        run.fold[CALC_UNSEEN_SOURCE] = 1;
        case_add(run);
    }
    case_end();
    calc_band_query q = plain;
    ck_assert(calc_band_of(&case_residuals, &q).reach == 5);
    const calc_residual of_two = {.fold = {2, 1, 0}};
    q.without = &of_two;
    calc_band band = calc_band_of(&case_residuals, &q);
    ck_assert(band.runs == 39);
    ck_assert_double_eq_tol(band.reach, 0.36, 1e-9);
    const calc_residual of_none = {.fold = {2, 7, 0}};
    q.without = &of_none;
    q.unseen = CALC_UNSEEN_SOURCE; /* whose folds are others */
    ck_assert_uint_eq(calc_band_of(&case_residuals, &q).runs, 49);
    q.without = &of_two;
    ck_assert_uint_eq(calc_band_of(&case_residuals, &q).runs, 39);
}

CALC_TEST(a_class_is_named_by_what_is_alike)
{
    char text[CALC_BAND_TEXT];
    calc_traits t = {"H100", false, 8, 129};
    ck_assert_str_eq(calc_band_class(&t, 15, text),
                     "H100, dense, 8 bits, more than 128 processors");
    t.processors = 128;
    ck_assert_str_eq(calc_band_class(&t, 15, text), "H100, dense, 8 bits, 9 to 128 processors");
    t.processors = 8;
    ck_assert_str_eq(calc_band_class(&t, 15, text), "H100, dense, 8 bits, up to 8 processors");
    t.experts = true;
    ck_assert_str_eq(calc_band_class(&t, CALC_ALIKE_KIND, text), "MoE");
    ck_assert_str_eq(calc_band_class(&t, 0, text), "all");
    case_end();
}
