#include "plan/layers_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stages/reshard.h"
#include "model/verdict.h"
#include "spec/layer_list.h"

/* ---- Options that matter --------------------------------------------------------------------- */

/* Whether a is no worse than b in anything. */
static bool covers(const calc_layers_part *a, const calc_layers_part *b)
{
    return a->micro_s <= b->micro_s && a->reduce_s <= b->reduce_s && a->gather_s <= b->gather_s &&
           a->reduce_room_s >= b->reduce_room_s && a->gather_room_s >= b->gather_room_s &&
           a->optimizer_s <= b->optimizer_s && a->held_bytes <= b->held_bytes &&
           a->flight_bytes <= b->flight_bytes && a->working_bytes <= b->working_bytes &&
           a->passing_bytes <= b->passing_bytes;
}

static bool covers_ends(const calc_layers_option *a, const calc_layers_option *b)
{
    return covers(&a->part[CALC_LAYERS_EMBEDDING], &b->part[CALC_LAYERS_EMBEDDING]) &&
           covers(&a->part[CALC_LAYERS_HEAD], &b->part[CALC_LAYERS_HEAD]);
}

/* The first of equal ones is kept. */
static void drop_covered(calc_layers_case *c)
{
    for (int i = 0; i < c->options; i++) {
        calc_layers_option *o = &c->option[i];
        for (int k = 0; k < c->options; k++) {
            const calc_layers_option *other = &c->option[k];
            if (k == i || other->group != o->group) {
                continue;
            }
            for (int kind = 0; kind < 2; kind++) {
                bool tie = covers(&o->part[kind], &other->part[kind]);
                if (other->layers[kind] && covers(&other->part[kind], &o->part[kind]) &&
                    (!tie || k < i)) {
                    o->layers[kind] = false;
                }
            }
            bool tie = covers_ends(o, other);
            if (other->ends && covers_ends(other, o) && (!tie || k < i)) {
                o->ends = false;
            }
        }
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static double switch_s(const calc_planner_layers *p, const calc_exec *a, const calc_exec *b)
{
    calc_reshard r = calc_reshard_of(p->app, p->system, a, b);
    return r.fw_s + r.bw_s;
}

static bool same_group(const calc_layer_strategy *a, const calc_layer_strategy *b)
{
    return a->tensor_par == b->tensor_par && a->context_par == b->context_par;
}

/* Activations may be rearranged in several steps, which may take less than one. */
static void set_detours(calc_layers_case *c)
{
    int n = c->groups;
    memcpy(c->detour_s, c->switch_s, sizeof c->detour_s);
    for (int by = 0; by < n; by++) {
        for (int g = 0; g < n; g++) {
            for (int h = 0; h < n; h++) {
                double s = c->detour_s[g * n + by] + c->detour_s[by * n + h];
                c->detour_s[g * n + h] = fmin(c->detour_s[g * n + h], s);
            }
        }
    }
}

/* Options with the same distribution of activations form a group. @return false if there are too
 * many groups */
static bool set_groups(const calc_planner_layers *p, calc_layers_case *c)
{
    calc_exec first[CALC_LAYERWISE_GROUPS];
    calc_layer_strategy of[CALC_LAYERWISE_GROUPS];
    c->groups = 0;
    for (int i = 0; i < c->options; i++) {
        calc_layers_option *o = &c->option[i];
        int g = 0;
        while (g < c->groups && !same_group(&of[g], &o->strategy)) {
            g++;
        }
        if (g == CALC_LAYERWISE_GROUPS) {
            return false;
        }
        if (g == c->groups) {
            of[g] = o->strategy;
            first[g] = calc_layer_list_exec(&c->candidate->base, &o->strategy);
            c->groups++;
        }
        o->group = g;
    }
    for (int g = 0; g < c->groups; g++) {
        for (int h = 0; h < c->groups; h++) {
            c->switch_s[g * c->groups + h] = g == h ? 0 : switch_s(p, &first[g], &first[h]);
        }
    }
    set_detours(c);
    return true;
}

/* ---- The case -------------------------------------------------------------------------------- */

/* A layout with a strategy everywhere. @return whether it is legal */
static bool add_option(const calc_planner_layers *p, const calc_layer_strategy *strategy,
                       calc_layout *room, calc_layers_case *c)
{
    calc_errors ignored = {0};
    calc_exec e = calc_layer_list_exec(&c->candidate->base, strategy);
    if (calc_check(p->app, p->system, &e, &ignored) != CALC_OK ||
        calc_verdict_networks(p->system, &e) != CALC_VERDICT_OK) {
        return false;
    }
    calc_layout_of(p->app, p->system, &e, CALC_COMPAT_NONE, NULL, room);
    if (c->options == 0) {
        c->common = calc_layers_common_of(room);
    }
    calc_layers_option *o = &c->option[c->options++];
    o->strategy = *strategy;
    o->layers[0] = c->common.layers[0] > 0;
    o->layers[1] = c->common.layers[1] > 0;
    o->ends = strategy->recompute == CALC_ACTIVATION_RECOMPUTE_NONE;
    calc_layers_option_of(room, o);
    return true;
}

static bool has_ends(const calc_layers_case *c)
{
    for (int i = 0; i < c->options; i++) {
        if (c->option[i].ends) {
            return true;
        }
    }
    return false;
}

calc_status calc_layers_case_of(const calc_planner_layers *planner,
                                const calc_layers_candidate *candidate, calc_layers_case *c)
{
    size_t most = candidate->strategies;
    *c = (calc_layers_case){.candidate = candidate, .cut = most > CALC_LAYERWISE_OPTIONS};
    most = c->cut ? CALC_LAYERWISE_OPTIONS : most;
    c->option = calloc(most + 1, sizeof *c->option);
    calc_layout *room = malloc(sizeof *room);
    if (!c->option || !room) {
        free(room);
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; candidate->listed && i < most; i++) {
        add_option(planner, &candidate->strategy[i], room, c);
    }
    free(room);
    if (c->options == 0 || !set_groups(planner, c)) {
        return CALC_ERR_RULE;
    }
    /* Where layers always recompute, the ends have their strategy. */
    for (int i = 0; i < c->options && !has_ends(c); i++) {
        c->option[i].ends = true;
    }
    drop_covered(c);
    c->micro_weight = c->common.microbatches * (1 + c->common.growth);
    return CALC_OK;
}

void calc_layers_case_free(calc_layers_case *c)
{
    free(c->option);
    c->option = NULL;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

calc_layers_part calc_layers_ends_of(const calc_layers_case *c, int ends, int stage)
{
    const calc_layers_option *o = &c->option[ends];
    calc_layers_part sum = {.micro_s = o->message_s, .fw_s = o->message_s / 2};
    if (calc_layers_is_first(stage)) {
        calc_layers_part_add(&sum, &o->part[CALC_LAYERS_EMBEDDING], 1);
    }
    if (calc_layers_is_last(c, stage)) {
        calc_layers_part_add(&sum, &o->part[CALC_LAYERS_HEAD], 1);
    }
    return sum;
}

double calc_layers_room_bytes(const calc_layers_case *c, int ends, int stage, const int layers[2])
{
    const calc_layers_common *m = &c->common;
    const calc_layers_option *o = &c->option[ends];
    calc_layers_part part = calc_layers_ends_of(c, ends, stage);
    double framework = o->framework_bytes[layers[0] > 0][layers[1] > 0] +
                       calc_layers_is_last(c, stage) * o->framework_head_bytes;
    return m->capacity_bytes - m->reserved_bytes - framework -
           calc_layers_bytes(&part, calc_layers_in_flight(m, stage));
}

double calc_layers_weighted_s(const calc_layers_case *c, const calc_layers_part *p)
{
    return p->micro_s + (calc_layers_exposed_s(&c->common, p) + p->optimizer_s) / c->micro_weight;
}
