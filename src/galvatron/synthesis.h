/** @file synthesis.h  Galvatron's profiles without a GPU: what its profilers would measure of a
 * model on a machine, from calc's own model of both. */
#ifndef CALC_GALVATRON_SYNTHESIS_H
#define CALC_GALVATRON_SYNTHESIS_H

#include "galvatron/files.h"
#include "galvatron/profiles.h"
#include "io/output.h"

/** A model on a machine. Of the request: its nodes and GPUs, precision, limits of degrees, and the
 *  sequence of its one type of layers. */
typedef struct calc_galvatron_synthesis {
    const calc_app *app;
    const calc_system *system;
    const calc_galvatron_request *request;
} calc_galvatron_synthesis;

/** The one type of layers of a model, where nothing is said of it: its width and its blocks; the
 *  sequence too, unless the request has one. Blocks with and without experts are one type, the mean
 *  of both. */
void calc_galvatron_layers_of_app(const calc_app *app, calc_galvatron_request *request);

/** Write one of the six files, under upstream's keys. The inputs must have been checked. */
void calc_galvatron_synthesis_write(const calc_galvatron_synthesis *s, calc_galvatron_file file,
                                    calc_output *out);

/** Fill profiles with the same numbers, as if the files had been written and read.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_profiles_of_model(const calc_app *app,
                                                           const calc_system *system,
                                                           const calc_galvatron_request *request,
                                                           calc_galvatron_profiles *out,
                                                           calc_errors *errors);

#endif
