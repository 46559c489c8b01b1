/* Time and memory of layouts that train a part of their weights, beside closed forms. */
#include "frame.h"
#include "serving_case.h"

static calc_app app;
static calc_system sys;
static calc_exec exec;
static calc_stats stats;

static void setup(void)
{
    app = shipped_app("llama3-8B");
    calc_errors errors = {0};
    ck_assert_int_eq(
        calc_load(CALC_KIND_SYSTEM, &sys, CALC_DATA_DIR_SOURCE "/systems/h100_sxm.json", &errors),
        CALC_OK);
    exec = small_exec(1, 1, 1);
    exec.training = true;
    exec.batch_size = 4;
    exec.strategy.datatype = CALC_DATATYPE_BFLOAT16;
    exec.strategy.attention_type = CALC_ATTENTION_TYPE_GROUPED_QUERY;
    exec.strategy.flash_attention = true;
    exec.strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
}

const calc_test_frame calc_tests = {.setup = setup};

static calc_stats run(void)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_check(&app, &sys, &exec, &errors) == CALC_OK, "%s", errors.item[0].text);
    calc_run(&app, &sys, &exec, CALC_COMPAT_NONE, &stats);
    return stats;
}

static void adapt(int64_t rank)
{
    exec.strategy.trained = CALC_TRAINED_ADAPTERS;
    exec.strategy.lora_rank = rank;
}

/* Llama 3 8B: matrices of blocks, head, and the rest. */
static const double h = 4096, f = 14336, kv = 1024, words = 128256, layers = 32;

static double matrices(void)
{
    return layers * (2 * h * h + 2 * h * kv + 3 * h * f);
}

/* Scores of all blocks, of one sequence, forward: half of the square. */
static double scores_flop(void)
{
    double seq = (double)app.seq_size;
    return layers * 4 * h * seq * (seq + 1) / 2;
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* Forward and gradients of activations of all, gradients of weights of none but the adapters;
 * Megatron-Bridge publishes 4 N for LoRA, Automodel 4 N + 4 L h S (docs/post-training.md). */
CALC_TEST(frozen_weights_are_multiplied_twice)
{
    double seq = (double)app.seq_size;
    adapt(0);
    double want = 4 * (2 * seq * 2 * (matrices() + h * words) + 3 * scores_flop());
    ck_assert_double_eq_tol(run().model_flops, want, 1e-12 * want);
    adapt(16);
    double adapters = 16 * layers * (3 * h + h + 2 * kv + 2 * h + 2 * (h + f) + f + h);
    ck_assert_double_eq(run().trained_parameters, adapters);
    want += 4 * 2 * seq * 3 * adapters;
    ck_assert_double_eq_tol(stats.model_flops, want, 1e-12 * want);
}

CALC_TEST(blocks_before_the_first_trained_one_run_forward_alone)
{
    double seq = (double)app.seq_size;
    exec.strategy.trained = CALC_TRAINED_BLOCKS;
    exec.strategy.trained_blocks = 8;
    double blocks = 2 * seq * matrices() + scores_flop();
    double want = 4 * (blocks + blocks / 4 * 2 + 2 * 2 * seq * h * words);
    ck_assert_double_eq_tol(run().model_flops, want, 1e-12 * want);
    double one = 2 * h * h + 2 * h * kv + 3 * h * f + 2 * h;
    ck_assert_double_eq(stats.trained_parameters, 8 * one);
    /* Their backward passes take in proportion. */
    double some_s = stats.bw_time, some_bytes = stats.act_space;
    ck_assert_double_gt(some_bytes, 0);
    exec.strategy.trained_blocks = 32;
    ck_assert_double_eq_tol(run().bw_time, 4 * some_s, 1e-9 * some_s);
    ck_assert_double_eq_tol(stats.act_space, 4 * some_bytes, 1);
}

CALC_TEST(a_head_that_is_trained_alone_sends_no_gradient_back)
{
    exec.strategy.trained = CALC_TRAINED_HEAD;
    ck_assert_double_eq(run().bw_time, 0);
    ck_assert_double_eq(stats.act_space, 0);
    ck_assert_double_eq(stats.trained_parameters, h * words);
    double head = h * words;
    ck_assert_double_eq(stats.optimizer_space, 12 * head);
    exec.strategy.weight_offload = true; /* read once, before the forward pass */
    ck_assert_double_gt(run().offload_mem_bw_req, 0);
    ck_assert(isfinite(stats.offload_mem_bw_req));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* An adapter of rank 0 is none: frozen weights have neither gradients nor an optimizer. */
CALC_TEST(frozen_weights_have_no_gradients_and_no_optimizer)
{
    adapt(0);
    double others = 2 * h * words + (2 * layers + 1) * h; /* tables and norms */
    ck_assert_double_eq(run().weight_space, 2 * (matrices() + others));
    ck_assert_double_eq(stats.weight_grad_space, 0);
    ck_assert_double_eq(stats.optimizer_space, 0);
    ck_assert_double_eq(stats.dp_comm_link_time, 0);
    const calc_stats frozen = stats;
    const calc_exec plain = exec;
    exec.strategy.lora_modules = 1;
    exec.strategy.lora_fused = exec.strategy.lora_dropout = exec.strategy.dora = true;
    exec.strategy.lora_experts = CALC_LORA_EXPERTS_EACH;
    run();
    ck_assert_mem_eq(&stats, &frozen, sizeof stats);
    exec = plain;
    adapt(16);
    double adapters = run().trained_parameters;
    ck_assert_double_eq(stats.weight_space, 2 * (matrices() + others + adapters));
    ck_assert_double_eq(stats.weight_grad_space, 4 * adapters);
    ck_assert_double_eq(stats.optimizer_space, 12 * adapters);
}

/* 4 bits, a scale of 8 bits for 64, and one of 32 for 256 of these: 4.127 bits (QLoRA); tables and
 * norms stay as they are, and whatever is narrow is widened in both passes. */
CALC_TEST(narrow_frozen_matrices_count_their_scales)
{
    adapt(0);
    double wide_s = run().total_time;
    double others = 2 * h * words + (2 * layers + 1) * h;
    exec.strategy.frozen_datatype = CALC_FROZEN_DATATYPE_NF4_DOUBLE;
    ck_assert_double_eq_tol(run().weight_space, 0.515869140625 * matrices() + 2 * others, 1e3);
    ck_assert_double_gt(stats.total_time, wide_s);
    exec.strategy.frozen_datatype = CALC_FROZEN_DATATYPE_NF4;
    ck_assert_double_eq_tol(run().weight_space, 0.5625 * matrices() + 2 * others, 1e3);
    exec.strategy.frozen_datatype = CALC_FROZEN_DATATYPE_FLOAT32; /* all of them */
    ck_assert_double_eq(run().weight_space, 4 * (matrices() + others));
}

/* Inputs of frozen matrices are kept for adapters alone, but for that of attention's output, which
 * flash attention's backward pass reads. */
CALC_TEST(inputs_of_frozen_matrices_are_not_kept)
{
    double tokens = (double)app.seq_size;
    double all = run().act_space;
    adapt(0);
    double dropped = layers * tokens * 2 * (2 * h + f);
    ck_assert_double_eq_tol(run().act_space, all - dropped, 1);
    adapt(16);
    double middle = layers * tokens * 2 * 16 * 7; /* results of lora_A */
    ck_assert_double_eq_tol(run().act_space, all + middle, 1);
    exec.strategy.lora_dropout = true; /* q, k, v, o, gate, up and down: a copy and a mask each */
    double copies = layers * tokens * 3 * (3 * h + h + 2 * h + f);
    ck_assert_double_eq_tol(run().act_space, all - dropped + middle + copies, 1);
}

/* ---- Sharding -------------------------------------------------------------------------------- */

/* FSDP gathers frozen weights before both passes, and reduces gradients of adapters alone; weights
 * of 4 bits are about a quarter of the traffic. */
CALC_TEST(sharded_frozen_weights_are_gathered_and_not_reduced)
{
    exec.num_procs = exec.strategy.data_par = 8;
    exec.batch_size = 8;
    exec.strategy.zero_stage = 3;
    exec.strategy.data_par_overlap = false;
    double all_s = run().dp_comm_link_time;
    adapt(0);
    double frozen_s = run().dp_comm_link_time;
    ck_assert_double_gt(frozen_s, 0);
    ck_assert_double_lt(frozen_s, 0.6 * all_s); /* two gathers of 2 bytes; before, 4 more reduced */
    ck_assert_double_lt(stats.weight_space, 16.1e9 / 8 + 3e9);
    exec.strategy.frozen_datatype = CALC_FROZEN_DATATYPE_NF4_DOUBLE;
    ck_assert_double_lt(run().dp_comm_link_time, 0.45 * frozen_s);
}

/* The trained weights and the work are those of one rank, whatever the ranks. */
CALC_TEST_LOOP(counts_do_not_depend_on_the_layout, 0, 3)
{
    app.vocab_multiple = 1; /* not padded to the ranks */
    adapt(16);
    double trained = run().trained_parameters;
    double flop = stats.model_flops;
    exec.num_procs = 8;
    *(_i == 0   ? &exec.strategy.tensor_par
      : _i == 1 ? &exec.pipeline_par
                : &exec.strategy.context_par) = 8;
    ck_assert_double_eq(run().trained_parameters, trained);
    ck_assert_double_eq(stats.model_flops, flop);
}

/* ---- Packed sequences ------------------------------------------------------------------------ */

/* Attention of documents of half the length is half of the work, less the diagonal. */
CALC_TEST(attention_stays_inside_documents)
{
    double seq = (double)app.seq_size;
    double whole = run().model_flops;
    exec.strategy.packed_size = seq / 2;
    double want = whole - 4 * 3 * layers * 4 * h * seq * (seq / 4);
    ck_assert_double_eq_tol(run().model_flops, want, 1e-12 * want);
    exec.strategy.packed_size = 2 * seq;
    ck_assert_double_eq(run().model_flops, whole);
}

CALC_TEST(padding_is_computed_and_not_counted)
{
    double rate = run().tokens_per_s;
    double step_s = stats.total_time;
    exec.strategy.padding_share = 0.5;
    ck_assert_double_eq(run().tokens_per_s, rate / 2);
    ck_assert_double_eq(stats.total_time, step_s);
}

CALC_TEST(tokens_without_a_loss_have_no_logits)
{
    double head_s = run().head_time;
    exec.strategy.loss_share = 0.25;
    ck_assert_double_lt(run().head_time, 0.35 * head_s);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void assert_refused(const char *field)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_check(&app, &sys, &exec, &errors), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].pointer, field);
}

CALC_TEST(contradictions_are_refused)
{
    exec.strategy.lora_rank = 8;
    assert_refused("/lora_rank");
    adapt(8);
    exec.training = false;
    assert_refused("/trained");
    exec.training = true;
    exec.strategy.trained_blocks = 33;
    assert_refused("/trained_blocks");
    exec.strategy.trained_blocks = 4;
    exec.num_procs = exec.pipeline_par = 2;
    assert_refused("/trained_blocks");
    exec.num_procs = exec.pipeline_par = 1;
    exec.strategy.trained = CALC_TRAINED_ALL;
    exec.strategy.lora_rank = 0;
    assert_refused("/trained_blocks");
    exec.strategy.trained = CALC_TRAINED_BLOCKS;
    exec.strategy.trained_blocks = 0;
    assert_refused("/trained_blocks");
}

/* Adapters on stages that differ: with three blocks more the first stage is the fullest, and no
 * longer the last, which has the final norm. */
CALC_TEST(stages_that_differ_have_frozen_blocks)
{
    const calc_stage_run as_exec = {.recompute = CALC_STAGE_AS_EXEC,
                                    .recompute_blocks = CALC_STAGE_AS_EXEC};
    exec.num_procs = exec.pipeline_par = 4;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    adapt(16);
    calc_stats even = run();
    exec.stages.count = 2;
    exec.stages.run[0] = exec.stages.run[1] = as_exec;
    exec.stages.run[0].places = 1;
    exec.stages.run[0].blocks = 11;
    exec.stages.run[1].places = 3;
    exec.stages.run[1].blocks = 7;
    calc_stats listed = run();
    double frozen = 2 * h * h + 2 * h * kv + 3 * h * f + 2 * h;
    double adapters = 16 * (3 * h + h + 2 * kv + 2 * h + 2 * (h + f) + f + h);
    ck_assert_double_eq(listed.trained_parameters, even.trained_parameters);
    ck_assert_double_eq(listed.weight_space - even.weight_space, 2 * (3 * (frozen + adapters) - h));
    ck_assert_double_eq(listed.optimizer_space - even.optimizer_space, 3 * 12 * adapters);
}
