/** @file show.h  Text from outside inside a message. */
#ifndef CALC_SWEEP_SHOW_H
#define CALC_SWEEP_SHOW_H

#include <string.h>

enum { CALC_SHOW_SIZE = 64 /**< bytes that calc_show() fills at most */ };

/** Copy a text so that it stands in one line: bytes that are not printable ASCII become '?', and an
 *  end that does not fit becomes "...". @return buffer */
static inline char *calc_show(char buffer[CALC_SHOW_SIZE], const char *text)
{
    size_t used = 0;
    for (; *text && used < CALC_SHOW_SIZE - 4; text++) {
        buffer[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
    }
    strcpy(buffer + used, *text ? "..." : "");
    return buffer;
}

#endif
