/** @file layout.h  A strategy for every layer, and for embedding and head: the result of a search,
 *  and the contents of the galvatron_config_*.json that Galvatron's training reads. */
#ifndef CALC_GALVATRON_LAYOUT_H
#define CALC_GALVATRON_LAYOUT_H

#include "base/notes.h"
#include "calc.h"
#include "galvatron/search.h"
#include "io/output.h"

enum {
    CALC_GALVATRON_STRATEGY_SIZE = 64, /**< size of a strategy's notation */
    CALC_GALVATRON_NAME_SIZE = 256     /**< size of a file's name */
};

typedef struct calc_galvatron_layout {
    int world;      /**< GPUs; 0: the file does not say */
    int pp;         /**< stages */
    int64_t gbsz;   /**< samples of a step */
    int64_t chunks; /**< micro-batches of a step */
    calc_galvatron_schedule pipeline_type;
    calc_galvatron_dp default_dp_type; /**< type of strategies that are not ZeRO-3 */
    int layers;
    calc_galvatron_strategy layer[CALC_GALVATRON_LAYERS]; /**< .pp and .dp are set if world is
                                                           *  known */
    calc_galvatron_strategy ends;        /**< strategy of embedding and head; never a checkpoint */
    int division[CALC_GALVATRON_STAGES]; /**< layers of each stage */
} calc_galvatron_layout;

/** Writes a strategy in upstream's notation: pp-tpsp[*]-dp[f][-c][-sp], where * marks a degree
 *  above 1, f ZeRO-3, -c a checkpoint and -sp Ulysses. A cp of 2 is shown as x2 after its degree.
 *  @return text */
char *calc_galvatron_strategy_text(const calc_galvatron_strategy *strategy,
                                   char text[CALC_GALVATRON_STRATEGY_SIZE]);

/** Whether two strategies are the same. */
bool calc_galvatron_strategy_same(const calc_galvatron_strategy *a,
                                  const calc_galvatron_strategy *b);

/** Number of layers from `first` on, before `end`, that share the strategy of layer `first`. */
int calc_galvatron_layout_run(const calc_galvatron_layout *s, int first, int end);

/** Fills the layout with the answer of a search. */
void calc_galvatron_layout_answer(const calc_galvatron_request *request,
                                  const calc_galvatron_answer *answer, calc_galvatron_layout *out);

/** The file name that upstream would use for a request. */
char *calc_galvatron_layout_name(const calc_galvatron_request *request,
                                 char name[CALC_GALVATRON_NAME_SIZE]);

/** Note on a file whose batch is not a multiple of calc_galvatron_layout_multiple(); takes the
 *  batch and that multiple. */
#define CALC_GALVATRON_MULTIPLE                                                                    \
    "Galvatron's training will refuse the file: global_bsz %lld is not a multiple of %lld, the "   \
    "GPUs of a stage over the least degrees of tensor and context parallelism"

/** The number of which the batch must be a multiple; training refuses the file otherwise. */
int64_t calc_galvatron_layout_multiple(const calc_galvatron_layout *s);

/** Writes the file byte for byte as upstream does, with two additions: vocab_sdp, because training
 *  reads this key and the search writes embed_sdp, and the degrees of context parallelism if there
 *  are any. */
void calc_galvatron_layout_write(const calc_galvatron_layout *s, calc_output *out);

/** Find whether a text is such a file.
 *  @return CALC_OK: it is one; CALC_ERR_NOMEM: that is not known; any other status: it is none */
CALC_MUST_USE calc_status calc_galvatron_layout_is(const char *text, size_t length);

/** Reads such a file.
 *  @param name   of the file, which may contain the number of GPUs if the text does not
 *  @param world  number of GPUs, overriding the file; 0: as in the file
 *  @param notes  values that are changed or ignored
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_galvatron_layout_read(calc_galvatron_layout *out, const char *text,
                                                     size_t length, const char *name, int64_t world,
                                                     calc_notes *notes, calc_errors *errors);

/** Builds the execution of a layout: modern kernels, layers that list their strategies, and stages
 *  that list their blocks if the division is uneven. Attention follows the model:
 *  calc_galvatron_exec_attention().
 *  @return CALC_OK, or CALC_ERR_RULE with an error: a batch that does not divide, or too many
 *  runs */
CALC_MUST_USE calc_status calc_galvatron_layout_exec(const calc_galvatron_layout *s,
                                                     calc_exec *exec, calc_errors *errors);

/** Reads such a file as an execution. Errors have a place in the file. Parameters as in
 *  calc_galvatron_layout_read(). */
CALC_MUST_USE calc_status calc_galvatron_exec_read(calc_exec *exec, const char *text, size_t length,
                                                   const char *name, int64_t world,
                                                   calc_notes *notes, calc_errors *errors);

/** Sets the number of key and value heads from a model, because the file does not contain it. */
void calc_galvatron_exec_attention(const calc_app *app, calc_exec *exec);

/** The inverse: builds the layout of an execution.
 *  @param exec  without "auto"
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED or CALC_ERR_RULE with the setting that the file cannot
 *  express */
CALC_MUST_USE calc_status calc_galvatron_layout_from(calc_galvatron_layout *out,
                                                     const calc_app *app, const calc_exec *exec,
                                                     calc_errors *errors);

/* Writes a strategy for every layer in the file of PaddleNLP's port of
 * Galvatron, and as options of its trainer. */

#define CALC_GALVATRON_PADDLE_FILE "fine_grained_config.json"

/** Writes the file. */
void calc_galvatron_paddle_write(const calc_galvatron_layout *layout, calc_output *out);

/** Writes the options of the trainer, one per line. They are those of the first layer, except that
 *  recompute is set if any layer recomputes. */
void calc_galvatron_paddle_options(const calc_galvatron_layout *layout, calc_output *out);

/** Whether the options express the whole layout: the trainer has one strategy for all layers. */
bool calc_galvatron_paddle_uniform(const calc_galvatron_layout *layout);

#endif
