#include "validate/run_machines.h"

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
