/* Rows of calc_engine_traits: the overhead of a serving engine on top of the model. */
/* clang-format off */
CALC_FIELD(host_s,          REAL, _, .key = "host", .lo = 1e-9, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "time of the host for a step: scheduling, inputs, sampling, answers; 0: the engine's")
CALC_FIELD(host_sequence_s, REAL, _, .key = "host_sequence", .lo = 1e-9, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "added per sequence of the step; 0: the engine's")
CALC_FIELD(host_growth,     REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "growth of both per doubling of tensor parallelism, whose ranks are a process each; 0: the engine's")
CALC_FIELD(issue_s,         REAL, _, .key = "issue", .lo = 1e-9, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "time of the host to issue a block of a pass with prompts, which no graph replays: such a pass takes no less; 0: the engine's")
CALC_FIELD(issue_moe_s,     REAL, _, .key = "issue_moe", .lo = 1e-9, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "added for a block with experts; 0: the engine's")
CALC_FIELD(request_s,       REAL, _, .key = "request", .lo = 1e-9, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "time of a request before its prefill and behind it: server, tokens from text, first answer; 0: the engine's")
CALC_FIELD(gap_s,           REAL, _, .key = "gap", .lo = 1e-9, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .unit = "s", .doc = "time between steps, which the processors wait in any case; 0: the engine's")
CALC_FIELD(matrix_share,    REAL, _, .lo = 1e-3, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the arithmetic rate of the machine's kernels of serving that the engine's own reach; 0: the engine's, or 1")
CALC_FIELD(cache_share,     REAL, _, .lo = 1e-3, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "likewise, of the bandwidth to the cache")
CALC_FIELD(experts_undivided, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .equation = "work of n ranks that share experts = that of one / n * (1 + experts_undivided * (n - 1))", .source = "Amdahl 1967 (AFIPS 30, 483)", .doc = "share of the arithmetic of experts that ranks do not divide among them: all wait for the busiest, and kernels go over the tokens of others, too; 0: the engine's")
CALC_FIELD(handover_steps,  REAL, _, .lo = 1e-6, .hi = 1e3, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "steps of a replica that decodes until it takes a request of another pool, whose cache it makes room for, asks for and looks for between them; 0: the engine's")
CALC_FIELD(overlapped,      BOOL, _, .flags = CALC_OPTIONAL, .doc = "the host works for the next step while this one runs, whatever the engine does: a request that comes as one begins misses the next, too")
CALC_FIELD(gathers,         BOOL, _, .flags = CALC_OPTIONAL, .doc = "prompts are held (hold_steps) until every replica has one, not looked for at times, whatever the engine does")
CALC_FIELD(narrow_prompts,  BOOL, _, .flags = CALC_OPTIONAL, .doc = "latent attention of prompts computes in 8 bits where the cache has 8 bits, whatever the engine does")
CALC_FIELD(fused_recurrence, BOOL, _, .flags = CALC_OPTIONAL, .doc = "recurrences of delta rules of prompts run as one kernel, which keeps what is between its ends on the chip, whatever the engine does")
/* clang-format on */
