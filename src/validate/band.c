#include "validate/band.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "validate/spread.h"

enum { TABLES_MAX = 512, CLASSES = 5 };

/* Sums of weights are rounded; their target is lowered by more than that. */
#define ROUNDING (1 - 1e-12)

/* One class of runs. */
typedef struct selection {
    const calc_residual_list *list;
    const calc_band_query *query;
    int family; /* number of the query's; -1: none has runs */
    unsigned alike;
    double unit[2]; /* of errors of dense models and of mixtures of experts, beside the query's */
    bool several;   /* publishers */
    size_t runs, table[TABLES_MAX]; /* runs of each table; those beyond the last are one */
    double weight[TABLES_MAX];      /* of a run of each table */
} selection;

static int scale_of(double processors)
{
    return processors <= 8 ? 0 : processors <= 128 ? 1 : 2;
}

static int table_of(const calc_residual *r)
{
    return r->table < TABLES_MAX ? r->table : TABLES_MAX - 1;
}

static bool has(const selection *s, const calc_residual *r)
{
    const calc_band_query *q = s->query;
    const calc_traits *t = &q->traits;
    return (!q->without || r->fold[q->unseen] != q->without->fold[q->unseen]) &&
           (!(s->alike & CALC_ALIKE_FAMILY) || r->family == s->family) &&
           (!(s->alike & CALC_ALIKE_KIND) || r->traits.experts == t->experts) &&
           (!(s->alike & CALC_ALIKE_BITS) || r->traits.bits == t->bits) &&
           (!(s->alike & CALC_ALIKE_SCALE) ||
            scale_of(r->traits.processors) == scale_of(t->processors));
}

static void count(selection *s, unsigned alike)
{
    const calc_residual *first = NULL;
    s->alike = alike;
    s->runs = 0;
    s->several = false;
    memset(s->table, 0, sizeof s->table);
    for (size_t i = 0; i < s->list->count; i++) {
        const calc_residual *r = s->list->item[i];
        if (has(s, r)) {
            first = first ? first : r;
            s->several |= r->fold[CALC_UNSEEN_SOURCE] != first->fold[CALC_UNSEEN_SOURCE];
            s->runs++;
            s->table[table_of(r)]++;
        }
    }
    for (int t = 0; t < TABLES_MAX; t++) {
        s->weight[t] = s->table[t] > 0 ? calc_spread_weight(s->table[t]) : 0;
    }
}

/* Weight of all runs of the class; *tables of them. */
static double weigh(const selection *s, size_t *tables)
{
    double sum = 0;
    *tables = 0;
    for (int t = 0; t < TABLES_MAX; t++) {
        sum += (double)s->table[t] * s->weight[t];
        *tables += s->table[t] > 0;
    }
    return sum;
}

/* In the query's units. */
static double value_of(const selection *s, const calc_residual *r)
{
    return r->value[s->query->unseen] * s->unit[r->traits.experts];
}

/* Runs of a class one after the other, of each kind by itself. */
typedef struct walk {
    const selection *s;
    bool is_signed; /* negative ones come first, from the largest down; else by size alone */
    size_t at[2];
} walk;

/* The next run of a kind; NULL: there is none. */
static const calc_residual *peek(walk *w, bool experts)
{
    const calc_residual_list *list = w->s->list;
    size_t n = list->count;
    for (size_t *at = &w->at[experts]; *at < (w->is_signed ? 2 * n : n); ++*at) {
        bool negative = w->is_signed && *at < n;
        const calc_residual *r = list->item[negative ? n - 1 - *at : *at % n];
        if (r->traits.experts == experts && has(w->s, r) &&
            (!w->is_signed || (r->value[w->s->query->unseen] < 0) == negative)) {
            return r;
        }
    }
    return NULL;
}

static double rank_of(const walk *w, const calc_residual *r)
{
    double value = value_of(w->s, r);
    return w->is_signed ? value : fabs(value);
}

static const calc_residual *next(walk *w)
{
    const calc_residual *dense = peek(w, false);
    const calc_residual *experts = peek(w, true);
    bool second = !dense || (experts && rank_of(w, experts) < rank_of(w, dense));
    w->at[second]++;
    return second ? experts : dense;
}

/* The error up to which runs weigh `wanted`, a logarithm; NaN: all weigh less. */
static double log_at(const selection *s, double wanted, bool is_signed)
{
    walk w = {.s = s, .is_signed = is_signed};
    double sum = 0;
    for (const calc_residual *r = next(&w); r; r = next(&w)) {
        sum += s->weight[table_of(r)];
        if (sum >= wanted * ROUNDING) {
            return rank_of(&w, r);
        }
    }
    return (double)NAN;
}

static int number_of_family(const calc_residuals *residuals, const char *family)
{
    for (size_t i = 0; i < residuals->count; i++) {
        if (strcmp(residuals->item[i].traits.family, family) == 0) {
            return residuals->item[i].family;
        }
    }
    return -1;
}

/* The most alike class that has enough runs. */
static selection choose(const calc_residuals *residuals, const calc_band_query *query)
{
    static const unsigned classes[CLASSES] = {
        CALC_ALIKE_FAMILY | CALC_ALIKE_KIND | CALC_ALIKE_BITS | CALC_ALIKE_SCALE,
        CALC_ALIKE_FAMILY | CALC_ALIKE_KIND | CALC_ALIKE_BITS, CALC_ALIKE_FAMILY | CALC_ALIKE_KIND,
        CALC_ALIKE_KIND, 0};
    static const calc_residual_list none = {NULL, 0};
    bool known = query->quantity < CALC_RESIDUAL_QUANTITIES;
    selection s = {.list = known ? &residuals->list[query->quantity][query->unseen] : &none,
                   .query = query,
                   .family = number_of_family(residuals, query->traits.family),
                   .unit = {1, 1}};
    /* Software differs by more than machines and models do. */
    int first = query->unseen == CALC_UNSEEN_SOFTWARE ? CLASSES - 1 : 0;
    for (int c = first; c < CLASSES && (s.runs < CALC_BAND_RUNS || !s.several); c++) {
        count(&s, classes[c]);
    }
    const double *typical = known ? residuals->typical[query->quantity] : s.unit;
    if (!(s.alike & CALC_ALIKE_KIND) && typical[0] > 0 && typical[1] > 0) {
        bool experts = query->traits.experts;
        s.unit[!experts] = typical[experts] / typical[!experts];
    }
    return s;
}

static calc_band band_of(const calc_residuals *residuals, const calc_band_query *query)
{
    const selection s = choose(residuals, query);
    calc_band band = {.runs = s.runs, .alike = s.alike};
    double all = weigh(&s, &band.tables);
    double one = s.runs > 0 ? all / (double)s.runs : 0;
    band.reach = s.runs > 0 ? log_at(&s, CALC_BAND_LEVEL * (all + one), false) : (double)NAN;
    band.median = s.runs > 0 ? log_at(&s, all / 2, true) : (double)NAN;
    band.most = s.runs > 0 ? log_at(&s, CALC_BAND_LEVEL * (all + one), true) : (double)NAN;
    return band;
}

calc_band calc_band_of(const calc_residuals *residuals, const calc_band_query *query)
{
    calc_band band = band_of(residuals, query);
    if (query->unseen == CALC_UNSEEN_RELEASE && band.runs < CALC_BAND_RUNS) {
        calc_band_query source = *query;
        source.unseen = CALC_UNSEEN_SOURCE;
        band = band_of(residuals, &source);
    }
    return band;
}

double calc_band_share(const calc_residuals *residuals, const calc_band_query *query, double most)
{
    size_t tables;
    const selection s = choose(residuals, query);
    double all = weigh(&s, &tables);
    double sum = 0; /* of runs up to `most` */
    for (size_t i = 0; i < s.list->count; i++) {
        const calc_residual *r = s.list->item[i];
        sum += has(&s, r) && value_of(&s, r) <= most ? s.weight[table_of(r)] : 0;
    }
    return s.runs > 0 ? sum / (all + all / (double)s.runs) : (double)NAN;
}

char *calc_band_class(const calc_traits *traits, unsigned alike, char *text)
{
    static const char *const scales[] = {"up to 8 processors", "9 to 128 processors",
                                         "more than 128 processors"};
    char bits[32];
    snprintf(bits, sizeof bits, "%d bits", traits->bits);
    const struct {
        unsigned alike;
        const char *text;
    } parts[] = {{CALC_ALIKE_FAMILY, traits->family},
                 {CALC_ALIKE_KIND, traits->experts ? "MoE" : "dense"},
                 {CALC_ALIKE_BITS, bits},
                 {CALC_ALIKE_SCALE, scales[scale_of(traits->processors)]}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (alike & parts[i].alike) {
            calc_append(text, CALC_BAND_TEXT, "%s%.60s", *text ? ", " : "", parts[i].text);
        }
    }
    return *text ? text : calc_append(text, CALC_BAND_TEXT, "all");
}
