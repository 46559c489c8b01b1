#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/as/flags.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/opt.h"

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
static const calc_as_tool *find(const calc_args *args, size_t *words)
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
    const calc_as_tool *tool = find(args, &words);
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
