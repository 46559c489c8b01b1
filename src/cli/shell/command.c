#include "cli/shell/command.h"

#include <string.h>

#include "base/error.h"

const calc_command *const calc_command_list[] = {
    &calc_cmd_run,      &calc_cmd_sweep,  &calc_cmd_plan,   &calc_cmd_tune,
    &calc_cmd_rl,       &calc_cmd_why,    &calc_cmd_export, &calc_cmd_import,
    &calc_cmd_validate, &calc_cmd_trace,  &calc_cmd_diff,   &calc_cmd_explain,
    &calc_cmd_params,   &calc_cmd_names,  &calc_cmd_fields, &calc_cmd_calibrate,
    &calc_cmd_merge,    &calc_cmd_report, &calc_cmd_app,    &calc_cmd_serve,
    &calc_cmd_schema,   &calc_cmd_as,     &calc_cmd_help,   NULL};

enum { COMMANDS = sizeof calc_command_list / sizeof *calc_command_list - 1 };

const calc_command *calc_command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(calc_command_list[i]->name, name) == 0) {
            return calc_command_list[i];
        }
    }
    return NULL;
}

const char *calc_command_nearest(const char *name)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = calc_command_list[i]->name;
    }
    return calc_nearest(name, names);
}
