#include "cli/shell/fill.h"

#include <string.h>

/* Fill in the placeholder at the start of the text. @return bytes of the text consumed */
static size_t fill_in(calc_output *out, const char *text, const calc_fill_place *places)
{
    for (; places->text; places++) {
        size_t length = strlen(places->text);
        if (strncmp(text, places->text, length) == 0) {
            places->write(out, places->which);
            return length;
        }
    }
    calc_output_write(out, text, 1);
    return 1;
}

void calc_fill_write(calc_output *out, const calc_fill_file *file, const calc_fill_place *places)
{
    for (size_t i = 0; i < file->length;) {
        i += fill_in(out, file->bytes + i, places);
    }
}
