/** @file axis.h  Axes by name: "tensor_par=1,2,4", "num_procs=8:8192:x2", "sys.mem1.GiB=40,80" put
 *  where they belong. How values are written: "Values from text"; besides, `*` stands for every
 * value that is legal by the rules of Calculon's search. */
#ifndef CALC_SWEEP_AXIS_H
#define CALC_SWEEP_AXIS_H

#include "calc.h"
#include "designs.h"
#include "space.h"

/* ---- Values from text ------------------------------------------------------------------------ */

/* Values of an axis from text. * Values are separated by commas. Each is a value of the field,
 * or `lo:hi` (numbers, step 1), `lo:hi:step` or `lo:hi:xFACTOR` (8:8192:x2), which end with the
 * last one that is not above `hi`. Numbers are in the units of the files. */

enum { CALC_AXIS_MAX_VALUES = 1000000 /**< values of one axis */ };

/** An axis as it was written. Borrows. */
typedef struct calc_axis_text {
    const char *key;         /**< "tensor_par", "exe.tensor_par", "app.hidden", "sys.mem1.GiB" */
    const char *const *item; /**< each may hold several values, "1,2,4:64:4" */
    size_t count;            /**< of item */
    const char *name;        /**< its name in errors: "--procs 8"; NULL for a file, whose errors
                                  have no place yet: calc_space_entries_locate() gives it */
    const char *pointer;     /**< where it is in the file: "/tensor_par"; NULL: made from the key */
    bool one;                /**< it is one value: a comma is inside of it, as in a set */
    bool list;               /**< it is a list there: item 2 is at "/tensor_par/2" */
} calc_axis_text;

/** The values of `field`, ascending and without repetition, in file units; booleans and
 *  enumerations by number. `*` is not one of them.
 *  @param value  filled: the caller frees it; NULL on failure
 *  @return CALC_OK; CALC_ERR_TYPE, CALC_ERR_RANGE with errors; CALC_ERR_NOMEM with one */
CALC_MUST_USE calc_status calc_axis_parse(const calc_field *field, const calc_axis_text *text,
                                          double **value, size_t *count, calc_errors *errors);

/** Of calc_axis_error(): the error is about the key, not about an item. */
#define CALC_AXIS_KEY SIZE_MAX

/** Set an axis: fields of the execution in the space, those of the application and the system in
 *  `designs`, whose applications and systems must be there already (the field must exist in all of
 *  them). A name without prefix is looked up in exe first. The batch size is exact, or the largest
 *  allowed if its one item begins with `<=`.
 *  @return CALC_OK; CALC_ERR_FIELD (unknown, with the nearest name), CALC_ERR_TYPE, CALC_ERR_RANGE,
 *  CALC_ERR_NOMEM with errors; the axis is then as it was */
CALC_MUST_USE calc_status calc_axis_set(calc_space *space, calc_designs_builder *designs,
                                        const calc_axis_text *text, calc_errors *errors);

/** The same from "FIELD=VALUES", which errors call "--axis FIELD=VALUES".
 *  @param one  it is one value: "--set FIELD=VALUE" */
CALC_MUST_USE calc_status calc_axis_assign(calc_space *space, calc_designs_builder *designs,
                                           bool one, const char *assignment, calc_errors *errors);

/** Keys of a space file that are not axes: X(NAME, text). */
#define CALC_STUDY_KEY_LIST(X)                                                                     \
    X(APPLICATIONS, "applications") /* names */                                                    \
    X(SYSTEMS, "systems")           /* names */                                                    \
    X(OBJECTIVES, "objectives")     /* of the front: calc_objective_parse() */                     \
    X(WHERE, "where")               /* conditions: calc_constraint_parse() */                      \
    X(PER, "per")                   /* num_procs, design */                                        \
    X(TOP, "top")                   /* how many best to keep */                                    \
    X(SOURCE, "source")             /* note for people */

typedef enum calc_study_key {
#define CALC_X(name, text) CALC_STUDY_KEY_##name,
    CALC_STUDY_KEY_LIST(CALC_X)
#undef CALC_X
        CALC_STUDY_KEY_COUNT
} calc_study_key;

/** The key with this text; CALC_STUDY_KEY_COUNT if it is none: then it is an axis. */
calc_study_key calc_study_key_find(const char *key);

#endif
