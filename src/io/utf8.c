#include "io/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t calc_utf8_length(const char *bytes, size_t left)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    if (left == 0) {
        return 0;
    }
    if (byte[0] < 0x80) {
        return 1;
    }
    size_t length = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
    if (byte[0] < 0xc2 || byte[0] > 0xf4 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* The second byte alone tells overlong forms, surrogates and values that are too large. */
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f)) {
        return 0;
    }
    return length;
}

/* U+0080 to U+009F, control characters; U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to
 * U+2069, the characters that Unicode's bidirectional algorithm obeys. */
static bool commands(const unsigned char *c, size_t length)
{
    if (length == 2) {
        return (c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xd8 && c[1] == 0x9c);
    }
    return length == 3 && c[0] == 0xe2 &&
           ((c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae))) ||
            (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

size_t calc_utf8_hostile(const char *bytes, size_t left, size_t *step)
{
    const unsigned char *c = (const unsigned char *)bytes;
    *step = calc_utf8_length(bytes, left);
    if (*step == 0) {
        return 1;
    }
    return c[0] < 0x20 || c[0] == 0x7f || commands(c, *step) ? *step : 0;
}

void calc_utf8_for_terminal(const char *bytes, size_t length,
                            void (*write)(void *context, const char *bytes, size_t length),
                            void *context)
{
    size_t from = 0;
    for (size_t i = 0; i < length;) {
        size_t step;
        size_t hostile = calc_utf8_hostile(bytes + i, length - i, &step);
        if (hostile == 0 || bytes[i] == '\n' || bytes[i] == '\t') {
            i += step;
            continue;
        }
        write(context, bytes + from, i - from);
        for (from = i + hostile; i < from; i++) {
            char hex[8];
            snprintf(hex, sizeof hex, "\\x%02x", (unsigned char)bytes[i]);
            write(context, hex, 4);
        }
    }
    write(context, bytes + from, length - from);
}

char *calc_utf8_show(char *buffer, const char *bytes, size_t length)
{
    enum { ROOM = CALC_UTF8_SHOW_SIZE - sizeof "..." };
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t step;
        size_t hostile = calc_utf8_hostile(bytes + i, length - i, &step);
        char hex[16];
        const char *shown = bytes + i;
        size_t width = step;
        for (size_t k = 0; k < hostile; k++) {
            snprintf(hex + 4 * k, 8, "\\x%02x", (unsigned char)bytes[i + k]);
            shown = hex;
            width = 4 * hostile;
            step = hostile;
        }
        if (used + width > ROOM) {
            memcpy(buffer + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(buffer + used, shown, width);
        used += width;
        i += step;
    }
    buffer[used] = '\0';
    return buffer;
}
