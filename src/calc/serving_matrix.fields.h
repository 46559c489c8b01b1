/* Rows of calc_serving_matrix. With memory_efficiency:
 * fixed + inner K + ((arithmetic / efficiency)^3 + (traffic / memory_efficiency)^3)^(1/3), both at
 * peak rates, plus the conversion of inputs to 8 or 4 bits. Scales of blocks are computed for every
 * input, scales of tensors are known before. */
/* clang-format off */
CALC_FIELD(memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth at which weights are read; 0: as in training")
CALC_FIELD(fixed_s,         REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_FIELD(inner_s,         REAL, _, .key = "inner", .lo = 0, .hi = 1e-3, .flags = CALC_OPTIONAL, .unit = "s", .doc = "time per element of the inner size")
CALC_FIELD(quantize_s,      REAL, _, .key = "quantize", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of converting inputs to 8 or 4 bits with block scales; with tensor scales the kernel before does it")
CALC_FIELD(efficiency,      REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the peak of arithmetic; 0 means 1")
CALC_FIELD(efficiency_8bit, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the same in 8 bits; 0: efficiency")
CALC_FIELD(efficiency_4bit, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the same in 4 bits; 0: efficiency")
CALC_FIELD(unpacked_efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the same where narrow weights are unpacked to the 16 bits of their inputs; 0: as where they are not narrow")
CALC_FIELD(unpacked_memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth at which such weights are read; 0: memory_efficiency")
/* clang-format on */
