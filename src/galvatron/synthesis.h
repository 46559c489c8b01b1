/** @file synthesis.h  Galvatron's profiles without a GPU: the measurements that its profilers would
 *  take of a model on a machine, computed with calc's own model of both. */
#ifndef CALC_GALVATRON_SYNTHESIS_H
#define CALC_GALVATRON_SYNTHESIS_H

#include "galvatron/files.h"
#include "galvatron/profiles.h"
#include "io/output.h"

/** A model on a machine. These parts of the request are used: nodes and GPUs, precision, limits of
 *  degrees, and the sequence length of its one type of layers. */
typedef struct calc_galvatron_synthesis {
    const calc_app *app;
    const calc_system *system;
    const calc_galvatron_request *request;
} calc_galvatron_synthesis;

/** Fills the one type of layers from a model where the request leaves it open: width and number of
 *  blocks, and the sequence length. Blocks with and without experts form one type, the mean of
 *  both. */
void calc_galvatron_layers_of_app(const calc_app *app, calc_galvatron_request *request);

/** Writes one of the six files, under upstream's keys. The inputs must have been checked. */
void calc_galvatron_synthesis_write(const calc_galvatron_synthesis *s, calc_galvatron_file file,
                                    calc_output *out);

/** Fills profiles with the same numbers, as if the files had been written and read.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_profiles_of_model(const calc_app *app,
                                                           const calc_system *system,
                                                           const calc_galvatron_request *request,
                                                           calc_galvatron_profiles *out,
                                                           calc_errors *errors);

#endif
