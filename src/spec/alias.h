/** @file alias.h  Other names of fields and choices, from files in circulation. */
#ifndef CALC_SPEC_ALIAS_H
#define CALC_SPEC_ALIAS_H

#include "calc.h"

/** Another key of a field. */
typedef struct calc_alias {
    calc_kind kind;       /**< document it is in */
    const char *key;      /**< the other key */
    const char *field;    /**< key of the field that it sets */
    const char *times[2]; /**< NULL, or its value counts these: fields, the first that is not 0 */
} calc_alias;

/** The alias with this key in a table; NULL if there is none. */
const calc_alias *calc_alias_find(const calc_table *table, const char *key);

/** The alias of a field of a table, of which there is one at most; NULL if there is none. */
const calc_alias *calc_alias_of(const calc_table *table, const char *field);

/** The choice that another word for it stands for: "mla" for "multi_latent"; NULL if it is none. */
const char *calc_alias_choice(const char *word);

/** The other word for a choice; NULL if there is none. */
const char *calc_alias_of_choice(const char *choice);

#endif
