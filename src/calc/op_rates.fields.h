/* Rows of calc_op_rates: the operations of one network. */
/* clang-format off */
CALC_FIELD(p2p,            OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "point-to-point message")
CALC_FIELD(reduce_scatter, OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "reduce-scatter")
CALC_FIELD(all_gather,     OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "all-gather")
CALC_FIELD(all_reduce,     OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "all-reduce")
CALC_FIELD(all_to_all,     OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "all-to-all")
/* clang-format on */
