/** @file run_arguments.h  Facts of a run from the command line of Megatron-LM, beyond the columns
 *  of a table: the column `arguments`, options as they were given ("--hidden-dropout 0.0
 *  --swiglu"). Names and defaults: megatron/training/arguments.py. */
#ifndef CALC_VALIDATE_RUN_ARGUMENTS_H
#define CALC_VALIDATE_RUN_ARGUMENTS_H

#include "validate/run_assume.h"

/** The value of an option: the text between it and the next one, not NUL-terminated. NULL if it is
 *  not given; "" (or the next option) if it has none.
 *  @param name  without the dashes */
const char *calc_run_argument(const char *arguments, const char *name);

/** Complete a mapped run by its options; nothing changes if there are none.
 *  @return why it cannot be predicted; NULL: it can */
const char *calc_run_arguments_apply(calc_run_map *map);

#endif
