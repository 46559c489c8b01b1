#include "layerwise/pipeline.h"

#include <math.h>
#include <stdlib.h>

enum { STAGES = CALC_LAYERWISE_STAGES, LAYERS = CALC_LAYERWISE_LAYERS };

/* Rounding of bounds, as a share. */
static const double ROUNDING = 1e-12;

typedef struct search {
    const calc_layerwise_pipeline *p;
    double *micro_s, *tail_s; /* all that there are, ascending, each once */
    size_t micros, tails;
    double least_s[STAGES + 1][LAYERS + 1]; /* of the first stages with the first layers */
    int16_t taken[STAGES + 1][LAYERS + 1];  /* by the last of them */
    calc_layerwise_division *best;
} search;

static const calc_layerwise_choices *choices_of(const search *s, int stage, int layers)
{
    return &s->p->choices[stage * (s->p->most - s->p->least + 1) + layers - s->p->least];
}

/* The first choice whose tail is within a limit: none of them takes less. -1: there is none */
static int choice_within(const calc_layerwise_choices *choices, double tail_s)
{
    size_t low = 0;
    size_t high = choices->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (choices->times[middle].tail_s > tail_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < choices->count ? (int)low : -1;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The least sum of u with limits on u and on tails; INFINITY: none. */
static double sum_within(search *s, double micro_s, double tail_s)
{
    const calc_layerwise_pipeline *p = s->p;
    for (int l = 0; l <= p->layers; l++) {
        s->least_s[0][l] = l ? INFINITY : 0;
    }
    for (int stage = 0; stage < p->stages; stage++) {
        double *next = s->least_s[stage + 1];
        for (int l = 0; l <= p->layers; l++) {
            next[l] = INFINITY;
        }
        for (int n = p->least; n <= smaller(p->most, p->layers); n++) {
            const calc_layerwise_choices *choices = choices_of(s, stage, n);
            int i = choice_within(choices, tail_s);
            if (i < 0 || choices->times[i].micro_s > micro_s) {
                continue;
            }
            for (int l = n; l <= p->layers; l++) {
                double sum = s->least_s[stage][l - n] + choices->times[i].micro_s;
                if (sum < next[l]) {
                    next[l] = sum;
                    s->taken[stage + 1][l] = (int16_t)n;
                }
            }
        }
    }
    return s->least_s[p->stages][p->layers];
}

/* The division of the last sum, if its step is the shortest. */
static void keep(search *s, double tail_s)
{
    calc_layerwise_division d = {0};
    double sum = 0;
    double micro_s = 0;
    double last_s = 0;
    int left = s->p->layers;
    for (int stage = s->p->stages; stage-- > 0;) {
        d.layers[stage] = s->taken[stage + 1][left];
        left -= d.layers[stage];
        const calc_layerwise_choices *choices = choices_of(s, stage, d.layers[stage]);
        d.choice[stage] = choice_within(choices, tail_s);
        const calc_layerwise_times *times = &choices->times[d.choice[stage]];
        sum += times->micro_s;
        micro_s = fmax(micro_s, times->micro_s);
        last_s = fmax(last_s, times->tail_s);
    }
    d.step_s = sum + (double)(s->p->microbatches - 1) * micro_s + last_s;
    if (d.step_s < s->best->step_s) {
        *s->best = d;
    }
}

/* The least sum of u + (m - 1) * greatest u with a limit on tails; INFINITY: none. */
static double line_within(search *s, double tail_s)
{
    double again = (double)(s->p->microbatches - 1);
    double least_sum = sum_within(s, INFINITY, tail_s);
    if (least_sum == INFINITY) {
        return INFINITY;
    }
    size_t low = 0;
    size_t high = s->micros - 1; /* the least limit with which there is a division */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sum_within(s, s->micro_s[middle], tail_s) < INFINITY) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    double least_s = INFINITY;
    for (size_t i = low; i < s->micros; i++) {
        if ((least_sum + again * s->micro_s[i]) * (1 - ROUNDING) >= least_s) {
            break;
        }
        double sum = sum_within(s, s->micro_s[i], tail_s);
        if (sum + again * s->micro_s[i] < least_s) {
            least_s = sum + again * s->micro_s[i];
            keep(s, tail_s);
        }
    }
    return least_s;
}

/* Limits on tails from `low` to before `high`, of which the line with the last is known. */
static void look(search *s, size_t low, size_t high, double line_s)
{
    if (low >= high || (line_s + s->tail_s[low]) * (1 + ROUNDING) >= s->best->step_s) {
        return;
    }
    size_t middle = (low + high) / 2;
    double middle_s = line_within(s, s->tail_s[middle]);
    look(s, middle + 1, high, line_s);
    if (middle_s < INFINITY) {
        look(s, low, middle, middle_s);
    }
}

static int ascending(const void *a, const void *b)
{
    double l = *(const double *)a;
    double r = *(const double *)b;
    return l < r ? -1 : l > r;
}

static size_t sort(double *list, size_t count)
{
    qsort(list, count, sizeof *list, ascending);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!kept || list[i] > list[kept - 1]) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static void list_times(search *s)
{
    int rows = s->p->stages * (s->p->most - s->p->least + 1);
    for (int row = 0; row < rows; row++) {
        for (size_t i = 0; i < s->p->choices[row].count; i++) {
            s->micro_s[s->micros++] = s->p->choices[row].times[i].micro_s;
            s->tail_s[s->tails++] = s->p->choices[row].times[i].tail_s;
        }
    }
    s->micros = sort(s->micro_s, s->micros);
    s->tails = sort(s->tail_s, s->tails);
}

bool calc_layerwise_divide(const calc_layerwise_pipeline *pipeline, calc_layerwise_division *out,
                           bool *fits)
{
    size_t count = 1;
    for (int row = 0; row < pipeline->stages * (pipeline->most - pipeline->least + 1); row++) {
        count += pipeline->choices[row].count;
    }
    *out = (calc_layerwise_division){.step_s = INFINITY};
    search *s = malloc(sizeof *s);
    double *micro_s = malloc(count * sizeof *micro_s);
    double *tail_s = malloc(count * sizeof *tail_s);
    bool done = s && micro_s && tail_s;
    if (done) {
        *s = (search){.p = pipeline, .micro_s = micro_s, .tail_s = tail_s, .best = out};
        list_times(s);
        if (s->tails > 0) {
            double line_s = line_within(s, INFINITY);
            if (line_s < INFINITY) {
                look(s, 0, s->tails, line_s);
            }
        }
        *fits = out->step_s < INFINITY;
    }
    free(s);
    free(micro_s);
    free(tail_s);
    return done;
}
