/** @file software.h  What an execution takes from its software: a document of fields of an
 * execution, which count where nothing else states them. Its values are wishes until
 * calc_resolve(), which keeps those that the rules allow. */
#ifndef CALC_SPEC_SOFTWARE_H
#define CALC_SPEC_SOFTWARE_H

#include "calc.h"

/** The folder of these documents among the executions: "software/nanotron". */
#define CALC_SOFTWARE_FOLDER "software/"

/** Whether a set has a row of the table of executions. */
bool calc_exec_rows_has(const calc_exec_rows *rows, size_t row);

/** Note that a field was given a value: it is stated, unless it says "auto". Fields of other tables
 *  are passed over. */
void calc_software_state(calc_exec *exec, const calc_field *field);

/** Note that all fields are stated: of a layout that is whole. */
void calc_software_state_all(calc_exec *exec);

/** Give an execution the fields that its software states and it does not, in place of those of an
 *  earlier one. */
void calc_software_apply(calc_exec *exec, const calc_exec *software);

/** Take all wishes away: their fields have the values that ask least. */
void calc_software_take(calc_exec *exec);

/** Copy the member of a row of the table of executions. */
void calc_software_copy(calc_exec *to, const calc_exec *from, size_t row);

#endif
