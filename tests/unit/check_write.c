#include "formats/write.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "scratch.h"

/* What is written for a few settings, "key=value". */
static void writes(const calc_framework *framework, const char *const *pairs, const char *expected)
{
    char folder[256];
    char text[2048] = "";
    calc_settings settings = {0};
    calc_output *out;
    scratch_enter(folder, sizeof folder);
    for (; *pairs; pairs++) {
        size_t length = strcspn(*pairs, "=");
        const char *value = *pairs + length + ((*pairs)[length] == '=');
        calc_setting *setting = calc_settings_add(&settings, *pairs, length);
        ck_assert(calc_setting_append(setting, value, strlen(value)));
    }
    ck_assert_int_eq(calc_output_open(&out, "file", NULL), CALC_OK);
    calc_settings_write(out, framework, &settings);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    FILE *file = fopen("file", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_str_eq(text, expected);
    calc_settings_free(&settings);
    scratch_leave(folder);
}

static const calc_framework any = {
    .title = "Any", .version = "1", .launch = "run it", .script = "train.py"};

CALC_TEST(options_that_the_shell_would_change_are_quoted)
{
    calc_framework shell = any;
    const char *const pairs[] = {"--nnodes=2", "--a=1", "--b", "--c=([0]*3)", "--d=x y", NULL};
    shell.syntax = CALC_SYNTAX_SHELL;
    writes(&shell, pairs,
           "#!/usr/bin/env bash\n# Any 1, written by calc " CALC_VERSION "\n# run it\n"
           "LAUNCH=(\n    --nnodes 2\n)\nOPTIONS=(\n    --a 1\n    --b\n    --c '([0]*3)'\n"
           "    --d x y\n)\ntorchrun \"${LAUNCH[@]}\" train.py \"${OPTIONS[@]}\" \"$@\"\n");
}

/* Keys of one table stand together, however far apart they are in the list. */
CALC_TEST(yaml_nests_keys)
{
    calc_framework yaml = any;
    const char *const pairs[] = {"a.b=1", "c=x", "a.d.e=[1, 2]", "ab.c=2", "a.d.f=true", NULL};
    yaml.syntax = CALC_SYNTAX_YAML;
    writes(&yaml, pairs,
           "# Any 1, written by calc " CALC_VERSION "\n# run it\n"
           "a:\n  b: 1\n  d:\n    e: [1, 2]\n    f: true\nc: x\nab:\n  c: 2\n");
}

CALC_TEST(json_nests_keys_and_quotes_words)
{
    calc_framework json = any;
    const char *const pairs[] = {"a.b=1e-3", "c=x", "a.d=false", "a.e=1f", NULL};
    json.syntax = CALC_SYNTAX_JSON;
    writes(&json, pairs,
           "{\n  \"a\": {\n    \"b\": 1e-3,\n    \"d\": false,\n    \"e\": \"1f\"\n  },\n"
           "  \"c\": \"x\"\n}\n");
}

CALC_TEST(toml_has_tables)
{
    calc_framework toml = any;
    const char *const pairs[] = {"a.b=1", "c.d=x", "a.e=true", NULL};
    toml.syntax = CALC_SYNTAX_TOML;
    writes(&toml, pairs,
           "# Any 1, written by calc " CALC_VERSION "\n# run it\n"
           "\n[a]\nb = 1\ne = true\n\n[c]\nd = \"x\"\n");
}
