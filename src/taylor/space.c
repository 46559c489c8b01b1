#include "taylor/space.h"

calc_taylor_space calc_taylor_space_preset(void)
{
    return (calc_taylor_space){.most_context = 1,
                               .most_tensor = 64,
                               .most_expert = 64,
                               .fewest_stages = 2,
                               .most_stages = 32,
                               .sequence_from = 1000,
                               .tensor_indivisible = 3,
                               .fills = true,
                               .divides = true};
}

enum { DIVISORS = 240 /* most divisors of a number up to 10^6 */ };

/* Every size divides the world. */
typedef struct divisors {
    int64_t item[DIVISORS];
    int count;
} divisors;

static divisors divisors_of(int64_t world)
{
    divisors d = {.count = 0};
    for (int64_t i = 1; i <= world; i++) {
        if (world % i == 0 && d.count < DIVISORS) {
            d.item[d.count++] = i;
        }
    }
    return d;
}

/* Shards of the optimizer: divisors of dp that contain whole groups of an expert's replicas.
 * @param replicas  1: any */
static int64_t count_shards(const divisors *d, int64_t data, int64_t replicas)
{
    int64_t count = 0;
    for (int i = 0; i < d->count; i++) {
        count += data % d->item[i] == 0 && d->item[i] % replicas == 0;
    }
    return count;
}

/* Whether a quadruple passes the filters that depend on nothing else. */
static bool keeps(const calc_taylor_space *s, const calc_taylor_layout *l)
{
    return l->context <= s->most_context && l->tensor <= s->most_tensor &&
           (!s->divides || s->batch % l->data == 0) && l->pipeline >= s->fewest_stages &&
           l->pipeline <= s->most_stages &&
           (s->tensor_indivisible == 0 || l->tensor % s->tensor_indivisible != 0) &&
           (s->heads == 0 || s->heads % l->tensor == 0);
}

static bool fills(const calc_taylor_space *s, const calc_taylor_layout *l, int64_t microbatch)
{
    return !s->fills ||
           (l->pipeline <= s->layers && l->pipeline <= s->batch / l->data / microbatch);
}

static void count(const calc_taylor_space *s, const divisors *d, const calc_taylor_layout *l,
                  calc_taylor_counts *all, int64_t *kept)
{
    int64_t ranks = l->data * l->tensor;
    int64_t chunks = (s->layers + s->prediction + l->pipeline - 1) / l->pipeline; /* from 0 on */
    int64_t switches = s->world < s->sequence_from ? 2 : 1;
    bool keep = keeps(s, l);
    for (int i = 0; i < d->count; i++) {
        int64_t expert = d->item[i];
        if (ranks % expert != 0 || (s->experts > 0 && expert > s->experts)) {
            continue;
        }
        int64_t shards = count_shards(d, l->data, s->experts == 1 ? 1 : ranks / expert);
        for (int64_t m = 1; m <= CALC_TAYLOR_MICROBATCH_MOST; m *= 2) {
            all->total += 2 * shards * chunks;
            *kept +=
                keep && expert <= s->most_expert && fills(s, l, m) ? switches * shards * chunks : 0;
        }
    }
}

static void take(const calc_taylor_space *s, const divisors *d, const calc_taylor_layout *layout,
                 calc_taylor_counts *counts,
                 void (*visit)(void *context, const calc_taylor_layout *layout), void *context)
{
    int64_t kept = 0;
    count(s, d, layout, counts, &kept);
    counts->kept += kept;
    counts->layouts += kept > 0;
    if (kept > 0 && visit) {
        visit(context, layout);
    }
}

calc_taylor_counts calc_taylor_space_walk(const calc_taylor_space *s,
                                          void (*visit)(void *context,
                                                        const calc_taylor_layout *layout),
                                          void *context)
{
    calc_taylor_counts counts = {0};
    divisors d = divisors_of(s->world);
    for (int i = 0; i < d.count; i++) {
        int64_t after_data = s->world / d.item[i];
        for (int j = 0; j < d.count && d.item[j] <= after_data; j++) {
            int64_t after_tensor = after_data / d.item[j];
            for (int k = 0; after_data % d.item[j] == 0 && k < d.count; k++) {
                calc_taylor_layout layout = {d.item[i], d.item[j], d.item[k],
                                             after_tensor / d.item[k]};
                if (after_tensor % d.item[k] == 0) {
                    take(s, &d, &layout, &counts, visit, context);
                }
            }
        }
    }
    return counts;
}
