/** @file decision.h  From the measurements so far: an outlook on every layout, which to measure
 *  next, and whether to stop. Pure: the same candidates, measurements and options give the same
 *  decision to the bit. */
#ifndef CALC_TUNE_DECISION_H
#define CALC_TUNE_DECISION_H

#include "base/rng.h"
#include "calc.h"
#include "tune/model.h"

enum { CALC_TUNE_CONTENDERS = 4096 /**< at most, plus all measured ones */ };

/** Methods: X(NAME, word). Only the first uses the posterior. */
#define CALC_TUNE_CHOOSER_LIST(X)                                                                  \
    X(IMPROVEMENT, "improvement") /* largest expected improvement */                               \
    X(ORDER, "order")             /* best predicted first */

typedef enum calc_tune_chooser {
#define CALC_X(name, word) CALC_TUNE_CHOOSER_##name,
    CALC_TUNE_CHOOSER_LIST(CALC_X)
#undef CALC_X
        CALC_TUNE_CHOOSERS
} calc_tune_chooser;

/** Words of the choosers, NULL at the end. */
extern const char *const calc_tune_chooser_words[];

enum { CALC_TUNE_PICKS = 64 /**< proposals at once, at most */ };

/** The outcome of trying a layout: X(NAME, word). */
#define CALC_TUNE_END_LIST(X)                                                                      \
    X(FINE, "ok")                                                                                  \
    X(OOM, "oom")       /* out of memory: it needs more than the capacity */                       \
    X(FAILED, "failed") /* for another reason: not proposed again */

typedef enum calc_tune_end {
#define CALC_X(name, word) CALC_TUNE_END_##name,
    CALC_TUNE_END_LIST(CALC_X)
#undef CALC_X
        CALC_TUNE_ENDS
} calc_tune_end;

/** A measurement. One layout may have several. */
typedef struct calc_tune_measurement {
    size_t candidate; /**< its index */
    calc_tune_end end;
    double step_s;       /**< if fine */
    double memory_bytes; /**< peak; NaN: not known. If fine, no more than there is */
} calc_tune_measurement;

/** How to decide. calc_tune_options_default() has the defaults. */
typedef struct calc_tune_options {
    const calc_tune_prior *prior;     /**< what is known of errors */
    const calc_tune_kernels *kernels; /**< measured ones; NULL: none */
    calc_tune_chooser chooser;
    uint64_t seed;
    size_t draws; /**< of the joint posterior; 1,000 */
    size_t picks; /**< layouts to propose, for so many free slices; 1 to CALC_TUNE_PICKS */
    double worth; /**< gains below this share of a step do not matter; 0.01 */
    double stop;  /**< stop when the chance of a gain that matters is below this; 0.05 */
    double noise; /**< standard deviation of one measured time, as a share of it; 0.005 */
    bool probes;  /**< first measure CALC_TUNE_PROBES layouts chosen to learn memory from */
} calc_tune_options;

calc_tune_options calc_tune_options_default(const calc_tune_prior *prior);

/** The state of a candidate so far. */
typedef enum calc_tune_state {
    CALC_TUNE_UNTRIED,
    CALC_TUNE_MEASURED,
    CALC_TUNE_TOO_LARGE,
    CALC_TUNE_BROKEN
} calc_tune_state;

/** The posterior of one candidate: times and memory as logarithms. */
typedef struct calc_tune_view {
    calc_tune_state state;
    double measured_s; /**< mean of its measurements; NaN: none */
    size_t seen;       /**< first observation of its time */
    double mean, sd;   /**< of the time */
    double memory_mean, memory_sd;
    double memory_limit; /**< largest memory at which it counts as fitting */
    double fits;
    double ahead; /**< probability that it fits and beats the incumbent */
} calc_tune_view;

/** Sizes of errors that may be the true ones, and what follows from them. */
typedef struct calc_tune_world {
    double weight; /**< its probability, given the measurements; before it is normalised, a log */
    double spread; /**< factor on the standard deviations of its times, from the errors observed */
    calc_effects errors; /**< as wide as that */
    calc_effects_posterior time;
} calc_tune_world;

/** Owns its lists, points into itself: not to be copied. */
typedef struct calc_tune_scene {
    const calc_tune_candidate *candidate;
    size_t count;
    const calc_tune_measurement *measurement;
    size_t measurements;
    const calc_tune_options *options;
    calc_tune_model model;
    calc_effects_observation *seen_time, *seen_memory;
    size_t times, memories;
    calc_tune_world *world; /**< the likeliest first, without those that do not matter */
    size_t worlds;
    calc_effects_posterior memory;
    calc_tune_view *view;
    size_t best;      /**< measured fastest; SIZE_MAX: none */
    size_t incumbent; /**< best or, before there is one, the candidate that is expected to be
                           fastest among those that are 90 % sure to fit, or the surest;
                           SIZE_MAX: there are no candidates */
} calc_tune_scene;

/** Make it.
 *  @return CALC_OK, or what calc_effects_condition() returns; free *out in any case */
CALC_MUST_USE calc_status calc_tune_scene_make(calc_tune_scene *out,
                                               const calc_tune_candidate *candidate, size_t count,
                                               const calc_tune_measurement *measurement,
                                               size_t measurements,
                                               const calc_tune_options *options,
                                               calc_errors *errors);

void calc_tune_scene_free(calc_tune_scene *scene);

/** Whether a candidate may be proposed: it has not been tried. */
static inline bool calc_tune_scene_free_to_try(const calc_tune_scene *scene, size_t i)
{
    return scene->view[i].state == CALC_TUNE_UNTRIED;
}

/** Draws. Owns its lists. */
typedef struct calc_tune_contest {
    size_t count;      /**< contenders */
    size_t *contender; /**< candidates: the likeliest to be ahead of the incumbent first */
    size_t incumbent;  /**< its index among them; SIZE_MAX: there is none */
    size_t draws;
    float *drawn;    /**< by draw, then contender: log of the time; INFINITY if it does not fit */
    double left_out; /**< the largest probability of a non-contender to beat the incumbent */
} calc_tune_contest;

/** Make it.
 *  @return CALC_OK, or what calc_effects_draws_make() returns; free *out in any case */
CALC_MUST_USE calc_status calc_tune_contest_make(calc_tune_contest *out,
                                                 const calc_tune_scene *scene, calc_errors *errors);

void calc_tune_contest_free(calc_tune_contest *contest);

/** The log of a contender's time in a draw; INFINITY if it does not fit. */
static inline double calc_tune_contest_drawn(const calc_tune_contest *contest, size_t draw,
                                             size_t contender)
{
    return (double)contest->drawn[draw * contest->count + contender];
}

/** The outlook on one candidate. */
typedef struct calc_tune_outlook {
    double p5_s, p50_s, p95_s; /**< quantiles of the time of its step, if it fits; for a measured
                                    one, of its time without noise */
    double memory_p50_bytes;
    double best; /**< probability that it is the fastest that fits */
    double fits; /**< probability that it fits */
    double gain; /**< expected gain of measuring it: reduction of the best known time, as a share of
                      it; NaN before anything was measured */
    bool measured;
} calc_tune_outlook;

/** A decision. Owns its lists. */
typedef struct calc_tune_decision {
    calc_tune_outlook *outlook; /**< by candidate */
    size_t picks;               /**< fewer than asked for if nothing is left */
    size_t pick[CALC_TUNE_PICKS];
    size_t best;       /**< measured fastest, by the mean of its measurements; SIZE_MAX: none yet */
    double best_s;     /**< that mean */
    double chance;     /**< that an unmeasured layout is faster than best_s by more than `worth` */
    bool stop;         /**< chance < stop, or nothing is left to measure */
    size_t contenders; /**< candidates that were drawn; each of the others is the best with a
                            probability of at most: */
    double left_out;
    double *surprise; /**< by measurement: its distance from its prediction by the others, in
                           standard deviations; 0 if it is no time */
} calc_tune_decision;

/** Decide.
 *  @return CALC_OK, or what the scene or the contest returns; *out must be freed in any case */
CALC_MUST_USE calc_status calc_tune_decide(calc_tune_decision *out,
                                           const calc_tune_candidate *candidate, size_t count,
                                           const calc_tune_measurement *measurement,
                                           size_t measurements, const calc_tune_options *options,
                                           calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_tune_decision_free(calc_tune_decision *decision);

const char *calc_tune_end_word(calc_tune_end end);

/* ---- Probes ---------------------------------------------------------------------------------- */

/* Which layouts to measure in order to learn memory best: a grey box. The memory of a processor
 * is a sum of parts; calc predicts the size of each, and measurements determine its factor. That
 * takes layouts with different proportions of the parts: those whose regression has the normal
 * matrix with the smallest condition number, as MindSpeed chooses the probes of its memory
 * model. */

enum { CALC_TUNE_PROBES = 5 };

/** Choose probes among layouts that need at most 80 % of the memory.
 *  @param probe      filled
 *  @param condition  set to the condition number; infinite if no choice determines all factors
 *  @return how many there are: fewer than CALC_TUNE_PROBES if there are not enough such layouts */
size_t calc_tune_probes(const calc_tune_candidate *candidate, size_t count,
                        size_t probe[CALC_TUNE_PROBES], double *condition);

/** Draw the truth of all candidates from a prior.
 *  @param step_s, memory_bytes filled with noiseless measurements
 *  @return CALC_OK, or what calc_effects_draws_make() returns */
CALC_MUST_USE calc_status calc_tune_truth(const calc_tune_prior *prior,
                                          const calc_tune_candidate *candidate, size_t count,
                                          uint64_t seed, double *step_s, double *memory_bytes,
                                          calc_errors *errors);

/** Measure one of them. @param noise  of the time, as a share of it */
calc_tune_measurement calc_tune_truth_measure(const calc_tune_candidate *candidate, size_t index,
                                              double step_s, double memory_bytes, double noise,
                                              calc_rng *rng);

#endif
