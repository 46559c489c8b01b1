/** @file serving_map.h  A measured run of serving in the terms of the model: names of application
 * and system, execution, measured quantities in SI units, with all that had to be assumed; or why
 * it cannot be predicted. */
#ifndef CALC_VALIDATE_SERVING_MAP_H
#define CALC_VALIDATE_SERVING_MAP_H

#include "calc.h"
#include "io/text.h"
#include "spec/serving_engine.h"
#include "validate/runs.h"

/** Columns (csv_table.h). Without those that are needed a row says nothing. Blank sizes of a layout
 * are 1, except `num_gpus` and `tp`. */
#define CALC_SERVING_COLUMN_LIST(X)                                                                \
    X(TEXT, id, "name")                                                                            \
    X(TEXT, source, NULL)                                                                          \
    X(TEXT, publisher, NULL)            /* who measured; blank: the source itself */               \
    X(TEXT, published, "date")          /* or when it ran: starts with year-month */               \
    X(TEXT, software, NULL)             /* the engine, its version if that is known */             \
    X(TEXT, engine, "inference.engine") /* a document instead: a name or a path */                 \
    X(NEEDED_TEXT, app, "model")        /* documents of calc, as on a command line */              \
    X(NEEDED_TEXT, sys, "gpu")                                                                     \
    X(NUMBER, num_gpus, "procs")                       /* of all replicas and both pools */        \
    X(TEXT, weight_dtype, NULL, .words = weight_words) /* blank: 16 bits */                        \
    X(TEXT, kv_dtype, NULL, .words = cache_words)                                                  \
    X(NUMBER, tp, NULL)                                                                            \
    X(NUMBER, pp, NULL)                                                                            \
    X(NUMBER, ep, NULL)                                                                            \
    X(NUMBER, dp, NULL)                                                                            \
    /* True: attention is not split by tensor parallelism */                                       \
    X(TEXT, dp_attention, NULL, .words = truth_words)                                              \
    X(NUMBER, disagg_prefill_gpus, NULL)                                                           \
    X(NUMBER, disagg_decode_gpus, NULL)                                                            \
    X(TEXT, prefill_layout, NULL)  /* "workers=1 tp=8 ep=8 dp_attention=True", or attention_dp, */ \
    X(TEXT, decode_layout, NULL)   /* and moe_ep */                                                \
    X(NUMBER, drafts, NULL)        /* tokens drafted in a step */                                  \
    X(NUMBER, max_sequences, NULL) /* that a replica of attention decodes at once at most */       \
    X(NUMBER, prefill_tokens, NULL) /* of prompts in a pass */                                     \
    X(NEEDED_NUMBER, isl, NULL)     /* tokens of a prompt, in the mean */                          \
    X(NEEDED_NUMBER, osl, NULL)     /* tokens generated, likewise */                               \
    X(NUMBER, concurrency_or_batch, NULL)                                                          \
    X(NUMBER, num_prompts, NULL)  /* requests of the run */                                        \
    X(NUMBER, request_rate, NULL) /* that arrive per second, at random */                          \
    X(NUMBER, output_tokens_per_s_total, NULL)                                                     \
    X(NUMBER, ttft_ms, NULL)                                                                       \
    X(TEXT, ttft_stat, NULL, .words = ttft_words) /* of ttft_ms */                                 \
    X(NUMBER, ttft_mean_ms, NULL)                                                                  \
    X(NUMBER, tpot_or_itl_ms, NULL)                                                                \
    X(NUMBER, tpot_mean_ms, NULL)                                                                  \
    X(NUMBER, e2e_latency_ms, NULL)                                                                \
    /* how requests come; blank: in a loop, closed or with a rate */                               \
    X(TEXT, metric_kind, NULL, .words = metric_words)                                              \
    X(TEXT, confidence, NULL, .words = confidence_words)                                           \
    X(TEXT, assumed, NULL)     /* what the row has that nobody printed, parted by " | " */         \
    X(TEXT, unpredicted, NULL) /* why the run cannot be predicted; blank: it can */                \
    X(NUMBER, half, NULL)      /* 0 or 1: what a fit to half of the layouts sees, or the rest */

enum { CALC_SERVING_FIELDS_MAX = 32 };

/** Columns that are fields of an execution: "inference.hold_steps". */
typedef struct calc_serving_fields {
    calc_field_ref ref[CALC_SERVING_FIELDS_MAX];
    int cell[CALC_SERVING_FIELDS_MAX]; /**< of a row */
    int count;
} calc_serving_fields;

/** One run. Texts are borrowed from the file; a blank number is NaN, and so is a column that the
 *  file does not have. */
typedef struct calc_serving_row {
    int line; /**< where it starts in its file */
#define CALC_X(type, name, ...) CALC_CSV_OF_##type(name)
    CALC_SERVING_COLUMN_LIST(CALC_X)
#undef CALC_X
    calc_assumptions told;                 /**< the texts of `assumed` */
    const calc_serving_fields *fields;     /**< NULL: none */
    double value[CALC_SERVING_FIELDS_MAX]; /**< of each, in file units; NaN: blank */
} calc_serving_row;

/** The runs of one file. Owns everything. Start with {0}. */
typedef struct calc_serving_rows {
    calc_serving_row *row;
    size_t count;
    calc_text text;
    char *names; /**< of the file, and of rows without one */
    calc_serving_fields *fields;
} calc_serving_rows;

/** Whether a file is of runs of serving: its first line names the columns `isl` and `osl`. */
bool calc_serving_rows_has(const calc_text *text);

/** Read the runs of a text, which they own from now on; `name` is its name in errors. Columns may
 *  stand in any order; only `app`, `sys`, `isl` and `osl` must be there. Fields of an execution may
 * be columns, too; others that are not known are ignored, unless they are nearly one that is. A
 * blank `source` becomes the name of the file without its endings, a blank `id` that with the line.
 *  @return CALC_OK, what calc_csv_table_parse() returns, or calc_set() of a field; errors name
 * file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_serving_rows_parse(calc_serving_rows *out, calc_text text,
                                                  const char *name, calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_serving_rows_free(calc_serving_rows *rows);

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
    int year;                             /**< of the run; 0: not known */
    double measured[CALC_QUANTITY_COUNT]; /**< in the unit of each; NaN: not. Of a static batch, the
                                 first token is that of all prompts, and the end counts them; rates
                                 are of all GPUs, NaN where they only repeat requests over it */
    bool median;        /**< the first token is that of the request in the middle, not the mean */
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

/** Words of the regimes, of the kinds. */
extern const char *const calc_serving_regime_words[];
extern const char *const calc_serving_kind_words[];

/* The layout of a run of serving: sizes of one pool or two, as publishers print them. */

/** Fill the sizes of exec and the count of GPUs; the ranks of experts are filled for dense models,
 *  too. @return why that is not possible; NULL: done */
const char *calc_serving_layout_fill(calc_serving_map *map);

#endif
