/** @file help.h  Writes help for a terminal, manual pages and completion, all from the same
 *  rows. */
#ifndef CALC_CLI_SHELL_HELP_H
#define CALC_CLI_SHELL_HELP_H

#include "cli/shell/command.h"
#include "io/output.h"

/** A word and its meaning. */
typedef struct calc_help_pair {
    const char *word, *meaning;
} calc_help_pair;

extern const char calc_help_purpose[];               /**< calc in one line */
extern const char calc_help_brief[];                 /**< shown when calc is started without
                                                      *  arguments */
extern const calc_help_pair calc_help_exits[];       /**< exit codes; ends with {0} */
extern const calc_help_pair calc_help_environment[]; /**< environment variables; ends with {0} */

/** Writers; `command` NULL means calc itself. */
void calc_help_text(calc_output *out, const calc_command *command);
void calc_help_version(calc_output *out, const calc_command *command);
void calc_man_page(calc_output *out, const calc_command *command);
void calc_completion_bash(calc_output *out, const calc_command *command);
void calc_completion_zsh(calc_output *out, const calc_command *command);
void calc_completion_fish(calc_output *out, const calc_command *command);

/** Call a writer on standard output. */
calc_exit calc_help_show(void (*write)(calc_output *out, const calc_command *command),
                         const calc_command *command);

/** Write "run APP SYS EXE [OPTION]..." */
void calc_help_synopsis(calc_output *out, const calc_command *command);

/** Write `text` from column `column` on, broken at blanks before column 80, later lines indented by
 *  as much, with a newline at the end. */
void calc_help_wrapped(calc_output *out, const char *text, int column);

/** The values of an option and its meaning as one text: "auto, always or never [auto]".
 *  @return buffer */
const char *calc_help_opt_doc(const calc_opt *opt, char *buffer, size_t size);

#endif
