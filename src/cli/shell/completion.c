/* Completion scripts: which words may stand where. bash and zsh share the tables of cases. */
#include <string.h>

#include "cli/shell/help.h"

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
            calc_output_printf(out, "choices=$(\"$program\" names %s 2>/dev/null) files=yes",
                               calc_kind_name(arg->kind));
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

/* Counts the arguments before the word: `first` is where they start, `current` where the word is.
 */
static void write_counting(calc_output *out, const char *first, const char *current,
                           const char *word)
{
    calc_output_printf(out,
                       "    for ((i = %s; i < %s; i++)); do\n"
                       "        case $command/%s in\n"
                       "        ",
                       first, current, word);
    write_taking(out);
    calc_output_text(out, ") ((i++)) ;;\n"
                          "        */-?*) ;;\n"
                          "        *) ((place++)) ;;\n"
                          "        esac\n"
                          "    done\n");
}

static void write_commands(calc_output *out)
{
    for (size_t i = 0; calc_command_list[i]; i++) {
        calc_output_printf(out, "%s ", calc_command_list[i]->name);
    }
    calc_output_text(out, "--help --version");
}

/* What may stand at the word, as choices and files. */
static void write_tables(calc_output *out)
{
    write_cases(out, "$command", write_options);
    write_cases(out, "$command/$before", write_values);
    calc_output_text(out, "    if [[ $word == -* ]]; then\n"
                          "        choices=$options files=''\n"
                          "    elif [[ -z $choices$files ]]; then\n");
    write_cases(out, "$command/$place", write_arguments);
    calc_output_text(out, "    fi\n");
}

void calc_completion_bash(calc_output *out, const calc_command *command)
{
    (void)command;
    calc_output_text(out, "# bash completion for calc, made by `calc help --completion bash`\n"
                          "_calc()\n"
                          "{\n"
                          "    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}\n"
                          "    local word=${COMP_WORDS[COMP_CWORD]}\n"
                          "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                          "    local choices='' options='' files='' place=0 i\n"
                          "    if ((COMP_CWORD == 1)); then\n"
                          "        choices=\"");
    write_commands(out);
    calc_output_text(out, "\"\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$word\")\n"
                          "        return\n"
                          "    fi\n");
    write_counting(out, "2", "COMP_CWORD", "${COMP_WORDS[i]}");
    write_tables(out);
    calc_output_text(out, "    mapfile -t COMPREPLY < <(\n"
                          "        compgen -W \"$choices\" -- \"$word\"\n"
                          "        [[ -z $files ]] || compgen -f -- \"$word\"\n"
                          "    )\n"
                          "}\n"
                          "complete -o filenames -F _calc calc\n");
}

void calc_completion_zsh(calc_output *out, const calc_command *command)
{
    (void)command;
    calc_output_text(out, "#compdef calc\n"
                          "# zsh completion for calc, made by `calc help --completion zsh`\n"
                          "_calc()\n"
                          "{\n"
                          "    local program=$words[1] command=$words[2] word=$words[CURRENT]\n"
                          "    local before=$words[CURRENT-1]\n"
                          "    local choices='' options='' files='' place=0 i\n"
                          "    if ((CURRENT == 2)); then\n"
                          "        choices=\"");
    write_commands(out);
    calc_output_text(out, "\"\n"
                          "        compadd -- ${=choices}\n"
                          "        return\n"
                          "    fi\n");
    write_counting(out, "3", "CURRENT", "$words[i]");
    write_tables(out);
    calc_output_text(out, "    [[ -z $choices ]] || compadd -- ${=choices}\n"
                          "    [[ -z $files ]] || _files\n"
                          "}\n"
                          "if [[ $funcstack[1] = _calc ]]; then\n"
                          "    _calc \"$@\"\n"
                          "else\n"
                          "    compdef _calc calc\n"
                          "fi\n");
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
    for (const calc_opt *opt = command->opts; opt->name; opt++) {
        bool file = opt->value && strcmp(opt->value, "FILE") == 0;
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
            calc_output_printf(out, "' -F -a '(calc names %s 2>/dev/null)'\n",
                               calc_kind_name(arg->kind));
        } else {
            calc_output_text(out, "' -a '");
            write_words(out, arg->choices);
            calc_output_text(out, "'\n");
        }
    }
}

/* Options that take a value, one quoted word each. */
static void write_fish_taking(calc_output *out)
{
    for (size_t i = 0; calc_command_list[i]; i++) {
        for (const calc_opt *opt = calc_command_list[i]->opts; opt->name; opt++) {
            if (opt->value) {
                calc_output_printf(out, " %s/--%s", calc_command_list[i]->name, opt->name);
            }
        }
    }
}

void calc_completion_fish(calc_output *out, const calc_command *command)
{
    (void)command;
    calc_output_text(
        out, "# fish completion for calc, made by `calc help --completion fish`\n"
             "# __calc_command NAME [PLACE]: the command is NAME and PLACE arguments are there\n"
             "function __calc_command\n"
             "    set -l tokens (commandline -opc)\n"
             "    test (count $tokens) -ge 2; and test $tokens[2] = $argv[1]; or return 1\n"
             "    set -q argv[2]; or return 0\n"
             "    set -l place 0\n"
             "    set -l skip no\n"
             "    for token in $tokens[2..-1]\n"
             "        if test $skip = yes\n"
             "            set skip no\n"
             "            continue\n"
             "        end\n"
             "        switch $argv[1]/$token\n"
             "            case");
    write_fish_taking(out);
    calc_output_text(out, "\n"
                          "                set skip yes\n"
                          "            case '*/-?*'\n"
                          "            case '*'\n"
                          "                set place (math $place + 1)\n"
                          "        end\n"
                          "    end\n"
                          "    test $place -eq (math $argv[2] + 1)\n"
                          "end\n"
                          "complete -c calc -f\n"
                          "complete -c calc -n __fish_use_subcommand -l version\n"
                          "complete -c calc -s h -l help\n");
    for (size_t i = 0; calc_command_list[i]; i++) {
        const calc_command *each = calc_command_list[i];
        calc_output_printf(out, "complete -c calc -n __fish_use_subcommand -a %s -d ", each->name);
        write_quoted(out, each->summary);
        calc_output_text(out, "\n");
        write_fish_options(out, each);
        write_fish_arguments(out, each);
    }
}
