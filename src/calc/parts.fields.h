/* Rows of the parts of models and machines, a struct each: calc_<name>, and the table of that name.
 * CALC_TABLE(name, words in messages) begins one, CALC_END ends it. */
/* clang-format off */

/** Peak rate and efficiency of one engine in one datatype; a rate of 0 means not offered. */
CALC_TABLE(engine, "engine")
CALC_TABLE_ROW(engine, flop_per_s, REAL,  _, .key = "tflops", .lo = 1e-6, .hi = 1e9, .scale = 1e12, .unit = "TFLOP/s", .equation = "time = FLOP / (tflops * efficiency by size of the operation)", .source = "roofline: Williams et al. 2009", .doc = "peak rate")
CALC_TABLE_ROW(engine, efficiency, CURVE, _, .key = "gflops_efficiency", .scale = 1e9, .unit = "GFLOP", .equation = "time = FLOP / (tflops * efficiency by size of the operation)", .source = "roofline: Williams et al. 2009", .doc = "efficiency by size of the operation, largest first, down to 0")
CALC_END(engine, "engine")

/** One tier of memory. */
CALC_TABLE(memory_tier, "memory tier")
CALC_TABLE_ROW(memory_tier, capacity_bytes, REAL,  _, .key = "GiB",  .lo = 0, .hi = 1e12, .scale = 1073741824.0, .unit = "GiB", .doc = "capacity; 0 switches a second tier off in searches")
CALC_TABLE_ROW(memory_tier, bytes_per_s,    REAL,  _, .key = "GBps", .lo = 1e-6, .hi = 1e9, .scale = 1e9, .unit = "GB/s", .equation = "time = bytes / (GBps * efficiency by bytes accessed)", .doc = "peak bandwidth")
CALC_TABLE_ROW(memory_tier, efficiency,     CURVE, _, .key = "MB_efficiency", .scale = 1e6, .unit = "MB", .equation = "time = bytes / (GBps * efficiency by bytes accessed)", .doc = "efficiency by bytes accessed, largest first, down to 0")
CALC_TABLE_ROW(memory_tier, kind,           ENUM,  memory_kind, .flags = CALC_OPTIONAL, .doc = "what people call it; no number depends on it")
CALC_END(memory_tier, "memory tier")

/** Kernels of flash attention. */
CALC_TABLE(attention_rates, "attention rates")
CALC_TABLE_ROW(attention_rates, fw_efficiency,     REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "forward, causal arithmetic: share of the matrix peak; 0: the matrix engine's curve")
CALC_TABLE_ROW(attention_rates, bw_efficiency,     REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "backward; 0: the matrix engine's curve")
CALC_TABLE_ROW(attention_rates, launch_s,          REAL, _, .key = "launch", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_TABLE_ROW(attention_rates, softmax_size,      REAL, _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "cost of the exponential of a score, as extra width of a head; small heads run slower")
CALC_TABLE_ROW(attention_rates, generic_efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "rate of portable kernels over the vendor's; 0 means 1")
CALC_TABLE_ROW(attention_rates, unfused_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "batched matrix multiplications of attention without flash: share of the matrix peak; 0: the matrix engine's curve")
CALC_END(attention_rates, "attention rates")

/** Grouped matrix multiplications: one per local expert. */
CALC_TABLE(grouped_rates, "grouped rates")
CALC_TABLE_ROW(grouped_rates, efficiency,  REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "rate over that of one large matrix multiplication; 0 means 1")
CALC_TABLE_ROW(grouped_rates, processing_mode, ENUM, grouped_mode, .flags = CALC_OPTIONAL, .doc = "roofline: the larger of arithmetic and memory time; no_overlap, auto: their sum")
CALC_TABLE_ROW(grouped_rates, wgrad_bytes, REAL, _, .lo = 1e-6, .hi = 64, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "bytes", .doc = "memory traffic per weight of accumulating its gradient; 0: read and write of grad_datatype")
CALC_END(grouped_rates, "grouped rates")

/** Convolutions and recurrences of linear mixers, which are bound by the vector engine. */
CALC_TABLE(recurrence_rates, "recurrence rates")
CALC_TABLE_ROW(recurrence_rates, efficiency, REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .equation = "time = ((chunks of a sequence * chunk)^3 + max(67 FLOP per byte moved / (efficiency * vector peak), memory)^3)^(1/3)", .doc = "share of the peak of the vector engine that the arithmetic per byte counts with; 0: the engine's curve")
CALC_TABLE_ROW(recurrence_rates, chunk_s,    REAL, _, .key = "chunk", .lo = 1e-9, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "time of a chunk, for which the next one of its sequence waits; 0: 2.8 us")
CALC_END(recurrence_rates, "recurrence rates")

/** Time of starting a kernel, added to that of each. */
CALC_TABLE(launch, "launch")
CALC_TABLE_ROW(launch, matrix_s, REAL, _, .key = "matrix", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "a matrix multiplication")
CALC_TABLE_ROW(launch, vector_s, REAL, _, .key = "vector", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "any other kernel")
CALC_END(launch, "launch")

/** The host, which issues the kernels: a block takes no less than it needs. */
CALC_TABLE(host, "host")
CALC_TABLE_ROW(host, block_s,           REAL, _, .key = "block", .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .unit = "s", .doc = "a block, forward and backward")
CALC_TABLE_ROW(host, moe_block_s,       REAL, _, .key = "moe_block", .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added for a block with experts")
CALC_TABLE_ROW(host, expert_s,          REAL, _, .key = "expert", .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per local expert whose numbers are converted to 8 or 4 bits")
CALC_TABLE_ROW(host, tensor_par_growth, REAL, _, .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .doc = "growth per doubling of tensor parallelism beyond 4: ranks wait for the slowest host")
CALC_TABLE_ROW(host, recompute_growth,  REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "growth under full recomputation; 0: 0.5")
CALC_TABLE_ROW(host, overlap_growth,    REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "growth of a block with experts whose all-to-all overlaps with another micro-batch; 0: 0.5")
CALC_END(host, "host")

/** How much of the communication each mechanism hides. */
CALC_TABLE(overlap_shares, "overlap shares")
CALC_TABLE_ROW(overlap_shares, tensor_par_fused, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of tensor-parallel communication in tiles, at most; 0: all but a tile")
CALC_TABLE_ROW(overlap_shares, tensor_par_async, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of the backward pass's, asynchronous; 0: 0.5")
CALC_TABLE_ROW(overlap_shares, data_par,         REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of the computation that gradients and weights may hide behind; 0: 0.7")
CALC_TABLE_ROW(overlap_shares, expert_par,       REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of the all-to-all of experts, with expert_par_overlap; 0: 0.6")
CALC_TABLE_ROW(overlap_shares, pipeline_par,     REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of messages between stages, with pipeline_par_overlap; 0: 0.85")
CALC_TABLE_ROW(overlap_shares, contention,       REAL, _, .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .doc = "time computation loses per second of communication beside it")
CALC_END(overlap_shares, "overlap shares")

/** What one network operation reaches, where it differs from its network. */
CALC_TABLE(op_rate, "op rate")
CALC_TABLE_ROW(op_rate, efficiency,      REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the bandwidth; 0: the network's")
CALC_TABLE_ROW(op_rate, latency_fixed_s, REAL, _, .key = "latency_fixed", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "latency of the operation, instead of the network's when this or latency_step is given")
CALC_TABLE_ROW(op_rate, latency_step_s,  REAL, _, .key = "latency_step", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per step: n - 1, twice that for all-reduce")
CALC_END(op_rate, "op rate")

/** The same for each operation. */
CALC_TABLE(op_rates, "op rates")
CALC_TABLE_ROW(op_rates, p2p,            OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "point-to-point message")
CALC_TABLE_ROW(op_rates, reduce_scatter, OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "reduce-scatter")
CALC_TABLE_ROW(op_rates, all_gather,     OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "all-gather")
CALC_TABLE_ROW(op_rates, all_reduce,     OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "all-reduce")
CALC_TABLE_ROW(op_rates, all_to_all,     OBJECT, op_rate, .flags = CALC_OPTIONAL, .doc = "all-to-all")
CALC_END(op_rates, "op rates")

/** The operations of a network. */
CALC_TABLE(network_ops, "ops")
CALC_TABLE_ROW(network_ops, p2p,            OP, _, .flags = CALC_POINT_TO_POINT, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "point-to-point message: [scalar, null]")
CALC_TABLE_ROW(network_ops, reduce_scatter, OP, _, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "reduce-scatter: [scalar, offset]")
CALC_TABLE_ROW(network_ops, all_gather,     OP, _, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "all-gather: [scalar, offset]")
CALC_TABLE_ROW(network_ops, all_reduce,     OP, _, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "all-reduce: [scalar, offset]")
CALC_TABLE_ROW(network_ops, all_to_all,     OP, _, .absent = -1, .flags = CALC_OPTIONAL, .equation = "bytes moved = scalar * (V + offset * V / n), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "all-to-all: [scalar, offset]; absent: [1, -1]")
CALC_END(network_ops, "ops")

/** One network tier. */
CALC_TABLE(network, "network")
CALC_TABLE_ROW(network, bytes_per_s,     REAL,   _, .key = "bandwidth", .lo = 1e-6, .hi = 1e9, .scale = 1e9, .unit = "GB/s", .equation = "time = latency + scalar * (V + offset * V / n) / (bandwidth * efficiency), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "bandwidth per processor, one direction")
CALC_TABLE_ROW(network, efficiency,      REAL,   _, .lo = 1e-6, .hi = 1, .equation = "time = latency + scalar * (V + offset * V / n) / (bandwidth * efficiency), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "fraction of the bandwidth that is reached")
CALC_TABLE_ROW(network, size,            INT,    _, .lo = 0, .hi = 1e12, .doc = "processors one instance of the network connects: of the last network all that the machine has")
CALC_TABLE_ROW(network, latency_s,       REAL,   _, .key = "latency", .lo = 0, .hi = 1e6, .unit = "s", .equation = "time = latency + scalar * (V + offset * V / n) / (bandwidth * efficiency), V bytes on n ranks", .source = "Patarasuk & Yuan 2009; Thakur et al. 2005", .doc = "latency of one operation whatever its ranks; a data sheet's latency, end to end, goes here, with latency_log2 0")
CALC_TABLE_ROW(network, ops,             OBJECT, network_ops, .doc = "cost of each operation")
CALC_TABLE_ROW(network, must_be_filled,  BOOL,   _, .doc = "ranks on it must divide its size")
CALC_TABLE_ROW(network, processor_usage, REAL,   _, .lo = 0, .hi = 1, .flags = CALC_BELOW_HI, .doc = "fraction of the processor that driving it takes")
CALC_TABLE_ROW(network, op_parameters,   OBJECT, op_rates, .flags = CALC_OPTIONAL, .doc = "what single operations reach, where it differs")
CALC_TABLE_ROW(network, latency_log2_s,  REAL,   _, .key = "latency_log2", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "latency added per doubling of the ranks of an operation, measured and not on a data sheet: an operation of n ranks waits latency + latency_log2 * log2(n)")
CALC_TABLE_ROW(network, hop_s,           REAL,   _, .key = "hop_latency", .lo = 1e-12, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .equation = "latency of a broadcast of n ranks = latency + latency_log2 * log2(n) + hop_latency * n", .source = "NCCL, src/graph/tuning.cc: rings over the network, LL128", .doc = "what a rank of a ring needs to pass a broadcast on (optimizer_shards tensors); 0: 4e-6, on the innermost network nothing, as its links all see the first rank")
CALC_TABLE_ROW(network, bandwidth_curve, CURVE,  _, .flags = CALC_OPTIONAL, .scale = 1e6, .unit = "MB", .doc = "factor on the bandwidth by size of the message, largest first, down to 0")
CALC_TABLE_ROW(network, oversubscription, REAL,  _, .lo = 1, .hi = 1e3, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "what the network's ports offer over what its core carries; 0 means 1")
CALC_TABLE_ROW(network, reduction_in_network, BOOL, _, .flags = CALC_OPTIONAL, .doc = "switches add up: an all-reduce moves its buffer once")
CALC_TABLE_ROW(network, kind,            ENUM,   network_kind, .flags = CALC_OPTIONAL, .doc = "what people call it; no number depends on it")
CALC_END(network, "network")

/** Number formats of a model's published weights. */
CALC_TABLE(checkpoint_formats, "checkpoint")
CALC_TABLE_ROW(checkpoint_formats, weight_datatype, ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format of the weights; auto: not said")
CALC_TABLE_ROW(checkpoint_formats, weight_scale_bits, REAL, _, .lo = 1e-6, .hi = 8, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "bits", .doc = "what scales and zero points add to a weight of 4 or 8 bits; 0: 0.5 to 4 bits, nothing to 8")
CALC_TABLE_ROW(checkpoint_formats, matrix_datatype, ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format that they are multiplied in, where the machine has it; auto: datatype")
CALC_TABLE_ROW(checkpoint_formats, scaling,         ENUM, scaling, .flags = CALC_OPTIONAL, .doc = "scales of what is multiplied: one per tensor or one per block")
CALC_TABLE_ROW(checkpoint_formats, kv_datatype,     ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format of cached keys and values; auto: not said")
CALC_TABLE_ROW(checkpoint_formats, wide_attention,  ENUM, wide_attention, .flags = CALC_OPTIONAL, .doc = "matrices of attention that are not narrowed: none, its inputs' (queries, keys, values), or all")
CALC_END(checkpoint_formats, "checkpoint")

/** An encoder of images in front of a model. */
CALC_TABLE(encoder, "encoder")
CALC_TABLE_ROW(encoder, hidden,        INT,  _, .lo = 1, .hi = 1e6, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "width of its residual stream; 0: there is no encoder")
CALC_TABLE_ROW(encoder, num_blocks,    INT,  _, .lo = 1, .hi = 1e4, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "its transformer blocks, in which the patches of an image attend to one another")
CALC_TABLE_ROW(encoder, feedforward,   INT,  _, .lo = 1, .hi = 1e7, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "width of its feed-forward layers")
CALC_TABLE_ROW(encoder, attn_heads,    INT,  _, .lo = 1, .hi = 1e6, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "its attention heads")
CALC_TABLE_ROW(encoder, attn_size,     INT,  _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "width of one of them; 0: hidden / attn_heads")
CALC_TABLE_ROW(encoder, ffn_type,      ENUM, ffn_type, .flags = CALC_OPTIONAL, .doc = "its feed-forward layers; auto: gelu")
CALC_TABLE_ROW(encoder, norm_type,     ENUM, norm_type, .flags = CALC_OPTIONAL, .doc = "its normalization; auto: layer")
CALC_TABLE_ROW(encoder, norm_place,    ENUM, norm_place, .flags = CALC_OPTIONAL, .doc = "its norms: before a sub-layer, behind it, or both (sandwich)")
CALC_TABLE_ROW(encoder, position_type, ENUM, position_type, .flags = CALC_OPTIONAL, .doc = "rope: rotary positions; a learned table is `positions`")
CALC_TABLE_ROW(encoder, bias,          ENUM, choice, .flags = CALC_OPTIONAL, .doc = "matrices of its blocks with biases; auto: true")
CALC_TABLE_ROW(encoder, qk_norm,       BOOL, _, .flags = CALC_OPTIONAL, .doc = "queries and keys are normalized per head")
CALC_TABLE_ROW(encoder, window,        INT,  _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "patches", .doc = "patches of a window that attend to one another, in all blocks but full_blocks; 0: all of an image do")
CALC_TABLE_ROW(encoder, full_blocks,   INT,  _, .lo = 0, .hi = 1e4, .flags = CALC_OPTIONAL, .unit = "blocks", .doc = "with a window: blocks without")
CALC_TABLE_ROW(encoder, patch_values,  INT,  _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "numbers that a patch is made of: channels * height * width * frames")
CALC_TABLE_ROW(encoder, positions,     INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "rows of a learned table of positions; 0: none")
CALC_TABLE_ROW(encoder, patches,       INT,  _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "patches of an image where the layout says none; 0: a layout has to")
CALC_TABLE_ROW(encoder, merge,         INT,  _, .lo = 0, .hi = 1e4, .flags = CALC_OPTIONAL, .doc = "patches that are side by side in one token behind the encoder; 0 means 1")
CALC_TABLE_ROW(encoder, pool,          INT,  _, .lo = 0, .hi = 1e4, .flags = CALC_OPTIONAL, .doc = "patches whose mean is one token behind the encoder; 0 means 1")
CALC_TABLE_ROW(encoder, merge_matrix,  BOOL, _, .flags = CALC_OPTIONAL, .doc = "a matrix brings merged patches back to hidden before the projector")
CALC_TABLE_ROW(encoder, projector_layers, INT, _, .lo = 0, .hi = 100, .flags = CALC_OPTIONAL, .doc = "hidden layers of the projector from merged patches to the model's width")
CALC_TABLE_ROW(encoder, projector_width, INT, _, .lo = 0, .hi = 1e7, .flags = CALC_OPTIONAL, .doc = "their width; 0: the model's")
CALC_TABLE_ROW(encoder, projector_bias, BOOL, _, .flags = CALC_OPTIONAL, .doc = "matrices of the projector with biases")
CALC_TABLE_ROW(encoder, projectors,    INT,  _, .lo = 0, .hi = 100, .flags = CALC_OPTIONAL, .doc = "projectors, each behind a block of its own (deepstack); 0 means 1")
CALC_TABLE_ROW(encoder, other_weights, INT,  _, .lo = 0, .hi = 1e12, .flags = CALC_OPTIONAL, .doc = "weights beside all of that, as norms at its ends")
CALC_END(encoder, "encoder")

/** Matrix multiplications of serving. With memory_efficiency: fixed + inner K + ((arithmetic / efficiency)^3 + (traffic / memory_efficiency)^3)^(1/3),
 *  both at peak rates, plus the conversion of inputs to 8 or 4 bits. Scales of blocks are computed for every input, scales of tensors are known before. */
CALC_TABLE(serving_matrix, "serving matrix")
CALC_TABLE_ROW(serving_matrix, memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth at which weights are read; 0: as in training")
CALC_TABLE_ROW(serving_matrix, fixed_s,         REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_TABLE_ROW(serving_matrix, inner_s,         REAL, _, .key = "inner", .lo = 0, .hi = 1e-3, .flags = CALC_OPTIONAL, .unit = "s", .doc = "time per element of the inner size")
CALC_TABLE_ROW(serving_matrix, quantize_s,      REAL, _, .key = "quantize", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of converting inputs to 8 or 4 bits with block scales; with tensor scales the kernel before does it")
CALC_TABLE_ROW(serving_matrix, efficiency,      REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the peak of arithmetic; 0 means 1")
CALC_TABLE_ROW(serving_matrix, efficiency_8bit, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the same in 8 bits; 0: efficiency")
CALC_TABLE_ROW(serving_matrix, block_scaled_efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the same in 8 bits with block scales; 0: efficiency_8bit")
CALC_TABLE_ROW(serving_matrix, efficiency_4bit, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the same in 4 bits; 0: efficiency")
CALC_TABLE_ROW(serving_matrix, unpacked_efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the same where narrow weights are unpacked to the 16 bits of their inputs; 0: as where they are not narrow")
CALC_TABLE_ROW(serving_matrix, unpacked_memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth at which such weights are read; 0: memory_efficiency")
CALC_END(serving_matrix, "serving matrix")

/** Attention of decoded tokens. With memory_efficiency: fixed + growth S / (S + 1000) + ((arithmetic / efficiency)^3 + (traffic /
 *  memory_efficiency)^3)^(1/3) for S cached tokens. */
CALC_TABLE(serving_decode, "serving decode")
CALC_TABLE_ROW(serving_decode, memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth at which the cache is read; 0: as in training")
CALC_TABLE_ROW(serving_decode, fixed_s,    REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_TABLE_ROW(serving_decode, growth_s,   REAL, _, .key = "growth", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added with a long cache, half of it at 1,000 tokens")
CALC_TABLE_ROW(serving_decode, efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the peak of arithmetic; 0 means 1")
CALC_END(serving_decode, "serving decode")

/** Attention of prompts in serving. With memory_efficiency: fixed + arithmetic / efficiency + traffic / memory_efficiency. */
CALC_TABLE(serving_prefill, "serving prefill")
CALC_TABLE_ROW(serving_prefill, memory_efficiency, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth; above 1 where the second-level cache holds a prompt; 0: as in training")
CALC_TABLE_ROW(serving_prefill, fixed_s,      REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one call")
CALC_TABLE_ROW(serving_prefill, efficiency,   REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "causal arithmetic of heads of 128: share of the peak; 0 means 1")
CALC_TABLE_ROW(serving_prefill, efficiency_8bit, REAL, _, .lo = 1e-6, .hi = 2, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the peak in 8 bits, of engines whose latent attention of prompts has as many as the cache (narrow_prompts); 0: no faster than 16 bits")
CALC_TABLE_ROW(serving_prefill, softmax_size, REAL, _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "cost of the exponential of a score, as extra width of a head; small heads run slower")
CALC_END(serving_prefill, "serving prefill")

/** Elementwise kernels of serving. With memory_efficiency: fixed + traffic / memory_efficiency. */
CALC_TABLE(serving_vector, "serving vector")
CALC_TABLE_ROW(serving_vector, memory_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory bandwidth; 0: as in training, states as decode")
CALC_TABLE_ROW(serving_vector, fixed_s, REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one, a part of that of the kernel it is fused into")
CALC_END(serving_vector, "serving vector")

/** All-reduce of small buffers inside a node. Over N ranks. With one_shot_efficiency: fixed + doubling log2 N and the smaller of one shot, in which every
 *  rank reads the buffers of all others, and two shots, in which it reads its part of them and then the sums of the others. */
CALC_TABLE(serving_all_reduce, "serving all reduce")
CALC_TABLE_ROW(serving_all_reduce, one_shot_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the network's bandwidth in one shot; 0: as in training")
CALC_TABLE_ROW(serving_all_reduce, fixed_s,    REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one operation")
CALC_TABLE_ROW(serving_all_reduce, doubling_s, REAL, _, .key = "doubling", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per doubling of the ranks")
CALC_TABLE_ROW(serving_all_reduce, two_shot_efficiency, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "the share in two shots; 0: one_shot_efficiency")
CALC_TABLE_ROW(serving_all_reduce, two_shot_s, REAL, _, .key = "two_shot", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added by the second shot")
CALC_END(serving_all_reduce, "serving all reduce")

/** Latency of a collective operation of serving. Over N ranks: fixed + doubling log2 N, in place of the latency of training's operations where either is
 *  given. */
CALC_TABLE(serving_latency, "serving latency")
CALC_TABLE_ROW(serving_latency, fixed_s,    REAL, _, .key = "fixed", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "fixed time of one operation")
CALC_TABLE_ROW(serving_latency, doubling_s, REAL, _, .key = "doubling", .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .unit = "s", .doc = "added per doubling of the ranks")
CALC_END(serving_latency, "serving latency")

/** What a pass of serving takes, where it differs from training. Kernels of serving engines, replayed as a graph. Absent values are those of training. */
CALC_TABLE(serving_rates, "serving rates")
CALC_TABLE_ROW(serving_rates, matrix,     OBJECT, serving_matrix, .flags = CALC_OPTIONAL, .doc = "matrix multiplications")
CALC_TABLE_ROW(serving_rates, grouped,    OBJECT, serving_matrix, .flags = CALC_OPTIONAL, .doc = "grouped multiplications of experts, with routing, sorting and weighting of their tokens")
CALC_TABLE_ROW(serving_rates, decode,     OBJECT, serving_decode, .flags = CALC_OPTIONAL, .doc = "attention of decoded tokens, with the sum over its parts")
CALC_TABLE_ROW(serving_rates, prefill,    OBJECT, serving_prefill, .flags = CALC_OPTIONAL, .doc = "attention of prompts")
CALC_TABLE_ROW(serving_rates, state,      OBJECT, serving_vector, .flags = CALC_OPTIONAL, .doc = "states of linear mixers, read and written for decoded tokens, with their convolution; absent: as decode")
CALC_TABLE_ROW(serving_rates, vector,     OBJECT, serving_vector, .flags = CALC_OPTIONAL, .doc = "norms, activations and other elementwise kernels, fused with their neighbours")
CALC_TABLE_ROW(serving_rates, all_reduce, OBJECT, serving_all_reduce, .flags = CALC_OPTIONAL, .doc = "the engines' own all-reduce over the first network; where the collective library's is faster, that one is used")
CALC_TABLE_ROW(serving_rates, collective, OBJECT, serving_latency, .flags = CALC_OPTIONAL, .doc = "operations of the collective library over the first network")
CALC_TABLE_ROW(serving_rates, exchange,   OBJECT, serving_latency, .flags = CALC_OPTIONAL, .doc = "all-to-alls, as of the dispatch and combine of experts, over all networks")
CALC_END(serving_rates, "serving rates")
/* clang-format on */
