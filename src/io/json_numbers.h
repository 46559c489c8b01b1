/** @file json_numbers.h  Reads JSON objects of numbers whose keys have a meaning: tables measured
 *  by other programs. */
#ifndef CALC_IO_JSON_NUMBERS_H
#define CALC_IO_JSON_NUMBERS_H

#include "calc.h"

/** The reader's decision about a member. */
typedef enum calc_json_number_use {
    CALC_JSON_NUMBER_IGNORED, /**< whatever it is */
    CALC_JSON_NUMBER_INSIDE,  /**< it must be an object; its members are asked for */
    CALC_JSON_NUMBER_TAKEN,   /**< it must be a number */
    CALC_JSON_NUMBER_REFUSED  /**< its key is wrong */
} calc_json_number_use;

enum { CALC_JSON_NUMBERS_DEPTH = 4 /**< of members that are asked for */ };

/** A reader. Keys are those from the root to the member. */
typedef struct calc_json_numbers {
    void *context;
    /** Called with each member, and again with the value of each that is taken.
     *  @param value  NULL: not yet read */
    calc_json_number_use (*take)(void *context, const char *const *key, int depth,
                                 const double *value);
    double least;     /**< of all numbers; none may be above 1e12 */
    const char *keys; /**< hint for a refused key: the valid keys */
} calc_json_numbers;

/** Read an object, its members in the order of the text.
 *  @return CALC_OK, or the status of the first error that was added; each has its place */
CALC_MUST_USE calc_status calc_json_numbers_parse(const calc_json_numbers *reader, const char *text,
                                                  size_t length, const char *name,
                                                  calc_errors *errors);

#endif
