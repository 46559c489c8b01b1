/* A completion script for bash: which words may stand where. */
#include <string.h>

#include "cli/help.h"

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
            calc_output_printf(out, "        %s/--%s) words=\"", command->name, opt->name);
            write_words(out, opt->choices);
            calc_output_text(out, "\" ;;\n");
        } else if (opt->value && strcmp(opt->value, "FILE") == 0) {
            calc_output_printf(out, "        %s/--%s) files=yes ;;\n", command->name, opt->name);
        }
    }
}

/* Cases "command/how many arguments come before the word": what that argument may be. */
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
            calc_output_printf(out, "words=$(\"${COMP_WORDS[0]}\" names %s 2>/dev/null) files=yes",
                               calc_kind_name(arg->kind));
        } else {
            calc_output_text(out, "words=\"");
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
        calc_output_printf(out, "--%s ", opt->name);
    }
    calc_output_text(out, "--help\" ;;\n");
}

/* Options that take a value, so that the value is not counted as an argument. */
static void write_taking(calc_output *out)
{
    const char *glue = "";
    for (size_t i = 0; calc_command_list[i]; i++) {
        for (const calc_opt *opt = calc_command_list[i]->opts; opt->name; opt++) {
            if (opt->value) {
                calc_output_printf(out, "%s%s/--%s", glue, calc_command_list[i]->name, opt->name);
                glue = "|";
            }
        }
    }
}

static void write_cases(calc_output *out, const char *subject,
                        void (*write)(calc_output *out, const calc_command *command))
{
    calc_output_printf(out, "    case %s in\n", subject);
    for (size_t i = 0; calc_command_list[i]; i++) {
        write(out, calc_command_list[i]);
    }
    calc_output_text(out, "    esac\n");
}

void calc_completion_bash(calc_output *out, const calc_command *command)
{
    (void)command;
    calc_output_text(out, "# bash completion for calc, made by `calc help --completion bash`\n"
                          "_calc()\n"
                          "{\n"
                          "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
                          "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                          "    local words='' options='' files='' place=0 i\n"
                          "    if ((COMP_CWORD == 1)); then\n"
                          "        words=\"");
    for (size_t i = 0; calc_command_list[i]; i++) {
        calc_output_printf(out, "%s ", calc_command_list[i]->name);
    }
    calc_output_text(out, "--help --version\"\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                          "        return\n"
                          "    fi\n"
                          "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                          "        case $command/${COMP_WORDS[i]} in\n"
                          "        ");
    write_taking(out);
    calc_output_text(out, ") ((i++)) ;;\n"
                          "        */-?*) ;;\n"
                          "        *) ((place++)) ;;\n"
                          "        esac\n"
                          "    done\n");
    write_cases(out, "$command", write_options);
    write_cases(out, "$command/$before", write_values);
    calc_output_text(out, "    if [[ $word == -* ]]; then\n"
                          "        words=$options files=''\n"
                          "    elif [[ -z $words$files ]]; then\n");
    write_cases(out, "$command/$place", write_arguments);
    calc_output_text(out, "    fi\n"
                          "    mapfile -t COMPREPLY < <(\n"
                          "        compgen -W \"$words\" -- \"$word\"\n"
                          "        [[ -z $files ]] || compgen -f -- \"$word\"\n"
                          "    )\n"
                          "}\n"
                          "complete -o filenames -F _calc calc\n");
}
