#include <string.h>

#include "axis.h"
#include "calibrate/points.h"
#include "cli/complain.h"
#include "cli/opt.h"
#include "cli/run_band.h"
#include "cli/schema_validation.h"
#include "io/schema.h"
#include "spec/field.h"
#include "validate/runs.h"

enum { OPT_OUT };

/* The kinds of tables come first, as calc_kind counts them. */
enum { RESULT = CALC_KIND_COUNT, SPACE, RUNS, OPERATORS, VALIDATION };
static const char *const names[] = {"app",    "sys",   "exe",  "stats",     "layer",      "stage",
                                    "result", "space", "runs", "operators", "validation", NULL};
static const calc_opt opts[] = {
    [OPT_OUT] = {.name = "out", .value = "FILE", .preset = "-", .doc = "write to a file"}, {0}};
static const calc_arg rows[] = {
    {.name = "NAME",
     .choices = names,
     .doc =
         "app, sys, exe: the documents of a run; space: what calc sweep takes; result: what "
         "calc run --json writes; stats, layer, stage: parts of it; runs, operators: the rows of "
         "files of measured runs and operators, as objects; validation: what calc "
         "validate --json writes"},
    {0}};
static const char *const examples[] = {"calc schema exe", "calc schema sys --out sys.schema.json",
                                       NULL};

/* ---- What calc run writes -------------------------------------------------------------------- */

static void write_words(calc_output *out, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        calc_output_printf(out, "%s\"%s\"", i ? ", " : "", words[i]);
    }
}

static void write_definitions(calc_output *out)
{
    static const char name[] = "\n        \"name\": {\"type\": \"string\"},";
    static const char *const verdicts[] = {
#define CALC_X(verdict, text) text,
        CALC_VERDICT_LIST(CALC_X)
#undef CALC_X
    };
    calc_output_text(out, "  \"$defs\": {\n    \"verdict\": {\"enum\": [");
    write_words(out, verdicts, CALC_VERDICT_COUNT);
    calc_output_text(out, "]}");
    for (calc_kind kind = CALC_KIND_APP; kind < CALC_KIND_COUNT; kind++) {
        calc_output_printf(out, ",\n    \"%s\": ", calc_kind_name(kind));
        calc_schema_object(out, calc_table_of(kind), kind == CALC_KIND_LAYER ? name : "", 4);
    }
    calc_run_band_schema(out);
    calc_output_text(out, "\n  },\n");
}

static void write_result(calc_output *out)
{
    calc_schema_begin(out, "result", "calc: what calc run --json writes");
    write_definitions(out);
    calc_output_text(
        out, "  \"type\": \"object\",\n"
             "  \"properties\": {\n"
             "    \"version\": {\"type\": \"string\"},\n"
             "    \"compat\": {\"enum\": [\"none\", \"calculon\"]},\n"
             "    \"names\": {\n"
             "      \"type\": \"object\",\n"
             "      \"properties\": {\"application\": {\"type\": \"string\"}, \"system\": "
             "{\"type\": \"string\"}, \"execution\": {\"type\": \"string\"}, \"command\": "
             "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}},\n"
             "      \"required\": [\"application\", \"system\", \"execution\"]\n"
             "    },\n"
             "    \"application\": {\"$ref\": \"#/$defs/app\"},\n"
             "    \"system\": {\"$ref\": \"#/$defs/sys\"},\n"
             "    \"execution\": {\"$ref\": \"#/$defs/exe\"},\n"
             "    \"verdict\": {\"$ref\": \"#/$defs/verdict\"},\n"
             "    \"reasons\": {\n"
             "      \"type\": \"array\",\n"
             "      \"items\": {\n"
             "        \"type\": \"object\",\n"
             "        \"properties\": {\"verdict\": {\"$ref\": \"#/$defs/verdict\"}, \"text\": "
             "{\"type\": \"string\"}, \"hint\": {\"type\": \"string\"}},\n"
             "        \"required\": [\"verdict\", \"text\", \"hint\"]\n"
             "      }\n"
             "    },\n"
             "    \"stats\": {\"$ref\": \"#/$defs/stats\"},\n"
             "    \"band\": {\"$ref\": \"#/$defs/band\"},\n"
             "    \"layers\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/layer\"}},\n"
             "    \"stages\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/stage\"}},\n"
             "    \"operators\": {\n"
             "      \"type\": \"array\",\n"
             "      \"items\": {\n"
             "        \"type\": \"object\",\n"
             "        \"properties\": {\"name\": {\"type\": \"string\"}, \"pass\": {\"enum\": "
             "[\"forward\", \"activation gradient\", \"weight gradient\"]}, \"source\": {\"enum\": "
             "[\"exact\", \"interpolated\", \"curve\", \"roofline\"]}, \"time\": {\"type\": "
             "\"number\"}, \"model_time\": {\"type\": \"number\"}},\n"
             "        \"required\": [\"name\", \"pass\", \"source\", \"time\", \"model_time\"]\n"
             "      }\n"
             "    }\n"
             "  },\n"
             "  \"required\": [\"version\", \"compat\", \"names\", \"application\", \"system\", "
             "\"execution\", \"verdict\", \"reasons\", \"stats\"],\n"
             "  \"additionalProperties\": false\n}\n");
}

/* ---- What calc sweep takes ------------------------------------------------------------------- */

/* Ranges, lists in one text and "*" are texts; so is every number that a program writes as one. */
static void write_axis(calc_output *out, const calc_field *field)
{
    bool number = field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL;
    const char *text = number ? "numbers" : "choices";
    calc_output_printf(out, ",\n    \"%s\": {\"anyOf\": [{\"$ref\": \"#/$defs/%s\"}, %s",
                       field->key, text, number ? "{\"$ref\": \"#/$defs/max\"}, " : "");
    calc_schema_value(out, field, 4);
    calc_output_text(out, ", {\"type\": \"array\", \"minItems\": 1, \"items\": {\"anyOf\": [");
    calc_schema_value(out, field, 4);
    calc_output_printf(out, ", {\"$ref\": \"#/$defs/%s\"}]}}]}", text);
}

static void write_study_keys(calc_output *out)
{
    static const char *const keys[] = {
#define CALC_X(name, text) text,
        CALC_STUDY_KEY_LIST(CALC_X)
#undef CALC_X
    };
    for (size_t i = 0; i < CALC_STUDY_KEY_COUNT; i++) {
        const char *def = i == CALC_STUDY_KEY_TOP      ? "count"
                          : i == CALC_STUDY_KEY_SOURCE ? "note"
                                                       : "words";
        calc_output_printf(out, "%s    \"%s\": {\"$ref\": \"#/$defs/%s\"}", i ? ",\n" : "", keys[i],
                           def);
    }
}

static void write_space(calc_output *out)
{
    const calc_table *exe = calc_table_of(CALC_KIND_EXEC);
    calc_schema_begin(out, "space", "calc: a space of layouts, for calc sweep");
    calc_output_text(
        out, "  \"$defs\": {\n"
             "    \"numbers\": {\"type\": \"string\", \"pattern\": "
             "\"^([*]|[-<=0-9.eE:x,* ]+)$\"},\n"
             "    \"choices\": {\"type\": \"string\", \"pattern\": "
             "\"^([*]|.*[,+].*|true|false)$\"},\n"
             "    \"max\": {\"type\": \"object\", \"properties\": {\"max\": {\"type\": "
             "[\"number\", \"string\"]}}, \"required\": [\"max\"], \"additionalProperties\": "
             "false},\n"
             "    \"any\": {\"anyOf\": [{\"type\": [\"number\", \"string\", \"boolean\"]}, "
             "{\"$ref\": \"#/$defs/max\"}, {\"type\": \"array\", \"minItems\": 1, \"items\": "
             "{\"type\": [\"number\", \"string\", \"boolean\"]}}]},\n"
             "    \"words\": {\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", "
             "\"minItems\": 1, \"items\": {\"type\": \"string\"}}]},\n"
             "    \"count\": {\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0}, {\"type\": "
             "\"string\", \"pattern\": \"^[0-9]+$\"}]},\n"
             "    \"note\": {\"type\": \"string\"}\n"
             "  },\n"
             "  \"type\": \"object\",\n  \"properties\": {\n");
    write_study_keys(out);
    for (size_t i = 0; i < exe->count; i++) {
        if (exe->rows[i].type != CALC_TYPE_NOTE) {
            write_axis(out, &exe->rows[i]);
        }
    }
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_SYSTEM; kind++) {
        const calc_table *table = calc_table_of(kind);
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            if (!field->table && field->type != CALC_TYPE_NOTE &&
                !calc_table_find(exe, field->key)) {
                calc_output_printf(out, ",\n    \"%s\": {\"$ref\": \"#/$defs/any\"}", field->key);
            }
        }
    }
    calc_output_text(out, "\n  },\n  \"patternProperties\": {\"[.]\": {\"$ref\": "
                          "\"#/$defs/any\"}},\n  \"additionalProperties\": false\n}\n");
}

/* ---- What calc validate reads ---------------------------------------------------------------- */

static void write_runs(calc_output *out)
{
    static const char text[] = "{\"type\": \"string\"}";
    static const char number[] = "{\"type\": [\"number\", \"null\"]}";
    enum { TEXT, NUMBER };
    static const struct {
        const char *name;
        int type;
    } columns[] = {
#define CALC_X(type, name) {#name, type},
        CALC_RUNS_COLUMN_LIST(CALC_X) CALC_RUNS_OPTIONAL_LIST(CALC_X)
#undef CALC_X
    };
    static const char *const required[] = {
#define CALC_X(type, name) #name,
        CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
    };
    size_t count = sizeof columns / sizeof *columns;
    calc_schema_begin(out, "runs", "calc: measured runs; a blank number is null");
    calc_output_text(out, "  \"type\": \"array\",\n  \"items\": {\n    \"type\": \"object\",\n"
                          "    \"properties\": {");
    for (size_t i = 0; i < count; i++) {
        calc_output_printf(out, "%s\n      \"%s\": %s", i ? "," : "", columns[i].name,
                           columns[i].type == TEXT ? text : number);
    }
    calc_output_text(out, "\n    },\n    \"required\": [");
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        calc_output_printf(out, "%s\"%s\"", i ? ", " : "", required[i]);
    }
    calc_output_text(out, "]\n  }\n}\n");
}

/* ---- Measured operators ---------------------------------------------------------------------- */

static void write_operators(calc_output *out)
{
    static const struct {
        const char *name;
        bool optional;
    } columns[] = {
#define CALC_X(id, name, also, optional) {name, optional},
        CALC_POINTS_COLUMN_LIST(CALC_X)
#undef CALC_X
    };
    const char *comma = "";
    calc_schema_begin(out, "operators", "calc: measured kernels and collectives");
    calc_output_text(out, "  \"type\": \"array\",\n  \"items\": {\n    \"type\": \"object\",\n"
                          "    \"properties\": {");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        calc_output_printf(out, "%s\n      \"%s\": %s", i ? "," : "", columns[i].name,
                           strcmp(columns[i].name, "value") == 0
                               ? "{\"type\": \"number\", \"minimum\": 0}"
                               : "{\"type\": \"string\"}");
    }
    calc_output_text(out, "\n    },\n    \"required\": [");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (!columns[i].optional) {
            calc_output_printf(out, "%s\"%s\"", comma, columns[i].name);
            comma = ", ";
        }
    }
    calc_output_text(out, "]\n  }\n}\n");
}

/* ---- The command ----------------------------------------------------------------------------- */

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    calc_output *out;
    int name = calc_choice_index(names, args->argument[0]);
    if (calc_output_open(&out, calc_opt_value(args, OPT_OUT), &errors) == CALC_OK) {
        if (name < CALC_KIND_COUNT) {
            calc_schema_write(out, (calc_kind)name);
        } else {
            (name == RESULT      ? write_result
             : name == SPACE     ? write_space
             : name == RUNS      ? write_runs
             : name == OPERATORS ? write_operators
                                 : calc_schema_validation_write)(out);
        }
        (void)!calc_output_close(out, &errors);
    }
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_schema = {
    .name = "schema",
    .summary = "write the JSON Schema of a document",
    .detail = "Writes a JSON Schema (draft 2020-12) made from the tables of fields: names, types, "
              "ranges, units, defaults. Editors complete and check files with it. What fields mean "
              "to each other is not in it: calc run says.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
