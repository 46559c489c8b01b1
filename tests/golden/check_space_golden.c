/* The studies that calc ships: they have as many executions as Calculon's have. */
#include "../unit/space_file.h"
#include "sweep.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static const char studies[] = CALC_DATA_DIR_SOURCE "/executions/spaces";

static void load_named(calc_kind kind, void *object, const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s.json", CALC_DATA_DIR_SOURCE, directory, name);
    ck_assert_msg(calc_load(kind, object, path, NULL) == CALC_OK, "%s", path);
}

/* Add the applications and systems that a study names. */
static void add_designs(const calc_space_entries *entries, calc_designs_builder *designs)
{
    for (size_t i = 0; i < entries->count; i++) {
        const calc_space_entry *entry = &entries->entry[i];
        calc_study_key key = calc_study_key_find(entry->key);
        for (size_t k = 0; k < entry->count; k++) {
            calc_app app;
            calc_system sys;
            const char *name = entry->item[k];
            if (key == CALC_STUDY_KEY_APPLICATIONS) {
                load_named(CALC_KIND_APP, &app, "models", name);
                ck_assert_int_eq(calc_designs_add_app(designs, name, &app), CALC_OK);
            } else if (key == CALC_STUDY_KEY_SYSTEMS) {
                load_named(CALC_KIND_SYSTEM, &sys, "systems", name);
                ck_assert_int_eq(calc_designs_add_system(designs, name, &sys), CALC_OK);
            }
        }
    }
}

/* Executions of one study. */
static uint64_t size_of(const char *path)
{
    calc_space space;
    calc_space_entries entries;
    calc_designs_builder builder = {0};
    calc_designs designs;
    calc_sweep_counts counts = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_msg(calc_space_load(&entries, path, &errors) == CALC_OK, "%s", errors.item[0].text);
    add_designs(&entries, &builder);
    space_file_apply(&entries, &space, &builder, &errors);
    ck_assert_msg(errors.count == 0, "%s: %s", path, errors.item[0].text);
    ck_assert_int_eq(calc_designs_make(&builder, &designs, &errors), CALC_OK);
    ck_assert_int_eq(calc_sweep_count(&space, &designs, CALC_COMPAT_CALCULON, &counts), CALC_OK);
    calc_space_entries_free(&entries);
    calc_space_free(&space);
    calc_designs_builder_free(&builder);
    return counts.total;
}

/* Published: the number of executions of Calculon's own searches. */
static const struct {
    const char *prefix;
    int files;
    uint64_t executions;
} published[] = {
    {"sc23_fig5", 1, 10956160},
    {"sc23_scaling_gpt3-175B_off", 1, 698929264},
    {"sc23_scaling_gpt3-175B_on", 1, 4828965824},
    {"sc23_scaling_turing-530B_off", 1, 169065600},
    {"sc23_scaling_turing-530B_on", 1, 1168089600},
    {"sc23_scaling_megatron-1T_off", 1, 377422672},
    {"sc23_scaling_megatron-1T_on", 1, 2607647552},
    {"sc23_scaling_", 6, 9850120512},
    {"sc23_budget_", 48, 6599169488},
};

CALC_TEST_LOOP(studies_have_as_many_executions_as_calculons, 0,
               (int)(sizeof published / sizeof *published))
{
    DIR *dir = opendir(studies);
    struct dirent *entry;
    uint64_t executions = 0;
    int files = 0;
    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir))) {
        if (strncmp(entry->d_name, published[_i].prefix, strlen(published[_i].prefix)) == 0) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", studies, entry->d_name);
            executions += size_of(path);
            files++;
        }
    }
    closedir(dir);
    ck_assert_int_eq(files, published[_i].files);
    ck_assert_uint_eq(executions, published[_i].executions);
}

/* llm_all.json says what a space is without a file. */
CALC_TEST(the_space_of_all_layouts_is_the_default)
{
    calc_space space;
    calc_space none;
    calc_space_entries entries;
    calc_designs_builder designs = {0};
    calc_errors errors = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/llm_all.json", studies);
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_space_init(&none), CALC_OK);
    ck_assert_int_eq(calc_space_load(&entries, path, &errors), CALC_OK);
    space_file_apply(&entries, &space, &designs, &errors);
    ck_assert_int_eq(errors.count, 0);
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_values *a = &space.axis[axis];
        const calc_values *b = &none.axis[axis];
        ck_assert_int_eq(a->all, b->all);
        ck_assert_uint_eq(a->count, b->count);
        ck_assert(a->count == 0 || memcmp(a->value, b->value, a->count * sizeof *a->value) == 0);
    }
    ck_assert(space.batch_is_maximum);
    calc_space_entries_free(&entries);
    calc_space_free(&space);
    calc_space_free(&none);
}
