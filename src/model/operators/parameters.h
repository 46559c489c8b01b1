/** @file parameters.h  Parameters of a model, and the arithmetic they ask for. The public part,
 *  calc_count_parameters(), is in calc.h. */
#ifndef CALC_MODEL_PARAMETERS_H
#define CALC_MODEL_PARAMETERS_H

#include "calc.h"
#include "model/operators/shape.h"

/** Matrix arithmetic that a whole model needs for one step [FLOP]: two per weight and token that
 * the token uses (experts it is routed to, router and head included, embedding not), two per score
 * and width of attention, forward; three times that in training. Of frozen weights twice, or once
 * where no trained weight lies before; with adapters beside them. With that of the encoder of
 * images. No recomputation and no multi-token prediction.
 *  @param square  count all scores, whatever the mask */
double calc_parameters_step_flop(const calc_shape *shape, const calc_exec *exec, bool square);

/** The same as Megatron-LM and Megatron-Bridge print it: without router and gates of shared experts
 * and heads, with multi-token prediction; half of the square of scores without a window; Mamba-2
 * of twice the model's width, however wide it is; recurrences by the size of their states; sparse
 * attention absorbed, with the training of its indexer; all weights trained. What they do not know
 * is counted as by calc_parameters_step_flop(). Sources: Megatron-LM, training/training.py;
 * Megatron-Bridge, training/utils/flop_utils.py. */
double calc_parameters_megatron_flop(const calc_shape *shape, const calc_exec *exec);

/** Weights of a whole model that a layout trains, with those of adapters and of multi-token
 *  prediction. */
double calc_parameters_trained(const calc_app *app, const calc_exec *exec);

/** Tensors of the adapters of a whole model: two for each, as frameworks allocate them. */
double calc_parameters_adapter_tensors(const calc_app *app, const calc_exec *exec);

/** Tensors of weights that a rank of one of `stages` equal stages holds, as frameworks allocate
 * them: for every block two norms, queries, keys and values together (latent attention: its
 * projections and norms), output, and the matrices of the feed-forward, shared experts' and the
 * router; the tables, and the last norm. A bias is one more.
 *  @param dense   all except experts @param expert  of the local experts; 0: none */
void calc_parameters_tensors(const calc_shape *shape, double stages, double *dense, double *expert);

#endif
