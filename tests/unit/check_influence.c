/* Which run pulls a constant out of its range. */
#include "calibrate/fit.h"
#include "calibrate_case.h"

#include <stdlib.h>

#include "frame.h"

enum { LARGE = 3, SMALL = 20, ODD = 24 }; /* rows; but the first of width 1,024 */

static const char *const fields[] = {"host.block", NULL};
static calc_results results;
static calc_evidence evidence;
static calc_family *family;
static calc_unknowns unknowns;
static bool use[CASE_ROWS];
static bool is_free[1];
static calc_influence found;
static calc_errors errors;

/* Runs as predicted, but that of one row, which took `times` as long. */
static void enter_with(double times)
{
    case_layouts();
    case_measure(fields, (double[]){2.2e-3}, 1, 0);
    case_row[ODD].measured_s *= times;
    family = calloc(1, sizeof *family);
    *family = (calc_family){.name = "A100", .machines = CASE_MACHINES, .measured = 3};
    for (int m = 0; m < CASE_MACHINES; m++) {
        family->machine[m] = case_machine[m];
        family->system[m] = calc_documents_get(&case_systems, case_machine[m])->system;
    }
    errors = (calc_errors){0};
    ck_assert_int_eq(case_results(&results, &errors), CALC_OK);
    evidence = calc_evidence_of(&results, case_machine, CASE_MACHINES);
    calc_unknowns_make(&unknowns, family, fields, case_starts());
    ck_assert_uint_eq(unknowns.count, 1);
    is_free[0] = true;
}

static void leave(void)
{
    calc_evidence_free(&evidence);
    calc_results_free(&results);
    free(family);
    for (int i = 0; i < CASE_ROWS; i++) {
        use[i] = false;
    }
}

const calc_test_frame calc_tests = {.teardown = leave};

static void find(void)
{
    calc_fit f = {&evidence, use, family, 50};
    ck_assert_int_eq(calc_fit_unknowns(&f, &unknowns, is_free, &errors), CALC_OK);
    calc_unknowns_apply(&unknowns, family->system, family->machines);
    ck_assert_int_eq(calc_influence_find(&found, &f, &unknowns, is_free, &errors), CALC_OK);
}

CALC_TEST(the_run_that_pulls_is_found_and_what_is_without_it)
{
    enter_with(50);
    use[LARGE] = use[ODD] = true;
    find();
    ck_assert_ptr_nonnull(found.constant);
    ck_assert_str_eq(found.constant->name, "host.block");
    ck_assert(found.value == unknowns.item[0].value && found.value > found.constant->hi);
    ck_assert_uint_eq(found.row, ODD);
    ck_assert_double_eq_tol(found.without, 2.2e-3, 1e-5);
    /* The search leaves the values alone. */
    ck_assert(unknowns.item[0].value == found.value);
}

CALC_TEST(the_run_that_pulls_is_found_before_others)
{
    enum { LATER = ODD + 3 /* as wide as LARGE */ };
    enter_with(50);
    use[LARGE] = use[ODD] = use[LATER] = true;
    find();
    ck_assert_ptr_nonnull(found.constant);
    ck_assert_uint_eq(found.row, ODD);
    ck_assert_double_eq_tol(found.without, 2.2e-3, 1e-5);
}

CALC_TEST(what_is_in_its_range_is_not_searched)
{
    enter_with(1.5);
    use[LARGE] = use[SMALL] = use[ODD] = true;
    find();
    ck_assert(unknowns.item[0].value != unknowns.item[0].start);
    ck_assert_ptr_null(found.constant);
}

/* A file may say what it wants: only a fit that goes beyond is refused. */
CALC_TEST(a_value_that_the_file_gave_is_no_fault_of_the_runs)
{
    enter_with(1);
    use[LARGE] = true;
    calc_fit f = {&evidence, use, family, 50};
    unknowns.item[0].start = 0.2;
    unknowns.item[0].value = 0.1; /* hi is 0.03 */
    ck_assert_int_eq(calc_influence_find(&found, &f, &unknowns, is_free, &errors), CALC_OK);
    ck_assert_ptr_null(found.constant);
    unknowns.item[0].value = 0.21;
    ck_assert_int_eq(calc_influence_find(&found, &f, &unknowns, is_free, &errors), CALC_OK);
    ck_assert_ptr_nonnull(found.constant);
    is_free[0] = false;
    ck_assert_int_eq(calc_influence_find(&found, &f, &unknowns, is_free, &errors), CALC_OK);
    ck_assert_ptr_null(found.constant);
}

CALC_TEST(every_range_holds_what_is_assumed)
{
    const calc_constant *c;
    for (size_t i = 0; (c = calc_constant_at(i)); i++) {
        ck_assert_msg(c->lo < c->start && c->start < c->hi, "%s", c->name);
        ck_assert_msg(c->scale == CALC_CONSTANT_LOG || (c->lo >= 0 && c->hi <= 1), "%s", c->name);
    }
    ck_assert_uint_eq(case_runs.count, CASE_ROWS);
}
