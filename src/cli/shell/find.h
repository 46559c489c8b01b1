/** @file find.h  Finds the file that an argument means: a path, or the bare name of a document in
 *  the data directories. */
#ifndef CALC_CLI_SHELL_FIND_H
#define CALC_CLI_SHELL_FIND_H

#include "calc.h"
#include "spec/job.h"
#include "spec/serving_engine.h"
#include "spec/software.h"
#include "validate/residuals.h"

enum { CALC_FIND_PATH_MAX = 4096 };

/** One document in a data directory. */
typedef struct calc_find_entry {
    char *path;
    char *name; /**< its copy: "a100_80g", or "folder/name" one level deeper */
    int place;  /**< index of the data directory: the lowest wins */
} calc_find_entry;

/** All documents of a kind; owns its entries. Start with {0}. */
typedef struct calc_find_list {
    calc_find_entry *entry; /**< by place, then by name */
    size_t count;
    char places[1024]; /**< directories searched, for people */
} calc_find_list;

/** The order of the arguments, as a hint. */
#define CALC_FIND_ORDER "arguments are APP SYS EXE"

/** The noun for a document of a kind: "a model", "a system", "an execution". */
const char *calc_find_kind_text(calc_kind kind);

/** Documents beside executions that are none: X(NAME, folder, noun), by folders of theirs. */
#define CALC_FIND_ASIDE_LIST(X)                                                                    \
    X(NONE, "", "execution")                                                                       \
    X(SOFTWARE, CALC_SOFTWARE_FOLDER, "software")                                                  \
    X(ENGINE, CALC_ENGINE_FOLDER, "engine")                                                        \
    X(JOB, CALC_JOB_FOLDER, "job")
#define CALC_FIND_X(name, folder, noun) CALC_FIND_ASIDE_##name,
typedef enum calc_find_aside {
    CALC_FIND_ASIDE_LIST(CALC_FIND_X) CALC_FIND_ASIDE_COUNT
} calc_find_aside;
#undef CALC_FIND_X

/** Which of them a name of an execution is: "software/nanotron", "jobs/grpo". */
calc_find_aside calc_find_aside_of(const char *name);

/** The name in its folder: "nanotron", "grpo"; of an execution as it is. */
const char *calc_find_aside_name(const char *name);

/** List the documents of a kind: in models/, systems/ or executions/ (and one level below) of every
 *  directory of CALC_PATH, of the source tree, of the installation, and of ../share/calc beside the
 *  command. Directories that do not exist are passed over. @return free with calc_find_free() */
calc_find_list calc_find_names(calc_kind kind);

/** Free the entries; fine on {0}. */
void calc_find_free(calc_find_list *list);

/** Whether an argument is a path: it has a '/', ends in .json or .json.gz or is "-" (standard
 *  input). Anything else is a bare name. */
bool calc_find_is_path(const char *argument);

/** The file that an argument means; a path with a '/' that does not exist may still be
 * "folder/name" in a data directory.
 *  @param path  filled on CALC_OK, CALC_FIND_PATH_MAX bytes
 *  @return CALC_OK; CALC_ERR_NOT_FOUND or CALC_ERR_FIELD (more than one) for a bare name, with the
 *  nearest name; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_find(calc_kind kind, const char *argument, char *path,
                                    calc_errors *errors);

/** The same as a calc_session_find; of CALC_KIND_NONE calc_find_data().
 *  @param context  not NULL: what a name is taken as was told when it was read first */
calc_status calc_find_document(void *context, calc_kind kind, const char *name, char *path,
                               size_t size, calc_errors *errors);

/** Errors of measured runs of serving whose model no fit saw, for calc_find_data(). */
#define CALC_FIND_SERVING_UNSEEN "measured/serving_unseen.csv"

/** A file of a data directory, "measured/runs.csv": in the directories of CALC_PATH, then in
 *  ../share/calc beside the command.
 *  @param path  filled on CALC_OK, CALC_FIND_PATH_MAX bytes
 *  @return CALC_OK or CALC_ERR_NOT_FOUND */
CALC_MUST_USE calc_status calc_find_data(const char *file, char *path, calc_errors *errors);

/** Name of a document for people: its file name without directories and .json or .json.gz;
 *  "stdin" for "-".
 *  @return buffer */
char *calc_find_name(const char *path, char *buffer, size_t size);

/** calc_residuals_known() of the data directories, for callers that can do without the files, and
 *  say so.
 *  @return out, or NULL */
const calc_residuals *calc_known_runs_try(calc_residuals *out);

#endif
