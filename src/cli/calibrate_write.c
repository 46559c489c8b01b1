#include "cli/calibrate_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/calibrate_held.h"
#include "io/json_save.h"
#include "spec/field.h"

static const char *const words[CALC_CALIBRATE_VIEWS] = {"assumed", "fitted", "unseen"};

void calc_calibrate_out_path(const char *out, bool one, const char *machine, char *path)
{
    size_t length = strlen(out);
    if (one && length > 5 && strcmp(out + length - 5, ".json") == 0) {
        snprintf(path, CALC_FIND_PATH_MAX, "%s", out);
    } else {
        snprintf(path, CALC_FIND_PATH_MAX, "%.3900s/%.150s.json", out, machine);
    }
}

static size_t views_of(const calc_calibrate_report *report)
{
    return report->unseen ? CALC_CALIBRATE_VIEWS : CALC_CALIBRATE_UNSEEN;
}

/* The same group among those of another view; NULL if it is empty there. */
static const calc_error_group *group_of(const calc_error_groups *groups,
                                        const calc_error_group *like)
{
    for (size_t i = 0; i < groups->count; i++) {
        const calc_error_group *g = &groups->item[i];
        if (strcmp(g->by, like->by) == 0 && strcmp(g->name, like->name) == 0 &&
            g->quantity == like->quantity) {
            return g;
        }
    }
    return NULL;
}

/* ---- For people ------------------------------------------------------------------------------ */

static void machines_text(const calc_calibration *c, unsigned machines, char *text, size_t size)
{
    size_t used = 0;
    bool all = true;
    text[0] = '\0';
    for (size_t m = 0; m < c->family.machines; m++) {
        bool has = machines >> m & 1;
        all = all && has;
        if (has && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     c->family.machine[m]);
        }
    }
    if (all && c->family.machines > 1) {
        snprintf(text, size, "all");
    }
}

static void write_unknown(calc_output *out, const calc_calibration *c, const calc_unknown *p)
{
    char machines[256];
    machines_text(c, p->machines, machines, sizeof machines);
    calc_output_printf(out, "  %-30s%10.4g%10.4g%8.1f %%%s  %s\n", p->constant->name, p->start,
                       p->value, 100 * calc_unknown_relative_error(p), p->determined ? " " : "*",
                       machines);
}

static void write_family(calc_output *out, const calc_calibration *c)
{
    char machines[256];
    machines_text(c, c->family.measured, machines, sizeof machines);
    calc_output_printf(out, "%s: %zu runs of %zu sources on %s\n",
                       c->family.name ? c->family.name : "machines", c->runs, c->sources,
                       strcmp(machines, "all") == 0 ? "all machines" : machines);
    calc_output_printf(out, "  %-30s%10s%10s%10s\n", "constant", "assumed", "fitted", "s.e.");
    size_t left = 0;
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        left += isnan(p->error) ? 1 : 0;
        if (!isnan(p->error)) {
            write_unknown(out, c, p);
        }
    }
    calc_output_printf(out,
                       "  * contradicted by the runs, but not determined by them\n"
                       "  %zu left as assumed:",
                       left);
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        if (isnan(p->error)) {
            calc_output_printf(out, " %s%s", p->constant->name, --left ? "," : "");
        }
    }
    calc_output_text(out, "\n\n");
}

static void write_spreads(calc_output *out, const calc_calibrate_report *report,
                          const calc_error_group *group)
{
    calc_output_printf(out, "%-36s%6zu", group->name, group->spread.count);
    for (size_t v = 0; v < views_of(report); v++) {
        const calc_error_group *g = group_of(report->groups[v], group);
        if (g) {
            calc_output_printf(out, " |%+6.1f%6.1f%6.1f%6.1f", 100 * g->spread.bias,
                               100 * g->spread.mean_abs, 100 * g->spread.median_abs,
                               100 * g->spread.p90_abs);
        }
    }
    calc_output_text(out, "\n");
}

void calc_calibrate_write_table(calc_output *out, const calc_calibrate_report *report)
{
    for (size_t i = 0; i < report->families; i++) {
        write_family(out, &report->family[i]);
    }
    calc_output_printf(out, "%-42s", "time of a step, errors in %");
    for (size_t v = 0; v < views_of(report); v++) {
        calc_output_printf(out, " | %-23s", words[v]);
    }
    calc_output_printf(out, "\n%-36s%6s", "", "n");
    for (size_t v = 0; v < views_of(report); v++) {
        calc_output_text(out, " |  bias  mean   med   p90");
    }
    calc_output_text(out, "\n");
    const calc_error_groups *fitted = report->groups[CALC_CALIBRATE_FITTED];
    for (size_t i = 0; i < fitted->count; i++) {
        if (strcmp(fitted->item[i].by, "set") == 0) {
            write_spreads(out, report, &fitted->item[i]);
        }
    }
    calc_calibrate_held_table(out, report);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_number(calc_output *out, const char *key, double value)
{
    char buffer[32];
    calc_output_printf(out, ", \"%s\": %s", key,
                       isfinite(value) ? calc_number_text(value, 1, buffer) : "null");
}

static void put_machines(calc_output *out, const calc_family *family, unsigned machines)
{
    const char *comma = "";
    calc_output_text(out, "[");
    for (size_t m = 0; m < family->machines; m++) {
        if (machines >> m & 1) {
            calc_output_text(out, comma);
            calc_json_string(out, family->machine[m]);
            comma = ", ";
        }
    }
    calc_output_text(out, "]");
}

static void put_family(calc_output *out, const calc_calibration *c)
{
    calc_output_printf(out, "    {\"name\": \"%s\", \"runs\": %zu, \"machines\": ",
                       c->family.name ? c->family.name : "", c->runs);
    put_machines(out, &c->family, c->family.measured);
    calc_output_text(out, ",\n     \"sources\": {");
    for (size_t i = 0; i < c->sources; i++) {
        calc_output_printf(out, "%s\"%s\": %zu", i ? ", " : "", c->source[i].name,
                           c->source[i].count);
    }
    calc_output_text(out, "},\n     \"constants\": [");
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        calc_output_printf(out, "%s\n      {\"name\": \"%s\", \"machines\": ", i ? "," : "",
                           p->constant->name);
        put_machines(out, &c->family, p->machines);
        calc_output_printf(out, ", \"unit\": \"%s\"", p->constant->unit);
        put_number(out, "assumed", p->start);
        put_number(out, "value", p->value);
        put_number(out, "relative_error", calc_unknown_relative_error(p));
        calc_output_printf(out, ", \"determined\": %s}", p->determined ? "true" : "false");
    }
    calc_output_text(out, "]}");
}

static void put_group(calc_output *out, const calc_calibrate_report *report,
                      const calc_error_group *group)
{
    calc_output_printf(out, "    {\"by\": \"%s\", \"name\": ", group->by);
    calc_json_string(out, group->name);
    calc_output_printf(out, ", \"n\": %zu", group->spread.count);
    for (size_t v = 0; v < views_of(report); v++) {
        const calc_error_group *g = group_of(report->groups[v], group);
        if (g) {
            calc_output_printf(out, ", \"%s\": {\"n\": %zu", words[v], g->spread.count);
            put_number(out, "bias", g->spread.bias);
            put_number(out, "mean_abs", g->spread.mean_abs);
            put_number(out, "median_abs", g->spread.median_abs);
            put_number(out, "p90_abs", g->spread.p90_abs);
            put_number(out, "worst_abs", g->spread.worst_abs);
            calc_output_text(out, "}");
        }
    }
    calc_output_text(out, "}");
}

static void put_run(calc_output *out, const calc_calibrate_report *report, size_t index)
{
    const calc_result *r = &report->results[CALC_CALIBRATE_FITTED]->item[index];
    calc_output_text(out, "    {\"id\": ");
    calc_json_string(out, r->prediction->map.row->id);
    calc_output_printf(out, ", \"source\": \"%s\", \"machine\": \"%s\"",
                       r->prediction->map.source->name, r->prediction->map.machine->system);
    put_number(out, "measured_s", r->measured);
    for (size_t v = 0; v < views_of(report); v++) {
        const calc_result *of = &report->results[v]->item[index];
        bool has = of->use == CALC_USE_SCORED;
        char key[16];
        snprintf(key, sizeof key, "%s_s", words[v]);
        put_number(out, key, has ? of->predicted : (double)NAN);
    }
    calc_output_text(out, "}");
}

void calc_calibrate_write_json(calc_output *out, const calc_calibrate_report *report)
{
    calc_output_printf(out, "{\n  \"version\": \"%s\",\n  \"families\": [", CALC_VERSION);
    for (size_t i = 0; i < report->families; i++) {
        calc_output_text(out, i ? ",\n" : "\n");
        put_family(out, &report->family[i]);
    }
    calc_output_text(out, "\n  ],\n  \"groups\": [");
    const calc_error_groups *fitted = report->groups[CALC_CALIBRATE_FITTED];
    for (size_t i = 0; i < fitted->count; i++) {
        calc_output_text(out, i ? ",\n" : "\n");
        put_group(out, report, &fitted->item[i]);
    }
    calc_output_text(out, "\n  ]");
    calc_calibrate_held_json(out, report);
    calc_output_text(out, ",\n  \"runs\": [");
    const calc_results *results = report->results[CALC_CALIBRATE_FITTED];
    const char *comma = "\n";
    for (size_t i = 0; i < results->count; i++) {
        if (results->item[i].use == CALC_USE_SCORED) {
            calc_output_text(out, comma);
            put_run(out, report, i);
            comma = ",\n";
        }
    }
    calc_output_text(out, "\n  ]\n}\n");
}
