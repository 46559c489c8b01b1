/* Rows of the parts of calc_job: the includer defines CALC_JOB_PART_<part> for the one it wants. */
/* clang-format off */
#ifdef CALC_JOB_PART_RESPONSE
CALC_FIELD(mean,         REAL, _, .lo = 1, .hi = 1e7, .absent = 1024, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "mean length of the responses that a step trains on")
CALC_FIELD(cv,           REAL, _, .lo = 0, .hi = 10, .absent = CALC_JOB_CV, .flags = CALC_OPTIONAL, .doc = "standard deviation over mean of the log-normal distribution that is cut at the cap; 0: all are equal")
CALC_FIELD(cap,          INT,  _, .lo = 0, .hi = 1e7, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "longest response that is allowed; 0: none")
CALC_FIELD(share_at_cap, REAL, _, .lo = 0, .hi = 1, .absent = 0, .flags = CALC_OPTIONAL | CALC_BELOW_HI, .doc = "share of the responses that reach the cap; 0: what the distribution says")
#endif
#ifdef CALC_JOB_PART_LENGTHS
CALC_FIELD(prompt,       INT,  _, .lo = 1, .hi = 1e7, .absent = 256, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "mean length of the prompts")
CALC_FIELD(response,     OBJECT, job_response, .flags = CALC_OPTIONAL, .doc = "lengths of the responses")
#endif
#ifdef CALC_JOB_PART_REWARD
CALC_FIELD(time_s,       REAL, _, .key = "seconds", .lo = 0, .hi = 1e6, .flags = CALC_OPTIONAL, .unit = "s", .doc = "time to score a response by rules or programs")
CALC_FIELD(parallel,     INT,  _, .lo = 1, .hi = 1e9, .absent = 64, .flags = CALC_OPTIONAL, .doc = "responses that are scored at once")
CALC_FIELD(overlapped,   BOOL, _, .flags = CALC_OPTIONAL, .doc = "responses are scored while others are generated")
#endif
#ifdef CALC_JOB_PART_POOL
CALC_FIELD(name,         NOTE, _, .doc = "what roles call it")
CALC_FIELD(system,       NOTE, _, .flags = CALC_OPTIONAL, .doc = "its machine; absent: SYS of the command line")
CALC_FIELD(chips,        INT,  _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .doc = "processors; 0: --procs less those of the other pools")
#endif
#ifdef CALC_JOB_PART_ROLE
CALC_FIELD(like,         NOTE, _, .flags = CALC_OPTIONAL, .doc = "the role that it has model, pool and execution of; absent: actor, whose execution the rollout does not share")
CALC_FIELD(model,        NOTE, _, .flags = CALC_OPTIONAL, .doc = "its model; absent: that of the role that it is like, APP of the command line")
CALC_FIELD(pool,         NOTE, _, .flags = CALC_OPTIONAL, .doc = "where it runs; absent: as the role that it is like, the first pool")
CALC_FIELD(execution,    NOTE, _, .flags = CALC_OPTIONAL, .doc = "its layout: a name, a path or an object of fields; what it leaves out is as in the layout that calc sweep would start with")
CALC_FIELD(micro_tokens,   INT, _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "tokens of a micro-batch of a replica that trains; 0: microbatch_size sequences of mean length")
CALC_FIELD(forward_tokens, INT, _, .lo = 0, .hi = 1e9, .flags = CALC_OPTIONAL, .unit = "tokens", .doc = "tokens of a micro-batch of a pass without gradients; 0: micro_tokens")
CALC_FIELD(offload,      SET, job_offload, .flags = CALC_OPTIONAL, .doc = "what is moved to the host while other roles of its pool run; absent: all of a role that is not trained, and of one that is beside engines")
CALC_FIELD(memory_share, REAL, _, .lo = 1e-3, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "share of the memory that the engine takes; 0: 0.9 of what the other roles leave")
CALC_FIELD(sleep,        INT,  _, .lo = 0, .hi = 2, .absent = 2, .flags = CALC_OPTIONAL, .doc = "what the engine frees while others run: 0: nothing; 1: the cache, and weights to the host; 2: both, and weights come back with the sync")
#endif
#ifdef CALC_JOB_PART_ROLES
CALC_FIELD(actor,        OBJECT, job_role, .flags = CALC_OPTIONAL, .doc = "the model that is trained")
CALC_FIELD(rollout,      OBJECT, job_role, .flags = CALC_OPTIONAL, .doc = "the engines that generate responses")
CALC_FIELD(reference,    OBJECT, job_role, .flags = CALC_OPTIONAL, .doc = "the model that the actor is held near to")
CALC_FIELD(critic,       OBJECT, job_role, .flags = CALC_OPTIONAL, .doc = "the model that estimates values, and is trained")
CALC_FIELD(reward,       OBJECT, job_role, .flags = CALC_OPTIONAL, .doc = "a model that scores responses")
CALC_FIELD(teacher,      OBJECT, job_role, .flags = CALC_OPTIONAL, .doc = "the model that is distilled")
#endif
#ifdef CALC_JOB_PART_SYNC
CALC_FIELD(method,       ENUM, job_sync_method, .flags = CALC_OPTIONAL, .doc = "auto: buckets, by memory handles inside a pool and by broadcast between pools")
CALC_FIELD(bucket_bytes, INT,  _, .lo = 1, .hi = 1e12, .absent = 536870912, .flags = CALC_OPTIONAL, .unit = "bytes", .doc = "size of a bucket")
CALC_FIELD(format,       ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format that is sent; auto: that of the engine's weights")
CALC_FIELD(adapters,     BOOL, _, .flags = CALC_OPTIONAL, .doc = "of an actor whose adapters are trained only these are sent, and engines compute them beside the weights; false: they are merged into the weights, which are sent")
#endif
/* clang-format on */
