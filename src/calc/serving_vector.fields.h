/* Rows of calc_serving_vector. With memory_efficiency: fixed + traffic / memory_efficiency. */
/* clang-format off */
CALC_FIELD(memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth; 0: as in training, states as decode")
CALC_FIELD(fixed_s, REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one, a part of that of the kernel it is fused into")
/* clang-format on */
