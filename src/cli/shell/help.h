/** @file help.h  Writes help for a terminal, manual pages and completion, all from the same
 *  rows. */
#ifndef CALC_CLI_SHELL_HELP_H
#define CALC_CLI_SHELL_HELP_H

#include "base/buffer.h"
#include "cli/shell/opt.h"
#include "io/output.h"

extern const char calc_help_brief[]; /**< shown when calc is started without
                                      *  arguments */

/** Writers; `command` NULL means calc itself. */
void calc_help_text(calc_output *out, const calc_command *command);
void calc_help_version(calc_output *out, const calc_command *command);

/** Call a writer on standard output. */
calc_exit calc_help_show(void (*write)(calc_output *out, const calc_command *command),
                         const calc_command *command);

/** Run a command with its words: its help, or what is wrong with them, is shown instead. */
calc_exit calc_command_run(const calc_command *command, size_t count, char *const *words);

/** Write `text` from column `column` on, broken at blanks before column 80 or the line's end, later
 *  lines indented by as much, with a newline at the end. */
void calc_help_wrapped(calc_output *out, const char *text, int column);

/** Write a command, indented, as a shell takes it: lines that go on end with a backslash. */
void calc_help_command_line(calc_output *out, const char *line);

/* Writes files that the build put into the program, with their placeholders filled
 * in. */

/** A placeholder in a file, and its replacement. */
typedef struct calc_fill_place {
    const char *text;                           /**< the placeholder */
    void (*write)(calc_output *out, int which); /**< its replacement */
    int which;
} calc_fill_place;

/** Write a file. @param places  the last one is {0}; the first match counts */
void calc_fill_write(calc_output *out, const calc_embedded *file, const calc_fill_place *places);

/** Scripts that complete command lines, by their shells, and what those of bash and zsh share,
 *  "cases"; JSON Schemas. */
extern const calc_embedded calc_completion_list[], calc_schema_list[];

#endif
