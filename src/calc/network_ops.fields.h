/* Rows of calc_network_ops: what an operation on V bytes and n ranks moves, scalar * (V + offset *
 * V / n). */
/* clang-format off */
CALC_FIELD(p2p,            OP, _, .flags = CALC_POINT_TO_POINT, .doc = "point-to-point message: [scalar, null]")
CALC_FIELD(reduce_scatter, OP, _, .doc = "reduce-scatter: [scalar, offset]")
CALC_FIELD(all_gather,     OP, _, .doc = "all-gather: [scalar, offset]")
CALC_FIELD(all_reduce,     OP, _, .doc = "all-reduce: [scalar, offset]")
CALC_FIELD(all_to_all,     OP, _, .absent = -1, .flags = CALC_OPTIONAL, .doc = "all-to-all: [scalar, offset]; absent: [1, -1]")
/* clang-format on */
