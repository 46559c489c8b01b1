/** @file absent.h  Values of absent optional keys: 0, false, the first choice, no object at all, or
 *  the value in the column .absent of the row. */
#ifndef CALC_SPEC_ABSENT_H
#define CALC_SPEC_ABSENT_H

#include "calc.h"

/** Fill a struct as if no key were present; required members are zero, lists and maps empty. */
void calc_absent_fill(const calc_table *table, void *object);

/** Whether a member has the value of an absent key. A network operation of all zeros counts as
 *  absent, too: a struct that was not read from a file has it. */
bool calc_absent_is(const calc_field *field, const void *member);

/** A field's bit in calc_exec.automatic; 0 if it has none. */
uint32_t calc_automatic_bit(const calc_field *field);

/** Note that a field of CALC_AUTO says "auto", and give it the value that is legal beside all
 *  others until calc_resolve(): 1, false or the first choice. */
void calc_automatic_set(calc_exec *exec, const calc_field *field);

/** Whether no statistic depends on a field, a row of the table of the execution. False for fields
 *  whose other values are then forbidden by a rule (tensor_par_overlap with one rank), and for
 *  those that depend on recomputation, offload or sharding. */
bool calc_idle(const calc_app *app, const calc_exec *exec, const calc_field *field);

#endif
