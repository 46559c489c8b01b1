#include "cli/shell/list.h"

#include <stdio.h>
#include <string.h>

bool calc_list_split(calc_list *out, const char *text)
{
    if (strlen(text) >= sizeof out->text) {
        return false;
    }
    snprintf(out->text, sizeof out->text, "%s", text);
    for (char *at = out->text; at; out->count++) {
        if (out->count == CALC_LIST_MAX || *at == ',' || *at == '\0') {
            return false;
        }
        out->item[out->count] = at;
        at = strchr(at, ',');
        if (at) {
            *at++ = '\0';
        }
    }
    return true;
}
