/** @file opt.h  Sorts the words after a command into options and arguments by the command's rows.
 *  `--name VALUE`, `--name=VALUE`, `-h`; `--` ends the options; `-` is an argument. */
#ifndef CALC_CLI_SHELL_OPT_H
#define CALC_CLI_SHELL_OPT_H

#include "cli/shell/command.h"

/** One option on the command line. */
typedef struct calc_opt_use {
    int opt;           /**< index of its row */
    const char *value; /**< "" for an option without a value */
} calc_opt_use;

/** Options and arguments; owns the two lists, borrows the texts. Start with {0}. */
struct calc_args {
    const calc_command *command;
    const char **argument; /**< in order */
    size_t argument_count;
    calc_opt_use *use; /**< in order */
    size_t use_count;
    bool help;           /**< -h or --help: show the help and do nothing else */
    char complaint[512]; /**< the mistake in the words, one line */
};

/** Sort the words.
 *  @return CALC_EXIT_OK; CALC_EXIT_USAGE or CALC_EXIT_SYSTEM with args->complaint filled */
calc_exit calc_opt_parse(calc_args *args, const calc_command *command, size_t count,
                         char *const *words);

/** Free the lists; fine on {0}. */
void calc_opt_free(calc_args *args);

/** Last value given for the row `opt` of the command's options, or its preset; NULL if neither. */
const char *calc_opt_value(const calc_args *args, int opt);

/** The values given for that row, one per call; NULL after the last.
 *  @param cursor  0 before the first call */
const char *calc_opt_next(const calc_args *args, int opt, size_t *cursor);

/** Read a number from `lo` to `hi`.
 *  @return false if the text is anything else; then *out is unchanged */
bool calc_opt_number(const char *text, bool whole, double lo, double hi, double *out);

/** Whether a value of that row is "-": standard output. */
bool calc_opt_is_stdout(const calc_args *args, int opt);

#endif
