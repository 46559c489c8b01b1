/* Rows of calc_serving_latency, over N ranks: fixed + doubling log2 N, in place of the latency of
 * training's operations where either is given. */
/* clang-format off */
CALC_FIELD(fixed_s,    REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one operation")
CALC_FIELD(doubling_s, REAL, _, .key = "doubling", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per doubling of the ranks")
/* clang-format on */
