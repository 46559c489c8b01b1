#include "cli/schema_validation.h"

#include <stddef.h>

#include "io/schema.h"
#include "validate/results.h"

#define TEXT "{\"type\": \"string\"}"
#define NUMBER "{\"type\": \"number\"}"
#define NUMBER_OR_NULL "{\"type\": [\"number\", \"null\"]}"
#define WHOLE "{\"type\": \"integer\", \"minimum\": 0}"
#define QUANTITY "{\"$ref\": \"#/$defs/quantity\"}"
#define PARTS "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"number\"}}"

/* A member of an object. */
typedef struct member {
    const char *name, *schema;
    bool optional;
} member;

static const member row[] = {{"id", TEXT, false},
                             {"status", "{\"$ref\": \"#/$defs/status\"}", false},
                             {"quantity", QUANTITY, false},
                             {"measured", NUMBER_OR_NULL, false},
                             {"predicted", NUMBER_OR_NULL, false},
                             {"error", NUMBER_OR_NULL, false},
                             {"source", TEXT, false},
                             {"machine", TEXT, false},
                             {"model", TEXT, false},
                             {"kind", "{\"enum\": [\"dense\", \"MoE\"]}", false},
                             {"dtype", TEXT, false},
                             {"confidence", TEXT, false},
                             {"gpus", WHOLE, true},
                             {"tp", WHOLE, true},
                             {"pp", WHOLE, true},
                             {"dp", WHOLE, true},
                             {"cp", WHOLE, true},
                             {"ep", WHOLE, true},
                             {"micro_batch", WHOLE, true},
                             {"chunks", WHOLE, true},
                             {"remark", TEXT, false},
                             {"assumptions", "{\"type\": \"array\", \"items\": " TEXT "}", false},
                             {NULL, NULL, false}};

static const member group[] = {{"by", TEXT, false},
                               {"name", TEXT, false},
                               {"quantity", QUANTITY, false},
                               {"n", WHOLE, false},
                               {"bias", NUMBER, false},
                               {"mean_abs", NUMBER, false},
                               {"median_abs", NUMBER, false},
                               {"p90_abs", NUMBER, false},
                               {"worst_abs", NUMBER, false},
                               {"kendall_tau", NUMBER_OR_NULL, false},
                               {"pairs", WHOLE, false},
                               {"choices", WHOLE, false},
                               {"regret_mean", NUMBER_OR_NULL, false},
                               {"regret_worst", NUMBER_OR_NULL, false},
                               {"shared", WHOLE, true},
                               {"mean_abs_shared", NUMBER_OR_NULL, true},
                               {"mean_abs_baseline", NUMBER_OR_NULL, true},
                               {NULL, NULL, false}};

static const member feature[] = {{"option", TEXT, false},
                                 {"moved", WHOLE, false},
                                 {"agreed", WHOLE, false},
                                 {"missed", WHOLE, false},
                                 {"still", WHOLE, false},
                                 {"stayed", WHOLE, false},
                                 {"kendall_tau", NUMBER_OR_NULL, false},
                                 {"ratio_median", NUMBER_OR_NULL, false},
                                 {"wrong", "{\"$ref\": \"#/$defs/pair\"}", true},
                                 {NULL, NULL, false}};

static const member pair[] = {{"from", TEXT, false},
                              {"to", TEXT, false},
                              {"measured", NUMBER, false},
                              {"predicted", NUMBER, false},
                              {NULL, NULL, false}};

static const member peer[] = {{"simulator", TEXT, false},
                              {"machine", TEXT, false},
                              {"quantity", QUANTITY, false},
                              {"n", WHOLE, false},
                              {"mean_abs", NUMBER_OR_NULL, false},
                              {"worst_abs", NUMBER_OR_NULL, false},
                              {"calc_n", WHOLE, false},
                              {"calc_mean_abs", NUMBER_OR_NULL, false},
                              {"calc_worst_abs", NUMBER_OR_NULL, false},
                              {"note", TEXT, false},
                              {NULL, NULL, false}};

static const member coverage[] = {{"inside", NUMBER, false},     {"inside_by_table", NUMBER, false},
                                  {"below", NUMBER, false},      {"above", NUMBER, false},
                                  {"half_width", NUMBER, false}, {NULL, NULL, false}};

static const member band[] = {{"by", TEXT, false},
                              {"name", TEXT, false},
                              {"quantity", QUANTITY, false},
                              {"n", WHOLE, false},
                              {"unseen_width", "{\"$ref\": \"#/$defs/coverage\"}", false},
                              {"unseen_publisher", "{\"$ref\": \"#/$defs/coverage\"}", false},
                              {NULL, NULL, false}};

static const member worst[] = {
    {"row", WHOLE, false}, {"time", PARTS, false}, {"total", NUMBER, false}, {NULL, NULL, false}};

static const struct {
    const char *name;
    const member *members;
} definitions[] = {{"row", row},   {"group", group},       {"feature", feature}, {"pair", pair},
                   {"peer", peer}, {"coverage", coverage}, {"band", band},       {"worst", worst}};

static void write_object(calc_output *out, const char *name, const member *members)
{
    calc_output_printf(
        out, ",\n    \"%s\": {\n      \"type\": \"object\",\n      \"properties\": {", name);
    for (const member *m = members; m->name; m++) {
        calc_output_printf(out, "%s\n        \"%s\": %s", m == members ? "" : ",", m->name,
                           m->schema);
    }
    calc_output_text(out, "\n      },\n      \"required\": [");
    const char *comma = "";
    for (const member *m = members; m->name; m++) {
        if (!m->optional) {
            calc_output_printf(out, "%s\"%s\"", comma, m->name);
            comma = ", ";
        }
    }
    calc_output_text(out, "],\n      \"additionalProperties\": false\n    }");
}

static void write_counts(calc_output *out)
{
    calc_output_text(out,
                     "    \"counts\": {\"type\": \"object\", \"properties\": {\"runs\": " WHOLE);
    for (int use = 0; use < CALC_USE_COUNT; use++) {
        calc_output_printf(out, ", \"%s\": " WHOLE, calc_use_word((calc_use)use));
    }
    calc_output_text(out, "}, \"additionalProperties\": false},\n");
}

void calc_schema_validation_write(calc_output *out)
{
    calc_schema_begin(out, "validation", "calc: what calc validate --json writes");
    calc_output_text(out, "  \"$defs\": {\n    \"quantity\": {\"enum\": [");
    for (int q = 0; q < CALC_QUANTITY_COUNT; q++) {
        calc_output_printf(out, "%s\"%s\"", q ? ", " : "", calc_quantity_word((calc_quantity)q));
    }
    calc_output_text(out, "]},\n    \"status\": {\"enum\": [");
    for (int use = 0; use < CALC_USE_COUNT; use++) {
        calc_output_printf(out, "%s\"%s\"", use ? ", " : "", calc_use_word((calc_use)use));
    }
    calc_output_text(out, "]}");
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        write_object(out, definitions[i].name, definitions[i].members);
    }
    calc_output_text(out, "\n  },\n  \"type\": \"object\",\n  \"properties\": {\n"
                          "    \"version\": " TEXT ",\n");
    write_counts(out);
    static const char *const arrays[] = {"row", "group", "feature", "peer", "band"};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        calc_output_printf(
            out, "    \"%ss\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}},\n",
            arrays[i], arrays[i]);
    }
    calc_output_text(
        out,
        "    \"worst\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/worst\"}}\n  },\n"
        "  \"required\": [\"version\", \"counts\", \"rows\", \"groups\", \"worst\", \"features\", "
        "\"peers\"],\n  \"additionalProperties\": false\n}\n");
}
