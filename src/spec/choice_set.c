#include "spec/choice_set.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "spec/field.h"

char *calc_choice_set_text(const char *const *choices, int64_t set, char *buffer)
{
    buffer[0] = '\0';
    for (size_t i = 0; choices[i]; i++) {
        if (set >> i & 1) {
            calc_append(buffer, CALC_CHOICE_SET_SIZE, "%s%s", *buffer ? "+" : "", choices[i]);
        }
    }
    return buffer;
}

bool calc_choice_set_parse(const char *const *choices, const char *text, int64_t *set, char *bad)
{
    int64_t found = 0;
    bool more = *text && strcmp(text, "none") != 0;
    while (more) {
        size_t length = strcspn(text, "+,");
        snprintf(bad, CALC_CHOICE_SET_SIZE, "%.*s", (int)length, text);
        int index = length < CALC_CHOICE_SET_SIZE ? calc_choice_index(choices, bad) : -1;
        if (index < 0) {
            return false;
        }
        found |= (int64_t)1 << index;
        more = text[length] != '\0';
        text += length + more;
    }
    *set = found;
    return true;
}
