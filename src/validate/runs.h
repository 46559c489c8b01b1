/** @file runs.h  Measured runs of training, a row each, as a CSV file has them:
 *
 *      id, source            optional: of the run (or `name`); of the group it is in, else the name
 *                            of the file
 *      sys                   machine, as on a command line
 *      app, exe              documents of calc, as on a command line
 *      arguments             or: options of Megatron-LM instead of `exe`, or of `app` and `exe`
 *      any field             of app or exe: what the row has instead of the document's value; rows
 *                            without documents say all of it this way
 *      software              gives fields that the row has no cells of, nor its document
 *      procs                 processors (or `num_gpus`)
 *      measured_s            seconds of a step (or `measured_iteration_s`), or
 *                            measured_tokens_per_s_per_gpu, or measured_tflops_per_gpu with
 *                            tflops_counting: "model", and "causal", "recompute" or "hardware"
 *      measured_mem_gib      GiB of the fullest processor (or `measured_memory_gib`), of the kind
 *                            that memory_counting says: all that is taken; "allocated", by tensors;
 *                            "reserved", by PyTorch's allocator; "last_rank", of the last stage
 *      outcome               "oom": it ran out of memory, and nothing was measured; else "ok"
 *      inter_node_gbit       Gbit/s of a processor to other nodes, instead of the machine's
 *      publisher, published  who published the run, and in which month ("2025-07")
 *      release               of the software; runs of different ones are not compared
 *      family                machines that are alike
 *      model                 name for people, else that of `app`
 *      confidence            high, medium or low: low ones are not scored
 *      assumed               what the row's fields assume that nobody printed, parted by " | "
 *      unpredicted           why the run cannot be predicted; blank: it can
 *      unmodelled            options that calc does not model: runs are alike in these only if the
 *                            text is
 *
 *  scripts/make_runs.py writes such a file from a published table in the publisher's own words.
 *  No prediction depends on id, source, publisher, published, release, family, model or
 *  confidence. */
#ifndef CALC_VALIDATE_RUNS_H
#define CALC_VALIDATE_RUNS_H

#include <math.h>

#include "calc.h"
#include "io/csv_table.h"
#include "model/cost/kernel_table.h"

enum { CALC_ASSUMPTIONS_MAX = 24 };

/** Texts are static, or of the file of runs. Start with {0}. */
typedef struct calc_assumptions {
    const char *text[CALC_ASSUMPTIONS_MAX];
    int count;
} calc_assumptions;

/** Add something assumed, once. A list that is full stays as it is. */
void calc_assumptions_add(calc_assumptions *assumed, const char *text);

/** Add the texts of the column `assumed`, parted by " | ": its cell is cut there. */
void calc_assumptions_read(calc_assumptions *assumed, const calc_csv_row *from);

enum { CALC_RUNS_STEM = 64 };

/** Fill in the name of a file without folders and endings, "stdin" of "-": runs without a source
 *  have it. */
void calc_runs_stem(const char *path, char stem[CALC_RUNS_STEM]);

/** Columns that are no fields (csv_table.h). No step takes less than a microsecond. */
#define CALC_RUNS_COLUMN_LIST(X)                                                                   \
    X(TEXT, id, "name")                                                                            \
    X(TEXT, source, NULL)                                                                          \
    X(TEXT, publisher, NULL)                                                                       \
    X(TEXT, published, NULL)                                                                       \
    X(TEXT, release, NULL)                                                                         \
    X(TEXT, sys, NULL)                                                                             \
    X(TEXT, family, NULL)                                                                          \
    X(TEXT, model, NULL)                                                                           \
    X(TEXT, confidence, NULL)                                                                      \
    X(TEXT, app, NULL)                                                                             \
    X(TEXT, exe, NULL)                                                                             \
    X(TEXT, arguments, NULL)                                                                       \
    X(COUNT, procs, "num_gpus")                                                                    \
    X(NUMBER, inter_node_gbit, NULL)                                                               \
    X(NUMBER, measured_s, "measured_iteration_s", .lo = 1e-6)                                      \
    X(NUMBER, measured_tokens_per_s_per_gpu, NULL)                                                 \
    X(NUMBER, measured_tflops_per_gpu, NULL)                                                       \
    X(TEXT, tflops_counting, NULL)                                                                 \
    X(NUMBER, measured_mem_gib, "measured_memory_gib")                                             \
    X(TEXT, memory_counting, NULL)                                                                 \
    X(TEXT, outcome, NULL)                                                                         \
    X(TEXT, unpredicted, NULL)                                                                     \
    X(TEXT, assumed, NULL)                                                                         \
    X(TEXT, unmodelled, NULL)

/** What a run is to the model. */
typedef struct calc_run_documents {
    calc_app app; /**< unspecified in a row that is not predicted */
    calc_exec exec;
    bool by_fields; /**< no document names the layout: fields say all */
    calc_assumptions assumed;
    char id[96];                 /**< "file:line", of a row without a name */
    char source[CALC_RUNS_STEM]; /**< name of the file, without its ending */
} calc_run_documents;

/** One run. Texts are borrowed from the file, and never NULL; a blank number is NaN. */
typedef struct calc_runs_row {
    int line;                     /**< where it starts in its file */
    calc_run_documents *document; /**< owned */
#define CALC_X(type, name, ...) CALC_CSV_OF_##type(name)
    CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
} calc_runs_row;

/** The runs of one file. Owns everything. Start with {0}. */
typedef struct calc_runs {
    calc_runs_row *row;
    size_t count;
    calc_text text;
} calc_runs;

/** Reads a document.
 *  @param object  a calc_app, calc_system or calc_exec, by kind
 *  @return CALC_OK, or a status with errors added */
typedef calc_status (*calc_documents_load)(calc_kind kind, const char *name, void *object,
                                           calc_errors *errors);

/** How names and options become documents. */
typedef struct calc_runs_loader {
    calc_documents_load document;
    /** Read options of a command line. @param procs  processors; 0: as the options say
     *  @param whole  whether the model must be complete */
    calc_status (*arguments)(const char *arguments, int64_t procs, bool whole, calc_app *app,
                             calc_exec *exec, calc_errors *errors);
    /** Read the software document that an execution names, and apply it. */
    calc_status (*software)(calc_exec *exec, calc_errors *errors);
    /** Called once with each column that is no field and has a cell; NULL: not called. */
    void (*ignored)(const char *file, const char *column);
    const char *machine; /**< of rows that name none; NULL: they are errors */
} calc_runs_loader;

/** Read a text, which the runs own from now on; `name` is its name in errors.
 *  @param loader  NULL: every row says all by fields
 *  @return CALC_OK; CALC_ERR_FIELD for a missing column or cell, or no rows; CALC_ERR_TYPE for a
 *  number that is none; CALC_ERR_SYNTAX, or what the loader returns. Errors name file, line and
 *  column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_runs_parse(calc_runs *out, calc_text text, const char *name,
                                          const calc_runs_loader *loader, calc_errors *errors);

/** The same of a file, or of standard input if path is "-"; names ending in .gz are
 *  decompressed. */
CALC_MUST_USE calc_status calc_runs_read(calc_runs *out, const char *path,
                                         const calc_runs_loader *loader, calc_errors *errors);

/** Whether a run ended out of memory. */
bool calc_runs_is_oom(const calc_runs_row *row);

/** Free what they own; fine on {0}. */
void calc_runs_free(calc_runs *runs);

/** The quantity measured: X(NAME, word, unit). */
#define CALC_QUANTITY_LIST(X)                                                                      \
    X(STEP_TIME, "step_time", "s")                                                                 \
    X(MEMORY, "memory", "bytes")                                                                   \
    X(TPOT, "tpot", "s")                                                                           \
    X(TTFT, "ttft", "s")                                                                           \
    X(E2E, "e2e", "s")                                                                             \
    X(OUTPUT_RATE, "output_tokens_per_s", "tokens/s")                                              \
    X(TPOT_SHAPE, "tpot_shape", "1")

typedef enum calc_quantity {
#define CALC_X(name, word, unit) CALC_QUANTITY_##name,
    CALC_QUANTITY_LIST(CALC_X)
#undef CALC_X
        CALC_QUANTITY_COUNT
} calc_quantity;

/** Words of the quantities, NULL at the end. */
extern const char *const calc_quantity_words[];

/** Fill in that nothing of a run is known. */
static inline void calc_quantities_none(double value[CALC_QUANTITY_COUNT])
{
    for (int q = 0; q < CALC_QUANTITY_COUNT; q++) {
        value[q] = (double)NAN;
    }
}

/* A measured run in the terms of the model: application, machine and execution,
 * what was measured, and what is assumed; or why it cannot be predicted. */

/** One run. Texts are static or borrowed from the row. */
typedef struct calc_run_map {
    const calc_runs_row *row;
    calc_app app;
    calc_exec exec;
    double network; /**< of a processor to other nodes; 0: the machine's [bytes/s] */
    bool search;    /**< micro-batch and interleaving are to be found (predict.h) */
    double measured[CALC_QUANTITY_COUNT]; /**< in the unit of each; NaN: not */
    const char *reason; /**< why it is not predicted; NULL: it is. app and exec are unspecified */
    calc_assumptions assumed;
} calc_run_map;

/** Map a row. Never fails: a row that cannot be mapped has a reason. */
void calc_run_map_row(calc_run_map *out, const calc_runs_row *row);

/** The machine of a run: `system`, or a copy of it in *own whose outermost network has the rate of
 *  the row. */
const calc_system *calc_run_map_system(const calc_run_map *map, const calc_system *system,
                                       calc_system *own);

/** Whether the measured memory is of a kind that the row names: "allocated", "reserved",
 *  "last_rank". */
bool calc_run_map_counts(const calc_run_map *map, const char *kind);

/* Measured runs of a layout: published ones that have its sizes. */

/** A run and what it took. */
typedef struct calc_same_run {
    const calc_runs_row *row; /**< borrowed */
    double step_s;
} calc_same_run;

/** Find the runs on that machine, of a model with the same shape, with the same processors,
 *  parallel sizes, interleaving, batches, sequence, formats of matrices and recomputation. They may
 *  differ in what tables seldom print: overlaps, kernels, where groups are.
 *  @param machine  name of the system
 *  @return how many there are; the first of them, `room` at most, are in `out` */
size_t calc_same_runs_find(calc_same_run *out, size_t room, const calc_runs *runs,
                           const calc_app *app, const char *machine, const calc_exec *exec);

/* Documents that runs name, models or machines. */

enum { CALC_DOCUMENTS_MAX = 64 };

/** Measured operators of a machine to look up.
 *  @param of  the one to ask: calc_documents.operators
 *  @return NULL: there are none; borrowed */
typedef const calc_kernel_table *(*calc_documents_measure)(void *of, const char *name,
                                                           const calc_system *system);

/** One document, or why there is none. */
typedef struct calc_document {
    const char *name; /**< borrowed */
    bool fine;
    char reason[256];   /**< if not fine */
    calc_app app;       /**< of a model */
    calc_system system; /**< of a machine */
    const calc_kernel_table
        *measured; /**< operators to look up before the model is asked, or NULL */
} calc_document;

/** All that were asked for. Start with {kind, .load = ...}; owns nothing. */
typedef struct calc_documents {
    calc_kind kind; /**< CALC_KIND_APP or CALC_KIND_SYSTEM */
    calc_documents_load load;
    calc_documents_measure measure; /**< NULL: no operators are looked up */
    void *operators;                /**< for it */
    calc_status failed; /**< the first failure of reading that says nothing about the document:
                         * memory, the file system; CALC_OK: there was none */
    int count;
    calc_document entry[CALC_DOCUMENTS_MAX];
} calc_documents;

/** The document of a name, read the first time. */
const calc_document *calc_documents_get(calc_documents *systems, const char *name);

#endif
