/** @file session.h  Requests answered one after the other, with the documents they name kept in
 *  memory. Public part, for other languages: calc_session_open() ... in calc.h. */
#ifndef CALC_SESSION_SESSION_H
#define CALC_SESSION_SESSION_H

#include "calc.h"
#include "io/output.h"

/** Write the answer to the text of a request, in one line without a newline at its end. Wrong
 *  requests are answered too: with "errors". */
void calc_session_answer(calc_session *session, const char *request, size_t length,
                         calc_output *out);

#endif
