/* Standard errors that a machine's source states, and what they make of the time of a step. */
#include "calibrate/calibration.h"
#include "shipped_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

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
    ck_assert_int_eq(calc_system_text_write(out, &before, c, 0, "2026-01-31", NULL), CALC_OK);
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
