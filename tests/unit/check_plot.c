#include "cli/run/simulation.h"

#include "frame.h"
#include "small_case.h"

enum { COLUMNS = 20 };

static void count(const calc_plot_kind *kind, int columns, int seen[CALC_PLOT_KINDS])
{
    for (int k = 0; k < CALC_PLOT_KINDS; k++) {
        seen[k] = 0;
    }
    for (int i = 0; i < columns; i++) {
        seen[kind[i]]++;
    }
}

CALC_TEST(a_kind_shows_as_often_as_its_share)
{
    calc_plot_share share[COLUMNS] = {0};
    calc_plot_kind kind[COLUMNS];
    int seen[CALC_PLOT_KINDS];
    for (int i = 0; i < COLUMNS; i++) {
        share[i].of[CALC_PLOT_FORWARD] = 0.25;
        share[i].of[CALC_PLOT_BACKWARD] = 0.65;
        share[i].of[CALC_PLOT_IDLE] = 0.1;
    }
    calc_plot_choose(share, COLUMNS, kind);
    count(kind, COLUMNS, seen);
    ck_assert_int_eq(seen[CALC_PLOT_FORWARD], 5);
    ck_assert_int_eq(seen[CALC_PLOT_BACKWARD], 13);
    ck_assert_int_eq(seen[CALC_PLOT_IDLE], 2);
}

/* Forward is due for most of a column when it ends, but does not happen after. */
CALC_TEST(a_column_shows_only_what_happens_in_it)
{
    calc_plot_share share[3] = {0};
    calc_plot_kind kind[3];
    share[0].of[CALC_PLOT_FORWARD] = 0.45;
    share[0].of[CALC_PLOT_WGRAD] = 0.55;
    share[1].of[CALC_PLOT_BACKWARD] = 1;
    share[2].of[CALC_PLOT_FORWARD] = 0.1;
    share[2].of[CALC_PLOT_IDLE] = 0.9;
    calc_plot_choose(share, 3, kind);
    ck_assert_int_eq(kind[0], CALC_PLOT_WGRAD);
    ck_assert_int_eq(kind[1], CALC_PLOT_BACKWARD);
    ck_assert_int_eq(kind[2], CALC_PLOT_IDLE);
}

CALC_TEST(a_column_in_which_nothing_happens_is_idle)
{
    calc_plot_share share[1] = {0};
    calc_plot_kind kind[1] = {CALC_PLOT_FORWARD};
    calc_plot_choose(share, 1, kind);
    ck_assert_int_eq(kind[0], CALC_PLOT_IDLE);
}
