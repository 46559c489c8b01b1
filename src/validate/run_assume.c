#include "validate/run_assume.h"

#include <string.h>

void calc_run_assume(calc_run_map *map, const char *text)
{
    for (int i = 0; i < map->assumptions; i++) {
        if (strcmp(map->assumption[i], text) == 0) {
            return;
        }
    }
    if (map->assumptions < CALC_RUN_MAP_ASSUMPTIONS) {
        map->assumption[map->assumptions++] = text;
    }
}

bool calc_run_assume_trait(calc_run_map *map, int trait, bool applies)
{
    bool has = (map->source->traits & trait) != 0;
    if (has && applies) {
        calc_run_assume(map, calc_run_source_assumption(trait));
    }
    return has;
}
