/** @file session.h  Answers requests one after the other and keeps the documents that they name in
 *  memory. The public part for other languages is calc_session_open() ... in calc.h. */
#ifndef CALC_SESSION_SESSION_H
#define CALC_SESSION_SESSION_H

#include "calc.h"
#include "io/output.h"
#include "io/request.h"
#include "validate/residuals.h"

/** Writes the answer to the text of a request on one line without the newline. Wrong requests are
 *  answered, too: with "errors". */
void calc_session_answer(calc_session *session, const char *request, size_t length,
                         calc_output *out);

#endif
