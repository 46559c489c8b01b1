#include "cli/sweep_write.h"

#include <inttypes.h>

#include "io/csv.h"
#include "io/json_save.h"
#include "spec/compat.h"
#include "spec/field.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_indent(calc_output *out, int indent)
{
    calc_output_printf(out, "\n%*s", indent, "");
}

void calc_sweep_write_design(calc_output *out, const calc_sweep_study *study, uint64_t design)
{
    const calc_designs_builder *builder = &study->builder;
    calc_design_parts parts = calc_designs_parts(builder, design);
    calc_output_text(out, "{\"application\": ");
    calc_json_string(out, parts.app->name);
    calc_output_text(out, ", \"system\": ");
    calc_json_string(out, parts.system->name);
    for (size_t i = 0; i < builder->axes; i++) {
        char text[32];
        calc_designs_value_text(builder, design, i, text);
        calc_output_printf(out, ", \"%s\": ", builder->axis[i].path);
        if (builder->axis[i].ref.field->type == CALC_TYPE_ENUM) {
            calc_json_string(out, text);
        } else {
            calc_output_text(out, text);
        }
    }
    calc_output_text(out, "}");
}

static void write_list(calc_output *out, const calc_sweep_study *study, const char *key,
                       const calc_front *list, int indent)
{
    calc_output_printf(out, ",\n%*s\"%s\": [", indent, "", key);
    for (size_t i = 0; i < list->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(study, &list->item[i], &found);
        calc_output_printf(out, "%s\n%*s{", i ? "," : "", indent + 2, "");
        write_indent(out, indent + 4);
        calc_output_text(out, "\"design\": ");
        calc_sweep_write_design(out, study, found.design);
        calc_output_printf(out, ",\n%*s\"execution\": ", indent + 4, "");
        calc_json_save(out, CALC_KIND_EXEC, found.exec, indent + 4);
        calc_output_printf(out, ",\n%*s\"stats\": ", indent + 4, "");
        calc_json_save(out, CALC_KIND_STATS, &found.stats, indent + 4);
        write_indent(out, indent + 2);
        calc_output_text(out, "}");
    }
    if (list->count > 0) {
        write_indent(out, indent);
    }
    calc_output_text(out, "]");
}

static void write_group(calc_output *out, const calc_sweep_study *study,
                        const calc_sweep_group *group, int indent)
{
    write_list(out, study, "front", &group->front, indent);
    write_list(out, study, "top", &group->top, indent);
}

/* What the layouts of a group have in common. */
static void write_group_key(calc_output *out, const calc_sweep_study *study, size_t index)
{
    const calc_values *procs = &study->space.axis[CALC_AXIS_num_procs];
    size_t per_design = study->options.per_num_procs ? procs->count : 1;
    const char *glue = "";
    calc_output_text(out, "\n      ");
    if (study->options.per_num_procs) {
        calc_output_printf(out, "\"num_procs\": %" PRId64, procs->value[index % per_design]);
        glue = ", ";
    }
    if (study->options.per_design) {
        calc_output_printf(out, "%s\"design\": ", glue);
        calc_sweep_write_design(out, study, index / per_design);
    }
}

static void write_objective(calc_output *out, const calc_objective *objective)
{
    calc_output_text(out, "{\"statistic\": ");
    calc_json_string(out, objective->field->key);
    calc_output_printf(out, ", \"direction\": \"%s\"}", objective->up ? "up" : "down");
}

void calc_sweep_write_study(calc_output *out, const calc_sweep_study *study)
{
    const calc_sweep_options *o = &study->options;
    char rules[CALC_COMPAT_TEXT];
    calc_output_printf(out, "{\n  \"version\": \"%s\",\n  \"compat\": \"%s\"", CALC_VERSION,
                       calc_compat_text(o->compat, rules));
    calc_output_text(out, ",\n  \"applications\": [");
    for (size_t i = 0; i < study->builder.apps; i++) {
        calc_output_text(out, i ? ", " : "");
        calc_json_string(out, study->builder.app[i].name);
    }
    calc_output_text(out, "],\n  \"systems\": [");
    for (size_t i = 0; i < study->builder.systems; i++) {
        calc_output_text(out, i ? ", " : "");
        calc_json_string(out, study->builder.system[i].name);
    }
    calc_output_text(out, "],\n  \"objectives\": [");
    for (size_t i = 0; i < o->objectives; i++) {
        calc_output_text(out, i ? ", " : "");
        write_objective(out, &o->objective[i]);
    }
    calc_output_text(out, "],\n  \"top_by\": ");
    write_objective(out, &o->top_by);
}

void calc_sweep_write_json(calc_output *out, const calc_sweep_study *study,
                           const calc_sweep_result *result)
{
    calc_sweep_write_study(out, study);
    if (result->partial) {
        calc_output_text(out, ",\n  \"partial\": true");
    }
    if (!study->options.per_num_procs && !study->options.per_design) {
        write_group(out, study, &result->group[0], 2);
        calc_output_text(out, "\n}\n");
        return;
    }
    calc_output_text(out, ",\n  \"groups\": [");
    for (size_t g = 0; g < result->groups_count; g++) {
        calc_output_text(out, g ? ",\n    {" : "\n    {");
        write_group_key(out, study, g);
        write_group(out, study, &result->group[g], 6);
        calc_output_text(out, "\n    }");
    }
    calc_output_text(out, "\n  ]\n}\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void calc_sweep_write_header(calc_output *out, const calc_sweep_study *study, const char *first)
{
    calc_output_printf(out, "%s%sapplication,system", first ? first : "", first ? "," : "");
    for (size_t i = 0; i < study->builder.axes; i++) {
        calc_csv_text(out, study->builder.axis[i].path, false);
    }
    calc_csv_header(out, CALC_KIND_EXEC, false);
    calc_csv_header(out, CALC_KIND_STATS, false);
    calc_output_text(out, "\n");
}

void calc_sweep_write_row(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_found *found, bool is_first)
{
    calc_design_parts parts = calc_designs_parts(&study->builder, found->design);
    calc_csv_text(out, parts.app->name, is_first);
    calc_csv_text(out, parts.system->name, false);
    for (size_t i = 0; i < study->builder.axes; i++) {
        char text[32];
        calc_csv_text(out, calc_designs_value_text(&study->builder, found->design, i, text), false);
    }
    calc_csv_values(out, CALC_KIND_EXEC, found->exec, false);
    calc_csv_values(out, CALC_KIND_STATS, &found->stats, false);
    calc_output_text(out, "\n");
}

static void write_rows(calc_output *out, const calc_sweep_study *study, const char *name,
                       const calc_front *list)
{
    for (size_t i = 0; i < list->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(study, &list->item[i], &found);
        calc_output_printf(out, "%s,%zu", name, i + 1);
        calc_sweep_write_row(out, study, &found, false);
    }
}

void calc_sweep_write_csv(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_result *result)
{
    calc_sweep_write_header(out, study, "list,rank");
    for (size_t g = 0; g < result->groups_count; g++) {
        write_rows(out, study, "front", &result->group[g].front);
        write_rows(out, study, "top", &result->group[g].top);
    }
}

/* ---- Summary --------------------------------------------------------------------------------- */

double calc_sweep_write_rate(const calc_sweep_result *result)
{
    return result->elapsed_s > 0 ? (double)result->counts.evaluated / result->elapsed_s : 0;
}

void calc_sweep_write_summary(calc_output *out, const calc_sweep_result *result)
{
    const calc_sweep_counts *c = &result->counts;
    double rate = calc_sweep_write_rate(result);
    calc_output_printf(out, "{\n  \"version\": \"%s\",\n  \"partial\": %s,\n", CALC_VERSION,
                       result->partial ? "true" : "false");
    calc_output_printf(out,
                       "  \"counts\": {\n    \"total\": %" PRIu64 ",\n    \"evaluated\": %" PRIu64
                       ",\n    \"feasible\": %" PRIu64 ",\n    \"filtered\": %" PRIu64
                       ",\n    \"skipped\": %" PRIu64 ",\n    \"rejected\": {",
                       c->total, c->evaluated, c->feasible, c->filtered, c->skipped);
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        calc_output_printf(out, "%s\n      \"%s\": %" PRIu64, v > CALC_VERDICT_OK + 1 ? "," : "",
                           calc_verdict_text((calc_verdict)v), c->rejected[v]);
    }
    calc_output_printf(out, "\n    }\n  },\n  \"elapsed_s\": %.6f,\n  \"threads\": %d,\n",
                       result->elapsed_s, result->threads);
    calc_output_text(out, "  \"cpu\": ");
    calc_json_string(out, result->cpu);
    calc_output_printf(out,
                       ",\n  \"evaluations_per_second\": %.0f,\n"
                       "  \"evaluations_per_second_per_core\": %.0f\n}\n",
                       rate, rate / result->threads);
}
