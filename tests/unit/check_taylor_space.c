#include "taylor/config.h"

#include "base/rng.h"
#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

/* Taylor's default bounds: cp 1, tp and ep at most 64, 2 to 32 stages, tp no multiple of 3,
 *  sequence parallelism from 1000 processors. Sizes of model and world stay 0. */
static calc_taylor_space preset(void)
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

/* DeepSeek-V3 on 1024 processors: 61 layers and a prediction layer, 256 experts. */
static calc_taylor_space deepseek(void)
{
    calc_taylor_space s = preset();
    s.world = s.batch = 1024;
    s.layers = 61;
    s.prediction = 1;
    s.heads = 56;
    return s;
}

static void has(const calc_taylor_space *s, int64_t total, int64_t kept, int64_t layouts)
{
    calc_taylor_counts counts = calc_taylor_space_walk(s, NULL, NULL);
    ck_assert_int_eq(counts.total, total);
    ck_assert_int_eq(counts.kept, kept);
    ck_assert_int_eq(counts.layouts, layouts);
}

CALC_TEST(counts_are_those_that_taylor_publishes)
{
    calc_taylor_space s = deepseek();
    has(&s, 576030, 8753, 20);
    s.experts = 256;
    has(&s, 500328, 8753, 20);
    s.heads = 128;
    has(&s, 500328, 10547, 34);
    s.most_tensor = 8;
    has(&s, 500328, 8753, 20);
}

CALC_TEST(models_without_experts_split_tensors_too)
{
    calc_taylor_space s = deepseek();
    s.world = 4;
    s.batch = 16;
    s.experts = 1;
    s.layers = 3;
    s.prediction = 0;
    s.sequence_from = 1;
    /* Shards times chunks of all ten quadruples, with three micro-batches and both switches. Kept
     * are dp, tp, pp = 2, 1, 2 and 1, 2, 2: 2 * 2 and 1 * 2, with the switch on. */
    int64_t each = 9 + (6 + 6 + 4) + (3 + 3 + 1 + 3 + 2 + 2); /* of dp = 4, 2, 1 */
    has(&s, 2 * 3 * each, 3 * (4 + 2), 2);
}

CALC_TEST(sequence_parallelism_is_a_choice_below_a_size)
{
    calc_taylor_space s = deepseek();
    s.sequence_from = 1025;
    has(&s, 576030, 2 * 8753, 20);
    s.sequence_from = 1024;
    has(&s, 576030, 8753, 20);
}

typedef struct visits {
    int64_t count;
    calc_taylor_layout last;
    int64_t world;
} visits;

static void see(void *context, const calc_taylor_layout *l)
{
    visits *v = context;
    ck_assert_int_eq(l->data * l->tensor * l->context * l->pipeline, v->world);
    if (v->count++ > 0) { /* no quadruple comes twice */
        bool later = l->data > v->last.data ||
                     (l->data == v->last.data && l->tensor > v->last.tensor) ||
                     (l->data == v->last.data && l->tensor == v->last.tensor &&
                      l->context > v->last.context);
        ck_assert(later);
    }
    v->last = *l;
}

CALC_TEST(each_layout_that_is_kept_is_visited_once)
{
    calc_taylor_space s = deepseek();
    visits v = {.world = 1024};
    calc_taylor_counts counts = calc_taylor_space_walk(&s, see, &v);
    ck_assert_int_eq(v.count, counts.layouts);
}

/* The same by listing everything. */
static calc_taylor_counts listed(const calc_taylor_space *s)
{
    calc_taylor_counts counts = {0};
    int64_t w = s->world;
    for (int64_t dp = 1; dp <= w; dp++) {
        for (int64_t tp = 1; tp <= w; tp++) {
            for (int64_t cp = 1; cp <= w; cp++) {
                for (int64_t pp = 1; pp <= w; pp++) {
                    int64_t before = counts.kept;
                    if (dp * tp * cp * pp != w) {
                        continue;
                    }
                    for (int64_t ep = 1; ep <= dp * tp; ep++) {
                        for (int64_t op = 1; op <= dp; op++) {
                            for (int64_t vp = 0; vp * pp < s->layers + s->prediction; vp++) {
                                for (int64_t mbs = 1; mbs <= 4; mbs++) {
                                    for (int sp = 0; sp < 2; sp++) {
                                        if (dp * tp % ep != 0 || dp % op != 0 || mbs == 3 ||
                                            (s->experts != 1 && op % (dp * tp / ep) != 0) ||
                                            (s->experts > 0 && ep > s->experts)) {
                                            continue;
                                        }
                                        counts.total++;
                                        bool few = pp > s->layers || pp > s->batch / dp / mbs;
                                        counts.kept +=
                                            cp <= s->most_context && tp <= s->most_tensor &&
                                            ep <= s->most_expert && (w < s->sequence_from || sp) &&
                                            !(s->fills && few) &&
                                            !(s->divides && s->batch % dp != 0) &&
                                            pp >= s->fewest_stages && pp <= s->most_stages &&
                                            !(s->tensor_indivisible > 0 &&
                                              tp % s->tensor_indivisible == 0) &&
                                            !(s->heads > 0 && s->heads % tp != 0);
                                    }
                                }
                            }
                        }
                    }
                    counts.layouts += counts.kept > before;
                }
            }
        }
    }
    return counts;
}

CALC_TEST(counts_are_those_of_a_list)
{
    static const int64_t worlds[] = {1, 2, 6, 12, 16, 24, 30};
    calc_rng rng;
    calc_rng_init(&rng, 7, 1);
    for (int i = 0; i < 60; i++) {
        calc_taylor_space s = {.world = worlds[calc_rng_below(&rng, 7)],
                               .batch = 1 + calc_rng_below(&rng, 40),
                               .layers = 1 + calc_rng_below(&rng, 12),
                               .prediction = calc_rng_below(&rng, 2),
                               .experts = calc_rng_below(&rng, 9),
                               .heads = calc_rng_below(&rng, 13),
                               .most_context = 1 + calc_rng_below(&rng, 4),
                               .most_tensor = 1 + calc_rng_below(&rng, 8),
                               .most_expert = 1 + calc_rng_below(&rng, 16),
                               .fewest_stages = 1 + calc_rng_below(&rng, 3),
                               .most_stages = 1 + calc_rng_below(&rng, 12),
                               .sequence_from = 1 + calc_rng_below(&rng, 20),
                               .tensor_indivisible = calc_rng_below(&rng, 4),
                               .fills = calc_rng_below(&rng, 2),
                               .divides = calc_rng_below(&rng, 2)};
        calc_taylor_counts expected = listed(&s);
        has(&s, expected.total, expected.kept, expected.layouts);
    }
}
