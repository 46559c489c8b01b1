#include "cli/as/flags.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/as/taylor.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"

void calc_as_tell_unused(const calc_args *args)
{
    char list[512] = "";
    for (int i = 0; args->command->opts[i].name; i++) {
        if (args->command->opts[i].unused && calc_opt_given(args, i)) {
            calc_append(list, sizeof list, "%s%s", *list ? ", " : "", args->command->opts[i].name);
        }
    }
    if (*list) {
        calc_say("calc %s: no effect here: %s\n", args->command->name, list);
    }
}

void calc_as_tell_notes(const calc_args *args, const calc_notes *notes)
{
    for (int i = 0; i < notes->count; i++) {
        calc_say("calc %s: %s\n", args->command->name, notes->text[i]);
    }
    if (notes->dropped > 0) {
        calc_say("calc %s: and %d more\n", args->command->name, notes->dropped);
    }
}

void calc_as_put_notes(calc_put *put, const calc_notes *notes)
{
    calc_put_array(put, "notes", CALC_PUT_LINES);
    for (int i = 0; i < notes->count; i++) {
        calc_put_text(put, NULL, notes->text[i]);
    }
    calc_put_close(put);
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

/* A planner needs a row in both lists. */
static const char *const planners[] = {"taylor",           "aiak",      "galvatron",
                                       "galvatron-paddle", "mindspeed", NULL};
static const calc_command *const tools[] = {
    &calc_as_taylor_nd, &calc_as_taylor_rank,      &calc_as_taylor_balance, &calc_as_aiak,
    &calc_as_galvatron, &calc_as_galvatron_paddle, &calc_as_mindspeed,      NULL};

static const calc_opt opts[] = {{0}};
static const calc_arg rows[] = {
    {"PLANNER", .choices = planners, .doc = "whose programs and flags are meant"},
    {"WORD", .optional = true, .repeated = true,
     .doc = "the program of the planner if it has more than one, then its flags"},
    {0}};
static const char *const examples[] = {"calc as taylor --help", "calc as taylor nd --help", NULL};

/* The name of a tool's program where it is of the planner, "nd" of "as taylor nd"; else NULL. */
static const char *program_of(const calc_command *tool, const char *planner)
{
    const char *name = tool->name + strlen("as ");
    size_t length = strlen(planner);
    return strncmp(name, planner, length) == 0 && name[length] == ' ' ? name + length + 1 : NULL;
}

static calc_exit show_programs(const char *planner)
{
    calc_output *out = calc_write_to("-");
    calc_output_printf(out, "Usage: calc as %s PROGRAM [FLAG]...\n\nPrograms:\n", planner);
    for (size_t i = 0; tools[i]; i++) {
        if (program_of(tools[i], planner)) {
            calc_output_printf(out, "  %-10s", program_of(tools[i], planner));
            calc_help_wrapped(out, tools[i]->summary, 12);
        }
    }
    return calc_write_end(out);
}

static calc_exit complain_program(const calc_args *args)
{
    const char *list[16] = {NULL}, *planner = args->argument[0];
    char choices[128] = "";
    for (size_t i = 0, count = 0; tools[i]; i++) {
        list[count] = program_of(tools[i], planner);
        count += list[count] != NULL;
    }
    calc_append_choices(choices, sizeof choices, list);
    return calc_complain_usage(
        &calc_cmd_as,
        args->argument_count < 2
            ? CALC_TEXT(512, "%s: missing the program, which is %s", planner, choices)
            : CALC_TEXT(512, "%s: \"%.60s\" is not %s", planner, args->argument[1], choices));
}

static calc_exit run(const calc_args *args)
{
    const char *program = args->argument_count > 1 ? args->argument[1] : "";
    for (size_t i = 0; tools[i]; i++) {
        const char *own = program_of(tools[i], args->argument[0]);
        size_t words = own ? 2 : 1;
        if (own ? strcmp(own, program) == 0
                : strcmp(tools[i]->name + strlen("as "), args->argument[0]) == 0) {
            return calc_command_run(tools[i], args->argument_count - words,
                                    (char *const *)(args->argument + words));
        }
    }
    return strcmp(program, "-h") == 0 || strcmp(program, "--help") == 0
               ? show_programs(args->argument[0])
               : complain_program(args);
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
