#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/help.h"
#include "cli/shell/opt.h"
#include "io/output.h"
#include "rl/step.h"
#include "spec/alias.h"
#include "spec/field.h"

#define STAT(stat, in, text)                                                                       \
    {.name = #stat,                                                                                \
     .key = #stat,                                                                                 \
     .type = CALC_TYPE_REAL,                                                                       \
     .unit = sizeof(in) > 1 ? (in) : NULL,                                                         \
     .where = "calc_rl_step_of",                                                                   \
     .doc = (text)},
static const calc_field rl_rows[] = {CALC_RL_STAT_LIST(STAT)};
#undef STAT
static const calc_table rl_table = {"rl", sizeof(calc_rl_step), sizeof rl_rows / sizeof *rl_rows,
                                    rl_rows};

enum { INDENT = 6, VALUE_COLUMN = 39 };

static const char *const kinds[] = {"app",   "sys", "exe",    "stats", "layer",
                                    "stage", "job", "engine", "rl",    NULL};

#define OPTIONS(X)                                                                                 \
    X(MARKDOWN, "markdown", NULL, .doc = "write Markdown tables")                                  \
    X(NAMES, "names", NULL, .unlisted = true,                                                      \
      .doc = "write the names only, the short ones too, one per line")                             \
    X(VALUES, "values", "FIELD", .unlisted = true,                                                 \
      .doc = "write the words that this field takes instead")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    {.name = "KIND",
     .choices = kinds,
     .optional = true,
     .doc =
         "app, sys, exe: the fields of a model, a system, an execution; stats, layer, stage: "
         "the statistics of a run, of a layer, of a pipeline stage; none: all of these; job: the "
         "fields of a job of calc rl; engine: those of an engine that serves"},
    {0}};
static const char *const examples[] = {"calc show fields exe", "calc show fields stats --markdown",
                                       NULL};

/* Buffer sizes for the texts of a row. */
enum { RANGE_SIZE = 256, MEANING_SIZE = CALC_FIELD_TEXT_MEANING };

/* calc_field_visitor */
static void write_text_row(void *context, const char *path, const calc_field *field)
{
    calc_output *out = context;
    char range[RANGE_SIZE], value[2 * RANGE_SIZE], meaning[MEANING_SIZE], text[MEANING_SIZE + 64];
    calc_field_text_range(field, range, sizeof range);
    bool optional = field->flags & CALC_OPTIONAL;
    snprintf(value, sizeof value, "%s%s%s%s%s%s", calc_field_text_type(field), *range ? " " : "",
             range, field->unit ? " " : "", field->unit ? field->unit : "",
             optional ? "; optional" : "");
    calc_output_printf(out, "  %-*s ", VALUE_COLUMN - 3, path);
    if ((int)strlen(path) > VALUE_COLUMN - 3) {
        calc_output_printf(out, "\n%*s", VALUE_COLUMN, "");
    }
    calc_help_wrapped(out, value, VALUE_COLUMN);
    snprintf(text, sizeof text, "%s%s%s%s", calc_field_text_meaning(field, meaning),
             field->where ? " (" : "", field->where ? field->where : "", field->where ? ")" : "");
    calc_output_printf(out, "%*s", INDENT, "");
    calc_help_wrapped(out, text, INDENT);
}

/* calc_field_visitor */
static void write_markdown_row(void *context, const char *path, const calc_field *field)
{
    calc_output *out = context;
    char range[RANGE_SIZE], meaning[MEANING_SIZE];
    const char *unit = field->unit ? field->unit : "";
    calc_field_text_range(field, range, sizeof range);
    calc_field_text_meaning(field, meaning);
    bool optional = field->flags & CALC_OPTIONAL;
    if (field->where) {
        calc_output_printf(out, "| `%s` | %s | %s | `%s` |\n", path, unit, meaning, field->where);
    } else {
        calc_output_printf(out, "| `%s` | %s%s%s | %s | %s%s |\n", path,
                           calc_field_text_type(field), *range ? " " : "", range, unit, meaning,
                           optional ? " (optional)" : "");
    }
}

/* calc_field_visitor */
static void write_name(void *context, const char *path, const calc_field *field)
{
    const char *index = strstr(path, "[N]");
    calc_output_printf(context, "%.*s%s%s\n", index ? (int)(index - path) : 0, path,
                       index ? "[0]" : "", index ? index + strlen("[N]") : path);
    for (const char *const *also = field->also; *also; also++) {
        if (!strchr(*also, ' ')) { /* a label of the summary */
            calc_output_printf(context, "%s\n", *also);
        }
    }
}

/* Names of engines, which lie beside executions. */
static void write_engines(calc_output *out)
{
    calc_find_list list = calc_find_names(CALC_KIND_EXEC);
    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.entry[i].name;
        if (calc_find_aside_of(name) == CALC_FIND_ASIDE_ENGINE) {
            calc_output_printf(out, "%s\n", calc_find_aside_name(name));
        }
    }
    calc_find_free(&list);
}

/* The words that a field takes; none of a number. */
static void write_values(calc_output *out, const char *name)
{
    static const char *const flags[] = {"true", "false", NULL};
    calc_field_ref ref;
    (void)calc_kind_split(&name, CALC_KIND_EXEC);
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_EXEC; kind++) {
        if (calc_field_find(kind, name, &ref) != CALC_OK) {
            continue;
        }
        const char *const *words = ref.field->type == CALC_TYPE_BOOL ? flags : ref.field->choices;
        for (size_t i = 0; words && words[i]; i++) {
            calc_output_printf(out, "%s\n", words[i]);
        }
        if (ref.field->flags & CALC_AUTO) {
            calc_output_text(out, "auto\n");
        }
        if (ref.field->type == CALC_TYPE_ENGINE) {
            calc_output_text(out, "none\n");
            write_engines(out);
        }
    }
}

/* Rows that the roles of a job share are written once. */
typedef struct once {
    calc_output *out;
    calc_field_visitor *write;
} once;

/* calc_field_visitor */
static void write_once(void *context, const char *path, const calc_field *field)
{
    static const char roles[] = "roles.", first[] = "roles.actor.";
    const once *o = context;
    char any[128];
    bool is_first = strncmp(path, first, sizeof first - 1) == 0;
    snprintf(any, sizeof any, "roles.ROLE.%s", is_first ? path + sizeof first - 1 : "");
    if (is_first || strncmp(path, roles, sizeof roles - 1) != 0) {
        o->write(o->out, is_first ? any : path, field);
    }
}

/* @param title  NULL: none */
static void write_table(calc_output *out, const calc_table *table, bool markdown, const char *title)
{
    if (!markdown) {
        calc_output_printf(out, "%s%s", title ? title : "", title ? ":\n" : "");
        calc_field_each(table, write_once, &(once){out, write_text_row});
        return;
    }
    calc_output_printf(out, "%s%s%s", title ? "## " : "", title ? title : "", title ? "\n\n" : "");
    calc_output_text(out, table->rows[0].where ? "| name | unit | meaning | computed by |\n"
                                                 "|---|---|---|---|\n"
                                               : "| field | value | unit | meaning |\n"
                                                 "|---|---|---|---|\n");
    calc_field_each(table, write_once, &(once){out, write_markdown_row});
}

static calc_exit run(const calc_args *args)
{
    bool markdown = calc_opt_value(args, OPT_MARKDOWN) != NULL;
    const char *field = calc_opt_value(args, OPT_VALUES);
    bool names = calc_opt_value(args, OPT_NAMES) != NULL;
    calc_output *out = calc_write_to("-");
    if (field) {
        write_values(out, field);
    } else if (args->argument_count > 0) {
        int kind = calc_choice_index(kinds, args->argument[0]);
        const calc_table *table = kind < CALC_KIND_COUNT        ? calc_table_of((calc_kind)kind)
                                  : kind == CALC_KIND_COUNT     ? calc_job_table()
                                  : kind == CALC_KIND_COUNT + 1 ? calc_serving_engine_table()
                                                                : &rl_table;
        if (names) {
            calc_field_each(table, write_name, out);
        } else {
            write_table(out, table, markdown, NULL);
        }
    } else {
        for (calc_kind kind = CALC_KIND_APP; kind < CALC_KIND_COUNT; kind++) {
            calc_output_text(out, kind == CALC_KIND_APP ? "" : "\n");
            write_table(out, calc_table_of(kind), markdown, calc_kind_name(kind));
        }
    }
    return calc_write_end(out);
}

const calc_command calc_cmd_fields = {
    .name = "show fields",
    .summary = "describe the fields of the documents and the statistics",
    .detail = "Describes every field of the input documents, by the name that --set takes, and "
              "every statistic, with its unit and the function of the source that computes it.",
    CALC_COMMAND_PARTS};
