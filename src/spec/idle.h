/** @file idle.h  Fields of the execution that have no effect given the values of the others: how
 *  tokens reach experts that are all on one rank, how one rank splits a sequence. A sweep tries
 *  only one of their values, and advice never suggests changing them. */
#ifndef CALC_SPEC_IDLE_H
#define CALC_SPEC_IDLE_H

#include "calc.h"

/** Whether no statistic depends on a field, a row of the table of the execution. False for fields
 *  whose other values are then forbidden by a rule (tensor_par_overlap with one rank), and for
 *  those that depend on recomputation, offload or sharding. */
bool calc_idle(const calc_app *app, const calc_exec *exec, const calc_field *field);

#endif
