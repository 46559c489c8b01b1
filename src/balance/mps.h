/** @file mps.h  A mixed-integer program as an MPS text of fixed columns, which every solver reads,
 *  and the meaning of its short names.
 *
 *  Fields begin in columns 2, 5, 15 and 25; numbers have 12 characters, which keeps 9 digits at
 *  least. Every column has an upper bound. The objective is OBJ, in the units of the program. */
#ifndef CALC_BALANCE_MPS_H
#define CALC_BALANCE_MPS_H

#include "balance/milp.h"

/** Takes a text piece by piece. @return false to stop */
typedef bool (*calc_mps_write)(void *context, const char *text, size_t length);

/** Write the program.
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_IO if `write` stopped */
CALC_MUST_USE calc_status calc_mps_program(const calc_milp *milp, calc_mps_write write,
                                           void *context);

/** Write the meaning of its columns, as comma-separated values:
 *  name,variable,stage,chunk,microbatch, counted from 0; blank where it does not apply.
 *  @return CALC_OK or CALC_ERR_IO */
CALC_MUST_USE calc_status calc_mps_names(const calc_milp *milp, calc_mps_write write,
                                         void *context);

enum { CALC_MPS_NUMBER_SIZE = 13 };

/** A number in 12 characters, as near as they allow. @return text */
char *calc_mps_number(double value, char text[CALC_MPS_NUMBER_SIZE]);

#endif
