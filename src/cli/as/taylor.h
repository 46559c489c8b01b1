/** @file taylor.h  Shared parts of Taylor's three programs. */
#ifndef CALC_CLI_AS_TAYLOR_H
#define CALC_CLI_AS_TAYLOR_H

#include "cli/as/flags.h"
#include "io/text.h"
#include "taylor/config.h"

/** A calc flag that all three programs have. */
#define CALC_TAYLOR_SYSTEM_FLAG(X)                                                                 \
    X(SYSTEM, "--system", "SYS", TEXT, .preset = "ascend_910b", .ours = true,                      \
      .doc = "the machine, whose framework and reserve are part of its memory: a path, or a name " \
             "in systems/; how much there is, the configuration says")

/** A configuration with its text. */
typedef struct calc_taylor_file {
    calc_text text; /**< owned */
    calc_taylor_config config;
} calc_taylor_file;

/** Reads it. Start with {0}. @return CALC_OK, or a status with errors added */
CALC_MUST_USE calc_status calc_taylor_file_read(calc_taylor_file *out, const char *path,
                                                calc_errors *errors);

/** Reads a machine by path or name. */
CALC_MUST_USE calc_status calc_taylor_system_read(calc_system *out, const char *argument,
                                                  calc_errors *errors);

/** Gives errors without a place the place of the whole file. */
void calc_taylor_place(calc_errors *errors, const char *path);

/** Reports on standard error where the configuration departs from Taylor's default. */
void calc_taylor_tell(const calc_taylor_config *config, const char *path);

#endif
