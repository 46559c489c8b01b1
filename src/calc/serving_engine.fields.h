/* Rows of calc_serving_engine beside its traits: what an engine is, and its limits. */
/* clang-format off */
CALC_FIELD(program,         ENUM, serving_program, .flags = CALC_OPTIONAL, .doc = "program that it is a version of, by whose rules it starts a layout; other: by none")
CALC_FIELD(platform,        ENUM, platform, .flags = CALC_OPTIONAL, .doc = "platform that it runs on, or whose runs alone say how it is; any: all of them")
CALC_FIELD(since,           INT,  _, .lo = 200001, .hi = 999912, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "month it came in, 100 * year + month: a run of that month is of it where no version is said")
CALC_FIELD(memory_taken,    ENUM, memory_taken, .flags = CALC_OPTIONAL, .doc = "what inference.memory_share is a share of: all, of the memory for everything; static, of the memory for weights and cache; free, of what all but the cache leaves")
CALC_FIELD(memory_share,    REAL, _, .lo = 1e-3, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "that share where a layout says none; 0: all of it")
CALC_FIELD(unmixed,         BOOL, _, .flags = CALC_OPTIONAL, .doc = "prompts run in steps of their own between those of the others, not beside them")
CALC_FIELD(reserves,        BOOL, _, .flags = CALC_OPTIONAL, .doc = "a request is admitted where the cache has room to its end; otherwise to its mean length")
CALC_FIELD(compiled,        BOOL, _, .flags = CALC_OPTIONAL, .source = "torch.compile of vLLM since 0.8; TensorRT", .doc = "compiled code issues the kernels of prompts, not an interpreter: calc calibrate looks for issue up to 12 us only")
CALC_FIELD(max_sequences,   INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "sequences that a replica runs at once unless it is told; 0: as many as the cache holds")
CALC_FIELD(small_sequences, INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "that number on processors with less than 70 GiB; 0: the same")
CALC_FIELD(small_chunk,     INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "tokens of prompts in a step on processors with less than 70 GiB unless it is told; 0: as on others")
/* clang-format on */
