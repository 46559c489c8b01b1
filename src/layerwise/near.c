#include "layerwise/core.h"

#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"

/* Rounding of sums, as a share. */
static const double ROUNDING = 1e-12;

typedef struct near_list {
    calc_layerwise_core core;
    calc_layerwise_front *out;
    size_t capacity, most;
    bool no_memory;
} near_list;

static void keep(calc_layerwise_search *search, const calc_layerwise_answer *answer)
{
    near_list *n = search->data;
    calc_layerwise_front *out = n->out;
    if (answer->x > search->limit) {
        return;
    }
    calc_layerwise_point *grown =
        out->count < n->most ? calc_grown(out->point, out->count, &n->capacity, sizeof *out->point)
                             : NULL;
    if (!grown) {
        n->no_memory = out->count < n->most;
        out->proven = false;
        search->limit = -INFINITY; /* stop */
        return;
    }
    out->point = grown;
    out->point[out->count++] = calc_layerwise_point_of(&n->core, answer);
}

bool calc_layerwise_near(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         double slack_s, size_t most, calc_layerwise_front *out)
{
    *out = (calc_layerwise_front){.proven = true};
    calc_layerwise_point best;
    if (!calc_layerwise_best(stage, micro_weight, sync_weight, &best)) {
        return true;
    }
    near_list *n = malloc(sizeof *n);
    if (!n) {
        return false;
    }
    calc_layerwise_core_make(&n->core, stage, CALC_LAYERWISE_EVERY_OPTION, micro_weight,
                             sync_weight);
    double best_s = micro_weight * best.micro_s + sync_weight * best.sync_s;
    n->out = out;
    n->most = most;
    n->capacity = 0;
    n->no_memory = false;
    calc_layerwise_search search = {
        .core = &n->core,
        .alpha = 1,
        .limit = best_s + slack_s + ROUNDING * fabs(best_s),
        .tie_bytes = INFINITY,
        .all = true,
        .found = keep,
        .data = n,
    };
    calc_layerwise_look(&search);
    bool done = !n->no_memory;
    free(n);
    if (!done) {
        free(out->point);
        *out = (calc_layerwise_front){.count = 0};
    }
    return done;
}
