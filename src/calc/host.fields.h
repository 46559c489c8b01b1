/* Rows of calc_host: a block takes no less than the host needs to issue it. */
/* clang-format off */
CALC_FIELD(block_s,           REAL, _, .key = "block", .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .unit = "s", .doc = "a block, forward and backward")
CALC_FIELD(moe_block_s,       REAL, _, .key = "moe_block", .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added for a block with experts")
CALC_FIELD(expert_s,          REAL, _, .key = "expert", .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per local expert whose numbers are converted to 8 or 4 bits")
CALC_FIELD(tensor_par_growth, REAL, _, .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .doc = "growth per doubling of tensor parallelism beyond 4: ranks wait for the slowest host")
CALC_FIELD(recompute_growth,  REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "growth under full recomputation; 0: 0.5")
CALC_FIELD(overlap_growth,    REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "growth of a block with experts whose all-to-all overlaps with another micro-batch; 0 means 1")
/* clang-format on */
