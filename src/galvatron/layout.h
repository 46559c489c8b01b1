/** @file layout.h  A strategy for every layer, and for embedding and head: what a search finds
 *  and Galvatron's training reads from galvatron_config_*.json. */
#ifndef CALC_GALVATRON_LAYOUT_H
#define CALC_GALVATRON_LAYOUT_H

#include "base/notes.h"
#include "calc.h"
#include "galvatron/search.h"
#include "io/output.h"

enum {
    CALC_GALVATRON_STRATEGY_SIZE = 64, /**< bytes of a strategy's notation */
    CALC_GALVATRON_NAME_SIZE = 256     /**< bytes of a file's name */
};

typedef struct calc_galvatron_layout {
    int world;      /**< GPUs; 0: the file does not say */
    int pp;         /**< stages */
    int64_t gbsz;   /**< samples of a step */
    int64_t chunks; /**< micro-batches of a step */
    calc_galvatron_schedule pipeline_type;
    calc_galvatron_dp default_dp_type; /**< of strategies that are not ZeRO-3 */
    int layers;
    calc_galvatron_strategy layer[CALC_GALVATRON_LAYERS]; /**< .pp and .dp are set where world
                                                                  is */
    calc_galvatron_strategy ends;        /**< of embedding and head; never a checkpoint */
    int division[CALC_GALVATRON_STAGES]; /**< layers of each stage */
} calc_galvatron_layout;

/** A strategy as upstream prints it: pp-tpsp[*]-dp[f][-c][-sp], where * is a degree above 1, f
 *  ZeRO-3, -c a checkpoint, -sp Ulysses; cp is shown as x2 behind its degree.
 *  @return text */
char *calc_galvatron_strategy_text(const calc_galvatron_strategy *strategy,
                                   char text[CALC_GALVATRON_STRATEGY_SIZE]);

/** Whether two are the same. */
bool calc_galvatron_strategy_same(const calc_galvatron_strategy *a,
                                  const calc_galvatron_strategy *b);

/** Layers from `first` on that have its strategy, and are before `end`. */
int calc_galvatron_layout_run(const calc_galvatron_layout *s, int first, int end);

/** What a search found. */
void calc_galvatron_layout_answer(const calc_galvatron_request *request,
                                  const calc_galvatron_answer *answer, calc_galvatron_layout *out);

/** Give each stage as many layers, and the last the rest. */
void calc_galvatron_layout_divide(calc_galvatron_layout *s);

/** The name of the file that upstream would write for a request. */
char *calc_galvatron_layout_name(const calc_galvatron_request *request,
                                 char name[CALC_GALVATRON_NAME_SIZE]);

/** What is said of a file whose batch is not a multiple of calc_galvatron_layout_multiple(): the
 *  batch and that multiple. */
#define CALC_GALVATRON_MULTIPLE                                                                    \
    "Galvatron's training will refuse the file: global_bsz %lld is not a multiple of %lld, the "   \
    "GPUs of a stage over the least degrees of tensor and context parallelism"

/** The batch must be a multiple of this, or training refuses the file. */
int64_t calc_galvatron_layout_multiple(const calc_galvatron_layout *s);

/** Write the file, to the byte as upstream does but for keys of training that upstream leaves out:
 *  vocab_sdp, which training reads where the search writes embed_sdp, and degrees of context
 *  parallelism where there are any. */
void calc_galvatron_layout_write(const calc_galvatron_layout *s, calc_output *out);

/** Whether a text is such a file. */
bool calc_galvatron_layout_is(const char *text, size_t length);

/** Read such a file.
 *  @param name   of the file, which may say how many GPUs there are where its text does not
 *  @param world  GPUs, whatever the file says; 0: as it says
 *  @param notes  what is taken otherwise than the file says, or not looked at
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_galvatron_layout_read(calc_galvatron_layout *out, const char *text,
                                                     size_t length, const char *name, int64_t world,
                                                     calc_notes *notes, calc_errors *errors);

/** The execution that they are: modern kernels, layers that list their strategies, stages that list
 *  their blocks where these are not spread evenly. Attention is as the model has it:
 *  calc_galvatron_exec_attention().
 *  @return CALC_OK, or CALC_ERR_RULE with an error: batches that do not divide, too many runs */
CALC_MUST_USE calc_status calc_galvatron_layout_exec(const calc_galvatron_layout *s,
                                                     calc_exec *exec, calc_errors *errors);

/** Read such a file as an execution. Errors have a place in it. Parameters are those of
 *  calc_galvatron_layout_read(). */
CALC_MUST_USE calc_status calc_galvatron_exec_read(calc_exec *exec, const char *text, size_t length,
                                                   const char *name, int64_t world,
                                                   calc_notes *notes, calc_errors *errors);

/** Heads of keys and values, which no such file knows, as a model's. */
void calc_galvatron_exec_attention(const calc_app *app, calc_exec *exec);

/** The opposite: an execution as such a file has it.
 *  @param exec  without "auto"
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED or CALC_ERR_RULE with what it cannot say */
CALC_MUST_USE calc_status calc_galvatron_layout_from(calc_galvatron_layout *out,
                                                     const calc_app *app, const calc_exec *exec,
                                                     calc_errors *errors);

#endif
