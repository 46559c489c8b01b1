/** @file served.h  Fields of the requests served, `inference`, as axes: chunks, precision of the
 * cache, the pool that prefills ... Every combination of their values is a variant (variants.h). */
#ifndef CALC_SWEEP_SERVED_H
#define CALC_SWEEP_SERVED_H

#include "calc.h"
#include "space.h"

/** The row of such a field. */
const calc_field *calc_served_field(calc_served served);

/** Its values in a space, whose `inference` has the one that is not listed; NULL if a field of the
 *  execution is none of these. */
const calc_values *calc_served_values(const calc_space *space, const calc_field *field);

/** Its member, as calc_axis_get() has those of the execution. */
int64_t calc_served_get(const calc_inference *inference, calc_served served);
void calc_served_put(calc_inference *inference, calc_served served, int64_t value);

/** Set its values (copied, sorted, repetitions dropped), of which `inference` has the first.
 *  @param count  at least 1
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_served_set(calc_space *space, calc_served served,
                                          const int64_t *values, size_t count);

/** How many combinations of values there are, */
size_t calc_served_count(const calc_space *space);

/** and one of them. Where there are several phases, those without a prefill pool are listed once,
 *  whatever the values of its fields, and pools once, whatever chunks nobody asked for.
 *  @param index  below calc_served_count()
 *  @return whether it is listed; *out is filled in any case */
bool calc_served_at(const calc_space *space, size_t index, calc_inference *out);

/** Order of the requests served: by its fields in the order of their rows. <0, 0 or >0. */
int calc_served_compare(const calc_inference *a, const calc_inference *b);

#endif
