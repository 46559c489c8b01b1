/* Rows of calc_system: the machine. Those of CALC_CHIP_FIELD are members of its chip; in files,
 * help and paths there is no difference. */
#ifndef CALC_CHIP_FIELD
#define CALC_CHIP_FIELD CALC_FIELD
#endif
/* clang-format off */
CALC_CHIP_FIELD(matrix,          MAP,    engine, .doc = "matrix engine, per datatype")
CALC_CHIP_FIELD(vector,          MAP,    engine, .doc = "vector engine, per datatype")
CALC_CHIP_FIELD(mem1,            OBJECT, memory_tier, .doc = "first memory tier (HBM)")
CALC_CHIP_FIELD(mem2,            OBJECT, memory_tier, .doc = "second memory tier, for offload")
CALC_CHIP_FIELD(processing_mode, ENUM,   processing_mode, .doc = "roofline: the larger of arithmetic and memory time; no_overlap: their sum")
CALC_FIELD(networks,        LIST,   network, .lo = 1, .doc = "network tiers, by index")
CALC_CHIP_FIELD(sustained,       REAL,   _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the peak arithmetic rate that the clock sustains; 0 means 1")
CALC_CHIP_FIELD(attention,       OBJECT, attention_rates, .flags = CALC_OPTIONAL, .doc = "flash attention")
CALC_CHIP_FIELD(grouped,         OBJECT, grouped_rates, .flags = CALC_OPTIONAL, .doc = "grouped matrix multiplications of experts")
CALC_CHIP_FIELD(recurrence,      OBJECT, recurrence_rates, .flags = CALC_OPTIONAL, .doc = "convolutions and recurrences of linear mixers")
CALC_CHIP_FIELD(launch,          OBJECT, launch, .flags = CALC_OPTIONAL, .doc = "time added to every kernel")
CALC_CHIP_FIELD(host,            OBJECT, host, .flags = CALC_OPTIONAL, .doc = "time the host needs to issue a block")
CALC_CHIP_FIELD(overlap,         OBJECT, overlap_shares, .flags = CALC_OPTIONAL, .doc = "how much each mechanism hides")
CALC_CHIP_FIELD(eager_traffic,   REAL,   _, .lo = 1e-6, .hi = 100, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "memory traffic of elementwise operations in eager execution over the fused ones; 0: 2")
CALC_CHIP_FIELD(expert_activation_traffic, REAL, _, .lo = 1e-6, .hi = 100, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "memory traffic of unfused expert activations over the fused ones; 0: 2.5")
CALC_CHIP_FIELD(quantize_bytes,  REAL,   _, .lo = 0, .hi = 100, .flags = CALC_OPTIONAL, .unit = "bytes", .doc = "memory traffic per matrix element of converting it to 8 or 4 bits")
CALC_CHIP_FIELD(float8_either_order, BOOL, _, .flags = CALC_OPTIONAL, .source = "TransformerEngine, is_non_tn_fp8_gemm_supported; docs/model.md, Number formats", .doc = "multiplications read 8-bit matrices by rows or by columns, so that one copy of a weight serves both passes of training where it has one scale")
CALC_CHIP_FIELD(block_scaled_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "rate of matrix multiplications with block scales over that with tensor scales; 0 means 1")
CALC_CHIP_FIELD(row_scaled_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .source = "torchao's benchmarks on H100 and B200; docs/model.md, Number formats", .doc = "rate of matrix multiplications with a scale per row and column over that with tensor scales; 0: 0.7")
CALC_CHIP_FIELD(permute_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth that sorting tokens by expert reaches; 0: that of mem1")
CALC_CHIP_FIELD(optimizer_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth that the optimizer reaches; 0: that of mem1")
CALC_CHIP_FIELD(serving,         OBJECT, serving_rates, .flags = CALC_OPTIONAL, .doc = "kernels of serving engines")
CALC_FIELD(step_overhead_s, REAL,   _, .key = "step_overhead", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of a step")
CALC_FIELD(straggler_growth, REAL,  _, .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .doc = "growth of a step's time per doubling of nodes")
CALC_CHIP_FIELD(mem_reserved_bytes, REAL, _, .key = "mem_reserved_GiB", .lo = 0, .hi = 1e9, .scale = 1073741824.0, .flags = CALC_OPTIONAL, .unit = "GiB", .doc = "memory outside the allocator: contexts, communication buffers")
CALC_CHIP_FIELD(mem_fragmentation, REAL, _, .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .doc = "memory the allocator loses over what is used")
CALC_FIELD(ranks_per_node,  INT,    _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "processors of one node (one host), of which a machine whose first network spans hosts has fewer than networks[0].size; straggler_growth counts nodes; 0: networks[0].size")
CALC_CHIP_FIELD(watts,           REAL,   _, .lo = 1e-6, .hi = 1e9, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "W", .doc = "power of one processor under load; 0: not known")
CALC_CHIP_FIELD(usd_per_hour,    REAL,   _, .also = {"price"}, .lo = 1e-6, .hi = 1e9, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "USD/h", .doc = "price of one processor; 0: not known")
CALC_FIELD(platform,        ENUM,   platform, .flags = CALC_OPTIONAL, .doc = "what software of its processors is built on: cuda, rocm, cann (Ascend), xpu (Kunlun), hpu (Gaudi), tpu, neuron (Trainium); no time depends on it: it says which frameworks start a layout there; any: all of them")
CALC_FIELD(source,          NOTE,   _, .flags = CALC_OPTIONAL, .doc = "where the numbers come from")
CALC_FIELD(names,           NOTE,   _, .flags = CALC_OPTIONAL, .doc = "other names that people give it, separated by blanks; letters and digits count")
/* clang-format on */
#undef CALC_CHIP_FIELD
