#include "galvatron/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

enum {
    KINDS = CALC_LAYERWISE_KINDS,
    PICKS = CALC_LAYERWISE_PICKS,
    GROUPS = CALC_GALVATRON_GROUPS,
    MOST_ANSWERS = 20000
};

/* The best sum with a candidate as the last of the first layers. */
typedef struct cell {
    double value;   /* the least sum */
    int32_t to;     /* state of the layers before; -1: not visited */
    int16_t before; /* candidate of the layer before */
} cell;

/* The first layers of a stage with a memory of `mb`. */
typedef struct state {
    int layers, mb;
    int32_t next; /* next state with as many layers; -1: none */
} state;

typedef struct programme {
    const calc_galvatron_posed *posed;
    const calc_layerwise_stage *stage;
    int stage_index, layers, most_mb;
    int candidates;  /* number of strategies that answers use */
    int *candidate;  /* strategies, ascending */
    int *index;      /* [strategies]: candidates */
    double *inter_s; /* [kinds][candidates to][candidates from] */
    double *intra_s; /* [kinds][candidates] */
    state *state;
    size_t states, room;
    int32_t *first; /* [layers + 1]: states */
    int32_t *place; /* [places]: states by layers and MB, open addressing; -1: none */
    size_t places;  /* a power of two */
    cell *cell;     /* [states][candidates] */
    size_t cells;
    bool no_memory;
} programme;

/* ---- States ---------------------------------------------------------------------------------- */

static size_t place_of(const programme *p, int layers, int mb)
{
    size_t at = ((size_t)layers * 0x9E3779B97F4A7C15U) ^ ((size_t)mb * 0xC2B2AE3D27D4EB4FU);
    at = (at ^ at >> 29) & (p->places - 1);
    while (p->place[at] >= 0 &&
           (p->state[p->place[at]].layers != layers || p->state[p->place[at]].mb != mb)) {
        at = (at + 1) & (p->places - 1);
    }
    return at;
}

static bool grow_places(programme *p)
{
    if (p->states * 2 < p->places) {
        return true;
    }
    size_t places = p->places ? p->places * 2 : 1024;
    int32_t *grown = malloc(places * sizeof *grown);
    if (!grown) {
        return false;
    }
    free(p->place);
    p->place = grown;
    p->places = places;
    memset(grown, -1, places * sizeof *grown);
    for (size_t i = 0; i < p->states; i++) {
        grown[place_of(p, p->state[i].layers, p->state[i].mb)] = (int32_t)i;
    }
    return true;
}

/* Makes room for one more state with its candidates. */
static bool grow(programme *p)
{
    state *grown = calc_grown(p->state, p->states, &p->room, sizeof *p->state);
    p->state = grown ? grown : p->state;
    if (!grown || !grow_places(p)) {
        return false;
    }
    size_t cells = p->room * (size_t)p->candidates;
    if (cells > p->cells) {
        cell *wider = realloc(p->cell, cells * sizeof *wider);
        if (!wider) {
            return false;
        }
        p->cell = wider;
        p->cells = cells;
    }
    return true;
}

/* @return its index; -1: no memory */
static int32_t state_of(programme *p, int layers, int mb)
{
    if (!grow(p)) {
        p->no_memory = true;
        return -1;
    }
    size_t place = place_of(p, layers, mb);
    if (p->place[place] < 0) {
        int32_t i = (int32_t)p->states++;
        p->place[place] = i;
        p->state[i] = (state){layers, mb, p->first[layers]};
        p->first[layers] = i;
        for (int s = 0; s < p->candidates; s++) {
            p->cell[i * p->candidates + s].to = -1;
        }
    }
    return p->place[place];
}

/* The rest of an answer while its last layers are removed, in any order. */
typedef struct rest {
    int kinds;
    int picks[KINDS];
    struct {
        int candidate, mb, layers;
    } pick[KINDS][PICKS];
} rest;

/* Enters the beginnings of the rest, each for one order of its last layers. Picks from `from` on
 * are not removed, so that each beginning is entered once. */
static void enter(programme *p, rest *r, int layers, int mb, int kind, int from)
{
    int32_t at = state_of(p, layers, mb);
    while (kind >= 0) {
        int left = 0;
        for (int i = 0; i < r->picks[kind]; i++) {
            left += r->pick[kind][i].layers;
        }
        if (left > 0) {
            break;
        }
        kind--;
        from = 0;
    }
    for (int i = 0; kind >= 0 && i < r->picks[kind] && !p->no_memory; i++) {
        if (r->pick[kind][i].layers == 0) {
            continue;
        }
        int before_mb = mb - r->pick[kind][i].mb;
        int32_t to = state_of(p, layers - 1, before_mb);
        if (to < 0) {
            return;
        }
        p->cell[at * p->candidates + r->pick[kind][i].candidate].to = to;
        if (i >= from) {
            r->pick[kind][i].layers--;
            enter(p, r, layers - 1, before_mb, kind, i);
            r->pick[kind][i].layers++;
        }
    }
}

/* ---- Upstream's sums ------------------------------------------------------------------------- */

static int kind_of(const programme *p, int layer)
{
    int kind = 0;
    for (; layer >= p->stage->kind[kind].layers; kind++) {
        layer -= p->stage->kind[kind].layers;
    }
    return kind;
}

/* Computes the least value of a state with a candidate as its last layer, and the first predecessor
 * that gives it. */
static void evaluate(programme *p, int32_t i, int kind, int s)
{
    size_t n = (size_t)p->candidates;
    cell *at = &p->cell[(size_t)i * n + (size_t)s];
    double intra_s = p->intra_s[(size_t)kind * n + (size_t)s];
    at->value = INFINITY;
    at->before = -1;
    if (at->to >= 0 && p->state[i].layers == 1) {
        at->value = intra_s;
    } else if (at->to >= 0) {
        const cell *before = &p->cell[(size_t)at->to * n];
        const double *inter_s = &p->inter_s[((size_t)kind * n + (size_t)s) * n];
        for (size_t b = 0; b < n; b++) {
            double value = before[b].value + inter_s[b] + intra_s;
            if (value < at->value) {
                at->value = value;
                at->before = (int16_t)b;
            }
        }
    }
}

static bool trace(programme *p, int *choice, double *remain_mb)
{
    for (int layers = 1; layers <= p->layers; layers++) {
        int kind = kind_of(p, layers - 1);
        for (int32_t i = p->first[layers]; i >= 0; i = p->state[i].next) {
            for (int s = 0; s < p->candidates; s++) {
                evaluate(p, i, kind, s);
            }
        }
    }
    size_t n = (size_t)p->candidates;
    size_t i = (size_t)p->first[p->layers];
    size_t s = 0;
    for (size_t other = 1; other < n && p->layers; other++) {
        s = p->cell[i * n + other].value < p->cell[i * n + s].value ? other : s;
    }
    for (int layer = p->layers - 1; layer >= 0; layer--) {
        const cell *at = &p->cell[i * n + s];
        choice[layer] = p->candidate[s];
        if (at->to < 0) {
            return false;
        }
        i = (size_t)at->to;
        s = (size_t)(at->before < 0 ? 0 : at->before);
    }
    *remain_mb = p->state[i].mb;
    return true;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Upstream's cost between groups, the least over the kinds, so that no answer is missed. */
static void fill_switches(const programme *p, double *switch_s)
{
    const calc_galvatron_posed *posed = p->posed;
    for (int i = 0; i < GROUPS * GROUPS; i++) { /* INFINITY: no layer has such a degree */
        switch_s[i] = i % (GROUPS + 1) ? INFINITY : 0;
    }
    for (int kind = 0; kind < p->stage->kinds; kind++) {
        int type = calc_galvatron_type_of(posed, p->stage_index, kind);
        bool known[GROUPS * GROUPS] = {false};
        for (int i = 0; i < posed->strategies; i++) {
            for (int j = 0; j < posed->strategies; j++) {
                int at = p->stage->kind[kind].option[i].group * GROUPS +
                         p->stage->kind[kind].option[j].group;
                if (at % (GROUPS + 1) && !known[at]) {
                    known[at] = true;
                    switch_s[at] =
                        fmin(switch_s[at], calc_galvatron_transition(&posed->c, &posed->layer[i],
                                                                     &posed->layer[j], type));
                }
            }
        }
    }
    for (int i = 0; i < GROUPS * GROUPS && !posed->c.request->sequence_parallel; i++) {
        switch_s[i] = 0;
    }
    calc_galvatron_shorten(switch_s);
}

static void mark(programme *p, const calc_layerwise_front *answers)
{
    for (size_t a = 0; a < answers->count; a++) {
        for (int kind = 0; kind < p->stage->kinds; kind++) {
            for (int i = 0; i < answers->point[a].picks[kind]; i++) {
                p->index[answers->point[a].pick[kind][i].option] = 1;
            }
        }
    }
    p->candidates = 0;
    for (int s = 0; s < p->posed->strategies; s++) {
        if (p->index[s]) {
            p->index[s] = p->candidates;
            p->candidate[p->candidates++] = s;
        }
    }
}

static void fill_costs(programme *p)
{
    const calc_galvatron_posed *posed = p->posed;
    double *inter_s = p->inter_s;
    double *intra_s = p->intra_s;
    for (int kind = 0; kind < p->stage->kinds; kind++) {
        int type = calc_galvatron_type_of(posed, p->stage_index, kind);
        for (int s = 0; s < p->candidates; s++) {
            *intra_s++ = posed->cost[type * posed->strategies + p->candidate[s]].sync_s;
            for (int b = 0; b < p->candidates; b++) {
                *inter_s++ =
                    b == s ? 0
                           : calc_galvatron_transition(&posed->c, &posed->layer[p->candidate[b]],
                                                       &posed->layer[p->candidate[s]], type);
            }
        }
    }
}

static void enter_all(programme *p, const calc_layerwise_front *answers)
{
    for (int i = 0; i <= p->layers; i++) {
        p->first[i] = -1;
    }
    for (size_t a = 0; a < answers->count && !p->no_memory; a++) {
        const calc_layerwise_point *point = &answers->point[a];
        rest r = {.kinds = p->stage->kinds};
        for (int kind = 0; kind < r.kinds; kind++) {
            r.picks[kind] = point->picks[kind];
            for (int i = 0; i < point->picks[kind]; i++) {
                int option = point->pick[kind][i].option;
                r.pick[kind][i].candidate = p->index[option];
                r.pick[kind][i].mb = (int)p->stage->kind[kind].option[option].bytes;
                r.pick[kind][i].layers = point->pick[kind][i].layers;
            }
        }
        enter(p, &r, p->layers, p->most_mb, r.kinds - 1, 0);
    }
}

static calc_status solve(programme *p, double room_mb, int *choice, double *remain_mb)
{
    static const double MOST_TIE_S = 4e-9; /* constants that break ties between equal answers */
    double switch_s[GROUPS * GROUPS];
    fill_switches(p, switch_s);
    calc_layerwise_stage stage = *p->stage;
    stage.budget_bytes = room_mb;
    stage.switch_s = switch_s;
    calc_layerwise_front answers;
    if (!calc_layerwise_near(&stage, 1, 1, MOST_TIE_S * p->layers, MOST_ANSWERS, &answers)) {
        return CALC_ERR_NOMEM;
    }
    calc_status status = CALC_ERR_RULE;
    if (answers.count > 0) {
        mark(p, &answers);
        fill_costs(p);
        enter_all(p, &answers);
        bool traced = !p->no_memory && trace(p, choice, remain_mb);
        status = traced ? CALC_OK : p->no_memory ? CALC_ERR_NOMEM : CALC_ERR_RULE;
    }
    free(answers.point);
    return status;
}

calc_status calc_galvatron_whole(calc_galvatron_posed *posed, int stage, double room_mb,
                                 int *choice, double *remain_mb)
{
    if (room_mb < 0) {
        return CALC_ERR_RULE;
    }
    programme p = {.posed = posed,
                   .stage = &posed->stage[stage],
                   .stage_index = stage,
                   .most_mb = (int)room_mb};
    for (int kind = 0; kind < p.stage->kinds; kind++) {
        p.layers += p.stage->kind[kind].layers;
    }
    size_t n = (size_t)posed->strategies + 1;
    p.candidate = malloc(n * sizeof *p.candidate);
    p.index = calloc(n, sizeof *p.index);
    p.inter_s = malloc(n * n * KINDS * sizeof *p.inter_s);
    p.intra_s = malloc(n * KINDS * sizeof *p.intra_s);
    p.first = malloc(((size_t)p.layers + 1) * sizeof *p.first);
    calc_status status = CALC_ERR_NOMEM;
    if (p.candidate && p.index && p.inter_s && p.intra_s && p.first) {
        status = solve(&p, room_mb, choice, remain_mb);
    }
    free(p.candidate);
    free(p.index);
    free(p.inter_s);
    free(p.intra_s);
    free(p.first);
    free(p.state);
    free(p.place);
    free(p.cell);
    return status;
}
