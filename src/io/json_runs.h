/** @file json_runs.h  The JSON syntax shared by lists of stages and of layers: "7x11" for seven
 *  times 11, recomputed modules, and lists written in as few elements as possible. */
#ifndef CALC_IO_JSON_RUNS_H
#define CALC_IO_JSON_RUNS_H

#include <jansson.h>
#include <stdbool.h>

#include "io/json_put.h"
#include "io/json_report.h"
#include "spec/value_text.h"

/** How often a text says its value, and the value; once, if it says nothing of that.
 *  @param number  the value is one
 *  @param most    times at most; a text that says more is a text
 *  @return a new reference, NULL without memory */
json_t *calc_json_runs_repeated(json_t *value, bool number, int64_t most, int64_t *times);

/** Elements of a list, each as often as it says. */
int64_t calc_json_runs_length(json_t *list, int64_t most);

/** Read the recomputation, or report why not: activation_recompute, recompute_modules. */
void calc_json_runs_recompute(calc_json_report *report, const json_t *value, int8_t *recompute);
void calc_json_runs_modules(calc_json_report *report, const json_t *value, uint16_t *modules);

/** The words of these fields.
 *  @param text  CALC_CHOICE_SET_SIZE bytes, filled */
void calc_json_runs_recompute_text(int recompute, char *text);
void calc_json_runs_modules_text(unsigned modules, char *text);

/** A list of runs to be written. */
typedef struct calc_json_runs {
    const void *list;
    int64_t count;
    /** The text of a run as JSON, without quotes if it is one; then true. */
    bool (*text)(const void *list, int64_t run, int key, char text[CALC_CHOICE_SET_SIZE]);
    int64_t (*times)(const void *list, int64_t run); /**< that an element of it counts */
} calc_json_runs;

/** Whether all runs have the same value of a key. */
bool calc_json_runs_agree(const calc_json_runs *runs, int key);

/** Write the value if all runs share it, or else a list of the values, equal neighbours once:
 *  "7x11". */
void calc_json_runs_put_all(calc_put *put, const char *name, const calc_json_runs *runs, int key);
void calc_json_runs_put_each(calc_put *put, const char *name, const calc_json_runs *runs, int key);

/** Write the value of one run, that many times.
 *  @param always  say how often, also if it is once */
void calc_json_runs_put(calc_put *put, const char *name, const char *text, bool word, int64_t times,
                        bool always);

/* Reads and writes the lists of an execution (stages, layers) and of an application (parts,
 * layers), and the name of its software, by their row in the table of fields. */

/** Whether a row is one. */
static inline bool calc_json_is_list(const calc_field *field)
{
    return field->flags & (CALC_STAGES | CALC_LAYERS | CALC_STACK | CALC_SOFTWARE);
}

/** No list at all. */
void calc_json_lists_clear(calc_kind kind, void *object);

/** Fill the list of a row, or report why not.
 *  @param object  calc_exec or calc_app, whose other fields are filled */
void calc_json_lists_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          void *object);

/** Clear the list of a row. */
void calc_json_lists_take(const calc_field *field, void *object);

/** Write the list of a row, if there is one.
 *  @return whether the row is one of a list */
bool calc_json_lists_put(calc_put *put, const calc_field *field, const void *object);

/* Reads and writes the list of layers of an execution (calc_exec.layers) in
 *  JSON: an array with an entry per run of equal layers, or an object with a list per key, in which
 *  "7x4" is seven times 4 and "ends" is an object of the embedding and the head
 *  (docs/layers.md). */

/** Keys of a run of layers: X(NAME, least, most) of those that are numbers. */
/* clang-format off */
#define CALC_LAYER_NUMBERS(X)                                                                      \
    X(blocks, 1, CALC_MAX_RUN_BLOCKS) X(tensor_par, 1, 10000) X(context_par, 1, 10000)             \
    X(expert_par, 1, 10000) X(zero_stage, 0, 3)
#define CALC_LAYER_WORDS(X)                                                                        \
    X(context_par_type, 0, 0) X(activation_recompute, 0, 0) X(recompute_modules, 0, 0)
/* clang-format on */

typedef enum calc_layer_key {
#define CALC_X(name, lo, hi) CALC_LAYER_KEY_##name,
    CALC_LAYER_NUMBERS(CALC_X) CALC_LAYER_WORDS(CALC_X)
#undef CALC_X
        CALC_LAYER_KEY_COUNT
} calc_layer_key;

/** Additional key in an object of lists: the strategy of the embedding and the head. */
#define CALC_LAYER_ENDS "ends"

/** Keys by calc_layer_key, then CALC_LAYER_ENDS; NULL at the end. */
extern const char *const calc_layer_key_names[];

/** Fill exec->layers, or report why not. */
void calc_json_layers_bind(calc_json_report *report, json_t *value, calc_exec *exec);

/** Write the list as an object with a list per key. */
void calc_json_layers_put(calc_put *put, const char *key, const calc_layer_list *list);

/* Reads and writes the layers of a model (calc_app.stack) in JSON: `parts`, an
 *  object of named parts, and the patterns `layers` and `mtp_layers` (spec/stack.h). */

/** Fill what a row says of app->stack, or report why not.
 *  @param app  whose other fields are filled: parts that do not say them have these */
void calc_json_stack_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          calc_app *app);

/** Write what a row says of the stack, if there is any. */
void calc_json_stack_put(calc_put *put, const calc_field *field, const calc_app *app);

/* Reads and writes the list of stages of an execution (calc_exec.stages) in
 *  JSON: an array with an entry per stage, or an object with a list per key, in which "7x11" is
 *  seven times 11 and an object gives a value for each system (docs/stages.md). */

/** Keys of a stage. */
/* clang-format off */
#define CALC_STAGE_KEYS(X)                                                                         \
    X(blocks) X(system) X(activation_recompute) X(recompute_modules) X(recompute_blocks)
/* clang-format on */

typedef enum calc_stage_key {
#define CALC_X(name) CALC_STAGE_KEY_##name,
    CALC_STAGE_KEYS(CALC_X)
#undef CALC_X
        CALC_STAGE_KEY_COUNT
} calc_stage_key;

/** Additional key in an object of lists: latency [s] of messages between different systems. */
#define CALC_JOIN_LATENCY "join_latency"

/** Keys by calc_stage_key, then CALC_JOIN_LATENCY; NULL at the end. */
extern const char *const calc_stage_key_names[];

static inline bool calc_stage_key_is_number(calc_stage_key k)
{
    return k == CALC_STAGE_KEY_blocks || k == CALC_STAGE_KEY_recompute_blocks;
}

/** Fill exec->stages, or report why not. Systems are only named; their files are not looked up.
 *  @param exec  whose other fields are filled */
void calc_json_stages_bind(calc_json_report *report, json_t *value, calc_exec *exec);

/** Write the list as an object with a list per key. */
void calc_json_stages_put(calc_put *put, const char *key, const calc_stage_list *list);

#endif
