/** @file runs.h  Measured runs: the rows of a CSV file, as they were printed. run_map.h translates
 *  a row to the model; own_runs.h does so for runs that name their documents. */
#ifndef CALC_VALIDATE_RUNS_H
#define CALC_VALIDATE_RUNS_H

#include "calc.h"
#include "io/csv_table.h"

/** Columns that published tables lack, except `arguments`: X(TYPE, name). `arguments`: options of
 *  the command line (run_arguments.h; own_runs.h). `app`, `sys`, `exe`: documents of calc. */
#define CALC_RUNS_OWN_LIST(X)                                                                      \
    X(TEXT, arguments)                                                                             \
    X(TEXT, app)                                                                                   \
    X(TEXT, sys)                                                                                   \
    X(TEXT, exe)                                                                                   \
    X(TEXT, source)

/** Columns of published tables: X(TYPE, name). */
#define CALC_RUNS_COLUMN_LIST(X)                                                                   \
    X(TEXT, id)                                                                                    \
    X(TEXT, hardware)                                                                              \
    X(NUMBER, num_gpus)                                                                            \
    X(NUMBER, gpus_per_node)                                                                       \
    X(TEXT, inter_node_net)                                                                        \
    X(TEXT, model)                                                                                 \
    X(NUMBER, layers)                                                                              \
    X(NUMBER, hidden)                                                                              \
    X(NUMBER, ffn)                                                                                 \
    X(NUMBER, heads)                                                                               \
    X(NUMBER, kv_heads)                                                                            \
    X(NUMBER, head_dim)                                                                            \
    X(NUMBER, vocab)                                                                               \
    X(NUMBER, seq)                                                                                 \
    X(NUMBER, num_experts)                                                                         \
    X(NUMBER, topk)                                                                                \
    X(NUMBER, moe_ffn)                                                                             \
    X(NUMBER, mla)                                                                                 \
    X(TEXT, model_notes)                                                                           \
    X(TEXT, dtype)                                                                                 \
    X(NUMBER, global_batch)                                                                        \
    X(NUMBER, micro_batch)                                                                         \
    X(NUMBER, tp)                                                                                  \
    X(NUMBER, pp)                                                                                  \
    X(TEXT, vpp)                                                                                   \
    X(NUMBER, dp)                                                                                  \
    X(NUMBER, cp)                                                                                  \
    X(NUMBER, ep)                                                                                  \
    X(NUMBER, etp)                                                                                 \
    X(NUMBER, sequence_parallel)                                                                   \
    X(TEXT, zero_stage_fsdp)                                                                       \
    X(TEXT, recompute)                                                                             \
    X(NUMBER, flash_attention)                                                                     \
    X(TEXT, overlap)                                                                               \
    X(NUMBER, measured_iteration_s)                                                                \
    X(NUMBER, measured_tokens_per_s_per_gpu)                                                       \
    X(NUMBER, measured_tflops_per_gpu)                                                             \
    X(TEXT, tflops_counting)                                                                       \
    X(NUMBER, measured_memory_gib)                                                                 \
    X(TEXT, memory_counting)                                                                       \
    X(TEXT, confidence)

struct calc_own_run;

/** One run. Texts are borrowed from the file; a blank number is NaN, and so is a column that the
 *  file does not have. */
typedef struct calc_runs_row {
    int line;                 /**< where it starts in its file */
    struct calc_own_run *own; /**< made by own_runs.h, owned; NULL: of a published table */
#define CALC_RUNS_TEXT(name) const char *name;
#define CALC_RUNS_NUMBER(name) double name;
#define CALC_X(type, name) CALC_RUNS_##type(name)
    CALC_RUNS_COLUMN_LIST(CALC_X)
    CALC_RUNS_OWN_LIST(CALC_X)
#undef CALC_X
#undef CALC_RUNS_TEXT
#undef CALC_RUNS_NUMBER
} calc_runs_row;

/** The runs of one file. Owns everything. Start with {0}. */
typedef struct calc_runs {
    calc_runs_row *row;
    size_t count;
    calc_text text;
} calc_runs;

/** Read a file, or standard input if path is "-"; names ending in .gz are decompressed. Columns may
 *  stand in any order, and any may be missing; those that are not known are ignored. `id`,
 *  `num_gpus`, `measured_iteration_s` and `measured_memory_gib` may be called `name`, `procs`,
 *  `measured_s` and `measured_mem_gib`.
 *  @param finish   calc_csv_table's, on rows of type calc_runs_row; NULL: none
 *  @param context  of finish
 *  @return CALC_OK; CALC_ERR_FIELD for a missing cell, no known column or no rows, CALC_ERR_TYPE
 * for a number that is none, CALC_ERR_SYNTAX, or what calc_text_read() or finish returns. Errors
 * name file and line. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_runs_read(calc_runs *out, const char *path, calc_csv_finish finish,
                                         void *context, calc_errors *errors);

/** The same from a text, which the runs own from now on; `name` is its name in errors. */
CALC_MUST_USE calc_status calc_runs_parse(calc_runs *out, calc_text text, const char *name,
                                          calc_csv_finish finish, void *context,
                                          calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_runs_free(calc_runs *runs);

/** The number, or `blank` if its cell is. */
double calc_runs_or(double number, double blank);

/** Whether `text` contains `part`. */
bool calc_runs_has(const char *text, const char *part);

/** The same, letters large or small. */
bool calc_runs_has_any_case(const char *text, const char *part);

/** Whether `text` starts with `start`. */
bool calc_runs_starts(const char *text, const char *start);

#endif
