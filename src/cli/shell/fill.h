/** @file fill.h  Files that the build put into the program, written with their places filled in. */
#ifndef CALC_CLI_SHELL_FILL_H
#define CALC_CLI_SHELL_FILL_H

#include "io/output.h"

/** A text, with a 0 behind it. */
typedef struct calc_fill_file {
    const char *bytes;
    size_t length;
} calc_fill_file;

/** What a file leaves to be filled in, and by what. */
typedef struct calc_fill_place {
    const char *text;                           /**< as it stands in the file */
    void (*write)(calc_output *out, int which); /**< instead of it */
    int which;
} calc_fill_place;

/** Write a file. @param places  the last one is {0}; the first that matches counts */
void calc_fill_write(calc_output *out, const calc_fill_file *file, const calc_fill_place *places);

extern const calc_fill_file calc_completion_bash_file, calc_completion_zsh_file,
    calc_completion_fish_file;
extern const calc_fill_file calc_completion_cases_file; /**< in both bash and zsh */

#endif
