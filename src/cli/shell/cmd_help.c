#include "cli/shell/help.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "formats/read.h"
#include "io/json_load.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* The build's description of itself (src/CMakeLists.txt). */
#ifndef CALC_BUILD_SOURCE
#define CALC_BUILD_SOURCE "unknown"
#define CALC_BUILD_TYPE "unknown"
#define CALC_BUILD_OPTIONS "unknown"
#endif

enum { WIDTH = 80, INDENT = 2, GAP = 2 };

static const char purpose[] = "analytical performance model of large language models";

const char calc_help_brief[] =
    "Usage: calc COMMAND [ARGUMENT]... [OPTION]...\n\n"
    "Which layout?         calc sweep qwen3-235B-A22B h200 --procs 256 --batch 1024\n"
    "Where does time go?   calc run llama3-8B h100_sxm --procs 64 --batch 256\n"
    "What would help?      calc why llama3-8B h100_sxm --procs 64 --batch 256\n"
    "How do I start it?    calc export llama3-8B h100_sxm llama3-8B_8\n"
    "Is my model there?    calc show names app; or calc import config.json --app model.json\n\n"
    "See: calc --help\n";

/* A word and its meaning. */
typedef struct help_pair {
    const char *word, *meaning;
} help_pair;

static const help_pair exits[] = {
#define CALC_X(name, meaning) {(const char[]){'0' + CALC_EXIT_##name, '\0'}, meaning},
    CALC_EXIT_LIST(CALC_X)
#undef CALC_X
        {0}};

static const help_pair environment[] = {
    {"CALC_PATH", "directories, separated by colons, searched first for bare names; each holds "
                  "models/, systems/ and executions/"},
    {"COLUMNS", "width of drawings and tables; by default that of the terminal, or 80"},
    {"NO_COLOR", "if set and not empty, output is not coloured"},
    {"LC_ALL, LC_CTYPE, LANG", "if they name UTF-8, bars and drawings use Unicode"},
    {0}};

void calc_help_wrapped(calc_output *out, const char *text, int column)
{
    int at = column, columns = calc_paint_columns(); /* where there are fewer than usual */
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > (columns < WIDTH ? columns : WIDTH)) {
            calc_output_printf(out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            calc_output_text(out, " ");
            at++;
        }
        calc_output_write(out, text, (size_t)length);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    calc_output_text(out, "\n");
}

void calc_help_command_line(calc_output *out, const char *line)
{
    const char *at = line, *space = NULL;
    int used = INDENT;
    bool quoted = false;
    calc_output_printf(out, "%*s", INDENT, "");
    for (; *at; at++) {
        quoted = quoted != (*at == '\'');
        space = *at == ' ' && !quoted ? at : space;
        if (++used > WIDTH - 2 && space && strlen(at) > 2) {
            calc_output_write(out, line, (size_t)(space - line));
            calc_output_printf(out, " \\\n%*s", 2 * INDENT, "");
            line = space + 1;
            used = 2 * INDENT + (int)(at + 1 - line);
            space = NULL;
        }
    }
    calc_output_printf(out, "%s\n", line);
}

static void write_pair(calc_output *out, const char *word, const char *meaning, int column)
{
    bool beside = (int)strlen(word) + INDENT + GAP <= column;
    calc_output_printf(out, "%*s%-*s", INDENT, "", beside ? column - INDENT : 0, word);
    if (!beside) {
        calc_output_printf(out, "\n%*s", column, "");
    }
    calc_help_wrapped(out, meaning, column);
}

static void write_pairs(calc_output *out, const char *title, const help_pair *pairs, int column)
{
    calc_output_printf(out, "\n%s:\n", title);
    for (; pairs->word; pairs++) {
        write_pair(out, pairs->word, pairs->meaning, column);
    }
}

/* The values of an option and its meaning as one text: "auto, always or never [auto]".
 * @return buffer */
static const char *calc_help_opt_doc(const calc_opt *opt, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s", opt->doc, opt->choices ? "; " : "");
    calc_append_choices(buffer, size, opt->choices);
    calc_append(buffer, size, "%s", opt->needed ? "; needed" : "");
    if (opt->also) {
        calc_append(buffer, size, "; also %s", opt->also);
    }
    if (opt->preset) {
        calc_append(buffer, size, " [%s]", opt->preset);
    }
    return calc_append(buffer, size, "%s", opt->repeated ? "; may be repeated" : "");
}

/* Write "run APP SYS EXE [OPTION]..." */
static void calc_help_synopsis(calc_output *out, const calc_command *command)
{
    calc_output_text(out, command->name);
    for (const calc_arg *arg = command->args; arg->name; arg++) {
        calc_output_printf(out, arg->optional ? " [%s]%s" : " %s%s", arg->name,
                           arg->repeated ? "..." : "");
    }
    if (command->opts[0].name) {
        calc_output_text(out, command->theirs ? " [FLAG]..." : " [OPTION]...");
    }
}

/* Sections of options; the first is "Options" if it has no other name. */
static void write_options(calc_output *out, const calc_command *command, int column)
{
    bool ours = false;
    if (command->theirs) {
        calc_output_printf(out, "\nFlags, as %s has them:\n", command->theirs);
    } else {
        calc_output_text(out, command->opts->section ? "" : "\nOptions:\n");
    }
    for (const calc_opt *opt = command->opts; opt->name; opt++) {
        char word[96], doc[640];
        if (opt->section) {
            calc_output_printf(out, "\n%s:\n", opt->section);
        }
        calc_output_text(out, opt->ours && !ours ? "\nFlags that only calc has:\n" : "");
        ours = opt->ours;
        if (!opt->unlisted) {
            snprintf(word, sizeof word, "%s%s%s%s", opt->name[0] == '-' ? "" : "--", opt->name,
                     opt->value ? " " : "", opt->value ? opt->value : "");
            write_pair(out, word, calc_help_opt_doc(opt, doc, sizeof doc), column);
        }
    }
}

static void write_command(calc_output *out, const calc_command *command)
{
    const int column = command->theirs ? 24 : 22;
    calc_output_text(out, "Usage: calc ");
    calc_help_synopsis(out, command);
    calc_output_text(out, "\n\n");
    calc_help_wrapped(out, command->detail, 0);
    /* The paragraph says what those of another program are. */
    if (command->args[0].name && command->args[0].doc) {
        calc_output_text(out, "\nArguments:\n");
    }
    for (const calc_arg *arg = command->args; arg->name && arg->doc; arg++) {
        write_pair(out, arg->name, arg->doc, column);
    }
    write_options(out, command, column);
    write_pair(out, "-h, --help", "show this help", column);
    calc_output_text(out, "\nExamples:\n");
    for (const char *const *example = command->examples; *example; example++) {
        calc_help_command_line(out, *example);
    }
}

void calc_help_text(calc_output *out, const calc_command *command)
{
    if (command) {
        write_command(out, command);
        return;
    }
    calc_output_printf(out, "calc %s - %s\n\n", CALC_VERSION, purpose);
    calc_output_text(out, "Usage: calc COMMAND [ARGUMENT]... [OPTION]...\n"
                          "       calc COMMAND --help\n"
                          "       calc --version\n\nCommands:\n");
    for (size_t i = 0; i < CALC_COMMANDS_SHOWN; i++) {
        calc_output_text(out, i == CALC_COMMANDS_FIRST ? "\nMore:\n" : "");
        write_pair(out, calc_command_list[i]->name, calc_command_list[i]->summary, 13);
    }
    write_pairs(out, "Exit status", exits, 12);
    write_pairs(out, "Environment", environment, 28);
    calc_output_text(out, "\nExamples:\n");
    for (size_t i = 0; i < CALC_COMMANDS_FIRST; i++) {
        calc_help_command_line(out, calc_command_list[i]->examples[0]);
    }
}

void calc_help_version(calc_output *out, const calc_command *command)
{
    char libraries[128];
    (void)command;
    calc_output_printf(out, "calc %s\n", CALC_VERSION);
    calc_output_printf(out, "%-10s%s\n", "source", CALC_BUILD_SOURCE);
    calc_output_printf(out, "%-10s%s, %s\n", "compiler", COMPILER, CALC_BUILD_TYPE);
    calc_output_printf(out, "%-10s%s\n", "options", CALC_BUILD_OPTIONS);
    calc_output_printf(out, "%-10s%s, libyaml %s\n", "libraries",
                       calc_libraries_text(libraries, sizeof libraries),
                       calc_settings_yaml_library());
}

calc_exit calc_command_run(const calc_command *command, size_t count, char *const *words)
{
    calc_args args = {0};
    calc_exit result = calc_opt_parse(&args, command, count, words);
    if (result == CALC_EXIT_USAGE) {
        calc_complain_usage(command, args.complaint);
    } else if (result != CALC_EXIT_OK) {
        calc_say("calc: %s\n", args.complaint);
    } else if (args.help) {
        result = calc_help_show(calc_help_text, command);
    } else {
        result = command->run(&args);
    }
    calc_opt_free(&args);
    return result;
}

calc_exit calc_help_show(void (*write)(calc_output *out, const calc_command *command),
                         const calc_command *command)
{
    calc_output *out = calc_write_to("-");
    write(out, command);
    return calc_write_end(out);
}

void calc_fill_write(calc_output *out, const calc_embedded *file, const calc_fill_place *places)
{
    for (size_t i = 0; i < file->length;) {
        const calc_fill_place *place = places;
        while (place->text && strncmp(file->bytes + i, place->text, strlen(place->text)) != 0) {
            place++;
        }
        if (place->text) {
            place->write(out, place->which);
        } else {
            calc_output_write(out, file->bytes + i, 1);
        }
        i += place->text ? strlen(place->text) : 1;
    }
}

/* Text with a backslash before its special characters, a backslash itself as this letter. */
static void write_escaped(calc_output *out, const char *text, const char *special, char backslash)
{
    for (; *text; text++) {
        calc_output_printf(out, "%s%c", strchr(special, *text) ? "\\" : "",
                           *text == '\\' ? backslash : *text);
    }
}

/* Writes manual pages, in roff with the man macros. */

/* Text that roff takes literally: dashes stay dashes, and no line is a request. */
static void write_text(calc_output *out, const char *text)
{
    if (*text == '.' || *text == '\'') {
        calc_output_text(out, "\\&");
    }
    write_escaped(out, text, "-\\", 'e');
}

static void write_section(calc_output *out, const char *title)
{
    calc_output_printf(out, ".SH %s\n", title);
}

static void write_item(calc_output *out, const char *word, const char *meaning)
{
    calc_output_text(out, ".TP\n.B ");
    write_text(out, word);
    calc_output_text(out, "\n");
    write_text(out, meaning);
    calc_output_text(out, "\n");
}

static void man_options(calc_output *out, const calc_command *command)
{
    write_section(out, "OPTIONS");
    for (const calc_opt *opt = command->opts; opt->name; opt++) {
        char doc[1024];
        if (opt->section) {
            calc_output_printf(out, ".SS %s\n", opt->section);
        }
        if (opt->unlisted) {
            continue;
        }
        calc_output_text(out, ".TP\n.B \\-\\-");
        write_text(out, opt->name);
        calc_output_printf(out, "%s%s\n", opt->value ? " " : "", opt->value ? opt->value : "");
        write_text(out, calc_help_opt_doc(opt, doc, sizeof doc));
        calc_output_text(out, "\n");
    }
    write_item(out, "-h, --help", "show a summary of this page");
}

static void man_command(calc_output *out, const calc_command *command)
{
    calc_output_text(out, ".B calc\n");
    calc_help_synopsis(out, command);
    calc_output_text(out, "\n");
    write_section(out, "DESCRIPTION");
    write_text(out, command->detail);
    calc_output_text(out, "\n");
    if (command->args[0].name) {
        write_section(out, "ARGUMENTS");
    }
    for (const calc_arg *arg = command->args; arg->name; arg++) {
        write_item(out, arg->name, arg->doc);
    }
    man_options(out, command);
    write_section(out, "EXAMPLES");
    calc_output_text(out, ".nf\n");
    for (const char *const *example = command->examples; *example; example++) {
        write_text(out, *example);
        calc_output_text(out, "\n");
    }
    calc_output_text(out, ".fi\n");
}

static void write_see_also(calc_output *out, const calc_command *command)
{
    write_section(out, "SEE ALSO");
    calc_output_text(out, command ? ".BR calc (1)" : "");
    const char *glue = command ? ",\n" : "";
    for (size_t i = 0; calc_command_list[i]; i++) {
        if (calc_command_list[i] != command) {
            calc_output_printf(out, "%s.BR calc\\-%s (1)", glue,
                               calc_command_word(calc_command_list[i]));
            glue = ",\n";
        }
    }
    calc_output_text(out, "\n");
}

static void calc_man_page(calc_output *out, const calc_command *command)
{
    calc_output_text(out, ".TH CALC");
    const char *word = command ? calc_command_word(command) : "";
    for (const char *name = word; *name; name++) {
        calc_output_printf(out, "%s%c", name == word ? "\\-" : "",
                           *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
    }
    calc_output_printf(out, " 1 \"\" \"calc %s\" \"User Commands\"\n", CALC_VERSION);
    write_section(out, "NAME");
    calc_output_printf(out, "calc%s%s \\- ", command ? "\\-" : "", word);
    write_text(out, command ? command->summary : purpose);
    calc_output_text(out, "\n");
    write_section(out, "SYNOPSIS");
    if (command) {
        man_command(out, command);
    } else {
        calc_output_text(out, ".B calc\nCOMMAND [ARGUMENT]... [OPTION]...\n");
        write_section(out, "COMMANDS");
        for (size_t i = 0; i < CALC_COMMANDS_SHOWN; i++) {
            write_item(out, calc_command_list[i]->name, calc_command_list[i]->summary);
        }
    }
    for (int i = 0; i < 2; i++) {
        write_section(out, i == 0 ? "EXIT STATUS" : "ENVIRONMENT");
        for (const help_pair *pair = i == 0 ? exits : environment; pair->word; pair++) {
            write_item(out, pair->word, pair->meaning);
        }
    }
    write_see_also(out, command);
}

/* Writes the completion scripts, which know the words allowed at each position. The scripts are
 * completion.bash, .zsh and .fish; bash and zsh share the tables of completion.cases. */

/* Writes a case, or lines, of one command. */
typedef void writer(calc_output *out, const calc_command *command);

static void write_words(calc_output *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        calc_output_printf(out, "%s%s", i ? " " : "", words[i]);
    }
}

/* Cases "command/option before the word": the values of that option. */
static void write_values(calc_output *out, const calc_command *command)
{
    for (const calc_opt *opt = command->opts; opt->name; opt++) {
        if (opt->choices) {
            calc_output_printf(out, "        %s/--%s) choices=\"", calc_command_word(command),
                               opt->name);
            write_words(out, opt->choices);
            calc_output_text(out, "\" ;;\n");
        } else if (opt->value && strcmp(opt->value, "FILE") == 0) {
            calc_output_printf(out, "        %s/--%s) files=yes ;;\n", calc_command_word(command),
                               opt->name);
        }
    }
}

/* Names of documents: of executions those of the model, if there are some. */
static void write_names(calc_output *out, const calc_arg *arg)
{
    bool layout = arg->kind == CALC_KIND_EXEC;
    calc_output_printf(out, "files=yes choices=$(\"$program\" show names %s%s 2>/dev/null)",
                       calc_kind_name(arg->kind), layout ? " \"${word:-$model}\"" : "");
    if (arg->or_next) {
        calc_output_printf(out, "\" \"$(\"$program\" show names %s 2>/dev/null)",
                           calc_kind_name(arg[1].kind));
    }
    if (layout) {
        calc_output_text(out,
                         "\n            [[ -n $choices ]] || choices=$(\"$program\" show names exe "
                         "2>/dev/null)");
    }
}

/* Cases "command/number of arguments before the word": the values of that argument. */
static void write_arguments(calc_output *out, const calc_command *command)
{
    for (const calc_arg *arg = command->args; arg->name; arg++) {
        if (!arg->names_document && !arg->choices) {
            continue;
        }
        calc_output_printf(out, arg->repeated ? "        %s/*) " : "        %s/%d) ",
                           calc_command_word(command), (int)(arg - command->args));
        if (arg->names_document) {
            write_names(out, arg);
        } else {
            calc_output_text(out, "choices=\"");
            write_words(out, arg->choices);
            calc_output_text(out, "\"");
        }
        calc_output_text(out, " ;;\n");
    }
}

static void complete_options(calc_output *out, const calc_command *command)
{
    calc_output_printf(out, "        %s) options=\"", calc_command_word(command));
    for (const calc_opt *opt = command->opts; opt->name; opt++) {
        if (!opt->unlisted) {
            calc_output_printf(out, "--%s ", opt->name);
        }
    }
    calc_output_text(out, "--help\" ;;\n");
}

/* fish: a line per option and argument, with its meaning. */
/* In single quotes. */
static void write_quoted(calc_output *out, const char *text)
{
    calc_output_text(out, "'");
    write_escaped(out, text, "'\\", '\\');
    calc_output_text(out, "'");
}

static void write_fish_options(calc_output *out, const calc_command *command)
{
    static const struct {
        const char *opt, *of;
    } fields[] = {{"set", "= app sys exe"},     {"axis", "= app sys exe"},
                  {"where", "\"\" exe stats"},  {"columns", "\"\" exe stats"},
                  {"objectives", "\"\" stats"}, {"top-by", "\"\" stats"}};
    for (const calc_opt *opt = command->opts; opt->name; opt++) {
        bool file = opt->value && strcmp(opt->value, "FILE") == 0;
        if (opt->unlisted) {
            continue;
        }
        calc_output_printf(out, "complete -c calc -n '__calc_command %s' -l %s%s",
                           calc_command_word(command), opt->name,
                           !opt->value ? ""
                           : file      ? " -r -F"
                                       : " -x");
        if (opt->choices) {
            calc_output_text(out, " -a '");
            write_words(out, opt->choices);
            calc_output_text(out, "'");
        }
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            if (strcmp(opt->name, fields[i].opt) == 0) {
                calc_output_printf(out, " -a '(__calc_fields %s)'", fields[i].of);
            }
        }
        calc_output_text(out, " -d ");
        write_quoted(out, opt->doc);
        calc_output_text(out, "\n");
    }
}

static void write_fish_arguments(calc_output *out, const calc_command *command)
{
    for (const calc_arg *arg = command->args; arg->name; arg++) {
        if (!arg->names_document && !arg->choices) {
            continue;
        }
        calc_output_printf(out, "complete -c calc -n '__calc_command %s",
                           calc_command_word(command));
        if (!arg->repeated) {
            calc_output_printf(out, " %d", (int)(arg - command->args));
        }
        calc_output_text(out, arg->names_document ? "' -F -a '" : "' -a '");
        for (const calc_arg *a = arg; arg->names_document && a <= arg + arg->or_next; a++) {
            calc_output_printf(out,
                               a->kind == CALC_KIND_EXEC ? "(__calc_executions)"
                                                         : "(calc show names %s 2>/dev/null) ",
                               calc_kind_name(a->kind));
        }
        if (!arg->names_document) {
            write_words(out, arg->choices);
        }
        calc_output_text(out, "'\n");
    }
}

static void write_fish_rules(calc_output *out, const calc_command *command)
{
    if (calc_command_word(command) == command->name) {
        calc_output_printf(out, "complete -c calc -n __fish_use_subcommand -a %s -d ",
                           command->name);
        write_quoted(out, command->summary);
        calc_output_text(out, "\n");
    }
    write_fish_options(out, command);
    write_fish_arguments(out, command);
}

enum { BASH, FISH };

static void write_each(calc_output *out, int which)
{
    static writer *const writers[] = {complete_options, write_values, write_arguments,
                                      write_fish_rules};
    for (size_t i = 0; calc_command_list[i]; i++) {
        writers[which](out, calc_command_list[i]);
    }
}

static void write_commands(calc_output *out, int which)
{
    (void)which;
    for (size_t i = 0; i < CALC_COMMANDS_SHOWN; i++) {
        calc_output_printf(out, "%s ", calc_command_list[i]->name);
    }
    calc_output_text(out, "--help --version");
}

/* Options that take a value, so that the value is not counted as an argument: a pattern, or for
 * fish a word each. */
static void write_taking(calc_output *out, int which)
{
    const char *glue = which == FISH ? " " : "";
    for (size_t i = 0; calc_command_list[i]; i++) {
        for (const calc_opt *opt = calc_command_list[i]->opts; opt->name; opt++) {
            if (opt->value) {
                calc_output_printf(out, "%s%s/--%s", glue, calc_command_word(calc_command_list[i]),
                                   opt->name);
                glue = which == FISH ? " " : "|";
            }
        }
    }
}

static void write_cases(calc_output *out, int which)
{
    static const calc_fill_place places[] = {{"@options", write_each, 0},
                                             {"@values", write_each, 1},
                                             {"@arguments", write_each, 2},
                                             {0}};
    (void)which;
    calc_fill_write(out, calc_embedded_find(calc_completion_list, "cases"), places);
}

static const calc_fill_place shared[] = {{"@commands", write_commands, 0},
                                         {"@taking", write_taking, BASH},
                                         {"@choices\n", write_cases, 0},
                                         {0}};
static const calc_fill_place fish[] = {
    {"@taking", write_taking, FISH}, {"@rules", write_each, 3}, {0}};

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

#define OPTIONS(X)                                                                                 \
    X(MAN, "man", NULL, .doc = "write the manual page instead, in roff")                           \
    X(COMPLETION, "completion", "SHELL", .doc = "write a completion script for a shell instead",   \
      .choices = shells)

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    {.name = "COMMAND", .optional = true, .doc = "a command; none: calc itself"}, {0}};
static const char *const examples[] = {"calc help run", "calc help --man run | man -l -",
                                       "source <(calc help --completion bash)", NULL};

static calc_exit run(const calc_args *args)
{
    const calc_command *command = NULL;
    if (args->argument_count > 0) {
        const char *name = args->argument[0];
        command = calc_command_find(name, NULL);
        if (!command) {
            const char *nearest = calc_command_nearest(name);
            return calc_complain_usage(NULL,
                                       CALC_TEXT(256, "no command \"%.100s\"%s%s%s", name,
                                                 nearest ? ", did you mean \"" : "",
                                                 nearest ? nearest : "", nearest ? "\"?" : ""));
        }
    }
    const char *shell = calc_opt_value(args, OPT_COMPLETION);
    if (shell) {
        calc_output *out = calc_write_to("-");
        calc_fill_write(out, calc_embedded_find(calc_completion_list, shell),
                        strcmp(shell, "fish") == 0 ? fish : shared);
        return calc_write_end(out);
    }
    bool man = calc_opt_value(args, OPT_MAN) != NULL;
    return calc_help_show(man ? calc_man_page : calc_help_text, command);
}

const calc_command calc_cmd_help = {
    .name = "help",
    .summary = "show the help of a command, its manual page or shell completion",
    .detail = "Shows the help of a command, like `calc COMMAND --help`. The manual pages and the "
              "completion scripts are made from the same rows.",
    CALC_COMMAND_PARTS};
