/** @file names.h  What AIAK's planner calls models and chips, and which files of calc's they are.
 */
#ifndef CALC_AIAK_NAMES_H
#define CALC_AIAK_NAMES_H

typedef struct calc_aiak_name {
    const char *name; /**< there; NULL ends a list */
    const char *file; /**< in models/ or systems/ */
} calc_aiak_name;

enum { CALC_AIAK_CHIPS = 5 };

/** Its models, and its chips. */
extern const calc_aiak_name calc_aiak_models[];
extern const calc_aiak_name calc_aiak_chips[CALC_AIAK_CHIPS + 1];

/** The row of a name, NULL if there is none. */
const calc_aiak_name *calc_aiak_find(const calc_aiak_name *list, const char *name);

#endif
