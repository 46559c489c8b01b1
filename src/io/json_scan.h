/** @file json_scan.h  Splits a JSON text, valid or not, into tokens. Jansson keeps no positions;
 *  this scanner finds them again, and runs only when an error is reported. */
#ifndef CALC_IO_JSON_SCAN_H
#define CALC_IO_JSON_SCAN_H

#include <stddef.h>

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

#endif
