/** @file names.h  AIAK's names of models and chips, and calc's files for them. */
#ifndef CALC_AIAK_NAMES_H
#define CALC_AIAK_NAMES_H

typedef struct calc_aiak_name {
    const char *name; /**< AIAK's name; NULL ends a list */
    const char *file; /**< calc's file in models/ or systems/ */
} calc_aiak_name;

enum { CALC_AIAK_CHIPS = 5 };

/** AIAK's models and chips. */
extern const calc_aiak_name calc_aiak_models[];
extern const calc_aiak_name calc_aiak_chips[CALC_AIAK_CHIPS + 1];

/** The row of a name; NULL if there is none. */
const calc_aiak_name *calc_aiak_find(const calc_aiak_name *list, const char *name);

#endif
