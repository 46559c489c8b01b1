/** @file serving_names.h  Publishers' names of models, machines and engines, in calc's words. */
#ifndef CALC_VALIDATE_SERVING_NAMES_H
#define CALC_VALIDATE_SERVING_NAMES_H

#include "validate/serving_rows.h"

/** Number formats that a checkpoint is published in. */
typedef enum calc_serving_checkpoint {
    CALC_SERVING_CHECKPOINT_16_BITS,
    CALC_SERVING_CHECKPOINT_FLOAT8,       /**< a scale per tensor */
    CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK, /**< a scale per block */
    CALC_SERVING_CHECKPOINT_MXFP4         /**< experts alone */
} calc_serving_checkpoint;

/** A model. */
typedef struct calc_serving_model {
    const char *name; /**< of its file */
    calc_serving_checkpoint checkpoint;
} calc_serving_model;

/** The model that a row means: one of the table, or the file of that name, if there is one. */
calc_serving_model calc_serving_model_of(const calc_serving_row *row);

/** The name of the file of a row's machine: one of the table, or the row's own word.
 *  @param assumed  filled with the assumption made; NULL: none */
const char *calc_serving_machine_of(const calc_serving_row *row, const char **assumed);

/** The engine of a row: by its version, or if that is not known by the date.
 *  @param year  filled with that of the row's date; without one that of the engine's version
 *  @return CALC_SERVING_ENGINE_NONE with a reason: the engine or its version is not known */
calc_serving_engine calc_serving_engine_of(const calc_serving_row *row, int *year,
                                           const char **reason);

/** The publisher of a source's runs: a source that passes on another's runs names it. */
const char *calc_serving_publisher(const char *source);

#endif
