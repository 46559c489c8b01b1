/** @file validate_features.h  Whether options move memory as measured, as text and JSON. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_FEATURES_H
#define CALC_CLI_VALIDATE_VALIDATE_FEATURES_H

#include "io/json_put.h"
#include "validate/features.h"

/** A table with a row per option; under it, the worst pair of each option that went the wrong
 *  way. */
void calc_validate_features_table(calc_output *out, const calc_features *features);

/** The same as the member "features" of the object that is open. */
void calc_validate_features_put(calc_put *put, const calc_features *features);

#endif
