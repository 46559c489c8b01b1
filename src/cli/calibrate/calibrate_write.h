/** @file calibrate_write.h  The calibrations of `calc calibrate`: to runs of training (constants of
 *  machines), to runs of serving (traits of engines), to measured operators; what each writes for
 *  people, as JSON and as files of machines and engines. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_WRITE_H
#define CALC_CLI_CALIBRATE_CALIBRATE_WRITE_H

#include "calibrate/calibration.h"
#include "calibrate/engine_calibration.h"
#include "cli/shell/opt.h"
#include "cli/validate/measured.h"
#include "io/json_put.h"
#include "validate/error_groups.h"

/** Views of a calibration: predictions with assumed constants, with fitted ones, and by fits that
 *  left out the run. */
enum { CALC_CALIBRATE_ASSUMED, CALC_CALIBRATE_FITTED, CALC_CALIBRATE_UNSEEN, CALC_CALIBRATE_VIEWS };

enum { CALC_CALIBRATE_FAMILIES = 8, CALC_CALIBRATE_DATE = 32 };

/** A calibration under way: what is asked, the measured runs, and what is found. Owns everything
 *  but the arguments. Start with {0}; large. */
typedef struct calc_calibrate_task {
    const calc_args *args;
    const char *into, *json; /**< values of options, or NULL */
    const char *operators;   /**< likewise: the file of measured operators */
    const char *rows;        /**< names of machines in it; NULL: the only one */
    double worst;            /**< number of runs shown one by one; NaN: not given */
    char date[CALC_CALIBRATE_DATE];
    calc_list fields, held_out, machines[CALC_CALIBRATE_FAMILIES];
    size_t families; /**< lists of machines that are fitted together */
    calc_calibration_plan plan;
    calc_engine_plan engines;
    calc_constant_starts starts;
    calc_measured measured;
    calc_results results; /**< predicted with what is known before, or with what was fitted */
    const char *word[CALC_CALIBRATE_VIEWS];  /**< names of the views */
    int views;                               /**< that are shown */
    double *predicted[CALC_CALIBRATE_VIEWS]; /**< by index of result; NaN: not in the view */
    calc_results view[CALC_CALIBRATE_VIEWS]; /**< the results with these predictions */
    calc_error_groups groups[CALC_CALIBRATE_VIEWS];
    calc_calibration family[CALC_CALIBRATE_FAMILIES];
    calc_engine_calibration found; /**< of serving */
} calc_calibrate_task;

/** Reject names to hold out that no result is of.
 *  @return CALC_OK or CALC_ERR_RULE */
CALC_MUST_USE calc_status calc_calibrate_held_out(const calc_calibrate_task *task,
                                                  calc_errors *errors);

/** Make room for the predictions of the results, which are there; no view has one yet. */
void calc_calibrate_views_start(calc_calibrate_task *task);

/** Make the views of the predictions, and their groups. Results without a prediction in a view, and
 *  memory, are in none of its groups.
 *  @param sets  calc_error_groups_make()'s */
void calc_calibrate_views_make(calc_calibrate_task *task, const calc_run_sets *sets);

/** Write a group of one view, with its errors in each, as an element of the open array. */
void calc_calibrate_views_put(calc_put *put, const calc_calibrate_task *task,
                              const calc_error_group *group);

/** Write the head of a table of errors in several views, then a row of them, blank where a view has
 *  none. */
void calc_calibrate_head(calc_output *out, const char *title, const char *const *word, int views);
void calc_calibrate_row(calc_output *out, const char *name, const calc_spread *of, int views);

/** Write such a table of the groups of a quantity, if there are any.
 *  @param by  dimensions of groups, or names of sets, in the order wanted, NULL at the end */
void calc_calibrate_groups_write(calc_output *out, const calc_calibrate_task *task,
                                 calc_quantity quantity, const char *title, const char *const *by);

/** Free what it owns. */
void calc_calibrate_free(calc_calibrate_task *task);

/** Path of a calibrated file: the value of --into itself if it ends in .json and there is only one,
 *  else NAME.json in that folder.
 *  @param path  filled, CALC_FIND_PATH_MAX bytes */
void calc_calibrate_path(const calc_calibrate_task *task, bool one, const char *name, char *path);

/** Write the report: as JSON if that is asked for, in an object that the function finds open, and
 *  for people unless standard output carries something else.
 *  @param of  given to both
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_calibrate_report(const calc_calibrate_task *task,
                                                void (*json)(calc_put *put, const void *of),
                                                void (*table)(calc_output *out, const void *of),
                                                const void *of, calc_errors *errors);

/** Calibrate the engines of the runs, report the errors before and after, and write their traits.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_calibrate_engines(calc_calibrate_task *task, calc_errors *errors);

/** Calibrate each of the machines to measured operators by itself, and write the report and files.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_calibrate_operators(const calc_calibrate_task *task,
                                                   calc_errors *errors);

#endif
