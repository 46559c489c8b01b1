/* Rows of calc_system: the machine. */
/* clang-format off */
CALC_FIELD(matrix,          MAP,    engine, .doc = "matrix engine, per datatype")
CALC_FIELD(vector,          MAP,    engine, .doc = "vector engine, per datatype")
CALC_FIELD(mem1,            OBJECT, memory_tier, .doc = "first memory tier (HBM)")
CALC_FIELD(mem2,            OBJECT, memory_tier, .doc = "second memory tier, for offload")
CALC_FIELD(processing_mode, ENUM,   processing_mode, .doc = "roofline: the larger of arithmetic and memory time; no_overlap: their sum")
CALC_FIELD(networks,        LIST,   network, .lo = 1, .doc = "network tiers, by index")
CALC_FIELD(source,          NOTE,   _, .flags = CALC_OPTIONAL, .doc = "where the numbers come from")
/* clang-format on */
