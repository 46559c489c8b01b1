/* Rows of calc_serving_all_reduce, over N ranks. With one_shot_efficiency: fixed + doubling log2 N
 * and the smaller of one shot, in which every rank reads the buffers of all others, and two shots,
 * in which it reads its part of them and then the sums of the others. */
/* clang-format off */
CALC_FIELD(one_shot_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the network's bandwidth in one shot; 0: as in training")
CALC_FIELD(fixed_s,    REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one operation")
CALC_FIELD(doubling_s, REAL, _, .key = "doubling", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per doubling of the ranks")
CALC_FIELD(two_shot_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the share in two shots; 0: one_shot_efficiency")
CALC_FIELD(two_shot_s, REAL, _, .key = "two_shot", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added by the second shot")
/* clang-format on */
