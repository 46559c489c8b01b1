/** @file format.h  Number formats: of stored or sent data, and of arithmetic in an engine. */
#ifndef CALC_SPEC_FORMAT_H
#define CALC_SPEC_FORMAT_H

#include "calc.h"

/** Bytes of one number in an engine's datatype; 2 for 4-bit datatypes, which only matrices have. */
double calc_datatype_bytes(calc_datatype datatype);

/** Bytes of one number; 0 for auto. Numbers of 4 bits have a scale of 8 bits for every 16 of them
 *  (NVFP4), or of 16 for every 32. */
double calc_format_bytes(calc_format format);

/** The same where numbers of 8 bits may have scales of blocks: 8 bits for 32 of them (MXFP8). */
double calc_format_scaled_bytes(calc_format format, bool blocks);

/** The same, `otherwise` for auto. */
double calc_format_bytes_or(calc_format format, double otherwise);

/** Bytes of one stored weight with its scales (weight_scale_bits); `otherwise` for auto. */
double calc_format_weight_bytes(const calc_strategy *strategy, double otherwise);

/** The format of stored inputs of matrix multiplications; auto: datatype. Transformer Engine keeps
 *  the narrowed input (module/linear.py, saved_inputmat), torchao the one before
 *  (float8_linear.py). Which of the two it is also says whether narrowed weights stay:
 *  calc_state_bytes.copied. */
calc_format calc_format_stored(const calc_strategy *strategy);

/** Bytes of one frozen weight with its scales; `otherwise` for auto. Those of NF4 have a scale of
 * 32 bits for every 64 numbers, or of 8 bits, and one of 32 for every 256 of these (QLoRA, arXiv
 *  2305.14314). */
double calc_format_frozen_bytes(calc_frozen_datatype format, double otherwise);

/** Whether frozen weights are widened to datatype before they are multiplied: in formats that no
 *  engine has, and in those that matrix_datatype does not name. */
bool calc_format_is_widened(const calc_strategy *strategy);

/** The engine's datatype of a format, `otherwise` for auto. */
calc_datatype calc_format_datatype(calc_format format, calc_datatype otherwise);

/* Number formats that a layout that serves has from the model's
 * published weights (app.checkpoint). */

/** Give a layout that serves the formats that it does not say itself: of the cache, and, unless it
 *  has other weights, those of the weights with the matrices of attention that stay wide. They are
 *  multiplied in the checkpoint's format, with its scales, where every machine has it, and in the
 *  layout's datatype elsewhere. A layout that trains, or serves nothing, is left as it is.
 *  @param system  NULL: one that multiplies in every format */
void calc_checkpoint_formats_take(const calc_app *app, const calc_system *system, calc_exec *exec);

#endif
