#include "validate/systems.h"

#include <string.h>

const calc_systems_entry *calc_systems_get(calc_systems *systems, const char *name)
{
    for (int i = 0; i < systems->count; i++) {
        if (strcmp(systems->entry[i].name, name) == 0) {
            return &systems->entry[i];
        }
    }
    /* More names than there is room for take the place of the last. */
    int index = systems->count < CALC_SYSTEMS_MAX ? systems->count++ : CALC_SYSTEMS_MAX - 1;
    calc_systems_entry *entry = &systems->entry[index];
    calc_errors errors = {0};
    *entry = (calc_systems_entry){.name = name};
    calc_status status = systems->load(name, &entry->system, &errors);
    entry->fine = status == CALC_OK;
    if (systems->failed == CALC_OK && calc_systems_is_failure(status)) {
        systems->failed = status;
    }
    if (entry->fine && systems->measure) {
        entry->measured = systems->measure(systems->operators, name, &entry->system);
    }
    if (!entry->fine && errors.count > 0) {
        errors.item[0].hint[0] = '\0';
        calc_error_print(&errors.item[0], entry->reason, sizeof entry->reason);
    }
    return entry;
}
