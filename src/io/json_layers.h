/** @file json_layers.h  Reads and writes the list of layers of an execution (calc_exec.layers) in
 *  JSON: an array with an entry per run of equal layers, or an object with a list per key, in which
 *  "7x4" is seven times 4 and "ends" is an object of the embedding and the head
 *  (docs/layers.md). */
#ifndef CALC_IO_JSON_LAYERS_H
#define CALC_IO_JSON_LAYERS_H

#include <jansson.h>

#include "io/json_put.h"
#include "io/json_report.h"

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

#endif
