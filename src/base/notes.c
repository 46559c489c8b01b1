#include "base/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void calc_notes_add(calc_notes *notes, const char *fmt, ...)
{
    char text[CALC_NOTE_SIZE];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    for (int i = 0; i < notes->count; i++) {
        if (strcmp(notes->text[i], text) == 0) {
            return;
        }
    }
    if (notes->count == CALC_NOTES) {
        notes->dropped++;
        return;
    }
    memcpy(notes->text[notes->count++], text, sizeof text);
}

void calc_notes_take(calc_notes *notes, calc_errors *errors)
{
    for (int i = 0; i < errors->count; i++) {
        char line[CALC_NOTE_SIZE];
        calc_error one = errors->item[i];
        one.hint[0] = '\0'; /* which would be a line of its own */
        calc_error_print(&one, line, sizeof line);
        calc_notes_add(notes, "%s", line);
    }
    notes->dropped += errors->dropped;
    *errors = (calc_errors){0};
}
