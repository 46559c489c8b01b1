/** @file variants.h  Executions that differ in the optional fields that neither rows, cells nor
 * lanes vary: every combination of their values in a space. */
#ifndef CALC_SWEEP_VARIANTS_H
#define CALC_SWEEP_VARIANTS_H

#include "calc.h"
#include "space.h"

/** A list. Owns its array. Start with {0}. */
typedef struct calc_variants {
    size_t count, capacity;
    calc_exec *exec;
} calc_variants;

/** List the legal combinations. They give datatype, attention_type, training and the optional
 *  fields; tensor parallelism and the rest of the required fields are 0 or false. Where
 *  expert_tensor_par is every legal value it is 1: units know the other one.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_variants_list(calc_variants *variants, const calc_space *space,
                                             const calc_app *app, const calc_system *system,
                                             calc_compat compat);

void calc_variants_free(calc_variants *variants);

/** Whether `*` stands for the legal values of an optional axis that has no list of choices:
 *  context_par, powers of two up to CALC_MOST_CONTEXT_PAR; expert_par, divisors of the experts;
 *  expert_tensor_par, 1 and tensor_par. */
bool calc_variants_know(calc_axis axis);

enum { CALC_MOST_CONTEXT_PAR = 64 };

/** Whether a variant is legal for a tensor parallelism: what can be said before cells. */
bool calc_variant_legal(const calc_app *app, const calc_exec *base);

#endif
