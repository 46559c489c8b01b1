/** @file plan_task.h  The options of `calc plan`, and its task: model, chips, space. */
#ifndef CALC_CLI_PLAN_PLAN_TASK_H
#define CALC_CLI_PLAN_PLAN_TASK_H

#include "cli/shell/inputs.h"
#include "designs.h"
#include "io/json_put.h"
#include "io/output.h"
#include "plan/planner.h"
#include "validate/residuals.h"

/** Rows of calc_plan_opts. */
#define CALC_PLAN_OPT_LIST(X)                                                                      \
    X(PROCS, "procs", "N", .section = "What is searched",                                          \
      .doc = "number of processors; several chips without --chips: as many of each as are needed") \
    X(BATCH, "batch", "N", .doc = "global batch of a step, in sequences")                          \
    X(CHIPS, "chips", "LIST",                                                                      \
      .doc = "how many processors there are of each SYS: a800:128,h800:160; -1 or no number: any") \
    CALC_OPT_AXIS(X)                                                                               \
    CALC_INPUTS_SET(X)                                                                             \
    X(KEEP_ORDER, "keep-order", NULL,                                                              \
      .doc = "chips stand along the pipeline as they were named; else in the best order")          \
    X(JOIN, "join-latency", "SECONDS", CALC_OPT_IS_NUMBER(0, 1),                                   \
      .doc = "latency of messages between different chips, beside the slower network's",           \
      .preset = "0")                                                                               \
    X(RECOMPUTE, "recompute", "HOW",                                                               \
      .doc = "number of layers that recompute: its own for each stage, the same for all stages "   \
             "on a chip, or none [stage where a framework on these chips supports it, else chip]", \
      .choices = calc_plan_recompute)                                                              \
    X(ALL_MEMORY, "all-memory", NULL,                                                              \
      .doc = "use all of the memory; by default only as much as is 90 % sure to fit, by measured " \
             "runs")                                                                               \
    X(PER_LAYER, "per-layer", NULL, .was = "layers",                                               \
      .doc = "find a strategy for each layer: parallelism, sharding and recomputation")            \
    X(TOP, "top", "N", CALC_OPT_IS_WHOLE(1, 1000), .section = "Display",                           \
      .doc = "how many layouts to find", .preset = "5")                                            \
    X(PLOT, "plot", NULL,                                                                          \
      .doc = "draw the pipeline below the table, with stages that are all alike and as planned")   \
    X(SAVE_BEST, "save-best", "FILE", .output = true, .section = "Files",                          \
      .doc =                                                                                       \
          "write the layout to start with as an execution for calc run: the best that is sure to " \
          "fit and that a framework runs; without such a layout, and with --per-layer, the best")  \
    X(HTML, "html", "FILE", .output = true,                                                        \
      .doc = "write an HTML page: the layouts, their stages or layers, and the run of the best; "  \
             "one file that needs no network")                                                     \
    X(JSON, "json", "FILE", .output = true, .was = "out",                                          \
      .doc = "write all results with their statistics as JSON")                                    \
    X(CSV, "csv", "FILE", .output = true, .doc = "write the table as CSV")                         \
    X(BALANCE_ONLY, "balance-only", "EXE", .section = "Instead of a search",                       \
      .doc = "only spread the layers of this layout and choose the recomputation of its stages")   \
    CALC_OPTS_RUNNING(X)                                                                           \
    X(TIME_LIMIT, "time-limit", "SECONDS", CALC_OPT_IS_NUMBER(1e-3, 1e9),                          \
      .doc = "stop after this time with the results so far", .preset = "10")                       \
    X(SOLVER, "solver", "NAME",                                                                    \
      .doc = "let a solver of mixed-integer programs that is installed divide the layers of the "  \
             "best layout, too, and compare: glpsol",                                              \
      .choices = calc_plan_solvers)                                                                \
    X(MPS, "mps", "FILE", .output = true,                                                          \
      .doc = "write that program as an MPS file, and the meaning of its names to FILE.names.csv")

#define CALC_PLAN_OPT_NUMBER(id, ...) CALC_PLAN_OPT_##id,
typedef enum calc_plan_opt { CALC_PLAN_OPT_LIST(CALC_PLAN_OPT_NUMBER) } calc_plan_opt;
#undef CALC_PLAN_OPT_NUMBER

extern const char *const calc_plan_recompute[];
extern const char *const calc_plan_solvers[];
extern const calc_opt calc_plan_opts[];

/** Owns its lists; points into itself: not to be copied. Start with {0}. */
typedef struct calc_plan_task {
    const calc_args *args;
    char app_name[256], exec_name[256];
    calc_app app;
    int chips;
    calc_planner_chip chip[CALC_MAX_CHIPS];
    calc_planner_chip planned[CALC_MAX_CHIPS]; /**< with the memory that is planned for */
    char remark[1 + CALC_MAX_CHIPS]
               [CALC_REMARK_SIZE];   /**< on the model, on the chips; io/remark.h */
    char fitted[CALC_MAX_CHIPS][64]; /**< machine whose runs a chip's constants were fitted to */
    calc_residuals known;            /**< runs that tell what fits; empty: none do */
    calc_exec only;
    calc_space space;
    calc_designs_builder builder;
    calc_planner planner;
    bool listed; /**< layers are to be listed: calc_planner_layers_run() */
} calc_plan_task;

/** Fill it from the command line. All errors are collected.
 *  @return CALC_OK, or the status of the first error; what it owns must be freed in any case */
CALC_MUST_USE calc_status calc_plan_task_load(calc_plan_task *task, const calc_args *args,
                                              calc_errors *errors);

/* A planned layout: its stages, the system of each, how many of its blocks
 * recompute and how long it waits; the same with stages that are all alike; and the part of the
 * memory that plans fill, in which nine of ten comparable measured runs would have fitted
 * (validate/residuals.h). */

/** A stage. Borrows the system and its name. */
typedef struct calc_plan_row {
    const calc_system *system;
    const char *name;  /**< of the system */
    double recomputed; /**< blocks that it recomputes in full, in all its chunks */
    double idle;       /**< share of the slowest stage's passes that it waits */
    double message_s;  /**< activations of a micro-batch, chunk and processor on the way to the next
                            stage; NaN: there is none */
    calc_stage_stats stats;
} calc_plan_row;

/** All stages. @param exec  of a layout on the chips of the task, kept as long as the stages
 *  @param chip  whose system stages without one are on
 *  @return a list that the caller frees, of *count; NULL if no stage is known; without
 *  memory the command ends */
calc_plan_row *calc_plan_rows_make(const calc_plan_task *task, int chip, const calc_exec *exec,
                                   size_t *count);

/** How sure it is that a layout fits: the minimum over its stages, each on its chip, see
 *  calc_fits_of(); NaN: not known. */
double calc_plan_rows_fits(const calc_plan_task *task, int chip, const calc_exec *exec);

/** The layout to start with, as calc_sweep_order_advise() has it: the first that is as good as sure
 * to fit and that a framework runs. @param rank  its rank, 0: it is not in the list
 *  @return NULL if there is none */
const calc_planner_found *calc_plan_rows_start(const calc_plan_task *task,
                                               const calc_planner_result *result, size_t *rank);

/** The execution of a layout, which names the systems of its stages where there are several to
 *  choose from. */
calc_exec calc_plan_rows_named(const calc_plan_task *task, const calc_planner_found *found);

/** "stages": all of them. */
void calc_plan_rows_put(calc_put *put, const calc_plan_task *task, int chip, const calc_exec *exec);

/** The best of even blocks, and of embedding and head counted as blocks, with full recomputation or
 *  none. On several chips: as many blocks on every stage, the first ones with what is left, where
 *  the chips stand.
 *  @param exec   that layout
 *  @param stats  filled if there is one that fits
 *  @return whether there is */
bool calc_plan_even(const calc_plan_task *task, const calc_planner_found *found, calc_exec *exec,
                    calc_stats *stats);

/** What that is: "stages that are all alike". Whether all of its blocks recompute. */
const char *calc_plan_even_words(const calc_planner_found *found);
bool calc_plan_even_recomputed(const calc_exec *even);

/** Put what was found on the chips as they are: of `chip`, and those that its stages name. */
void calc_plan_room_give(const calc_plan_task *task, int chip, calc_exec *exec, calc_stats *stats);

/** Say what the layout lacks that is nearest to fit, where none does. */
void calc_plan_room_lack(const calc_plan_task *task, const calc_planner_result *result);

/** A line that says how much of which chip, where some is left free. */
void calc_plan_room_write(calc_output *out, const calc_plan_task *task);

/** Plan with a GiB more on every processor. @param only  one layout; NULL: all of the space */
CALC_MUST_USE calc_status calc_plan_rows_more(const calc_plan_task *task, const calc_exec *only,
                                              calc_planner_result *out, calc_errors *errors);

/** Write the table of layouts, the stages of the best, its bottleneck, and the effect of more
 *  memory. */
void calc_plan_table_write(calc_output *out, const calc_plan_task *task,
                           const calc_planner_result *result);

/** Draw both; nothing without --plot. @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_plan_plot_write(calc_output *out, const calc_plan_task *task,
                                               const calc_planner_found *found,
                                               calc_errors *errors);

/* Writes the results of `calc plan --per-layer` for people; and as JSON the
 * strategy of each run of equal layers, with the time to rearrange activations where it changes. */

/** The table of layouts; of the best its layers and stages, what binds it, and what other memory
 *  would make of it.
 *  @param more  what there is with a GiB more on every processor; or NULL */
void calc_layers_table_write(calc_output *out, const calc_plan_task *task,
                             const calc_planner_result *result, const calc_planner_result *more);

/** The strategy of the layers, listed or not: "16x tp2 zero2, 16x tp2 zero3".
 *  @param text  CALC_LAYER_WORDS_SIZE bytes, returned */
char *calc_layers_table_words(const calc_plan_task *task, const calc_exec *exec, char *text);

/** "layers", with an entry per run, and "ends", the embedding and the head. Without a list of
 *  layers all of them are one run. */
void calc_layers_runs_put(calc_put *put, const calc_plan_task *task, const calc_exec *exec);

#endif
