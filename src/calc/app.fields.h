/* Rows of calc_app: the model that is trained or served. See src/README.md on how rows work. */
/* clang-format off */
CALC_FIELD(hidden,         INT,  _, .lo = 1, .hi = 1e9, .doc = "width of the residual stream, in elements")
CALC_FIELD(feedforward,    INT,  _, .lo = 1, .hi = 1e9, .doc = "width of the feed-forward layer, in elements")
CALC_FIELD(seq_size,       INT,  _, .lo = 1, .hi = 1e9, .doc = "sequence length, in tokens")
CALC_FIELD(attn_heads,     INT,  _, .lo = 1, .hi = 1e6, .doc = "attention heads")
CALC_FIELD(attn_size,      INT,  _, .lo = 1, .hi = 1e6, .doc = "width of one attention head, in elements")
CALC_FIELD(num_blocks,     INT,  _, .lo = 1, .hi = 1e6, .doc = "transformer blocks")
CALC_FIELD(structure_type, ENUM, structure_type, .flags = CALC_OPTIONAL, .doc = "preset of the block's structure; llama is not modelled yet")
CALC_FIELD(source,         NOTE, _, .flags = CALC_OPTIONAL, .doc = "where the numbers come from")
/* clang-format on */
