/** @file axis_parse.h  Values of an axis from text.
 *
 *  Values are separated by commas. Each is a value of the field, or `lo:hi` (numbers, step 1),
 *  `lo:hi:step` or `lo:hi:xFACTOR` (8:8192:x2), which end with the last one that is not above `hi`.
 *  Numbers are in the units of the files. */
#ifndef CALC_SWEEP_AXIS_PARSE_H
#define CALC_SWEEP_AXIS_PARSE_H

#include "calc.h"

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

/** Add an error about an item of an axis or its key. @return status */
calc_status calc_axis_error(const calc_axis_text *text, size_t item, calc_errors *errors,
                            calc_status status, const char *hint, const char *fmt, ...)
    CALC_PRINTF(6, 7);

#endif
