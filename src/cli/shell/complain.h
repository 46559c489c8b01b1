/** @file complain.h  Writes errors to standard error and chooses the exit code. */
#ifndef CALC_CLI_SHELL_COMPLAIN_H
#define CALC_CLI_SHELL_COMPLAIN_H

#include "base/make.h"
#include "calibrate/points.h"
#include "cli/shell/opt.h"
#include "io/output.h"

/** Write to standard error: all that calc says there goes through it, so that no file, name or
 *  argument commands a terminal (calc_utf8_for_terminal). */
void calc_say(const char *fmt, ...) CALC_PRINTF(1, 2);

/** Print all errors. The first decides the exit code, but if the place of any is an option ("--set
 *  tp=x"), wrong inputs are CALC_EXIT_USAGE.
 *  @return the exit code; CALC_EXIT_OK if there are none */
calc_exit calc_complain_errors(const calc_errors *errors);

/** The same where a status says that something has failed: without an error that is a bug, never a
 *  success.
 *  @return the exit code, not CALC_EXIT_OK */
calc_exit calc_complain_failure(const calc_errors *errors);

/** calc_output_to(); without memory the command ends. */
calc_output *calc_write_to(const char *path);

/** The same to memory: calc_output_close() fills *text, which the caller frees. */
calc_output *calc_write_to_memory(calc_text *text);

/** calc_output_close(), with the errors printed. @return the exit code */
calc_exit calc_write_end(calc_output *out);

/** Write a document there; nothing if the path or the object is NULL.
 *  @return CALC_OK, or the status of an error that was added */
calc_status calc_save_to(const char *path, calc_kind kind, const void *object, calc_errors *errors);

/** Whether a question that may be answered with no (is it there, is it one) is answered with yes.
 *  Without memory it is not answered, and the command ends.
 *  @return status is CALC_OK */
bool calc_is_yes(calc_status status);

/** Print one line about a wrong command line and the command that shows its help; `command` NULL:
 *  calc itself.
 *  @return CALC_EXIT_USAGE */
calc_exit calc_complain_usage(const calc_command *command, const char *text);

/** Warn of rows of measured operators that are not used, with the reason of the first. Silent where
 *  none is used: that is an error of its own. */
void calc_complain_points(const calc_points *points);

#endif
