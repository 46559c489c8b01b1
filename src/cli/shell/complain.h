/** @file complain.h  What goes to standard error, and the exit code that goes with it. */
#ifndef CALC_CLI_SHELL_COMPLAIN_H
#define CALC_CLI_SHELL_COMPLAIN_H

#include "cli/shell/command.h"

/** Print all errors; the first decides, but wrong inputs are CALC_EXIT_USAGE if the place of one is
 *  an option, "--set tp=x".
 *  @return the exit code; CALC_EXIT_OK if there are none */
calc_exit calc_complain_errors(const calc_errors *errors);

/** Print one line about a wrong command line and where its help is; `command` NULL: calc itself.
 *  @return CALC_EXIT_USAGE */
calc_exit calc_complain_usage(const calc_command *command, const char *text);

#endif
