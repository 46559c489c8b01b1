/** @file placed_layers.h  Stages of layers that are listed (calc_exec.layers): their parts, each of
 *  a recipe, and sums over the parts. For placed.c, which has stages of one recipe. */
#ifndef CALC_MODEL_STAGES_PLACED_LAYERS_H
#define CALC_MODEL_STAGES_PLACED_LAYERS_H

#include "model/stages/placed.h"

/** Blocks of each kind among `blocks` that follow `before` others: the first of the model are
 * dense, or the kinds take turns. */
void calc_placed_kinds(const calc_shape *shape, double before, double blocks, double *dense,
                       double *moe);

/** The recipe of an execution on a chip, made if it is new. */
size_t calc_placed_recipe(calc_placed *p, int chip, const calc_exec *exec, calc_compat compat,
                          const calc_kernel_table *measured);

/** Lay the layers of the list along the chunks, whose blocks are known.
 *  @param chip  of every stage, as in calc_stage_run */
void calc_placed_layers(calc_placed *p, const int *chip, calc_compat compat,
                        const calc_kernel_table *measured);

/** Passes over the parts of a chunk, and rearranging of activations between them; no messages. */
calc_stage_pass calc_placed_layers_pass(const calc_placed *p, const calc_placed_chunk *chunk);

/** Activations of a micro-batch in a chunk, without the head [bytes]. */
double calc_placed_layers_bytes(const calc_placed *p, const calc_placed_chunk *chunk);

/** Memory of a stage: states and activations of all parts, and the largest block being processed;
 *  chunks are treated as equal. */
calc_stage_memory calc_placed_layers_memory(const calc_placed *p, const calc_placed_stage *at);

/** Gradients and weights of all parts, behind the passes of the whole stage. */
calc_stage_reduction calc_placed_layers_reduction(const calc_placed *p, const calc_placed_stage *at,
                                                  const calc_stage_pass *pass);

/** Weights, gradients and optimizer state of all parts. */
calc_stage_state calc_placed_layers_state(const calc_placed *p, const calc_placed_stage *at);

#endif
