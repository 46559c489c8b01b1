#include "validate/band.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "validate/spread.h"

enum { TABLES_MAX = 512, CLASSES = 5 };

/* Sums of weights are rounded; what they have to reach is less by more than that. */
#define ROUNDING (1 - 1e-12)

/* One class of runs. */
typedef struct selection {
    const calc_residuals *residuals;
    const calc_band_query *query;
    int family; /* number of the query's; -1: none has runs */
    unsigned alike;
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
    return r->quantity == q->quantity && (q->without < 0 || r->fold[q->unseen] != q->without) &&
           (!(s->alike & CALC_ALIKE_FAMILY) || r->family == s->family) &&
           (!(s->alike & CALC_ALIKE_KIND) || r->traits.experts == t->experts) &&
           (!(s->alike & CALC_ALIKE_BITS) || r->traits.bits == t->bits) &&
           (!(s->alike & CALC_ALIKE_SCALE) ||
            scale_of(r->traits.processors) == scale_of(t->processors));
}

static void count(selection *s, unsigned alike)
{
    s->alike = alike;
    s->runs = 0;
    memset(s->table, 0, sizeof s->table);
    for (size_t i = 0; i < s->residuals->count; i++) {
        const calc_residual *r = &s->residuals->item[i];
        if (has(s, r)) {
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

/* The error, a logarithm without its sign, up to which runs weigh `wanted`; NaN: all weigh less. */
static double abs_log_at(const selection *s, double wanted)
{
    calc_unseen unseen = s->query->unseen;
    double sum = 0;
    for (size_t i = 0; i < s->residuals->count; i++) {
        const calc_residual *r = s->residuals->order[unseen][i];
        if (has(s, r)) {
            sum += s->weight[table_of(r)];
            if (sum >= wanted * ROUNDING) {
                return fabs(r->value[unseen]);
            }
        }
    }
    return (double)NAN;
}

/* The logarithm up to which runs weigh `wanted`: negative ones come first, from the largest down;
 * NaN: all weigh less. */
static double log_at(const selection *s, double wanted)
{
    calc_unseen unseen = s->query->unseen;
    double sum = 0;
    size_t n = s->residuals->count;
    for (size_t i = 0; i < 2 * n; i++) {
        bool negative = i < n;
        const calc_residual *r = s->residuals->order[unseen][negative ? n - 1 - i : i - n];
        if (has(s, r) && (r->value[unseen] < 0) == negative) {
            sum += s->weight[table_of(r)];
            if (sum >= wanted * ROUNDING) {
                return r->value[unseen];
            }
        }
    }
    return (double)NAN;
}

/* Weight of the runs whose logarithm is at most `most`. */
static double weight_up_to(const selection *s, double most)
{
    double sum = 0;
    for (size_t i = 0; i < s->residuals->count; i++) {
        const calc_residual *r = &s->residuals->item[i];
        sum += has(s, r) && r->value[s->query->unseen] <= most ? s->weight[table_of(r)] : 0;
    }
    return sum;
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
    selection s = {.residuals = residuals,
                   .query = query,
                   .family = number_of_family(residuals, query->traits.family)};
    for (int c = 0; c < CLASSES && s.runs < CALC_BAND_RUNS; c++) {
        count(&s, classes[c]);
    }
    return s;
}

calc_band calc_band_of(const calc_residuals *residuals, const calc_band_query *query)
{
    const selection s = choose(residuals, query);
    calc_band band = {.runs = s.runs, .alike = s.alike};
    double all = weigh(&s, &band.tables);
    double one = s.runs > 0 ? all / (double)s.runs : 0;
    band.reach = s.runs > 0 ? abs_log_at(&s, CALC_BAND_LEVEL * (all + one)) : (double)NAN;
    band.median = s.runs > 0 ? log_at(&s, all / 2) : (double)NAN;
    band.most = s.runs > 0 ? log_at(&s, CALC_BAND_LEVEL * (all + one)) : (double)NAN;
    return band;
}

double calc_band_share(const calc_residuals *residuals, const calc_band_query *query, double most)
{
    size_t tables;
    const selection s = choose(residuals, query);
    double all = weigh(&s, &tables);
    return s.runs > 0 ? weight_up_to(&s, most) / (all + all / (double)s.runs) : (double)NAN;
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
