/** @file idle.h  Fields of the execution that change nothing at the values of the others: how
 * tokens reach experts that are all on one rank, how one rank splits a sequence. A sweep takes one
 * of their values for all, and nobody is advised to change them. */
#ifndef CALC_SPEC_IDLE_H
#define CALC_SPEC_IDLE_H

#include "calc.h"

/** Whether no statistic depends on a field, a row of the table of the execution. False for fields
 *  of which a rule forbids all other values then (tensor_par_overlap with one rank), and for those
 *  that depend on what is recomputed, offloaded or sharded. */
bool calc_idle(const calc_app *app, const calc_exec *exec, const calc_field *field);

#endif
