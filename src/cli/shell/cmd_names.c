#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/help.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "io/output.h"
#include "io/space_load.h"
#include "spec/field.h"

#define OPTIONS(X)                                                                                 \
    X(LONG, "long", NULL,                                                                          \
      .doc = "say what each of them is, behind its name, as on a terminal: parameters of models, " \
             "whether machines are calibrated, sizes of executions, sources of software, engines " \
             "and jobs")                                                                           \
    X(SHORT, "short", NULL, .unlisted = true, .doc = "names only, as in a pipe")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const char *const kinds[] = {"app", "sys", "exe", "software", "engine", "job", NULL};
enum {
    ASIDE = CALC_KIND_EXEC /* what follows lies beside executions, as calc_find_aside has it */
};
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    {.name = "KIND",
     .choices = kinds,
     .doc =
         "app, sys, exe, software, engine or job: models, systems, executions, software of them, "
         "engines that serve, or jobs of reinforcement learning"},
    {.name = "PART", .optional = true, .doc = "only names that this is part of: h100, llama3"},
    {0}};
static const char *const examples[] = {"calc show names app", "calc show names sys h100 --long",
                                       NULL};

enum { LINE_SIZE = 256, INDENT = 2 /* of names in a group */ };

/* Groups of machines: by platform, and those whose fastest network is a bus of the host. */
static const struct {
    calc_platform platform;
    bool cards;
    const char *title;
} groups[] = {{CALC_PLATFORM_CUDA, false, "NVIDIA"},
              {CALC_PLATFORM_CUDA, true, "NVIDIA, cards on PCIe"},
              {CALC_PLATFORM_ROCM, false, "AMD"},
              {CALC_PLATFORM_ROCM, true, "AMD, cards on PCIe"},
              {CALC_PLATFORM_CANN, false, "Huawei Ascend"},
              {CALC_PLATFORM_XPU, false, "Baidu Kunlun"},
              {CALC_PLATFORM_HPU, false, "Intel Gaudi"},
              {CALC_PLATFORM_TPU, false, "Google TPU"},
              {CALC_PLATFORM_NEURON, false, "AWS Trainium"},
              {CALC_PLATFORM_ANY, false, "others"}};
enum { GROUPS = sizeof groups / sizeof *groups };

/* What is written about one document. */
typedef struct description {
    char line[LINE_SIZE]; /* "": it cannot be read */
    int group;            /* of a machine; the last one where none suits, and of other documents */
} description;

static void describe_app(const calc_input *input, const calc_app *app, char line[LINE_SIZE])
{
    char remark[CALC_REMARK_SIZE];
    calc_parameters p;
    calc_count_parameters(app, &p);
    const char *attention = app->kv_lora_rank > 0                                    ? "latent"
                            : app->kv_heads == 0 || app->kv_heads == app->attn_heads ? "multi-head"
                            : app->kv_heads == 1                                     ? "multi-query"
                                                 : "grouped-query";
    int used = snprintf(line, LINE_SIZE, "%10s  %s", calc_human_count(p.total), attention);
    if (app->num_experts > 0) {
        used += snprintf(line + used, (size_t)(LINE_SIZE - used), ", %jd of %jd experts, %s active",
                         app->experts_per_token, app->num_experts, calc_human_count(p.active));
    }
    if (*calc_input_remark(input, CALC_KIND_APP, app, remark)) {
        snprintf(line + used, (size_t)(LINE_SIZE - used),
                 ", full square of attention (Calculon's)");
    }
}

static void describe_system(const calc_input *input, const calc_system *system, description *out)
{
    char memory[32];
    const double pcie5_x16 = 64e9, bytes = system->chip.mem1.capacity_bytes;
    bool cards = system->networks[0].bytes_per_s <= pcie5_x16;
    bool limited = bytes < 1e15; /* files give a huge number for memory without limit */
    snprintf(out->line, LINE_SIZE, "%7s TFLOP/s %9s GiB  %s",
             calc_human_number(system->chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s / 1e12),
             limited ? calc_number_text(bytes, 0x1p30, memory) : "unlimited",
             calc_remark_origin_text(calc_remark_read(&input->text).origin));
    for (out->group = 0; out->group < GROUPS - 1; out->group++) {
        const int g = out->group;
        if (groups[g].platform == system->platform && groups[g].cards == cards) {
            return;
        }
    }
}

/* Its source, as much of it as fits. */
static void describe_aside(const char *path, char line[LINE_SIZE])
{
    calc_space_entries file = {0};
    calc_errors ignored = {0};
    bool fine = calc_is_yes(calc_space_load(&file, path, &ignored));
    for (size_t i = 0; i < file.count && fine; i++) {
        if (strcmp(file.entry[i].key, "source") == 0) {
            snprintf(line, LINE_SIZE, "%s", file.entry[i].item[0]);
        }
    }
    calc_space_entries_free(&file);
}

static void describe(int kind, const char *path, description *out)
{
    union {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } object;
    calc_input input = {0};
    calc_errors ignored = {0};
    *out = (description){.group = GROUPS - 1};
    if (kind > ASIDE) {
        describe_aside(path, out->line);
    } else if (calc_is_yes(calc_input_load(&input, (calc_kind)kind, &object, path, &ignored))) {
        const calc_exec *e = &object.exec;
        if (kind == CALC_KIND_APP) {
            describe_app(&input, &object.app, out->line);
        } else if (kind == CALC_KIND_SYSTEM) {
            describe_system(&input, &object.system, out);
        } else {
            snprintf(out->line, LINE_SIZE, "%8s processors: tensor %jd, pipeline %jd, data %jd",
                     calc_human_integer((double)e->num_procs), e->strategy.tensor_par,
                     e->pipeline_par, e->strategy.data_par);
        }
        if (kind == CALC_KIND_EXEC && e->strategy.expert_par > 1) {
            calc_append(out->line, LINE_SIZE, ", expert %jd", e->strategy.expert_par);
        }
    }
    calc_text_free(&input.text);
}

/* Spaces of calc sweep, software, engines and jobs lie beside executions, but are not executions;
 * the first of a name counts. */
static bool is_hidden(const calc_find_list *list, size_t i, int kind, const char *part)
{
    int aside = kind > ASIDE ? kind - ASIDE : CALC_FIND_ASIDE_NONE;
    bool hidden = strncmp(list->entry[i].name, "spaces/", 7) == 0 ||
                  (int)calc_find_aside_of(list->entry[i].name) != aside ||
                  (part && !strstr(list->entry[i].name, part));
    for (size_t j = 0; j < i && !hidden; j++) {
        hidden = strcmp(list->entry[j].name, list->entry[i].name) == 0;
    }
    return hidden;
}

/* What lies aside is known by its name in its folder. */
static const char *name_of(const calc_find_list *list, size_t i)
{
    return calc_find_aside_name(list->entry[i].name);
}

/* Names and what is behind them; machines in groups. */
static void write_described(calc_output *out, int kind, const calc_find_list *list,
                            const char *part)
{
    bool grouped = kind == CALC_KIND_SYSTEM;
    calc_listing_column column[] = {{.left = true}, {.left = true, .cut = true}};
    calc_listing l = CALC_LISTING(column, 2);
    int *group = calc_make(list->count + 1, sizeof *group); /* of each row */
    size_t named = 0;
    for (size_t i = 0; i < list->count; i++) {
        description described;
        if (!is_hidden(list, i, kind, part)) {
            describe(kind, list->entry[i].path, &described);
            calc_listing_add(&l, name_of(list, i));
            calc_listing_add(&l, described.line);
            group[named++] = described.group;
        }
    }
    calc_listing_fit(&l, calc_paint_columns() - (grouped ? INDENT : 0));
    for (int g = grouped ? 0 : GROUPS - 1; g < GROUPS; g++) {
        bool begun = !grouped;
        for (size_t row = 0; row < named; row++) {
            if (group[row] == g) {
                calc_output_text(out, begun ? "" : groups[g].title);
                calc_output_text(out, begun ? "" : "\n");
                calc_listing_write_row(&l, out, row + 1, grouped ? INDENT : 0);
                begun = true;
            }
        }
    }
    calc_listing_free(&l);
    free(group);
}

static calc_exit run(const calc_args *args)
{
    int kind = calc_choice_index(kinds, args->argument[0]);
    calc_kind folder = kind > ASIDE ? CALC_KIND_EXEC : (calc_kind)kind;
    bool described = calc_opt_value(args, OPT_LONG) ||
                     (!calc_opt_value(args, OPT_SHORT) && isatty(STDOUT_FILENO));
    calc_find_list list = calc_find_names(folder);
    calc_output *out = calc_write_to("-");
    for (size_t i = 0; i < list.count && !described; i++) {
        if (!is_hidden(&list, i, kind, args->argument[1])) {
            calc_output_printf(out, "%s\n", name_of(&list, i));
        }
    }
    if (described) {
        write_described(out, kind, &list, args->argument[1]);
    }
    calc_find_free(&list);
    return calc_write_end(out);
}

const calc_command calc_cmd_names = {
    .name = "show names",
    .summary = "list the models, systems, executions, software, engines and jobs by name",
    .detail = "Lists the documents in the data directories, one name per line: those of CALC_PATH "
              "first, then those that came with calc. On a terminal a name is followed by what it "
              "is, and machines are grouped. An execution \"folder/name\" may be called \"name\" "
              "where that is unique.",
    CALC_COMMAND_PARTS};

/* What `calc show` starts. */
static const char *const shown[] = {"names", "fields", "explain", "params", "schema", "app", NULL};
static const calc_opt no_opts[] = {{0}};
static const calc_arg show_rows[] = {
    {"WHAT", .choices = shown,
     .doc = "names: the models, machines, layouts and jobs that there are; fields: what a document "
            "has; explain: what a field, statistic or reason means; params: parameters of models; "
            "schema: JSON Schemas; app: a page that finds layouts"},
    {"WORD", .optional = true, .repeated = true, .doc = "its arguments and options"},
    {0}};
static const char *const show_examples[] = {"calc show names sys h100", "calc show fields exe",
                                            "calc show explain mfu", "calc show params --help",
                                            NULL};

static calc_exit show(const calc_args *args)
{
    return calc_command_run(calc_command_find(args->argument[0], NULL), args->argument_count - 1,
                            (char *const *)(args->argument + 1));
}

const calc_command calc_cmd_show = {
    .name = "show",
    .summary = "list documents and fields, explain numbers, count parameters, write schemas",
    .detail = "Shows what calc knows without predicting anything. Each WHAT has a --help of its "
              "own.",
    .args = show_rows,
    .opts = no_opts,
    .examples = show_examples,
    .own_words = true,
    .run = show};
