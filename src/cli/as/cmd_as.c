#include "cli/as/flags.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/opt.h"
#include "spec/field.h"

CALC_PRINTF(2, 3)
static bool complain(calc_flags *out, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vsnprintf(out->complaint, sizeof out->complaint, fmt, list);
    va_end(list);
    return false;
}

static bool is_called(const char *name, const char *word, size_t length)
{
    return name && strlen(name) == length && strncmp(name, word, length) == 0;
}

/* The row of a word; -1 if there is none. */
static int find(const calc_flag *flags, const char *word, size_t length)
{
    for (int i = 0; flags[i].name; i++) {
        if (is_called(flags[i].name, word, length) || is_called(flags[i].also, word, length)) {
            return i;
        }
    }
    return -1;
}

static bool complain_unknown(calc_flags *out, const char *word, size_t length)
{
    const char *names[2 * CALC_FLAGS_MAX + 2] = {"--help"};
    size_t count = 1;
    for (const calc_flag *flag = out->tool->flags; flag->name; flag++) {
        names[count++] = flag->name;
        if (flag->also) {
            names[count++] = flag->also;
        }
    }
    /* Leaves out leading dashes, which would make any two short words look similar. */
    const char *bare[2 * CALC_FLAGS_MAX + 2] = {NULL};
    for (size_t i = 0; i < count; i++) {
        bare[i] = names[i] + strspn(names[i], "-");
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *nearest = calc_nearest(name + strspn(name, "-"), bare);
    for (size_t i = 0; i < count && nearest; i++) {
        if (bare[i] == nearest) {
            return complain(out, "unknown option \"%s\", did you mean \"%s\"?", name, names[i]);
        }
    }
    return complain(out, "unknown option \"%s\"", name);
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

static bool check(calc_flags *out, const calc_flag *flag, const char *value)
{
    double number;
    if (flag->choices && calc_choice_index(flag->choices, value) < 0) {
        char list[256] = "";
        return complain(out, "%s: \"%.60s\" is not %s", flag->name, value,
                        calc_append_choices(list, sizeof list, flag->choices));
    }
    switch (flag->kind) {
    case CALC_FLAG_BOOL:
        return truth(value) >= 0 ||
               complain(out, "%s: \"%.60s\" is not yes, true, t, y, 1, no, false, f, n or 0",
                        flag->name, value);
    case CALC_FLAG_WHOLE:
    case CALC_FLAG_NUMBER:
        return calc_opt_number(value, flag->kind == CALC_FLAG_WHOLE, flag->lo, flag->hi, &number) ||
               complain(out, "%s: \"%.60s\" is not a %snumber from %.15g to %.15g", flag->name,
                        value, flag->kind == CALC_FLAG_WHOLE ? "whole " : "", flag->lo, flag->hi);
    case CALC_FLAG_TEXT:
        break;
    }
    return *value || complain(out, "%s: an empty text is no %s", flag->name, flag->value);
}

/* Takes one flag, and the next word if it is the flag's value. */
static bool take(calc_flags *out, const char *word, const char *next, bool *took_next)
{
    size_t length = strcspn(word, "=");
    int row = find(out->tool->flags, word, length);
    if (row < 0) {
        return complain_unknown(out, word, length);
    }
    const calc_flag *flag = &out->tool->flags[row];
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    if (!flag->value) {
        if (value) {
            return complain(out, "%s takes no value", flag->name);
        }
        value = "true";
    } else if (!value && flag->lone && (!next || strncmp(next, "--", 2) == 0)) {
        value = "true";
    } else if (!value) {
        if (!next) {
            return complain(out, "%s needs a value: %s", flag->name, flag->value);
        }
        value = next;
        *took_next = true;
    }
    out->value[row] = value;
    out->given[row] = true;
    return check(out, flag, value);
}

/* Keeps a flag without a row, and the words up to the next flag. @return how many words it kept */
static size_t pass(calc_flags *out, const char *const *words, size_t count)
{
    size_t end = 1;
    while (end < count && strncmp(words[end], "--", 2) != 0) {
        end++;
    }
    for (size_t i = 0; i < end && out->others < CALC_FLAGS_OTHERS; i++) {
        out->other[out->others++] = words[i];
    }
    return end;
}

bool calc_flags_parse(calc_flags *out, const calc_as_tool *tool, size_t count,
                      const char *const *words)
{
    *out = (calc_flags){.tool = tool};
    for (int i = 0; tool->flags[i].name; i++) {
        out->value[i] = tool->flags[i].preset;
    }
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        bool took_next = false;
        if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            out->help = true;
            return true;
        }
        if (out->tool->passes && strncmp(word, "--", 2) == 0 &&
            find(out->tool->flags, word, strcspn(word, "=")) < 0) {
            i += pass(out, &words[i], count - i) - 1;
            continue;
        }
        if (word[0] != '-' && tool->file && !out->file) {
            out->file = word;
            continue;
        }
        if (word[0] != '-') {
            return complain(out, "unexpected argument \"%.100s\"", word);
        }
        if (!take(out, word, i + 1 < count ? words[i + 1] : NULL, &took_next)) {
            return false;
        }
        i += took_next;
    }
    for (int i = 0; tool->flags[i].name; i++) {
        if (tool->flags[i].needed && !out->value[i]) {
            return complain(out, "missing %s %s", tool->flags[i].name, tool->flags[i].value);
        }
    }
    return true;
}

const char *calc_flags_text(const calc_flags *flags, int row)
{
    return flags->value[row];
}

double calc_flags_number(const calc_flags *flags, int row)
{
    return flags->value[row] ? strtod(flags->value[row], NULL) : NAN;
}

bool calc_flags_bool(const calc_flags *flags, int row)
{
    return flags->value[row] && truth(flags->value[row]) == 1;
}

/* The name of a program on calc's command line: "as taylor nd". @return buffer */
static char *as_tool_name(const calc_as_tool *tool, char *buffer, size_t size)
{
    snprintf(buffer, size, "as %s%s%s", tool->planner, tool->program ? " " : "",
             tool->program ? tool->program : "");
    return buffer;
}

calc_exit calc_flags_complain(const calc_flags *flags, const char *text)
{
    char name[64];
    as_tool_name(flags->tool, name, sizeof name);
    calc_say("calc %s: %s (see calc %s --help)\n", name, text, name);
    return CALC_EXIT_USAGE;
}

static void write_flag(calc_output *out, const calc_flag *flag)
{
    enum { COLUMN = 24 };
    char word[96], doc[640];
    snprintf(word, sizeof word, "%s%s%s", flag->name, flag->value ? " " : "",
             flag->value ? flag->value : "");
    snprintf(doc, sizeof doc, "%s%s", flag->doc, flag->choices ? "; " : "");
    calc_append_choices(doc, sizeof doc, flag->choices);
    calc_append(doc, sizeof doc, "%s", flag->needed ? "; needed" : "");
    if (flag->also) {
        calc_append(doc, sizeof doc, "; also %s", flag->also);
    }
    if (flag->preset) {
        calc_append(doc, sizeof doc, " [%s]", flag->preset);
    }
    if (strlen(word) + 4 > COLUMN) {
        calc_output_printf(out, "  %s\n%*s", word, COLUMN, "");
    } else {
        calc_output_printf(out, "  %-*s", COLUMN - 2, word);
    }
    calc_help_wrapped(out, doc, COLUMN);
}

/* Shows the help of a program. */
static calc_exit calc_flags_help(const calc_as_tool *tool)
{
    char name[64];
    calc_errors errors = {0};
    calc_output *out;
    if (calc_output_open(&out, "-", &errors) == CALC_OK) {
        calc_output_printf(out, "Usage: calc %s %s%s%s[FLAG]...\n\n",
                           as_tool_name(tool, name, sizeof name), tool->file ? "[" : "",
                           tool->file ? tool->file : "", tool->file ? "] " : "");
        calc_help_wrapped(out, tool->detail, 0);
        calc_output_printf(out, "\nFlags, as %s has them:\n", tool->theirs);
        bool ours = false;
        for (const calc_flag *flag = tool->flags; flag->name; flag++) {
            if (flag->ours && !ours) {
                calc_output_text(out, "\nFlags that only calc has:\n");
            }
            ours = flag->ours;
            write_flag(out, flag);
        }
        calc_output_printf(out, "  %-22sshow this help\n\nExamples:\n", "-h, --help");
        for (const char *const *example = tool->examples; *example; example++) {
            calc_output_printf(out, "  %s\n", *example);
        }
        (void)!calc_output_close(out, &errors);
    }
    return calc_complain_errors(&errors);
}

void calc_flags_tell_unused(const calc_flags *flags)
{
    char name[64], list[512] = "";
    for (int i = 0; flags->tool->flags[i].name; i++) {
        if (flags->given[i] && flags->tool->flags[i].unused) {
            calc_append(list, sizeof list, "%s%s", *list ? ", " : "", flags->tool->flags[i].name);
        }
    }
    if (*list) {
        calc_say("calc %s: no effect here: %s\n", as_tool_name(flags->tool, name, sizeof name),
                 list);
    }
}

calc_status calc_as_make_folder(const char *path, calc_errors *errors)
{
    char part[CALC_AS_PATH_SIZE];
    size_t length = strlen(path);
    struct stat info;
    int code = length < sizeof part ? 0 : ENAMETOOLONG;
    for (size_t i = 1; i <= length && code == 0; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            code = errno;
        }
    }
    if (code == 0 && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
        code = ENOTDIR;
    }
    return code == 0 ? CALC_OK
                     : calc_errors_at(errors, CALC_ERR_IO, path, 0, 0, NULL,
                                      "cannot make the folder: %s", strerror(code));
}

char *calc_as_path(const char *folder, const char *name, char path[CALC_AS_PATH_SIZE])
{
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] == '/';
    snprintf(path, CALC_AS_PATH_SIZE, "%s%s%s", folder, slash || length == 0 ? "" : "/", name);
    return path;
}

calc_status calc_as_write(const char *folder, const char *name, const char *text, size_t length,
                          calc_errors *errors)
{
    char path[CALC_AS_PATH_SIZE];
    calc_output *out;
    calc_status status = calc_output_open(&out, calc_as_path(folder, name, path), errors);
    if (status == CALC_OK) {
        calc_output_write(out, text, length);
        status = calc_output_close(out, errors);
    }
    return status;
}

/* A planner needs a row in both lists. */
static const char *const planners[] = {"taylor",           "aiak",      "galvatron",
                                       "galvatron-paddle", "mindspeed", NULL};
static const calc_as_tool *const tools[] = {
    &calc_as_taylor_nd, &calc_as_taylor_rank,      &calc_as_taylor_balance, &calc_as_aiak,
    &calc_as_galvatron, &calc_as_galvatron_paddle, &calc_as_mindspeed,      NULL};

static const calc_opt opts[] = {{0}};
static const calc_arg rows[] = {
    {"PLANNER", .choices = planners, .doc = "whose programs and flags are meant"},
    {"WORD", .optional = true, .repeated = true,
     .doc = "the program of the planner if it has more than one, then its flags"},
    {0}};
static const char *const examples[] = {"calc as taylor --help", "calc as taylor nd --help", NULL};

static bool asks_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

/* A planner's programs as a list of choices, ended by NULL. */
static void programs_of(const char *planner, const char *list[], size_t size)
{
    size_t count = 0;
    for (size_t i = 0; tools[i] && count + 1 < size; i++) {
        if (strcmp(tools[i]->planner, planner) == 0 && tools[i]->program) {
            list[count++] = tools[i]->program;
        }
    }
    list[count] = NULL;
}

static calc_exit show_programs(const char *planner)
{
    calc_errors errors = {0};
    calc_output *out;
    if (calc_output_open(&out, "-", &errors) == CALC_OK) {
        calc_output_printf(out, "Usage: calc as %s PROGRAM [FLAG]...\n\nPrograms:\n", planner);
        for (size_t i = 0; tools[i]; i++) {
            if (strcmp(tools[i]->planner, planner) == 0) {
                calc_output_printf(out, "  %-10s", tools[i]->program);
                calc_help_wrapped(out, tools[i]->summary, 12);
            }
        }
        (void)!calc_output_close(out, &errors);
    }
    return calc_complain_errors(&errors);
}

/* Finds the program that the words name; NULL if a planner needs a second word and it names
 * none. */
static const calc_as_tool *find_tool(const calc_args *args, size_t *words)
{
    for (size_t i = 0; tools[i]; i++) {
        *words = tools[i]->program ? 2 : 1;
        if (strcmp(tools[i]->planner, args->argument[0]) == 0 && args->argument_count >= *words &&
            (!tools[i]->program || strcmp(tools[i]->program, args->argument[1]) == 0)) {
            return tools[i];
        }
    }
    return NULL;
}

static calc_exit complain_program(const calc_args *args)
{
    const char *list[16];
    char text[512], choices[128] = "";
    programs_of(args->argument[0], list, sizeof list / sizeof *list);
    calc_append_choices(choices, sizeof choices, list);
    if (args->argument_count < 2) {
        snprintf(text, sizeof text, "%s: missing the program, which is %s", args->argument[0],
                 choices);
    } else {
        snprintf(text, sizeof text, "%s: \"%.60s\" is not %s", args->argument[0], args->argument[1],
                 choices);
    }
    return calc_complain_usage(&calc_cmd_as, text);
}

static calc_exit run(const calc_args *args)
{
    size_t words;
    const calc_as_tool *tool = find_tool(args, &words);
    if (!tool) {
        return args->argument_count > 1 && asks_help(args->argument[1])
                   ? show_programs(args->argument[0])
                   : complain_program(args);
    }
    calc_flags flags;
    if (!calc_flags_parse(&flags, tool, args->argument_count - words, args->argument + words)) {
        return calc_flags_complain(&flags, flags.complaint);
    }
    return flags.help ? calc_flags_help(tool) : tool->run(&flags);
}

const calc_command calc_cmd_as = {
    .name = "as",
    .summary = "take the command lines and files of other planners",
    .detail = "Takes the command lines of other planners as they are, reads and writes their files "
              "in their formats, and computes with calc's own model what they measure or ask "
              "another program for. Each program has a --help of its own.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .own_words = true,
    .run = run};
