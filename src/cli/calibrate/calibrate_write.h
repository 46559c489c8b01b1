/** @file calibrate_write.h  The calibrations of `calc calibrate`: to serving runs (traits of
 * engines), to measured operators; what it writes of a calibration to runs, for people, as JSON and
 * as files of machines. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_WRITE_H
#define CALC_CLI_CALIBRATE_CALIBRATE_WRITE_H

#include "calibrate/calibration.h"
#include "calibrate/engine_calibration.h"
#include "cli/shell/find.h"
#include "cli/shell/opt.h"
#include "cli/validate/measured.h"
#include "io/json_put.h"
#include "validate/error_groups.h"

/** Views of a calibration: predictions with assumed constants, with fitted ones, and by fits that
 *  left out the run. */
enum { CALC_CALIBRATE_ASSUMED, CALC_CALIBRATE_FITTED, CALC_CALIBRATE_UNSEEN, CALC_CALIBRATE_VIEWS };

/** All measurements with these predictions. Owns everything. Start with {0}. */
typedef struct calc_calibrate_views {
    calc_results results; /**< predicted with what is known before, or with what was fitted */
    double *predicted[CALC_CALIBRATE_VIEWS]; /**< by index of result; NaN: not in the view */
    calc_results of[CALC_CALIBRATE_VIEWS];
    calc_error_groups groups[CALC_CALIBRATE_VIEWS];
} calc_calibrate_views;

/** Make room for the predictions of the results, which are there; no view has one yet. */
void calc_calibrate_views_start(calc_calibrate_views *views);

/** Make the views of the predictions, and their groups.
 *  @param sets  calc_error_groups_make()'s
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_calibrate_views_make(calc_calibrate_views *views,
                                                    const calc_run_sets *sets, calc_errors *errors);

/** Reject a name that no result is of.
 *  @param names  NULL at the end; NULL: none
 *  @param hint   where names are
 *  @return CALC_OK or CALC_ERR_RULE */
CALC_MUST_USE calc_status calc_calibrate_held_out(const calc_results *results,
                                                  const char *const *names,
                                                  bool (*is_of)(const calc_result *, const char *),
                                                  const char *hint, calc_errors *errors);

/** Write a group of the first view that has it, with its errors in each view, as an element of the
 *  open array.
 *  @param words  of the views, `count` of them */
void calc_calibrate_views_put(calc_put *put, const calc_calibrate_views *views,
                              const char *const *words, size_t count,
                              const calc_error_group *group);

/** Free what they own; fine on {0}. */
void calc_calibrate_views_free(calc_calibrate_views *views);

/** The calibrated families, and all measurements. Borrowed. */
typedef struct calc_calibrate_report {
    const calc_calibration *family;
    size_t families;
    bool unseen;                 /**< whether there are predictions by fits that left the run out */
    const char *const *held_out; /**< calc_calibration_plan's */
    size_t rows;                 /**< number of runs shown one by one */
    const calc_calibrate_views *views;
} calc_calibrate_report;

/** Path of a calibrated machine's file: `out` itself if it ends in .json and there is only one
 *  machine, else NAME.json in the folder `out`.
 *  @param path  filled, CALC_FIND_PATH_MAX bytes */
void calc_calibrate_out_path(const char *out, bool one, const char *machine, char *path);

/** Writes the constants of each family, the errors by published table, and the runs one by one. */
void calc_calibrate_write_table(calc_output *out, const calc_calibrate_report *report);

/** Writes the same, with every run, as JSON. */
void calc_calibrate_write_json(calc_output *out, const calc_calibrate_report *report);

/** Most runs shown by default. */
enum { CALC_CALIBRATE_RUNS_FEW = 20 };

/** The runs predicted both before and after. */
size_t calc_calibrate_runs_count(const calc_calibrate_report *report);

/** Reports the constant of a family that left the range of machines, and the run that pulls it
 *  there, with the run's place.
 *  @param args  whose arguments are the files of `measured`
 *  @return whether a constant left its range */
bool calc_calibrate_runs_refuse(const calc_calibration *family, size_t families,
                                const calc_measured *measured, const calc_args *args,
                                calc_errors *errors);

/** Writes the file of each machine with its calibrated values to calc_calibrate_out_path().
 *  @param date  for the sentence about the calibration
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_calibrate_files_write(const calc_calibration *family,
                                                     size_t families, const char *out,
                                                     const char *date, calc_errors *errors);

/** The request. Texts are borrowed. */
typedef struct calc_calibrate_engines_task {
    calc_measured *measured;
    calc_engine_plan plan;
    const char *out, *json; /**< NULL: not written */
    bool quiet;             /**< standard output carries something else */
} calc_calibrate_engines_task;

/** Calibrates the engines of the runs, reports the errors before and after, and writes their
 *  traits. */
CALC_MUST_USE calc_status calc_calibrate_engines(const calc_calibrate_engines_task *task,
                                                 calc_errors *errors);

/** The request. Borrowed. */
typedef struct calc_calibrate_operators_task {
    const char *operators;      /**< the file */
    const char *rows;           /**< names of machines in it; NULL: the only one */
    const char *const *machine; /**< names of systems, each calibrated separately */
    size_t machines;
    const char *out, *json; /**< paths, or NULL */
    const char *date;
} calc_calibrate_operators_task;

/** Calibrates the systems and writes the report. */
calc_exit calc_calibrate_operators(const calc_calibrate_operators_task *task);

#endif
