/** @file sweep_study.h  Builds the study of `calc sweep` (its space, its axes and its settings)
 *  from the default study, a space file and the command line; later sources override earlier
 *  ones. */
#ifndef CALC_CLI_SWEEP_SWEEP_STUDY_H
#define CALC_CLI_SWEEP_SWEEP_STUDY_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "checkpoint.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_rows.h"
#include "io/json_put.h"
#include "io/output.h"
#include "plan/sweep_more.h"
#include "ranks.h"
#include "session/completion.h"
#include "sweep.h"

/** Fill a study. All errors are collected, each with its option or its place in the file.
 *  @param args  of the command `sweep`; must live as long as the study
 *  @return CALC_OK, or the status of the first error; *study must be freed with calc_study_free()
 * in any case */
CALC_MUST_USE calc_status calc_sweep_study_load(calc_sweep_study *study, const calc_args *args,
                                                calc_errors *errors);

/* The options of `calc sweep`, shared by its files. */

/** Rows of calc_sweep_opts. */
#define CALC_SWEEP_OPT_LIST(X)                                                                     \
    X(PROCS, "procs", "VALUES", .section = "Search space",                                         \
      .doc = "numbers of processors: 512 or 8:8192:8")                                             \
    X(BATCH, "batch", "MAX",                                                                       \
      .doc = "largest global batch, 512 or 4Mitokens: each layout uses the largest multiple of "   \
             "its data parallelism; --set gbs=N is exact")                                         \
    X(AXIS, "axis", "FIELD=VALUES",                                                                \
      .doc = "sweep a field over a,b,c, lo:hi:step, lo:hi:xFACTOR or * (every legal value); "      \
             "also fields of the model and the machine: sys.mem1.GiB=40,80",                       \
      .repeated = true)                                                                            \
    CALC_INPUTS_SET(X)                                                                             \
    X(FOR, "for", "FRAMEWORK",                                                                     \
      .doc = "only layouts that it runs, by the rules of calc export; any: that some framework "   \
             "for the machine runs; none: also those that none runs, marked '!'",                  \
      .choices = calc_sweep_frameworks, .preset = "any")                                           \
    CALC_OPT_COMPAT(X)                                                                             \
    X(WHERE, "where", "COND", .section = "Goals",                                                  \
      .doc = "only layouts that meet a condition on a statistic or a field: 'mem1 <= 60GiB', "     \
             "'tensor_par != 3'",                                                                  \
      .repeated = true)                                                                            \
    X(TOKENS, "tokens", "N",                                                                       \
      .doc = "show the days and the price of training on this many tokens, 15T, with the first "   \
             "row of each design, or with --per the best of each group; --set price=2.5 is USD "   \
             "per processor and hour")                                                             \
    X(DAYS, "days", "N", .doc = "only layouts that train --tokens in this many days")              \
    X(BUDGET, "budget", "USD",                                                                     \
      .doc = "only layouts whose processors cost at most this an hour, by the prices of the "      \
             "machines; without --procs all numbers of nodes that it pays for")                    \
    X(OBJECTIVES, "objectives", "LIST",                                                            \
      .doc = "1 to 4 statistics of the Pareto front; mem1 and mem2 are the memory needs of the "   \
             "tiers; :up or :down sets the direction of one [sample_rate,mem1,mem2; for serving "  \
             "output_tokens_per_s_per_proc,tokens_per_s_per_user]")                                \
    X(TOP_BY, "top-by", "STAT",                                                                    \
      .doc =                                                                                       \
          "statistic that ranks the best [sample_rate; for serving output_tokens_per_s_per_proc]") \
    X(TOP, "top", "N", CALC_OPT_IS_WHOLE(0, 1e6),                                                  \
      .doc = "number of best layouts to list; in the table, similar layouts count once [10]")      \
    X(PER, "per", "LIST",                                                                          \
      .doc = "one front and one list of best for each num_procs, each design (model, machine and " \
             "their swept fields), or both")                                                       \
    X(FRONT, "front", NULL, .section = "Display",                                                  \
      .doc = "also show the Pareto front, as do --objectives and --plot")                          \
    X(COLUMNS, "columns", "LIST",                                                                  \
      .doc = "columns of the tables: heads, statistics and fields [those that differ between "     \
             "rows and fit]")                                                                      \
    X(PLOT, "plot", NULL, .doc = "draw the time of the best below the tables")                     \
    X(SAVE_BEST, "save-best", "FILE", .output = true, .section = "Files",                          \
      .doc = "write the layout to start with as an execution for calc run: likely to fit, run by " \
             "a framework, and the simplest of those about as fast; without such a one, the best") \
    X(SAVE_SYS, "save-sys", "FILE", .output = true,                                                \
      .doc = "write the machine of that layout, as --set and --axis made it")                      \
    X(HTML, "html", "FILE", .output = true,                                                        \
      .doc = "write an HTML page: the front, the best, their time and memory, every split; one "   \
             "file that needs no network")                                                         \
    X(JSON, "json", "FILE", .output = true,                                                        \
      .doc = "write front and best with all fields and statistics as JSON")                        \
    X(CSV, "csv", "FILE", .output = true, .doc = "write the same as CSV")                          \
    X(OUT, "out", "FILE", .output = true,                                                          \
      .doc = "write the part of --shard; otherwise the same as --json or --csv, by its ending")    \
    X(ALL, "all", "FILE", .output = true,                                                          \
      .doc = "write every feasible layout as a row of CSV; slower, as every layout needs all its " \
             "statistics")                                                                         \
    X(SUMMARY, "summary", "FILE", .output = true, .doc = "write counts, times and rates as JSON")  \
    X(PLAN, "plan", NULL, .section = "Instead of a sweep",                                         \
      .doc = "show the axes, the number of layouts and about how long the sweep takes, without "   \
             "sweeping")                                                                           \
    X(SAMPLE, "sample", "N", CALC_OPT_IS_WHOLE(1, 1e6 /* all are kept in memory */),               \
      .doc =                                                                                       \
          "evaluate N random layouts only: how many are feasible, and the quantiles of --top-by")  \
    X(SEED, "seed", "S", .unlisted = true, CALC_OPT_IS_WHOLE(0, 999999999999999),                  \
      .doc = "another seed draws other layouts", .preset = "0")                                    \
    CALC_OPTS_RUNNING(X)                                                                           \
    X(TIME_LIMIT, "time-limit", "SECONDS", CALC_OPT_IS_NUMBER(1e-3, 1e9),                          \
      .doc = "stop after this time with the results so far")                                       \
    X(NO_PRUNE, "no-prune", NULL, .unlisted = true,                                                \
      .doc = "also evaluate layouts that bounds prove to be dominated or too large; the result "   \
             "is the same")                                                                        \
    X(VERIFY, "verify", "FRAC", .unlisted = true, CALC_OPT_IS_NUMBER(0, 1),                        \
      .doc = "share of the layouts to check against calc run, from 0 to 1; a difference ends the " \
             "sweep")                                                                              \
    X(CPU, "cpu", "LEVEL", .unlisted = true,                                                       \
      .doc = "instruction set: generic, x86-64-v3 or x86-64-v4 [the best of this machine]")        \
    X(CHECKPOINT, "checkpoint", "FILE", .section = "Long sweeps",                                  \
      .doc = "save the results so far, so that a killed sweep can continue")                       \
    X(EVERY, "checkpoint-every", "SECONDS", .unlisted = true, CALC_OPT_IS_NUMBER(0, 1e9),          \
      .doc = "time between checkpoints", .preset = "5")                                            \
    X(RESUME, "resume", NULL, .doc = "continue from the checkpoint, or start if there is none")    \
    X(SHARD, "shard", "I/N",                                                                       \
      .doc = "sweep the I-th of N equal shares; --out FILE is then a part for --merge and a "      \
             "checkpoint")                                                                         \
    X(MERGE, "merge", NULL, .alone = true,                                                         \
      .doc = "put the parts that --shard wrote together, in any order: calc sweep --merge "        \
             "PART... --out FILE; the result is, byte for byte, that of one sweep")                \
    X(PART, "part", "PART", .doc = "one of them", .repeated = true, .unlisted = true)

#define CALC_SWEEP_OPT_NUMBER(id, ...) CALC_SWEEP_OPT_##id,
typedef enum calc_sweep_opt {
    CALC_SWEEP_OPT_LIST(CALC_SWEEP_OPT_NUMBER) CALC_SWEEP_OPTS
} calc_sweep_opt;
#undef CALC_SWEEP_OPT_NUMBER

extern const char *const calc_sweep_frameworks[];
extern const calc_opt calc_sweep_opts[];
extern const calc_arg calc_sweep_args[];

/* Options of a sweep about a training with limited time and a price:
 * --tokens 15T --days 60. */

/** Check --tokens and --days. @return the mistake; NULL if there is none */
const char *calc_sweep_tokens_complaint(const calc_args *args);

/** Write the days and the price of the training of --tokens with the best layout of each group, or
 *  the first of the rows of each design; nothing without it. */
void calc_sweep_tokens_write(calc_output *out, const calc_sweep_study *study,
                             const calc_sweep_result *result, const calc_sweep_rows *rows,
                             const calc_args *args);

/* Records the command and the inputs of a sweep for its page. */

/** Write the remarks on the documents, a line each. */
void calc_sweep_read_write_remarks(calc_output *out, const calc_sweep_study *study);

/** Write the members "read" and "command": the documents, and the words that define the space and
 *  the objectives, without files and the way it runs. */
void calc_sweep_read_put(calc_put *put, const calc_sweep_study *study, const calc_args *args);

/* Runs a sweep in parts: --checkpoint, --resume, --shard, and --merge, which
 * puts the parts together. */

/** Values of the options. Start with {0}; free with calc_sweep_save_free(). */
typedef struct calc_sweep_save {
    calc_saving saving;
    double every_s;    /**< seconds between checkpoints */
    const char **part; /**< files to merge instead of sweeping */
    size_t parts;      /**< 0: sweep */
    bool is_part;      /**< --out is a part, which the sweep itself writes */
} calc_sweep_save;

/** Whether an option of calc sweep defines the space, and not only how to sweep and where to write:
 * the words of a part have no others. */
bool calc_sweep_save_defines(int opt);

/** Read the options. @return CALC_OK, CALC_ERR_RANGE or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_save_load(calc_sweep_save *save, const calc_args *args,
                                               calc_errors *errors);

/** Check how the options combine. @return the mistake; NULL if there is none
 *  @param ranks  processes that share the sweep */
const char *calc_sweep_save_complaint(const calc_args *args, int ranks);

/** Sweep, or merge. @param options  of the study, with callbacks
 *  @return see calc_ranks_sweep() and calc_parts_merge() */
CALC_MUST_USE calc_status calc_sweep_save_run(const calc_sweep_save *save,
                                              const calc_sweep_study *study,
                                              const calc_sweep_options *options, calc_ranks *ranks,
                                              calc_sweep_result *result, calc_errors *errors);

/** Free what it owns. Fine on {0}. */
void calc_sweep_save_free(calc_sweep_save *save);

/** How progress is shown. */
typedef enum calc_sweep_show {
    CALC_SWEEP_SHOW_NOTHING,
    CALC_SWEEP_SHOW_BAR,  /**< one line, updated in place */
    CALC_SWEEP_SHOW_PLAIN /**< a new line now and then */
} calc_sweep_show;

typedef struct calc_sweep_watch {
    calc_sweep_show show;
    double limit_s; /**< infinity: no limit */
    double start_s, shown_s;
    double share;            /**< share of the work done */
    atomic_bool interrupted; /**< by Ctrl-C or SIGTERM */
    bool timed_out;
    sigset_t signals, mask; /**< signals watched; signals blocked before */
    pthread_t guard;        /**< waits for one of them */
    bool is_guarded;
    atomic_bool ended;
    bool alone; /**< no other process waits for what this one has */
} calc_sweep_watch;

/** Begin to watch. From now on Ctrl-C and SIGTERM are told to the work that asks by
 *  calc_sweep_watch_progress(), which ends with what it has. A second one ends calc at once, and so
 *  does work that has not ended CALC_SWEEP_WATCH_GRACE_S seconds after the first. *watch must stay
 *  where it is until calc_sweep_watch_end().
 *  @param how    "auto": a bar if standard error is a terminal; "plain"; "none"
 *  @param alone  false: one of several ranks, which end together, however long that takes */
void calc_sweep_watch_begin(calc_sweep_watch *watch, const char *how, double limit_s, bool alone);

enum { CALC_SWEEP_WATCH_GRACE_S = 5 };

/** calc_sweep_options.progress. @param watch  a calc_sweep_watch */
bool calc_sweep_watch_progress(void *watch, const calc_sweep_progress *progress);

/** Restore the terminal, for what is written now. A signal has the work's grace to be ignored in:
 *  what is found is written. */
void calc_sweep_watch_hide(calc_sweep_watch *watch);

/** Restore the terminal and the signals. */
void calc_sweep_watch_end(calc_sweep_watch *watch);

/** The rows of --procs and --batch of commands that complete layouts. */
#define CALC_COMPLETE_OPTS(X)                                                                      \
    X(PROCS, "procs", "N", CALC_OPT_IS_WHOLE(1, 1e9),                                              \
      .doc = "processors, where EXE does not say num_procs or is left out")                        \
    X(BATCH, "batch", "MAX", .doc = "largest global batch, likewise, as for calc sweep")

/** The row of EXE of these commands. */
#define CALC_COMPLETE_EXE                                                                          \
    CALC_ARG_DOCUMENT("EXE", CALC_KIND_EXEC, .optional = true,                                     \
                      .doc = "how the model is laid out on the machine: likewise, or a name in "   \
                             "executions/; what it and --set leave out is as in the layout that "  \
                             "calc sweep would start with")

/** Let calc_inputs_load() complete layouts, with these values of --procs and --batch; NULL: none.
 */
void calc_sweep_completes_with(calc_inputs *inputs, const char *procs, const char *batch);

/** The same with the values of a command's options.
 *  @param procs, batch  rows of these options
 *  @param compat        rules of Calculon that the run follows, as typed; NULL: none */
void calc_sweep_completes(calc_inputs *inputs, const calc_args *args, int procs, int batch,
                          const char *compat);

/** Layouts of which only some fields are said, for inputs that calc_inputs_load() has completed:
 * the one to start with, and then at most `most` of the Pareto front, evenly spread.
 *  @param objectives  of the front, as for --objectives; NULL: the default
 *  @param found       set: an array to be freed, of *count
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_sweep_front_of(const calc_inputs *inputs, const char *const *set,
                                              size_t set_count, const char *objectives, size_t most,
                                              calc_exec **found, size_t *count,
                                              calc_errors *errors);

#endif
