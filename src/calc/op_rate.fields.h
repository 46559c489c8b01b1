/* Rows of calc_op_rate: one operation of one network. */
/* clang-format off */
CALC_FIELD(efficiency,      REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the bandwidth; 0: the network's")
CALC_FIELD(latency_fixed_s, REAL, _, .key = "latency_fixed", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "latency of the operation, instead of the network's when this or latency_step is given")
CALC_FIELD(latency_step_s,  REAL, _, .key = "latency_step", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per step: n - 1, twice that for all-reduce")
/* clang-format on */
