/** @file utf8.h  Checks that text from outside is UTF-8, and shows a piece of it in one line. */
#ifndef CALC_IO_UTF8_H
#define CALC_IO_UTF8_H

#include <stddef.h>

enum { CALC_UTF8_SHOW_SIZE = 64 /**< bytes that calc_utf8_show() fills at most */ };

/** Bytes of the UTF-8 character at `bytes`, of which `left` exist: 1 to 4, or 0 if it is not one
 *  (overlong forms, surrogates and values above U+10FFFF are not). */
size_t calc_utf8_length(const char *bytes, size_t left);

/** Copy text so that it can stand inside a message: control characters and bytes that are not
 *  UTF-8 become \xNN, and what does not fit becomes "...".
 *  @param buffer  filled, CALC_UTF8_SHOW_SIZE bytes
 *  @return buffer */
char *calc_utf8_show(char *buffer, const char *bytes, size_t length);

#endif
