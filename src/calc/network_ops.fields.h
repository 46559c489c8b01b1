/* Rows of calc_network_ops: the bytes that an operation on V bytes and n ranks moves, scalar * (V +
 * offset * V / n). */
/* clang-format off */
CALC_FIELD(p2p,            OP, _, .flags = CALC_POINT_TO_POINT, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "point-to-point message: [scalar, null]")
CALC_FIELD(reduce_scatter, OP, _, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "reduce-scatter: [scalar, offset]")
CALC_FIELD(all_gather,     OP, _, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "all-gather: [scalar, offset]")
CALC_FIELD(all_reduce,     OP, _, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "all-reduce: [scalar, offset]")
CALC_FIELD(all_to_all,     OP, _, .absent = -1, .flags = CALC_OPTIONAL, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "all-to-all: [scalar, offset]; absent: [1, -1]")
/* clang-format on */
