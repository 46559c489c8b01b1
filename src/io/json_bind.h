/** @file json_bind.h  Converts a parsed JSON value into the member of a struct, by its row in the
 *  table. */
#ifndef CALC_IO_JSON_BIND_H
#define CALC_IO_JSON_BIND_H

#include "io/json_report.h"

#include <jansson.h>

/** Fill the struct of `table` from `value`, or report why not. */
void calc_json_bind_table(calc_json_report *report, const calc_table *table, json_t *value,
                          void *object);

/** Fill one member from `value`, or report why not. */
void calc_json_bind_field(calc_json_report *report, const calc_field *field, json_t *value,
                          void *member);

/** Note that a member of a calc_exec is "auto", if its row allows that; clear the note for any
 *  other value. @return whether it is "auto": then there is nothing more to fill */
bool calc_json_bind_automatic(const calc_field *field, const json_t *value, void *object);

/** The key of the table that `word` is another name of, or else the nearest; NULL if none is near.
 */
const char *calc_json_bind_nearest(const calc_table *table, const char *word);

/** Report a key that nothing knows.
 *  @param member   its number in the object
 *  @param nearest  the key that may be meant, or NULL */
void calc_json_bind_unknown(calc_json_report *report, const char *key, int member,
                            const char *nearest);

#endif
