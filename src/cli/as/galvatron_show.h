/** @file galvatron_show.h  What the programs that search as Galvatron does share: profiles of a
 * model of calc's, and what was found, for people and as JSON. */
#ifndef CALC_CLI_AS_GALVATRON_SHOW_H
#define CALC_CLI_AS_GALVATRON_SHOW_H

#include "calc.h"
#include "cli/as/flags.h"
#include "galvatron/layout.h"
#include "galvatron/profiles.h"
#include "galvatron/search.h"

/** What is shown of a search. */
typedef struct calc_galvatron_shown {
    const calc_galvatron_request *request;
    const calc_galvatron_profiles *profiles;
    const calc_galvatron_found *found;
    const calc_galvatron_layout *layout; /**< of the best; NULL: nothing is feasible */
    const char *file;                    /**< that was written; NULL: none */
} calc_galvatron_shown;

/** The summary. */
void calc_galvatron_show(const calc_galvatron_shown *shown, calc_output *out);

/** The same as JSON. */
void calc_galvatron_show_json(const calc_galvatron_shown *shown, calc_output *out);

/** Say on standard error what is extrapolated or made up. */
void calc_galvatron_tell(const calc_galvatron_shown *shown, const char *program);

#endif
