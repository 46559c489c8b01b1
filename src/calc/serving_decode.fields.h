/* Rows of calc_serving_decode. With memory_efficiency:
 * fixed + growth S / (S + 1000) + ((arithmetic / efficiency)^3 + (traffic /
 * memory_efficiency)^3)^(1/3) for S cached tokens. */
/* clang-format off */
CALC_FIELD(memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth at which the cache is read; 0: as in training")
CALC_FIELD(fixed_s,    REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_FIELD(growth_s,   REAL, _, .key = "growth", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added with a long cache, half of it at 1,000 tokens")
CALC_FIELD(efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the peak of arithmetic; 0 means 1")
/* clang-format on */
