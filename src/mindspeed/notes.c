#include "mindspeed/notes.h"

#include <stdarg.h>
#include <stdio.h>

void calc_mindspeed_notes_add(calc_mindspeed_notes *notes, const char *fmt, ...)
{
    if (notes->count == CALC_MINDSPEED_NOTES) {
        notes->dropped++;
        return;
    }
    va_list list;
    va_start(list, fmt);
    vsnprintf(notes->text[notes->count++], CALC_MINDSPEED_NOTE_SIZE, fmt, list);
    va_end(list);
}

void calc_mindspeed_notes_take(calc_mindspeed_notes *notes, calc_errors *errors)
{
    for (int i = 0; i < errors->count; i++) {
        char line[CALC_MINDSPEED_NOTE_SIZE];
        calc_error one = errors->item[i];
        one.hint[0] = '\0'; /* which would be a line of its own */
        calc_error_print(&one, line, sizeof line);
        calc_mindspeed_notes_add(notes, "%s", line);
    }
    notes->dropped += errors->dropped;
    *errors = (calc_errors){0};
}
