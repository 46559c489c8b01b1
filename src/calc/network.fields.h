/* Rows of calc_network. */
/* clang-format off */
CALC_FIELD(bytes_per_s,     REAL,   _, .key = "bandwidth", .lo = 1e-6, .hi = 1e9, .scale = 1e9, .unit = "GB/s", .equation = "time = latency + scalar * (V + offset * V / n) / (bandwidth * efficiency), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "bandwidth per processor, one direction")
CALC_FIELD(efficiency,      REAL,   _, .lo = 1e-6, .hi = 1, .equation = "time = latency + scalar * (V + offset * V / n) / (bandwidth * efficiency), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "fraction of the bandwidth that is reached")
CALC_FIELD(size,            INT,    _, .lo = 0, .hi = 1e12, .doc = "processors one instance of the network connects: of the last network all that the machine has")
CALC_FIELD(latency_s,       REAL,   _, .key = "latency", .lo = 0, .hi = 1e6, .unit = "s", .equation = "time = latency + scalar * (V + offset * V / n) / (bandwidth * efficiency), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "latency of one operation whatever its ranks; a data sheet's latency, end to end, goes here, with latency_log2 0")
CALC_FIELD(ops,             OBJECT, network_ops, .doc = "cost of each operation")
CALC_FIELD(must_be_filled,  BOOL,   _, .doc = "ranks on it must divide its size")
CALC_FIELD(processor_usage, REAL,   _, .lo = 0, .hi = 1, .flags = CALC_BELOW_HI, .doc = "fraction of the processor that driving it takes")
CALC_FIELD(op_parameters,   OBJECT, op_rates, .flags = CALC_OPTIONAL, .doc = "what single operations reach, where it differs")
CALC_FIELD(latency_log2_s,  REAL,   _, .key = "latency_log2", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "latency added per doubling of the ranks of an operation, measured and not on a data sheet: an operation of n ranks waits latency + latency_log2 * log2(n)")
CALC_FIELD(hop_s,           REAL,   _, .key = "hop_latency", .lo = 1e-12, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .equation = "latency of a broadcast of n ranks = latency + latency_log2 * log2(n) + hop_latency * n", .source = "NCCL, src/graph/tuning.cc: rings over the network, LL128", .doc = "what a rank of a ring needs to pass a broadcast on (optimizer_shards tensors); 0: 4e-6, on the innermost network nothing, as its links all see the first rank")
CALC_FIELD(bandwidth_curve, CURVE,  _, .flags = CALC_OPTIONAL, .scale = 1e6, .unit = "MB", .doc = "factor on the bandwidth by size of the message, largest first, down to 0")
CALC_FIELD(oversubscription, REAL,  _, .lo = 1, .hi = 1e3, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "what the network's ports offer over what its core carries; 0 means 1")
CALC_FIELD(reduction_in_network, BOOL, _, .flags = CALC_OPTIONAL, .doc = "switches add up: an all-reduce moves its buffer once")
/* clang-format on */
