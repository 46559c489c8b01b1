/** @file validate_peers.h  Other simulators' published errors beside those of calc on the same
 * runs, as text and JSON. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_PEERS_H
#define CALC_CLI_VALIDATE_VALIDATE_PEERS_H

#include "io/json_put.h"
#include "validate/peers.h"

/** A table; below it those that name no run that is here. Nothing if none does. */
void calc_validate_peers_table(calc_output *out, const calc_peers *peers);

/** The same as the member "peers" of the object that is open. */
void calc_validate_peers_put(calc_put *put, const calc_peers *peers);

#endif
