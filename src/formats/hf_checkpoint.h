/** @file hf_checkpoint.h  Number formats of published weights: "quantization_config" of a Hugging
 *  Face configuration, and hf_quant_config.json beside it. */
#ifndef CALC_FORMATS_HF_CHECKPOINT_H
#define CALC_FORMATS_HF_CHECKPOINT_H

#include "formats/hf.h"

/** Whether a key belongs to such a description, which other readers pass over. */
bool calc_hf_checkpoint_has(const char *key);

/** Reads the formats, with what the lists of modules that stay wide say of attention. Formats that
 *  differ between layers are left open, with a remark; so are, narrowed here, the wide parts that a
 *  layout cannot say.
 *  @param app  the model, whose `checkpoint` is set
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED with an error that names the key of a method, an algorithm
 *  or a width that calc does not know; CALC_ERR_SYNTAX, CALC_ERR_IO or CALC_ERR_NOMEM of the file
 *  beside it */
CALC_MUST_USE calc_status calc_hf_checkpoint_read(const calc_hf *hf, calc_app *app,
                                                  calc_errors *errors);

#endif
