/* The same measurements beside other predictions. */
#include "calibrate/calibration.h"
#include "run_case.h"

#include <stdlib.h>

#include "frame.h"

CALC_TEST(times_are_replaced_and_what_has_none_is_in_no_group)
{
    calc_result item[4] = {
        {.use = CALC_USE_SCORED, .measured = 10, .predicted = 9, .error = -0.1},
        {.use = CALC_USE_SCORED, .measured = 10, .predicted = 9, .error = -0.1},
        {.quantity = CALC_QUANTITY_MEMORY, .use = CALC_USE_SCORED, .measured = 4, .predicted = 4},
        {.use = CALC_USE_UNPREDICTED, .measured = 10, .predicted = (double)NAN}};
    const calc_results results = {.item = item, .count = 4};
    const double predicted_s[4] = {12, (double)NAN, 5, (double)NAN};
    calc_results view;
    ck_assert_int_eq(calc_view_make(&view, &results, predicted_s, NULL), CALC_OK);
    ck_assert(view.item[0].use == CALC_USE_SCORED && view.item[0].predicted == 12);
    ck_assert_double_eq_tol(view.item[0].error, 0.2, 1e-15);
    ck_assert_int_eq(view.item[1].use, CALC_USE_UNSCORED);
    ck_assert(view.item[2].use == CALC_USE_UNSCORED && view.item[2].predicted == 4);
    ck_assert_int_eq(view.item[3].use, CALC_USE_UNPREDICTED);
    ck_assert(item[0].predicted == 9 && item[1].use == CALC_USE_SCORED);
    free(view.item);
}
