/* Rows of calc_engine: one datatype of the matrix or vector engine. */
/* clang-format off */
CALC_FIELD(flop_per_s, REAL,  _, .key = "tflops", .lo = 1e-6, .hi = 1e9, .scale = 1e12, .unit = "TFLOP/s", .equation = "time = FLOP / (tflops * efficiency by size of the operation)", .source = "roofline: Williams et al. 2009", .doc = "peak rate")
CALC_FIELD(efficiency, CURVE, _, .key = "gflops_efficiency", .scale = 1e9, .unit = "GFLOP", .equation = "time = FLOP / (tflops * efficiency by size of the operation)", .source = "roofline: Williams et al. 2009", .doc = "efficiency by size of the operation, largest first, down to 0")
/* clang-format on */
