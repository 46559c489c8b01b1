/** @file run_outcome.h  Evaluates a run and writes it as files of `calc run`. */
#ifndef CALC_CLI_RUN_RUN_OUTCOME_H
#define CALC_CLI_RUN_RUN_OUTCOME_H

#include "calibrate/calibration.h"
#include "calibrate/points.h"
#include "cli/draw/human.h"
#include "cli/shell/inputs.h"
#include "io/json_put.h"
#include "io/output.h"
#include "model/operator_stats.h"
#include "model/stages/measured_block.h"
#include "validate/residuals.h"

/* Writes the band of `calc run --band`, in the summary and as JSON: the range of
 * factors between measured runs like this one and their predictions (validate/residuals.h). */

/** How well the machine of a run is measured: X(NAME, word). */
#define CALC_RUN_BAND_MACHINE_LIST(X)                                                              \
    X(UNMEASURED, "unmeasured") /* no runs of it or of its family */                               \
    X(FAMILY, "family")         /* its constants were fitted to runs of its family */              \
    X(MEASURED, "measured")     /* its constants were fitted to its own runs */

typedef enum calc_run_band_machine {
#define CALC_X(name, word) CALC_RUN_BAND_MACHINE_##name,
    CALC_RUN_BAND_MACHINE_LIST(CALC_X)
#undef CALC_X
        CALC_RUN_BAND_MACHINE_COUNT
} calc_run_band_machine;

/** A band of one layout. Owns the residuals. Start with {0}. */
typedef struct calc_run_band {
    calc_residuals residuals;
    calc_run_band_machine machine;
    char note[256]; /**< why comparable runs may be less alike than usual; "": no reason */
    calc_traits traits;
    calc_band time;   /**< for software like that of the runs, if the machine is measured */
    calc_band other;  /**< for other software */
    calc_band later;  /**< for later software */
    calc_band unseen; /**< for software that no constant was fitted to */
    bool is_unseen;   /**< which of them `time` is: `unseen`, if the layout names such a software */
    bool is_later;    /**< for machines without runs, the wider of `later` and `other` */
    calc_band memory; /**< of tier 1 */
    const calc_inputs *inputs;   /**< borrowed */
    calc_standard_errors errors; /**< of constants that were fitted, or of all that are assumed */
    bool is_assumed;             /**< nothing was fitted: `time` is wider by what is assumed */
    double deviation;            /**< of the logarithm of time, from the errors of constants */
} calc_run_band;

/** Compute the band of a layout.
 *  @return CALC_OK, or the status of calc_find_data() and calc_residuals_read(); *out must be freed
 *  in any case */
CALC_MUST_USE calc_status calc_run_band_make(calc_run_band *out, const calc_inputs *inputs,
                                             calc_errors *errors);

/** Frees the residuals; fine on {0}. */
void calc_run_band_free(calc_run_band *band);

/* Looks up the kernels of a layout among measured operators (`calc run --operators`) and reports
 * the source of each time. */

/** Measured operators and their use in a layout. Owns the file and the table. Start with {0}. */
typedef struct calc_run_operators {
    calc_points points;
    char sha256[CALC_DIGEST_TEXT]; /**< of the file */
    calc_point_table table;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_operator_source source[CALC_MAX_LAYERS];
    size_t count;
    calc_measured_block block; /**< time_s 0: the file has no blocks */
} calc_run_operators;

/** Read a file and look up the operators of a layout; `stats` are those of a step with them.
 *  @param rows  machines in the file, see calc_points_select()
 *  @return CALC_OK, a status of reading, or CALC_ERR_UNSUPPORTED for a layout whose step is not
 *  made of operators; *out must be freed in any case */
CALC_MUST_USE calc_status calc_run_operators_make(calc_run_operators *out, const char *path,
                                                  const char *rows, const calc_inputs *inputs,
                                                  calc_stats *stats, calc_errors *errors);

/** Write a row per operator, for people. */
void calc_run_operators_write(calc_output *out, const calc_run_operators *operators);

/** A run and its results. */
typedef struct calc_run_outcome {
    calc_inputs inputs;
    calc_stats stats;
    calc_compat compat;
    bool exact; /**< the pipeline is simulated; false: closed form */
    calc_reason reason[CALC_MAX_REASONS];
    size_t reason_count;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    size_t layer_count;      /**< 0 unless asked for */
    calc_stage_stats *stage; /**< owned */
    size_t stage_count;      /**< 0 with measured operators unless asked for */
    size_t stage_known;      /**< stages listed in `stage`, on request or not */
    const char **set;        /**< owned: assignments FIELD=VALUE */
    size_t set_count;
    char *command; /**< owned: the command that repeats the run, a JSON array of words; or NULL */
    bool has_band;
    calc_run_band band;                          /**< if there is one */
    const char *operators_file, *operators_rows; /**< as typed; NULL: not given */
    calc_run_operators *operators;               /**< owned: measured ones; NULL: not asked for */
    double tokens;           /**< of the training whose time and price are asked for; 0: none */
    const char *tokens_text; /**< the same as typed: "15T" */
    bool plots;              /**< the pipeline is drawn below the summary */
    calc_paint paint;        /**< of the summary */
} calc_run_outcome;

/** Write the title of a section, after an empty line. */
void calc_report_title(calc_output *out, const calc_paint *paint, const char *title);

/** Write the summary in 80 columns or the width of the terminal, except its longest lines. */
void calc_report_write(calc_output *out, const calc_run_outcome *o);

/** Write the part of the summary about the layout: parallel groups and the networks they span,
 *  blocks of stages, attention, number formats and memory savings. Fields of modern models show
 *  only if the layout has any. */
void calc_report_layout_write(calc_output *out, const calc_run_outcome *o);

/** Write the section of the summary about the band. */
void calc_run_band_write(calc_output *out, const calc_run_outcome *o);

/** Evaluate the inputs: statistics, reasons, layers of a block if `layers`.
 *  @return CALC_OK, or what calc_simulation_stats() returns */
CALC_MUST_USE calc_status calc_run_outcome_evaluate(calc_run_outcome *o, bool layers,
                                                    calc_errors *errors);

/** List every stage in `stage`, if each has blocks, and set `stage_known`; the caller sets
 *  stage_count. */
void calc_run_outcome_stages(calc_run_outcome *o);

/** Store the command that repeats the run.
 *  @param argument  APP SYS EXE as given on the command line */
void calc_run_outcome_command(calc_run_outcome *o, const char *const argument[CALC_INPUTS]);

/** Write inputs, verdict and statistics as one JSON object. */
void calc_run_write_json(calc_output *out, const calc_run_outcome *o);

/** Write a header and one row of CSV. */
void calc_run_write_csv(calc_output *out, const calc_run_outcome *o);

/** Write a header and one row of CSV per stage. */
void calc_run_write_stages(calc_output *out, const calc_run_outcome *o);

/** Write which ranks communicate with which, as JSON. */
void calc_run_write_peers(calc_output *out, const calc_run_outcome *o);

/** Free what it owns; fine on {0}. */
void calc_run_outcome_free(calc_run_outcome *o);

/* A run as a page for a browser. */

/** Write the page: the output of `calc run --json`, plus all layers and stages, the parts of time
 *  and memory, the pipeline, and the effect of raising each rate.
 *  @param o     evaluated, with its stages listed
 *  @param plan  output of `calc plan --json` if the run is the best layout of a plan; else NULL
 *  @return CALC_OK, or the status of an error that was added: CALC_ERR_NOMEM, CALC_ERR_IO */
CALC_MUST_USE calc_status calc_run_page_write(const char *path, const calc_run_outcome *o,
                                              const calc_text *plan, calc_errors *errors);

#endif
