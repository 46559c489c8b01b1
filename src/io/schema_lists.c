#include "io/schema_lists.h"

#define SIZE "{\"type\": \"integer\", \"minimum\": 1}"
#define WORD "{\"type\": \"string\"}"
#define WORDS "{\"type\": [\"string\", \"array\"], \"items\": {\"type\": \"string\"}}"

/* Keys of a stage: in an entry of its own, or for all stages in a list whose elements may be
 * repeated ("7x11"), or in an object with a value per system. */
static void write_stages(calc_output *out)
{
    static const struct {
        const char *key, *value, *many;
    } rows[] = {
        {"blocks", "{\"type\": \"integer\", \"minimum\": 0}", "[0-9]+"},
        {"system", WORD, ".+"},
        {"activation_recompute", WORD, "[a-z_]+"},
        {"recompute_modules", WORDS, "[a-z_+]+"},
        {"recompute_blocks", "{\"type\": \"integer\", \"minimum\": 0}", "[0-9]+"},
    };
    calc_output_text(out, "{\"anyOf\": [{\"type\": \"array\", \"minItems\": 1, \"items\": "
                          "{\"anyOf\": [{\"type\": \"integer\", \"minimum\": 1}, {\"type\": "
                          "\"string\", \"pattern\": \"^[0-9]+x[0-9]+$\"}, {\"type\": "
                          "\"object\", \"additionalProperties\": false, \"properties\": {");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        calc_output_printf(out, "%s\"%s\": %s", i > 0 ? ", " : "", rows[i].key, rows[i].value);
    }
    calc_output_text(out, "}}]}}, {\"type\": \"object\", \"minProperties\": 1, "
                          "\"additionalProperties\": false, \"properties\": {");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = rows[i].value;
        calc_output_printf(out,
                           "\"%s\": {\"anyOf\": [%s, {\"type\": \"object\", "
                           "\"additionalProperties\": %s}, {\"type\": \"array\", \"minItems\": 1, "
                           "\"items\": {\"anyOf\": [%s, {\"type\": \"null\"}, {\"type\": "
                           "\"string\", \"pattern\": \"^[0-9]+x(null|%s)$\"}]}}]}, ",
                           rows[i].key, value, value, value, rows[i].many);
    }
    calc_output_text(out, "\"join_latency\": {\"type\": \"number\", \"minimum\": 0, "
                          "\"maximum\": 1, \"unit\": \"s\"}}}]}");
}

/* Lists of layers: an entry per run, or a list per key, and the ends. */
static void write_layers(calc_output *out)
{
    static const struct {
        const char *key, *value, *many;
    } rows[] = {
        {"blocks", SIZE, "[0-9]+"},
        {"tensor_par", SIZE, "[0-9]+"},
        {"context_par", SIZE, "[0-9]+"},
        {"expert_par", SIZE, "[0-9]+"},
        {"zero_stage", "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 3}", "[0-9]+"},
        {"context_par_type", WORD, "[a-z_0-9]+"},
        {"activation_recompute", WORD, "[a-z_]+"},
        {"recompute_modules", WORDS, "[a-z_+]+"},
    };
    size_t count = sizeof rows / sizeof *rows;
    calc_output_text(out, "{\"anyOf\": [{\"type\": \"array\", \"minItems\": 1, \"items\": "
                          "{\"anyOf\": [" SIZE ", {\"type\": \"string\", \"pattern\": "
                          "\"^[0-9]+x[0-9]+$\"}, {\"type\": \"object\", "
                          "\"additionalProperties\": false, \"properties\": {");
    for (size_t i = 0; i < count; i++) {
        calc_output_printf(out, "%s\"%s\": {\"anyOf\": [%s, {\"type\": \"null\"}]}",
                           i > 0 ? ", " : "", rows[i].key, rows[i].value);
    }
    calc_output_text(out, "}}]}}, {\"type\": \"object\", \"minProperties\": 1, "
                          "\"additionalProperties\": false, \"properties\": {");
    for (size_t i = 0; i < count; i++) {
        calc_output_printf(out,
                           "\"%s\": {\"anyOf\": [%s, {\"type\": \"array\", \"minItems\": 1, "
                           "\"items\": {\"anyOf\": [%s, {\"type\": \"null\"}, {\"type\": "
                           "\"string\", \"pattern\": \"^[0-9]+x(null|%s)$\"}]}}]}, ",
                           rows[i].key, rows[i].value, rows[i].value, rows[i].many);
    }
    calc_output_text(out, "\"ends\": {\"type\": \"object\", \"additionalProperties\": false, "
                          "\"properties\": {");
    for (size_t i = 1; i < count; i++) {
        calc_output_printf(out, "%s\"%s\": %s", i > 1 ? ", " : "", rows[i].key, rows[i].value);
    }
    calc_output_text(out, "}}}}]}");
}

bool calc_schema_list(calc_output *out, const calc_field *field)
{
    if (field->flags & CALC_STAGES) {
        write_stages(out);
    } else if (field->flags & CALC_LAYERS) {
        write_layers(out);
    }
    return field->flags & (CALC_STAGES | CALC_LAYERS);
}
