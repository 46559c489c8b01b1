/* Calibration: constants that are known are found again, others are refused, folds are not seen. */
#include "calibrate/calibration.h"
#include "calibrate_case.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

static calc_calibration *c;
static calc_errors errors;
static double before[CASE_ROWS], unseen[CASE_ROWS];

static const char *const some[] = {"matrix.bfloat16", "host.block", "eager_traffic",
                                   "host.moe_block", NULL};
static const double truth[] = {0.62, 3e-3, 3};

static void enter(void)
{
    case_layouts();
    case_measure(some, truth, 3, 0.01);
    c = calloc(1, sizeof *c);
    errors = (calc_errors){0};
    for (int i = 0; i < CASE_ROWS; i++) {
        before[i] = unseen[i] = (double)NAN;
    }
}

static void leave(void)
{
    free(c);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* Documented starts: what the shipped files say changes with every calibration. */
static calc_calibration_plan plan_of(size_t most)
{
    return (calc_calibration_plan){.fields = some, .documented = true, .most = most};
}

static calc_status calibrate(calc_calibration_plan plan)
{
    calc_calibration_runs runs = case_of_runs();
    ck_assert_int_eq(calc_calibration_start(c, case_machine, CASE_MACHINES, &runs, &errors),
                     CALC_OK);
    return calc_calibrate(c, &plan, &runs, before, unseen, &errors);
}

static const calc_unknown *unknown(const char *name)
{
    for (size_t i = 0; i < c->unknowns.count; i++) {
        if (strcmp(c->unknowns.item[i].constant->name, name) == 0) {
            return &c->unknowns.item[i];
        }
    }
    ck_abort_msg("no unknown %s", name);
    return NULL;
}

CALC_TEST(known_constants_are_found_within_their_errors)
{
    ck_assert_int_eq(calibrate(plan_of(10)), CALC_OK);
    for (int k = 0; k < 3; k++) {
        const calc_unknown *p = unknown(some[k]);
        double distance = calc_constant_to_free(p->constant, p->value) -
                          calc_constant_to_free(p->constant, truth[k]);
        ck_assert_msg(p->determined || p->indicated, "%s", some[k]);
        ck_assert(p->determined || k == 2); /* few runs are eager */
        ck_assert_msg(p->start != truth[k] && p->value != p->start, "%s did not move", some[k]);
        ck_assert_msg(fabs(distance) < 2 * p->error, "%s: %g, not %g, error %g", some[k], p->value,
                      truth[k], p->error);
        ck_assert(p->machines == 3);
    }
    ck_assert_uint_eq(c->runs, CASE_ROWS);
    ck_assert_uint_eq(c->sources, 2);
    ck_assert_str_eq(c->family.name, "A100");
}

CALC_TEST(what_no_run_determines_stays_as_assumed)
{
    ck_assert_int_eq(calibrate(plan_of(10)), CALC_OK);
    const calc_unknown *moe = unknown("host.moe_block"); /* no run has experts */
    ck_assert(!moe->determined && isnan(moe->error));
    ck_assert(moe->value == moe->start && moe->start == 3e-3);
    ck_assert(c->family.system[0].chip.host.moe_block_s == 3e-3);
}

CALC_TEST(no_more_are_changed_than_wanted)
{
    ck_assert_int_eq(calibrate(plan_of(1)), CALC_OK);
    int changed = 0;
    for (size_t i = 0; i < c->unknowns.count; i++) {
        changed += !isnan(c->unknowns.item[i].error);
    }
    ck_assert_int_eq(changed, 1);
    calc_calibration_plan all = plan_of(0);
    all.all = true;
    ck_assert_int_eq(calibrate(all), CALC_OK);
    for (size_t i = 0; i < c->unknowns.count; i++) {
        ck_assert(!isnan(c->unknowns.item[i].error));
    }
}

CALC_TEST(a_start_is_documented_or_that_of_the_files)
{
    calc_calibration_plan plan = plan_of(10);
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    ck_assert(unknown("matrix.bfloat16")->start == 0.82);
    ck_assert(unknown("host.block")->start == 2.2e-3);
    plan.documented = false;
    case_systems = (calc_systems){.load = case_load};
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    calc_system file;
    ck_assert_int_eq(case_load("a100_sxm_80g", &file, NULL), CALC_OK);
    ck_assert(unknown("host.block")->start == file.chip.host.block_s);
}

CALC_TEST(values_have_three_digits_and_are_in_the_systems)
{
    ck_assert_int_eq(calibrate(plan_of(10)), CALC_OK);
    const calc_unknown *p = unknown("matrix.bfloat16");
    char text[32];
    snprintf(text, sizeof text, "%.3g", p->value);
    ck_assert(strtod(text, NULL) == p->value);
    for (int m = 0; m < CASE_MACHINES; m++) {
        ck_assert(calc_constant_get(p->constant, &c->family.system[m]) == p->value);
        const calc_systems_entry *entry = calc_systems_get(&case_systems, case_machine[m]);
        ck_assert(calc_constant_get(p->constant, &entry->system) == p->value);
    }
}

CALC_TEST(a_fold_is_predicted_by_a_fit_that_has_not_seen_it)
{
    calc_calibration_plan plan = plan_of(10);
    plan.cross = CALC_CROSS_WIDTH;
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    for (int i = 0; i < CASE_ROWS; i++) {
        ck_assert(fabs(unseen[i] / case_row[i].measured_s - 1) < 0.1);
        ck_assert(fabs(before[i] / case_row[i].measured_s - 1) > 1e-4);
    }
    /* Runs of one width that are four times as slow do not reach their own predictions. */
    double clean = unseen[1];
    for (int i = 1; i < CASE_ROWS; i += 4) {
        case_row[i].measured_s *= 4;
    }
    case_systems = (calc_systems){.load = case_load};
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    ck_assert_double_eq_tol(unseen[1] / clean, 1, 0.02);
}

/* Runs that are four times as slow change nothing where they are held out. */
CALC_TEST(what_is_held_out_is_not_fitted_to)
{
    static const char *const publisher[] = {"foundry", NULL};
    static const char *const both[] = {"foundry_a100_80", "other", NULL};
    static const char *const part[] = {"foundry_a100", NULL};
    calc_calibration_plan plan = plan_of(10);
    plan.held_out = publisher;
    for (int i = 0; i < CASE_ROWS; i += 3) {
        case_row[i].measured_s *= 4;
    }
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    ck_assert_uint_eq(c->runs, CASE_ROWS - CASE_ROWS / 3);
    ck_assert_uint_eq(c->sources, 1);
    ck_assert_str_eq(c->source[0].name, "other");
    ck_assert_double_eq_tol(unknown("matrix.bfloat16")->value, truth[0], 0.03 * truth[0]);
    ck_assert(unknown("eager_traffic")->value == unknown("eager_traffic")->start);
    ck_assert(isfinite(before[0]) && isfinite(before[1]));
    plan.held_out = both;
    case_systems = (calc_systems){.load = case_load};
    ck_assert_int_eq(calibrate(plan), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text, "no measured run on a100_sxm_80g that is not held out");
    plan.held_out = part; /* neither a source nor a publisher */
    case_systems = (calc_systems){.load = case_load};
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    ck_assert_uint_eq(c->runs, CASE_ROWS);
}

/* A month holds out what was published in it and later; what has no date is fitted to. */
CALC_TEST(what_is_published_later_can_be_held_out)
{
    static const char *const since[][2] = {{"2025-05", NULL}, {"2025-06", NULL}, {"2025-07", NULL}};
    for (int i = 0; i < CASE_ROWS; i += 3) {
        case_row[i].published = "2025-06";
    }
    for (int k = 0; k < 3; k++) {
        calc_calibration_plan plan = plan_of(10);
        plan.held_out = since[k];
        case_systems = (calc_systems){.load = case_load};
        ck_assert_int_eq(calibrate(plan), CALC_OK);
        ck_assert_uint_eq(c->runs, k < 2 ? CASE_ROWS - CASE_ROWS / 3 : CASE_ROWS);
    }
}

CALC_TEST(without_folds_nothing_is_unseen)
{
    ck_assert_int_eq(calibrate(plan_of(10)), CALC_OK);
    for (int i = 0; i < CASE_ROWS; i++) {
        ck_assert(isnan(unseen[i]) && isfinite(before[i]));
    }
}

CALC_TEST(machines_without_runs_and_machines_that_are_none_are_errors)
{
    static const char *const none[] = {"h100_sxm", "no_such_machine"};
    calc_calibration_runs runs = case_of_runs();
    calc_calibration_plan plan = {.most = 10};
    ck_assert_int_eq(calc_calibration_start(c, none, 1, &runs, &errors), CALC_OK);
    ck_assert_int_eq(calc_calibrate(c, &plan, &runs, before, unseen, &errors), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text, "no measured run on h100_sxm");
    ck_assert_int_eq(calc_calibration_start(c, none + 1, 1, &runs, &errors), CALC_ERR_NOT_FOUND);
    ck_assert_int_eq(calc_calibration_start(c, none, CALC_UNKNOWNS_MACHINES + 1, &runs, &errors),
                     CALC_ERR_RANGE);
}
