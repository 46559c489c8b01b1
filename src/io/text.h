/** @file text.h  Reads whole documents from a file or standard input into memory. */
#ifndef CALC_IO_TEXT_H
#define CALC_IO_TEXT_H

#include "calc.h"

/** A document's bytes; owns `data`. Start with {0}. Not NUL-safe: `length` counts. */
typedef struct calc_text {
    char *data; /**< NUL-terminated after `length` bytes */
    size_t length;
} calc_text;

enum { CALC_TEXT_MAX = 64 << 20 /**< maximum size of a document in bytes */ };

/** Read a file, or standard input if path is "-"; names ending in .gz are decompressed.
 *  @return CALC_OK, CALC_ERR_NOT_FOUND (or a folder), CALC_ERR_IO (no permission, too long, broken
 *  compression) or CALC_ERR_NOMEM, with one error added that names the file. */
CALC_MUST_USE calc_status calc_text_read(calc_text *text, const char *path, calc_errors *errors);

/** Free the bytes; fine on {0} and twice. */
void calc_text_free(calc_text *text);

#endif
