/* Rows of calc_attention_rates: flash attention. */
/* clang-format off */
CALC_FIELD(fw_efficiency,     REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "forward, causal arithmetic: share of the matrix peak; 0: the matrix engine's curve")
CALC_FIELD(bw_efficiency,     REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "backward; 0: the matrix engine's curve")
CALC_FIELD(launch_s,          REAL, _, .key = "launch", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_FIELD(softmax_size,      REAL, _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "cost of the exponential of a score, as extra width of a head; small heads run slower")
CALC_FIELD(generic_efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "rate of portable kernels over the vendor's; 0 means 1")
CALC_FIELD(unfused_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "batched matrix multiplications of attention without flash: share of the matrix peak; 0: the matrix engine's curve")
/* clang-format on */
