/* A space file applied to a space, as the command does it. */
#ifndef CALC_TESTS_SPACE_FILE_H
#define CALC_TESTS_SPACE_FILE_H

#include "axis.h"
#include "io/space_load.h"
#include "objective.h"

#include <string.h>

/* One entry; errors have a pointer but no place yet. */
static inline void space_file_apply_entry(const calc_space_entry *entry, calc_space *space,
                                          calc_designs_builder *designs, calc_errors *errors)
{
    calc_axis_text text = {.key = entry->key,
                           .item = (const char *const *)entry->item,
                           .count = entry->count,
                           .pointer = entry->pointer,
                           .list = entry->list};
    calc_study_key key = calc_study_key_find(entry->key);
    if (key == CALC_STUDY_KEY_COUNT && calc_axis_set(space, designs, &text, errors) != CALC_OK) {
        return;
    }
    for (size_t i = 0; i < entry->count; i++) {
        calc_objective objective;
        calc_constraint constraint;
        int before = errors->count;
        calc_status status = CALC_OK;
        if (key == CALC_STUDY_KEY_OBJECTIVES) {
            status = calc_objective_parse(&objective, entry->item[i], errors);
        } else if (key == CALC_STUDY_KEY_WHERE) {
            status = calc_constraint_parse(&constraint, entry->item[i], errors);
        }
        if (status != CALC_OK && errors->count > before) {
            calc_space_entry_pointer(entry, i, errors->item[before].pointer);
        }
    }
}

/* The entries of a file that was read. */
static inline void space_file_apply(const calc_space_entries *entries, calc_space *space,
                                    calc_designs_builder *designs, calc_errors *errors)
{
    int before = errors->count;
    for (size_t i = 0; i < entries->count; i++) {
        space_file_apply_entry(&entries->entry[i], space, designs, errors);
    }
    calc_space_entries_locate(entries, errors, before);
}

#endif
