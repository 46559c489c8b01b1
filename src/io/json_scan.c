#include "io/json_scan.h"

#include <stdbool.h>
#include <string.h>

size_t calc_json_scan_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Whether `byte` is one of `set`; NUL never is. */
static bool is_one_of(char byte, const char *set)
{
    return byte && strchr(set, byte);
}

static size_t string_end(const char *text, size_t length, size_t start)
{
    size_t i = start + 1;
    while (i < length && text[i] != '\n') {
        if (text[i] == '"') {
            return i + 1;
        }
        bool escape = text[i] == '\\' && i + 1 < length && text[i + 1] != '\n';
        i += escape ? 2 : 1;
    }
    return i;
}

calc_json_token calc_json_scan(const char *text, size_t length, size_t from)
{
    size_t start = from == 0 ? calc_json_scan_mark(text, length) : from;
    while (start < length && is_one_of(text[start], " \t\r\n")) {
        start++;
    }
    if (start >= length) {
        return (calc_json_token){CALC_JSON_END, length, length};
    }
    if (is_one_of(text[start], "{}[]:,")) {
        return (calc_json_token){text[start], start, start + 1};
    }
    if (text[start] == '"') {
        return (calc_json_token){CALC_JSON_STRING, start, string_end(text, length, start)};
    }
    size_t end = start + 1;
    while (end < length && !is_one_of(text[end], " \t\r\n{}[]:,\"")) {
        end++;
    }
    return (calc_json_token){CALC_JSON_WORD, start, end};
}

calc_json_place calc_json_scan_place(const char *text, size_t length, size_t offset)
{
    calc_json_place place = {1, 1};
    for (size_t i = calc_json_scan_mark(text, length); i < offset && i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '\n') {
            place.line++;
            place.column = 1;
        } else if ((byte & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}
