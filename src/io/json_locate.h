/** @file json_locate.h  Finds the place of a JSON pointer in a text. */
#ifndef CALC_IO_JSON_LOCATE_H
#define CALC_IO_JSON_LOCATE_H

#include "io/json_scan.h"

#include <stdbool.h>

enum { CALC_JSON_VALUE = -1 /**< member: not a key, the value itself */ };

/** Find `pointer` ("/networks/0/size"; "" is the root) in a text that Jansson accepted.
 *  @param member  CALC_JSON_VALUE, or n >= 0: the key of the n-th member of the object there
 *  @param out     filled; if the pointer leads nowhere, with the place of the deepest value on
 *                 the way that exists
 *  @return whether the pointer itself was found */
bool calc_json_locate(const char *text, size_t length, const char *pointer, int member,
                      calc_json_place *out);

/** Bytes [start, end) of the value at `pointer`.
 *  @return whether the pointer was found */
bool calc_json_span(const char *text, size_t length, const char *pointer, size_t *start,
                    size_t *end);

#endif
