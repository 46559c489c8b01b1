#include "galvatron/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

enum { PRICES = 16, TYPES = CALC_GALVATRON_TYPES, GROUPS = CALC_GALVATRON_GROUPS };

/* The first layers of a stage with so many MB for them, before one of a group. */
typedef struct calc_galvatron_state {
    int mb, group;
    double behind_s; /* the layers behind take so long, at least */
} state;

/* What the first layers take at least, in one group or in any: at a price of their MB. */
typedef struct bound {
    int prices;
    double s_per_mb[PRICES];
    double *least_s; /* [prices][layers + 1] */
} bound;

typedef struct programme {
    calc_galvatron_posed *posed;
    calc_galvatron_room *room;
    const calc_layerwise_stage *stage;
    int stage_index, layers, most_mb;
    double limit_s; /* no answer that takes longer matters */
    bound of[GROUPS + 1];             /* a group; ANY */
    double switch_s[GROUPS * GROUPS]; /* between groups, at least */
    double leave_s[GROUPS];           /* to any other, at least */
    int candidates;
    int *candidate;  /* strategies */
    double *inter_s; /* [kinds][candidates to][candidates from] */
    size_t *level;   /* [layers + 2]: first state of those before the last i layers */
    double *least_s; /* of bounds */
} programme;

static const calc_layerwise_option *option_of(const programme *p, int kind, int candidate)
{
    return &p->stage->kind[kind].option[p->candidate[candidate]];
}

static double cost_s(const calc_layerwise_option *option)
{
    return option->micro_s + option->sync_s;
}

static int kind_of(const programme *p, int layer)
{
    int kind = 0;
    for (; layer >= p->stage->kind[kind].layers; kind++) {
        layer -= p->stage->kind[kind].layers;
    }
    return kind;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

enum { ANY = GROUPS /* group */ };

static bool is_in(const calc_layerwise_option *option, int group)
{
    return group == ANY || option->group == group;
}

/* Slopes of the lower hull of a kind: MB, seconds. */
static void add_prices(bound *b, const calc_layerwise_kind *kind, int group)
{
    const calc_layerwise_option *at = NULL;
    for (int i = 0; i < kind->options; i++) {
        const calc_layerwise_option *o = &kind->option[i];
        if (is_in(o, group) && (!at || o->bytes < at->bytes ||
                                (o->bytes == at->bytes && cost_s(o) < cost_s(at)))) {
            at = o;
        }
    }
    while (at && b->prices < PRICES) {
        const calc_layerwise_option *next = NULL;
        double steepest = 0;
        for (int i = 0; i < kind->options; i++) {
            const calc_layerwise_option *o = &kind->option[i];
            double slope = (cost_s(at) - cost_s(o)) / (o->bytes - at->bytes);
            if (is_in(o, group) && o->bytes > at->bytes && slope > steepest) {
                steepest = slope;
                next = o;
            }
        }
        if (next) {
            b->s_per_mb[b->prices++] = steepest;
        }
        at = next;
    }
}

static double least_at(const calc_layerwise_kind *kind, int group, double s_per_mb)
{
    double least = INFINITY;
    for (int i = 0; i < kind->options; i++) {
        const calc_layerwise_option *o = &kind->option[i];
        least = is_in(o, group) ? fmin(least, cost_s(o) + s_per_mb * o->bytes) : least;
    }
    return least;
}

static void make_bound(programme *p, int group)
{
    bound *b = &p->of[group];
    size_t row = (size_t)p->layers + 1;
    b->least_s = &p->least_s[(size_t)group * PRICES * row];
    b->prices = 1;
    b->s_per_mb[0] = 0;
    for (int kind = 0; kind < p->stage->kinds; kind++) {
        add_prices(b, &p->stage->kind[kind], group);
    }
    for (int i = 0; i < b->prices; i++) {
        double *least_s = &b->least_s[(size_t)i * row];
        *least_s = 0;
        for (int kind = 0; kind < p->stage->kinds; kind++) {
            double each_s = least_at(&p->stage->kind[kind], group, b->s_per_mb[i]);
            for (int n = 0; n < p->stage->kind[kind].layers; n++, least_s++) {
                least_s[1] = least_s[0] + each_s;
            }
        }
    }
}

/* The first layers with so many MB take so long in a group, at least. */
static double in_group_s(const programme *p, int group, int layers, int mb)
{
    const bound *b = &p->of[group];
    size_t row = (size_t)p->layers + 1;
    double most = 0;
    for (int i = 0; i < b->prices; i++) {
        most = fmax(most, b->least_s[(size_t)i * row + (size_t)layers] - b->s_per_mb[i] * mb);
    }
    return most;
}

/* Likewise, when the next layer is in a group: they are, too, or switch. */
static double bound_s(const programme *p, int group, int layers, int mb)
{
    double any_s = in_group_s(p, ANY, layers, mb) + p->leave_s[group];
    return any_s <= p->limit_s ? fmin(any_s, in_group_s(p, group, layers, mb))
                               : in_group_s(p, group, layers, mb);
}

/* All layers take so long, at least, if one uses an option, and all are in a group. */
static double with_option_s(const programme *p, int kind, const calc_layerwise_option *o, int group)
{
    const bound *b = &p->of[group];
    size_t row = (size_t)p->layers + 1;
    double most = 0;
    for (int i = 0; i < b->prices; i++) {
        double more_s = cost_s(o) + b->s_per_mb[i] * o->bytes -
                        least_at(&p->stage->kind[kind], group, b->s_per_mb[i]);
        most = fmax(most, b->least_s[(size_t)i * row + (size_t)p->layers] -
                              b->s_per_mb[i] * p->most_mb + more_s);
    }
    return most;
}

/* Whether an answer that matters may use a strategy. */
static bool is_candidate(const programme *p, int strategy)
{
    for (int kind = 0; kind < p->stage->kinds; kind++) {
        const calc_layerwise_option *o = &p->stage->kind[kind].option[strategy];
        if (with_option_s(p, kind, o, o->group) <= p->limit_s ||
            with_option_s(p, kind, o, ANY) + p->leave_s[o->group] <= p->limit_s) {
            return true;
        }
    }
    return false;
}

/* Upstream's costs between groups, of the kinds the least, for bounds, and the greatest, for an
 * answer that there is. */
static void fill_switches(programme *p, double *most_s)
{
    const calc_galvatron_posed *posed = p->posed;
    for (int i = 0; i < GROUPS * GROUPS; i++) { /* INFINITY: no layer has such a degree */
        p->switch_s[i] = most_s[i] = i % (GROUPS + 1) ? INFINITY : 0;
    }
    for (int kind = 0; kind < p->stage->kinds; kind++) {
        int type = calc_galvatron_type_of(posed, p->stage_index, kind);
        bool known[GROUPS * GROUPS] = {false};
        for (int i = 0; i < posed->strategies; i++) {
            for (int j = 0; j < posed->strategies; j++) {
                int at = p->stage->kind[kind].option[i].group * GROUPS +
                         p->stage->kind[kind].option[j].group;
                if (at % (GROUPS + 1) == 0 || known[at]) {
                    continue;
                }
                known[at] = true;
                double s = p->posed->c.request->sequence_parallel
                               ? calc_galvatron_transition(&posed->c, &posed->layer[i],
                                                           &posed->layer[j], type)
                               : 0;
                p->switch_s[at] = fmin(p->switch_s[at], s);
                most_s[at] = most_s[at] == INFINITY ? s : fmax(most_s[at], s);
            }
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        p->leave_s[g] = INFINITY;
        for (int h = 0; h < GROUPS; h++) {
            p->leave_s[g] =
                g == h ? p->leave_s[g] : fmin(p->leave_s[g], p->switch_s[h * GROUPS + g]);
        }
    }
}

/* An answer that fits, and so a limit. Constants that decide between equal ones are on top. */
static bool find_limit(programme *p, double room_mb)
{
    static const double MOST_TIE_S = 4e-9;
    double switch_s[GROUPS * GROUPS];
    fill_switches(p, switch_s);
    calc_layerwise_stage stage = *p->stage;
    stage.budget_bytes = room_mb;
    stage.switch_s = switch_s;
    calc_layerwise_point point;
    if (!calc_layerwise_best(&stage, 1, 1, &point)) {
        return false;
    }
    double s = point.micro_s + point.sync_s;
    p->limit_s = s * (1 + 1e-10) + MOST_TIE_S * p->layers;
    return true;
}

/* ---- States ---------------------------------------------------------------------------------- */

/* A state of a level, entered if it is not there. @return its index; -1: no memory */
static int64_t state_of(programme *p, size_t level_begin, int mb, int group, double behind_s)
{
    calc_galvatron_room *room = p->room;
    int *place = &room->at[(size_t)mb * GROUPS + (size_t)group];
    size_t i = (size_t)*place;
    if (i >= level_begin && i < room->count && room->state[i].mb == mb &&
        room->state[i].group == group) {
        room->state[i].behind_s = fmin(room->state[i].behind_s, behind_s);
        return (int64_t)i;
    }
    struct calc_galvatron_state *grown =
        calc_grown(room->state, room->count, &room->capacity, sizeof *room->state);
    if (!grown) {
        return -1;
    }
    room->state = grown;
    room->state[room->count] = (state){mb, group, behind_s};
    *place = (int)room->count;
    return (int64_t)room->count++;
}

/* Room for what is known of each state with each candidate. */
static bool grow_cells(programme *p)
{
    calc_galvatron_room *room = p->room;
    size_t need = room->count * (size_t)p->candidates;
    if (need <= room->cells) {
        return true;
    }
    size_t cells = need * 2;
    double *value = realloc(room->value, cells * sizeof *value);
    room->value = value ? value : room->value;
    int32_t *to = realloc(room->to, cells * sizeof *to);
    room->to = to ? to : room->to;
    int16_t *back = realloc(room->back, cells * sizeof *back);
    room->back = back ? back : room->back;
    if (!value || !to || !back) {
        return false;
    }
    room->cells = cells;
    return true;
}

/* From all layers down to none: what matters. */
static bool spread(programme *p)
{
    calc_galvatron_room *room = p->room;
    room->count = 0;
    p->level[0] = 0;
    if (state_of(p, 0, p->most_mb, 0, 0) < 0) {
        return false;
    }
    for (int done = 0; done < p->layers; done++) {
        int layer = p->layers - done - 1;
        int kind = kind_of(p, layer);
        size_t begin = p->level[done];
        size_t end = room->count;
        p->level[done + 1] = end;
        if (!grow_cells(p)) {
            return false;
        }
        for (size_t i = begin; i < end; i++) {
            state from = room->state[i];
            for (int s = 0; s < p->candidates; s++) {
                const calc_layerwise_option *o = option_of(p, kind, s);
                int mb = from.mb - (int)o->bytes;
                double behind_s = from.behind_s + cost_s(o) +
                                  (done ? p->switch_s[o->group * GROUPS + from.group] : 0);
                int64_t to = -1;
                if (mb >= 0 && behind_s + bound_s(p, o->group, layer, mb) <= p->limit_s) {
                    to = state_of(p, end, mb, o->group, behind_s);
                    if (to < 0) {
                        return false;
                    }
                }
                room->to[i * (size_t)p->candidates + (size_t)s] = (int32_t)to;
            }
        }
    }
    p->level[p->layers + 1] = room->count;
    return grow_cells(p);
}

/* The least value of a state with a candidate behind it: upstream's sum, its first least. */
static void evaluate(programme *p, size_t i, int layer, int kind, int s)
{
    const calc_galvatron_posed *posed = p->posed;
    int type = calc_galvatron_type_of(posed, p->stage_index, kind);
    calc_galvatron_room *room = p->room;
    size_t n = (size_t)p->candidates;
    size_t cell = i * n + (size_t)s;
    double intra_s = posed->cost[type * posed->strategies + p->candidate[s]].sync_s;
    double least = INFINITY;
    int from = -1;
    if (room->to[cell] >= 0 && layer == 0) {
        least = intra_s;
        from = s;
    } else if (room->to[cell] >= 0) {
        const double *before = &room->value[(size_t)room->to[cell] * n];
        const double *inter = &p->inter_s[((size_t)kind * n + (size_t)s) * n];
        for (size_t b = 0; b < n; b++) {
            double value = before[b] + inter[b] + intra_s;
            if (value < least) {
                least = value;
                from = (int)b;
            }
        }
    }
    room->value[cell] = least;
    room->back[cell] = (int16_t)from;
}

static bool trace(programme *p, int *choice, double *remain_mb)
{
    calc_galvatron_room *room = p->room;
    size_t n = (size_t)p->candidates;
    for (int layer = 0; layer < p->layers; layer++) {
        int kind = kind_of(p, layer);
        int done = p->layers - layer - 1;
        for (size_t i = p->level[done]; i < p->level[done + 1]; i++) {
            for (int s = 0; s < p->candidates; s++) {
                evaluate(p, i, layer, kind, s);
            }
        }
    }
    size_t s = 0;
    for (size_t i = 1; i < n; i++) {
        s = room->value[i] < room->value[s] ? i : s;
    }
    if (n == 0 || room->value[s] == INFINITY) {
        return false;
    }
    size_t i = 0;
    for (int layer = p->layers - 1; layer >= 0; layer--) {
        choice[layer] = p->candidate[s];
        size_t cell = i * n + s;
        i = (size_t)room->to[cell];
        s = (size_t)room->back[cell];
    }
    *remain_mb = room->state[i].mb;
    return true;
}

static void fill_inter(programme *p)
{
    const calc_galvatron_posed *posed = p->posed;
    double *at = p->inter_s;
    for (int kind = 0; kind < p->stage->kinds; kind++) {
        int type = calc_galvatron_type_of(posed, p->stage_index, kind);
        for (int s = 0; s < p->candidates; s++) {
            for (int b = 0; b < p->candidates; b++) {
                *at++ = b == s ? 0
                               : calc_galvatron_transition(
                                     &posed->c, &posed->layer[p->candidate[b]],
                                     &posed->layer[p->candidate[s]], type);
            }
        }
    }
}

static calc_status solve(programme *p, double room_mb, int *choice, double *remain_mb)
{
    for (int group = 0; group <= ANY; group++) {
        make_bound(p, group);
    }
    if (!find_limit(p, room_mb)) {
        return CALC_ERR_RULE;
    }
    for (int s = 0; s < p->posed->strategies; s++) {
        if (is_candidate(p, s)) {
            p->candidate[p->candidates++] = s;
        }
    }
    fill_inter(p);
    if (!spread(p)) {
        return CALC_ERR_NOMEM;
    }
    return trace(p, choice, remain_mb) ? CALC_OK : CALC_ERR_RULE;
}

/* MB that states may have. */
static bool grow_places(calc_galvatron_room *room, size_t places)
{
    if (places <= room->places) {
        return true;
    }
    int *at = realloc(room->at, places * sizeof *at);
    if (!at) {
        return false;
    }
    memset(&at[room->places], 0, (places - room->places) * sizeof *at);
    room->at = at;
    room->places = places;
    return true;
}

calc_status calc_galvatron_whole(calc_galvatron_posed *posed, int stage, double room_mb,
                                 calc_galvatron_room *room, int *choice, double *remain_mb)
{
    if (room_mb < 0) {
        return CALC_ERR_RULE;
    }
    programme p = {.posed = posed,
                   .room = room,
                   .stage = &posed->stage[stage],
                   .stage_index = stage,
                   .most_mb = (int)room_mb};
    for (int kind = 0; kind < p.stage->kinds; kind++) {
        p.layers += p.stage->kind[kind].layers;
    }
    size_t n = (size_t)posed->strategies;
    p.candidate = malloc((n + 1) * sizeof *p.candidate);
    p.inter_s = malloc((n * n * TYPES + 1) * sizeof *p.inter_s);
    p.level = malloc(((size_t)p.layers + 2) * sizeof *p.level);
    p.least_s = malloc((GROUPS + 1) * PRICES * ((size_t)p.layers + 1) * sizeof *p.least_s);
    calc_status status = CALC_ERR_NOMEM;
    if (p.candidate && p.inter_s && p.level && p.least_s &&
        grow_places(room, ((size_t)p.most_mb + 1) * GROUPS)) {
        status = solve(&p, room_mb, choice, remain_mb);
    }
    free(p.candidate);
    free(p.inter_s);
    free(p.level);
    free(p.least_s);
    return status;
}

void calc_galvatron_room_free(calc_galvatron_room *room)
{
    free(room->state);
    free(room->value);
    free(room->to);
    free(room->back);
    free(room->at);
    *room = (calc_galvatron_room){.count = 0};
}
