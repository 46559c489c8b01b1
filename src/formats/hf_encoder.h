/** @file hf_encoder.h  Encoders of images in configurations of Hugging Face (vision_config): kinds
 *  of towers are rows, with what their configurations do not say. */
#ifndef CALC_FORMATS_HF_ENCODER_H
#define CALC_FORMATS_HF_ENCODER_H

#include "formats/hf.h"

/** Length of the prefix of keys about images, as "vision_config."; 0: the key is not of them. */
size_t calc_hf_encoder_prefix(const char *key);

/** Reads the encoder. A tower of a kind that is not known is left out, with a remark. Errors have
 *  their place. */
CALC_MUST_USE calc_status calc_hf_encoder_read(const calc_hf *hf, calc_app *app,
                                               calc_errors *errors);

#endif
