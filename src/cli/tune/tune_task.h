/** @file tune_task.h  Reads the task of `calc tune`: candidates, measurements so far, how to
 *  decide. */
#ifndef CALC_CLI_TUNE_TUNE_TASK_H
#define CALC_CLI_TUNE_TUNE_TASK_H

#include "base/rng.h"
#include "calibrate/points.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_study.h"
#include "cli/tune/tune_journal.h"
#include "io/json_put.h"
#include "io/output.h"
#include "plan/sweep_more.h"
#include "tune/kernels.h"
#include "tune/model.h"
#include "validate/residuals.h"

enum { CALC_TUNE_ID_SIZE = 17 };

/** Layouts, the best predicted first; those that were added later behind them. Owns its lists;
 *  start with {0}.
 *
 *  A layout's identity is the FNV-1a hash with 64 bits of its execution as JSON: the same in every
 *  run and on every machine. It is written as 16 hexadecimal digits, of which the first 8 will do
 *  unless another layout has them, too. */
typedef struct calc_tune_layouts {
    const calc_app *app; /**< borrowed */
    const calc_system *system;
    const calc_residuals *known; /**< runs that tell what fits, borrowed; NULL: none */
    const char *family;          /**< of the machine: calc_fits_family(); borrowed */
    size_t count, capacity;
    calc_tune_candidate *candidate;
    const calc_found **found; /**< borrowed, but for those that were added */
    uint64_t *hash;
    size_t *by_hash; /**< in order of hashes */
    size_t swept;    /**< the first so many are a sweep's */
} calc_tune_layouts;

/** Identity of an execution whose "auto"s are resolved. */
uint64_t calc_tune_layouts_hash(const calc_exec *exec);

/** Evaluate what a sweep found. Layouts that cannot be evaluated are left out.
 *  @param out      has app, system, known and family; all else is set
 *  @param best     kept by the caller as long as the layouts
 *  @param threads  0: as many as the machine has */
void calc_tune_layouts_make(calc_tune_layouts *out, const calc_front *best, int threads);

/** Add a layout, unless it is there. @param index  filled @return false: it cannot be evaluated */
CALC_MUST_USE bool calc_tune_layouts_add(calc_tune_layouts *layouts, const calc_exec *exec,
                                         size_t *index);

/** The execution of a layout. */
calc_exec calc_tune_layouts_exec(const calc_tune_layouts *layouts, size_t index);

/** How many layouts an identity means: its first digits, 8 at least, upper or lower case.
 *  @param index  filled with the first of them */
size_t calc_tune_layouts_find(const calc_tune_layouts *layouts, const char *text, size_t *index);

/** Its identity in as few digits as tell it from the others. @return text */
char *calc_tune_layouts_id(const calc_tune_layouts *layouts, size_t index,
                           char text[CALC_TUNE_ID_SIZE]);

void calc_tune_layouts_free(calc_tune_layouts *layouts);

/* Reads a file of measured kernels (`calc tune --operators`,
 * docs/operators.md), and applies it to the layouts that may be tried. */

/** The file, and what was learnt of it. Owns both. Start with {0}. */
typedef struct calc_tune_operators {
    calc_points points;
    calc_point_table table;
    calc_tune_kernels_learnt learnt; /**< learnt.kernels is for calc_tune_options */
} calc_tune_operators;

/** Read a file of measured operators of a machine.
 *  @param path  kept by the caller
 *  @param rows  machines in the file, see calc_points_select()
 *  @return CALC_OK or what reading returns; free *out in any case */
CALC_MUST_USE calc_status calc_tune_operators_read(calc_tune_operators *out, const char *path,
                                                   const char *rows, const calc_system *system,
                                                   calc_errors *errors);

/** Learn what the measurements say of candidates, instead of what was learnt before. Candidates of
 *  a new cell (kernels.h) must be learnt before a decision is made of them.
 *  @return CALC_OK; CALC_ERR_FIELD if no measurement is of a class of kernels that they run; or
 *  what calc_tune_kernels_learn() returns */
CALC_MUST_USE calc_status calc_tune_operators_learn(calc_tune_operators *operators,
                                                    const calc_app *app, const calc_system *system,
                                                    const calc_tune_prior *prior,
                                                    const calc_tune_candidate *candidate,
                                                    size_t count, calc_tune_exec_of exec,
                                                    const void *context, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_tune_operators_free(calc_tune_operators *operators);

/** A row per class of kernels, for people: what measurements say of it, or that there are none. */
void calc_tune_operators_write(calc_output *out, const calc_tune_operators *operators);

/** The member "kernels" of the object that is open: an object per class. */
void calc_tune_operators_put(calc_put *put, const calc_tune_operators *operators);

/** Rows of calc_tune_opts. */
#define CALC_TUNE_OPT_LIST(X)                                                                      \
    X(PROCS, "procs", "N", .section = "What is searched", .doc = "number of processors")           \
    X(BATCH, "batch", "N", .doc = "global batch of a step: 512 or 4Mitokens")                      \
    CALC_OPT_AXIS(X)                                                                               \
    CALC_INPUTS_SET(X)                                                                             \
    X(WHERE, "where", "COND", .doc = "only layouts that meet a condition: 'tensor_par <= 8'",      \
      .repeated = true)                                                                            \
    X(CANDIDATES, "candidates", "N", CALC_OPT_IS_WHOLE(1, 1e6),                                    \
      .doc = "number of candidates: the best predicted layouts, allowing 10 % more memory than "   \
             "the machine has",                                                                    \
      .preset = "10000")                                                                           \
    X(MEASURED, "measured", "FILE", .section = "Measurements",                                     \
      .doc = "measurements, one row each: layout, step_s, memory_gib, outcome; add a row and run " \
             "again")                                                                              \
    X(NOISE, "noise", "SHARE", .doc = "standard deviation of a measured time", .preset = "0.5%")   \
    X(MEMORY, "memory", "HOW",                                                                     \
      .doc = "how memory is judged: by calc's model and its known errors, or by five probes that " \
             "are measured first",                                                                 \
      .choices = calc_tune_memories, .preset = "calc")                                             \
    X(OPERATORS, "operators", "FILE",                                                              \
      .doc = "measured kernels of the machine, to correct predictions by shape")                   \
    CALC_OPT_ROWS(X)                                                                               \
    X(INTO, "into", "DIR", .was = "out", .section = "Next layouts",                                \
      .doc = "folder for the layouts to try", .preset = "tune")                                    \
    X(NEXT, "next", NULL,                                                                          \
      .doc = "print the layouts to try, an identity and a path per line, or nothing if it is "     \
             "time to stop")                                                                       \
    X(PICKS, "picks", "Q", CALC_OPT_IS_WHOLE(1, CALC_TUNE_PICKS),                                  \
      .doc = "number of layouts to try at once", .preset = "1")                                    \
    X(WORTH, "worth", "SHARE", .doc = "smallest gain that matters", .preset = "1%")                \
    X(STOP, "stop", "SHARE", .doc = "stop when the chance of such a gain is below this",           \
      .preset = "5%")                                                                              \
    X(MOST, "most", "N", CALC_OPT_IS_WHOLE(1, 1e6),                                                \
      .doc = "largest number of measurements, including earlier ones")                             \
    X(CHOOSER, "chooser", "NAME", .unlisted = true, .doc = "how the next layouts are chosen",      \
      .choices = calc_tune_chooser_words, .preset = "improvement")                                 \
    X(DRAWS, "draws", "N", .unlisted = true, CALC_OPT_IS_WHOLE(10, 1e5),                           \
      .doc = "draws of the joint distribution of times", .preset = "1000")                         \
    X(SEED, "seed", "S", .unlisted = true, CALC_OPT_IS_WHOLE(0, 1e9),                              \
      .doc = "another seed draws other numbers", .preset = "1")                                    \
    X(COMMAND, "command", "TEXT", .section = "Automatic measuring",                                \
      .doc =                                                                                       \
          "run this for each layout to try ({exe} is its file) and add its last line of output "   \
          "to --measured: a time, with or without memory (1.53s 61.2GiB), oom or failed")          \
    X(TIMEOUT, "timeout", "TIME", .doc = "a command that runs longer has failed",                  \
      .preset = "30min")                                                                           \
    X(RETRIES, "retries", "N", CALC_OPT_IS_WHOLE(0, 100),                                          \
      .doc = "how often a failed command is run again, except after a time-out", .preset = "1")    \
    X(SIMULATE, "simulate", "SEED", CALC_OPT_IS_WHOLE(0, 1e9),                                     \
      .doc = "measure a simulated truth, which differs from calc as published runs do")            \
    X(TOP, "top", "N", CALC_OPT_IS_WHOLE(1, 1e6), .section = "Output",                             \
      .doc = "layouts in the table", .preset = "10")                                               \
    X(HTML, "html", "FILE", .output = true,                                                        \
      .doc = "write an HTML page: layouts to try next, the expected range of each, the "           \
             "measurements; one file that needs no network")                                       \
    X(JSON, "json", "FILE", .output = true,                                                        \
      .doc = "write the decision with all candidates as JSON")                                     \
    X(CSV, "csv", "FILE", .output = true, .doc = "write all candidates as CSV")                    \
    CALC_OPTS_RUNNING(X)
#define CALC_TUNE_OPT_NUMBER(id, ...) CALC_TUNE_OPT_##id,
typedef enum calc_tune_opt { CALC_TUNE_OPT_LIST(CALC_TUNE_OPT_NUMBER) } calc_tune_opt;
#undef CALC_TUNE_OPT_NUMBER

extern const char *const calc_tune_memories[];
extern const calc_opt calc_tune_opts[];

/** How layouts are measured. */
typedef enum calc_tune_way {
    CALC_TUNE_WAY_ASK, /**< by others: what to try is shown */
    CALC_TUNE_WAY_NEXT,
    CALC_TUNE_WAY_COMMAND,
    CALC_TUNE_WAY_SIMULATE
} calc_tune_way;

/** A task. Owns its lists; points into itself: not to be copied. Start with {0}. */
typedef struct calc_tune_task {
    const calc_args *args;
    calc_tune_way way;
    calc_sweep_study study;
    calc_designs exact; /**< the study's designs as they are; it is swept with 10 % more memory */
    calc_app app;
    calc_system system;
    const char *app_name, *system_name;
    calc_sweep_result result;
    calc_residuals known; /**< runs that tell what fits */
    calc_tune_layouts layouts;
    calc_tune_prior prior;
    calc_tune_options options;
    calc_tune_operators operators; /**< of --operators */
    calc_tune_rows rows;
    calc_tune_journal journal;
    size_t measurements, room, most; /**< most: how many there may be */
    calc_tune_measurement *measurement;
    int *line;                 /**< of each measurement in the state; 0: it was made now */
    calc_tune_program program; /**< CALC_TUNE_WAY_COMMAND */
    uint64_t truth_seed;       /**< CALC_TUNE_WAY_SIMULATE */
    double *truth_s, *truth_bytes;
    calc_rng noise;
    size_t table_rows;
    const char *folder;
    bool interrupted;
} calc_tune_task;

/** Checks how the options combine. @return the mistake; NULL if there is none */
const char *calc_tune_task_complaint(const calc_args *args);

/** Take the options, and prepare the sweep. All errors are collected.
 *  @return CALC_OK, or the status of the first error; free it in any case */
CALC_MUST_USE calc_status calc_tune_task_load(calc_tune_task *task, const calc_args *args,
                                              calc_errors *errors);

/** Sweep, and evaluate the candidates. @param watch  begun
 *  @return as calc_sweep() */
CALC_MUST_USE calc_status calc_tune_task_sweep(calc_tune_task *task, calc_sweep_watch *watch,
                                               calc_errors *errors);

/** Add a measurement. @param line  of the state; 0: none */
void calc_tune_task_add(calc_tune_task *task, const calc_tune_measurement *measurement, int line);

/** Learn what measured kernels say of all candidates, if there are some.
 *  @return CALC_OK, or what learning returns */
CALC_MUST_USE calc_status calc_tune_task_learn(calc_tune_task *task, calc_errors *errors);

void calc_tune_task_free(calc_tune_task *task);

/* Decides and measures, until it is time to stop. */

/** Why there are no more measurements. */
typedef enum calc_tune_pause {
    CALC_TUNE_PAUSE_ASKED, /**< others measure */
    CALC_TUNE_PAUSE_STOP,  /**< the decision says so */
    CALC_TUNE_PAUSE_MOST,  /**< --most */
    CALC_TUNE_PAUSE_SIGNAL /**< Ctrl-C */
} calc_tune_pause;

/** Decide; with --command and --simulate, measure and decide again.
 *  @param decision  filled with the last decision; freed by the caller in any case
 *  @return CALC_OK; what calc_tune_decide() returns; CALC_ERR_IO for files and programs */
CALC_MUST_USE calc_status calc_tune_loop(calc_tune_task *task, calc_tune_decision *decision,
                                         calc_tune_pause *pause, calc_errors *errors);

/** Write the execution of a layout into the folder. @param path  filled, CALC_FIND_PATH_MAX bytes
 *  @return CALC_OK or CALC_ERR_IO */
CALC_MUST_USE calc_status calc_tune_loop_write(const calc_tune_task *task, size_t candidate,
                                               char *path, calc_errors *errors);

/** Its path, whether it is written or not. @return path */
char *calc_tune_loop_path(const calc_tune_task *task, size_t candidate, char *path);

/** All of it. */
void calc_tune_table_write(calc_output *out, const calc_tune_task *task,
                           const calc_tune_decision *decision);

/* Writes the files of `calc tune`: --json, --csv, --html. */

/** Write those that are asked for. Every one is tried.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_tune_write(const calc_tune_task *task,
                                          const calc_tune_decision *decision, calc_errors *errors);

#endif
