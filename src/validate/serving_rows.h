/** @file serving_rows.h  Measured runs of serving: the rows of a CSV file, as they were printed.
 * serving_map.h translates a row to the model. */
#ifndef CALC_VALIDATE_SERVING_ROWS_H
#define CALC_VALIDATE_SERVING_ROWS_H

#include "calc.h"
#include "io/text.h"

/** Columns: X(TYPE, name). Blank sizes of a layout are 1, except `num_gpus` and `tp`. */
#define CALC_SERVING_COLUMN_LIST(X)                                                                \
    X(TEXT, id)                                                                                    \
    X(TEXT, source)                                                                                \
    X(TEXT, date)         /* of the run or of its publication: starts with year-month */           \
    X(TEXT, software)     /* the engine, its version if that is known */                           \
    X(TEXT, model)        /* as its publisher calls it, or a file of calc */                       \
    X(TEXT, gpu)          /* likewise */                                                           \
    X(NUMBER, num_gpus)   /* of all replicas and both pools */                                     \
    X(TEXT, weight_dtype) /* blank, "checkpoint default": as the model is published */             \
    X(TEXT, kv_dtype)                                                                              \
    X(NUMBER, tp)                                                                                  \
    X(NUMBER, pp)                                                                                  \
    X(NUMBER, ep)                                                                                  \
    X(NUMBER, dp)                                                                                  \
    X(TEXT, dp_attention) /* True: attention is not split by tensor parallelism */                 \
    X(NUMBER, disagg_prefill_gpus)                                                                 \
    X(NUMBER, disagg_decode_gpus)                                                                  \
    X(TEXT, prefill_layout) /* "workers=1 tp=8 ep=8 dp_attention=True", or attention_dp, moe_ep */ \
    X(TEXT, decode_layout)                                                                         \
    X(TEXT, spec_decode)      /* blank: no drafts */                                               \
    X(NUMBER, drafts)         /* tokens drafted in a step */                                       \
    X(NUMBER, max_sequences)  /* that a replica of attention decodes at once at most */            \
    X(NUMBER, prefill_tokens) /* of prompts in a pass */                                           \
    X(NUMBER, isl)            /* tokens of a prompt */                                             \
    X(NUMBER, osl)            /* tokens generated */                                               \
    X(TEXT, length_note)      /* "mean 0.9": lengths are 0.9 of what is stated on average */       \
    X(NUMBER, concurrency_or_batch)                                                                \
    X(NUMBER, num_prompts)  /* requests of the run */                                              \
    X(NUMBER, request_rate) /* that arrive per second, at random */                                \
    X(NUMBER, output_tokens_per_s_total)                                                           \
    X(NUMBER, ttft_ms)                                                                             \
    X(TEXT, ttft_stat) /* of ttft_ms: "median ...", or another */                                  \
    X(NUMBER, ttft_mean_ms)                                                                        \
    X(NUMBER, tpot_or_itl_ms)                                                                      \
    X(NUMBER, tpot_mean_ms)                                                                        \
    X(NUMBER, e2e_latency_ms)                                                                      \
    X(TEXT, metric_kind) /* "fixed concurrency ...", "all requests at once", "static batch ...",   \
                            "single stream ..." */                                                 \
    X(TEXT, confidence)

/** One run. Texts are borrowed from the file; a blank number is NaN, and so is a column that the
 *  file does not have. */
typedef struct calc_serving_row {
    int line; /**< where it starts in its file */
#define CALC_SERVING_TEXT(name) const char *name;
#define CALC_SERVING_NUMBER(name) double name;
#define CALC_X(type, name) CALC_SERVING_##type(name)
    CALC_SERVING_COLUMN_LIST(CALC_X)
#undef CALC_X
#undef CALC_SERVING_TEXT
#undef CALC_SERVING_NUMBER
} calc_serving_row;

/** The runs of one file. Owns everything. Start with {0}. */
typedef struct calc_serving_rows {
    calc_serving_row *row;
    size_t count;
    calc_text text;
    char *names; /**< of the file, and of rows without one */
} calc_serving_rows;

/** Whether a file is of runs of serving: its first line names the columns `isl` and `osl`. */
bool calc_serving_rows_has(const calc_text *text);

/** Read the runs of a text, which they own from now on; `name` is its name in errors. Columns may
 *  stand in any order; only `model`, `gpu`, `isl` and `osl` must be there, those that are not known
 * are ignored, unless they are nearly one that is. A blank `source` becomes the name of the file
 * without its endings, a blank `id` that with the line.
 *  @return CALC_OK, or what calc_csv_table_parse() returns; errors name file, line and column. *out
 *  must be freed in any case. */
CALC_MUST_USE calc_status calc_serving_rows_parse(calc_serving_rows *out, calc_text text,
                                                  const char *name, calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_serving_rows_free(calc_serving_rows *rows);

#endif
