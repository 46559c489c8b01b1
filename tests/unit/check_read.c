/* Settings in the texts of scripts and files, and edits of YAML: unit/check_read.txt. The first
 * line says the syntax, with "places" to see where keys stand, or "edit KEY VALUE". */
#include "formats/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/yaml_edit.h"
#include "frame.h"

static void print(const calc_settings *settings, bool places, FILE *out)
{
    const size_t shown = settings->count > 100 ? 3 : settings->count;
    for (size_t i = 0; i < shown; i++) {
        const calc_setting *s = &settings->item[i];
        size_t length = strlen(s->value);
        if (places) {
            fprintf(out, "%d:%d ", s->line, s->column);
        }
        fprintf(out, "%.50s%s", s->key, length > 0 ? "=" : "");
        fprintf(out, length > 100 ? "%.20s..., %zu bytes; " : "%s; ", s->value, length);
    }
    fprintf(out, settings->count > shown ? "and %zu more\n" : "\n", settings->count - shown);
}

static void read(const char *said, FILE *out)
{
    static const struct {
        const char *word, *name;
        calc_syntax syntax;
    } syntaxes[] = {{"shell", "f.sh", CALC_SYNTAX_SHELL},
                    {"yaml", "f.yaml", CALC_SYNTAX_YAML},
                    {"toml", "f.toml", CALC_SYNTAX_TOML},
                    {"json", "f.json", CALC_SYNTAX_JSON}};
    char word[64], key[64], value[64], line[1024];
    calc_errors errors = {0};
    calc_settings settings = {0};
    calc_text edited = {0};
    calc_status status = CALC_ERR_FIELD;
    ck_assert_int_eq(sscanf(said, "%63[^\n]", word), 1);
    const char *text = said + strlen(word) + 1;
    size_t length = strlen(text) - 1; /* without the end of the last line */
    if (sscanf(word, "edit %63s %63[^\n]", key, value) == 2) {
        const calc_yaml_edit edit = {key, value};
        status = calc_yaml_edit_text(text, length, "file", &edit, 1, &edited, &errors);
        ck_assert(!edited.data == (status != CALC_OK));
        ck_assert(!edited.data || strlen(edited.data) == edited.length);
        for (size_t i = 0; i < edited.length; i++) {
            fprintf(out, edited.data[i] == '\r' ? "<0D>" : "%c", edited.data[i]);
        }
        if (edited.data) {
            fprintf(out, "(%zu bytes)\n", edited.length);
        }
    }
    for (size_t i = 0; i < sizeof syntaxes / sizeof *syntaxes; i++) {
        if (strncmp(word, syntaxes[i].word, strlen(syntaxes[i].word)) == 0) {
            status = calc_settings_from_text(&settings, syntaxes[i].syntax, text, length,
                                             syntaxes[i].name, &errors);
        }
    }
    if (status == CALC_OK && !edited.data) {
        print(&settings, strstr(word, " places"), out);
    }
    ck_assert_int_eq(errors.count, status != CALC_OK);
    if (status != CALC_OK) {
        ck_assert_int_eq(status, errors.item[0].status);
        calc_error_print(&errors.item[0], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
    calc_settings_free(&settings);
    calc_text_free(&edited);
}

const calc_test_frame calc_tests = {
    .timeout_s = 60, .cases = "unit/check_read.txt", .answer = read};

CALC_TEST(words_after_an_option_are_its_value)
{
    const char *words[] = {"torchrun",  "--nnodes",  "2", "pretrain.py",
                           "--bf16",    "--modules", "a", "b",
                           "--lr=1e-3", "--offset",  "-1"};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_words(&settings, words, 11), CALC_OK);
    ck_assert_uint_eq(settings.count, 5);
    ck_assert_str_eq(settings.item[0].value, "2 pretrain.py");
    ck_assert_int_eq(settings.item[0].argument, 2);
    ck_assert_str_eq(settings.item[1].key, "--bf16");
    ck_assert_str_eq(settings.item[1].value, "");
    ck_assert_str_eq(settings.item[2].value, "a b");
    ck_assert_str_eq(settings.item[3].key, "--lr");
    ck_assert_str_eq(settings.item[3].value, "1e-3");
    ck_assert_str_eq(settings.item[4].value, "-1");
    calc_settings_free(&settings);
}

/* Each variable is twice the one before: 2^200 characters, were they all written. */
CALC_TEST(variables_that_double_each_other_end)
{
    char script[16384] = "A0=\n";
    calc_settings settings = {0};
    for (int i = 1; i < 200; i++) {
        char line[64];
        snprintf(line, sizeof line, "A%d=$A%d$A%d\n", i, i - 1, i - 1);
        strcat(script, line);
    }
    strcat(script, "--a x$A199 --b 1");
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script), NULL), CALC_OK);
    ck_assert_str_eq(settings.item[settings.count - 1].key, "--b");
    calc_settings_free(&settings);
}

CALC_TEST(several_edits_follow_each_other)
{
    const calc_yaml_edit all[] = {{"a", "[1, 2, 3]"}, {"c", "4"}, {"b", "5"}};
    const char text[] = "a: 1 # x\nb: 2 # y\n";
    calc_text out = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_yaml_edit_text(text, strlen(text), "f", all, 3, &out, &errors), CALC_OK);
    ck_assert_str_eq(out.data, "a: [1, 2, 3] # x\nb: 5 # y\nc: 4\n");
    calc_text_free(&out);
}
