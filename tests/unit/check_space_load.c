#include "io/space_load.h"

#include <string.h>

#include "frame.h"
#include "scratch.h"

static calc_space_entries entries;

static void teardown(void)
{
    calc_space_entries_free(&entries);
    ck_assert_uint_eq(entries.count, 0);
}

const calc_test_frame calc_tests = {.teardown = teardown};

static void parse(const char *text)
{
    calc_errors errors = {0};
    calc_status status = calc_space_parse(&entries, text, strlen(text), "space.json", &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", text, errors.item[0].text);
}

/* The items of an entry with | between them. */
static void entry_is(size_t i, const char *key, const char *pointer, bool list, const char *items)
{
    char joined[256] = "";
    const calc_space_entry *entry = &entries.entry[i];
    ck_assert_uint_lt(i, entries.count);
    ck_assert_str_eq(entry->key, key);
    ck_assert_str_eq(entry->pointer, pointer);
    ck_assert_int_eq(entry->list, list);
    for (size_t k = 0; k < entry->count; k++) {
        strcat(strcat(joined, k > 0 ? "|" : ""), entry->item[k]);
    }
    ck_assert_str_eq(joined, items);
}

/* The text fails with this first error. */
static void refuse(const char *text, calc_status status, const char *printed)
{
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_eq(calc_space_parse(&entries, text, strlen(text), "s", &errors), status);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_space_entries_free(&entries);
    ck_assert_int_eq(calc_space_parse(&entries, text, strlen(text), "s", NULL), status);
    calc_space_entries_free(&entries);
}

CALC_TEST(values_become_text_in_the_order_of_the_file)
{
    parse("{\"tensor_par\": 8, \"fused_activation\": [true, false], \"num_procs\": \"8:512:8\",\n"
          "\"sys.mem1.GiB\": [40, 80.5, 1e3, 0.1], \"microbatch_size\": \"*\",\n"
          "\"batch_size\": {\"max\": 2340}, \"training\": true, \"pipeline_par\": [1, \"2:8:x2\"],"
          "\"top\": 10, \"where\": [\"mem1 <= 60GiB\"]}");
    ck_assert_uint_eq(entries.count, 10);
    entry_is(0, "tensor_par", "/tensor_par", false, "8");
    entry_is(1, "fused_activation", "/fused_activation", true, "true|false");
    entry_is(2, "num_procs", "/num_procs", false, "8:512:8");
    entry_is(3, "sys.mem1.GiB", "/sys.mem1.GiB", true, "40|80.5|1000.0|0.1");
    entry_is(4, "microbatch_size", "/microbatch_size", false, "*");
    entry_is(5, "batch_size", "/batch_size", false, "<=2340");
    entry_is(6, "training", "/training", false, "true");
    entry_is(7, "pipeline_par", "/pipeline_par", true, "1|2:8:x2");
    entry_is(8, "top", "/top", false, "10");
    entry_is(9, "where", "/where", true, "mem1 <= 60GiB");
}

CALC_TEST(an_empty_object_has_no_entries)
{
    parse("{}");
    ck_assert_uint_eq(entries.count, 0);
}

CALC_TEST(what_is_no_text_is_refused_with_its_place)
{
    refuse("[]", CALC_ERR_TYPE, "s:1:1: expected an object, found an array of 0");
    refuse("{\"tensor_par\": null}", CALC_ERR_TYPE,
           "s:1:16: /tensor_par: expected a value, a list, a range \"lo:hi:step\", \"*\" or "
           "{\"max\": N}, found null");
    refuse("{\"tensor_par\": []}", CALC_ERR_RANGE,
           "s:1:16: /tensor_par: the list is empty, expected at least one value");
    refuse("{\"tensor_par\": [1, [2]]}", CALC_ERR_TYPE,
           "s:1:20: /tensor_par/1: expected a number, text, true or false, found an array of 1");
    refuse("{\"batch_size\": {\"min\": 2}}", CALC_ERR_TYPE,
           "s:1:16: /batch_size: expected a value, a list, a range \"lo:hi:step\", \"*\" or "
           "{\"max\": N}, found an object");
    refuse("{\"batch_size\": {\"max\": 2, \"min\": 1}}", CALC_ERR_TYPE,
           "s:1:16: /batch_size: expected a value, a list, a range \"lo:hi:step\", \"*\" or "
           "{\"max\": N}, found an object");
    refuse("{\"batch_size\": {\"max\": null}}", CALC_ERR_TYPE,
           "s:1:24: /batch_size/max: expected a number or a range, found null");
}

CALC_TEST(syntax_errors_are_those_of_every_document)
{
    refuse("{\"tensor_par\": 1,}", CALC_ERR_SYNTAX,
           "s:1:17: a comma with nothing between it and \"}\"\n  hint: remove the comma");
    refuse("{\"top\": 1, \"top\": 2}", CALC_ERR_FIELD,
           "s:1:12: key \"top\" is given twice\n  hint: remove one of the two");
}

CALC_TEST(all_errors_are_collected)
{
    const char *text = "{\"a\": null,\n\"b\": [null, 1, null]}";
    calc_errors errors = {0};
    ck_assert_int_eq(calc_space_parse(&entries, text, strlen(text), "s", &errors), CALC_ERR_TYPE);
    ck_assert_int_eq(errors.count, 3);
    ck_assert_str_eq(errors.item[0].pointer, "/a");
    ck_assert_str_eq(errors.item[1].pointer, "/b/0");
    ck_assert_str_eq(errors.item[2].pointer, "/b/2");
    ck_assert_int_eq(errors.item[2].line, 2);
}

CALC_TEST(errors_without_a_place_get_the_one_of_their_pointer)
{
    calc_errors errors = {.count = 4};
    char pointer[128];
    parse("{\n  \"tensor_part\": 8,\n  \"where\": [\"x\",\n    \"y\"],\n  \"a/b~c\": 1\n}");
    strcpy(errors.item[0].file, "elsewhere");
    strcpy(errors.item[0].pointer, "/where/1");
    errors.item[1].status = CALC_ERR_FIELD; /* about the key */
    strcpy(errors.item[1].pointer, entries.entry[0].pointer);
    errors.item[2].status = CALC_ERR_TYPE; /* about the value */
    strcpy(errors.item[2].pointer, entries.entry[2].pointer);
    errors.item[3].status = CALC_ERR_FIELD;
    strcpy(errors.item[3].pointer, calc_space_entry_pointer(&entries.entry[1], 1, pointer));
    ck_assert_str_eq(pointer, "/where/1");
    ck_assert_str_eq(calc_space_entry_pointer(&entries.entry[0], 0, pointer), "/tensor_part");
    calc_space_entries_locate(&entries, &errors, 0);
    ck_assert_int_eq(errors.item[0].line, 0);
    ck_assert_str_eq(errors.item[1].file, "space.json");
    ck_assert_int_eq(errors.item[1].line, 2);
    ck_assert_int_eq(errors.item[1].column, 3);
    ck_assert_int_eq(errors.item[2].line, 5);
    ck_assert_int_eq(errors.item[2].column, 12);
    ck_assert_int_eq(errors.item[3].line, 4);
    ck_assert_int_eq(errors.item[3].column, 5);
}

CALC_TEST(files_are_read_whole)
{
    char folder[256];
    const char *text = "{\"tensor_par\": \"1:8\"}";
    calc_errors errors = {0};
    scratch_enter(folder, sizeof folder);
    scratch_write("space.json", text, strlen(text));
    ck_assert_int_eq(calc_space_load(&entries, "space.json", &errors), CALC_OK);
    ck_assert_str_eq(entries.name, "space.json");
    entry_is(0, "tensor_par", "/tensor_par", false, "1:8");
    calc_space_entries_free(&entries);
    ck_assert_int_eq(calc_space_load(&entries, "none.json", &errors), CALC_ERR_NOT_FOUND);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].file, "none.json");
    scratch_leave(folder);
}

CALC_TEST(members_of_objects_of_the_execution_are_entries)
{
    parse("{\"inference\": {\"phase\": \"decode\", \"prompt_size\": [1, 2]}, \"training\": false}");
    ck_assert_uint_eq(entries.count, 3);
    entry_is(0, "inference.phase", "/inference/phase", false, "decode");
    entry_is(1, "inference.prompt_size", "/inference/prompt_size", true, "1|2");
    entry_is(2, "training", "/training", false, "false");
    /* Keys of the root have a place of their own, whatever came before. */
    calc_errors errors = {.count = 2};
    errors.item[0] = (calc_error){.status = CALC_ERR_FIELD, .pointer = "/training"};
    errors.item[1] = (calc_error){.status = CALC_ERR_FIELD, .pointer = "/inference/phase"};
    calc_space_entries_locate(&entries, &errors, 0);
    ck_assert_int_eq(errors.item[0].column, 59);
    ck_assert_int_eq(errors.item[1].column, 25);
    calc_space_entries_free(&entries);
    refuse("{\"inference\": {\"phase\": null}}", CALC_ERR_TYPE,
           "s:1:25: /inference/phase: expected a value, a list, a range \"lo:hi:step\", \"*\" or "
           "{\"max\": N}, found null");
    refuse("{\"inference\": {\"inference\": {\"max\": {}}}}", CALC_ERR_TYPE,
           "s:1:37: /inference/inference/max: expected a number or a range, found an object");
}

CALC_TEST(an_execution_may_leave_required_keys_out)
{
    calc_exec exec;
    calc_errors errors = {0};
    int absent = 0;
    const char part[] = "{\"tp\": 8, \"batch_size\": 64, \"inference\": {}}";
    ck_assert_int_eq(calc_space_parse_exec(&exec, &absent, part, strlen(part), "s", &errors),
                     CALC_OK);
    ck_assert_int_eq(exec.strategy.tensor_par, 8);
    ck_assert_int_eq(exec.batch_size, 64);
    int required = 0;
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    for (size_t i = 0; i < table->count; i++) {
        required += !(table->rows[i].flags & CALC_OPTIONAL);
    }
    ck_assert_int_eq(absent, required - 2);
    /* What it has is read as in every execution: no lists of values, no other types. */
    const char list[] = "{\"tp\": [1, 2]}";
    ck_assert_int_eq(calc_space_parse_exec(&exec, &absent, list, strlen(list), "s", &errors),
                     CALC_ERR_TYPE);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].pointer, "/tp");
}
