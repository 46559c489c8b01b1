/** @file encoder.h  An encoder of images in front of a model: patches become vectors, a stack of
 *  blocks in which the patches of an image attend to one another, and a projector whose results
 *  take the place of tokens. It is on the first stage, whole on every rank of tensor and context
 *  parallelism. Sources: Dosovitskiy et al. 2021 (ViT, arXiv 2010.11929), Liu et al. 2023 (LLaVA,
 *  arXiv 2304.08485); docs/models.md, Images. */
#ifndef CALC_MODEL_ENCODER_H
#define CALC_MODEL_ENCODER_H

#include "model/operators/build.h"

/** The part of a layer that its operators say they belong to. */
extern const char calc_encoder_part[];

/** Append its operators, with weights that are not trained frozen; nothing where the model has
 *  none. Without images in a sequence they have weights and no work.
 *  @param recipe  of the model's blocks @param begun  operators that are in `out`
 *  @return the number of all */
size_t calc_encoder_list(const calc_recipe *recipe, size_t begun, calc_operator *out);

/** Activations that full recomputation stores of the images of a micro-batch: the input of every
 *  block [bytes]; 0 where nothing passes backward. */
double calc_encoder_checkpoint_bytes(const calc_shape *shape, const calc_strategy *strategy);

/** Patches of an image. */
double calc_encoder_patches(const calc_encoder *encoder, const calc_strategy *strategy);

/** Weights, with those of the projector.
 *  @param trained  those alone that the strategy trains */
double calc_encoder_weights(const calc_shape *shape, const calc_strategy *strategy, bool trained);

/** Arithmetic of the images of one sequence, without recomputation [FLOP]: forward, and twice that
 *  for what is trained. */
double calc_encoder_flop(const calc_shape *shape, const calc_strategy *strategy, bool training);

#endif
