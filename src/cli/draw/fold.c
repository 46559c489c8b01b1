#include "cli/draw/fold.h"

#include <string.h>

enum { INDENT = 4 };

/* Bytes of the character, or of the colour, that begins here. *width is its columns. */
static size_t next_character(const char *at, const char *end, int *width)
{
    const char *next = at + 1;
    *width = 1;
    if (*at == '\033') {
        const char *last = memchr(at, 'm', (size_t)(end - at));
        *width = 0;
        return last ? (size_t)(last + 1 - at) : 1;
    }
    while (next < end && ((unsigned char)*next & 0xc0) == 0x80) {
        next++;
    }
    return (size_t)(next - at);
}

/* Where to break a line so that it fits: at the start of the spaces; `end` if it already fits. */
static const char *break_of(const char *line, const char *end, int columns)
{
    const char *gap = NULL;
    const char *space = NULL;
    int used = 0;
    const char *at = line + strspn(line, " ");
    used = (int)(at - line);
    while (at < end) {
        int width;
        size_t bytes = next_character(at, end, &width);
        if (used + width > columns && (gap || space)) {
            return gap ? gap : space;
        }
        if (*at == ' ' && at[-1] != ' ') {
            space = at;
            gap = at[1] == ' ' ? at : gap;
        }
        used += width;
        at += bytes;
        if (used > columns && *at == ' ') {
            return at; /* after a word that is longer than a line */
        }
    }
    return end;
}

/* One line, without its end. */
static void fold_line(calc_output *out, const char *line, const char *end, int columns)
{
    const char *stop = break_of(line, end, columns);
    calc_output_raw(out, line, (size_t)(stop - line));
    while (stop < end) {
        line = stop + strspn(stop, " ");
        if (line >= end) {
            return;
        }
        stop = break_of(line, end, columns - INDENT);
        calc_output_printf(out, "\n%*s", INDENT, "");
        calc_output_raw(out, line, (size_t)(stop - line));
    }
}

void calc_fold_write(calc_output *out, const char *text, size_t length, int columns)
{
    const char *end = text + length;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        fold_line(out, text, line_end ? line_end : end, columns);
        if (!line_end) {
            return;
        }
        calc_output_text(out, "\n");
        text = line_end + 1;
    }
}
