/** @file software_load.h  Reads documents that an execution names: of its software
 * (spec/software.h), numbers and words of an execution, of which any may be absent; and of its
 * serving engine (spec/serving_engine.h). */
#ifndef CALC_IO_SOFTWARE_LOAD_H
#define CALC_IO_SOFTWARE_LOAD_H

#include "calc.h"

/** Fill an engine, but for its name, from `length` bytes of JSON; `name` is what errors call them.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_engine_parse(calc_serving_engine *engine, const char *text,
                                            size_t length, const char *name, calc_errors *errors);

/** Read the documents that an execution names, and apply its software; again, if that was done, so
 *  that the last name counts, and what was stated since. Without names nothing is done.
 *  @param find  finds a bare name as an execution "software/NAME" or "engines/NAME"; NULL: names
 *               are paths
 *  @return CALC_OK; what `find` returns; as calc_load(), and CALC_ERR_FIELD for a list, for what is
 *  served, and for other software */
CALC_MUST_USE calc_status calc_software_read(calc_exec *exec, calc_session_find *find,
                                             void *context, calc_errors *errors);

#endif
