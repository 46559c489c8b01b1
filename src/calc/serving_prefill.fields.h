/* Rows of calc_serving_prefill. With memory_efficiency:
 * fixed + arithmetic / efficiency + traffic / memory_efficiency. */
/* clang-format off */
CALC_FIELD(memory_efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth; above 1 where the second-level cache holds a prompt; 0: as in training")
CALC_FIELD(fixed_s,      REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_FIELD(efficiency,   REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "causal arithmetic of heads of 128: share of the peak; 0 means 1")
CALC_FIELD(efficiency_8bit, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the peak in 8 bits, of engines whose latent attention of prompts has as many as the cache (narrow_prompts); 0: no faster than 16 bits")
CALC_FIELD(softmax_size, REAL, _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "cost of the exponential of a score, as extra width of a head; small heads run slower")
/* clang-format on */
