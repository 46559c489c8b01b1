#include "formats/framework.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "io/text.h"
#include "spec/field.h"

/* Whether a line of tests/formats/<name>.txt is `key`. */
static bool is_known(const char *name, const char *key)
{
    char path[1024];
    char line[256];
    bool found = false;
    snprintf(path, sizeof path, "%s/formats/%s.txt", CALC_TEST_DATA, name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "%s", path);
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, key) == 0;
    }
    fclose(file);
    return found;
}

/* The lists are what the sources of the releases define, which their first lines name. */
CALC_TEST(every_key_exists_in_the_framework)
{
    ck_assert(!is_known("megatron", "--no-such-option"));
    for (size_t i = 0; calc_framework_all[i]; i++) {
        const calc_framework *framework = calc_framework_all[i];
        for (size_t j = 0; j < framework->count; j++) {
            const char *const keys[] = {framework->rows[j].key, framework->rows[j].also};
            for (size_t k = 0; k < 2; k++) {
                ck_assert_msg(!keys[k] || is_known(framework->name, keys[k]), "%s: %s",
                              framework->name, keys[k]);
            }
        }
    }
}

/* A section of a file is no key. */
static bool is_section(const char *text, const char *line)
{
    char begin[300];
    snprintf(begin, sizeof begin, "\n%s.", line);
    return strstr(text, begin) != NULL;
}

CALC_TEST(every_key_of_a_framework_is_read_or_has_a_class)
{
    for (size_t i = 0; calc_framework_all[i]; i++) {
        const calc_framework *framework = calc_framework_all[i];
        char path[1024];
        calc_text text = {0};
        snprintf(path, sizeof path, "%s/formats/%s.txt", CALC_TEST_DATA, framework->name);
        ck_assert_int_eq(calc_text_read(&text, path, NULL), CALC_OK);
        for (char *line = text.data, *end; *line; line = end + 1) {
            char key[256];
            const char *assumed;
            end = strchr(line, '\n');
            snprintf(key, sizeof key, "%.*s", (int)(end - line), line);
            if (key[0] == '#' || is_section(text.data, key)) {
                continue;
            }
            ck_assert_msg(calc_framework_row(framework, key) ||
                              calc_framework_unread(framework, key, "some", &assumed) !=
                                  CALC_UNREAD_UNKNOWN,
                          "%s: %s", framework->name, key);
        }
        calc_text_free(&text);
    }
}

/* A line that is not indented says what the keys below it change. */
static void has_classes(const calc_framework *framework)
{
    static const char *const classes[] = {"model", "cost", "harmless", NULL};
    char word[32];
    for (const char *at = calc_embedded_find(calc_unread_list, framework->unread)->bytes; *at;
         at += strcspn(at, "\n") + 1) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " :\n"), at);
        ck_assert_msg(*at == '#' || strncmp(at, "    ", 4) == 0 ||
                          calc_choice_index(classes, word) >= 0,
                      "%s: %s", framework->name, word);
    }
    for (size_t i = 0; framework->bases && framework->bases[i]; i++) {
        has_classes(framework->bases[i]);
    }
}

CALC_TEST(keys_that_are_not_read_are_below_a_class)
{
    for (size_t i = 0; calc_framework_all[i]; i++) {
        has_classes(calc_framework_all[i]);
    }
}

/* Of all keys: the first pattern that matches counts, a default changes nothing. */
CALC_TEST(keys_that_are_not_read_have_a_class)
{
    static const struct {
        const calc_framework *framework;
        const char *key, *value;
        calc_unread what;
    } cases[] = {
        {&calc_framework_megatron, "--hybrid-override-pattern", "M*M-", CALC_UNREAD_MODEL},
        {&calc_framework_megatron, "--hybrid_override_pattern", "M*M-", CALC_UNREAD_MODEL},
        {&calc_framework_megatron, "--is-hybrid-model", "", CALC_UNREAD_MODEL},
        {&calc_framework_bridge, "model.is_hybrid_model", "False", CALC_UNREAD_HARMLESS},
        {&calc_framework_bridge, "model.is_hybrid_model", "true", CALC_UNREAD_MODEL},
        {&calc_framework_megatron, "--lr", "1e-4", CALC_UNREAD_HARMLESS},
        {&calc_framework_megatron, "--lrx", "1e-4", CALC_UNREAD_UNKNOWN},
        {&calc_framework_megatron, "--xlr", "1e-4", CALC_UNREAD_UNKNOWN},
        {&calc_framework_megatron, "--", "", CALC_UNREAD_UNKNOWN},
        {&calc_framework_bridge, "model.gradient_accumulation_fusion", "true",
         CALC_UNREAD_HARMLESS},
        {&calc_framework_bridge, "model.gradient_accumulation_fusion", "false", CALC_UNREAD_COST},
        {&calc_framework_megatron, "--no-gradient-accumulation-fusion", "", CALC_UNREAD_COST},
        {&calc_framework_megatron, "--moe-deepep-num-sms", "20.0", CALC_UNREAD_HARMLESS},
        {&calc_framework_megatron, "--moe-deepep-num-sms", "24", CALC_UNREAD_COST},
        {&calc_framework_torchtitan, "optimizer.name", "AdamW", CALC_UNREAD_HARMLESS},
        {&calc_framework_torchtitan, "optimizer.name", "Muon", CALC_UNREAD_COST},
        {&calc_framework_torchtitan, "elsewhere.name", "Muon", CALC_UNREAD_UNKNOWN},
        {&calc_framework_torchtitan, "checkpoint.folder", "x", CALC_UNREAD_HARMLESS},
        {&calc_framework_deepspeed, "zero_optimization.offload_param.buffer_size", "1e8",
         CALC_UNREAD_COST},
        {&calc_framework_deepspeed, "", "1e8", CALC_UNREAD_UNKNOWN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *assumed;
        calc_unread what =
            calc_framework_unread(cases[i].framework, cases[i].key, cases[i].value, &assumed);
        ck_assert_msg(what == cases[i].what, "%s %s: %d", cases[i].key, cases[i].value, (int)what);
    }
}

CALC_TEST(keys_are_unique_and_rows_complete)
{
    for (size_t i = 0; calc_framework_all[i]; i++) {
        const calc_framework *f = calc_framework_all[i];
        ck_assert_ptr_eq(calc_framework_find(f->name), f);
        ck_assert(f->version[0] && f->title[0] && f->launch[0]);
        ck_assert_int_eq(f->syntax == CALC_SYNTAX_SHELL, f->script != NULL);
        for (size_t j = 0; j < f->count; j++) {
            const calc_setting_row *row = &f->rows[j];
            bool worded = row->how == CALC_HOW_WORDS || row->how == CALC_HOW_SET;
            bool named =
                row->how == CALC_HOW_FILE || row->how == CALC_HOW_CONSTANT; /* or no words */
            ck_assert_msg(named || worded == (row->words != NULL), "%s: %s", f->name, row->key);
            calc_word word;
            for (const char *at = row->words; calc_word_next(row, &at, &word);) {
                bool open =
                    word.text[word.length] == '=' && strchr(" ", word.text[word.length + 1]);
                ck_assert_msg(!isnan(word.value) != open, "%s: %.*s", row->key, (int)word.length,
                              word.text);
            }
            bool texted = row->how == CALC_HOW_CONSTANT || row->how == CALC_HOW_FORMAT ||
                          row->how == CALC_HOW_FILE;
            ck_assert_int_eq(texted, row->text != NULL);
            if (row->key) {
                ck_assert_msg(calc_framework_row(f, row->key) == row, "%s: %s", f->name, row->key);
            }
        }
    }
    ck_assert_ptr_null(calc_framework_find("tensorflow"));
}

CALC_TEST(a_number_stands_where_its_text_has_a_mark)
{
    static calc_plan plan;
    char text[CALC_ROW_TEXT_SIZE];
    const calc_framework *vllm = calc_framework_find("vllm");
    const calc_setting_row *row = calc_framework_row(vllm, "--speculative-config");
    calc_plan_clear(&plan);
    ck_assert(!calc_row_write(row, vllm->syntax, &plan, text));
    plan.value[CALC_PLAN_SERVE_PREDICTED] = 3;
    ck_assert(calc_row_write(row, vllm->syntax, &plan, text));
    ck_assert_str_eq(text, "{\"method\": \"mtp\", \"num_speculative_tokens\": 3}");
}

CALC_TEST(fields_of_the_plan_exist)
{
    for (int i = 0; i < CALC_PLAN_COUNT; i++) {
        const char *field = calc_plan_field((calc_plan_member)i);
        calc_field_ref ref;
        ck_assert_msg(calc_plan_find_field((calc_plan_member)i, &ref) == (field != NULL), "%s",
                      field ? field : "");
        ck_assert(calc_plan_meaning((calc_plan_member)i)[0]);
    }
}

CALC_TEST(dashes_and_underscores_are_the_same)
{
    const calc_framework *f = &calc_framework_megatron;
    ck_assert_ptr_nonnull(calc_framework_row(f, "--nproc_per_node"));
    ck_assert_ptr_eq(calc_framework_row(f, "--hidden_size"),
                     calc_framework_row(f, "--hidden-size"));
    ck_assert_ptr_null(calc_framework_row(f, "--hidden-siz"));
    ck_assert_ptr_null(calc_framework_row(f, "--hidden-size-"));
}
