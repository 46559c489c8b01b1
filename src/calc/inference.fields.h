/* Rows of calc_inference: what is served, instead of a step of training. */
/* clang-format off */
CALC_FIELD(phase,               ENUM, inference_phase, .flags = CALC_OPTIONAL, .doc = "none: one forward pass of the batch; prefill: prompts alone; decode: tokens alone; serve: both on the same processors; disaggregated: prompts on prefill_procs, tokens on num_procs")
CALC_FIELD(prompt_size,         INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "length of a prompt; 0: the sequence length")
CALC_FIELD(generate_size,       INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "tokens generated per request")
CALC_FIELD(batch,               INT,  _, .lo = 0, .hi = 1e12, .flags = CALC_OPTIONAL, .doc = "requests in flight on all replicas: prompts to prefill, or sequences decoded together; 0: batch_size")
CALC_FIELD(prefill_batch,       INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "prompts a replica prefills in one pass; 0: 1")
CALC_FIELD(chunk_size,          INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "tokens of a prompt per pass; serve: beside the decoded ones; 0: whole prompts, in passes of their own")
CALC_FIELD(kv_datatype,         ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format of cached keys and values; auto: datatype")
CALC_FIELD(page_size,           INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "tokens per page of the cache; 0: 1")
CALC_FIELD(prefix_hit,          REAL, _, .lo = 0, .hi = 1, .flags = CALC_OPTIONAL | CALC_BELOW_HI, .doc = "share of a prompt whose keys and values are cached already, in whole pages")
CALC_FIELD(speculative_tokens,  INT,  _, .lo = 0, .hi = 1000, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "drafted tokens that a step verifies beside the next one")
CALC_FIELD(speculative_accept,  REAL, _, .lo = 0, .hi = 1, .flags = CALC_OPTIONAL, .doc = "probability that a drafted token is accepted when those before it are")
CALC_FIELD(speculative_cost,    REAL, _, .lo = 1e-6, .hi = 10, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "time of drafting one token over that of a step without drafts; 0: that of the model's own prediction block (app.mtp_blocks), or nothing")
CALC_FIELD(step_overhead_s,     REAL, _, .key = "step_overhead", .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .unit = "s", .doc = "time of the engine between steps: scheduling, sampling")
CALC_FIELD(prefill_procs,       INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "disaggregated: processors of the prefill pool, beside num_procs; data_par_net carries the cache between the pools, or with rank_order the first network that connects both")
CALC_FIELD(prefill_tensor_par,  INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "disaggregated: tensor parallelism of the prefill pool; 0: tensor_par")
CALC_FIELD(prefill_expert_par,  INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "disaggregated: expert parallelism of the prefill pool; 0: expert_par")
/* clang-format on */
