/** @file json_report.h  Collects the errors of one document while it is read, each with pointer and
 *  place. */
#ifndef CALC_IO_JSON_REPORT_H
#define CALC_IO_JSON_REPORT_H

#include <stdbool.h>

#include "base/error.h"
#include "io/json_scan.h"

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

/** Collects the errors of one document. Start with the first four members set, the rest 0. */
typedef struct calc_json_report {
    calc_kind kind;
    const char *name;  /**< what errors call the document */
    const char *text;  /**< NULL: errors have no line */
    size_t length;     /**< bytes of text */
    char pointer[128]; /**< where the reader is */
    bool partial;      /**< an execution may leave required keys out ... */
    int absent;        /**< ... which are counted here */
    calc_errors found;
} calc_json_report;

/** Enter a member or element: add "/key" or "/index" to the pointer.
 *  @return what calc_json_report_leave() needs to undo it */
size_t calc_json_report_enter(calc_json_report *report, const char *key);
size_t calc_json_report_enter_index(calc_json_report *report, size_t index);
void calc_json_report_leave(calc_json_report *report, size_t mark);

/** Add an error at the pointer. `hint` may be NULL.
 *  @param member  CALC_JSON_VALUE: the place is the value's; n >= 0: that of its n-th key
 *  @return status */
calc_status calc_json_report_add(calc_json_report *report, calc_status status, int member,
                                 const char *hint, const char *fmt, ...) CALC_PRINTF(5, 6);

/** Add an error at a byte of the text, without a pointer. @return status */
calc_status calc_json_report_add_at(calc_json_report *report, calc_status status, size_t offset,
                                    const char *hint, const char *fmt, ...) CALC_PRINTF(5, 6);

/** What was just made of a value: NULL, for lack of memory, is an error at the pointer.
 *  @return value */
struct json_t *calc_json_report_made(calc_json_report *report, struct json_t *value);

/** Append the errors found, in the order of the text, to `errors` (may be NULL).
 *  @return status of the first one, CALC_OK if there is none */
calc_status calc_json_report_close(calc_json_report *report, calc_errors *errors);

#endif
