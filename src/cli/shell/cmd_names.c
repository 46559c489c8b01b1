#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "io/output.h"
#include "spec/field.h"

#define OPTIONS(X)                                                                                 \
    X(LONG, "long", NULL,                                                                          \
      .doc = "say what each of them is, behind its name, as on a terminal: parameters of models, " \
             "whether machines are calibrated, sizes of executions")                               \
    X(SHORT, "short", NULL, .doc = "names only, as in a pipe")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const char *const kinds[] = {"app", "sys", "exe", NULL};
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    {.name = "KIND", .choices = kinds, .doc = "app, sys or exe: models, systems or executions"},
    {0}};
static const char *const examples[] = {"calc names app", "calc names sys --long", NULL};

enum { LINE_SIZE = 256 };

static void describe_app(const calc_input *input, const calc_app *app, char line[LINE_SIZE])
{
    char total[CALC_HUMAN_MAX], active[CALC_HUMAN_MAX], remark[CALC_REMARK_SIZE];
    calc_parameters p;
    calc_count_parameters(app, &p);
    const char *attention = app->kv_lora_rank > 0                                    ? "latent"
                            : app->kv_heads == 0 || app->kv_heads == app->attn_heads ? "multi-head"
                            : app->kv_heads == 1                                     ? "multi-query"
                                                 : "grouped-query";
    int used = snprintf(line, LINE_SIZE, "%10s  %s", calc_human_count(p.total, total), attention);
    if (app->num_experts > 0) {
        used += snprintf(line + used, (size_t)(LINE_SIZE - used),
                         ", %lld of %lld experts, %s active", (long long)app->experts_per_token,
                         (long long)app->num_experts, calc_human_count(p.active, active));
    }
    if (*calc_input_remark(input, CALC_KIND_APP, app, remark)) {
        snprintf(line + used, (size_t)(LINE_SIZE - used),
                 ", full square of attention (Calculon's)");
    }
}

static void describe_system(const calc_input *input, const calc_system *system,
                            char line[LINE_SIZE])
{
    char rate[CALC_HUMAN_MAX], memory[32];
    const double bytes = system->chip.mem1.capacity_bytes;
    bool limited = bytes < 1e15; /* files give a huge number for memory without limit */
    snprintf(line, LINE_SIZE, "%7s TFLOP/s %9s GiB  %s",
             calc_human_number(system->chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s / 1e12, rate),
             limited ? calc_number_text(bytes, 0x1p30, memory) : "unlimited",
             calc_remark_origin_text(calc_remark_read(&input->text).origin));
}

static void describe_exec(const calc_exec *e, char line[LINE_SIZE])
{
    char procs[CALC_HUMAN_MAX];
    int used =
        snprintf(line, LINE_SIZE, "%8s processors: tensor %lld, pipeline %lld, data %lld",
                 calc_human_integer((double)e->num_procs, procs), (long long)e->strategy.tensor_par,
                 (long long)e->pipeline_par, (long long)e->strategy.data_par);
    if (e->strategy.expert_par > 1) {
        snprintf(line + used, (size_t)(LINE_SIZE - used), ", expert %lld",
                 (long long)e->strategy.expert_par);
    }
}

/* The description of a document; "" if it cannot be read. */
static void describe(calc_kind kind, const char *path, char line[LINE_SIZE])
{
    union {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } object;
    calc_input input = {0};
    calc_errors ignored = {0};
    line[0] = '\0';
    if (calc_input_load(&input, kind, &object, path, &ignored) == CALC_OK) {
        switch (kind) {
        case CALC_KIND_APP:
            describe_app(&input, &object.app, line);
            break;
        case CALC_KIND_SYSTEM:
            describe_system(&input, &object.system, line);
            break;
        default:
            describe_exec(&object.exec, line);
        }
    }
    calc_text_free(&input.text);
}

/* Spaces of calc sweep lie beside executions, but are not executions; the first of a name
 * counts. */
static bool is_hidden(const calc_find_list *list, size_t i)
{
    bool hidden = strncmp(list->entry[i].name, "spaces/", 7) == 0;
    for (size_t j = 0; j < i && !hidden; j++) {
        hidden = strcmp(list->entry[j].name, list->entry[i].name) == 0;
    }
    return hidden;
}

static void write_names(calc_output *out, calc_kind kind, const calc_find_list *list,
                        bool described)
{
    size_t width = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t length = strlen(list->entry[i].name);
        width = !is_hidden(list, i) && length > width ? length : width;
    }
    for (size_t i = 0; i < list->count; i++) {
        char line[LINE_SIZE] = "";
        if (is_hidden(list, i)) {
            continue;
        }
        if (described) {
            describe(kind, list->entry[i].path, line);
        }
        if (line[0]) {
            calc_output_printf(out, "%-*s  %s\n", (int)width, list->entry[i].name, line);
        } else {
            calc_output_printf(out, "%s\n", list->entry[i].name);
        }
    }
}

static calc_exit run(const calc_args *args)
{
    calc_find_list list = {0};
    calc_errors errors = {0};
    calc_output *out;
    calc_kind kind = (calc_kind)calc_choice_index(kinds, args->argument[0]);
    bool described = calc_opt_value(args, OPT_LONG) ||
                     (!calc_opt_value(args, OPT_SHORT) && isatty(STDOUT_FILENO));
    if (calc_find_names(kind, &list, &errors) == CALC_OK &&
        calc_output_open(&out, "-", &errors) == CALC_OK) {
        write_names(out, kind, &list, described);
        (void)!calc_output_close(out, &errors);
    }
    calc_find_free(&list);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_names = {
    .name = "names",
    .summary = "list the models, systems or executions that have bare names",
    .detail = "Lists the documents in the data directories, one name per line: those of CALC_PATH "
              "first, then those that came with calc. On a terminal a name is followed by what it "
              "is. An execution \"folder/name\" may be called \"name\" where that is unique.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
