/* Random small stages, and all that their layers can do, one sequence of options after the other.
 * Times and bytes are multiples of 1/64, so that sums are exact in any order. */
#ifndef CALC_TESTS_LAYERWISE_CASE_H
#define CALC_TESTS_LAYERWISE_CASE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "layerwise/stage.h"

enum { LAYERWISE_MOST = 2048 /* sequences: 4^5, or fewer */ };

typedef struct layerwise_case {
    calc_layerwise_stage stage;
    calc_layerwise_option option[2][4];
    double switch_s[4 * 4];
    int sequences;
    calc_layerwise_point sequence[LAYERWISE_MOST]; /* values of those that fit */
} layerwise_case;

static inline double layerwise_number(calc_rng *rng, int most)
{
    return calc_rng_below(rng, (uint32_t)most * 64) / 64.0;
}

/* Distances of points on a line, some of them at the same place: no detour is shorter. */
static inline void layerwise_switches(layerwise_case *c, calc_rng *rng)
{
    double at[4];
    uint32_t spread = 1 + calc_rng_below(rng, 300);
    for (int g = 0; g < 4; g++) {
        at[g] = calc_rng_below(rng, spread) / 64.0;
    }
    for (int g = 0; g < 4; g++) {
        for (int h = 0; h < 4; h++) {
            c->switch_s[g * 4 + h] = fabs(at[g] - at[h]);
        }
    }
    c->stage.groups = 4;
    c->stage.switch_s = c->switch_s;
    c->stage.before = (int)calc_rng_below(rng, 2) * (int)calc_rng_below(rng, 5);
    c->stage.behind = (int)calc_rng_below(rng, 2) * (int)calc_rng_below(rng, 5);
}

/* All sequences, whatever they hold, into c->sequence. */
static inline void layerwise_list(layerwise_case *c)
{
    int layers = c->stage.kind[0].layers + (c->stage.kinds > 1 ? c->stage.kind[1].layers : 0);
    int choice[5] = {0};
    c->sequences = 0;
    for (int i = 0; i >= 0;) {
        calc_layerwise_point *p = &c->sequence[c->sequences++];
        *p = (calc_layerwise_point){0};
        int at = c->stage.before;
        for (int l = 0; l < layers; l++) {
            int kind = l >= c->stage.kind[0].layers;
            const calc_layerwise_option *o = &c->option[kind][choice[l]];
            p->micro_s += o->micro_s;
            p->sync_s += o->sync_s;
            p->bytes += o->bytes;
            p->micro_s += at && c->stage.switch_s ? c->switch_s[(at - 1) * 4 + o->group] : 0;
            at = o->group + 1;
        }
        p->micro_s += at && c->stage.behind && c->stage.switch_s
                          ? c->switch_s[(at - 1) * 4 + c->stage.behind - 1]
                          : 0;
        for (i = layers - 1; i >= 0; i--) {
            if (++choice[i] < c->stage.kind[i >= c->stage.kind[0].layers].options) {
                break;
            }
            choice[i] = 0;
        }
    }
}

static inline void layerwise_draw(layerwise_case *c, calc_rng *rng)
{
    c->stage = (calc_layerwise_stage){.kinds = 1 + (int)calc_rng_below(rng, 2)};
    int left = 5;
    for (int k = 0; k < c->stage.kinds; k++) {
        int layers = k ? left : 1 + (int)calc_rng_below(rng, c->stage.kinds == 1 ? 5 : 4);
        left -= layers;
        c->stage.kind[k] = (calc_layerwise_kind){
            .layers = layers, .options = 1 + (int)calc_rng_below(rng, 4), .option = c->option[k]};
        for (int i = 0; i < c->stage.kind[k].options; i++) {
            double ease = calc_rng_below(rng, 64) / 64.0;
            c->option[k][i] =
                (calc_layerwise_option){.micro_s = 4 + 4 * ease + layerwise_number(rng, 1),
                                        .sync_s = layerwise_number(rng, 2),
                                        .bytes = 12 - 8 * ease + layerwise_number(rng, 2),
                                        .group = (int)calc_rng_below(rng, 4)};
        }
    }
    if (calc_rng_below(rng, 4)) {
        layerwise_switches(c, rng);
    }
    layerwise_list(c);
    double least = INFINITY;
    double most = 0;
    for (int i = 0; i < c->sequences; i++) {
        least = fmin(least, c->sequence[i].bytes);
        most = fmax(most, c->sequence[i].bytes);
    }
    /* Now and then exactly what one of them holds, or too little for any. */
    c->stage.budget_bytes = calc_rng_below(rng, 3)
                                ? least + (most - least) * (calc_rng_real(rng) * 1.1 - 0.05)
                                : c->sequence[calc_rng_below(rng, (uint32_t)c->sequences)].bytes;
}

#endif
