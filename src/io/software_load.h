/** @file software_load.h  Reads software documents (spec/software.h): numbers and words of an
 * execution, of which any may be absent. */
#ifndef CALC_IO_SOFTWARE_LOAD_H
#define CALC_IO_SOFTWARE_LOAD_H

#include "calc.h"

/** Read the document that an execution names, and apply it; again, if that was done, so that the
 * last name counts, and what was stated since. Without a name nothing is done.
 *  @param find  finds a bare name as an execution "software/NAME"; NULL: names are paths
 *  @return CALC_OK; what `find` returns; as calc_load(), and CALC_ERR_FIELD for a list, for what is
 *  served, and for other software */
CALC_MUST_USE calc_status calc_software_read(calc_exec *exec, calc_session_find *find,
                                             void *context, calc_errors *errors);

#endif
