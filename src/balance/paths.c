#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/relaxed.h"
#include "base/make.h"
#include "model/operators/processor.h"

enum {
    MOST_WAYS = 1 << 12,   /* of all stages, */
    LOOKS = 1 << 20,       /* to find them */
    MOST_PASSES = 1 << 17, /* of a step; in all rounds: */
    ALL_PASSES = 1 << 27,
    MOST_ROUNDS = 12000, /* of one division among stages, */
    WARM = 30            /* of which the division before spares some */
};

/* Passes that end so close to each other, as a share of the step, share what follows. */
#define NEAR 2e-4

/* Relative difference that summing in another order may cause. */
#define SAME 1e-11

/* Layers for the chunks of a stage, which fit with as few recomputing as that needs. */
typedef struct way {
    int layers, first; /* of all chunks; of them of kind 0, where there are two */
    bool gone;         /* no division with it takes less than below_s */
    double cost_s;
} way;

typedef struct paths {
    const calc_balance_problem *p;
    calc_balance_problem least; /* calc_balance_least() */
    const calc_balance_flights *flights;
    double below_s;
    int stages, chunks, kind; /* kind: of layers, but for some in the first chunk */
    size_t passes;
    int64_t looks, left; /* ways and passes that may yet be looked at */
    calc_balance_pass *pass;
    double *end_s, *weight; /* of passes, */
    double *before;         /* and how much of the weight goes on by the pass before */
    way way[MOST_WAYS];
    double *take_s;                                              /* [way][chunk][backward] */
    int from[CALC_BALANCE_STAGES + 1];                           /* ways of stages; */
    int most_on[CALC_BALANCE_STAGES];                            /* most layers of them, */
    int layers[CALC_BALANCE_STAGES], first[CALC_BALANCE_STAGES]; /* in a division, */
    int met[CALC_BALANCE_STAGES][2];                             /* and in the one of mean_s */
    double fill_s[CALC_BALANCE_STAGES + 1];                      /* of the stages before */
    calc_balance_share share[CALC_BALANCE_PLACES];
    double mean_s[2 * CALC_BALANCE_PLACES]; /* [place][backward] of a mixture of ways */
    double sum[2 * CALC_BALANCE_PLACES];    /* of weights of passes */
} paths;

/* ---- Ways -------------------------------------------------------------------------------------*/

static bool fits(const paths *w, int stage)
{
    return calc_balance_flights_bytes(w->flights, w->p, stage, w->share) <=
           w->p->stage[stage].limit_bytes;
}

/* Note the way in share[], unless one layer less may recompute. */
static void note(paths *w, int stage, int layers, int first)
{
    int count = w->from[stage + 1];
    if (count == MOST_WAYS || !fits(w, stage)) {
        w->looks -= count == MOST_WAYS ? w->looks : 0;
        return;
    }
    for (int chunk = 0; chunk < w->chunks; chunk++) {
        int place = calc_balance_place_of(&w->p->shape, stage, chunk);
        int *full = &w->share[place].full[w->kind];
        bool spared = false;
        if (*full > 0) {
            --*full;
            spared = fits(w, stage);
            ++*full;
        }
        if (spared) {
            return;
        }
        calc_schedule_pass pass = calc_balance_pass_of(&w->least, place, &w->share[place]);
        double *take_s = w->take_s + 2 * (count * w->chunks + chunk);
        take_s[0] = pass.fw_s;
        take_s[1] = pass.bw_s + pass.wgrad_s;
    }
    w->way[count] = (way){.layers = layers, .first = first};
    w->from[stage + 1]++;
}

/* Every way that leaves the step below what is asked, from a chunk on. */
static void look(paths *w, int stage, int chunk, int layers, int first, double busy_s)
{
    if (chunk == w->chunks) {
        note(w, stage, layers, first);
        return;
    }
    const calc_balance_problem *p = w->p;
    int place = calc_balance_place_of(&p->shape, stage, chunk);
    int most = p->layers[0] + p->layers[1] - layers;
    most = p->most_layers > 0 && p->most_layers < most ? p->most_layers : most;
    for (int n = calc_balance_least_of(p, place); n <= most; n++) {
        int most_first = chunk > 0 || w->kind == 0 ? 0 : n < p->layers[0] ? n : p->layers[0];
        for (int i = 0; i <= most_first; i++) {
            calc_balance_share *x = &w->share[place];
            *x = (calc_balance_share){.layers = {i}};
            x->layers[w->kind] += n - i;
            for (; x->full[w->kind] <= (p->may_full ? n : 0); x->full[w->kind]++) {
                calc_schedule_pass pass = calc_balance_pass_of(&w->least, place, x);
                double s = busy_s + calc_schedule_pass_s(&pass);
                if (w->fill_s[stage] + (double)p->shape.microbatches * s > w->below_s ||
                    w->looks-- <= 0) {
                    break;
                }
                look(w, stage, chunk + 1, layers + n, first + i, s);
            }
        }
    }
}

/* The ways of all stages. @return how many layers more than there are they could have */
static int ways(paths *w)
{
    const calc_balance_problem *p = &w->least;
    int spare = -p->layers[0] - p->layers[1];
    for (int stage = 0; stage < w->stages; stage++) {
        w->fill_s[stage + 1] = w->fill_s[stage] + calc_balance_through_s(p, stage, 0);
        w->from[stage + 1] = w->from[stage];
        look(w, stage, 0, 0, 0, 0);
        for (int i = w->from[stage]; i < w->from[stage + 1]; i++) {
            int n = w->way[i].layers;
            w->most_on[stage] = n > w->most_on[stage] ? n : w->most_on[stage];
        }
        spare += w->most_on[stage];
    }
    return spare;
}

/* ---- Paths ------------------------------------------------------------------------------------*/

/* The longest paths through the mixture, and the weight of each pass in a mean of them. */
static void follow(paths *w)
{
    const double near_s = NEAR * w->below_s;
    size_t last = 0;
    for (size_t i = 0; i < w->passes; i++) {
        const calc_balance_pass *x = &w->pass[i];
        double stage_s = x->before < 0 ? 0 : w->end_s[x->before];
        double input_s = x->input < 0 ? 0 : w->end_s[x->input];
        double later_s = stage_s - input_s;
        double close_s = calc_max(0, near_s - fabs(later_s));
        w->before[i] = calc_max(0, calc_min(1, 0.5 + later_s / (2 * near_s)));
        w->end_s[i] =
            calc_max(stage_s, input_s) + close_s * close_s / (4 * near_s) + w->mean_s[x->what];
        w->weight[i] = 0;
        last = w->end_s[i] > w->end_s[last] ? i : last;
    }
    memset(w->sum, 0, sizeof w->sum);
    w->weight[last] = 1;
    for (size_t i = w->passes; i-- > 0;) {
        const calc_balance_pass *x = &w->pass[i];
        w->sum[x->what] += w->weight[i];
        if (x->before >= 0) {
            w->weight[x->before] += w->weight[i] * w->before[i];
        }
        if (x->input >= 0) {
            w->weight[x->input] += w->weight[i] * (1 - w->before[i]);
        }
    }
    w->left -= (int64_t)w->passes;
}

static bool is_open(const paths *w, int stage, int i)
{
    const way *x = &w->way[i];
    return !x->gone && x->layers == w->layers[stage] && x->first == w->first[stage];
}

/* The way of a stage that prolongs these paths least; -1: none is left. */
static int cheapest(paths *w, int stage)
{
    int best = -1;
    for (int i = w->from[stage]; i < w->from[stage + 1]; i++) {
        double cost_s = 0;
        for (int k = 0; is_open(w, stage, i) && k < 2 * w->chunks; k++) {
            int place = calc_balance_place_of(&w->p->shape, stage, k / 2);
            cost_s += w->sum[2 * place + k % 2] * w->take_s[2 * i * w->chunks + k];
        }
        w->way[i].cost_s = cost_s;
        if (is_open(w, stage, i) && (best < 0 || cost_s < w->way[best].cost_s)) {
            best = i;
        }
    }
    return best;
}

/* Move the mixture of a stage towards a way. */
static void mix(paths *w, int stage, int i, double by)
{
    for (int k = 0; k < 2 * w->chunks; k++) {
        double *mean_s = &w->mean_s[2 * calc_balance_place_of(&w->p->shape, stage, k / 2) + k % 2];
        *mean_s += by * (w->take_s[2 * i * w->chunks + k] - *mean_s);
    }
}

/* Begin with a division of layers among stages: with an even mixture where it is another one. */
static void begin(paths *w)
{
    for (int stage = 0; stage < w->stages; stage++) {
        bool new = w->met[stage][0] != w->layers[stage] || w->met[stage][1] != w->first[stage];
        int count = 0;
        for (int i = w->from[stage]; i < w->from[stage + 1]; i++) {
            w->way[i].gone = false;
            if (new &&is_open(w, stage, i)) {
                mix(w, stage, i, 1.0 / ++count);
            }
        }
        w->met[stage][0] = w->layers[stage];
        w->met[stage][1] = w->first[stage];
    }
}

/* The bound with so many layers on each stage. */
static double bound_s(paths *w)
{
    double least_s = 0;
    begin(w);
    for (int round = 0; round < MOST_ROUNDS && w->left > 0 && least_s < w->below_s; round++) {
        int best[CALC_BALANCE_STAGES];
        double all_s = 0;
        follow(w);
        for (int stage = 0; stage < w->stages; stage++) {
            best[stage] = cheapest(w, stage);
            if (best[stage] < 0) {
                return w->below_s;
            }
            all_s += w->way[best[stage]].cost_s;
        }
        least_s = calc_max(least_s, all_s * (1 - SAME));
        for (int stage = 0; stage < w->stages; stage++) {
            double rest_s = all_s - w->way[best[stage]].cost_s;
            for (int i = w->from[stage]; i < w->from[stage + 1]; i++) {
                w->way[i].gone =
                    w->way[i].gone || (rest_s + w->way[i].cost_s) * (1 - SAME) > w->below_s;
            }
            mix(w, stage, best[stage], 1.0 / (round + WARM + 1));
        }
    }
    return least_s;
}

/* All divisions among the stages from one on. @param spare  layers less than they could have
 * @param first  of kind 0 @return the least bound; known_s: no more than it */
static double divide(paths *w, int stage, int spare, int first, double known_s)
{
    if (stage == w->stages) {
        return first == 0 ? bound_s(w) : INFINITY;
    }
    double least_s = w->below_s;
    for (int less = stage < w->stages - 1 ? 0 : spare; less <= spare; less++) {
        int n = w->most_on[stage] - less;
        for (int k = 0; k <= first && k <= n && least_s > known_s; k++) {
            w->layers[stage] = n;
            w->first[stage] = k;
            bool any = false;
            for (int i = w->from[stage]; i < w->from[stage + 1]; i++) {
                any = any || (w->way[i].layers == n && w->way[i].first == k);
            }
            if (any) {
                least_s = calc_min(least_s, divide(w, stage + 1, spare - less, first - k, known_s));
            }
        }
    }
    return least_s;
}

/* ---- All --------------------------------------------------------------------------------------*/

double calc_balance_paths(const calc_balance_problem *p, const calc_balance_flights *flights,
                          double below_s, double known_s)
{
    calc_balance_parts parts = calc_balance_parts_of(&p->shape, p->less_memory);
    size_t passes = calc_balance_passes(&parts);
    bool mixed = p->layers[0] > 0 && p->layers[1] > 0;
    int first = 0; /* layers that the first chunks have at least: those of kind 0 are among them */
    for (int stage = 0; stage < p->shape.stages; stage++) {
        first += calc_balance_least_of(p, stage);
    }
    if (p->shape.kind != CALC_PIPELINE_SCHEDULE_1F1B || p->may_select || passes > MOST_PASSES ||
        (mixed && (p->may_full || p->layers[0] > first))) {
        return known_s;
    }
    paths *w = calc_make(1, sizeof *w);
    calc_balance_pass *pass = calc_make(passes, sizeof *pass);
    double *numbers = calc_make(3 * passes + 2 * MOST_WAYS * (size_t)parts.chunks, sizeof *numbers);
    calc_balance_passes_of(&parts, pass, (void *)numbers);
    *w = (paths){.p = p,
                 .flights = flights,
                 .below_s = below_s,
                 .stages = (int)parts.stages,
                 .chunks = (int)parts.chunks,
                 .kind = p->layers[1] > 0,
                 .passes = passes,
                 .looks = LOOKS,
                 .left = ALL_PASSES,
                 .pass = pass,
                 .end_s = numbers,
                 .weight = numbers + passes,
                 .before = numbers + 2 * passes,
                 .take_s = numbers + 3 * passes};
    memset(w->met, -1, sizeof w->met);
    calc_balance_least(p, &w->least);
    for (int i = 0; i < p->chips * CALC_BALANCE_KINDS; i++) { /* no waits, which are not linear */
        calc_balance_layer *l = &w->least.layer[i / CALC_BALANCE_KINDS][i % CALC_BALANCE_KINDS];
        l->fw_s += calc_min(0, l->again_fw_s);
        l->agrad_s -= calc_max(0, l->again_fw_s);
        l->again_fw_s = 0;
    }
    int spare = ways(w);
    if (w->looks > 0) {
        first = w->kind > 0 ? p->layers[0] : 0;
        known_s = calc_max(known_s, divide(w, 0, spare, first, known_s));
    }
    free(w);
    free(pass);
    free(numbers);
    return known_s;
}
