/* Rows of calc_memory_tier. */
/* clang-format off */
CALC_FIELD(capacity_bytes, REAL,  _, .key = "GiB",  .lo = 0, .hi = 1e12, .scale = 1073741824.0, .unit = "GiB", .doc = "capacity; 0 switches a second tier off in searches")
CALC_FIELD(bytes_per_s,    REAL,  _, .key = "GBps", .lo = 1e-6, .hi = 1e9, .scale = 1e9, .unit = "GB/s", .equation = "time = bytes / (GBps * efficiency by bytes accessed)", .doc = "peak bandwidth")
CALC_FIELD(efficiency,     CURVE, _, .key = "MB_efficiency", .scale = 1e6, .unit = "MB", .equation = "time = bytes / (GBps * efficiency by bytes accessed)", .doc = "efficiency by bytes accessed, largest first, down to 0")
/* clang-format on */
