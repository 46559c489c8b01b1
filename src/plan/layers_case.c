#include "plan/layers_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stages/reshard.h"
#include "model/verdict.h"
#include "spec/layer_list.h"
#include "spec/schedule.h"

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

static double switch_s(const calc_planner *p, const calc_exec *a, const calc_exec *b)
{
    calc_reshard r = calc_reshard_of(p->app, &p->chip[0].system, a, b);
    return r.fw_s + r.bw_s;
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
static bool set_groups(const calc_planner *p, calc_layers_case *c)
{
    calc_exec first[CALC_LAYERWISE_GROUPS];
    calc_layer_strategy of[CALC_LAYERWISE_GROUPS];
    c->groups = 0;
    for (int i = 0; i < c->options; i++) {
        calc_layers_option *o = &c->option[i];
        int g = 0;
        while (g < c->groups && (of[g].tensor_par != o->strategy.tensor_par ||
                                 of[g].context_par != o->strategy.context_par)) {
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
static bool add_option(const calc_planner *p, const calc_layer_strategy *strategy,
                       calc_layout *room, calc_layers_case *c)
{
    calc_errors ignored = {0};
    calc_exec e = calc_layer_list_exec(&c->candidate->base, strategy);
    if (calc_check(p->app, &p->chip[0].system, &e, &ignored) != CALC_OK ||
        calc_verdict_networks(&p->chip[0].system, &e) != CALC_VERDICT_OK) {
        return false;
    }
    calc_layout_of(p->app, &p->chip[0].system, &e, CALC_COMPAT_NONE, NULL, room);
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

calc_status calc_layers_case_of(const calc_planner *planner, const calc_layers_candidate *candidate,
                                calc_layers_case *c)
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
    bool ends = false;
    for (int i = 0; i < c->options; i++) {
        ends = ends || c->option[i].ends;
    }
    c->option[0].ends = c->option[0].ends || !ends;
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

/* ---- Bounds ---------------------------------------------------------------------------------- */

enum { STEPS = 50 /* to a length of the step */ };

/* A unit of work with an option, or a mixture of options. */
typedef struct corner {
    double s, bytes;
} corner;

/* A stage of the relaxed problem, with fractions of layers. */
typedef struct water {
    double fixed_s, room_bytes;
    int corners;
    corner *corner; /* convex: bytes ascending, seconds descending */
} water;

/* The least that a part adds to its stage's weighted time. */
static double part_least_s(const calc_layers_case *c, const calc_layers_part *p)
{
    const calc_layers_common *m = &c->common;
    double exposed_s = calc_layers_exposed_line_s(m, p->reduce_s, p->reduce_room_s, 0) +
                       calc_layers_exposed_line_s(m, p->gather_s, p->gather_room_s, 0);
    return p->micro_s + (exposed_s + p->optimizer_s) / c->micro_weight;
}

/* ---- A stage --------------------------------------------------------------------------------- */

static void insert(water *w, corner x)
{
    int at = w->corners++;
    while (at > 0 && (w->corner[at - 1].bytes > x.bytes ||
                      (w->corner[at - 1].bytes == x.bytes && w->corner[at - 1].s > x.s))) {
        w->corner[at] = w->corner[at - 1];
        at--;
    }
    w->corner[at] = x;
}

static void make_convex(water *w)
{
    int kept = 0;
    for (int i = 0; i < w->corners; i++) {
        corner x = w->corner[i];
        if (kept > 0 && x.s >= w->corner[kept - 1].s) {
            continue;
        }
        for (; kept > 1; kept--) {
            corner a = w->corner[kept - 2], b = w->corner[kept - 1];
            if ((b.s - a.s) * (x.bytes - a.bytes) < (x.s - a.s) * (b.bytes - a.bytes)) {
                break; /* b is below the line from a to x */
            }
        }
        w->corner[kept++] = x;
    }
    w->corners = kept;
}

/* Ends: the least memory and time of each over all options that they may have. */
static void set_fixed(const calc_layers_case *c, int ends, int stage, double working,
                      double passing, water *w)
{
    w->fixed_s = INFINITY;
    w->room_bytes = -INFINITY;
    for (int i = 0; i < c->options; i++) {
        if (ends >= 0 ? i != ends : !c->option[i].ends) {
            continue;
        }
        calc_layers_part part = calc_layers_ends_of(c, i, stage);
        double room = fmax(calc_layers_room_bytes(c, i, stage, (const int[2]){1, 0}),
                           calc_layers_room_bytes(c, i, stage, (const int[2]){0, 1}));
        /* The logits have been freed when a pass runs through a layer. */
        room -= fmax(working, part.working_bytes) + passing;
        w->fixed_s = fmin(w->fixed_s, part_least_s(c, &part));
        w->room_bytes = fmax(w->room_bytes, room);
    }
}

/* @param unit  of work in a layer of each kind */
static void make(const calc_layers_case *c, int ends, int stage, const double unit[2], water *w)
{
    double in_flight = calc_layers_in_flight(&c->common, stage);
    double working = INFINITY;
    double passing = INFINITY;
    w->corners = 0;
    for (int i = 0; i < c->options; i++) {
        const calc_layers_option *o = &c->option[i];
        for (int kind = 0; kind < 2; kind++) {
            if (o->layers[kind]) {
                const calc_layers_part *p = &o->part[kind];
                working = fmin(working, p->working_bytes);
                passing = fmin(passing, p->passing_bytes);
                insert(w, (corner){part_least_s(c, p) / unit[kind],
                                   calc_layers_bytes(p, in_flight) / unit[kind]});
            }
        }
    }
    set_fixed(c, ends, stage, working, passing, w);
    make_convex(w);
}

/* The most work that a stage does in a time. Between two corners time is linear in work: the more
 * work there is, the larger the share of the corner that holds less. */
static double most_work(const water *w, double s, double all)
{
    double rest_s = s - w->fixed_s;
    double fits = 0; /* work with this corner, and with quicker ones */
    double work = 0;
    if (rest_s <= 0 || w->room_bytes <= 0) {
        return 0;
    }
    for (int i = w->corners - 1; i >= 0 && work >= fits; i--) {
        corner a = w->corner[i];
        corner b = w->corner[i + 1 < w->corners ? i + 1 : i];
        double price = b.bytes > a.bytes ? (b.s - a.s) / (b.bytes - a.bytes) : 0;
        fits = a.bytes > 0 ? w->room_bytes / a.bytes : all;
        work = (rest_s - price * w->room_bytes) / (a.s - price * a.bytes);
    }
    return fmin(all, fmin(work, fits));
}

/* ---- The pipeline ---------------------------------------------------------------------------- */

/* The least that a micro-batch takes on all stages, messages included. */
static double through_s(const calc_layers_case *c, int ends)
{
    double sum = INFINITY;
    for (int i = 0; i < c->options; i++) {
        const calc_layers_option *o = &c->option[i];
        if (ends >= 0 ? i == ends : o->ends) {
            sum =
                fmin(sum, c->common.stages * o->message_s + o->part[CALC_LAYERS_EMBEDDING].micro_s +
                              o->part[CALC_LAYERS_HEAD].micro_s);
        }
    }
    for (int kind = 0; kind < 2; kind++) {
        double least = INFINITY;
        for (int i = 0; i < c->options; i++) {
            const calc_layers_option *o = &c->option[i];
            least = o->layers[kind] ? fmin(least, o->part[kind].micro_s) : least;
        }
        sum += c->common.layers[kind] > 0 ? c->common.layers[kind] * least : 0;
    }
    return sum;
}

/* The most of the forward time that is messages and switches. */
static double most_between_s(const calc_layers_case *c)
{
    double message_s = 0;
    double switch_s = 0;
    for (int i = 0; i < c->options; i++) {
        message_s = fmax(message_s, c->option[i].message_s);
    }
    for (int i = 0; i < c->groups * c->groups; i++) {
        switch_s = fmax(switch_s, c->switch_s[i]);
    }
    return message_s / 2 + switch_s;
}

static double forward_of(const calc_layers_part *p)
{
    return p->micro_s > 0 ? p->fw_s / p->micro_s : 0;
}

calc_layers_floor calc_layers_floor_of(const calc_layers_case *c, int ends)
{
    const calc_layers_common *m = &c->common;
    bool waits = calc_schedule_traits_of(m->schedule).wgrad_apart;
    calc_layers_floor f = {.through_s = through_s(c, ends), .stage_s = INFINITY};
    double tied_s = INFINITY;
    for (int i = 0; i < c->options; i++) {
        const calc_layers_option *o = &c->option[i];
        if (ends >= 0 ? i == ends : o->ends) {
            f.forward = fmax(f.forward, forward_of(&o->part[CALC_LAYERS_EMBEDDING]));
            f.forward = fmax(f.forward, forward_of(&o->part[CALC_LAYERS_HEAD]));
            tied_s = fmin(tied_s, o->tied_s);
        }
        for (int kind = 0; kind < 2; kind++) {
            if (o->layers[kind]) {
                const calc_layers_part *p = &o->part[kind];
                f.stage_s = fmin(f.stage_s, waits ? p->fw_s : p->micro_s);
                f.forward = fmax(f.forward, forward_of(p));
            }
        }
    }
    f.between_s = most_between_s(c);
    f.after_s = m->after_s + tied_s;
    return f;
}

double calc_layers_allowed_s(const calc_layers_case *c, const calc_layers_floor *f, int stage,
                             double step_s)
{
    const calc_layers_common *m = &c->common;
    double grown = 1 + m->growth;
    double rest_s = step_s - f->after_s;
    double first_s = (rest_s - grown * stage * f->stage_s) / c->micro_weight;
    bool line = m->chunks == 1 && m->schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    bool gpipe = m->schedule == CALC_PIPELINE_SCHEDULE_GPIPE;
    double later = line ? m->stages - 1 - stage : 0;
    double others = m->microbatches - 1 - later * f->forward;
    if ((line || gpipe) && others > 0) {
        double all_s = f->through_s - later * f->between_s;
        first_s = fmin(first_s, (rest_s - grown * all_s) / (grown * others));
    }
    return first_s;
}

/* The least step in which all stages together do all work; INFINITY if it does not fit. */
static double least_step_s(const calc_layers_case *c, const calc_layers_floor *f,
                           const water *stage, double work, double high_s)
{
    double low_s = 0;
    for (int step = -1; step < STEPS; step++) {
        double mid_s = step < 0 ? high_s : (low_s + high_s) / 2;
        double sum = 0;
        for (int i = 0; i < (int)c->common.stages; i++) {
            sum += most_work(&stage[i], calc_layers_allowed_s(c, f, i, mid_s), work);
        }
        bool enough = sum >= work * (1 - 1e-9);
        if (step < 0 && !enough) {
            return INFINITY;
        }
        high_s = enough ? mid_s : high_s;
        low_s = enough ? low_s : mid_s;
    }
    return low_s;
}

double calc_layers_bound_s(const calc_layers_case *c, int ends)
{
    const calc_layers_common *m = &c->common;
    int stages = (int)m->stages;
    double unit[2] = {0, 0};
    double work = 0;
    const calc_layers_floor f = calc_layers_floor_of(c, ends);
    for (int kind = 0; kind < 2; kind++) {
        double least_s = INFINITY; /* weighted time of a layer */
        for (int i = 0; i < c->options; i++) {
            const calc_layers_option *o = &c->option[i];
            least_s = o->layers[kind] ? fmin(least_s, part_least_s(c, &o->part[kind])) : least_s;
        }
        unit[kind] = m->layers[kind] > 0 ? least_s : 0;
        work += m->layers[kind] * unit[kind];
    }
    water *stage = calloc((size_t)stages, sizeof *stage);
    size_t room = 2 * (size_t)c->options;
    corner *all = malloc((size_t)stages * room * sizeof *all);
    if (!stage || !all) {
        free(stage);
        free(all);
        return 0; /* bounds nothing */
    }
    double high_s = 0;
    for (int i = 0; i < stages; i++) {
        stage[i].corner = all + (size_t)i * room;
        make(c, ends, i, unit, &stage[i]);
        high_s += stage[i].fixed_s + (stage[i].corners > 0 ? work * stage[i].corner[0].s : 0);
    }
    high_s = 2 * (c->micro_weight + stages) * high_s + f.after_s;
    double bound_s = least_step_s(c, &f, stage, work, high_s);
    free(stage);
    free(all);
    return bound_s;
}
