/** @file json_report.h  Collects the errors of one document while it is read, each with pointer and
 *  place. */
#ifndef CALC_IO_JSON_REPORT_H
#define CALC_IO_JSON_REPORT_H

#include "base/error.h"
#include "io/json_locate.h"

/** Collects the errors of one document. Start with the first four members set, the rest 0. */
typedef struct calc_json_report {
    calc_kind kind;
    const char *name;  /**< what errors call the document */
    const char *text;  /**< NULL: errors have no line */
    size_t length;     /**< bytes of text */
    char pointer[128]; /**< where the reader is */
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

/** Append the errors found, in the order of the text, to `errors` (may be NULL).
 *  @return status of the first one, CALC_OK if there is none */
calc_status calc_json_report_close(calc_json_report *report, calc_errors *errors);

#endif
