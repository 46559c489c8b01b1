/* Writes the completion scripts, which know the words allowed at each position. The scripts are
 * completion.bash, .zsh and .fish; bash and zsh share the tables of completion.cases. */
#include <string.h>

#include "cli/shell/fill.h"
#include "cli/shell/help.h"

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
            calc_output_printf(out, "        %s/--%s) choices=\"", command->name, opt->name);
            write_words(out, opt->choices);
            calc_output_text(out, "\" ;;\n");
        } else if (opt->value && strcmp(opt->value, "FILE") == 0) {
            calc_output_printf(out, "        %s/--%s) files=yes ;;\n", command->name, opt->name);
        }
    }
}

/* Names of documents: of executions those of the model, if there are some. */
static void write_names(calc_output *out, const calc_arg *arg)
{
    bool layout = arg->kind == CALC_KIND_EXEC;
    calc_output_printf(out, "files=yes choices=$(\"$program\" names %s%s 2>/dev/null)",
                       calc_kind_name(arg->kind), layout ? " \"${word:-$model}\"" : "");
    if (arg->or_next) {
        calc_output_printf(out, "\" \"$(\"$program\" names %s 2>/dev/null)",
                           calc_kind_name(arg[1].kind));
    }
    if (layout) {
        calc_output_text(out, "\n            [[ -n $choices ]] || choices=$(\"$program\" names exe "
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
        if (arg->repeated) {
            calc_output_printf(out, "        %s/*) ", command->name);
        } else {
            calc_output_printf(out, "        %s/%d) ", command->name, (int)(arg - command->args));
        }
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

static void write_options(calc_output *out, const calc_command *command)
{
    calc_output_printf(out, "        %s) options=\"", command->name);
    for (const calc_opt *opt = command->opts; opt->name; opt++) {
        if (!opt->unlisted) {
            calc_output_printf(out, "--%s ", opt->name);
        }
    }
    calc_output_text(out, "--help\" ;;\n");
}

/* ---- fish: a line per option and argument, with its meaning ---------------------------------- */

/* In single quotes. */
static void write_quoted(calc_output *out, const char *text)
{
    calc_output_text(out, "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') {
            calc_output_text(out, "\\");
        }
        calc_output_write(out, text, 1);
    }
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
        calc_output_printf(out, "complete -c calc -n '__calc_command %s' -l %s%s", command->name,
                           opt->name,
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
        calc_output_printf(out, "complete -c calc -n '__calc_command %s", command->name);
        if (!arg->repeated) {
            calc_output_printf(out, " %d", (int)(arg - command->args));
        }
        if (arg->names_document) {
            calc_output_printf(out, "' -F -a '(calc names %s 2>/dev/null)%s%s%s'\n",
                               calc_kind_name(arg->kind), arg->or_next ? " (calc names " : "",
                               arg->or_next ? calc_kind_name(arg[1].kind) : "",
                               arg->or_next ? " 2>/dev/null)" : "");
        } else {
            calc_output_text(out, "' -a '");
            write_words(out, arg->choices);
            calc_output_text(out, "'\n");
        }
    }
}

static void write_fish_rules(calc_output *out, const calc_command *command)
{
    calc_output_printf(out, "complete -c calc -n __fish_use_subcommand -a %s -d ", command->name);
    write_quoted(out, command->summary);
    calc_output_text(out, "\n");
    write_fish_options(out, command);
    write_fish_arguments(out, command);
}

/* ---- Scripts --------------------------------------------------------------------------------- */

enum { BASH, FISH };

static void write_each(calc_output *out, int which)
{
    static writer *const writers[] = {write_options, write_values, write_arguments,
                                      write_fish_rules};
    for (size_t i = 0; calc_command_list[i]; i++) {
        writers[which](out, calc_command_list[i]);
    }
}

static void write_commands(calc_output *out, int which)
{
    (void)which;
    for (size_t i = 0; calc_command_list[i]; i++) {
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
                calc_output_printf(out, "%s%s/--%s", glue, calc_command_list[i]->name, opt->name);
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
    calc_fill_write(out, &calc_completion_cases_file, places);
}

static const calc_fill_place shared[] = {{"@commands", write_commands, 0},
                                         {"@taking", write_taking, BASH},
                                         {"@choices\n", write_cases, 0},
                                         {0}};

void calc_completion_bash(calc_output *out, const calc_command *command)
{
    (void)command;
    calc_fill_write(out, &calc_completion_bash_file, shared);
}

void calc_completion_zsh(calc_output *out, const calc_command *command)
{
    (void)command;
    calc_fill_write(out, &calc_completion_zsh_file, shared);
}

void calc_completion_fish(calc_output *out, const calc_command *command)
{
    static const calc_fill_place places[] = {
        {"@taking", write_taking, FISH}, {"@rules", write_each, 3}, {0}};
    (void)command;
    calc_fill_write(out, &calc_completion_fish_file, places);
}
