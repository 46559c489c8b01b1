#include "cli/shell/opt.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"

const calc_command *const calc_command_list[] = {&calc_cmd_run,
                                                 &calc_cmd_sweep,
                                                 &calc_cmd_plan,
                                                 &calc_cmd_tune,
                                                 &calc_cmd_rl,
                                                 &calc_cmd_why,
                                                 &calc_cmd_export,
                                                 &calc_cmd_import,
                                                 &calc_cmd_validate,
                                                 &calc_cmd_trace,
                                                 &calc_cmd_diff,
                                                 &calc_cmd_explain,
                                                 &calc_cmd_params,
                                                 &calc_cmd_names,
                                                 &calc_cmd_fields,
                                                 &calc_cmd_calibrate,
                                                 &calc_cmd_merge,
                                                 &calc_cmd_app,
                                                 &calc_cmd_serve,
                                                 &calc_cmd_schema,
                                                 &calc_cmd_as,
                                                 &calc_cmd_help,
                                                 NULL};

enum { COMMANDS = sizeof calc_command_list / sizeof *calc_command_list - 1 };

const calc_command *calc_command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(calc_command_list[i]->name, name) == 0) {
            return calc_command_list[i];
        }
    }
    return NULL;
}

const char *calc_command_nearest(const char *name)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = calc_command_list[i]->name;
    }
    return calc_nearest(name, names);
}

bool calc_list_split(calc_list *out, const char *text)
{
    if (strlen(text) >= sizeof out->text) {
        return false;
    }
    snprintf(out->text, sizeof out->text, "%s", text);
    for (char *at = out->text; at; out->count++) {
        if (out->count == CALC_LIST_MAX || *at == ',' || *at == '\0') {
            return false;
        }
        out->item[out->count] = at;
        at = strchr(at, ',');
        if (at) {
            *at++ = '\0';
        }
    }
    return true;
}

CALC_PRINTF(2, 3)
static calc_exit complain(calc_args *args, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vsnprintf(args->complaint, sizeof args->complaint, fmt, list);
    va_end(list);
    return CALC_EXIT_USAGE;
}

static calc_exit complain_choice(calc_args *args, const char *dashes, const char *what,
                                 const char *value, const char *const *choices)
{
    char list[384] = "";
    return complain(args, "%s%s: \"%.60s\" is not %s", dashes, what, value,
                    calc_append_choices(list, sizeof list, choices));
}

static int find_opt(const calc_opt *opts, const char *name, size_t length);

/* The hint for an option that has another name here, or is a field; "" if the name is neither. */
static const char *meant(const calc_opt *opts, const char *name, char hint[96])
{
    static const struct {
        const char *name, *option;
    } other[] = {{"gpus", "procs"},
                 {"num-gpus", "procs"},
                 {"world-size", "procs"},
                 {"gbs", "batch"},
                 {"batch-size", "batch"},
                 {"global-batch-size", "batch"},
                 {"price", "set price=VALUE"},
                 {"objective", "objectives"}};
    char field[64];
    snprintf(field, sizeof field, "%s", name);
    for (char *at = field; (at = strchr(at, '-'));) {
        *at = '_';
    }
    hint[0] = '\0';
    for (size_t i = 0; i < sizeof other / sizeof *other && !hint[0]; i++) {
        size_t length = strcspn(other[i].option, " ");
        if (strcmp(other[i].name, name) == 0 && find_opt(opts, other[i].option, length) >= 0) {
            snprintf(hint, 96, "--%s", other[i].option);
        }
    }
    if (!hint[0] && find_opt(opts, "set", strlen("set")) >= 0 &&
        calc_table_find(calc_table_of(CALC_KIND_EXEC), field)) {
        snprintf(hint, 96, "--set %s=VALUE", field);
    }
    return hint;
}

static calc_exit complain_unknown(calc_args *args, const char *word, size_t length)
{
    enum { MAX = 32 };
    const char *names[MAX + 2] = {"help"};
    for (size_t i = 0; i < MAX && args->command->opts[i].name; i++) {
        names[i + 1] = args->command->opts[i].name;
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *bare = name + strspn(name, "-");
    char hint[96];
    if (word[0] == '-' && *meant(args->command->opts, bare, hint)) {
        return complain(args, "unknown option \"%s\", did you mean \"%s\"?", name, hint);
    }
    const char *nearest = word[0] == '-' ? calc_nearest(bare, names) : NULL;
    return nearest ? complain(args, "unknown option \"%s\", did you mean \"--%s\"?", name, nearest)
                   : complain(args, "unknown option \"%s\"", name);
}

/* Index of the row of "--name" or "--name=value"; -1 if there is none. */
static int find_opt(const calc_opt *opts, const char *name, size_t length)
{
    for (int i = 0; opts[i].name; i++) {
        if (strlen(opts[i].name) == length && strncmp(opts[i].name, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

/* The first word of a value that is not a choice of the option; NULL if all are. */
static const char *wrong_word(const calc_opt *opt, const char *value, char word[64])
{
    size_t length = 0;
    for (; opt->choices; value += length + 1) {
        length = opt->list ? strcspn(value, ",") : strlen(value);
        snprintf(word, 64, "%.*s", length < 64 ? (int)length : 63, value);
        if (calc_choice_index(opt->choices, word) < 0) {
            return word;
        }
        if (value[length] == '\0') {
            break;
        }
    }
    return NULL;
}

/* Take one option, and the next word if it is the option's value. */
static calc_exit take_opt(calc_args *args, const char *word, const char *next, bool *took_next)
{
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    int index = word[1] == '-' ? find_opt(args->command->opts, word + 2, length - 2) : -1;
    if (index < 0) {
        return complain_unknown(args, word, length);
    }
    const calc_opt *opt = &args->command->opts[index];
    if (!opt->value) {
        if (value) {
            return complain(args, "--%s takes no value", opt->name);
        }
        value = "";
    } else {
        *took_next = !value;
        value = value ? value : next;
        if (!value || !*value) {
            return complain(args, "--%s needs a value: %s", opt->name, opt->value);
        }
    }
    char wrong[64];
    if (wrong_word(opt, value, wrong)) {
        return complain_choice(args, "--", opt->name, wrong, opt->choices);
    }
    args->use[args->use_count++] = (calc_opt_use){index, value};
    return CALC_EXIT_OK;
}

static calc_exit check_arguments(calc_args *args)
{
    const calc_arg *row = args->command->args;
    for (size_t i = 0; i < args->argument_count; i++) {
        if (!row->name) {
            return complain(args, "unexpected argument \"%.100s\"", args->argument[i]);
        }
        if (row->choices && calc_choice_index(row->choices, args->argument[i]) < 0) {
            return complain_choice(args, "", row->name, args->argument[i], row->choices);
        }
        row += !row->repeated;
    }
    bool enough = !row->name || row->optional || (row->repeated && args->argument_count > 0);
    return enough ? CALC_EXIT_OK : complain(args, "missing %s", row->name);
}

calc_exit calc_opt_parse(calc_args *args, const calc_command *command, size_t count,
                         char *const *words)
{
    *args = (calc_args){.command = command};
    args->argument = calloc(count + 1, sizeof *args->argument);
    args->use = calloc(count + 1, sizeof *args->use);
    if (!args->argument || !args->use) {
        complain(args, "%s", calc_status_text(CALC_ERR_NOMEM));
        return CALC_EXIT_SYSTEM;
    }
    bool options = true;
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        bool own = command->own_words && i > 0;
        if (!*word && options && !own) {
            return complain(args, "an argument is empty");
        }
        if (own || !options || word[0] != '-' || word[1] == '\0') {
            args->argument[args->argument_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            options = false;
        } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            args->help = true;
            return CALC_EXIT_OK;
        } else {
            bool took_next = false;
            const char *next = i + 1 < count ? words[i + 1] : NULL;
            calc_exit result = take_opt(args, word, next, &took_next);
            if (result != CALC_EXIT_OK) {
                return result;
            }
            i += took_next;
        }
    }
    return check_arguments(args);
}

void calc_opt_free(calc_args *args)
{
    free(args->argument);
    free(args->use);
    *args = (calc_args){0};
}

const char *calc_opt_value(const calc_args *args, int opt)
{
    const char *value = args->command->opts[opt].preset;
    for (size_t i = 0; i < args->use_count; i++) {
        if (args->use[i].opt == opt) {
            value = args->use[i].value;
        }
    }
    return value;
}

const char *calc_opt_next(const calc_args *args, int opt, size_t *cursor)
{
    while (*cursor < args->use_count) {
        const calc_opt_use *use = &args->use[(*cursor)++];
        if (use->opt == opt) {
            return use->value;
        }
    }
    return NULL;
}

bool calc_opt_number(const char *text, bool whole, double lo, double hi, double *out)
{
    char *end;
    double value = strtod(text, &end);
    bool fine = end != text && *end == '\0' && value >= lo && value <= hi &&
                (!whole || value == floor(value));
    if (fine) {
        *out = value;
    }
    return fine;
}

bool calc_opt_is_stdout(const calc_args *args, int opt)
{
    const char *value = calc_opt_value(args, opt);
    return value && strcmp(value, "-") == 0;
}
