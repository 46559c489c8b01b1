/** @file fill.h  Writes files that the build put into the program, with their placeholders filled
 *  in. */
#ifndef CALC_CLI_SHELL_FILL_H
#define CALC_CLI_SHELL_FILL_H

#include "io/output.h"

/** A text, with a 0 behind it. */
typedef struct calc_fill_file {
    const char *bytes;
    size_t length;
} calc_fill_file;

/** A placeholder in a file, and its replacement. */
typedef struct calc_fill_place {
    const char *text;                           /**< the placeholder */
    void (*write)(calc_output *out, int which); /**< its replacement */
    int which;
} calc_fill_place;

/** Write a file. @param places  the last one is {0}; the first match counts */
void calc_fill_write(calc_output *out, const calc_fill_file *file, const calc_fill_place *places);

extern const calc_fill_file calc_completion_bash_file, calc_completion_zsh_file,
    calc_completion_fish_file;
extern const calc_fill_file calc_completion_cases_file; /**< in both bash and zsh */

#endif
