/** @file json_stages.h  Reads and writes the list of stages of an execution (calc_exec.stages) in
 *  JSON: an array with an entry per stage, or an object with a list per key, in which "7x11" is
 *  seven times 11 and an object gives a value for each system (docs/stages.md). */
#ifndef CALC_IO_JSON_STAGES_H
#define CALC_IO_JSON_STAGES_H

#include <jansson.h>
#include <stdbool.h>

#include "io/json_put.h"
#include "io/json_report.h"

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
