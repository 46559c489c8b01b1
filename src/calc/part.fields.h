/* Rows of calc_part beside those it shares with the model (CALC_PART_FIELD in app.fields.h): fields
 * of single mixers. */
/* clang-format off */
CALC_FIELD(kv_shared,    BOOL, _, .flags = CALC_OPTIONAL, .doc = "reads keys and values of an earlier layer: no projection of them, no cache")
CALC_FIELD(chunk_size,   INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "a token attends within its chunk of so many; 0: no chunks")
CALC_FIELD(index_shared, BOOL, _, .flags = CALC_OPTIONAL, .doc = "takes the keys that an earlier layer chose: no indexer of its own")
CALC_FIELD(compress_ratio, INT, _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "compressed: tokens behind the window whose keys are one entry; 0: nothing behind the window")
CALC_FIELD(output_groups, INT, _, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "compressed: groups of heads whose output is projected on its own")
CALC_FIELD(output_lora_rank, INT, _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "compressed: width that each group is projected to; 0: one projection")
CALC_FIELD(linear_key_heads, INT, _, .key = "key_heads", .also = {"groups"}, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "gated_delta: key heads; mamba2: groups that share B and C")
CALC_FIELD(linear_key_size, INT, _, .key = "key_size", .also = {"state"}, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "gated_delta: width of a key head; mamba1, mamba2: size of the state")
CALC_FIELD(linear_value_heads, INT, _, .key = "value_heads", .also = {"heads"}, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "gated_delta, kimi_delta, lightning, mamba2: heads")
CALC_FIELD(linear_value_size, INT, _, .key = "value_size", .also = {"head_size"}, .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "gated_delta, kimi_delta, lightning, mamba2: width of a head; mamba1: all channels")
CALC_FIELD(linear_conv,  INT,  _, .key = "conv", .lo = 0, .hi = 64, .flags = CALC_OPTIONAL, .doc = "tokens that the causal convolution of a linear mixer spans; 0: no convolution")
CALC_FIELD(linear_chunk, INT,  _, .key = "chunk", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "tokens that a linear mixer's kernels take at once; 0: 128 for mamba2, 64 for delta rules, 256 for lightning")
CALC_FIELD(linear_rank,  INT,  _, .key = "rank", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .doc = "kimi_delta: width of the output gate's low-rank projection, 0: a whole matrix; mamba1: rank of the step size")
CALC_FIELD(linear_whole_decay, BOOL, _, .key = "whole_decay", .flags = CALC_OPTIONAL, .doc = "kimi_delta: the decay is of a whole matrix, not of one as narrow as a head")
CALC_FIELD(linear_norm,  ENUM, choice, .key = "norm", .flags = CALC_OPTIONAL, .doc = "norm of a linear mixer's output, and of mamba1's projections; auto: true, but false for mamba1")
/* clang-format on */
