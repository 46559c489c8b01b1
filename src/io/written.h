/** @file written.h  Reads JSON that calc wrote: a run, the front of a sweep and its counts, a
 *  validation, a plan, a decision of what to measure. */
#ifndef CALC_IO_WRITTEN_H
#define CALC_IO_WRITTEN_H

#include "calc.h"
#include "io/text.h"

/** Kinds of documents: X(NAME, command that wrote it). */
#define CALC_WRITTEN_LIST(X)                                                                       \
    X(RUN, "calc run --json")                                                                      \
    X(SWEEP, "calc sweep --out")                                                                   \
    X(SUMMARY, "calc sweep --summary")                                                             \
    X(VALIDATION, "calc validate --json")                                                          \
    X(PLAN, "calc plan --out")                                                                     \
    X(TUNE, "calc tune --json")

#define CALC_WRITTEN_NAME(name, command) CALC_WRITTEN_##name,
typedef enum calc_written_kind {
    CALC_WRITTEN_LIST(CALC_WRITTEN_NAME) CALC_WRITTEN_KINDS
} calc_written_kind;
#undef CALC_WRITTEN_NAME

/** A run. */
typedef struct calc_written_run {
    calc_app app;
    calc_system system;
    char system_name[256]; /**< as the run called it; empty: not said */
    char system_file[256]; /**< as its command had it; empty: not said */
    calc_exec exec;
    calc_compat compat;
    calc_stats stats;
} calc_written_run;

/** Parts of a plan beside its best layout. */
typedef struct calc_written_plan {
    char app_name[256];
    int machines;
    char name[CALC_MAX_CHIPS][256];
    calc_system machine[CALC_MAX_CHIPS];
    int chip; /**< on which stages are that name none */
} calc_written_plan;

/** A document. Owns what it holds. Start with {0}; free with calc_written_free(). Points into
 *  itself where it is a plan: not to be copied. */
typedef struct calc_written {
    calc_written_kind kind;
    calc_text text;       /**< as calc_written_read() got it */
    calc_written_run run; /**< if it is one; of a plan, its best layout */
    calc_written_plan plan;
} calc_written;

/** Words for a kind: "calc run --json". */
const char *calc_written_command(calc_written_kind kind);

/** Read a document: valid JSON whose keys determine its kind. All members of a run are checked, and
 *  all members of a plan that are read.
 *  @param path  of a file, "-" for standard input
 *  @return CALC_OK, or the status of the first error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_written_read(calc_written *out, const char *path,
                                            calc_errors *errors);

/** The same for a text. @param name  what errors call it */
CALC_MUST_USE calc_status calc_written_parse(calc_written *out, const char *text, size_t length,
                                             const char *name, calc_errors *errors);

/** Free what it owns. Fine on {0}. */
void calc_written_free(calc_written *written);

#endif
