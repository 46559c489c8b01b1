/** @file serving_map.h  A measured run of serving in the terms of the model: names of application
 * and system, execution, measured quantities in SI units, with all that had to be assumed; or why
 * it cannot be predicted. */
#ifndef CALC_VALIDATE_SERVING_MAP_H
#define CALC_VALIDATE_SERVING_MAP_H

#include "spec/serving_engine.h"
#include "validate/run_assume.h"
#include "validate/serving_rows.h"

/** The bottleneck of a run, by its lengths and sequences alone: X(NAME, word). */
#define CALC_SERVING_REGIME_LIST(X)                                                                \
    X(LOW, "1 to 4 sequences")                                                                     \
    X(MIDDLE, "5 to 64 sequences")                                                                 \
    X(LARGE, "more than 64 sequences")                                                             \
    X(PREFILL, "prefill bound")

typedef enum calc_serving_regime {
#define CALC_X(name, word) CALC_SERVING_REGIME_##name,
    CALC_SERVING_REGIME_LIST(CALC_X)
#undef CALC_X
        CALC_SERVING_REGIME_COUNT
} calc_serving_regime;

/** How requests come: X(NAME, word). */
#define CALC_SERVING_KIND_LIST(X)                                                                  \
    X(CLOSED_LOOP, "closed loop")     /* a fixed number of requests in flight */                   \
    X(DISAGGREGATED, "disaggregated") /* likewise, on two pools */                                 \
    X(ALL_AT_ONCE, "all at once")     /* all of the run, at its start */                           \
    X(OPEN_LOOP, "open loop")         /* at random, at a rate */                                   \
    X(STATIC_BATCH, "static batch")   /* all prompts, then all tokens */

typedef enum calc_serving_kind {
#define CALC_X(name, word) CALC_SERVING_KIND_##name,
    CALC_SERVING_KIND_LIST(CALC_X)
#undef CALC_X
        CALC_SERVING_KIND_COUNT
} calc_serving_kind;

/** One run. Texts are static or borrowed from the row. */
typedef struct calc_serving_map {
    const calc_serving_row *row;
    calc_serving_kind kind;
    calc_exec exec;  /**< a static batch: the size of its prefill */
    double requests; /**< in flight, as printed: exec has a multiple of its replicas; of an open
                          loop 1 */
    double gpus;     /**< of both pools, counted once */
    calc_serving_regime regime;
    int year;                   /**< of the run; 0: not known */
    double tpot_s;              /**< measured, NaN: not */
    double ttft_s;              /**< of a static batch: until all prompts have their first token */
    bool median;                /**< ttft_s is the time until all requests have one, not their
                                     mean */
    double e2e_s;               /**< a static batch, with prompts */
    double output_tokens_per_s; /**< of all GPUs; NaN where it only repeats requests over e2e_s */
    const char *reason; /**< why it is not predicted; NULL: it is. exec is unspecified then */
    calc_assumptions assumed;
} calc_serving_map;

/** Map a row. Never fails: a row that cannot be mapped has a reason. Pure.
 *  @param app, system  its model and machine, which complete exec: kind of attention, experts,
 * number formats that the machine computes in; NULL: not known
 *  @param engines      one of which the row names */
void calc_serving_map_row(calc_serving_map *out, const calc_serving_row *row, const calc_app *app,
                          const calc_system *system, const calc_serving_engines *engines);

/** Whether two mapped runs are alike but for their requests: model, machine, engine, layout, number
 *  formats, lengths, drafts. */
bool calc_serving_map_alike(const calc_serving_map *a, const calc_serving_map *b);

/** Words of a regime, of a kind. */
const char *calc_serving_regime_word(calc_serving_regime regime);
const char *calc_serving_kind_word(calc_serving_kind kind);

/* The layout of a run of serving: sizes of one pool or two, as publishers print them. */

/** Fill the sizes of exec and the count of GPUs; the ranks of experts are filled for dense models,
 *  too. @return why that is not possible; NULL: done */
const char *calc_serving_layout_fill(calc_serving_map *map);

#endif
