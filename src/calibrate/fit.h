/** @file fit.h  The constants under which the model is nearest to measured runs. Minimises
 *
 *      sum over runs of w * 2 (sqrt(1 + r^2) - 1),  r = (log predicted - log measured) / 0.05
 *      + sum over constants of z^2,                 z = (number - start) / spread
 *
 *  with the numbers of calc_constant_to_free(): a robust likelihood (soft L1, Charbonnier et al.
 *  1997) and a normal prior. Its second derivatives give the standard errors (Laplace). */
#ifndef CALC_CALIBRATE_FIT_H
#define CALC_CALIBRATE_FIT_H

#include "calc.h"
#include "validate/results.h"

/* The constants of a machine that no data sheet states: their place in a system,
 * their range, and the expected distance from their starting values. */

enum { CALC_CONSTANT_PATHS = 3 };

/** A number without limits that stands for a constant within its own: its logarithm, or that of its
 *  odds. */
typedef enum calc_constant_scale { CALC_CONSTANT_LOG, CALC_CONSTANT_LOGIT } calc_constant_scale;

/** One constant. A path names a field of the system; an efficiency curve is scaled as a whole, its
 *  first step is the constant. */
typedef struct calc_constant {
    const char *name;
    const char *path[CALC_CONSTANT_PATHS]; /**< fields that have this value; NULL: no more */
    const char *unit;                      /**< "s", "bytes" or "" */
    calc_constant_scale scale;
    double spread; /**< standard deviation of the prior, on `scale` */
    bool own;     /**< each machine of a family has its own, the first is the measure of the rest */
    double start; /**< prior value, before any measurement; calc_constant_start() */
    double lo, hi; /**< no machine is known beyond: a fit that ends there has other reasons */
} calc_constant;

/** The constant of that index, from 0; NULL after the last. */
const calc_constant *calc_constant_at(size_t index);

/** The constant of that name; NULL if there is none. */
const calc_constant *calc_constant_find(const char *name);

/** A prior value of a constant that is better known of a family of machines, or of one machine.
 *  Texts are borrowed from the file. */
typedef struct calc_constant_known {
    const char *constant, *of;
    double start;
} calc_constant_known;

/** All of them, of a file with the columns constant, of and start: tests/measured/starts.csv. */
CALC_CSV_LIST(calc_constant_starts, calc_constant_known, calc_constant_starts_read,
              calc_constant_starts_free);

/** The prior value of a machine's constant, before any measurement: operator tables where they
 *  exist, round guesses where they do not (docs/validation.md). That of the machine comes before
 *  that of its family, and both before that of any.
 *  @param family  "A100", ... ; NULL: any */
double calc_constant_start(const calc_constant *constant, const calc_constant_starts *starts,
                           const char *family, const char *machine);

/** Value in a system; 0 if the system does not give it. */
double calc_constant_get(const calc_constant *constant, const calc_system *system);

/** Set it, where the system gives it. Curves keep their shape, up to an efficiency of 1. */
void calc_constant_set(const calc_constant *constant, calc_system *system, double value);

/** To the unlimited number and back; from there never above the largest value of the field. */
double calc_constant_to_free(const calc_constant *constant, double value);
double calc_constant_from_free(const calc_constant *constant, double number);

/** Which runs are predicted by fits without them: X(NAME, word). Runs of training have folds by
 * width and source, those of serving all but by width. */
#define CALC_CROSS_LIST(X)                                                                         \
    X(NONE, "none")                                                                                \
    X(WIDTH, "width")     /* those of models of each width */                                      \
    X(SOURCE, "source")   /* those of each publisher */                                            \
    X(MACHINE, "machine") /* those on each machine */                                              \
    X(MODEL, "model")     /* those of each model */                                                \
    X(ENGINE, "engine")   /* those of each engine */                                               \
    X(HALF, "half")       /* every other layout and workload; the fit is that to the first half */ \
    X(LATER, "later")     /* the later half of an engine's runs, by its earlier ones */

typedef enum calc_cross {
#define CALC_X(name, word) CALC_CROSS_##name,
    CALC_CROSS_LIST(CALC_X)
#undef CALC_X
} calc_cross;

/** Their words, NULL at the end. */
extern const char *const calc_cross_words[];

/* The measured runs that a calibration uses: mapped once, so that evaluating
 * them again is a call of the model. */

/** One run with a measured time that counts. Borrows the result. */
typedef struct calc_evidence_row {
    const calc_result *result;
    size_t index;        /**< of the result among all */
    size_t machine;      /**< index of its machine in the family */
    double log_measured; /**< of seconds */
    int width_fold;      /**< runs of models of one width are in one fold */
    int source_fold;     /**< runs of one publisher's software are in one fold */
} calc_evidence_row;

/** All of them. Owns the rows. Start with {0}. */
typedef struct calc_evidence {
    calc_evidence_row *row;
    size_t count;
    int source_folds;
} calc_evidence;

enum { CALC_EVIDENCE_WIDTH_FOLDS = 6 };

/** The scored times of runs on these machines; calc_evidence_free() ends them. */
calc_evidence calc_evidence_of(const calc_results *results, const char *const *machine,
                               size_t machines);

/** Free what it owns; fine on {0}. */
void calc_evidence_free(calc_evidence *evidence);

/** The fold of a width, below CALC_EVIDENCE_WIDTH_FOLDS.
 *  @param depth  number of blocks if it matters too, else 0 */
int calc_evidence_width_fold(int64_t hidden, int64_t depth);

/** Who published a run: its publisher, or the source of a run that names none. */
const char *calc_evidence_publisher(const calc_result *result);

/** Whether the run is of one of these sources or publishers (calc_evidence_publisher()); of
 * training also of those sources whose names have this first word, or published in one of these
 * months
 *  ("2025-07") or later; of serving on one of these machines. NULL: of none.
 *  @param names  NULL at the end */
bool calc_evidence_is_of(const calc_result *result, const char *const *names);

/** Predicted time of a step on a system [s]; NaN if there is none. */
double calc_evidence_predict_s(const calc_evidence_row *row, const calc_system *system);

/* The unknowns of a calibration of a family of machines: constants that their
 * files give. Machines whose files give the same value share it, unless their documentation gives
 * another one. */

enum { CALC_UNKNOWNS_MAX = 96, CALC_UNKNOWNS_MACHINES = 16 };

/** One number: a constant of some machines of a family. */
typedef struct calc_unknown {
    const calc_constant *constant;
    unsigned machines; /**< bit per machine of the family */
    double start;      /**< assumed before */
    double value;
    double error;    /**< standard error, on the constant's scale; NaN: value is start */
    bool determined; /**< the runs are stronger than the prior */
    bool indicated;  /**< they contradict the prior */
} calc_unknown;

/** All of a family. */
typedef struct calc_unknowns {
    calc_unknown item[CALC_UNKNOWNS_MAX];
    size_t count;
} calc_unknowns;

/** Machines that are calibrated together. Names are borrowed. */
typedef struct calc_family {
    const char *name; /**< "A100"; NULL: not one that is known */
    const char *machine[CALC_UNKNOWNS_MACHINES];
    calc_system system[CALC_UNKNOWNS_MACHINES]; /**< as their files say */
    size_t machines;
    unsigned measured; /**< bit per machine that has runs */
} calc_family;

/** List the unknowns. Numbers of machines without runs alone are none.
 *  @param fields      names of constants, NULL at the end; NULL: all
 *  @param starts  start from calc_constant_start() of them; NULL: from the files' values */
void calc_unknowns_make(calc_unknowns *out, const calc_family *family, const char *const *fields,
                        const calc_constant_starts *starts);

/** Put the values into the systems of the family, `machines` of them. */
void calc_unknowns_apply(const calc_unknowns *unknowns, calc_system *system, size_t machines);

/** A standard error on the constant's scale as a share of its value. */
double calc_unknown_relative_error(const calc_unknown *unknown);

/** A constant is determined by the runs if its standard error is below this share of its spread
 *  before. */
#define CALC_FIT_DETERMINED 0.6
/** Runs indicate a constant if they moved it by more than this many standard errors. */
#define CALC_FIT_INDICATED 1

/** What is fitted to what. */
typedef struct calc_fit {
    const calc_evidence *evidence;
    const bool *use;           /**< by row of the evidence; NULL: all */
    const calc_family *family; /**< the systems that the unknowns are put into */
    size_t most;               /**< steps at most */
} calc_fit;

/** Fit those unknowns for which `is_free` is true, from where they are; the others stay. Fills
 * value, error and determined of the former.
 *  @return CALC_OK, or CALC_ERR_RULE if a run cannot be predicted */
CALC_MUST_USE calc_status calc_fit_unknowns(const calc_fit *fit, calc_unknowns *unknowns,
                                            const bool *is_free, calc_errors *errors);

/* Which run pulls a constant to where it is: fits without one run at a time
 * (leave-one-out; Cook 1977 for linear ones). */

/** A constant that ended where no machine is known, and the run that matters most for that. */
typedef struct calc_influence {
    const calc_constant *constant; /**< NULL: all are where machines are */
    double value;                  /**< where it ended */
    size_t row;                    /**< of the evidence */
    double without;                /**< where it ends without that run */
} calc_influence;

/** The first constant that a fit moved out of its range (calc_constant); and the run without which
 *  it ends nearest to its prior. If there are many runs, only the worst predicted ones are tried.
 *  @param fit       as it was made, with the values of `unknowns` put into its family
 *  @param is_free   by unknown
 *  @return CALC_OK, or what the fit returns */
CALC_MUST_USE calc_status calc_influence_find(calc_influence *out, const calc_fit *fit,
                                              const calc_unknowns *unknowns, const bool *is_free,
                                              calc_errors *errors);

/** Fill `residual` for the parameters x. */
typedef void (*calc_least_squares_residuals)(void *context, const double *x, double *residual);

/** A problem: parameters of about one in size. */
typedef struct calc_least_squares {
    calc_least_squares_residuals residuals;
    void *context;
    size_t parameters, count; /**< count of residuals, not fewer than the parameters */
    double step;              /**< of the differences that give the derivatives */
    size_t most;              /**< steps of the method at most */
    double enough;            /**< a step that gains no more ends it; 0: steps become small */
} calc_least_squares;

/** Minimise the sum of squares from x on, by Levenberg-Marquardt steps.
 *  @param x      start, then the minimum, or the best point that was found
 *  @param error  standard error of each parameter: root of the diagonal of the inverse of J'J
 *  @return CALC_OK, or CALC_ERR_RULE if residuals are not finite or do not determine the
 *          parameters */
CALC_MUST_USE calc_status calc_least_squares_solve(const calc_least_squares *problem, double *x,
                                                   double *error, calc_errors *errors);

/** Residual of a robust fit whose square is the soft absolute value 2 (sqrt(1 + r^2) - 1):
 *  Charbonnier et al. 1997. */
double calc_least_squares_soft(double residual);

#endif
