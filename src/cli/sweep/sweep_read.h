/** @file sweep_read.h  What a sweep was asked and what it read, for its page. */
#ifndef CALC_CLI_SWEEP_SWEEP_READ_H
#define CALC_CLI_SWEEP_SWEEP_READ_H

#include "cli/shell/opt.h"
#include "io/json_put.h"
#include "io/text.h"
#include "plan/study.h"

/** Keep which bytes a document had. @param name  for people
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_sweep_read_note(calc_sweep_study *study, const char *name,
                                               const calc_text *text, calc_errors *errors);

/** The members "read" and "command": the documents, and the words that search and want the same,
 *  without files and how it runs. */
void calc_sweep_read_put(calc_put *put, const calc_sweep_study *study, const calc_args *args);

#endif
