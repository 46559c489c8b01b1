/** @file parameters.h  Parameters of a model, and the arithmetic they ask for. The public part,
 *  calc_count_parameters(), is in calc.h. */
#ifndef CALC_MODEL_PARAMETERS_H
#define CALC_MODEL_PARAMETERS_H

#include "calc.h"

/** Matrix arithmetic that the blocks of a model need for one token [FLOP]: two per weight of the
 *  projections and four per attention width and position, forward; three times that in training.
 *  No recomputation, no padding, no embedding or head: none is modelled in time either.
 *  Source: Chowdhery et al. 2022, arXiv 2204.02311, appendix B. */
double calc_parameters_token_flop(const calc_app *app, const calc_exec *exec);

#endif
