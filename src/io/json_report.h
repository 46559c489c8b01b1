/** @file json_report.h  Collects the errors of one document while it is read, each with pointer and
 *  place. */
#ifndef CALC_IO_JSON_REPORT_H
#define CALC_IO_JSON_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Splits a JSON text, valid or not, into tokens. Jansson keeps no positions;
 * this scanner finds them again, and runs only when an error is reported. */

/** A place in a text, 1-based; columns count UTF-8 characters. */
typedef struct calc_json_place {
    int line, column;
} calc_json_place;

enum {
    CALC_JSON_END = 0,      /**< no more tokens */
    CALC_JSON_STRING = '"', /**< with its quotes; up to the end of the line if it is not closed */
    CALC_JSON_WORD = 'w'    /**< number, true, false, null, or what should not be there */
};

/** A token: bytes [start, end) of the text. */
typedef struct calc_json_token {
    int type; /**< one of { } [ ] : , or one of the types above */
    size_t start, end;
} calc_json_token;

/** The first token at or after byte `from`. A byte order mark counts as space. */
calc_json_token calc_json_scan(const char *text, size_t length, size_t from);

/** Bytes of the byte order mark that the text begins with: 3 or 0. */
size_t calc_json_scan_mark(const char *text, size_t length);

/** The place of byte `offset`. */
calc_json_place calc_json_scan_place(const char *text, size_t length, size_t offset);

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

/** Runs a block with a member or an element entered: `enter` is a call as above. A block ends by
 *  itself, or by `continue`. */
#define CALC_JSON_INSIDE(report, enter) CALC_JSON_INSIDE_AT(report, enter, __LINE__)
#define CALC_JSON_INSIDE_AT(report, enter, line) CALC_JSON_INSIDE_LINE(report, enter, line)
#define CALC_JSON_INSIDE_LINE(report, enter, line)                                                 \
    for (size_t mark_##line = (enter); mark_##line != SIZE_MAX;                                    \
         calc_json_report_leave(report, mark_##line), mark_##line = SIZE_MAX)

/** The same for each member of an object, or element of an array. */
#define CALC_JSON_MEMBERS(report, object, key, value)                                              \
    json_object_foreach (object, key, value)                                                       \
        CALC_JSON_INSIDE (report, calc_json_report_enter(report, key))
#define CALC_JSON_ELEMENTS(report, array, i, element)                                              \
    json_array_foreach (array, i, element)                                                         \
        CALC_JSON_INSIDE (report, calc_json_report_enter_index(report, i))

/** Add an error at the pointer. `hint` may be NULL.
 *  @param member  CALC_JSON_VALUE: the place is the value's; n >= 0: that of its n-th key
 *  @return status */
calc_status calc_json_report_add(calc_json_report *report, calc_status status, int member,
                                 const char *hint, const char *fmt, ...) CALC_PRINTF(5, 6);

/** Add an error at a byte of the text, without a pointer. @return status */
calc_status calc_json_report_add_at(calc_json_report *report, calc_status status, size_t offset,
                                    const char *hint, const char *fmt, ...) CALC_PRINTF(5, 6);

/** What was just made: NULL, for lack of memory, is an error at the pointer.
 *  @return made */
void *calc_json_report_made(calc_json_report *report, void *made);

/** Append the errors found, in the order of the text, to `errors` (may be NULL).
 *  @return status of the first one, CALC_OK if there is none */
calc_status calc_json_report_close(calc_json_report *report, calc_errors *errors);

/* Finds the first mistake in a text that is not JSON, and suggests how to
 * mend it. */

/** The first mistake in a text. */
typedef struct calc_json_mistake {
    size_t offset;  /**< byte where it is */
    char text[160]; /**< one line */
    char hint[160]; /**< may be empty */
} calc_json_mistake;

/** Find the first mistake, as strict as Jansson, but for the words NaN, Infinity and -Infinity,
 *  which Python writes, if `not_finite`. Not found here: repeated keys, numbers that are
 *  too large, "\u0000".
 *  @return whether there is one; *out is then filled */
bool calc_json_syntax_check(const char *text, size_t length, bool not_finite,
                            calc_json_mistake *out);

#endif
