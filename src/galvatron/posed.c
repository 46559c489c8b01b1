#include "galvatron/posed.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/make.h"
#include "galvatron/profiles.h"

calc_galvatron_limits calc_galvatron_limits_of(const calc_galvatron_request *request)
{
    static const double FREE_MB = 20480; /* nothing is reserved up to this size */
    double budget_mb = request->memory_constraint * 1024;
    double share = request->dialect == CALC_GALVATRON_PADDLE ? 0.7 : 0.8;
    double limit_mb = fmax(fmin(budget_mb, FREE_MB), ceil(share * budget_mb));
    if (request->compat) {
        budget_mb = floor(budget_mb);
        limit_mb = budget_mb - (floor(budget_mb / 1024) > 20 ? floor(0.2 * budget_mb) : 0);
    }
    return (calc_galvatron_limits){limit_mb, budget_mb - limit_mb};
}

double calc_galvatron_room_mb(const calc_galvatron_posed *p, int end, int stage)
{
    return p->limit_mb - p->buffer_mb - p->ends_cost[end * p->task.pp + stage].mb;
}

int calc_galvatron_type_of(const calc_galvatron_posed *p, int stage, int kind)
{
    return p->type[stage * CALC_GALVATRON_TYPES + kind];
}

static double whole(const calc_galvatron_posed *p, double mb)
{
    return p->c.request->compat ? ceil(mb) : mb;
}

static int keep_allowed(const calc_galvatron_posed *p, calc_galvatron_strategy *list, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (calc_galvatron_allows(p->c.request, &p->task, &list[i])) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* Options of a type of layers on a stage. */
static void fill_options(const calc_galvatron_posed *p, int stage, int type,
                         calc_layerwise_option *option)
{
    const calc_galvatron_layer_cost *cost = &p->cost[type * p->strategies];
    for (int i = 0; i < p->strategies; i++) {
        const calc_galvatron_strategy *s = &p->layer[i];
        option[i] = (calc_layerwise_option){
            .micro_s = cost[i].nosync_s,
            .sync_s = fmax(0, cost[i].sync_s - cost[i].nosync_s),
            .bytes = whole(p, calc_galvatron_layer_mb(&p->c, s, type, stage)),
            .group = calc_galvatron_doublings(calc_galvatron_degree(s)),
        };
    }
}

static void fill_stage(calc_galvatron_posed *p, int stage)
{
    const calc_galvatron_request *r = p->c.request;
    calc_layerwise_stage *s = &p->stage[stage];
    *s = (calc_layerwise_stage){.groups = CALC_GALVATRON_GROUPS};
    int64_t at = stage * calc_galvatron_stage_layers(r, p->task.pp, 0); /* its first layer */
    int64_t left = calc_galvatron_stage_layers(r, p->task.pp, stage);
    for (int type = 0; left > 0; type++) {
        if (at >= r->layers[type].layer_num) {
            at -= r->layers[type].layer_num;
            continue;
        }
        int64_t here = r->layers[type].layer_num - at;
        here = here < left ? here : left;
        calc_layerwise_option *option =
            &p->option[((size_t)stage * CALC_GALVATRON_TYPES + (size_t)s->kinds) *
                       (size_t)p->strategies];
        fill_options(p, stage, type, option);
        p->type[stage * CALC_GALVATRON_TYPES + s->kinds] = type;
        s->kind[s->kinds++] = (calc_layerwise_kind){(int)here, p->strategies, option};
        left -= here;
        at = 0;
    }
}

/* Fills times between groups from costs of layers of these types, the least of them, so that no
 * answer is missed. A detour through other degrees is used if it is shorter. INFINITY: no layer has
 * such a degree. */
static void fill_switches(const calc_galvatron_posed *p, const int *type, int types, double scale,
                          double *switch_s)
{
    int n = CALC_GALVATRON_GROUPS;
    for (int i = 0; i < n * n; i++) {
        switch_s[i] = i % (n + 1) ? INFINITY : 0;
    }
    for (int k = 0; k < types; k++) {
        bool known[CALC_GALVATRON_GROUPS * CALC_GALVATRON_GROUPS] = {false};
        for (int i = 0; i < p->strategies * p->strategies; i++) {
            const calc_galvatron_strategy *from = &p->layer[i / p->strategies];
            const calc_galvatron_strategy *to = &p->layer[i % p->strategies];
            int at = calc_galvatron_doublings(calc_galvatron_degree(from)) * n +
                     calc_galvatron_doublings(calc_galvatron_degree(to));
            if (at % (n + 1) && !known[at]) {
                double cost = calc_galvatron_transition(&p->c, from, to, type[k]);
                known[at] = true;
                switch_s[at] =
                    fmin(switch_s[at], p->c.request->sequence_parallel ? cost * scale : 0);
            }
        }
    }
    for (int by = 0; by < n; by++) {
        for (int i = 0; i < n * n; i++) {
            switch_s[i] = fmin(switch_s[i], switch_s[i / n * n + by] + switch_s[by * n + i % n]);
        }
    }
}

static void fill(calc_galvatron_posed *p)
{
    for (int type = 0; type < p->c.request->types; type++) {
        for (int i = 0; i < p->strategies; i++) {
            p->cost[type * p->strategies + i] =
                calc_galvatron_layer_cost_of(&p->c, &p->layer[i], type);
        }
    }
    for (int stage = 0; stage < p->task.pp; stage++) {
        fill_stage(p, stage);
        for (int e = 0; e < p->ends; e++) {
            calc_galvatron_ends_cost *ends = &p->ends_cost[e * p->task.pp + stage];
            *ends = calc_galvatron_ends_cost_of(&p->c, &p->end[e], stage);
            ends->mb = whole(p, ends->mb);
        }
    }
    /* From bytes, at upstream's rate but in seconds, for forward and backward. */
    fill_switches(p, (const int[]){0}, 1, 2 * 1e-3 / 1048576 / 1e-7, p->switch_s);
    /* Upstream rounds the buffer down to whole MB. The default does so too, so that everything that
     * fits there fits here. */
    p->buffer_mb = p->task.mode == CALC_GALVATRON_SP_ONLY
                       ? 0
                       : floor(calc_galvatron_buffer_mb(&p->c, p->task.pp, p->task.buffer_tp));
}

void calc_galvatron_pose(calc_galvatron_posed *p, const calc_galvatron_case *c,
                         const calc_galvatron_task *task)
{
    const calc_galvatron_request *r = c->request;
    *p = (calc_galvatron_posed){.c = *c, .task = *task};
    p->c.gbsz = task->gbsz;
    p->c.chunks = task->chunks;
    p->limit_mb = calc_galvatron_limits_of(r).limit_mb;
    size_t pp = (size_t)task->pp;
    size_t most = (size_t)calc_galvatron_strategies(r, task->pp, false, NULL) + 1;
    size_t most_ends = (size_t)calc_galvatron_strategies(r, task->pp, true, NULL) + 1;
    p->cost = calc_make(most * CALC_GALVATRON_TYPES, sizeof *p->cost);
    p->layer = calc_make(most, sizeof *p->layer);
    p->end = calc_make(most_ends, sizeof *p->end);
    p->ends_cost = calc_make(most_ends * pp, sizeof *p->ends_cost);
    p->stage = calc_make(pp, sizeof *p->stage);
    p->type = calc_make(pp * CALC_GALVATRON_TYPES, sizeof *p->type);
    p->strategies =
        keep_allowed(p, p->layer, calc_galvatron_strategies(r, task->pp, false, p->layer));
    p->ends = keep_allowed(p, p->end, calc_galvatron_strategies(r, task->pp, true, p->end));
    size_t options = pp * CALC_GALVATRON_TYPES * ((size_t)p->strategies + 1);
    p->option = calc_make(options, sizeof *p->option);
    fill(p);
}

CALC_FREES(calc_galvatron_posed_free, calc_galvatron_posed, of->layer, of->end, of->cost,
           of->ends_cost, of->stage, of->type, of->option)

/* The least memory and time of the ends on a stage. */
static calc_galvatron_ends_cost least_ends(const calc_galvatron_posed *p, int stage)
{
    calc_galvatron_ends_cost least = {.mb = INFINITY, .nosync_s = INFINITY};
    for (int e = 0; e < p->ends; e++) {
        const calc_galvatron_ends_cost *cost = &p->ends_cost[e * p->task.pp + stage];
        least.mb = fmin(least.mb, cost->mb);
        least.nosync_s = fmin(least.nosync_s, cost->nosync_s);
    }
    return least;
}

/* Lower bounds on the sums of a stage. */
typedef struct sums {
    double micro_s, both_s; /* one micro-batch; all chunks plus the reduction of the last one */
} sums;

double calc_galvatron_bound_s(calc_galvatron_posed *p, int end, bool limited)
{
    static const double NONE[CALC_GALVATRON_STAGES] = {0};
    double nosync_s[CALC_GALVATRON_STAGES];
    sums least = {0};
    if (p->strategies == 0 || p->ends == 0) {
        return INFINITY;
    }
    for (int stage = 0; stage < p->task.pp; stage++) {
        calc_galvatron_ends_cost ends =
            end < 0 ? least_ends(p, stage) : p->ends_cost[end * p->task.pp + stage];
        p->stage[stage].budget_bytes = limited ? p->limit_mb - p->buffer_mb - ends.mb : INFINITY;
        p->stage[stage].switch_s = NULL;
        double chunks = (double)p->task.chunks;
        least = (sums){calc_layerwise_bound(&p->stage[stage], 1, 0),
                       p->task.pp == 1 ? calc_layerwise_bound(&p->stage[stage], chunks, 1) : 0};
        if (least.micro_s == INFINITY) {
            return INFINITY;
        }
        nosync_s[stage] = least.micro_s + ends.nosync_s;
    }
    double step_s = calc_galvatron_pipeline_s(p->task.pp, p->task.chunks, NONE, nosync_s);
    if (p->task.pp == 1) { /* (chunks - 1) micro-batches, and one that reduces */
        step_s = fmax(step_s,
                      least.both_s + (double)(p->task.chunks - 1) * (nosync_s[0] - least.micro_s));
    }
    return step_s;
}

double calc_galvatron_least_mb(const calc_galvatron_posed *p)
{
    double most_mb = 0;
    for (int stage = 0; stage < p->task.pp; stage++) {
        const calc_layerwise_stage *s = &p->stage[stage];
        double mb = p->buffer_mb + least_ends(p, stage).mb;
        for (int kind = 0; kind < s->kinds; kind++) {
            double least_mb = INFINITY;
            for (int i = 0; i < s->kind[kind].options; i++) {
                least_mb = fmin(least_mb, s->kind[kind].option[i].bytes);
            }
            mb += s->kind[kind].layers * least_mb;
        }
        most_mb = fmax(most_mb, mb);
    }
    return most_mb;
}

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
    int32_t *place; /* [layers + 1][wide]: 1 + states by layers and MB that they use; 0: none */
    size_t wide;
    cell *cell; /* [states][candidates] */
} programme;

static CALC_FREES(leave, programme, of->candidate, of->index, of->inter_s, of->intra_s, of->first,
                  of->state, of->place, of->cell)

/* @return its index */
static int32_t state_of(programme *p, int layers, int mb)
{
    int32_t *place = &p->place[(size_t)layers * p->wide + (size_t)(p->most_mb - mb)];
    if (*place == 0) {
        if (p->states == p->room) {
            p->room = 2 * p->room + 16;
            p->state = calc_longer(p->state, p->room, sizeof *p->state);
            p->cell = calc_longer(p->cell, p->room * (size_t)p->candidates, sizeof *p->cell);
        }
        int32_t i = (int32_t)p->states++;
        *place = i + 1;
        p->state[i] = (state){layers, mb, p->first[layers]};
        p->first[layers] = i;
        for (int s = 0; s < p->candidates; s++) {
            p->cell[i * p->candidates + s].to = -1;
        }
    }
    return *place - 1;
}

/* The rest of an answer while its last layers are removed, in any order. */
typedef struct rest {
    int kinds, picks[KINDS];
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
    for (int i = 0; kind >= 0 && i < r->picks[kind]; i++) {
        if (r->pick[kind][i].layers == 0) {
            continue;
        }
        int before_mb = mb - r->pick[kind][i].mb;
        int32_t to = state_of(p, layers - 1, before_mb);
        p->cell[at * p->candidates + r->pick[kind][i].candidate].to = to;
        if (i >= from) {
            r->pick[kind][i].layers--;
            enter(p, r, layers - 1, before_mb, kind, i);
            r->pick[kind][i].layers++;
        }
    }
}

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
    assert(p->state); /* answers were entered */
    for (int layers = 1; layers <= p->layers; layers++) {
        int kind = kind_of(p, layers - 1);
        for (int32_t i = p->first[layers]; i >= 0; i = p->state[i].next) {
            for (int s = 0; s < p->candidates; s++) {
                evaluate(p, i, kind, s);
            }
        }
    }
    size_t n = (size_t)p->candidates, i = (size_t)p->first[p->layers], s = 0;
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
    for (size_t a = 0; a < answers->count; a++) {
        double mb = answers->point[a].bytes;
        p->wide = mb + 2 > (double)p->wide ? (size_t)mb + 2 : p->wide;
    }
    p->place = calc_make(((size_t)p->layers + 1) * p->wide, sizeof *p->place);
    for (size_t a = 0; a < answers->count; a++) {
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

static bool solve(programme *p, double room_mb, int *choice, double *remain_mb)
{
    static const double MOST_TIE_S = 4e-9; /* constants that break ties between equal answers */
    double switch_s[GROUPS * GROUPS];
    const int *type = &p->posed->type[p->stage_index * CALC_GALVATRON_TYPES];
    fill_switches(p->posed, type, p->stage->kinds, 1, switch_s);
    calc_layerwise_stage stage = *p->stage;
    stage.budget_bytes = room_mb;
    stage.switch_s = switch_s;
    calc_layerwise_front answers;
    calc_layerwise_near(&stage, 1, 1, MOST_TIE_S * p->layers, MOST_ANSWERS, &answers);
    bool fits = answers.count > 0;
    if (fits) {
        mark(p, &answers);
        fill_costs(p);
        enter_all(p, &answers);
        fits = trace(p, choice, remain_mb);
    }
    free(answers.point);
    return fits;
}

bool calc_galvatron_whole(calc_galvatron_posed *posed, int stage, double room_mb, int *choice,
                          double *remain_mb)
{
    if (room_mb < 0) {
        return false;
    }
    programme p = {.posed = posed,
                   .stage = &posed->stage[stage],
                   .stage_index = stage,
                   .most_mb = (int)room_mb,
                   .wide = 1};
    for (int kind = 0; kind < p.stage->kinds; kind++) {
        p.layers += p.stage->kind[kind].layers;
    }
    size_t n = (size_t)posed->strategies + 1;
    p.candidate = calc_make(n, sizeof *p.candidate);
    p.index = calc_make(n, sizeof *p.index);
    p.inter_s = calc_make(n * n * KINDS, sizeof *p.inter_s);
    p.intra_s = calc_make(n * KINDS, sizeof *p.intra_s);
    p.first = calc_make((size_t)p.layers + 1, sizeof *p.first);
    bool fits = solve(&p, room_mb, choice, remain_mb);
    leave(&p);
    return fits;
}
