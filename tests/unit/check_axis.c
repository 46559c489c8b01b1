/* Axes by name: unit/check_axis.txt. "values FIELD TEXTS" reads values, with "|" between the texts
 * of a list; "axis FIELD=VALUES" and "set FIELD=VALUE" change a space and its designs, and the
 * answer is what differs. */
#include "axis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "documents.h"
#include "frame.h"
#include "spec/field.h"

static calc_space space;
static calc_designs_builder designs;

static void setup(void)
{
    designs = (calc_designs_builder){0};
    static calc_app app;
    static calc_system sys;
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", NULL), 0);
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", NULL), 0);
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_designs_add_app(&designs, "model", &app), CALC_OK);
    ck_assert_int_eq(calc_designs_add_system(&designs, "machine", &sys), CALC_OK);
}

static void teardown(void)
{
    calc_space_free(&space);
    calc_designs_builder_free(&designs);
}

static void answer(const char *said, FILE *out);

const calc_test_frame calc_tests = {
    .setup = setup, .teardown = teardown, .cases = "unit/check_axis.txt", .answer = answer};

static void print_numbers(FILE *out, const double *value, size_t count)
{
    char number[32];
    for (size_t i = 0; i < count && count < 100; i++) {
        fprintf(out, " %s", calc_number_text(value[i], 1, number));
    }
    if (count >= 100) {
        fprintf(out, " %zu values to %s", count, calc_number_text(value[count - 1], 1, number));
    }
    fputs("\n", out);
}

/* "exe.tensor_par 8,1|2" */
static calc_status read_values(char *said, FILE *out, calc_errors *errors)
{
    const char *item[8], *prefix = said;
    calc_field_ref ref;
    double *value = NULL;
    size_t count;
    char *texts = strchr(said, ' ');
    *texts++ = '\0';
    calc_axis_text text = {.key = strchr(said, '.') + 1, .item = item, .name = "--axis"};
    for (item[text.count++] = texts; (texts = strchr(texts, '|')); item[text.count++] = texts) {
        *texts++ = '\0';
    }
    ck_assert_int_eq(calc_field_find(prefix[0] == 'a'   ? CALC_KIND_APP
                                     : prefix[0] == 's' ? CALC_KIND_SYSTEM
                                                        : CALC_KIND_EXEC,
                                     text.key, &ref),
                     CALC_OK);
    calc_status status = calc_axis_parse(ref.field, &text, &value, &count, errors);
    ck_assert((status == CALC_OK) == (value != NULL));
    if (value) {
        print_numbers(out, value, count);
    }
    free(value);
    return status;
}

/* The axes that are not as before; their lists are new wherever they were set. */
static void print_axes(const calc_space *before, size_t designs_before, FILE *out)
{
    for (int i = 0; i < CALC_AXIS_COUNT; i++) {
        const calc_values *v = &space.axis[i];
        double *number = calloc(v->count + 1, sizeof *number);
        for (size_t k = 0; k < v->count; k++) {
            number[k] = calc_axis_number((calc_axis)i, v->value[k]);
        }
        if (memcmp(v, &before->axis[i], sizeof *v) != 0) {
            fprintf(out, "%s:%s", calc_axis_field((calc_axis)i)->key, v->all ? " all" : "");
            print_numbers(out, number, v->count);
        }
        free(number);
    }
    if (space.batch_is_maximum != before->batch_is_maximum) {
        fprintf(out, "batch_is_maximum: %d\n", space.batch_is_maximum);
    }
    for (size_t i = 0; i < designs.axes; i++) {
        fprintf(out, "%s%s:", i < designs_before ? "" : "new ", designs.axis[i].path);
        print_numbers(out, designs.axis[i].value, designs.axis[i].count);
    }
}

static void answer(const char *said, FILE *out)
{
    char text[1024], line[1024];
    calc_errors errors = {0};
    calc_space before = space;
    size_t axes = designs.axes;
    calc_status status;
    snprintf(text, sizeof text, "%.*s", (int)strlen(said) - 1, said);
    if (strncmp(text, "values ", 7) == 0) {
        status = read_values(text + 7, out, &errors);
    } else {
        bool one = strncmp(text, "axis ", 5) != 0; /* "set " */
        status = calc_axis_assign(&space, &designs, one, text + (one ? 4 : 5), &errors);
    }
    ck_assert_int_eq(errors.count, status != CALC_OK);
    if (status != CALC_OK) {
        ck_assert_int_eq(errors.item[0].status, status);
        ck_assert_mem_eq(&before, &space, sizeof space); /* nothing has changed */
        ck_assert_uint_eq(designs.axes, axes);
        calc_error_print(&errors.item[0], line, sizeof line);
        fprintf(out, "%s\n", line);
    } else if (text[0] != 'v') {
        print_axes(&before, axes, out);
    }
}

static void assign(const char *assignment)
{
    ck_assert_int_eq(calc_axis_assign(&space, &designs, false, assignment, NULL), CALC_OK);
}

static void print_first(const calc_errors *errors, const char *printed)
{
    char line[1024];
    ck_assert_int_eq(errors->count, 1);
    calc_error_print(&errors->item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(what_is_served_is_an_axis)
{
    calc_exec exec;
    ck_assert_int_eq(space.inference.phase, CALC_INFERENCE_PHASE_NONE);
    assign("inference.phase=serve");
    assign("exe.inference.prompt_size=4000");
    assign("inference.prefix_hit=0.25");
    calc_space_optional(&space, &exec);
    ck_assert_int_eq(exec.inference.phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert_int_eq(exec.inference.prompt_size, 4000);
    ck_assert_double_eq(exec.inference.prefix_hit, 0.25);
    assign("inference.prompt_size=4000,1000");
    ck_assert_uint_eq(space.axis[CALC_AXIS_inference_prompt_size].count, 2);
    ck_assert_int_eq(space.inference.prompt_size, 1000);
    assign("inference.traits.host=2ms");
    ck_assert_double_eq(space.inference.traits.host_s, 0.002);
}

CALC_TEST(errors_of_a_file_have_pointers_instead_of_a_name)
{
    const char *const items[] = {"4", "x"};
    calc_axis_text text = {
        .key = "tensor_par", .item = items, .count = 2, .pointer = "/tensor_par", .list = true};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_axis_set(&space, &designs, &text, &errors), CALC_ERR_TYPE);
    print_first(&errors, "/tensor_par/1: expected an integer, found string \"x\"");
    text.key = "objektives";
    text.pointer = "/objektives";
    errors.count = 0;
    ck_assert_int_eq(calc_axis_set(&space, &designs, &text, &errors), CALC_ERR_FIELD);
    print_first(&errors, "/objektives: unknown key \"objektives\"\n"
                         "  hint: did you mean \"objectives\"?");
}

CALC_TEST(keys_of_a_study_are_known_by_their_text)
{
    ck_assert_int_eq(calc_study_key_find("applications"), CALC_STUDY_KEY_APPLICATIONS);
    ck_assert_int_eq(calc_study_key_find("source"), CALC_STUDY_KEY_SOURCE);
    ck_assert_int_eq(calc_study_key_find("tensor_par"), CALC_STUDY_KEY_COUNT);
}

/* Names are looked up in one after the other: no name may hide another. */
CALC_TEST(application_and_system_have_only_the_note_in_common)
{
    const calc_table *app = calc_table_of(CALC_KIND_APP);
    for (size_t i = 0; i < app->count; i++) {
        const calc_field *row = &app->rows[i];
        ck_assert_msg(row->type == CALC_TYPE_NOTE ||
                          !calc_table_find(calc_table_of(CALC_KIND_SYSTEM), row->key),
                      "%s", row->key);
    }
}

CALC_TEST(every_item_of_a_list_has_its_error_and_its_pointer)
{
    const char *const items[] = {"1", "x", "2", "0"};
    calc_axis_text text = {
        .key = "exe.tensor_par", .item = items, .count = 4, .pointer = "/tensor_par", .list = true};
    calc_errors errors = {0};
    double *value;
    size_t count;
    calc_field_ref ref;
    ck_assert_int_eq(calc_field_find(CALC_KIND_EXEC, "tensor_par", &ref), CALC_OK);
    ck_assert_int_eq(calc_axis_parse(ref.field, &text, &value, &count, &errors), CALC_ERR_TYPE);
    ck_assert_int_eq(errors.count, 2);
    ck_assert_str_eq(errors.item[0].pointer, "/tensor_par/1");
    ck_assert_str_eq(errors.item[0].file, "");
    ck_assert_str_eq(errors.item[1].pointer, "/tensor_par/3");
}
