/* Configurations, candidates and solutions of Taylor: unit/check_taylor_config.txt. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "formats/read.h"
#include "frame.h"
#include "taylor/config.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"
#include "taylor_case.h"

static void print_config(const calc_taylor_config *c, FILE *out)
{
    static const char *const again[] = {"none", "selective", "full"};
    fprintf(out, "dp %jd tp %jd pp %jd ep %jd of %jd, %jd micro-batches, %jd chunks\n",
            (intmax_t)c->data, (intmax_t)c->tensor, (intmax_t)c->pipeline, (intmax_t)c->expert,
            (intmax_t)calc_taylor_config_world(c), (intmax_t)c->microbatches, (intmax_t)c->chunks);
    fprintf(out, "%jd + %jd layers (%jd, %jd), %jd dense, %jd experts, %jd heads\n",
            (intmax_t)c->layers, (intmax_t)c->prediction, (intmax_t)c->app.num_blocks,
            (intmax_t)c->app.mtp_blocks, (intmax_t)c->dense, (intmax_t)c->experts,
            (intmax_t)c->heads);
    fprintf(out, "%d strategies, recompute %s, %g GB%s%s%s\n", (int)c->strategies, again[c->again],
            c->memory_mb / 1024, c->says_memory ? "" : " presumed", c->shards ? ", shards" : "",
            c->selects ? ", selects" : "");
}

static void print_edits(const calc_taylor_edits *edits, FILE *out)
{
    for (size_t i = 0; i < edits->count; i++) {
        fprintf(out, "%s: %s\n", edits->item[i].key, edits->item[i].value);
    }
}

static void print_error(const calc_errors *errors, FILE *out)
{
    char line[1200];
    calc_error_print(&errors->item[0], line, sizeof line);
    fprintf(out, "%s\n", line);
}

/* The configuration with up to two keys changed, "KEY VALUE" each. */
static void answer_config(const char *said, FILE *out)
{
    char key[2][80], value[2][80];
    int count = 0;
    for (; *said; said = strchr(said, '\n') + 1, count++) {
        int length = (int)strcspn(said, " \n");
        int end = (int)strcspn(said, "\n");
        snprintf(key[count], sizeof *key, "%.*s", length, said);
        snprintf(value[count], sizeof *value, "%.*s", end - length - (end > length),
                 said + length + 1);
    }
    calc_taylor_config config;
    calc_errors errors = {0};
    calc_text text =
        taylor_text(count ? key[0] : NULL, value[0], count > 1 ? key[1] : NULL, value[1]);
    if (calc_taylor_config_parse(&config, text.data, text.length, "a.yaml", &errors) == CALC_OK) {
        print_config(&config, out);
    } else {
        print_error(&errors, out);
    }
    calc_text_free(&text);
}

static void answer_solution(const char *text, FILE *out)
{
    calc_errors errors = {0};
    calc_taylor_ask found;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    if (calc_taylor_solution_parse(text, strlen(text), "a.sol", &found, share, &objective,
                                   &errors) != CALC_OK) {
        print_error(&errors, out);
    } else {
        fprintf(out, "%jd stages, %d layers on the first\n", (intmax_t)found.stages,
                share[0].layers[1]);
    }
}

/* "candidate DP TP CP PP EP": its configuration; "profile ... RANKS": the one for its profile. */
static void answer_candidate(const char *said, FILE *out)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_taylor_edits edits = {.count = 0};
    int size[6] = {0};
    int count = sscanf(said, "%*s %d %d %d %d %d %d", &size[0], &size[1], &size[2], &size[3],
                       &size[4], &size[5]);
    const calc_taylor_candidate candidate = {.layout = {size[0], size[1], size[2], size[3]},
                                             .expert = size[4]};
    if (count == 5) {
        calc_taylor_edits_layout(&c, &candidate, 1024, NULL, &edits);
    } else if (!calc_taylor_edits_profile(&c, &candidate, 1024, size[5], "big", "small", &edits)) {
        fputs("none\n", out);
    }
    print_edits(&edits, out);
}

static void answer_name(const char *said, FILE *out)
{
    char name[128] = "", back[CALC_TAYLOR_NAME_SIZE];
    calc_taylor_candidate c;
    sscanf(said, "name %127s", name);
    if (calc_taylor_file_layout(name, &c)) {
        fprintf(out, "%s\n", calc_taylor_file_name(&c, back));
    } else {
        fputs("none\n", out);
    }
}

static void answer(const char *said, FILE *out)
{
    static const struct {
        const char *word;
        void (*answer)(const char *said, FILE *out);
    } kinds[] = {{"config\n", answer_config},
                 {"solution\n", answer_solution},
                 {"candidate ", answer_candidate},
                 {"profile ", answer_candidate},
                 {"name", answer_name}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].word);
        if (strncmp(said, kinds[i].word, length) == 0) {
            kinds[i].answer(kinds[i].word[length - 1] == '\n' ? said + length : said, out);
            return;
        }
    }
    ck_abort_msg("%s", said);
}

const calc_test_frame calc_tests = {
    .timeout_s = 60, .cases = "unit/check_taylor_config.txt", .answer = answer};

/* The shipped model comes from its authors' configuration. */
CALC_TEST(the_model_is_the_shipped_one)
{
    calc_taylor_config c = taylor_config("model.model_config.mtp_depth", "0", NULL, NULL);
    calc_app shipped;
    calc_parameters found, expected;
    load_shipped(CALC_KIND_APP, &shipped, "models", "deepseek-v3-671B");
    calc_count_parameters(&c.app, &found);
    calc_count_parameters(&shipped, &expected);
    ck_assert_double_eq_tol(found.total / expected.total, 1, 1e-6); /* biases of the router */
    ck_assert_int_eq(c.app.num_blocks, 61);
    ck_assert_int_eq(c.app.shared_feedforward, shipped.shared_feedforward);
    ck_assert_int_eq(c.app.groups_per_token, shipped.groups_per_token);
}

CALC_TEST(layouts_differ_in_what_they_are_asked_for)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_system system = taylor_system();
    calc_errors errors = {0};
    calc_exec e = calc_taylor_config_exec(&c, 8, 2, 4, 16, 128, CALC_BALANCE_SELECTIVE);
    ck_assert_msg(calc_check(&c.app, &system, &e, &errors) == CALC_OK, "%s", errors.item[0].text);
    ck_assert_int_eq(e.num_procs, 64);
    ck_assert_int_eq(e.strategy.zero_stage, 1);
    ck_assert_int_eq(e.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_MODULES);
    e = calc_taylor_config_exec(&c, 1, 1, 4, 1, 128, CALC_BALANCE_FULL);
    ck_assert_msg(calc_check(&c.app, &system, &e, &errors) == CALC_OK, "%s", errors.item[0].text);
    ck_assert_int_eq(e.strategy.zero_stage, 0);
    ck_assert_int_eq(e.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_AR);
}

static const char *value_of(const calc_taylor_edits *edits, const char *key)
{
    for (size_t i = 0; i < edits->count; i++) {
        if (strcmp(edits->item[i].key, key) == 0) {
            return edits->item[i].value;
        }
    }
    return "";
}

CALC_TEST(solutions_are_written_in_the_words_of_the_framework)
{
    calc_taylor_config c = taylor_config("recompute_config.select_recompute", "True", NULL, NULL);
    const calc_balance_share share[] = {{{3, 1}, {0, 1}, {2, 0}}, {{0, 2}, {0}, {0}}};
    calc_taylor_ask ask = {.stages = 2, .chunks = 1, .layers = {3, 3}};
    calc_taylor_edits off = {.count = 0}, on = {.count = 0};
    calc_taylor_edits_balance(&c, &ask, share, &off);
    ck_assert_str_eq(value_of(&off, "model.model_config.offset"), "[1, -1]");
    ck_assert_str_eq(value_of(&off, "recompute_config.recompute"), "[2, 0]");
    ck_assert_str_eq(value_of(&off, "recompute_config.select_recompute"), "False");
    ck_assert_str_eq(value_of(&off, "recompute_config.parallel_optimizer_comm_recompute"), "False");
    ck_assert_str_eq(value_of(&off, "recompute_config.mp_comm_recompute"), "True");
    ask.may_select = true;
    calc_taylor_edits_balance(&c, &ask, share, &on);
    ck_assert_str_eq(
        value_of(&on, "recompute_config.select_recompute"),
        "{'feed_forward\\.null': [1, 0], 'feed_forward\\.w1\\.activation\\.silu': [1, 0], "
        "'feed_forward\\.w1\\.reshape': [1, 0], 'feed_forward\\.w2\\.reshape': [1, 0], "
        "'add': [1, 0], 'cast_up': [1, 0]}");
    ck_assert_str_eq(value_of(&on, "recompute_config.select_comm_recompute"),
                     "{'.*\\.norm': [1, 0], 'attention\\.wq\\.reshape': [1, 0], "
                     "'attention\\.wk\\.reshape': [1, 0], 'feed_forward\\.w1\\.reshape': [1, 0], "
                     "'feed_forward\\.w3\\.reshape': [1, 0]}");
}

CALC_TEST(the_longest_lists_have_room)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_taylor_ask ask = {.stages = 256, .chunks = 2, .layers = {0, 1024}, .may_select = true};
    calc_taylor_edits edits = {.count = 0};
    for (int i = 0; i < CALC_BALANCE_PLACES; i++) {
        share[i] = (calc_balance_share){{0, 2}, {0, 10}, {0}};
    }
    calc_taylor_edits_balance(&c, &ask, share, &edits);
    ck_assert_uint_eq(edits.count, 7);
    const char *last = value_of(&edits, "recompute_config.select_comm_recompute");
    ck_assert_str_eq(last + strlen(last) - 7, ", 10]]}");
    calc_settings settings = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(
        calc_settings_from_text(&settings, CALC_SYNTAX_YAML, last, strlen(last), "f", &errors),
        CALC_OK);
    ck_assert_uint_eq(settings.count, 5);
    calc_settings_free(&settings);
}

static const calc_taylor_ask ask = {.stages = 2, .chunks = 2, .layers = {1, 7}};
static const calc_balance_share shares[4] = {{.layers = {1, 1}, .full = {1, 0}},
                                             {.layers = {0, 2}},
                                             {.layers = {0, 3}, .selective = {0, 2}},
                                             {.layers = {0, 1}}};

CALC_TEST(a_division_is_read_as_it_was_written)
{
    calc_text text = {0};
    calc_output *out;
    calc_errors errors = {0};
    calc_taylor_ask found;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_taylor_solution_write(&ask, shares, 66.5, out);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_int_eq(calc_taylor_solution_parse(text.data, text.length, "a.sol", &found, share,
                                                &objective, &errors),
                     CALC_OK);
    ck_assert_double_eq(objective, 66.5);
    ck_assert_int_eq(found.stages, 2);
    ck_assert_int_eq(found.chunks, 2);
    ck_assert_int_eq(found.layers[0], 1);
    ck_assert_int_eq(found.layers[1], 7);
    ck_assert_mem_eq(share, shares, sizeof shares);
    calc_text_free(&text);
}

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
