#include "validate/run_assume.h"

#include <string.h>

void calc_assumptions_add(calc_assumptions *assumed, const char *text)
{
    for (int i = 0; i < assumed->count; i++) {
        if (strcmp(assumed->text[i], text) == 0) {
            return;
        }
    }
    if (assumed->count < CALC_ASSUMPTIONS_MAX) {
        assumed->text[assumed->count++] = text;
    }
}
