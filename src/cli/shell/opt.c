#include "cli/shell/opt.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "spec/field.h"

const calc_command *const calc_command_list[] = {&calc_cmd_run,      &calc_cmd_sweep,
                                                 &calc_cmd_plan,     &calc_cmd_tune,
                                                 &calc_cmd_rl,       &calc_cmd_why,
                                                 &calc_cmd_export,   &calc_cmd_import,
                                                 &calc_cmd_validate, &calc_cmd_calibrate,
                                                 &calc_cmd_diff,     &calc_cmd_show,
                                                 &calc_cmd_serve,    &calc_cmd_as,
                                                 &calc_cmd_help,     &calc_cmd_names,
                                                 &calc_cmd_fields,   &calc_cmd_explain,
                                                 &calc_cmd_params,   &calc_cmd_schema,
                                                 &calc_cmd_app,      NULL};

const char *const calc_opt_when[] = {"auto", "always", "never", NULL};
const char *const calc_opt_progress[] = {"auto", "plain", "none", NULL};

enum { COMMANDS = sizeof calc_command_list / sizeof *calc_command_list - 1 };

const char *calc_command_word(const calc_command *command)
{
    static const char show[] = "show ";
    bool shown = strncmp(command->name, show, strlen(show)) == 0;
    return command->name + (shown ? strlen(show) : 0);
}

const calc_command *calc_command_find(const char *name, const char **instead)
{
    static const struct {
        const char *name, *instead;
        const calc_command *command;
    } older[] = {{"trace", "--trace=-", &calc_cmd_run}, {"merge", "--merge", &calc_cmd_sweep}};
    const char *option = NULL;
    const calc_command *found = NULL;
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        if (strcmp(older[i].name, name) == 0) {
            option = older[i].instead;
            found = older[i].command;
        }
    }
    for (size_t i = 0; i < COMMANDS && !found; i++) {
        found = strcmp(calc_command_word(calc_command_list[i]), name) == 0 ? calc_command_list[i]
                                                                           : NULL;
    }
    if (instead) {
        *instead = option;
    }
    return found;
}

const char *calc_command_nearest(const char *name)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = calc_command_word(calc_command_list[i]);
    }
    const char *nearest = calc_nearest(name, names);
    return nearest ? calc_command_find(nearest, NULL)->name : NULL;
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

/* What is before the name of an option on the command line. */
static const char *dashes_of(const char *name)
{
    return name[0] == '-' ? "" : "--";
}

/* The name among others with blanks between them, up to the blank, the "=" or the end behind it. */
static const char *is_called(const char *names, const char *word, size_t length)
{
    for (const char *next; names; names = next ? next + 1 : NULL) {
        size_t own = strcspn(names, "= ");
        if (own == length && strncmp(names, word, length) == 0) {
            return names + own;
        }
        next = strchr(names, ' ');
    }
    return NULL;
}

/* Index of the row of a name, as the rows spell it; -1 if there is none. */
static int find_opt(const calc_opt *opts, const char *name, size_t length)
{
    for (int i = 0; opts[i].name; i++) {
        if (is_called(opts[i].name, name, length) || is_called(opts[i].also, name, length) ||
            is_called(opts[i].was, name, length)) {
            return i;
        }
    }
    return -1;
}

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
    char *field = CALC_TEXT(64, "%s", name);
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
    enum { MAX = 160 };
    const char *names[MAX + 2] = {"--help"}, *bare[MAX + 2] = {NULL};
    size_t count = 1;
    for (const calc_opt *opt = args->command->opts; opt->name && count < MAX; opt++) {
        names[count++] = opt->name;
        if (opt->also) {
            names[count++] = opt->also;
        }
    }
    /* Leaves out leading dashes, which would make any two short words look similar. */
    for (size_t i = 0; i < count; i++) {
        bare[i] = names[i] + strspn(names[i], "-");
    }
    char name[64], hint[96];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *meant_bare = name + strspn(name, "-");
    if (*meant(args->command->opts, meant_bare, hint)) {
        return complain(args, "unknown option \"%s\", did you mean \"%s\"?", name, hint);
    }
    const char *nearest = calc_nearest(meant_bare, bare);
    for (size_t i = 0; i < count && nearest; i++) {
        if (bare[i] == nearest) {
            return complain(args, "unknown option \"%s\", did you mean \"%s%s\"?", name,
                            dashes_of(names[i]), names[i]);
        }
    }
    return complain(args, "unknown option \"%s\"", name);
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

/* 1 for true, 0 for false, -1 for anything else. */
static int truth(const char *text)
{
    static const char *const words[2][6] = {{"no", "false", "f", "n", "0", NULL},
                                            {"yes", "true", "t", "y", "1", NULL}};
    char lower[8] = "";
    for (size_t i = 0; i < sizeof lower - 1 && text[i]; i++) {
        lower[i] = (char)tolower((unsigned char)text[i]);
    }
    for (int value = 0; value < 2; value++) {
        if (calc_choice_index(words[value], lower) >= 0) {
            return value;
        }
    }
    return -1;
}

static calc_exit check_value(calc_args *args, const calc_opt *opt, const char *value)
{
    char wrong[64];
    const char *dashes = dashes_of(opt->name);
    double number;
    bool whole = opt->kind == CALC_OPT_WHOLE;
    if (wrong_word(opt, value, wrong)) {
        return complain_choice(args, dashes, opt->name, wrong, opt->choices);
    }
    if (opt->kind == CALC_OPT_TEXT) {
        return *value
                   ? CALC_EXIT_OK
                   : complain(args, "%s%s: an empty text is no %s", dashes, opt->name, opt->value);
    }
    if (opt->kind == CALC_OPT_BOOL) {
        return truth(value) >= 0
                   ? CALC_EXIT_OK
                   : complain(args,
                              "%s%s: \"%.60s\" is not yes, true, t, y, 1, no, false, f, n or 0",
                              dashes, opt->name, value);
    }
    return calc_decimal_read(value, whole, opt->lo, opt->hi, &number)
               ? CALC_EXIT_OK
               : complain(args, "%s%s: \"%.60s\" is not a %snumber from %.15g to %.15g", dashes,
                          opt->name, value, whole ? "whole " : "", opt->lo, opt->hi);
}

/* Take one option, and the next word if it is the option's value. */
static calc_exit take_opt(calc_args *args, const char *word, const char *next, bool *took_next)
{
    size_t length = strcspn(word, "="), skip = args->command->theirs ? 0 : 2;
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    int index = args->command->theirs || word[1] == '-'
                    ? find_opt(args->command->opts, word + skip, length - skip)
                    : -1;
    if (index < 0) {
        return complain_unknown(args, word, length);
    }
    const calc_opt *opt = &args->command->opts[index];
    const char *dashes = dashes_of(opt->name);
    const char *before = is_called(opt->was, word + skip, length - skip);
    bool stands = before && *before == '=';
    if ((!opt->value || stands) && value) {
        return complain(args, "%.*s takes no value", (int)length, word);
    }
    if (stands) {
        value = opt->choices[calc_choice_index(
            opt->choices, CALC_TEXT(64, "%.*s", (int)strcspn(before + 1, " "), before + 1))];
    } else if (!opt->value) {
        value = "";
    } else if (!value && opt->lone && (!next || strncmp(next, "--", 2) == 0)) {
        value = "true";
    } else {
        *took_next = !value;
        value = value ? value : next;
        if (!value || (!*value && !args->command->theirs)) {
            return complain(args, "%s%s needs a value: %s", dashes, opt->name, opt->value);
        }
    }
    args->use[args->use_count++] = (calc_opt_use){index, value};
    return opt->value ? check_value(args, opt, value) : CALC_EXIT_OK;
}

static calc_exit check_arguments(calc_args *args)
{
    const calc_arg *row = args->command->args;
    for (size_t i = 0; i < args->use_count; i++) {
        if (args->command->opts[args->use[i].opt].alone) {
            return CALC_EXIT_OK;
        }
    }
    for (size_t i = 0; i < args->argument_count; i++) {
        if (!row->name) {
            return complain(args, "unexpected argument \"%.100s\"", args->argument[i]);
        }
        if (row->choices && calc_choice_index(row->choices, args->argument[i]) < 0) {
            return complain_choice(args, "", row->name, args->argument[i], row->choices);
        }
        row += !row->repeated;
    }
    if (row->name && !row->optional && !(row->repeated && args->argument_count > 0)) {
        return complain(args, "missing %s", row->name);
    }
    for (int i = 0; args->command->opts[i].name; i++) {
        const calc_opt *opt = &args->command->opts[i];
        if (opt->needed && !calc_opt_value(args, i)) {
            return complain(args, "missing %s%s %s", dashes_of(opt->name), opt->name, opt->value);
        }
    }
    return CALC_EXIT_OK;
}

/* The one name of a file that is or will be at a path: "-" is standard output, "" what cannot be a
 * file, or is none but a device. */
static void name_file(const char *path, char name[PATH_MAX])
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    bool is_there = stat(path, &info) == 0;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool known = folder && strcmp(path, "-") != 0 && (!is_there || S_ISREG(info.st_mode)) &&
                 realpath(is_there ? path : folder, name);
    if (known && !is_there) {
        calc_append(name, PATH_MAX, "/%s", slash ? slash + 1 : path);
    } else if (!known) {
        strcpy(name, strcmp(path, "-") == 0 ? path : "");
    }
    free(folder);
}

/* Each output has a file of its own, and one at most standard output. */
static calc_exit check_outputs(calc_args *args)
{
    const calc_opt *opts = args->command->opts;
    for (int i = 0; opts && opts[i].name; i++) {
        const char *path = opts[i].output ? calc_opt_value(args, i) : NULL;
        for (int k = 0; path && k < i; k++) {
            const char *before = opts[k].output ? calc_opt_value(args, k) : NULL;
            char name[PATH_MAX] = "", other[PATH_MAX];
            if (before) {
                name_file(path, name);
                name_file(before, other);
            }
            if (*name && strcmp(name, other) == 0) {
                return complain(args, "only one of --%s and --%s can be %.300s", opts[k].name,
                                opts[i].name, *name == '-' ? "standard output" : path);
            }
        }
    }
    return CALC_EXIT_OK;
}

const calc_field *calc_opt_field(const char *text, calc_field_ref *out)
{
    static const calc_kind kinds[] = {CALC_KIND_EXEC, CALC_KIND_APP, CALC_KIND_SYSTEM};
    const char *name = CALC_TEXT(128, "%.*s", (int)strcspn(text, "="), text);
    const char *path = name;
    calc_kind only = calc_kind_split(&path, CALC_KIND_EXEC);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if ((only == CALC_KIND_NONE || only == kinds[i]) &&
            calc_field_find(kinds[i], path, out) == CALC_OK) {
            return out->field;
        }
    }
    return NULL;
}

/* What an option says, and the value. */
typedef struct said {
    calc_field_ref field; /* of a document; .field NULL: none */
    const char *name, *value;
    size_t length; /* of the name; 0: no field, the last one counts */
} said;

static said said_by(const calc_opt *opt, const char *value)
{
    static const struct {
        const char *option, *field; /* NULL: its value begins with it */
    } of[] = {{"set", NULL}, {"axis", NULL}, {"procs", "num_procs"}, {"batch", "batch_size"}};
    said s = {.value = value};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if (strcmp(of[i].option, opt->name) == 0) {
            s.name = of[i].field ? of[i].field : value;
            s.length = strcspn(s.name, "=");
            s.value = of[i].field ? value : value + s.length;
            const calc_field *field = calc_opt_field(s.name, &s.field);
            s.length =
                field && field->flags & CALC_SOFTWARE ? 0 : s.length; /* the last name counts */
        }
    }
    return s;
}

/* Nothing may be said with two values: which of them is meant? */
static calc_exit check_twice(calc_args *args)
{
    calc_exit result = CALC_EXIT_OK;
    said *all = calc_make(args->use_count + 1, sizeof *all);
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &args->command->opts[args->use[i].opt];
        const said *b = &all[i];
        all[i] = said_by(opt, args->use[i].value);
        for (const said *a = all; a < b && b->length > 0 && result == CALC_EXIT_OK; a++) {
            const calc_opt_use *use = &args->use[a - all];
            bool again = use->opt == args->use[i].opt && !opt->repeated; /* the last one counts */
            bool same = b->field.field
                            ? a->field.field == b->field.field && a->field.offset == b->field.offset
                            : a->length == b->length && strncmp(a->name, b->name, b->length) == 0;
            if (same && !again &&
                strcmp(a->value + (*a->value == '='), b->value + (*b->value == '=')) != 0) {
                result = complain(args, "--%s %.100s and --%s %.100s contradict each other",
                                  args->command->opts[use->opt].name, use->value, opt->name,
                                  args->use[i].value);
            }
        }
    }
    free(all);
    return result;
}

calc_exit calc_opt_parse(calc_args *args, const calc_command *command, size_t count,
                         char *const *words)
{
    *args = (calc_args){.command = command};
    args->argument = calc_make(count + 1, sizeof *args->argument);
    args->use = calc_make(count + 1, sizeof *args->use);
    args->passed = calc_make(count + 1, sizeof *args->passed);
    bool options = true, theirs = command->theirs;
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        bool own = command->own_words && i > 0;
        if (!*word && options && !own && !theirs) {
            return complain(args, "an argument is empty");
        }
        if (own || !options || word[0] != '-' || (word[1] == '\0' && !theirs)) {
            args->argument[args->argument_count++] = word;
        } else if (strcmp(word, "--") == 0 && !theirs) {
            options = false;
        } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            args->help = true;
            return CALC_EXIT_OK;
        } else if (command->passes && strncmp(word, "--", 2) == 0 &&
                   find_opt(command->opts, word, strcspn(word, "=")) < 0) {
            args->passed[args->passed_count++] = word;
            for (; i + 1 < count && strncmp(words[i + 1], "--", 2) != 0; i++) {
                args->passed[args->passed_count++] = words[i + 1];
            }
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
    calc_exit result = theirs ? CALC_EXIT_OK : check_twice(args);
    result = result == CALC_EXIT_OK ? check_outputs(args) : result;
    return result == CALC_EXIT_OK ? check_arguments(args) : result;
}

CALC_FREES(calc_opt_free, calc_args, of->argument, of->use, of->passed)

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

bool calc_opt_given(const calc_args *args, int opt)
{
    size_t cursor = 0;
    return calc_opt_next(args, opt, &cursor);
}

double calc_opt_real(const calc_args *args, int opt)
{
    const char *value = calc_opt_value(args, opt);
    return value ? strtod(value, NULL) : 0;
}

bool calc_opt_truth(const calc_args *args, int opt)
{
    const char *value = calc_opt_value(args, opt);
    return value && (!args->command->opts[opt].value || truth(value) == 1);
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

bool calc_opt_lists(const calc_args *args, int opt, const char *word)
{
    size_t cursor = 0, length = strlen(word);
    bool found = false;
    for (const char *at = NULL; !found && (at = calc_opt_next(args, opt, &cursor));) {
        for (const char *comma; at && !found; at = comma ? comma + 1 : NULL) {
            comma = strchr(at, ',');
            found = strcspn(at, ",") == length && strncmp(at, word, length) == 0;
        }
    }
    return found;
}

bool calc_opt_is_stdout(const calc_args *args, int opt)
{
    const char *value = calc_opt_value(args, opt);
    return value && strcmp(value, "-") == 0;
}

bool calc_opt_takes_stdout(const calc_args *args)
{
    bool taken = false;
    for (int i = 0; args->command->opts[i].name; i++) {
        taken = taken || (args->command->opts[i].output && calc_opt_is_stdout(args, i));
    }
    return taken;
}
