#include "formats/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/utf8.h"

enum { STEP = 2 /* spaces per level */ };

/* The release and the program that all settings need. */
static const char *needed(const calc_framework *framework, const calc_settings *settings,
                          bool script)
{
    const char *found = script ? framework->script : framework->version;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting_row *row = calc_framework_row(framework, settings->item[i].key);
        const char *own = !row ? NULL : script ? row->script : row->release;
        found = own ? own : found;
    }
    return found;
}

static void write_header(calc_output *out, const calc_framework *framework,
                         const calc_settings *settings)
{
    calc_output_printf(out, "# %s %s, written by calc %s\n# %s\n", framework->title,
                       needed(framework, settings, false), CALC_VERSION, framework->launch);
}

/* ---- Options of a command -------------------------------------------------------------------- */

/* Writes a variable of the environment, which is not an option. */
static bool is_variable(const char *key)
{
    return key[0] != '-';
}

static void write_options(calc_output *out, const char *name, const calc_settings *settings,
                          bool launcher)
{
    calc_output_printf(out, "%s=(\n", name);
    for (size_t i = 0; i < settings->count; i++) {
        const char *key = settings->item[i].key, *value = settings->item[i].value;
        bool launches = strcmp(key, "--nproc-per-node") == 0 || strcmp(key, "--nnodes") == 0;
        bool quote = strpbrk(value, "()[]{}*?$&;|<>!~#\\\"") != NULL;
        if (!is_variable(key) && launches == launcher) {
            const char *glue = quote ? " '" : *value ? " " : "";
            calc_output_printf(out, "    %s%s%s%s\n", key, glue, value, quote ? "'" : "");
        }
    }
    calc_output_text(out, ")\n");
}

static void write_shell(calc_output *out, const calc_framework *framework,
                        const calc_settings *settings)
{
    calc_output_text(out, "#!/usr/bin/env bash\n");
    write_header(out, framework, settings);
    for (size_t i = 0; i < settings->count; i++) {
        if (is_variable(settings->item[i].key)) {
            calc_output_printf(out, "export %s=%s\n", settings->item[i].key,
                               settings->item[i].value);
        }
    }
    if (framework->serves) {
        write_options(out, "OPTIONS", settings, false);
        calc_output_printf(out,
                           "%s \"${1:?the model: its folder or its name}\" \\\n"
                           "    \"${OPTIONS[@]}\" \"${@:2}\"\n",
                           framework->script);
        return;
    }
    write_options(out, "LAUNCH", settings, true);
    write_options(out, "OPTIONS", settings, false);
    calc_output_printf(out, "torchrun \"${LAUNCH[@]}\" %s \"${OPTIONS[@]}\" \"$@\"\n",
                       needed(framework, settings, true));
}

void calc_settings_write_pools(calc_output *out, const calc_framework *framework,
                               const calc_settings settings[CALC_POOL_COUNT],
                               const int64_t procs[CALC_POOL_COUNT], const char *prefill_system)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    calc_output_printf(
        out,
        "#!/usr/bin/env bash\n# %s %s, written by calc %s\n"
        "# run it with bash, the pool and the model: its folder or its name; options "
        "follow\n# pools: prefill on %" PRId64 " processors%s%s, decode on %" PRId64 "; then %s\n",
        framework->title, framework->version, CALC_VERSION, procs[CALC_POOL_PREFILL],
        *prefill_system ? " of " : "",
        calc_utf8_show(shown, prefill_system, strlen(prefill_system)), procs[CALC_POOL_DECODE],
        framework->router);
    for (int p = 0; p < CALC_POOL_COUNT; p++) {
        write_options(out, p == CALC_POOL_PREFILL ? "PREFILL" : "DECODE", &settings[p], false);
    }
    calc_output_printf(out,
                       "case ${1:?the pool: prefill or decode} in\n"
                       "prefill) OPTIONS=(\"${PREFILL[@]}\" %s) ;;\n"
                       "decode) OPTIONS=(\"${DECODE[@]}\" %s) ;;\n"
                       "*) echo \"$1 is neither prefill nor decode\" >&2; exit 2 ;;\n"
                       "esac\n"
                       "%s \"${2:?the model: its folder or its name}\" \\\n"
                       "    \"${OPTIONS[@]}\" \"${@:3}\"\n",
                       framework->pool[CALC_POOL_PREFILL], framework->pool[CALC_POOL_DECODE],
                       framework->script);
}

/* ---- Nested files ---------------------------------------------------------------------------- */

/* Whether a scalar needs no quotes: a number, true or false. */
static bool is_plain(const char *value, size_t length)
{
    bool number = length > 0 && strspn(value, "0123456789.e+-") >= length;
    return number || (length == 4 && strncmp(value, "true", length) == 0) ||
           (length == 5 && strncmp(value, "false", length) == 0);
}

/* A scalar, or the scalars of a list in its brackets. */
static void write_value(calc_output *out, const char *value, bool quote)
{
    bool list = value[0] == '[';
    do {
        size_t before = list ? strspn(value, "[], ") : 0;
        size_t length = list ? strcspn(value + before, "[], ") : strlen(value);
        bool plain = !quote || (list && length == 0) || is_plain(value + before, length);
        calc_output_printf(out, plain ? "%.*s%.*s" : "%.*s\"%.*s\"", (int)before, value,
                           (int)length, value + before);
        value += before + length;
    } while (*value);
}

/* Whether the first `length` bytes of two keys are the same path. */
static bool same_path(const char *a, const char *b, size_t length)
{
    return strncmp(a, b, length) == 0 && (a[length] == '.' || a[length] == '\0') &&
           (b[length] == '.' || b[length] == '\0');
}

/* Whether an earlier item has the same first `length` bytes; item `i` was then written with it. */
static bool was_written(const calc_settings *settings, size_t i, size_t length)
{
    for (size_t j = 0; j < i; j++) {
        if (same_path(settings->item[j].key, settings->item[i].key, length)) {
            return true;
        }
    }
    return false;
}

static void write_level(calc_output *out, const calc_settings *settings, size_t first,
                        size_t prefix, int indent, bool json)
{
    bool empty = true;
    for (size_t i = first; i < settings->count; i++) {
        const char *key = settings->item[i].key;
        if (prefix > 0 && !same_path(key, settings->item[first].key, prefix - 1)) {
            continue;
        }
        size_t length = prefix + strcspn(key + prefix, ".");
        if (was_written(settings, i, length)) {
            continue;
        }
        calc_output_printf(out,
                           json ? "%s%*s\"%.*s\": " : "%s%*s%.*s:", json && !empty ? ",\n" : "",
                           indent, "", (int)(length - prefix), key + prefix);
        empty = false;
        if (key[length]) {
            calc_output_text(out, json ? "{\n" : "\n");
            write_level(out, settings, i, length + 1, indent + STEP, json);
            calc_output_printf(out, json ? "\n%*s}" : "%*s", json ? indent : 0, "");
        } else {
            calc_output_text(out, json ? "" : " ");
            write_value(out, settings->item[i].value, json);
            calc_output_text(out, json ? "" : "\n");
        }
    }
}

/* Keys have at most two levels: a table and its keys. */
static void write_toml(calc_output *out, const calc_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        size_t table = strcspn(settings->item[i].key, ".");
        if (was_written(settings, i, table)) {
            continue;
        }
        calc_output_printf(out, "\n[%.*s]\n", (int)table, settings->item[i].key);
        for (size_t j = i; j < settings->count; j++) {
            const calc_setting *setting = &settings->item[j];
            if (same_path(setting->key, settings->item[i].key, table)) {
                calc_output_printf(out, "%s = ", setting->key + table + 1);
                write_value(out, setting->value, true);
                calc_output_text(out, "\n");
            }
        }
    }
}

void calc_settings_write(calc_output *out, const calc_framework *framework,
                         const calc_settings *settings)
{
    switch (framework->syntax) {
    case CALC_SYNTAX_SHELL:
        write_shell(out, framework, settings);
        break;
    case CALC_SYNTAX_YAML:
        write_header(out, framework, settings);
        write_level(out, settings, 0, 0, 0, false);
        break;
    case CALC_SYNTAX_TOML:
        write_header(out, framework, settings);
        write_toml(out, settings);
        break;
    case CALC_SYNTAX_JSON:
        calc_output_text(out, "{\n");
        write_level(out, settings, 0, 0, STEP, true);
        calc_output_text(out, "\n}\n");
        break;
    }
}
