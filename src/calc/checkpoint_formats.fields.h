/* Rows of calc_checkpoint_formats: the number formats of a model's published weights. */
/* clang-format off */
CALC_FIELD(weight_datatype, ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format of the weights; auto: not said")
CALC_FIELD(matrix_datatype, ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format that they are multiplied in, where the machine has it; auto: datatype")
CALC_FIELD(scaling,         ENUM, scaling, .flags = CALC_OPTIONAL, .doc = "scales of what is multiplied: one per tensor or one per block")
CALC_FIELD(kv_datatype,     ENUM, format, .flags = CALC_OPTIONAL, .doc = "number format of cached keys and values; auto: not said")
CALC_FIELD(wide_attention,  ENUM, wide_attention, .flags = CALC_OPTIONAL, .doc = "matrices of attention that are not narrowed: none, its inputs' (queries, keys, values), or all")
/* clang-format on */
