#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/opt.h"
#include "io/schema.h"
#include "spec/field.h"

/* Kinds of tables come first, in the order of calc_kind; then engines, and kinds of files. */
static const char *const names[] = {
    "app",   "sys",  "exe",          "stats",     "layer",      "stage", "engine", "result",
    "space", "runs", "serving_runs", "operators", "validation", "plan",  "tune",   NULL};

#define OPTIONS(X) X(OUT, "out", "FILE", .doc = "write to a file", .preset = "-")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    {.name = "NAME",
     .choices = names,
     .doc =
         "app, sys, exe, engine: the documents of a run; space: what calc sweep takes; result: "
         "what "
         "calc run --json writes; stats, layer, stage: parts of it; runs, serving_runs, "
         "operators: the rows of files of measured runs and operators, as objects; validation: "
         "what calc validate "
         "--json writes; plan: what calc plan --json writes; tune: what calc tune --json writes"},
    {0}};
static const char *const examples[] = {"calc show schema exe",
                                       "calc show schema sys --out sys.schema.json", NULL};

static void write_object(calc_output *out, int kind)
{
    calc_put put = {.out = out, .indent = 4, .step = 2};
    calc_schema_object(&put, NULL, calc_table_of((calc_kind)kind), false);
}

/* Ranges, lists in one text and "*" are texts, and so is every number that a program writes as
 * text. */
static void write_axis(calc_output *out, const calc_field *field)
{
    bool number = field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL;
    const char *text = number ? "numbers" : "choices";
    calc_put put = {.out = out, .indent = 4, .step = 2};
    calc_output_printf(out, "\"%s\": {\"anyOf\": [{\"$ref\": \"#/$defs/%s\"}, %s", field->key, text,
                       number ? "{\"$ref\": \"#/$defs/max\"}, " : "");
    calc_schema_value(&put, NULL, field);
    calc_output_text(out, ", {\"type\": \"array\", \"minItems\": 1, \"items\": {\"anyOf\": [");
    calc_schema_value(&put, NULL, field);
    calc_output_printf(out, ", {\"$ref\": \"#/$defs/%s\"}]}}]}", text);
}

/* Members of a space: the fields of the execution, the model and the machine. */
static void write_axes(calc_output *out, int kind)
{
    (void)kind;
    const char *glue = "";
    const calc_table *exe = calc_table_of(CALC_KIND_EXEC);
    for (size_t i = 0; i < exe->count; i++) {
        if (exe->rows[i].type != CALC_TYPE_NOTE) {
            calc_output_text(out, glue);
            write_axis(out, &exe->rows[i]);
            glue = ",\n    ";
        }
    }
    for (calc_kind of = CALC_KIND_APP; of <= CALC_KIND_SYSTEM; of++) {
        const calc_table *table = calc_table_of(of);
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            if (!field->table && field->type != CALC_TYPE_NOTE &&
                !calc_table_find(exe, field->key)) {
                calc_output_printf(out, "%s\"%s\": {\"$ref\": \"#/$defs/any\"}", glue, field->key);
            }
        }
    }
}

static void write_version(calc_output *out, int kind)
{
    (void)kind;
    calc_output_text(out, CALC_VERSION);
}

static void write_format(calc_output *out, int kind)
{
    (void)kind;
    calc_output_printf(out, "%d", CALC_FORMAT);
}

static const calc_fill_place places[] = {
    {"@version", write_version, CALC_KIND_NONE},     {"\"@format\"", write_format, CALC_KIND_NONE},
    {"\"@axes\": null", write_axes, CALC_KIND_NONE}, {"\"@app\"", write_object, CALC_KIND_APP},
    {"\"@sys\"", write_object, CALC_KIND_SYSTEM},    {"\"@exe\"", write_object, CALC_KIND_EXEC},
    {"\"@stats\"", write_object, CALC_KIND_STATS},   {"\"@layer\"", write_object, CALC_KIND_LAYER},
    {"\"@stage\"", write_object, CALC_KIND_STAGE},   {0}};

static calc_exit run(const calc_args *args)
{
    int name = calc_choice_index(names, args->argument[0]);
    calc_output *out = calc_write_to(calc_opt_value(args, OPT_OUT));
    if (name < CALC_KIND_COUNT) {
        calc_schema_write(out, (calc_kind)name);
    } else if (name == CALC_KIND_COUNT) {
        calc_schema_write_engine(out);
    } else {
        calc_fill_write(out, calc_embedded_find(calc_schema_list, names[name]), places);
    }
    return calc_write_end(out);
}

const calc_command calc_cmd_schema = {
    .name = "show schema",
    .summary = "write the JSON Schema of a document",
    .detail = "Writes a JSON Schema (draft 2020-12) made from the tables of fields: names, types, "
              "ranges, units, defaults. Editors complete and check files with it. What fields mean "
              "to each other is not in it: calc run says.",
    CALC_COMMAND_PARTS};
