/* What parts of a block keep in the second tier, by the sizes of what they save: bytes by hand, in
 * unit/check_offload.txt. */
#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_offload.txt", .answer = formula_answer};
