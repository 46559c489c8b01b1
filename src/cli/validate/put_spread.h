/** @file put_spread.h  Writes a spread of errors as JSON. */
#ifndef CALC_CLI_VALIDATE_PUT_SPREAD_H
#define CALC_CLI_VALIDATE_PUT_SPREAD_H

#include "io/json_put.h"
#include "validate/error_groups.h"

/** Write its members into the open object. */
static inline void calc_put_spread(calc_put *put, const calc_spread *spread)
{
    calc_put_count(put, "n", (int64_t)spread->count);
    calc_put_number(put, "bias", spread->bias);
    calc_put_number(put, "mean_abs", spread->mean_abs);
    calc_put_number(put, "median_abs", spread->median_abs);
    calc_put_number(put, "p90_abs", spread->p90_abs);
    calc_put_number(put, "worst_abs", spread->worst_abs);
}

#endif
