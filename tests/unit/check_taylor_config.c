#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "formats/read.h"
#include "frame.h"
#include "taylor/config.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"
#include "taylor_case.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

CALC_TEST(sizes_are_those_of_the_file)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    ck_assert_int_eq(c.data, 16);
    ck_assert_int_eq(c.tensor, 4);
    ck_assert_int_eq(c.pipeline, 16);
    ck_assert_int_eq(c.expert, 32);
    ck_assert_int_eq(c.microbatches, 64);
    ck_assert_int_eq(c.chunks, 1);
    ck_assert_int_eq(c.layers, 61);
    ck_assert_int_eq(c.prediction, 1);
    ck_assert_int_eq(c.dense, 3);
    ck_assert_int_eq(c.experts, 256);
    ck_assert_int_eq(c.heads, 128);
    ck_assert_int_eq(c.strategies, 3);
    ck_assert_int_eq(c.again, CALC_BALANCE_FULL);
    ck_assert_double_eq(c.memory_mb, 55 * 1024);
    ck_assert(c.says_memory && c.shards && !c.selects);
    ck_assert_int_eq(calc_taylor_config_world(&c), 1024);
}

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

CALC_TEST(prediction_layers_are_layers)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    ck_assert_int_eq(c.app.num_blocks, 62);
    ck_assert_int_eq(c.app.mtp_blocks, 0);
}

CALC_TEST(recomputation_is_a_truth_or_counts)
{
    static const struct {
        const char *full, *select;
        calc_balance_recompute again;
    } cases[] = {{"True", "False", CALC_BALANCE_FULL},
                 {"False", "False", CALC_BALANCE_NONE},
                 {"False", "True", CALC_BALANCE_SELECTIVE},
                 {"[0, 0, 2]", "False", CALC_BALANCE_FULL},
                 {"[[0, 0], [0, 0]]", "{'add': [1, 0]}", CALC_BALANCE_SELECTIVE},
                 {"[0, 0]", "", CALC_BALANCE_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_taylor_config c = taylor_config("recompute_config.recompute", cases[i].full,
                                             "recompute_config.select_recompute", cases[i].select);
        ck_assert_int_eq(c.again, cases[i].again);
    }
}

CALC_TEST(a_model_without_experts_has_no_dense_layers)
{
    calc_taylor_config c =
        taylor_config("moe_config.expert_num", "1", "parallel_config.expert_parallel", "1");
    ck_assert_int_eq(c.experts, 0);
    ck_assert_int_eq(c.dense, 0);
}

CALC_TEST(memory_is_the_first_number_or_presumed)
{
    ck_assert_double_eq(
        taylor_config("context.max_device_memory", "\"29.5GB\"", NULL, NULL).memory_mb, 29 * 1024);
    calc_taylor_config c = taylor_config("context.max_device_memory", "", NULL, NULL);
    ck_assert_double_eq(c.memory_mb, 58 * 1024);
    ck_assert(!c.says_memory);
}

static void fails(const char *key, const char *value, const char *printed)
{
    calc_text text = taylor_text(key, value, NULL, NULL);
    calc_taylor_config config;
    calc_errors errors = {0};
    char line[1024];
    ck_assert_msg(calc_taylor_config_parse(&config, text.data, text.length, "a.yaml", &errors) !=
                      CALC_OK,
                  "%s: %s", key, value);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_text_free(&text);
}

CALC_TEST(what_is_wrong_is_told_with_its_place)
{
    fails("parallel_config.data_parallel", "x",
          "a.yaml:20:3: parallel_config.data_parallel: expected a whole number from 1, found "
          "\"x\"");
    fails("parallel_config.pipeline_stage", "0",
          "a.yaml:22:3: parallel_config.pipeline_stage: expected a whole number from 1, found "
          "\"0\"");
    fails("parallel_config.context_parallel", "2",
          "a.yaml:27:3: parallel_config.context_parallel: expected 1, since the planner has no "
          "context parallelism, found \"2\"");
    fails("model.model_config.num_layers", "",
          "a.yaml: model.model_config.num_layers or model.model_config.num_hidden_layers is "
          "missing");
    fails("recompute_config.recompute", "perhaps",
          "a.yaml:30:3: recompute_config.recompute: expected true, false or counts of layers, "
          "found \"perhaps\"");
    fails("context.max_device_memory", "\"much\"",
          "a.yaml:10:3: context.max_device_memory: expected an amount from 1GB to 1000000GB, "
          "found \"much\"");
    fails("moe_config.first_k_dense_replace", "62",
          "a.yaml: first_k_dense_replace: 62 layers of 61 cannot be dense");
    fails("model.model_config.hidden_size", "wide",
          "a.yaml:54:5: model.model_config.hidden_size: expected a number, found \"wide\"");
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

CALC_TEST(names_of_files_are_layouts)
{
    const calc_taylor_candidate c = {.layout = {16, 4, 1, 8}, .expert = 32};
    calc_taylor_candidate found;
    char name[CALC_TAYLOR_NAME_SIZE];
    ck_assert_str_eq(calc_taylor_file_name(&c, name), "DP16_TP4_PP8_EP32_pretrain.yaml");
    ck_assert(calc_taylor_file_layout(name, &found));
    ck_assert_int_eq(found.layout.data, 16);
    ck_assert_int_eq(found.layout.tensor, 4);
    ck_assert_int_eq(found.layout.pipeline, 8);
    ck_assert_int_eq(found.expert, 32);
    ck_assert(calc_taylor_file_layout("my_DP_DP2_TP1_PP4_EP1.yaml", &found));
    ck_assert_int_eq(found.layout.data, 2);
    static const char *const none[] = {"",
                                       "DP16_TP4_PP8.yaml",
                                       "DP0_TP4_PP8_EP1",
                                       "DPx_TP4_PP8_EP1",
                                       "DP16-TP4_PP8_EP1",
                                       "DP1_TP1_PP1_EP99999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(!calc_taylor_file_layout(none[i], &found), "%s", none[i]);
    }
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

CALC_TEST(candidates_are_laid_out)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    const calc_taylor_candidate candidate = {.layout = {8, 8, 1, 4}, .expert = 16};
    calc_taylor_edits edits = {.count = 0};
    calc_taylor_edits_layout(&c, &candidate, 1024, NULL, &edits);
    ck_assert_str_eq(value_of(&edits, "parallel_config.data_parallel"), "8");
    ck_assert_str_eq(value_of(&edits, "parallel_config.model_parallel"), "8");
    ck_assert_str_eq(value_of(&edits, "parallel_config.pipeline_stage"), "4");
    ck_assert_str_eq(value_of(&edits, "parallel_config.expert_parallel"), "16");
    ck_assert_str_eq(value_of(&edits, "parallel_config.micro_batch_num"), "128");
    ck_assert_str_eq(value_of(&edits, "parallel.dataset_strategy"), "[[8, 1], [8, 1], [8, 1]]");
    ck_assert_str_eq(value_of(&edits, "model.model_config.offset"), "[1, 0, 1, 0]");
    ck_assert_str_eq(value_of(&edits, "train_dataset.data_loader.dataset_dir"), "");
}

static void profile(calc_taylor_candidate candidate, int64_t ranks, const char *sizes,
                    const char *layers, const char *offset, const char *recompute)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_taylor_edits edits = {.count = 0};
    char text[64];
    ck_assert(calc_taylor_edits_profile(&c, &candidate, 1024, ranks, "big", "small", &edits));
    snprintf(text, sizeof text, "%s %s %s", value_of(&edits, "parallel_config.data_parallel"),
             value_of(&edits, "parallel_config.pipeline_stage"),
             value_of(&edits, "parallel_config.expert_parallel"));
    ck_assert_str_eq(text, sizes);
    ck_assert_str_eq(value_of(&edits, "model.model_config.num_layers"), layers);
    ck_assert_str_eq(value_of(&edits, "model.model_config.offset"), offset);
    ck_assert_str_eq(value_of(&edits, "recompute_config.recompute"), recompute);
    ck_assert_str_eq(value_of(&edits, "profile"), "True");
    ck_assert_str_eq(value_of(&edits, "train_dataset.data_loader.dataset_dir"),
                     candidate.layout.data <= 4 ? "\"small\"" : "\"big\"");
}

CALC_TEST(profiles_are_cut_down_to_the_shapes_of_taylor)
{
    /* dp, pp and ep that are left */
    profile((calc_taylor_candidate){.layout = {8, 4, 1, 2}, .expert = 8}, 64, "8 2 8", "10",
            "[1, 0]", "[6, 0]");
    profile((calc_taylor_candidate){.layout = {4, 4, 1, 16}, .expert = 8}, 64, "4 4 8", "10",
            "[1, 1, 1, 0]", "[3, 3, 0, 0]");
    profile((calc_taylor_candidate){.layout = {2, 4, 1, 8}, .expert = 8}, 64, "2 8 8", "12",
            "[2, 0, 0, 0, 0, 1, 1, 1]", "[3, 1, 1, 1, 1, 2, 0, 2]");
    profile((calc_taylor_candidate){.layout = {1, 1, 1, 32}, .expert = 1}, 64, "1 8 1", "12",
            "[2, 0, 0, 0, 0, 1, 1, 1]", "[3, 1, 1, 1, 1, 2, 0, 2]");
    profile((calc_taylor_candidate){.layout = {64, 4, 1, 16}, .expert = 64}, 64, "8 2 32", "10",
            "[1, 0]", "[6, 0]");
}

CALC_TEST(what_has_no_such_shape_is_left_out)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    static const calc_taylor_candidate none[] = {
        {.layout = {1, 64, 1, 16}, .expert = 1}, /* two stages are too many processors */
        {.layout = {1, 1, 1, 6}, .expert = 1},
        {.layout = {1, 1, 1, 3}, .expert = 1},
        {.layout = {3, 32, 1, 2}, .expert = 1}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        calc_taylor_edits edits = {.count = 0};
        ck_assert(!calc_taylor_edits_profile(&c, &none[i], 1024, 64, NULL, NULL, &edits) ||
                  none[i].layout.pipeline == 6);
    }
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

static void solution_fails(const char *text, const char *printed)
{
    calc_errors errors = {0};
    calc_taylor_ask found;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    char line[1024];
    ck_assert_int_ne(
        calc_taylor_solution_parse(text, strlen(text), "a.sol", &found, share, &objective, &errors),
        CALC_OK);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(texts_that_are_no_division_are_refused)
{
    solution_fails("", "a.sol: no layers: expected lines \"layers_1_0_0 4\"");
    solution_fails("objective 3\nx 4\n", "a.sol: no layers: expected lines \"layers_1_0_0 4\"");
    solution_fails("layers_1_0_0\n", "a.sol:1:13: expected a name and its value");
    solution_fails("layers_1_0_0 2\nlayers_1_1_0 x\n", "a.sol:2:14: expected a name and its value");
    solution_fails("layers_1_0_0 2000\n",
                   "a.sol:1:14: layers_1_0_0: expected a count from 0 to 1024, found "
                   "2000");
    solution_fails("layers_1_0_0 -1\n",
                   "a.sol:1:14: layers_1_0_0: expected a count from 0 to 1024, found -1");
    solution_fails("layers_1_200_3 1\n",
                   "a.sol: 201 stages of 4 chunks: expected at most 512 together");
}

CALC_TEST(names_of_others_are_passed_over)
{
    const char text[] =
        "# note\nlayers_1_0_0 2.0000001\r\nlayers_2_0_0 9\nlayers_1_999_0 9\nother 5\n";
    calc_errors errors = {0};
    calc_taylor_ask found;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    ck_assert_int_eq(
        calc_taylor_solution_parse(text, strlen(text), "a.sol", &found, share, &objective, &errors),
        CALC_OK);
    ck_assert_int_eq(found.stages, 1);
    ck_assert_int_eq(share[0].layers[1], 2);
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
