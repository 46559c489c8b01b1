/** @file residuals.h  How far measured runs were from predictions that had not seen them: the file
 *  measured/residuals.csv, which `calc calibrate --residuals` writes; and
 * measured/unseen_software.csv, of runs whose software no constant was fitted to, which
 * `scripts/refit` writes. */
#ifndef CALC_VALIDATE_RESIDUALS_H
#define CALC_VALIDATE_RESIDUALS_H

#include "io/output.h"
#include "io/text.h"
#include "validate/results.h"

/* How far measured runs were from forecasts: predictions by constants that were
 * fitted to runs published before a month only, of runs published since. A run has one for each
 * month that it was published in or after. The file measured/forecasts.csv, which `scripts/refit`
 * makes of `calc calibrate --hold-out`. */

/** The step of one run. Texts are borrowed from the file. */
typedef struct calc_forecast {
    const char *id;
    const char *before; /**< the month, "2026-02": results published then or later were not seen */
    double value;       /**< log(measured / predicted) */
} calc_forecast;

/** All of a file, by run, then by month. Reading returns what calc_residuals_read() does; also
 *  CALC_ERR_TYPE for text that is no month. */
CALC_CSV_LIST(calc_forecasts, calc_forecast, calc_forecasts_read, calc_forecasts_free);

/** Whether a text is a month: "2025-07". */
bool calc_is_month(const char *text);

/** The number of a month; later ones have larger numbers. @param text  a month */
int calc_month_number(const char *text);

/** Read them from a text, which they own from now on; `name` is its name in errors. */
CALC_MUST_USE calc_status calc_forecasts_parse(calc_forecasts *out, calc_text text,
                                               const char *name, calc_errors *errors);

/** That of a run by the fit to what was published before `before`; NULL: by the last of these fits.
 *  @return NULL if there is none */
const calc_forecast *calc_forecasts_find(const calc_forecasts *forecasts, const char *id,
                                         const char *before);

/** The first month after `month` that a fit was made at, of the whole file; "" is before them all.
 *  NULL: there is none. */
const char *calc_forecasts_next(const calc_forecasts *forecasts, const char *month);

/** The data that the fit behind a prediction had not seen: X(NAME, column of the residual, of its
 *  fold). */
#define CALC_UNSEEN_LIST(X)                                                                        \
    X(WIDTH, unseen_width, width_fold)    /* models of this width */                               \
    X(SOURCE, unseen_source, source_fold) /* runs of this publisher */

typedef enum calc_unseen {
#define CALC_X(name, value, fold) CALC_UNSEEN_##name,
    CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
        CALC_UNSEEN_CROSSED,                   /**< so many has the file */
    CALC_UNSEEN_RELEASE = CALC_UNSEEN_CROSSED, /**< all published since: forecasts.h */
    CALC_UNSEEN_SOFTWARE,                      /**< all runs of this software, and of the others of
                                                    that file */
    CALC_UNSEEN_COUNT
} calc_unseen;

/** Quantities of runs of training, the first ones of CALC_QUANTITY_LIST. */
#define CALC_RESIDUAL_QUANTITIES 2

/** Properties by which a run is compared. Texts are borrowed. */
typedef struct calc_traits {
    const char *family; /**< of machines: "H100"; "": not one that is known */
    bool experts;       /**< a mixture of experts */
    int bits;           /**< of the numbers that matrices of blocks are multiplied in */
    double processors;
} calc_traits;

/** One measurement. Texts are borrowed from the file. */
typedef struct calc_residual {
    const char *id, *source, *machine;
    calc_quantity quantity;
    calc_traits traits;
    int table, family;               /**< numbers of source and family, from 0 */
    double value[CALC_UNSEEN_COUNT]; /**< log(measured / predicted); NaN: there is none */
    int fold[CALC_UNSEEN_COUNT];     /**< runs with the same number were left out together */
} calc_residual;

/** A run, and the size of a value of it without its sign; in units of its kind's typical error
 *  where both kinds of models have one. */
typedef struct calc_residual_place {
    double size;
    const calc_residual *run;
} calc_residual_place;

/** Runs that have a value, by its size. */
typedef struct calc_residual_list {
    calc_residual_place *item;
    size_t count;
} calc_residual_list;

/** All of a file. Owns everything. Start with {0}. */
typedef struct calc_residuals {
    calc_residual *item;
    size_t count;
    calc_residual_list list[CALC_RESIDUAL_QUANTITIES][CALC_UNSEEN_COUNT];
    /** Median size of an unseen width's, of dense models and of mixtures of experts, tables
     * weighing as calc_spread_weight() says; 0: there are none. */
    double typical[CALC_RESIDUAL_QUANTITIES][2];
    int tables, families;
    calc_text text, software; /**< of both files */
} calc_residuals;

/** Weight of a run among `count` of its table: n runs count as n^0.6, so that no table outvotes the
 *  others. */
double calc_spread_weight(size_t count);

/** The traits of a layout on a machine of that family. */
calc_traits calc_traits_of(const calc_app *app, const calc_exec *exec, const char *family);

/** Read a file.
 *  @return CALC_OK; CALC_ERR_FIELD for a missing column or cell, CALC_ERR_TYPE for a cell of the
 *  wrong type, CALC_ERR_SYNTAX, CALC_ERR_NOMEM, or what calc_text_read() returns. Errors name file
 *  and line. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_residuals_read(calc_residuals *out, const char *path,
                                              calc_errors *errors);

/** The same from a text, which the residuals own from now on; `name` is its name in errors. */
CALC_MUST_USE calc_status calc_residuals_parse(calc_residuals *out, calc_text text,
                                               const char *name, calc_errors *errors);

/** Take forecasts as the values of CALC_UNSEEN_RELEASE; a month is a fold.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_residuals_take_forecasts(calc_residuals *residuals,
                                                        const calc_forecasts *forecasts,
                                                        calc_errors *errors);

/** Add runs whose software nothing was fitted to, from a text, which the residuals own from now
 * on: their values are of CALC_UNSEEN_SOFTWARE alone, and a publisher is a fold.
 *  @return as calc_residuals_parse() */
CALC_MUST_USE calc_status calc_residuals_add_software(calc_residuals *residuals, calc_text text,
                                                      const char *name, calc_errors *errors);

/** The files of the measured runs that are shipped, for a calc_session_find of CALC_KIND_NONE. */
#define CALC_FIND_RESIDUALS "measured/residuals.csv"
#define CALC_FIND_FORECASTS "measured/forecasts.csv"
#define CALC_FIND_UNSEEN_SOFTWARE "measured/unseen_software.csv"

/** Read all three: from them bands and the chance to fit are computed.
 *  @param find  NULL: the names are paths
 *  @return CALC_OK, or the status of `find`, calc_residuals_read() or calc_forecasts_read(); *out
 *  must be freed in any case */
CALC_MUST_USE calc_status calc_residuals_known(calc_residuals *out, calc_session_find *find,
                                               void *context, calc_errors *errors);

/** That of a measurement; NULL if there is none. */
const calc_residual *calc_residuals_find(const calc_residuals *residuals, const char *id,
                                         calc_quantity quantity);

/** The family of a machine that has runs; NULL if it has none. */
const char *calc_residuals_family(const calc_residuals *residuals, const char *machine);

/** The family of a run's machine: its own, or that of other runs on the machine; "" if none is
 *  known. */
const char *calc_residuals_family_of(const calc_residuals *residuals, const calc_runs_row *row);

/** Write the names of the columns; then one row, values with four decimals. */
void calc_residuals_write_head(calc_output *out);
void calc_residuals_write(calc_output *out, const calc_residual *residual);

/** Free what they own; fine on {0}. */
void calc_residuals_free(calc_residuals *residuals);

/* The factor around a prediction that contains nine of ten measurements: split
 * conformal prediction (Lei et al. 2018, J. Am. Stat. Assoc. 113) on the residuals of comparable
 * runs.
 *
 * The score of a run is |log(measured / predicted)|. The reach of the band is the smallest score
 * for which the runs up to it weigh CALC_BAND_LEVEL of all and of one more, that of the run to
 * predict, which weighs their mean: with equal weights the usual ceil((n + 1) 0.9)-th. A table of
 * n runs weighs n^0.6 (calc_spread_weight()). Scores have no sign, as tables are off in both
 * directions: slower than predicted in one, faster in the next. Where runs of both kinds of models
 * are compared, scores are in units of the kind's typical error (normalised scores, Papadopoulos
 * et al. 2002, ECML): mixtures of experts are further off.
 *
 * For a release later than all that a machine was calibrated with, scores come from forecasts or,
 * if these are fewer than a class needs, from unseen publishers. */

/** Share of runs that a band is to contain. */
#define CALC_BAND_LEVEL 0.9

enum {
    CALC_BAND_RUNS = 30, /**< runs that a class has to have, of two publishers or more: all runs of
                              one are a single observation of another's */
    CALC_BAND_TEXT = 160
};

/** Properties that comparable runs share with the one to predict; processors of one node, up to
 *  128, or more. */
enum { CALC_ALIKE_FAMILY = 1, CALC_ALIKE_KIND = 2, CALC_ALIKE_BITS = 4, CALC_ALIKE_SCALE = 8 };

/** The run to predict. */
typedef struct calc_band_query {
    calc_quantity quantity;
    calc_traits traits;
    calc_unseen unseen; /**< WIDTH: machine and software like those of the runs; SOURCE: not;
                             RELEASE: later than they */
    const calc_residual *without; /**< the runs that were left out with this one are left out; NULL:
                                       none are */
} calc_band_query;

/** A band: prediction * exp(-reach) to prediction * exp(reach). */
typedef struct calc_band {
    double reach;  /**< NaN: there are too few runs */
    double median; /**< of log(measured / predicted), by weight; NaN: no runs */
    double most; /**< bound of nine of ten of these logarithms, and of one more; NaN: there are too
                      few runs */
    size_t runs, tables;
    unsigned alike; /**< CALC_ALIKE_* */
} calc_band;

/** The band of the most alike class that has CALC_BAND_RUNS runs: family of machines, kind of
 * model, bits and processors; without processors; without bits; of any machine; of any kind.
 * Software that no fit has seen is compared with all such runs. */
calc_band calc_band_of(const calc_residuals *residuals, const calc_band_query *query);

/** Share of the runs of that class, and of one more that is above, for which log(measured /
 * predicted) is at most `most`: how sure it is that a need fits, with `most` the logarithm of
 * capacity over need. NaN: there are no runs. */
double calc_band_share(const calc_residuals *residuals, const calc_band_query *query, double most);

/** "H100, dense, 8 bits, up to 128 processors"; "all" if nothing need be alike.
 *  @return text, CALC_BAND_TEXT bytes */
char *calc_band_class(const calc_traits *traits, unsigned alike, char *text);

/* The probability that a layout fits: its predicted need of the first memory tier,
 * compared with the errors of predictions for similar measured runs (band.h). */

/** Whose errors tell how far off a layout's memory is: other publishers'; of eager PyTorch those
 *  of all software that nothing was fitted to, which differs more: no two stacks keep the same. */
calc_unseen calc_unseen_of_memory(const calc_exec *exec);

/** Where it is as good as sure: nine of ten fit. */
#define CALC_FITS_SURE CALC_BAND_LEVEL

/** The question. All is borrowed. */
typedef struct calc_fits_query {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    const char *family;           /**< of the machine: calc_fits_family() */
    double need_bytes;            /**< predicted, of the first tier */
    const calc_residual *without; /**< as in calc_band_query */
} calc_fits_query;

/** The answer. */
typedef struct calc_fits {
    double share;      /**< of comparable runs that would fit, 0 to 1; NaN: none is known */
    double sure_bytes; /**< largest need with which nine of ten would fit; NaN: none is known */
} calc_fits;

/** The family of machines whose runs are comparable: the machine's own if it has runs, else that of
 *  the one whose runs its constants were fitted to; "" if it is not calibrated: any.
 *  @param calibrated  name of that machine, as the system's file has it; "": none */
const char *calc_fits_family(const calc_residuals *measured, const char *machine,
                             const char *calibrated);

/** calc_fits.share alone: sooner, for many layouts. */
double calc_fits_share(const calc_residuals *measured, const calc_fits_query *query);

/** The share of similar runs that would fit with this predicted need. There is no answer for
 *  serving and for a tier without limit. */
calc_fits calc_fits_of(const calc_residuals *measured, const calc_fits_query *query);

#endif
