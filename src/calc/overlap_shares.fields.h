/* Rows of calc_overlap_shares: how much of the communication each mechanism hides. */
/* clang-format off */
CALC_FIELD(tensor_par_fused, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of tensor-parallel communication fused into kernels; 0: 0.8")
CALC_FIELD(tensor_par_async, REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of the backward pass's, asynchronous; 0: 0.5")
CALC_FIELD(data_par,         REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of the computation that gradients and weights may hide behind; 0: 0.7")
CALC_FIELD(expert_par,       REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of the all-to-all of experts, with expert_par_overlap; 0: 0.6")
CALC_FIELD(pipeline_par,     REAL, _, .lo = 1e-6, .hi = 1, .flags = CALC_OPTIONAL | CALC_OR_ZERO, .doc = "of messages between stages, with pipeline_par_overlap; 0: 0.85")
CALC_FIELD(contention,       REAL, _, .lo = 0, .hi = 10, .flags = CALC_OPTIONAL, .doc = "time computation loses per second of communication beside it")
/* clang-format on */
