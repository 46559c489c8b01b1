/* Which numbers of a family are one, which are each machine's own. */
#include "calibrate/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static calc_constant_known known[] = {{"grouped.efficiency", "b200_180g", 1.11}};
static const calc_constant_starts starts = {.item = known, .count = 1};
static calc_family family;
static calc_unknowns unknowns;

/* Three machines: the third has a slower clock and a network of its own, and no fourth number. */
static void enter(void)
{
    static const char *const names[] = {"one", "two", "three"};
    family = (calc_family){.machines = 3, .measured = 7};
    for (int m = 0; m < 3; m++) {
        calc_system *s = &family.system[m];
        family.machine[m] = names[m];
        s->chip.sustained = m == 2 ? 0.9 : 1;
        s->chip.eager_traffic = 2;
        s->networks_count = 2;
        s->networks[1].efficiency = m == 2 ? 0.4 : 0.8;
        s->chip.host.block_s = m == 2 ? 0 : 1e-3;
    }
}

const calc_test_frame calc_tests = {.setup = enter};

static const calc_unknown *find(const char *name, unsigned machines)
{
    for (size_t i = 0; i < unknowns.count; i++) {
        const calc_unknown *p = &unknowns.item[i];
        if (strcmp(p->constant->name, name) == 0 && p->machines == machines) {
            return p;
        }
    }
    return NULL;
}

CALC_TEST(equal_values_are_one_unknown)
{
    calc_unknowns_make(&unknowns, &family, NULL, NULL);
    ck_assert(find("eager_traffic", 7)->start == 2);
    ck_assert(find("networks[1].efficiency", 3)->start == 0.8);
    ck_assert(find("networks[1].efficiency", 4)->start == 0.4);
    ck_assert(find("host.block", 3)->value == 1e-3);
    /* A clock is measured by that of the first machine. */
    ck_assert_ptr_null(find("sustained", 1));
    ck_assert(find("sustained", 2)->start == 1 && find("sustained", 4)->start == 0.9);
    ck_assert_uint_eq(unknowns.count, 6);
}

CALC_TEST(a_documented_start_of_its_own_is_an_unknown_of_its_own)
{
    static const char *const fields[] = {"grouped.efficiency", NULL};
    family.name = "Blackwell";
    family.machine[2] = "b200_180g"; /* whose kernels were measured */
    for (int m = 0; m < 3; m++) {
        family.system[m].chip.grouped.efficiency = 1;
    }
    calc_unknowns_make(&unknowns, &family, fields, &starts);
    ck_assert_uint_eq(unknowns.count, 2);
    ck_assert(find("grouped.efficiency", 3)->start == 0.9);
    ck_assert(find("grouped.efficiency", 4)->start == 1.11);
    calc_unknowns_make(&unknowns, &family, fields, NULL);
    ck_assert_uint_eq(unknowns.count, 1);
}

CALC_TEST(numbers_of_machines_without_runs_are_left_out)
{
    family.measured = 1;
    calc_unknowns_make(&unknowns, &family, NULL, NULL);
    ck_assert_uint_eq(unknowns.count, 3);
    ck_assert_ptr_nonnull(find("eager_traffic", 7)); /* shared with the first */
    ck_assert_ptr_null(find("networks[1].efficiency", 4));
}

CALC_TEST(only_listed_fields_are_unknown)
{
    static const char *const fields[] = {"eager_traffic", NULL};
    calc_unknowns_make(&unknowns, &family, fields, &starts);
    ck_assert_uint_eq(unknowns.count, 1);
    ck_assert(unknowns.item[0].start == 1.8 && unknowns.item[0].value == 1.8);
    ck_assert(isnan(unknowns.item[0].error) && !unknowns.item[0].determined);
}

CALC_TEST(values_go_to_their_machines)
{
    calc_unknowns_make(&unknowns, &family, NULL, NULL);
    for (size_t i = 0; i < unknowns.count; i++) {
        unknowns.item[i].value = 0.5;
    }
    calc_unknowns_apply(&unknowns, family.system, 3);
    for (int m = 0; m < 3; m++) {
        ck_assert(family.system[m].chip.eager_traffic == 0.5);
        ck_assert(family.system[m].networks[1].efficiency == 0.5);
        ck_assert(family.system[m].chip.sustained == (m == 0 ? 1 : 0.5));
        ck_assert(family.system[m].chip.host.block_s == (m == 2 ? 0 : 0.5));
    }
}

CALC_TEST(errors_are_shares_of_the_value)
{
    calc_unknown p = {.value = 0.8, .error = 0.1};
    p.constant = calc_constant_find("eager_traffic"); /* d log x = dx / x */
    ck_assert(calc_unknown_relative_error(&p) == 0.1);
    p.constant = calc_constant_find("mem1.efficiency"); /* d logit x = dx / (x (1 - x)) */
    ck_assert_double_eq_tol(calc_unknown_relative_error(&p), 0.02, 1e-15);
}
