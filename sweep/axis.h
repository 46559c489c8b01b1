/** @file axis.h  Axes by name: "tensor_par=1,2,4", "num_procs=8:8192:x2", "sys.mem1.GiB=40,80" put
 *  where they belong. How values are written: axis_parse.h; besides, `*` stands for every value
 * that is legal by the rules of Calculon's search. */
#ifndef CALC_SWEEP_AXIS_H
#define CALC_SWEEP_AXIS_H

#include "axis_parse.h"
#include "calc.h"
#include "designs.h"
#include "space.h"

/** Set an axis: fields of the execution in the space, those of the application and the system in
 *  `designs`, whose applications and systems must be there already (the field must exist in all of
 *  them). A name without prefix is looked up in exe first. The batch size is exact, or the largest
 *  allowed if its one item begins with `<=`.
 *  @return CALC_OK; CALC_ERR_FIELD (unknown, with the nearest name), CALC_ERR_TYPE, CALC_ERR_RANGE,
 *  CALC_ERR_NOMEM with errors; the axis is then as it was */
CALC_MUST_USE calc_status calc_axis_set(calc_space *space, calc_designs_builder *designs,
                                        const calc_axis_text *text, calc_errors *errors);

/** The same from "FIELD=VALUES"; errors call it "--axis FIELD=VALUES". */
CALC_MUST_USE calc_status calc_axis_assign(calc_space *space, calc_designs_builder *designs,
                                           const char *assignment, calc_errors *errors);

/** The same of one value: "FIELD=VALUE"; errors call it "--set FIELD=VALUE". */
CALC_MUST_USE calc_status calc_axis_assign_one(calc_space *space, calc_designs_builder *designs,
                                               const char *assignment, calc_errors *errors);

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
