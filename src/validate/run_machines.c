#include "validate/run_machines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "validate/own_runs.h"

/* The first row that fits counts: special machines before their kind. */
static const calc_run_machine machines[] = {
    {"A100", "vtrain_multi", "vtrain_a100", "A100"}, /* 800 Gb/s per node */
    {"A100", "vtrain_single", "vtrain_a100", "A100"},
    {"B200", "simumax_b200", "b200_180g", "Blackwell"}, /* slower clocks than other B200 */
    {"A100-SXM4-40", NULL, "a100_sxm_40g", "A100"},
    {"A100", NULL, "a100_sxm_80g", "A100"},
    {"V100", NULL, "v100_sxm", "A100"},
    {"H100-SXM-96", NULL, "h100_sxm_500w", "H100"},
    {"H800", NULL, "h800", "H100"},
    {"H200", NULL, "h200", "H100"},
    {"H100", NULL, "h100_sxm", "H100"},
    {"GB300", NULL, "gb300_nvl72", "Blackwell"},
    {"GB200", NULL, "gb200_nvl72", "Blackwell"},
    {"B300", NULL, "b300", "Blackwell"},
    {"B200", NULL, "b200", "Blackwell"},
    {"MI355X", NULL, "mi355x", "CDNA"},
    {"MI325X", NULL, "mi325x", "CDNA"},
    {"MI300X", NULL, "mi300x", "CDNA"},
    {"Ascend", NULL, "ascend_910b", "910B"}};

const calc_run_machine *calc_run_machine_of(const calc_runs_row *row, const calc_run_source *source)
{
    if (row->own && row->own->machine) {
        return row->own->machine;
    }
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const calc_run_machine *m = &machines[i];
        if (calc_runs_has_any_case(row->hardware, m->contains) &&
            (!m->source || strcmp(m->source, source->name) == 0)) {
            return m;
        }
    }
    return NULL;
}

const char *calc_run_machine_family(const char *system)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (strcmp(machines[i].system, system) == 0) {
            return machines[i].family;
        }
    }
    return "";
}

/* Where the number ends that stands before `end`, blanks between them, begins. */
static const char *number_before(const char *text, const char *end)
{
    while (end > text && isspace((unsigned char)end[-1])) {
        end--;
    }
    while (end > text && (isdigit((unsigned char)end[-1]) || end[-1] == '.')) {
        end--;
    }
    return end;
}

/* "8x" or "8 x" anywhere: so many links; 1 if there is none. */
static double links_of(const char *text)
{
    for (const char *x = strchr(text, 'x'); x; x = strchr(x + 1, 'x')) {
        double links = strtod(number_before(text, x), NULL);
        if (links > 0 && !isalnum((unsigned char)x[1])) {
            return links;
        }
    }
    return 1;
}

double calc_run_machine_network(const calc_runs_row *row)
{
    const char *text = row->inter_node_net;
    const char *unit = strstr(text, "Gb/s");
    unit = unit ? unit : strstr(text, "Gbps");
    double gbit = unit ? strtod(number_before(text, unit), NULL) : 0;
    bool each = calc_runs_has(text, "per GPU");
    double sharing = each ? 1 : calc_runs_or(row->gpus_per_node, 0);
    return gbit > 0 && sharing > 0 ? links_of(text) * gbit / sharing * 1e9 / 8 : 0;
}
