#include <stdio.h>
#include <string.h>

#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/opt.h"

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

#define OPTIONS(X)                                                                                 \
    X(MAN, "man", NULL, .doc = "write the manual page instead, in roff")                           \
    X(COMPLETION, "completion", "SHELL", .doc = "write a completion script for a shell instead",   \
      .choices = shells)

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    {.name = "COMMAND", .optional = true, .doc = "a command; none: calc itself"}, {0}};
static const char *const examples[] = {"calc help run", "calc help --man run | man -l -",
                                       "source <(calc help --completion bash)", NULL};

static calc_exit run(const calc_args *args)
{
    const calc_command *command = NULL;
    if (args->argument_count > 0) {
        const char *name = args->argument[0];
        command = calc_command_find(name);
        if (!command) {
            char text[256];
            const char *nearest = calc_command_nearest(name);
            snprintf(text, sizeof text, "no command \"%.100s\"%s%s%s", name,
                     nearest ? ", did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
            return calc_complain_usage(NULL, text);
        }
    }
    const char *shell = calc_opt_value(args, OPT_COMPLETION);
    if (shell) {
        return calc_help_show(strcmp(shell, "bash") == 0  ? calc_completion_bash
                              : strcmp(shell, "zsh") == 0 ? calc_completion_zsh
                                                          : calc_completion_fish,
                              NULL);
    }
    bool man = calc_opt_value(args, OPT_MAN) != NULL;
    return calc_help_show(man ? calc_man_page : calc_help_text, command);
}

const calc_command calc_cmd_help = {
    .name = "help",
    .summary = "show the help of a command, its manual page or shell completion",
    .detail = "Shows the help of a command, like `calc COMMAND --help`. The manual pages and the "
              "completion scripts are made from the same rows.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
