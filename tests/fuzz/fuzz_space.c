/* Any bytes either fail with errors that have a place, or give axes with legal values. */
#include "../unit/documents.h"
#include "../unit/space_file.h"
#include "fuzz.h"

static void load(calc_kind kind, void *object, const char *text)
{
    MUST(calc_parse(kind, object, text, strlen(text), "valid", NULL) == CALC_OK);
}

static void check_space(const calc_space *space)
{
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_values *values = &space->axis[axis];
        const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
        for (size_t i = 0; i < values->count; i++) {
            MUST(i == 0 || values->value[i - 1] < values->value[i]);
            MUST(field->type != CALC_TYPE_INT ||
                 ((double)values->value[i] >= field->lo && (double)values->value[i] <= field->hi));
        }
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static calc_app app;
    static calc_system sys;
    calc_space space;
    calc_space_entries entries;
    calc_designs_builder builder = {0};
    calc_designs designs;
    calc_errors errors = {0};
    char name[256];
    load(CALC_KIND_APP, &app, APP_TEXT);
    load(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT);
    MUST(calc_designs_add_app(&builder, "model", &app) == CALC_OK);
    MUST(calc_designs_add_system(&builder, "machine", &sys) == CALC_OK);
    MUST(calc_space_init(&space) == CALC_OK);
    calc_status status = calc_space_parse(&entries, (const char *)data, size, "input", &errors);
    if (status == CALC_OK) {
        space_file_apply(&entries, &space, &builder, &errors);
        check_space(&space);
    }
    if (errors.count > 0) {
        fuzz_check_errors(&errors, errors.item[0].status, true);
    } else if (calc_designs_make(&builder, &designs, NULL) == CALC_OK) {
        designs.get(designs.context, designs.count - 1, &app, &sys);
        calc_designs_describe(&builder, designs.count - 1, name, sizeof name);
        MUST(strncmp(name, "model machine", 13) == 0);
    }
    calc_space_entries_free(&entries);
    calc_space_free(&space);
    calc_designs_builder_free(&builder);
    return 0;
}
