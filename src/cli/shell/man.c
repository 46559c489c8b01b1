/* Writes manual pages, in roff with the man macros. */
#include <stdio.h>

#include "cli/shell/help.h"

/* Text that roff takes literally: dashes stay dashes, and no line is a request. */
static void write_text(calc_output *out, const char *text)
{
    if (*text == '.' || *text == '\'') {
        calc_output_text(out, "\\&");
    }
    for (; *text; text++) {
        if (*text == '-') {
            calc_output_text(out, "\\-");
        } else if (*text == '\\') {
            calc_output_text(out, "\\e");
        } else {
            calc_output_write(out, text, 1);
        }
    }
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

static void write_pairs(calc_output *out, const char *title, const calc_help_pair *pairs)
{
    write_section(out, title);
    for (; pairs->word; pairs++) {
        write_item(out, pairs->word, pairs->meaning);
    }
}

static void write_options(calc_output *out, const calc_command *command)
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

static void write_examples(calc_output *out, const char *const *examples)
{
    write_section(out, "EXAMPLES");
    calc_output_text(out, ".nf\n");
    for (; *examples; examples++) {
        write_text(out, *examples);
        calc_output_text(out, "\n");
    }
    calc_output_text(out, ".fi\n");
}

static void write_command(calc_output *out, const calc_command *command)
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
    write_options(out, command);
    write_examples(out, command->examples);
}

static void write_overview(calc_output *out)
{
    calc_output_text(out, ".B calc\nCOMMAND [ARGUMENT]... [OPTION]...\n");
    write_section(out, "COMMANDS");
    for (size_t i = 0; calc_command_list[i]; i++) {
        write_item(out, calc_command_list[i]->name, calc_command_list[i]->summary);
    }
}

static void write_see_also(calc_output *out, const calc_command *command)
{
    write_section(out, "SEE ALSO");
    calc_output_text(out, command ? ".BR calc (1)" : "");
    const char *glue = command ? ",\n" : "";
    for (size_t i = 0; calc_command_list[i]; i++) {
        if (calc_command_list[i] != command) {
            calc_output_printf(out, "%s.BR calc\\-%s (1)", glue, calc_command_list[i]->name);
            glue = ",\n";
        }
    }
    calc_output_text(out, "\n");
}

void calc_man_page(calc_output *out, const calc_command *command)
{
    calc_output_text(out, ".TH CALC");
    for (const char *name = command ? command->name : ""; *name; name++) {
        calc_output_printf(out, "%s%c", name == command->name ? "\\-" : "",
                           *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
    }
    calc_output_printf(out, " 1 \"\" \"calc %s\" \"User Commands\"\n", CALC_VERSION);
    write_section(out, "NAME");
    calc_output_printf(out, "calc%s%s \\- ", command ? "\\-" : "", command ? command->name : "");
    write_text(out, command ? command->summary : calc_help_purpose);
    calc_output_text(out, "\n");
    write_section(out, "SYNOPSIS");
    if (command) {
        write_command(out, command);
    } else {
        write_overview(out);
    }
    write_pairs(out, "EXIT STATUS", calc_help_exits);
    write_pairs(out, "ENVIRONMENT", calc_help_environment);
    write_see_also(out, command);
}
