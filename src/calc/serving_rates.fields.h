/* Rows of calc_serving_rates: kernels of serving engines, replayed as a graph. Absent values are
 * those of training. */
/* clang-format off */
CALC_FIELD(matrix,     OBJECT, serving_matrix, .flags = CALC_OPTIONAL, .doc = "matrix multiplications")
CALC_FIELD(grouped,    OBJECT, serving_matrix, .flags = CALC_OPTIONAL, .doc = "grouped multiplications of experts, with routing, sorting and weighting of their tokens")
CALC_FIELD(decode,     OBJECT, serving_decode, .flags = CALC_OPTIONAL, .doc = "attention of decoded tokens, with the sum over its parts")
CALC_FIELD(prefill,    OBJECT, serving_prefill, .flags = CALC_OPTIONAL, .doc = "attention of prompts")
CALC_FIELD(state,      OBJECT, serving_vector, .flags = CALC_OPTIONAL, .doc = "states of linear mixers, read and written for decoded tokens, with their convolution; absent: as decode")
CALC_FIELD(vector,     OBJECT, serving_vector, .flags = CALC_OPTIONAL, .doc = "norms, activations and other elementwise kernels, fused with their neighbours")
CALC_FIELD(all_reduce, OBJECT, serving_all_reduce, .flags = CALC_OPTIONAL, .doc = "the engines' own all-reduce over the first network; where the collective library's is faster, that one is used")
CALC_FIELD(collective, OBJECT, serving_latency, .flags = CALC_OPTIONAL, .doc = "operations of the collective library over the first network")
CALC_FIELD(exchange,   OBJECT, serving_latency, .flags = CALC_OPTIONAL, .doc = "all-to-alls, as of the dispatch and combine of experts, over all networks")
/* clang-format on */
