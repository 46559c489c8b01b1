/** @file json_stage_keys.h  What a list of stages says of a stage, by its key in JSON. */
#ifndef CALC_IO_JSON_STAGE_KEYS_H
#define CALC_IO_JSON_STAGE_KEYS_H

#include <stdbool.h>

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

/** Beside them, in an object of lists: seconds of messages between different systems. */
#define CALC_JOIN_LATENCY "join_latency"

/** Keys by calc_stage_key, then CALC_JOIN_LATENCY; NULL at the end. */
extern const char *const calc_stage_key_names[];

static inline bool calc_stage_key_is_number(calc_stage_key k)
{
    return k == CALC_STAGE_KEY_blocks || k == CALC_STAGE_KEY_recompute_blocks;
}

#endif
