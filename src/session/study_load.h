/** @file study_load.h  Builds a study: its space, its axes and its settings, from the default
 * study, a space file and options in the words of `calc sweep`; later sources override earlier
 * ones. */
#ifndef CALC_SESSION_STUDY_LOAD_H
#define CALC_SESSION_STUDY_LOAD_H

#include "io/space_load.h"
#include "plan/sweep_more.h"

/** What a study is made of. Borrows everything. */
typedef struct calc_study_source {
    const calc_space_option *use; /**< in the order given; the options of `calc sweep` that define
                                    the space, the goals and how it runs */
    size_t uses;
    const char *app, *system; /**< names with commas between them; NULL: those of the file */
    calc_space_entries file;  /**< the space file; {0}: none */
    bool standard;            /**< of which nothing is said: the default study */
    /** Reads a model or a machine into `object`, a struct of its kind, and says its name and what
     * is to know of it. @param pool  it is the system of a prefill pool */
    calc_status (*read)(void *context, calc_kind kind, const char *name, bool pool, void *object,
                        calc_study_document *said, calc_errors *errors);
    void *context;
    calc_session_find *find; /**< of software that the space names */
    void *find_context;
} calc_study_source;

/** Fill a study. All errors are collected, each with its option or its place in the file.
 *  @return CALC_OK, or the status of the first error; *study must be freed in any case */
CALC_MUST_USE calc_status calc_study_load(calc_sweep_study *study, const calc_study_source *source,
                                          calc_errors *errors);

/** Read the software that a space names, if it names one, and set the axes that nobody asked for as
 *  it has them. After calc_defaults_set().
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_study_software(calc_space *space, calc_session_find *find,
                                              void *context, calc_errors *errors);

/** A positive amount in an option. @return 0 if there is none, negative if it is wrong */
double calc_study_amount(const char *text, const char *unit);

/** Leave in each list of the best only as many as were asked for. */
void calc_study_cut(const calc_sweep_study *study, calc_sweep_result *result);

/** Free what the study owns. Fine on {0}. */
void calc_study_free(calc_sweep_study *study);

#endif
