#include "objective.h"

#include <math.h>
#include <string.h>

#include "frame.h"

static void objective_is(const char *text, calc_objective_kind kind, const char *key, bool up)
{
    calc_errors errors = {0};
    calc_objective objective;
    calc_status status = calc_objective_parse(&objective, text, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", text, errors.item[0].text);
    ck_assert_int_eq(objective.kind, kind);
    ck_assert_str_eq(objective.field->key, key);
    ck_assert_int_eq(objective.up, up);
}

static void objective_fails(const char *text, const char *printed)
{
    calc_errors errors = {0};
    calc_objective objective;
    char line[1024];
    ck_assert_int_eq(calc_objective_parse(&objective, text, &errors), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(objectives_have_a_kind_and_a_direction)
{
    objective_is("sample_rate", CALC_OBJECTIVE_SAMPLE_RATE, "sample_rate", true);
    objective_is("sample_rate:down", CALC_OBJECTIVE_SAMPLE_RATE, "sample_rate", false);
    objective_is("total_time", CALC_OBJECTIVE_TOTAL_TIME, "total_time", false);
    objective_is("mem1", CALC_OBJECTIVE_MEM1, "proc_mem_tier1_cap_req", false);
    objective_is(" mem2 :up", CALC_OBJECTIVE_MEM2, "proc_mem_tier2_cap_req", true);
    objective_is("proc_mem_tier2_cap_req", CALC_OBJECTIVE_MEM2, "proc_mem_tier2_cap_req", false);
    objective_is("bubble_time", CALC_OBJECTIVE_OTHER, "bubble_time", false);
    objective_is("tokens_per_s_per_proc", CALC_OBJECTIVE_OTHER, "tokens_per_s_per_proc", true);
    objective_is("offload_mem_bw_req", CALC_OBJECTIVE_OTHER, "offload_mem_bw_req", false);
}

/* A rate or an efficiency that is added to the statistics must be better up without being told. */
CALC_TEST(rates_and_efficiencies_are_better_up_and_all_else_down)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < table->count; i++) {
        const char *key = table->rows[i].key;
        const char *unit = table->rows[i].unit;
        bool rate = unit && strstr(unit, "/s") && strcmp(unit, "bytes/s") != 0;
        bool share = strstr(key, "efficiency") || strstr(key, "utilization");
        bool room = strcmp(key, "kv_capacity_tokens") == 0 || strcmp(key, "max_batch") == 0 ||
                    strcmp(key, "tokens_per_step") == 0;
        calc_objective objective;
        ck_assert_int_eq(calc_objective_parse(&objective, key, NULL), CALC_OK);
        ck_assert_msg(objective.up == (rate || share || room), "%s", key);
    }
}

CALC_TEST(wrong_objectives_are_explained)
{
    objective_fails("sampel_rate", "unknown statistic \"sampel_rate\"\n"
                                   "  hint: did you mean \"sample_rate\"?");
    objective_fails("  ", "unknown statistic \"\"");
    objective_fails(" : ", "unknown statistic \"\"");
    objective_fails("mem3", "unknown statistic \"mem3\"\n  hint: did you mean \"mem1\"?");
    objective_fails("-sample_rate", "unknown statistic \"-sample_rate\"\n"
                                    "  hint: did you mean \"sample_rate\"?");
    objective_fails("", "unknown statistic \"\"");
    objective_fails("tensor_par", "unknown statistic \"tensor_par\"");
    objective_fails("sample_rate:upp", "the direction \"upp\" is not up or down");
    objective_fails("sample_rate:", "the direction \"\" is not up or down");
    char text[200];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    objective_fails(text, "unknown statistic "
                          "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\"");
}

CALC_TEST(less_is_better_in_what_is_stored)
{
    calc_stats stats = {.sample_rate = 5, .total_time = 7};
    calc_objective up;
    calc_objective down;
    ck_assert_int_eq(calc_objective_parse(&up, "sample_rate", NULL), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&down, "total_time", NULL), CALC_OK);
    ck_assert_double_eq(calc_objective_of(&up, &stats), -5);
    ck_assert_double_eq(calc_objective_of(&down, &stats), 7);
    ck_assert_double_eq(calc_objective_value(&up, -5), 5);
    ck_assert_double_eq(calc_objective_value(&down, 7), 7);
    stats.sample_rate = nan("");
    stats.total_time = nan("");
    ck_assert_double_eq(calc_objective_of(&up, &stats), HUGE_VAL);
    ck_assert_double_eq(calc_objective_of(&down, &stats), HUGE_VAL);
}

static calc_constraint parse(const char *text)
{
    calc_errors errors = {0};
    calc_constraint constraint;
    calc_status status = calc_constraint_parse(&constraint, text, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", text, errors.item[0].text);
    return constraint;
}

static void constraint_is(const char *text, const char *key, calc_relation relation, double value)
{
    calc_constraint constraint = parse(text);
    ck_assert_str_eq(constraint.field->key, key);
    ck_assert_int_eq(constraint.relation, relation);
    ck_assert_double_eq(constraint.value, value);
}

static void constraint_fails(const char *text, calc_status status, const char *printed)
{
    calc_errors errors = {0};
    calc_constraint constraint = {.value = 77};
    char line[1024];
    ck_assert_int_eq(calc_constraint_parse(&constraint, text, &errors), status);
    ck_assert_double_eq(constraint.value, 77);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(conditions_have_a_relation_and_a_value_in_si_units)
{
    constraint_is("mem1 <= 60GiB", "proc_mem_tier1_cap_req", CALC_RELATION_LE, 60 * 0x1p30);
    constraint_is("mem1<60 G", "proc_mem_tier1_cap_req", CALC_RELATION_LT, 60e9);
    constraint_is("sample_rate>=100", "sample_rate", CALC_RELATION_GE, 100);
    constraint_is("tokens_per_s > 1.5M", "tokens_per_s", CALC_RELATION_GT, 1.5e6);
    constraint_is("tensor_par != 3", "tensor_par", CALC_RELATION_NE, 3);
    constraint_is("num_procs = 4K", "num_procs", CALC_RELATION_EQ, 4000);
    constraint_is("num_procs == 512", "num_procs", CALC_RELATION_EQ, 512);
    constraint_is("bubble_time < 5ms", "bubble_time", CALC_RELATION_LT, 5e-3);
    constraint_is("bubble_time < 5us", "bubble_time", CALC_RELATION_LT, 5e-6);
    constraint_is("model_flops_utilization >= 40%", "model_flops_utilization", CALC_RELATION_GE,
                  40 * 1e-2);
    constraint_is("offload_mem_bw_req <= 1TiB/s", "offload_mem_bw_req", CALC_RELATION_LE, 0x1p40);
    constraint_is("mem2 <= 1MiB", "proc_mem_tier2_cap_req", CALC_RELATION_LE, 0x1p20);
    constraint_is("mem2 <= 1KiB", "proc_mem_tier2_cap_req", CALC_RELATION_LE, 0x1p10);
    constraint_is("mem2 <= 0", "proc_mem_tier2_cap_req", CALC_RELATION_LE, 0);
    constraint_is("memory <= 60GB", "proc_mem_tier1_cap_req", CALC_RELATION_LE, 60e9);
    constraint_is("mfu >= 0.4", "model_flops_utilization", CALC_RELATION_GE, 0.4);
    constraint_is("tp = 4", "tensor_par", CALC_RELATION_EQ, 4);
    constraint_is("total_time <= 1.5min", "total_time", CALC_RELATION_LE, 90);
    constraint_is("days_per_trillion_tokens <= 36h", "days_per_trillion_tokens", CALC_RELATION_LE,
                  1.5);
    constraint_is("mem2 <= 1T", "proc_mem_tier2_cap_req", CALC_RELATION_LE, 1e12);
    constraint_is("activation_recompute != full", "activation_recompute", CALC_RELATION_NE,
                  CALC_ACTIVATION_RECOMPUTE_FULL);
    constraint_is("weight_offload = true", "weight_offload", CALC_RELATION_EQ, 1);
    constraint_is("recompute_modules = mlp+core_attn", "recompute_modules", CALC_RELATION_EQ, 9);
    constraint_is("recompute_modules != none", "recompute_modules", CALC_RELATION_NE, 0);
    constraint_is("attention_type = mla", "attention_type", CALC_RELATION_EQ,
                  CALC_ATTENTION_TYPE_MULTI_LATENT);
    constraint_is("inference.chunk_size <= 2Ki", "chunk_size", CALC_RELATION_LE, 2048);
    constraint_is("isl >= 1024", "prompt_size", CALC_RELATION_GE, 1024);
    constraint_is("phase = serve", "phase", CALC_RELATION_EQ, CALC_INFERENCE_PHASE_SERVE);
}

/* Names that are in more than one place mean what --set means by them. */
CALC_TEST(a_condition_tests_the_field_that_it_names)
{
    calc_exec exec = {.batch_size = 3, .strategy.eager = true};
    calc_stats stats = {.total_time = 7};
    exec.inference.batch = 5;
    const calc_constraint one = parse("batch_size = 3"), other = parse("concurrency = 5");
    const calc_constraint eager = parse("eager = true"),
                          graphs = parse("inference.traits.eager = true");
    const calc_constraint time = parse("total_time = 7");
    ck_assert_double_eq(calc_constraint_value(&one, &exec, &stats), 3);
    ck_assert_double_eq(calc_constraint_value(&other, &exec, &stats), 5);
    ck_assert(calc_constraint_met(&eager, &exec, &stats));
    ck_assert(!calc_constraint_met(&graphs, &exec, &stats));
    ck_assert(calc_constraint_met(&time, &exec, &stats));
}

CALC_TEST(wrong_conditions_are_explained)
{
    constraint_fails("inference = 1", CALC_ERR_FIELD, "unknown statistic or field \"inference\"");
    constraint_fails("inference.engine = vllm", CALC_ERR_FIELD,
                     "unknown statistic or field \"inference.engine\"");
    constraint_fails("mem1", CALC_ERR_TYPE,
                     "\"mem1\" is not a condition\n  hint: for example mem1 <= 60GiB");
    constraint_fails("mem1 ! 3", CALC_ERR_TYPE,
                     "\"mem1 ! 3\" is not a condition\n  hint: for example mem1 <= 60GiB");
    constraint_fails("room <= 3", CALC_ERR_FIELD, "unknown statistic or field \"room\"");
    constraint_fails("mem1 < 60", CALC_ERR_TYPE, "60 bytes?\n  hint: write 60GiB");
    constraint_fails("offload_mem_bw_req < 60", CALC_ERR_TYPE,
                     "60 bytes/s?\n  hint: write 60GiB/s");
    constraint_fails("model_flops > 1e3", CALC_ERR_TYPE, "1e3 FLOP?\n  hint: write 1e3TFLOP");
    constraint_fails("tensor_part <= 3", CALC_ERR_FIELD,
                     "unknown statistic or field \"tensor_part\"\n"
                     "  hint: did you mean \"tensor_par\"?");
    constraint_fails("source = x", CALC_ERR_FIELD, "unknown statistic or field \"source\"");
    constraint_fails("mem1 <= much", CALC_ERR_TYPE,
                     "\"proc_mem_tier1_cap_req\" is compared with a number, not \"much\"");
    constraint_fails("mem1 <= 0x10", CALC_ERR_TYPE,
                     "\"proc_mem_tier1_cap_req\" is compared with a number, not \"0x10\"");
    constraint_fails("mem1 <= 1e999", CALC_ERR_TYPE,
                     "\"proc_mem_tier1_cap_req\" is compared with a number, not \"1e999\"");
    constraint_fails("mem1 <=", CALC_ERR_TYPE,
                     "\"proc_mem_tier1_cap_req\" is compared with a number, not \"\"");
    constraint_fails("mem1 <= 60ms", CALC_ERR_TYPE,
                     "\"proc_mem_tier1_cap_req\" is compared with bytes, not \"60ms\"\n  hint: "
                     "units are B, KB, MB, GB, TB (1000 ...), KiB, MiB, GiB, TiB (1024 ...)");
    constraint_fails("tensor_par <= 3GiB", CALC_ERR_TYPE,
                     "\"tensor_par\" is compared with a pure number, not \"3GiB\"\n  hint: "
                     "it may end in K, M, G, T (1000 ...), Ki, Mi, Gi, Ti (1024 ...) or %");
    constraint_fails("activation_recompute < full", CALC_ERR_TYPE,
                     "\"activation_recompute\" has no order\n  hint: write = or !=");
    constraint_fails("activation_recompute = ful", CALC_ERR_TYPE,
                     "\"activation_recompute\" is compared with one of none, attn_only, full, "
                     "modules, selective_op, not "
                     "\"ful\"\n  hint: did you mean \"full\"?");
    constraint_fails("training = 1", CALC_ERR_TYPE,
                     "\"training\" is compared with one of false, true, not \"1\"");
    constraint_fails("framework_mem = te_dummy", CALC_ERR_TYPE,
                     "\"framework_mem\" is compared with one of te_dummy_wgrad, gemm_workspace, "
                     "loss_copies, loss_parallel, logits_gathered, logits_held, "
                     "logprobs, wide_scores, not "
                     "\"te_dummy\"\n  hint: did you mean \"te_dummy_wgrad\"?");
    constraint_fails("framework_mem < none", CALC_ERR_TYPE,
                     "\"framework_mem\" has no order\n  hint: write = or !=");
}

CALC_TEST(conditions_hold_on_the_right_side_of_their_limit)
{
    static const struct {
        const char *text;
        bool below, at, above;
    } cases[] = {
        {"tensor_par <= 8", true, true, false}, {"tensor_par < 8", true, false, false},
        {"tensor_par >= 8", false, true, true}, {"tensor_par > 8", false, false, true},
        {"tensor_par = 8", false, true, false}, {"tensor_par != 8", true, false, true},
    };
    calc_stats stats = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_constraint constraint = parse(cases[i].text);
        calc_exec exec = {.strategy.tensor_par = 7};
        ck_assert_int_eq(calc_constraint_met(&constraint, &exec, &stats), cases[i].below);
        exec.strategy.tensor_par = 8;
        ck_assert_int_eq(calc_constraint_met(&constraint, &exec, &stats), cases[i].at);
        exec.strategy.tensor_par = 9;
        ck_assert_int_eq(calc_constraint_met(&constraint, &exec, &stats), cases[i].above);
    }
}

CALC_TEST(conditions_look_at_statistics_choices_and_booleans)
{
    calc_exec exec = {.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL,
                      .strategy.weight_offload = true};
    calc_stats stats = {.proc_mem_tier1_cap_req = 60 * 0x1p30};
    calc_constraint memory = parse("mem1 <= 60GiB");
    calc_constraint choice = parse("activation_recompute = full");
    calc_constraint boolean = parse("weight_offload = false");
    ck_assert(calc_constraint_met(&memory, &exec, &stats));
    ck_assert(calc_constraint_met(&choice, &exec, &stats));
    ck_assert(!calc_constraint_met(&boolean, &exec, &stats));
    stats.proc_mem_tier1_cap_req = nextafter(60 * 0x1p30, HUGE_VAL);
    ck_assert(!calc_constraint_met(&memory, &exec, &stats));
}

CALC_TEST(a_nan_meets_no_condition)
{
    static const char *const texts[] = {"mem1 <= 1B", "mem1 < 1B", "mem1 >= 1B",
                                        "mem1 > 1B",  "mem1 = 1B", "mem1 != 1B"};
    calc_exec exec = {0};
    calc_stats stats = {.proc_mem_tier1_cap_req = nan("")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        calc_constraint constraint = parse(texts[i]);
        ck_assert_msg(!calc_constraint_met(&constraint, &exec, &stats), "%s", texts[i]);
    }
}
