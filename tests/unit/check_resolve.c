/* calc_resolve(): what "auto" comes to. */
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "frame.h"
#include "shipped_case.h"

static shipped_case c;

static void setup(void)
{
    memset(&c, 0, sizeof c);
    load_shipped(CALC_KIND_APP, &c.app, "models", "llama3-70B");
    load_shipped(CALC_KIND_SYSTEM, &c.system, "systems", "h100_sxm");
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_512");
}

const calc_test_frame calc_tests = {.setup = setup};

static void set(const char *assignment)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_set(&c.app, &c.system, &c.exec, assignment, NULL, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

static void resolve(void)
{
    calc_errors errors = {0};
    calc_resolve(&c.app, &c.system, &c.exec);
    ck_assert_uint_eq(c.exec.automatic, 0);
    ck_assert_msg(calc_check(&c.app, &c.system, &c.exec, &errors) == CALC_OK, "%s: %s",
                  errors.item[0].pointer, errors.item[0].text);
}

static const char *const fields[] = {
    "num_procs",          "data_par",         "pipeline_interleaving",
    "tensor_par_overlap", "seq_par_ag_redo",  "tensor_par_comm_type",
    "optimizer_sharding", "data_par_overlap", "pipeline_par_overlap"};
enum { FIELDS = sizeof fields / sizeof *fields };

static void say_auto(void)
{
    for (int i = 0; i < FIELDS; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s=auto", fields[i]);
        if (strcmp(fields[i], "num_procs") != 0) {
            set(text);
        }
    }
}

CALC_TEST(nothing_changes_where_nothing_says_auto)
{
    calc_exec before = c.exec;
    resolve();
    ck_assert_mem_eq(&before, &c.exec, sizeof before);
}

CALC_TEST(one_rank_of_everything_has_nothing_to_overlap_or_shard)
{
    say_auto();
    set("num_procs=1");
    set("tensor_par=1");
    set("pipeline_par=1");
    set("context_par=1");
    set("zero_stage=0");
    resolve();
    ck_assert_int_eq(c.exec.strategy.data_par, 1);
    ck_assert_int_eq(c.exec.pipeline_interleaving, 1);
    ck_assert_int_eq(c.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE);
    ck_assert(!c.exec.strategy.optimizer_sharding);
    ck_assert(!c.exec.strategy.data_par_overlap);
}

CALC_TEST(where_it_is_legal_everything_overlaps_and_a_chunk_is_a_block)
{
    say_auto();
    set("tensor_par=4");
    set("pipeline_par=8"); /* of 80 blocks */
    set("context_par=1");
    set("batch_size=1024"); /* 64 micro-batches on 16 replicas */
    resolve();
    ck_assert_int_eq(c.exec.strategy.data_par, 16);
    ck_assert_int_eq(c.exec.pipeline_interleaving, 10);
    ck_assert_int_eq(c.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_ASYNC);
    ck_assert_int_eq(c.exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    ck_assert(c.exec.strategy.seq_par_ag_redo);
    ck_assert(c.exec.strategy.optimizer_sharding);
    ck_assert(c.exec.strategy.data_par_overlap);
    ck_assert(c.exec.strategy.pipeline_par_overlap);
}

CALC_TEST(full_recomputation_repeats_the_all_gather_already)
{
    say_auto();
    set("activation_recompute=full");
    resolve();
    ck_assert(!c.exec.strategy.seq_par_ag_redo);
}

CALC_TEST(chunks_need_whole_rounds_of_microbatches)
{
    say_auto();
    set("tensor_par=4");
    set("pipeline_par=8");
    set("context_par=1");
    set("batch_size=1152"); /* 72 on 16 replicas: 9 rounds */
    resolve();
    ck_assert_int_eq(c.exec.pipeline_interleaving, 10);
    set("batch_size=1040"); /* 65 */
    set("pipeline_interleaving=auto");
    resolve();
    ck_assert_int_eq(c.exec.pipeline_interleaving, 1);
}

CALC_TEST(processors_follow_from_ranks_and_replicas)
{
    set("num_procs=auto");
    set("tensor_par=2");
    set("pipeline_par=4");
    set("context_par=2");
    set("data_par=8");
    resolve();
    ck_assert_int_eq(c.exec.num_procs, 128);
    set("num_procs=auto");
    set("data_par=auto");
    resolve();
    ck_assert_int_eq(c.exec.num_procs, 16);
    ck_assert_int_eq(c.exec.strategy.data_par, 1);
}

CALC_TEST(a_value_takes_auto_back)
{
    set("data_par_overlap=auto");
    set("data_par_overlap=false");
    resolve();
    ck_assert(!c.exec.strategy.data_par_overlap);
}

CALC_TEST(what_is_not_legal_anyway_is_told_by_the_check)
{
    calc_errors errors = {0};
    say_auto();
    set("tensor_par=7");
    calc_resolve(&c.app, &c.system, &c.exec);
    ck_assert_uint_eq(c.exec.automatic, 0);
    ck_assert_int_eq(calc_check(&c.app, &c.system, &c.exec, &errors), CALC_ERR_RULE);
}

CALC_TEST(other_fields_do_not_take_auto)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_set(&c.app, &c.system, &c.exec, "weight_offload=auto", NULL, &errors),
                     CALC_ERR_TYPE);
    ck_assert_uint_eq(c.exec.automatic, 0);
}

/* ---- Lists of stages ------------------------------------------------------------------------- */

/* Eight stages of ten blocks. */
static void eight_stages(void)
{
    set("pipeline_par=8");
    set("context_par=1");
    set("data_par=16");
    set("pipeline_interleaving=1");
}

static void is_taken_away(const char *list)
{
    calc_exec before = c.exec;
    set(list);
    for (int32_t i = 0; i < c.exec.stages.chips; i++) {
        c.exec.stages.system[i] = &c.system;
    }
    resolve();
    before.stated = c.exec.stated;
    ck_assert_mem_eq(&before, &c.exec, sizeof before);
}

/* Ranks that split all layers share the experts: who says nothing else means that. */
CALC_TEST(what_is_served_shares_its_experts)
{
    load_shipped(CALC_KIND_APP, &c.app, "models", "qwen3-30B-A3B");
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_serving_8");
    resolve();
    ck_assert_int_eq(c.exec.strategy.expert_tensor_par, 8);
    ck_assert_int_eq(c.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_REPLICATED);
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_serving_8");
    set("expert_par=4");
    resolve();
    ck_assert_int_eq(c.exec.strategy.expert_tensor_par, 2);
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_serving_8");
    set("expert_tensor_par=1"); /* said: all of them on every rank */
    resolve();
    ck_assert_int_eq(c.exec.strategy.expert_tensor_par, 1);
    ck_assert_int_eq(c.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_ALL_TO_ALL);
    /* Experts over more ranks than split the layers: these then have different tokens. */
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_serving_8");
    set("tensor_par=2");
    set("data_par=4");
    set("expert_par=8");
    set("tensor_par_comm_type=auto");
    resolve();
    ck_assert_int_eq(c.exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    /* So do those that send tokens, as the layout says, though their experts are among them. */
    for (int i = 0; i < 2; i++) {
        load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_serving_8");
        set(i ? "expert_par=8" : "expert_par=4");
        set("dispatch_type=node_limited");
        set("tensor_par_comm_type=auto");
        resolve();
        ck_assert_int_eq(c.exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
        ck_assert_int_eq(c.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_NODE_LIMITED);
        ck_assert_int_eq(c.exec.strategy.expert_tensor_par, 0);
    }
}

CALC_TEST(a_list_that_says_nothing_is_none)
{
    eight_stages();
    is_taken_away("stages=8x10");
    is_taken_away("stages={\"recompute_blocks\": 0}");
    is_taken_away("stages={\"activation_recompute\": \"none\", \"blocks\": 10}");
    is_taken_away("stages={\"system\": \"h100_sxm\"}");
    set("pipeline_balance=ends"); /* 82 on 8 */
    is_taken_away("stages={\"system\": \"h100_sxm\"}");
    set("pipeline_balance=blocks");
    set("pipeline_interleaving=2");
    set("batch_size=2048");
    is_taken_away("stages=16x5");
    is_taken_away("stages=8x10");
    set("activation_recompute=full");
    set("seq_par_ag_redo=false");
    is_taken_away("stages={\"blocks\": 10, \"recompute_blocks\": 10}");
    set("recompute_blocks=4");
    is_taken_away("stages={\"blocks\": 10, \"recompute_blocks\": 4}");
    is_taken_away("stages={\"recompute_blocks\": 4}");
    is_taken_away("stages={\"blocks\": [\"16x5\"], \"recompute_blocks\": 2}"); /* of a chunk */
    is_taken_away("stages=16x5");
}

CALC_TEST(what_all_stages_recompute_is_what_the_execution_does)
{
    eight_stages();
    set("seq_par_ag_redo=false");
    calc_exec want = c.exec;
    want.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    want.recompute_blocks = 3;
    set("stages={\"activation_recompute\": \"full\", \"recompute_blocks\": 3}");
    resolve();
    want.stated = c.exec.stated;
    ck_assert_mem_eq(&want, &c.exec, sizeof want);
}

CALC_TEST(first_and_last_stage_are_said_without_a_list)
{
    eight_stages();
    set("stages=9,6x10,11");
    resolve();
    ck_assert_int_eq(c.exec.stages.count, 0);
    ck_assert_int_eq(c.exec.first_stage_blocks, 9);
    ck_assert_int_eq(c.exec.last_stage_blocks, 11);
}

CALC_TEST(a_list_that_says_something_is_kept)
{
    eight_stages();
    static const char *const lists[] = {
        "stages=10,9,11,5x10",
        "stages={\"activation_recompute\": [\"full\", \"7xnone\"]}",
        "stages={\"activation_recompute\": \"full\", \"recompute_blocks\": [1, \"7x2\"]}",
        "stages={\"system\": [\"4xh100_sxm\", \"4xa800\"]}",
        "stages=8x11", /* which the check tells */
    };
    calc_system other = c.system;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        set(lists[i]);
        c.exec.stages.system[0] = &c.system;
        c.exec.stages.system[1] = &other;
        calc_stage_list list = c.exec.stages;
        calc_resolve(&c.app, &c.system, &c.exec);
        ck_assert_mem_eq(&list, &c.exec.stages, sizeof list);
    }
    set("stages={\"system\": \"a800\"}");
    calc_resolve(&c.app, &c.system, &c.exec); /* not given */
    ck_assert_int_eq(c.exec.stages.count, 1);
}
