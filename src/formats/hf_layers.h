/** @file hf_layers.h  The layers of a Hugging Face configuration: which mixer and which
 * feed-forward part each has. */
#ifndef CALC_FORMATS_HF_LAYERS_H
#define CALC_FORMATS_HF_LAYERS_H

#include "formats/hf_model.h"

/* Short forms for functions that are given what a configuration says, `s`. */
#define GET(name, absent) calc_hf_get(s, CALC_HF_##name, (double)(absent))
#define SAYS(name) (!isnan(s->value[CALC_HF_##name]))
#define COUNT(name) ((int64_t)GET(name, 0))
#define YES(name) (GET(name, 0) > 0)

/** The layers that the first list of layers of a configuration has; 0: it has no list. */
int64_t calc_hf_listed(const calc_hf_said *said);

/** Sets the layers of a model whose other fields are set: by dense_blocks, moe_every, window_size
 *  and global_every where they say them exactly, else by parts and a list of layers.
 *  @return CALC_OK, or CALC_ERR_RANGE, CALC_ERR_RULE or CALC_ERR_UNSUPPORTED with an error that
 *  names the key and its place */
CALC_MUST_USE calc_status calc_hf_layers(const calc_hf_said *said, calc_app *app,
                                         calc_errors *errors);

#endif
