#include "galvatron/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void calc_galvatron_note(calc_galvatron_notes *notes, const char *fmt, ...)
{
    char text[CALC_GALVATRON_NOTE_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (int i = 0; i < notes->count; i++) {
        if (strcmp(notes->text[i], text) == 0) {
            return;
        }
    }
    if (notes->count == CALC_GALVATRON_NOTES) {
        notes->dropped++;
        return;
    }
    memcpy(notes->text[notes->count++], text, sizeof text);
}
