/* Rows of calc_recurrence_rates: convolutions and recurrences of linear mixers, which are bound by the
 * vector engine. */
/* clang-format off */
CALC_FIELD(efficiency, REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .equation = "time = ((chunks of a sequence * chunk)^3 + max(67 FLOP per byte moved / (efficiency * vector peak), memory)^3)^(1/3)", .doc = "share of the peak of the vector engine that the arithmetic per byte counts with; 0: the engine's curve")
CALC_FIELD(chunk_s,    REAL, _, .key = "chunk", .lo = 1e-9, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "time of a chunk, for which the next one of its sequence waits; 0: 2.8 us")
/* clang-format on */
