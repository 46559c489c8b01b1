/* Fits where the method of Levenberg and Marquardt has an end of its own, and where it has none.
 * That its digits are SciPy's check_galvatron_profiles.c and check_galvatron_cost.c say. */
#include "galvatron/least_squares.h"

#include <math.h>

#include "frame.h"

enum { MANY = 300 };

static double x[MANY], y[MANY], found[3], closed[3];

static void check_near(int degree, double tolerance)
{
    for (int power = 0; power <= degree; power++) {
        ck_assert_double_le(fabs(found[power] - closed[power]),
                            tolerance * (1 + fabs(closed[power])));
    }
}

/* y = x^2 / 3 - 2 x + 5 and something beside it. */
static void fill(size_t count, double slope)
{
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i + 1;
        y[i] = x[i] * x[i] / 3 + slope * x[i] + 5 + (i % 3 == 0 ? 0.25 : -0.1);
    }
}

CALC_TEST(it_is_near_the_least_squares)
{
    for (size_t count = 4; count < 20; count++) {
        for (int degree = 1; degree <= 2; degree++) {
            fill(count, -2);
            calc_galvatron_fit(x, y, count, degree, found);
            calc_galvatron_polynomial(x, y, count, degree, closed);
            check_near(degree, 1e-6);
        }
    }
}

CALC_TEST(points_on_a_line_give_it_back)
{
    for (size_t i = 0; i < 5; i++) {
        x[i] = (double)i;
        y[i] = 1 + x[i];
    }
    calc_galvatron_fit(x, y, 5, 1, found); /* where it begins */
    ck_assert_double_eq(found[0], 1);
    ck_assert_double_eq(found[1], 1);
}

/* Too far from ones; too many; too few that differ. */
CALC_TEST(elsewhere_it_is_the_closed_form)
{
    fill(12, 1e6);
    calc_galvatron_fit(x, y, 12, 1, found);
    calc_galvatron_polynomial(x, y, 12, 1, closed);
    check_near(1, 0);
    fill(MANY, -2);
    calc_galvatron_fit(x, y, MANY, 2, found);
    calc_galvatron_polynomial(x, y, MANY, 2, closed);
    check_near(2, 0);
    x[0] = x[1] = 3;
    y[0] = 4;
    y[1] = 6;
    calc_galvatron_fit(x, y, 2, 1, found);
    calc_galvatron_polynomial(x, y, 2, 1, closed);
    check_near(1, 0);
}
