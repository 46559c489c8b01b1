#include "cli/shell/help.h"

#include <stdio.h>
#include <string.h>

#include "balance/solver.h"
#include "base/buffer.h"
#include "calibrate/least_squares.h"
#include "cli/shell/complain.h"
#include "formats/read.h"
#include "io/libraries.h"

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

const char calc_help_purpose[] = "analytical performance model of large language models";

const char calc_help_brief[] =
    "Usage: calc COMMAND [ARGUMENT]... [OPTION]...\n\n"
    "Which layout?         calc sweep qwen3-235B-A22B h200 --procs 256 --batch 1024\n"
    "Where does time go?   calc run llama3-8B h100_sxm --procs 64 --batch 256\n"
    "What would help?      calc why llama3-8B h100_sxm --procs 64 --batch 256\n"
    "How do I start it?    calc export llama3-8B h100_sxm llama3-8B_8\n"
    "Is my model there?    calc names app; or calc import config.json --app model.json\n\n"
    "See: calc --help\n";

const calc_help_pair calc_help_exits[] = {
#define CALC_X(name, meaning) {(const char[]){'0' + CALC_EXIT_##name, '\0'}, meaning},
    CALC_EXIT_LIST(CALC_X)
#undef CALC_X
        {0}};

const calc_help_pair calc_help_environment[] = {
    {"CALC_PATH", "directories, separated by colons, searched first for bare names; each holds "
                  "models/, systems/ and executions/"},
    {"COLUMNS", "width of drawings and tables; by default that of the terminal, or 80"},
    {"NO_COLOR", "if set and not empty, output is not coloured"},
    {"LC_ALL, LC_CTYPE, LANG", "if they name UTF-8, bars and drawings use Unicode"},
    {0}};

void calc_help_wrapped(calc_output *out, const char *text, int column)
{
    int at = column;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > WIDTH) {
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

static void write_pair(calc_output *out, const char *word, const char *meaning, int column)
{
    calc_output_printf(out, "%*s%-*s", INDENT, "", column - INDENT, word);
    if ((int)strlen(word) + INDENT + GAP > column) {
        calc_output_printf(out, "\n%*s", column, "");
    }
    calc_help_wrapped(out, meaning, column);
}

static void write_pairs(calc_output *out, const char *title, const calc_help_pair *pairs,
                        int column)
{
    calc_output_printf(out, "\n%s:\n", title);
    for (; pairs->word; pairs++) {
        write_pair(out, pairs->word, pairs->meaning, column);
    }
}

const char *calc_help_opt_doc(const calc_opt *opt, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s", opt->doc, opt->choices ? "; " : "");
    calc_append_choices(buffer, size, opt->choices);
    if (opt->preset) {
        calc_append(buffer, size, " [%s]", opt->preset);
    }
    return calc_append(buffer, size, "%s", opt->repeated ? "; may be repeated" : "");
}

void calc_help_synopsis(calc_output *out, const calc_command *command)
{
    calc_output_text(out, command->name);
    for (const calc_arg *arg = command->args; arg->name; arg++) {
        calc_output_printf(out, arg->optional ? " [%s]%s" : " %s%s", arg->name,
                           arg->repeated ? "..." : "");
    }
    if (command->opts[0].name) {
        calc_output_text(out, " [OPTION]...");
    }
}

/* Sections of options; the first is "Options" if it has no other name. */
static void write_options(calc_output *out, const calc_opt *opt, int column)
{
    calc_output_text(out, opt->section ? "" : "\nOptions:\n");
    for (; opt->name; opt++) {
        char word[64], doc[512];
        if (opt->section) {
            calc_output_printf(out, "\n%s:\n", opt->section);
        }
        if (!opt->unlisted) {
            snprintf(word, sizeof word, "--%s%s%s", opt->name, opt->value ? " " : "",
                     opt->value ? opt->value : "");
            write_pair(out, word, calc_help_opt_doc(opt, doc, sizeof doc), column);
        }
    }
}

static void write_command(calc_output *out, const calc_command *command)
{
    enum { COLUMN = 22 };
    calc_output_text(out, "Usage: calc ");
    calc_help_synopsis(out, command);
    calc_output_text(out, "\n\n");
    calc_help_wrapped(out, command->detail, 0);
    if (command->args[0].name) {
        calc_output_text(out, "\nArguments:\n");
    }
    for (const calc_arg *arg = command->args; arg->name; arg++) {
        write_pair(out, arg->name, arg->doc, COLUMN);
    }
    write_options(out, command->opts, COLUMN);
    write_pair(out, "-h, --help", "show this help", COLUMN);
    calc_output_text(out, "\nExamples:\n");
    for (const char *const *example = command->examples; *example; example++) {
        calc_output_printf(out, "%*s%s\n", INDENT, "", *example);
    }
}

void calc_help_text(calc_output *out, const calc_command *command)
{
    if (command) {
        write_command(out, command);
        return;
    }
    calc_output_printf(out, "calc %s - %s\n\n", CALC_VERSION, calc_help_purpose);
    calc_output_text(out, "Usage: calc COMMAND [ARGUMENT]... [OPTION]...\n"
                          "       calc COMMAND --help\n"
                          "       calc --version\n\nCommands:\n");
    for (size_t i = 0; calc_command_list[i]; i++) {
        calc_output_text(out, i == CALC_COMMANDS_FIRST ? "\nMore:\n" : "");
        write_pair(out, calc_command_list[i]->name, calc_command_list[i]->summary, 13);
    }
    write_pairs(out, "Exit status", calc_help_exits, 12);
    write_pairs(out, "Environment", calc_help_environment, 28);
    calc_output_text(out, "\nExamples:\n");
    for (size_t i = 0; i < CALC_COMMANDS_FIRST; i++) {
        calc_output_printf(out, "%*s%s\n", INDENT, "", calc_command_list[i]->examples[0]);
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
    calc_output_printf(out, "%-10s%s, GSL %s, GLPK %s, libyaml %s\n", "libraries",
                       calc_libraries_text(libraries, sizeof libraries),
                       calc_least_squares_library(), calc_solver_glpk_library(),
                       calc_settings_yaml_library());
}

calc_exit calc_help_show(void (*write)(calc_output *out, const calc_command *command),
                         const calc_command *command)
{
    calc_errors errors = {0};
    calc_output *out;
    if (calc_output_open(&out, "-", &errors) == CALC_OK) {
        write(out, command);
        (void)!calc_output_close(out, &errors);
    }
    return calc_complain_errors(&errors);
}
