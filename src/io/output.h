/** @file output.h  Writes files that appear whole or not at all: they are written beside their
 *  place, then renamed. "-" is standard output; names ending in .gz are compressed. */
#ifndef CALC_IO_OUTPUT_H
#define CALC_IO_OUTPUT_H

#include "calc.h"
#include "io/text.h"

typedef struct calc_output calc_output;

/** Open for writing; nothing is visible under `path` before calc_output_close() succeeds.
 *  @return CALC_OK, CALC_ERR_IO or CALC_ERR_NOMEM with an error that names the file. */
CALC_MUST_USE calc_status calc_output_open(calc_output **out, const char *path,
                                           calc_errors *errors);

/** The same; a failure to open is remembered as one to write is, and reported by
 *  calc_output_close(). @return NULL: there is no memory */
calc_output *calc_output_to(const char *path);

/** Open for writing to memory. After calc_output_close() succeeded, the text is in *text and
 *  belongs to the caller; after calc_output_discard() it must be freed too. @param text  NULL: it
 *  is taken
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_output_open_memory(calc_output **out, calc_text *text,
                                                  calc_errors *errors);

/** Write; failures are remembered and reported by calc_output_close(). */
void calc_output_write(calc_output *out, const char *bytes, size_t length);
void calc_output_text(calc_output *out, const char *text);
void calc_output_printf(calc_output *out, const char *fmt, ...) CALC_PRINTF(2, 3);

/** Write bytes that calc itself made for a terminal, colours: standard output escapes all others
 *  where it is one (calc_utf8_for_terminal). */
void calc_output_raw(calc_output *out, const char *bytes, size_t length);

/** From now on escape as standard output does: what is written to memory goes there, raw. */
void calc_output_for_stdout(calc_output *out);

/** The bytes written to memory since the last call; valid until more is written.
 *  @param length  set @return NULL if nothing was written, or if memory was short */
const char *calc_output_take(calc_output *out, size_t *length);

/** From now on what is written is JSON inside markup, so that `<`, which JSON has in texts only, is
 *  written as its escape \u003c and can end no element; or no longer. */
void calc_output_in_markup(calc_output *out, bool in_markup);

/** Flush, make the file visible and free `out`. On failure the temporary file is removed and an
 *  old file under the name stays as it was. A reader that closed standard output (EPIPE) is a
 *  failure too. NULL is fine. */
CALC_MUST_USE calc_status calc_output_close(calc_output *out, calc_errors *errors);

/** Close it if `status` is CALC_OK, else discard it. @return the status, or that of closing */
CALC_MUST_USE calc_status calc_output_end(calc_output *out, calc_status status,
                                          calc_errors *errors);

/** Give up: remove the temporary file and free `out`. NULL is fine. */
void calc_output_discard(calc_output *out);

#endif
