#include "documents.h"

#include "cli/shell/inputs.h"
#include "frame.h"
#include "plan/why.h"
#include "shipped_case.h"

#include <stdlib.h>
#include <string.h>

static calc_inputs in;
static calc_why why;

static void parse(calc_kind kind, void *object, const char *text)
{
    ck_assert_int_eq(calc_parse(kind, object, text, strlen(text), "test", NULL), CALC_OK);
}

static void set(const char *assignment)
{
    ck_assert_int_eq(calc_set(&in.app, &in.system, &in.exec, assignment, NULL, NULL), CALC_OK);
}

static void enter(void)
{
    memset(&in, 0, sizeof in);
    parse(CALC_KIND_APP, &in.app, APP_TEXT);
    parse(CALC_KIND_SYSTEM, &in.system, SYSTEM_TEXT);
    parse(CALC_KIND_EXEC, &in.exec, EXEC_TEXT);
    set("networks[0].size=4096");
    set("networks[0].must_be_filled=false");
}

const calc_test_frame calc_tests = {.setup = enter};

static const calc_why_change *change(const char *text)
{
    for (size_t i = 0; i < why.count; i++) {
        if (strcmp(why.change[i].text, text) == 0) {
            return &why.change[i];
        }
    }
    return NULL;
}

static double time_with(const char *one, const char *other)
{
    calc_inputs changed = in;
    calc_stats stats;
    ck_assert_int_eq(calc_set(&changed.app, &changed.system, &changed.exec, one, NULL, NULL), 0);
    if (other) {
        ck_assert_int_eq(calc_set(&changed.app, &changed.system, &changed.exec, other, NULL, NULL),
                         CALC_OK);
    }
    calc_run(&changed.app, &changed.system, &changed.exec, CALC_COMPAT_NONE, &stats);
    return stats.total_time;
}

CALC_TEST(every_kind_of_change_is_tried)
{
    set("num_blocks=128"); /* so that each of two chunks has a block */
    calc_why_find(&in.app, &in.system, &in.exec, &why);
    ck_assert_int_eq(why.before.verdict, CALC_VERDICT_OK);
    const struct {
        const char *text, *one, *other;
    } expected[] = {
        {"pipeline_interleaving 1 -> 2", "pipeline_interleaving=2", NULL},
        {"microbatch_size 4 -> 2", "microbatch_size=2", NULL},
        {"data_par_overlap false -> true", "data_par_overlap=true", NULL},
        {"tensor_par_overlap none -> ring", "tensor_par_overlap=ring", NULL},
        {"tensor_par 4 -> 8, pipeline_par 64 -> 32", "tensor_par=8", "pipeline_par=32"},
        {"pipeline_par 64 -> 32, data_par 12 -> 24", "pipeline_par=32", "data_par=24"},
        {"tensor_par 4 -> 12, data_par 12 -> 4", "tensor_par=12", "data_par=4"},
    };
    for (size_t i = 0; i + 1 < sizeof expected / sizeof *expected; i++) {
        ck_assert_msg(change(expected[i].text) != NULL, "%s", expected[i].text);
        ck_assert(change(expected[i].text)->value == time_with(expected[i].one, expected[i].other));
    }
    /* 12 does not divide the sequences: a rule forbids the last one. */
    ck_assert_ptr_null(change(expected[6].text));
}

CALC_TEST(changes_are_sorted_and_none_is_there_twice)
{
    calc_why_find(&in.app, &in.system, &in.exec, &why);
    ck_assert_uint_gt(why.count, 10);
    ck_assert_uint_gt(why.tried, why.count);
    for (size_t i = 1; i < why.count; i++) {
        ck_assert(why.change[i - 1].value <= why.change[i].value);
        for (size_t k = 0; k < i; k++) {
            ck_assert_str_ne(why.change[i].text, why.change[k].text);
        }
    }
}

CALC_TEST(what_is_computed_stays)
{
    static const char *const given[] = {"num_procs",  "batch_size",     "seq_size", "training",
                                        "datatype",   "attention_type", "eager",    "grad_datatype",
                                        "zero_stage", "memory_model"};
    calc_why_find(&in.app, &in.system, &in.exec, &why);
    for (size_t i = 0; i < why.count; i++) {
        for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
            ck_assert_msg(strncmp(why.change[i].text, given[k], strlen(given[k])) != 0, "%s",
                          why.change[i].text);
        }
    }
}

/* An engine is told sizes and how it batches. How its collectives are made, and what they hide
 * behind, it is not. */
CALC_TEST(of_a_server_only_what_an_engine_is_told_changes)
{
    shipped_case c = load_case("llama3-70B", "h200", "llama3-70B_serving_8");
    c.exec.strategy.tensor_par = 4;
    c.exec.pipeline_par = 2;
    calc_why_find(&c.app, &c.system, &c.exec, &why);
    ck_assert_uint_gt(why.count, 0);
    for (size_t i = 0; i < why.count; i++) {
        calc_exec built = why.change[i].exec;
        built.inference = c.exec.inference;
        built.strategy.tensor_par = c.exec.strategy.tensor_par;
        built.strategy.data_par = c.exec.strategy.data_par;
        built.pipeline_par = c.exec.pipeline_par;
        ck_assert_mem_eq(&built, &c.exec, sizeof built);
    }
}

CALC_TEST(modern_layouts_change_their_own_fields)
{
    set("vocab_size=51200");
    calc_why_find(&in.app, &in.system, &in.exec, &why);
    ck_assert_ptr_nonnull(change("flash_attention false -> true"));
    ck_assert_ptr_nonnull(change("pipeline_par_overlap false -> true"));
    ck_assert_ptr_nonnull(change("fused_cross_entropy false -> true"));
}

/* Without an exchange of tokens nobody is advised to exchange them otherwise. */
CALC_TEST(fields_that_do_nothing_are_not_changed)
{
    static const char *const idle[] = {"dispatch_type", "expert_par_overlap", "context_par_type",
                                       "context_par_balance", "recompute_blocks"};
    shipped_case c = load_case("qwen3-30B-A3B", "h100_sxm", "qwen3-30B-A3B_32");
    c.system.chip.mem1.capacity_bytes = 1e13;
    calc_why_find(&c.app, &c.system, &c.exec, &why);
    ck_assert_ptr_nonnull(change("dispatch_type all_to_all -> node_limited"));
    c.exec.strategy.expert_par = 0;
    calc_why_find(&c.app, &c.system, &c.exec, &why);
    ck_assert_int_eq(why.before.verdict, CALC_VERDICT_OK);
    ck_assert_uint_gt(why.count, 10);
    for (size_t i = 0; i < why.count; i++) {
        for (size_t k = 0; k < sizeof idle / sizeof *idle; k++) {
            ck_assert_msg(strncmp(why.change[i].text, idle[k], strlen(idle[k])) != 0, "%s",
                          why.change[i].text);
        }
    }
}

CALC_TEST(every_rate_is_bought_once)
{
    calc_why_find(&in.app, &in.system, &in.exec, &why);
    ck_assert_uint_eq(why.resources, 5);
    ck_assert_str_eq(why.resource[0].text, "matrix arithmetic");
    ck_assert(why.resource[0].value < why.before.total_time);
    ck_assert_str_eq(why.resource[2].text, "bandwidth of mem1");
    ck_assert_str_eq(why.resource[3].text, "bandwidth of mem2");
    ck_assert(why.resource[3].value == why.before.total_time);
    ck_assert_str_eq(why.resource[4].text, "bandwidth of networks[0]");
    ck_assert(why.resource[4].value < why.before.total_time);
}

CALC_TEST(of_what_is_served_throughput_counts)
{
    shipped_case c = load_case("llama3-70B", "h200", "llama3-70B_serving_8");
    calc_why_find(&c.app, &c.system, &c.exec, &why);
    ck_assert_str_eq(why.counts->key, "output_tokens_per_s");
    ck_assert(why.up && why.before.output_tokens_per_s > 0);
    for (size_t i = 1; i < why.count; i++) {
        ck_assert(why.change[i - 1].value >= why.change[i].value);
    }
    const calc_why_change *chunks = change("inference.chunk_size 2048 -> 1024");
    ck_assert_ptr_nonnull(chunks);
    c.exec.inference.chunk_size = 1024;
    calc_stats stats;
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
    ck_assert(chunks->value == stats.output_tokens_per_s);
    ck_assert_double_eq_tol(calc_why_gain(&why, 1.1 * why.before.output_tokens_per_s), 0.1, 1e-12);
    /* Where requests arrive, as much is served in any case. */
    c.exec.inference.arrival_rate = 1;
    calc_why_find(&c.app, &c.system, &c.exec, &why);
    ck_assert(strcmp(why.counts->key, "request_time") == 0 && !why.up);
    ck_assert_double_eq_tol(calc_why_gain(&why, 0.9 * why.before.request_time), 0.1, 1e-12);
    ck_assert(change("inference.chunk_size 1024 -> 2048") != NULL);
}

/* The graphs that a server was told to leave out; not those that its engine does not have. */
CALC_TEST(a_server_without_graphs_is_tried_with_them)
{
    static const char said[] = "inference.traits.eager true -> false";
    shipped_case c = load_case("llama3-8B", "h200", "llama3-70B_serving_8");
    c.exec.inference.traits.issue_s = 3e-5;
    calc_why_find(&c.app, &c.system, &c.exec, &why);
    ck_assert_ptr_null(change(said));
    c.exec.inference.traits.eager = true;
    calc_why_find(&c.app, &c.system, &c.exec, &why);
    ck_assert_ptr_nonnull(change(said));
    ck_assert_double_gt(calc_why_gain(&why, change(said)->value), 0.01);
    c.exec.inference.traits.eager = false;
    calc_stats stats;
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
    ck_assert_double_eq(change(said)->value, stats.output_tokens_per_s);
}
