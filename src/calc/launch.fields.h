/* Rows of calc_launch: added to the time of every kernel. */
/* clang-format off */
CALC_FIELD(matrix_s, REAL, _, .key = "matrix", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "a matrix multiplication")
CALC_FIELD(vector_s, REAL, _, .key = "vector", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "any other kernel")
/* clang-format on */
