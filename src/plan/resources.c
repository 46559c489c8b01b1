#include "plan/resources.h"

#include <stdio.h>

/* Resources before and after the networks, in order. */
enum { MATRIX, VECTOR, MEM1, MEM2, NETWORKS };
enum { CAPACITY1, CAPACITY2, CAPACITIES };

size_t calc_resources_rates(const calc_system *system)
{
    return NETWORKS + (size_t)system->networks_count;
}

size_t calc_resources_count(const calc_system *system)
{
    return calc_resources_rates(system) + CAPACITIES;
}

static size_t capacity_index(const calc_system *system, size_t which)
{
    return which - calc_resources_rates(system);
}

bool calc_resource_there(const calc_system *system, size_t which)
{
    bool second = which == MEM2 || (which >= calc_resources_rates(system) &&
                                    capacity_index(system, which) == CAPACITY2);
    return !second || system->chip.mem2.capacity_bytes > 0;
}

static void grow_engine(calc_engine *engine)
{
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        engine[i].flop_per_s *= CALC_RESOURCE_MORE;
    }
}

void calc_resource_grow(calc_system *system, size_t which)
{
    switch (which) {
    case MATRIX:
        grow_engine(system->chip.matrix);
        return;
    case VECTOR:
        grow_engine(system->chip.vector);
        return;
    case MEM1:
        system->chip.mem1.bytes_per_s *= CALC_RESOURCE_MORE;
        return;
    case MEM2:
        system->chip.mem2.bytes_per_s *= CALC_RESOURCE_MORE;
        return;
    default:
        break;
    }
    if (which < calc_resources_rates(system)) {
        system->networks[which - NETWORKS].bytes_per_s *= CALC_RESOURCE_MORE;
    } else if (capacity_index(system, which) == CAPACITY1) {
        system->chip.mem1.capacity_bytes *= CALC_RESOURCE_MORE;
    } else {
        system->chip.mem2.capacity_bytes *= CALC_RESOURCE_MORE;
    }
}

char *calc_resource_text(const calc_system *system, size_t which, char text[CALC_RESOURCE_TEXT])
{
    static const char *const rates[] = {"matrix arithmetic", "vector arithmetic",
                                        "bandwidth of mem1", "bandwidth of mem2"};
    if (which < NETWORKS) {
        snprintf(text, CALC_RESOURCE_TEXT, "%s", rates[which]);
    } else if (which < calc_resources_rates(system)) {
        snprintf(text, CALC_RESOURCE_TEXT, "bandwidth of networks[%zu]", which - NETWORKS);
    } else {
        snprintf(text, CALC_RESOURCE_TEXT, "capacity of mem%zu", capacity_index(system, which) + 1);
    }
    return text;
}
