/* Calibration: constants that are known are found again, others are refused, folds are not seen. */
#include "calibrate/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate_case.h"
#include "frame.h"
#include "shipped_case.h"

static calc_calibration *calibrated;
static calc_errors errors;
static double the_before[CASE_ROWS], unseen[CASE_ROWS];

static const char *const some[] = {"matrix.bfloat16", "host.block", "eager_traffic",
                                   "host.moe_block", NULL};
static const double truth[] = {0.62, 3e-3, 3};

static void enter(void)
{
    case_layouts();
    case_measure(some, truth, 3, 0.01);
    calibrated = calloc(1, sizeof *calibrated);
    errors = (calc_errors){0};
    for (int i = 0; i < CASE_ROWS; i++) {
        the_before[i] = unseen[i] = (double)NAN;
    }
}

static void leave(void)
{
    free(calibrated);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* Documented starts: what the shipped files say changes with every calibration. */
static calc_calibration_plan plan_of(size_t most)
{
    return (calc_calibration_plan){.fields = some, .starts = case_starts(), .most = most};
}

static calc_status calibrate(calc_calibration_plan plan)
{
    calc_measured_runs runs = case_of_runs();
    ck_assert_int_eq(
        calc_calibration_start(calibrated, case_machine, CASE_MACHINES, &runs, &errors), CALC_OK);
    return calc_calibrate(calibrated, &plan, &runs, the_before, unseen, &errors);
}

static const calc_unknown *unknown(const char *name)
{
    for (size_t i = 0; i < calibrated->unknowns.count; i++) {
        if (strcmp(calibrated->unknowns.item[i].constant->name, name) == 0) {
            return &calibrated->unknowns.item[i];
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
    ck_assert_uint_eq(calibrated->runs, CASE_ROWS);
    ck_assert_uint_eq(calibrated->sources, 2);
    ck_assert_str_eq(calibrated->family.name, "A100");
}

CALC_TEST(what_no_run_determines_stays_as_assumed)
{
    ck_assert_int_eq(calibrate(plan_of(10)), CALC_OK);
    const calc_unknown *moe = unknown("host.moe_block"); /* no run has experts */
    ck_assert(!moe->determined && isnan(moe->error));
    ck_assert(moe->value == moe->start && moe->start == 5e-3);
    ck_assert(calibrated->family.system[0].chip.host.moe_block_s == 5e-3);
}

CALC_TEST(no_more_are_changed_than_wanted)
{
    ck_assert_int_eq(calibrate(plan_of(1)), CALC_OK);
    int changed = 0;
    for (size_t i = 0; i < calibrated->unknowns.count; i++) {
        changed += !isnan(calibrated->unknowns.item[i].error);
    }
    ck_assert_int_eq(changed, 1);
    calc_calibration_plan all = plan_of(0);
    all.all = true;
    ck_assert_int_eq(calibrate(all), CALC_OK);
    for (size_t i = 0; i < calibrated->unknowns.count; i++) {
        ck_assert(!isnan(calibrated->unknowns.item[i].error));
    }
}

CALC_TEST(a_start_is_documented_or_that_of_the_files)
{
    calc_calibration_plan plan = plan_of(10);
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    ck_assert(unknown("matrix.bfloat16")->start == 0.82);
    ck_assert(unknown("host.block")->start == 2.2e-3);
    plan.starts = NULL;
    case_systems = (calc_documents){CALC_KIND_SYSTEM, .load = case_load};
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    calc_system file;
    ck_assert_int_eq(case_load(CALC_KIND_SYSTEM, "a100_sxm_80g", &file, NULL), CALC_OK);
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
        ck_assert(calc_constant_get(p->constant, &calibrated->family.system[m]) == p->value);
        const calc_document *entry = calc_documents_get(&case_systems, case_machine[m]);
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
        ck_assert(fabs(the_before[i] / case_row[i].measured_s - 1) > 1e-4);
    }
    /* Runs of one width that are four times as slow do not reach their own predictions. */
    double clean = unseen[1];
    for (int i = 1; i < CASE_ROWS; i += 4) {
        case_row[i].measured_s *= 4;
    }
    case_systems = (calc_documents){CALC_KIND_SYSTEM, .load = case_load};
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
    ck_assert_uint_eq(calibrated->runs, CASE_ROWS - CASE_ROWS / 3);
    ck_assert_uint_eq(calibrated->sources, 1);
    ck_assert_str_eq(calibrated->source[0].name, "other");
    ck_assert_double_eq_tol(unknown("matrix.bfloat16")->value, truth[0], 0.03 * truth[0]);
    ck_assert(unknown("eager_traffic")->value == unknown("eager_traffic")->start);
    ck_assert(isfinite(the_before[0]) && isfinite(the_before[1]));
    plan.held_out = both;
    case_systems = (calc_documents){CALC_KIND_SYSTEM, .load = case_load};
    ck_assert_int_eq(calibrate(plan), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text, "no measured run on a100_sxm_80g that is not held out");
    plan.held_out = part; /* neither a source nor a publisher */
    case_systems = (calc_documents){CALC_KIND_SYSTEM, .load = case_load};
    ck_assert_int_eq(calibrate(plan), CALC_OK);
    ck_assert_uint_eq(calibrated->runs, CASE_ROWS);
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
        case_systems = (calc_documents){CALC_KIND_SYSTEM, .load = case_load};
        ck_assert_int_eq(calibrate(plan), CALC_OK);
        ck_assert_uint_eq(calibrated->runs, k < 2 ? CASE_ROWS - CASE_ROWS / 3 : CASE_ROWS);
    }
}

CALC_TEST(without_folds_nothing_is_unseen)
{
    ck_assert_int_eq(calibrate(plan_of(10)), CALC_OK);
    for (int i = 0; i < CASE_ROWS; i++) {
        ck_assert(isnan(unseen[i]) && isfinite(the_before[i]));
    }
}

CALC_TEST(machines_without_runs_and_machines_that_are_none_are_errors)
{
    static const char *const none[] = {"h100_sxm", "no_such_machine"};
    calc_measured_runs runs = case_of_runs();
    calc_calibration_plan plan = {.most = 10};
    ck_assert_int_eq(calc_calibration_start(calibrated, none, 1, &runs, &errors), CALC_OK);
    ck_assert_int_eq(calc_calibrate(calibrated, &plan, &runs, the_before, unseen, &errors),
                     CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text, "no measured run on h100_sxm");
    ck_assert_int_eq(calc_calibration_start(calibrated, none + 1, 1, &runs, &errors),
                     CALC_ERR_NOT_FOUND);
    ck_assert_int_eq(
        calc_calibration_start(calibrated, none, CALC_UNKNOWNS_MACHINES + 1, &runs, &errors),
        CALC_ERR_RANGE);
}

/* Standard errors that a machine's source states, and what they make of the time of a step. */

static calc_standard_errors e;

static void read(const char *source)
{
    char json[1024];
    snprintf(json, sizeof json, "{\"watts\": 1, \"source\": \"%s\"}", source);
    calc_text text = {json, strlen(json)};
    calc_standard_errors_read(&e, &text);
}

CALC_TEST(what_a_calibration_wrote_is_read)
{
    read("Some (9 %) words. Calibrated on 2026-01-31 to 7 measured runs (one_table 5, other 2) on "
         "mine, yours. Determined by them (standard error): mem1.efficiency (2 %), "
         "networks[0].latency (0.51 %). Adjusted, though they do not determine it: "
         "networks[0].efficiency (1.2e+02 %). Assumed: host.block.");
    ck_assert_str_eq(e.machine, "mine");
    ck_assert_uint_eq(e.count, 3);
    ck_assert_str_eq(e.item[0].constant->name, "mem1.efficiency");
    ck_assert_str_eq(e.item[1].constant->name, "networks[0].latency");
    ck_assert_str_eq(e.item[2].constant->name, "networks[0].efficiency");
    ck_assert_double_eq_tol(e.item[0].relative, 0.02, 1e-15);
    ck_assert_double_eq_tol(e.item[1].relative, 0.0051, 1e-15);
    ck_assert_double_eq_tol(e.item[2].relative, 1.2, 1e-15);
}

CALC_TEST(what_is_no_calibration_has_none)
{
    static const char *const sources[] = {
        "Data sheet.", "", "Calibrated on paper.",
        ("Calibrated on 2026 to 7 runs (a 7) on mine. Determined: no.such (2 %), host.block (x %), "
         "host.block (2), host.block (-1 %), host.block (2 %")};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        read(sources[i]);
        ck_assert_uint_eq(e.count, 0);
        ck_assert_str_eq(e.machine, i == 3 ? "mine" : "");
    }
    calc_text none = {NULL, 0};
    calc_standard_errors_read(&e, &none);
    ck_assert_uint_eq(e.count, 0);
    char text[] = "{\"watts\": 1}";
    calc_text without = {text, strlen(text)};
    calc_standard_errors_read(&e, &without);
    ck_assert_uint_eq(e.count, 0);
}

/* Where nothing was fitted, what is assumed may be off by the spreads of the priors. */
CALC_TEST(what_is_assumed_has_the_spread_of_its_prior)
{
    calc_system system = {.networks_count = 1};
    system.networks[0].efficiency = 0.16;
    system.chip.host.block_s = 0.002;
    system.chip.overlap.data_par = 1; /* nothing is beyond */
    calc_standard_errors_assume(&e, &system);
    ck_assert_str_eq(e.machine, "");
    ck_assert_uint_eq(e.count, 2);
    ck_assert_str_eq(e.item[0].constant->name, "host.block");
    ck_assert_double_eq_tol(e.item[0].relative, 0.5, 1e-15);
    ck_assert_str_eq(e.item[1].constant->name, "networks[0].efficiency");
    ck_assert_double_eq_tol(e.item[1].relative, 0.6 * 0.84, 1e-15);
}

CALC_TEST(a_calibration_that_is_written_is_read_again)
{
    calc_calibration *c = calloc(1, sizeof *c);
    c->runs = 7;
    c->source[c->sources++] = (calc_calibration_source){"one_table", 7};
    c->family.machine[0] = "mine";
    c->family.machines = c->family.measured = 1;
    c->unknowns.item[c->unknowns.count++] =
        (calc_unknown){.constant = calc_constant_find("host.block"),
                       .machines = 1,
                       .value = 2e-3,
                       .error = 0.25,
                       .determined = true};
    char old[] = "{\"host\": {\"block\": 0.001}}";
    calc_text before = {old, strlen(old)}, after = {0};
    calc_output *out;
    ck_assert_int_eq(calc_output_open_memory(&out, &after, NULL), CALC_OK);
    calc_system_text_write(out, &before, c, 0, "2026-01-31");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    calc_standard_errors_read(&e, &after);
    calc_text_free(&after);
    free(c);
    ck_assert_str_eq(e.machine, "mine");
    ck_assert_uint_eq(e.count, 1);
    ck_assert_double_eq_tol(e.item[0].relative, 0.25, 1e-15);
}

/* The time of a shipped layout with a constant that has that value. */
static double time_with(const shipped_case *s, const calc_constant *c, double value)
{
    calc_system other = s->system;
    calc_stats stats;
    calc_constant_set(c, &other, value);
    calc_run(&s->app, &other, &s->exec, CALC_COMPAT_NONE, &stats);
    return stats.total_time;
}

CALC_TEST(effects_are_added_as_squares)
{
    shipped_case s = load_case("llama3-405B", "h100_sxm", "llama3-405B_16384");
    const calc_constant *matrix = calc_constant_find("matrix.bfloat16");
    const calc_constant *link = calc_constant_find("networks[0].efficiency");
    double m = calc_constant_get(matrix, &s.system);
    double l = calc_constant_get(link, &s.system);
    /* A factor of e^0.03 for the one; odds of e^0.2 for the other, a share. */
    double by_matrix =
        log(time_with(&s, matrix, m * exp(0.03)) / time_with(&s, matrix, m * exp(-0.03))) / 2;
    double odds = l / (1 - l);
    double by_link = log(time_with(&s, link, odds * exp(0.2) / (1 + odds * exp(0.2))) /
                         time_with(&s, link, odds * exp(-0.2) / (1 + odds * exp(-0.2)))) /
                     2;
    ck_assert(by_matrix < -0.009 && by_link < -0.001);
    e = (calc_standard_errors){.item = {{matrix, 0.03}, {link, 0.2 * (1 - l)}}};
    ck_assert(calc_standard_errors_of_time(&e, &s.app, &s.system, &s.exec) == 0);
    e.count = 1;
    ck_assert_double_eq_tol(calc_standard_errors_of_time(&e, &s.app, &s.system, &s.exec),
                            -by_matrix, 1e-9);
    e.count = 2;
    ck_assert_double_eq_tol(calc_standard_errors_of_time(&e, &s.app, &s.system, &s.exec),
                            hypot(by_matrix, by_link), 1e-9);
}

CALC_TEST(shipped_machines_state_theirs)
{
    static const char *const machines[] = {"a100_sxm_80g", "h100_sxm", "b200", "ascend_910b"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char path[512];
        calc_text text = {0};
        snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", machines[i]);
        ck_assert_int_eq(calc_text_read(&text, path, NULL), CALC_OK);
        calc_standard_errors_read(&e, &text);
        calc_text_free(&text);
        ck_assert_msg(e.count >= 3 && e.machine[0], "%s: %zu of \"%s\"", machines[i], e.count,
                      e.machine);
    }
}
