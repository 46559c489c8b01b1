/** @file utf8.h  Checks that text from outside is UTF-8, and shows a piece of it in one line. */
#ifndef CALC_IO_UTF8_H
#define CALC_IO_UTF8_H

#include <stddef.h>

enum { CALC_UTF8_SHOW_SIZE = 64 /**< bytes that calc_utf8_show() fills at most */ };

/** Bytes of the UTF-8 character at `bytes`, of which `left` exist: 1 to 4, or 0 if it is not one
 *  (overlong forms, surrogates and values above U+10FFFF are not). */
size_t calc_utf8_length(const char *bytes, size_t left);

/** Bytes at `bytes`, of which `left` exist, that a text for people must not have as they are:
 * control characters, which command a terminal, those that change the direction of what follows,
 * and what is not UTF-8. 0 if the character there is harmless; *step is then its length. */
size_t calc_utf8_hostile(const char *bytes, size_t left, size_t *step);

/** Write a text to a terminal, or to what is shown on one: hostile bytes but tab and line feed
 * become \xNN.
 *  @param write  called with each piece */
void calc_utf8_for_terminal(const char *bytes, size_t length,
                            void (*write)(void *context, const char *bytes, size_t length),
                            void *context);

/** Copy text so that it can stand inside a message: hostile bytes become \xNN, and what does not
 * fit becomes "...".
 *  @param buffer  filled, CALC_UTF8_SHOW_SIZE bytes
 *  @return buffer */
char *calc_utf8_show(char *buffer, const char *bytes, size_t length);

/** The same in a buffer of its own, which lasts as long as the block around the call. */
#define calc_utf8_shown(bytes, length)                                                             \
    calc_utf8_show((char[CALC_UTF8_SHOW_SIZE]){0}, (bytes), (length))

#endif
