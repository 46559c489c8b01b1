/* Files of calibrated machines: all their fields, and a source that says what was fitted. */
#include "calibrate/calibration.h"
#include "documents.h"
#include "scratch.h"

#include <math.h>

#include "frame.h"

static char folder[256];
static calc_calibration *c;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    c = calloc(1, sizeof *c);
    c->runs = 7;
    c->source[c->sources++] = (calc_calibration_source){"one_table", 5};
    c->source[c->sources++] = (calc_calibration_source){"other", 2};
    c->family.machine[0] = "mine";
    c->family.machine[1] = "yours";
    c->family.machines = 2;
    c->family.measured = 1;
}

static void leave(void)
{
    free(c);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void set(const char *name, double value, double error, bool determined)
{
    c->unknowns.item[c->unknowns.count++] = (calc_unknown){.constant = calc_constant_find(name),
                                                           .machines = 1,
                                                           .value = value,
                                                           .error = error,
                                                           .determined = determined};
}

/* Write the text anew and read it again. */
static calc_system rewrite(const char *text)
{
    calc_system system;
    calc_text old = {(char *)(uintptr_t)text, strlen(text)};
    calc_output *out;
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &c->family.system[0], text, old.length, "old", NULL), CALC_OK);
    calc_unknowns_apply(&c->unknowns, c->family.system, 1);
    ck_assert_int_eq(calc_output_open(&out, "new.json", NULL), CALC_OK);
    calc_system_text_write(out, &old, c, 0, "2026-01-31");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &system, "new.json", NULL), CALC_OK);
    return system;
}

static void text_has(const char *expected)
{
    char text[8192];
    FILE *file = fopen("new.json", "rb");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_msg(strstr(text, expected) != NULL, "%s\nis not in\n%s", expected, text);
}

CALC_TEST(numbers_are_replaced_and_the_rest_stays)
{
    set("mem1.efficiency", 0.8, 0.1, true);
    set("networks[0].efficiency", 0.7, 0.2, true);
    set("matrix.bfloat16", 0.76, 0.05, true); /* the curve's first step is 0.95, its last 0.1 */
    calc_system system = rewrite(SYSTEM_TEXT);
    ck_assert(system.chip.mem1.efficiency.efficiency[0] == 0.8);
    ck_assert(system.networks[0].efficiency == 0.7);
    ck_assert(system.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency.efficiency[0] == 0.76);
    ck_assert_double_eq_tol(system.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency.efficiency[1],
                            0.08, 1e-15);
    ck_assert_mem_eq(&system, &c->family.system[0], sizeof system);
    text_has("\"gflops_efficiency\": [[128, 0.76], [0, 0.08");
}

CALC_TEST(a_source_is_added_where_there_is_none)
{
    set("mem1.efficiency", 0.8, 0.1, true);
    set("networks[0].efficiency", 0.7, 0.2, false);
    set("networks[0].latency", 1e-5, (double)NAN, false);
    rewrite(SYSTEM_TEXT);
    text_has(",\n  \"source\": \"Calibrated on 2026-01-31 to 7 measured runs (one_table 5, "
             "other 2) on mine. Determined by them (standard error): mem1.efficiency (2 %). "
             "Adjusted, though they do not determine it: networks[0].efficiency (6 %). Assumed: "
             "networks[0].latency.\"\n}\n");
}

CALC_TEST(an_earlier_calibration_is_replaced_and_what_stands_before_it_kept)
{
    static const char end[] = ", \"names\": \"ours \\\"A\\\"\", \"source\": \"Data sheet "
                              "\\\"A\\\". Calibrated on 1999-01-01 to "
                              "nothing.\", \"watts\": 5}";
    char full[sizeof SYSTEM_TEXT + sizeof end];
    snprintf(full, sizeof full, "%.*s%s", (int)sizeof SYSTEM_TEXT - 3, SYSTEM_TEXT, end);
    set("mem1.efficiency", 0.5, 0.1, true);
    calc_system system = rewrite(full);
    ck_assert(system.chip.mem1.efficiency.efficiency[0] == 0.5 && system.chip.watts == 5);
    text_has("\"source\": \"Data sheet \\\"A\\\". Calibrated on 2026-01-31 to 7 measured runs "
             "(one_table 5, other 2) on mine. Determined by them (standard error): "
             "mem1.efficiency (5 %).\"\n}\n");
    text_has("\"watts\": 5,\n  \"names\": \"ours \\\"A\\\"\",\n");
}
