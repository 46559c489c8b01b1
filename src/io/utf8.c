#include "io/utf8.h"

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

char *calc_utf8_show(char *buffer, const char *bytes, size_t length)
{
    enum { ROOM = CALC_UTF8_SHOW_SIZE - sizeof "..." };
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t step = calc_utf8_length(bytes + i, length - i);
        unsigned char byte = (unsigned char)bytes[i];
        char hex[8];
        const char *shown = bytes + i;
        size_t width = step;
        if (step == 0 || byte < 0x20 || byte == 0x7f) {
            width = (size_t)snprintf(hex, sizeof hex, "\\x%02x", byte);
            shown = hex;
            step = 1;
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
