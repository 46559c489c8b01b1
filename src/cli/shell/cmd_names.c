#include <string.h>

#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/opt.h"
#include "io/output.h"
#include "spec/field.h"

static const char *const kinds[] = {"app", "sys", "exe", NULL};
static const calc_opt opts[] = {{0}};
static const calc_arg rows[] = {
    {.name = "KIND", .choices = kinds, .doc = "app, sys or exe: models, systems or executions"},
    {0}};
static const char *const examples[] = {"calc names app", "calc names exe", NULL};

static calc_exit run(const calc_args *args)
{
    calc_find_list list = {0};
    calc_errors errors = {0};
    calc_output *out;
    calc_kind kind = (calc_kind)calc_choice_index(kinds, args->argument[0]);
    if (calc_find_names(kind, &list, &errors) == CALC_OK &&
        calc_output_open(&out, "-", &errors) == CALC_OK) {
        for (size_t i = 0; i < list.count; i++) {
            /* Spaces of calc sweep are kept beside executions, but are none. */
            bool hidden = strncmp(list.entry[i].name, "spaces/", 7) == 0;
            for (size_t j = 0; j < i && !hidden; j++) {
                hidden = strcmp(list.entry[j].name, list.entry[i].name) == 0;
            }
            if (!hidden) {
                calc_output_printf(out, "%s\n", list.entry[i].name);
            }
        }
        (void)!calc_output_close(out, &errors);
    }
    calc_find_free(&list);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_names = {
    .name = "names",
    .summary = "list the models, systems or executions that have bare names",
    .detail = "Lists the documents in the data directories, one name per line: those of CALC_PATH "
              "first, then those that came with calc. An execution \"folder/name\" may be called "
              "\"name\" where that is unique.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
