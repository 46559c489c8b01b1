/* Rows of calc_grouped_rates: grouped matrix multiplications. */
/* clang-format off */
CALC_FIELD(efficiency,  REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "rate over that of one large matrix multiplication; 0 means 1")
CALC_FIELD(processing_mode, ENUM, grouped_mode, .flags = CALC_OPTIONAL, .doc = "roofline: the larger of arithmetic and memory time; no_overlap, auto: their sum")
CALC_FIELD(wgrad_bytes, REAL, _, .lo = 1e-6, .hi = 64, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "bytes", .doc = "memory traffic per weight of accumulating its gradient; 0: read and write of grad_datatype")
/* clang-format on */
