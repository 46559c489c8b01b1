/** @file automatic.h  Fields of an execution that may say "auto" (CALC_AUTO), and those that do. */
#ifndef CALC_SPEC_AUTOMATIC_H
#define CALC_SPEC_AUTOMATIC_H

#include "calc.h"

/** A field's bit in calc_exec.automatic; 0 if it has none. */
uint32_t calc_automatic_bit(const calc_field *field);

/** Note that a field of CALC_AUTO says "auto", and give it the value that is legal beside all
 *  others until calc_resolve(): 1, false or the first choice. */
void calc_automatic_set(calc_exec *exec, const calc_field *field);

#endif
