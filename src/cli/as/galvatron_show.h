/** @file galvatron_show.h  Shared output of the programs that search as Galvatron does: profiles of
 *  a calc model, and the result for people and as JSON. */
#ifndef CALC_CLI_AS_GALVATRON_SHOW_H
#define CALC_CLI_AS_GALVATRON_SHOW_H

#include "calc.h"
#include "cli/as/flags.h"
#include "galvatron/layout.h"
#include "galvatron/profiles.h"
#include "galvatron/search.h"

/** The data shown for a search. */
typedef struct calc_galvatron_shown {
    const calc_galvatron_request *request;
    const calc_galvatron_profiles *profiles;
    const calc_galvatron_found *found;
    const calc_galvatron_layout *layout; /**< of the best answer; NULL: nothing is feasible */
    const char *file;                    /**< the written file; NULL: none */
} calc_galvatron_shown;

/** Writes the summary. */
void calc_galvatron_show(const calc_galvatron_shown *shown, calc_output *out);

/** Writes the same as JSON. */
void calc_galvatron_show_json(const calc_galvatron_shown *shown, calc_output *out);

/** Warns on standard error about extrapolated or assumed values. */
void calc_galvatron_tell(const calc_galvatron_shown *shown, const char *program);

#endif
