/** @file alias.h  Other names of fields, statistics and choices: from files in circulation, what
 *  people type (tp, mfu), and what the summary of a run calls a statistic ("time per step"). */
#ifndef CALC_SPEC_ALIAS_H
#define CALC_SPEC_ALIAS_H

#include "calc.h"

/** Another key of a field. */
typedef struct calc_alias {
    calc_kind kind;       /**< document or answer that it is in */
    const char *key;      /**< the other key */
    const char *field;    /**< key of the field that it means */
    const char *times[2]; /**< NULL, or its value counts these: fields, the first that is not 0 */
} calc_alias;

/** The alias with this key in a table; NULL if there is none. */
const calc_alias *calc_alias_find(const calc_table *table, const char *key);

/** The alias of a field of a document, of which there is one at most; NULL if there is none, or if
 *  the table is one of answers. */
const calc_alias *calc_alias_of(const calc_table *table, const char *field);

/** The aliases of a field or a statistic, one call after the other; NULL after the last.
 *  @param before  the one before, NULL for the first */
const calc_alias *calc_alias_next(const calc_table *table, const char *field,
                                  const calc_alias *before);

/** How many aliases there are. */
size_t calc_alias_count(void);

/** The choice that another word for it stands for: "mla" for "multi_latent"; NULL if it is none. */
const char *calc_alias_choice(const char *word);

/** The other word for a choice; NULL if there is none. */
const char *calc_alias_of_choice(const char *choice);

#endif
