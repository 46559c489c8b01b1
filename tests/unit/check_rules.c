#include "spec/rules.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "frame.h"
#include "small_case.h"

/* The three documents, free of errors to begin with. */
typedef struct documents {
    calc_app app;
    calc_system system;
    calc_exec exec;
} documents;

static documents valid(int64_t tensor_par, int64_t pipeline_par, int64_t data_par)
{
    return (documents){small_app(), small_system(), small_exec(tensor_par, pipeline_par, data_par)};
}

static void assert_valid(const documents *d)
{
    calc_errors errors = {0};
    calc_status status = calc_check(&d->app, &d->system, &d->exec, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", errors.item[0].pointer, errors.item[0].text);
    ck_assert_int_eq(errors.count, 0);
}

static void assert_error(const calc_error *error, calc_status status, calc_kind kind,
                         const char *pointer, const char *text, const char *hint)
{
    ck_assert_str_eq(error->text, text);
    ck_assert_str_eq(error->pointer, pointer);
    ck_assert_str_eq(error->hint, hint);
    ck_assert_int_eq(error->status, status);
    ck_assert_int_eq(error->kind, kind);
    ck_assert_int_eq(error->line, 0);
}

/* Exactly one rule is broken, about a field of the execution. */
static void assert_broken(const documents *d, const char *pointer, const char *text,
                          const char *hint)
{
    calc_errors errors = {0};
    calc_status status = calc_check(&d->app, &d->system, &d->exec, &errors);
    ck_assert_int_eq(status, CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 1);
    assert_error(&errors.item[0], CALC_ERR_RULE, CALC_KIND_EXEC, pointer, text, hint);
}

/* ---- Divisors -------------------------------------------------------------------------------- */

CALC_TEST(the_greatest_common_divisor_divides_both)
{
    ck_assert_int_eq(calc_gcd(12, 18), 6);
    ck_assert_int_eq(calc_gcd(18, 12), 6);
    ck_assert_int_eq(calc_gcd(7, 1), 1);
    ck_assert_int_eq(calc_gcd(5, 5), 5);
    ck_assert_int_eq(calc_gcd(1000000000000, 1000000000), 1000000000);
}

static const char *divisors(int64_t n)
{
    static char text[200];
    return calc_divisors_text(n, text, sizeof text);
}

CALC_TEST(divisors_are_listed_in_order)
{
    ck_assert_str_eq(divisors(1), "1");
    ck_assert_str_eq(divisors(7), "1 or 7");
    ck_assert_str_eq(divisors(12), "1, 2, 3, 4, 6 or 12");
}

CALC_TEST(more_than_sixteen_divisors_are_cut)
{
    ck_assert_str_eq(divisors(120), "1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60 or 120");
    ck_assert_str_eq(divisors(65536), "1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, "
                                      "8192, 16384, 32768, ...");
}

CALC_TEST(divisors_stay_inside_a_small_buffer)
{
    char text[12];
    memset(text, '#', sizeof text);
    calc_divisors_text(120, text, 8);
    ck_assert_str_eq(text, "1, 2, 3");
    ck_assert_mem_eq(text + 8, "####", 4);
    calc_divisors_text(65536, text, 8);
    ck_assert_str_eq(text, "1, 2, 4");
    ck_assert_mem_eq(text + 8, "####", 4);
}

/* ---- Parallel sizes -------------------------------------------------------------------------- */

CALC_TEST(the_parallel_sizes_make_up_all_processors)
{
    documents d = valid(2, 2, 3);
    assert_valid(&d);
    d.exec.num_procs = 13;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par = 2 * 2 * 3 is not num_procs = 13",
                  "num_procs = 12 would fit");
    d.exec.num_procs = 16;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par = 2 * 2 * 3 is not num_procs = 16",
                  "data_par = 4 would fit");
}

/* Their product is above what num_procs may be. */
CALC_TEST(huge_parallel_sizes_are_not_advised)
{
    documents d = valid(1, 100000, 100000);
    d.exec.num_procs = 7;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par = 1 * 100000 * 100000 is not num_procs = 7",
                  "");
}

CALC_TEST(parallel_sizes_whose_product_would_overflow_are_reported)
{
    documents d = valid(1, 1000000000, 1000000000);
    d.exec.num_procs = 1000000000;
    d.exec.batch_size = 1000000000;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par = 1 * 1000000000 * 1000000000 is not "
                  "num_procs = 1000000000",
                  "data_par = 1 would fit");
}

/* ---- Batch ----------------------------------------------------------------------------------- */

CALC_TEST(replicas_have_equal_batches)
{
    documents d = valid(1, 1, 4);
    d.exec.batch_size = 10;
    assert_broken(&d, "/batch_size", "10 is not a multiple of data_par = 4",
                  "batch_size must be a multiple of data_par: 8 or 12");
    d.exec.batch_size = 3;
    assert_broken(&d, "/batch_size", "3 is not a multiple of data_par = 4",
                  "batch_size must be a multiple of data_par: at least 4");
    d.exec.batch_size = 4;
    assert_valid(&d);
}

CALC_TEST(micro_batches_divide_the_batch_of_a_replica)
{
    documents d = valid(1, 1, 2);
    d.exec.batch_size = 12;
    d.exec.microbatch_size = 4;
    assert_broken(&d, "/microbatch_size", "4 does not divide batch_size / data_par = 6",
                  "use 1, 2, 3 or 6");
    d.exec.microbatch_size = 6;
    assert_valid(&d);
    d.exec.microbatch_size = 12;
    assert_broken(&d, "/microbatch_size", "12 does not divide batch_size / data_par = 6",
                  "use 1, 2, 3 or 6");
}

/* ---- Tensor parallelism ---------------------------------------------------------------------- */

/* The hint lists what divides all of hidden, feedforward and attn_heads: here their greatest
 * common divisor is that of what is broken and 4. */
CALC_TEST(tensor_par_divides_what_it_splits)
{
    documents d = valid(4, 1, 1);
    assert_valid(&d);
    d.app.hidden = 62;
    assert_broken(&d, "/tensor_par", "4 does not divide hidden = 62", "use 1 or 2");
    d = valid(4, 1, 1);
    d.app.feedforward = 254;
    assert_broken(&d, "/tensor_par", "4 does not divide feedforward = 254", "use 1 or 2");
    d = valid(4, 1, 1);
    d.app.attn_heads = 5;
    assert_broken(&d, "/tensor_par", "4 does not divide attn_heads = 5", "use 1");
}

CALC_TEST(scattered_messages_need_tokens_for_every_rank)
{
    documents d = valid(4, 1, 1);
    d.app.seq_size = 30;
    assert_valid(&d);
    for (int type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG; type <= CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
         type++) {
        d.exec.strategy.tensor_par_comm_type = (calc_tensor_par_comm_type)type;
        d.exec.microbatch_size = 1;
        assert_broken(&d, "/tensor_par", "4 does not divide microbatch_size * seq_size = 30",
                      "use 1 or 2");
        d.exec.microbatch_size = 2;
        assert_valid(&d);
    }
}

CALC_TEST(overlap_needs_ranks)
{
    documents d = valid(2, 1, 1);
    d.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    assert_valid(&d);
    for (int overlap = CALC_TENSOR_PAR_OVERLAP_RING; overlap <= CALC_TENSOR_PAR_OVERLAP_PIPE;
         overlap++) {
        d = valid(1, 1, 1);
        d.exec.strategy.tensor_par_overlap = (calc_tensor_par_overlap)overlap;
        assert_broken(&d, "/tensor_par_overlap", "nothing to overlap with tensor_par = 1",
                      "use \"none\", or tensor_par > 1");
    }
}

CALC_TEST(redoing_the_gather_needs_sequence_parallelism)
{
    documents d = valid(2, 1, 1);
    d.exec.strategy.seq_par_ag_redo = true;
    for (int type = CALC_TENSOR_PAR_COMM_TYPE_AR; type <= CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
         type++) {
        d.exec.strategy.tensor_par_comm_type = (calc_tensor_par_comm_type)type;
        assert_broken(
            &d, "/seq_par_ag_redo",
            "only sequence parallelism (tensor_par_comm_type \"rs_ag\") has an all-gather to redo",
            "use false, or tensor_par_comm_type \"rs_ag\"");
    }
    d.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    assert_valid(&d);
}

CALC_TEST(redoing_the_gather_is_part_of_full_recomputation)
{
    documents d = valid(2, 1, 1);
    d.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    d.exec.strategy.seq_par_ag_redo = true;
    d.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    assert_valid(&d);
    d.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    assert_broken(&d, "/seq_par_ag_redo", "full recomputation already repeats the all-gather",
                  "use false, or activation_recompute \"attn_only\" or \"none\"");
}

/* ---- Pipeline and data parallelism ----------------------------------------------------------- */

CALC_TEST(interleaving_needs_a_pipeline)
{
    documents d = valid(1, 2, 1);
    d.exec.pipeline_interleaving = 4;
    assert_valid(&d);
    d = valid(1, 1, 1);
    d.exec.pipeline_interleaving = 4;
    assert_broken(&d, "/pipeline_interleaving", "4 chunks need a pipeline, but pipeline_par = 1",
                  "use 1, or pipeline_par > 1");
}

CALC_TEST(sharding_needs_replicas)
{
    documents d = valid(1, 1, 2);
    d.exec.strategy.optimizer_sharding = true;
    assert_valid(&d);
    d = valid(1, 1, 1);
    d.exec.strategy.optimizer_sharding = true;
    assert_broken(&d, "/optimizer_sharding", "nothing to shard over with data_par = 1",
                  "use false, or data_par > 1");
}

CALC_TEST(overlap_of_the_reduction_needs_replicas)
{
    documents d = valid(1, 1, 2);
    d.exec.strategy.data_par_overlap = true;
    assert_valid(&d);
    d = valid(1, 1, 1);
    d.exec.strategy.data_par_overlap = true;
    assert_broken(&d, "/data_par_overlap", "nothing to overlap with data_par = 1",
                  "use false, or data_par > 1");
}

/* ---- Inference ------------------------------------------------------------------------------- */

CALC_TEST(inference_has_nothing_to_recompute)
{
    documents d = valid(1, 1, 2);
    d.exec.training = false;
    assert_valid(&d);
    for (int recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
         recompute <= CALC_ACTIVATION_RECOMPUTE_FULL; recompute++) {
        d.exec.strategy.activation_recompute = (calc_activation_recompute)recompute;
        assert_broken(&d, "/activation_recompute",
                      "without training there is no backward pass to recompute for",
                      "use \"none\", or training true");
    }
}

/* With one replica that is what is wrong with it, once. */
CALC_TEST(inference_has_no_gradients_to_reduce)
{
    documents d = valid(1, 1, 2);
    d.exec.training = false;
    d.exec.strategy.data_par_overlap = true;
    assert_broken(&d, "/data_par_overlap", "without training there are no gradients to reduce",
                  "use false, or training true");
    d = valid(1, 1, 1);
    d.exec.training = false;
    d.exec.strategy.data_par_overlap = true;
    assert_broken(&d, "/data_par_overlap", "nothing to overlap with data_par = 1",
                  "use false, or data_par > 1");
}

CALC_TEST(inference_has_no_optimizer_to_offload)
{
    documents d = valid(1, 1, 1);
    d.exec.strategy.optimizer_offload = true;
    assert_valid(&d);
    d.exec.training = false;
    assert_broken(&d, "/optimizer_offload", "without training there is no optimizer",
                  "use false, or training true");
    d.exec.strategy.optimizer_offload = false;
    d.exec.strategy.weight_offload = true;
    d.exec.strategy.activations_offload = true;
    assert_valid(&d);
}

/* ---- Across documents ------------------------------------------------------------------------ */

CALC_TEST(networks_are_those_of_the_system)
{
    documents d = valid(1, 1, 1);
    d.exec.strategy.tensor_par_net = 1;
    assert_valid(&d);
    d.exec.strategy.tensor_par_net = 2;
    assert_broken(&d, "/tensor_par_net", "no network 2: the system has 2", "use 0 to 1");
    d = valid(1, 1, 1);
    d.exec.pipeline_par_net = 7;
    assert_broken(&d, "/pipeline_par_net", "no network 7: the system has 2", "use 0 to 1");
    d = valid(1, 1, 1);
    d.exec.pipeline_par_net = 0;
    d.system.networks_count = 1;
    assert_broken(&d, "/data_par_net", "no network 1: the system has 1", "use 0");
}

CALC_TEST(networks_of_other_groups_are_given_or_left_out)
{
    static const struct {
        size_t offset;
        const char *pointer;
    } nets[] = {{offsetof(calc_exec, strategy.context_par_net), "/context_par_net"},
                {offsetof(calc_exec, strategy.expert_par_net), "/expert_par_net"},
                {offsetof(calc_exec, strategy.expert_tensor_par_net), "/expert_tensor_par_net"},
                {offsetof(calc_exec, strategy.expert_data_par_net), "/expert_data_par_net"}};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        documents d = valid(1, 1, 1);
        int64_t *net = (int64_t *)(void *)((char *)&d.exec + nets[i].offset);
        ck_assert_int_eq(*net, -1);
        assert_valid(&d);
        *net = 1;
        assert_valid(&d);
        *net = 2;
        assert_broken(&d, nets[i].pointer, "no network 2: the system has 2", "use 0 to 1");
    }
}

CALC_TEST(both_engines_offer_the_datatype)
{
    documents d = valid(1, 1, 1);
    d.system.chip.matrix[CALC_DATATYPE_FLOAT8] = (calc_engine){0};
    assert_valid(&d);
    d.exec.strategy.datatype = CALC_DATATYPE_FLOAT8;
    assert_broken(&d, "/datatype", "the system's matrix engine does not offer float8",
                  "use float16 or bfloat16 or float32");
    d = valid(1, 1, 1);
    for (int type = 0; type < CALC_DATATYPE_FLOAT32; type++) {
        d.system.chip.vector[type] = (calc_engine){0};
    }
    assert_broken(&d, "/datatype", "the system's vector engine does not offer float16",
                  "use float32");
    d.exec.strategy.datatype = CALC_DATATYPE_FLOAT32;
    assert_valid(&d);
}

CALC_TEST(blocks_multiply_in_a_datatype_of_the_matrix_engine)
{
    documents d = valid(1, 1, 1);
    d.system.chip.vector[CALC_DATATYPE_FLOAT8] = (calc_engine){0}; /* not asked for */
    d.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    assert_valid(&d);
    d.system.chip.matrix[CALC_DATATYPE_FLOAT8] = (calc_engine){0};
    assert_broken(&d, "/matrix_datatype", "the system's matrix engine does not offer float8",
                  "use float16 or bfloat16 or float32");
    /* The same format by another name is the same error, once. */
    d.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT16;
    assert_valid(&d);
    d.system.chip.matrix[CALC_DATATYPE_FLOAT16] = (calc_engine){0};
    assert_broken(&d, "/datatype", "the system's matrix engine does not offer float16",
                  "use bfloat16 or float32");
    d.exec.strategy.matrix_datatype = CALC_FORMAT_BFLOAT16; /* head and router stay in datatype */
    assert_broken(&d, "/datatype", "the system's matrix engine does not offer float16",
                  "use bfloat16 or float32");
}

CALC_TEST(elementwise_arithmetic_is_in_a_datatype_of_the_vector_engine)
{
    documents d = valid(1, 1, 1);
    d.exec.strategy.vector_datatype = CALC_FORMAT_BFLOAT16;
    assert_valid(&d);
    d.system.chip.vector[CALC_DATATYPE_BFLOAT16] = (calc_engine){0};
    assert_broken(&d, "/vector_datatype", "the system's vector engine does not offer bfloat16",
                  "use float8 or float16 or float32");
    d.exec.strategy.vector_datatype = CALC_FORMAT_AUTO;
    assert_valid(&d);
}

CALC_TEST(attention_multiplies_in_a_datatype_of_the_matrix_engine)
{
    documents d = valid(1, 1, 1);
    d.exec.strategy.attention_datatype = CALC_FORMAT_FLOAT8;
    assert_valid(&d);
    d.system.chip.matrix[CALC_DATATYPE_FLOAT8] = (calc_engine){0};
    assert_broken(&d, "/attention_datatype", "the system's matrix engine does not offer float8",
                  "use float16 or bfloat16 or float32");
    d.exec.strategy.attention_datatype = CALC_FORMAT_AUTO;
    assert_valid(&d);
}

/* ---- Structure of modern models -------------------------------------------------------------- */

/* Exactly one rule is broken, about a field of the application. */
static void assert_broken_app(const documents *d, const char *pointer, const char *text,
                              const char *hint)
{
    calc_errors errors = {0};
    calc_status status = calc_check(&d->app, &d->system, &d->exec, &errors);
    ck_assert_int_eq(status, CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 1);
    assert_error(&errors.item[0], CALC_ERR_RULE, CALC_KIND_APP, pointer, text, hint);
}

CALC_TEST(heads_share_keys_and_values_evenly)
{
    documents d = valid(1, 1, 1);
    for (int64_t heads = 1; heads <= 4; heads *= 2) {
        d.app.kv_heads = heads;
        assert_valid(&d);
    }
    d.app.kv_heads = 3;
    assert_broken_app(&d, "/kv_heads", "3 does not divide attn_heads = 4", "use 1, 2 or 4");
    d.app.kv_heads = 8;
    assert_broken_app(&d, "/kv_heads", "8 does not divide attn_heads = 4", "use 1, 2 or 4");
}

CALC_TEST(latent_attention_has_all_its_sizes)
{
    documents d = valid(1, 1, 1);
    d.app.kv_lora_rank = 16;
    d.app.qk_nope_size = 8;
    d.app.v_size = 8;
    assert_valid(&d);
    d.app.q_lora_rank = 32;
    assert_valid(&d);
    d.app.qk_nope_size = 0;
    assert_broken_app(&d, "/kv_lora_rank", "latent attention needs the sizes of its heads",
                      "give qk_nope_size, qk_rope_size and v_size");
    d.app.qk_nope_size = 8;
    d.app.v_size = 0;
    assert_broken_app(&d, "/kv_lora_rank", "latent attention needs the sizes of its heads",
                      "give qk_nope_size, qk_rope_size and v_size");
    d = valid(1, 1, 1);
    d.app.q_lora_rank = 32;
    assert_broken_app(&d, "/q_lora_rank", "only latent attention compresses queries",
                      "give kv_lora_rank, or leave q_lora_rank out");
}

CALC_TEST(windows_slide_over_causal_attention)
{
    documents d = valid(1, 1, 1);
    d.app.window_size = 8;
    assert_broken_app(&d, "/window_size", "a window slides over causal attention only",
                      "set causal true");
    d.app.causal = true;
    assert_valid(&d);
}

/* 8 experts, 2 per token, in every block. */
static documents with_experts(int64_t tensor_par, int64_t pipeline_par, int64_t data_par)
{
    documents d = valid(tensor_par, pipeline_par, data_par);
    d.app.num_experts = 8;
    d.app.experts_per_token = 2;
    return d;
}

CALC_TEST(tokens_are_routed_to_experts_that_exist)
{
    documents d = with_experts(1, 1, 1);
    d.app.experts_per_token = 1;
    assert_valid(&d);
    d.app.experts_per_token = 8;
    assert_valid(&d);
    d.app.experts_per_token = 9;
    assert_broken_app(&d, "/experts_per_token", "a token cannot be routed to 9 of 8 experts",
                      "use 1 to 8");
    d.app.experts_per_token = 0;
    assert_broken_app(&d, "/experts_per_token", "a token cannot be routed to 0 of 8 experts",
                      "use 1 to 8");
    d.app.num_experts = 0;
    assert_valid(&d);
}

CALC_TEST(some_block_has_experts)
{
    documents d = with_experts(1, 1, 1);
    d.app.dense_blocks = 7;
    assert_valid(&d);
    for (d.app.dense_blocks = 8; d.app.dense_blocks <= 9; d.app.dense_blocks++) {
        assert_broken_app(&d, "/dense_blocks", "all 8 blocks are dense: none has experts",
                          "use less than num_blocks, or num_experts 0");
    }
}

/* ---- Attention and recomputation ------------------------------------------------------------- */

CALC_TEST(the_attention_type_is_one_the_model_has)
{
    documents d = valid(1, 1, 1);
    d.exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
    assert_broken(&d, "/attention_type", "the application has no latent attention (kv_lora_rank)",
                  "use \"multihead\" or \"grouped_query\"");
    d.app.kv_lora_rank = 16;
    d.app.qk_nope_size = d.app.v_size = 8;
    assert_valid(&d);
    d.exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
    assert_broken(&d, "/attention_type", "the application has more than one key and value head",
                  "use \"grouped_query\"");
    d = valid(1, 1, 1);
    d.exec.strategy.attention_type = CALC_ATTENTION_TYPE_GROUPED_QUERY;
    assert_broken(&d, "/attention_type",
                  "the application does not say how many key and value heads it has (kv_heads)",
                  "use \"multihead\", or give the application kv_heads");
    d.app.kv_heads = 2;
    assert_valid(&d);
    d.exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
    assert_broken(&d, "/attention_type", "the application has more than one key and value head",
                  "use \"grouped_query\"");
    d.app.kv_heads = 1;
    assert_valid(&d);
}

CALC_TEST(a_loss_is_of_shares_of_the_logits_or_of_all_of_them)
{
    documents d = valid(1, 1, 1);
    int64_t apart = 1 << CALC_FRAMEWORK_MEM_LOSS_PARALLEL;
    int64_t whole = 1 << CALC_FRAMEWORK_MEM_LOGITS_GATHERED;
    int64_t copies = 1 << CALC_FRAMEWORK_MEM_LOSS_COPIES;
    d.exec.strategy.framework_mem = copies | apart | whole;
    assert_broken(&d, "/framework_mem",
                  "a loss is split over logits, loss_parallel, or of all of them, logits_gathered",
                  "leave one of them out");
    d.exec.strategy.framework_mem = copies | apart;
    assert_valid(&d);
    d.exec.strategy.framework_mem = copies | whole;
    assert_valid(&d);
}

CALC_TEST(modules_are_recomputed_only_where_asked_for)
{
    documents d = valid(1, 1, 1);
    d.exec.strategy.recompute_modules = 1 << CALC_RECOMPUTE_MODULES_MLP;
    for (int recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
         recompute <= CALC_ACTIVATION_RECOMPUTE_FULL; recompute++) {
        d.exec.strategy.activation_recompute = (calc_activation_recompute)recompute;
        assert_broken(&d, "/recompute_modules",
                      "modules are only recomputed with activation_recompute \"modules\"",
                      "use activation_recompute \"modules\", or leave them out");
    }
    d.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    assert_valid(&d);
}

CALC_TEST(groups_of_blocks_are_in_chunks_that_recompute_whole)
{
    documents d = valid(1, 1, 1);
    calc_strategy *s = &d.exec.strategy;
    s->recompute_group = d.app.num_blocks + 1;
    assert_valid(&d); /* without recomputation it means nothing */
    s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s->recompute_group = d.app.num_blocks + 1;
    char text[96], hint[64];
    snprintf(text, sizeof text, "a chunk of a stage has fewer than %lld blocks",
             (long long)d.app.num_blocks + 1);
    snprintf(hint, sizeof hint, "use at most %lld", (long long)d.app.num_blocks);
    assert_broken(&d, "/recompute_group", text, hint);
    s->recompute_group = d.app.num_blocks;
    assert_valid(&d);
    d.exec.recompute_blocks = 1;
    assert_broken(&d, "/recompute_group",
                  "either groups of blocks or the first blocks of a stage recompute",
                  "leave it or recompute_blocks out");
}

CALC_TEST(parts_are_offloaded_where_they_keep_something)
{
    documents d = valid(1, 1, 1);
    calc_strategy *s = &d.exec.strategy;
    s->offload_modules = 1 << CALC_OFFLOAD_MODULES_ATTN_PROJ;
    assert_broken(&d, "/offload_modules",
                  "the backward pass of core_attn reads what attn_proj would move: its own output",
                  "add core_attn, or leave attn_proj out");
    s->offload_modules |= 1 << CALC_OFFLOAD_MODULES_CORE_ATTN;
    assert_valid(&d);
    s->activations_offload = true;
    assert_broken(&d, "/offload_modules",
                  "activations_offload already keeps what all parts save in tier 2",
                  "leave it out, or use activations_offload false");
    s->activations_offload = false;
    s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    assert_broken(&d, "/offload_modules",
                  "full recomputation leaves nothing of a part of a block to keep",
                  "leave it out, or use activation_recompute \"modules\" or \"none\"");
    s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    d.exec.training = false;
    assert_broken(&d, "/offload_modules", "without training nothing is kept for a backward pass",
                  "leave it out, or training true");
}

CALC_TEST(experts_pack_what_they_store_or_offload_it)
{
    documents d = valid(1, 1, 1);
    calc_strategy *s = &d.exec.strategy;
    d.app.num_experts = 8;
    d.app.experts_per_token = 2;
    s->paged_stash = 1.1;
    s->rank_capacity_factor = 1.5;
    assert_valid(&d);
    s->offload_modules = 1 << CALC_OFFLOAD_MODULES_ATTN_NORM;
    assert_valid(&d);
    s->offload_modules = 1 << CALC_OFFLOAD_MODULES_MOE_ACT;
    assert_broken(
        &d, "/paged_stash", "what experts store is packed into pages or offloaded, not both",
        "leave it out, or expert_fc1, moe_act and fused_group_mlp out of offload_modules");
    s->paged_stash = 0;
    s->fused_experts = s->looped_experts = true;
    assert_broken(&d, "/looped_experts",
                  "experts are either multiplied together, fused, or one after the other",
                  "use one of them");
}

/* ---- Context parallelism --------------------------------------------------------------------- */

static documents with_context(int64_t tensor_par, int64_t context_par)
{
    documents d = valid(tensor_par, 1, 1);
    d.exec.strategy.context_par = context_par;
    d.exec.num_procs = tensor_par * context_par;
    d.exec.strategy.flash_attention = true;
    return d;
}

CALC_TEST(context_par_is_one_of_the_parallel_sizes)
{
    documents d = with_context(2, 4);
    assert_valid(&d);
    d.exec.num_procs = 2;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par * context_par = 2 * 1 * 1 * 4 is not "
                  "num_procs = 2",
                  "num_procs = 8 would fit");
    d.exec.num_procs = 24;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par * context_par = 2 * 1 * 1 * 4 is not "
                  "num_procs = 24",
                  "data_par = 3 would fit");
    for (int64_t one = 0; one <= 1; one++) {
        d = with_context(2, one);
        d.exec.num_procs = 2;
        d.exec.strategy.flash_attention = false;
        assert_valid(&d);
    }
}

CALC_TEST(context_par_divides_the_sequence)
{
    documents d = with_context(1, 4);
    d.app.seq_size = 36; /* 4 pieces, but not 8 */
    assert_valid(&d);
    d.app.seq_size = 30;
    assert_broken(&d, "/context_par", "4 does not divide seq_size = 30",
                  "use 1, 2, 3, 5, 6, 10, 15 or 30");
    d.exec.seq_size = 32; /* instead of the application's */
    assert_valid(&d);
}

CALC_TEST(balanced_causal_attention_has_two_pieces_per_rank)
{
    documents d = with_context(1, 4);
    d.app.causal = true;
    assert_valid(&d);
    d.app.seq_size = 36;
    assert_broken(&d, "/context_par", "2 * context_par = 8 does not divide seq_size = 36",
                  "use 1, 2, 3, 6, 9 or 18, or context_par_balance \"none\"");
    d.exec.strategy.context_par_balance = CALC_CONTEXT_PAR_BALANCE_NONE;
    assert_valid(&d);
    d.exec.strategy.context_par_balance = CALC_CONTEXT_PAR_BALANCE_ZIGZAG;
    d.exec.strategy.context_par_type =
        CALC_CONTEXT_PAR_TYPE_ULYSSES; /* every rank has all tokens */
    assert_valid(&d);
    d = with_context(1, 3);
    d.app.causal = true;
    d.app.seq_size = 33;
    assert_broken(&d, "/context_par", "2 * context_par = 6 does not divide seq_size = 33",
                  "use 1, or context_par_balance \"none\"");
}

CALC_TEST(context_parallelism_needs_flash_attention)
{
    documents d = with_context(1, 4);
    d.exec.strategy.flash_attention = false;
    assert_broken(&d, "/context_par", "context parallelism needs flash attention",
                  "set flash_attention true");
    d.exec.strategy.attention_type = CALC_ATTENTION_TYPE_FLASH;
    assert_valid(&d);
}

CALC_TEST(ulysses_splits_the_heads_of_a_tensor_parallel_rank)
{
    documents d = with_context(2, 2);
    d.exec.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    assert_valid(&d);
    d = with_context(2, 4);
    assert_valid(&d);
    d.exec.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    assert_broken(&d, "/context_par", "4 does not divide attn_heads / tensor_par = 2",
                  "use 1 or 2");
    d = with_context(8, 2); /* more ranks than heads is one error */
    d.exec.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    assert_broken(&d, "/tensor_par", "8 does not divide attn_heads = 4", "use 1, 2 or 4");
}

CALC_TEST(the_inner_ranks_of_hierarchical_context_parallelism_divide_all)
{
    documents d = with_context(1, 4);
    d.exec.strategy.context_par_inner = 3; /* of no meaning to the others */
    assert_valid(&d);
    d.exec.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
    assert_broken(&d, "/context_par_inner", "3 does not divide context_par = 4", "use 1, 2 or 4");
    d.exec.strategy.context_par_inner = 4;
    assert_valid(&d);
    d.exec.strategy.context_par_inner = 0;
    assert_valid(&d);
}

CALC_TEST(scattered_tokens_are_those_of_a_context_parallel_rank)
{
    documents d = with_context(4, 4);
    d.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    assert_valid(&d);
    d.app.seq_size = 24;
    assert_broken(&d, "/tensor_par",
                  "4 does not divide microbatch_size * seq_size / context_par = 6", "use 1 or 2");
    d.exec.microbatch_size = 2;
    assert_valid(&d);
}

/* Context-parallel ranks have the same weights, so that they shard and reduce like replicas. */
CALC_TEST(context_parallel_ranks_are_replicas)
{
    documents d = with_context(1, 2);
    d.exec.strategy.optimizer_sharding = true;
    d.exec.strategy.data_par_overlap = true;
    d.exec.strategy.zero_stage = 3;
    assert_valid(&d);
    d.exec.strategy.optimizer_sharding = false;
    d.exec.strategy.zero_stage = 0;
    d.exec.training = false;
    assert_broken(&d, "/data_par_overlap", "without training there are no gradients to reduce",
                  "use false, or training true");
}

/* ---- Expert parallelism ---------------------------------------------------------------------- */

CALC_TEST(expert_parallelism_needs_experts)
{
    documents d = valid(1, 1, 4);
    d.exec.strategy.expert_par = 1;
    d.exec.strategy.expert_tensor_par = 1;
    assert_valid(&d);
    d.exec.strategy.expert_par = 2;
    assert_broken(&d, "/expert_par", "the application has no experts",
                  "leave it out, or give the application num_experts");
    d.exec.strategy.expert_par = 0;
    d.exec.strategy.expert_tensor_par = 2;
    assert_broken(&d, "/expert_tensor_par", "the application has no experts",
                  "leave it out, or give the application num_experts");
    d.exec.strategy.expert_par = 2; /* both: once is enough */
    assert_broken(&d, "/expert_par", "the application has no experts",
                  "leave it out, or give the application num_experts");
}

CALC_TEST(expert_par_divides_the_experts)
{
    documents d = with_experts(1, 1, 24);
    d.exec.strategy.expert_par = 8;
    assert_valid(&d);
    d.exec.strategy.expert_par = 3;
    assert_broken(&d, "/expert_par", "3 does not divide num_experts = 8", "use 1, 2, 4 or 8");
}

CALC_TEST(expert_tensor_par_divides_the_width_of_an_expert)
{
    documents d = with_experts(1, 1, 12);
    d.exec.strategy.expert_tensor_par = 3;
    assert_broken(&d, "/expert_tensor_par", "3 does not divide expert_feedforward = 256",
                  "use 1, 2, 4, 8, 16, 32, 64, 128 or 256");
    d.app.expert_feedforward = 9; /* instead of feedforward */
    assert_valid(&d);
    d.exec.strategy.expert_tensor_par = 2;
    assert_broken(&d, "/expert_tensor_par", "2 does not divide expert_feedforward = 9",
                  "use 1, 3 or 9");
}

CALC_TEST(experts_are_spread_over_whole_stages)
{
    documents d = with_experts(1, 2, 4);
    d.exec.strategy.expert_par = 4;
    assert_valid(&d);
    d.exec.strategy.expert_par = 8;
    assert_broken(&d, "/expert_par",
                  "expert_par * expert_tensor_par = 8 does not divide the 4 processors of a stage",
                  "use expert_par 1, 2 or 4");
    d.exec.strategy.expert_par = 2;
    d.exec.strategy.expert_tensor_par = 2;
    assert_valid(&d);
    d.exec.strategy.expert_par = 4;
    assert_broken(&d, "/expert_par",
                  "expert_par * expert_tensor_par = 8 does not divide the 4 processors of a stage",
                  "use expert_par 1 or 2");
    d.exec.strategy.expert_par = 1;
    d.exec.strategy.expert_tensor_par = 8;
    assert_broken(&d, "/expert_tensor_par", "8 does not divide the processors of a stage = 4",
                  "use 1, 2 or 4");
}

CALC_TEST(tensor_par_divides_the_shared_experts)
{
    documents d = with_experts(4, 1, 1);
    d.app.shared_feedforward = 12;
    assert_valid(&d);
    d.app.shared_feedforward = 10;
    assert_broken(&d, "/tensor_par", "4 does not divide shared_feedforward = 10", "use 1 or 2");
    d.app.num_experts = 0; /* without experts none are shared */
    assert_valid(&d);
}

CALC_TEST(experts_beside_tensor_parallelism_need_sequence_parallelism)
{
    documents d = with_experts(2, 1, 2);
    assert_valid(&d);
    d.exec.strategy.expert_par = 2;
    for (int type = CALC_TENSOR_PAR_COMM_TYPE_AR; type <= CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
         type++) {
        d.exec.strategy.tensor_par_comm_type = (calc_tensor_par_comm_type)type;
        assert_broken(&d, "/tensor_par_comm_type",
                      "experts with tensor parallelism need sequence parallelism", "use \"rs_ag\"");
    }
    d.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    assert_valid(&d);
    d = with_experts(1, 1, 2);
    d.exec.strategy.expert_par = 2;
    assert_valid(&d);
}

/* ---- Schedules ------------------------------------------------------------------------------- */

CALC_TEST(only_1f1b_interleaves)
{
    documents d = valid(1, 2, 1);
    d.exec.pipeline_interleaving = 2;
    assert_valid(&d);
    for (int schedule = CALC_PIPELINE_SCHEDULE_GPIPE; schedule < CALC_PIPELINE_SCHEDULE_COUNT;
         schedule++) {
        d.exec.pipeline_schedule = (calc_pipeline_schedule)schedule;
        assert_broken(&d, "/pipeline_interleaving", "only the 1F1B schedule interleaves chunks",
                      "use 1, or pipeline_schedule \"1f1b\"");
    }
    d.exec.pipeline_interleaving = 1;
    assert_valid(&d);
}

CALC_TEST(dualpipe_v_needs_two_micro_batches_per_stage)
{
    documents d = valid(1, 2, 3);
    d.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    assert_valid(&d); /* 4 micro-batches, twice the stages */
    d.exec.batch_size = 5 * d.exec.microbatch_size * d.exec.strategy.data_par;
    assert_valid(&d); /* no need to be even */
    d.exec.batch_size = 3 * d.exec.microbatch_size * d.exec.strategy.data_par;
    char hint[64];
    snprintf(hint, sizeof hint, "use batch_size %d, or \"1f1b\"",
             (int)(4 * d.exec.microbatch_size * d.exec.strategy.data_par));
    assert_broken(&d, "/pipeline_schedule",
                  "DualPipeV needs micro-batches, at least twice as many as stages: 3 are not",
                  hint);
}

CALC_TEST(dualpipe_pairs_stages_and_micro_batches)
{
    documents d = valid(1, 2, 3);
    d.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE;
    assert_valid(&d); /* 4 micro-batches, twice the stages */
    const char *text = "DualPipe needs an even number of micro-batches, at least twice the stages: "
                       "%d are not";
    char shown[160];
    static const struct {
        int microbatches, legal;
    } cases[] = {{1, 4}, {2, 4}, {3, 4}, {5, 6}, {7, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char hint[64];
        d.exec.microbatch_size = 2;
        d.exec.batch_size = (int64_t)6 * cases[i].microbatches;
        snprintf(shown, sizeof shown, text, cases[i].microbatches);
        snprintf(hint, sizeof hint, "use batch_size %d, or \"1f1b\"", 6 * cases[i].legal);
        assert_broken(&d, "/pipeline_schedule", shown, hint);
        d.exec.batch_size = (int64_t)6 * cases[i].legal;
        assert_valid(&d);
    }
    d = valid(1, 3, 1);
    d.exec.batch_size = 12;
    d.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE;
    assert_broken(&d, "/pipeline_schedule", "DualPipe needs an even number of stages, not 3",
                  "use an even pipeline_par, or \"1f1b\"");
    d.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    assert_valid(&d);
}

CALC_TEST(the_ends_have_no_more_blocks_than_the_model)
{
    documents d = valid(1, 2, 1);
    d.exec.first_stage_blocks = 3;
    d.exec.last_stage_blocks = 5;
    assert_valid(&d);
    d.exec.last_stage_blocks = 6;
    assert_broken(&d, "/first_stage_blocks",
                  "first and last stage have more blocks than the model: 3 + 6 of 8",
                  "use at most 8 together");
    d.exec.first_stage_blocks = 0;
    assert_valid(&d);
    d.exec.last_stage_blocks = 9;
    assert_broken(&d, "/last_stage_blocks",
                  "first and last stage have more blocks than the model: 0 + 9 of 8",
                  "use at most 8 together");
}

CALC_TEST(given_ends_leave_nothing_to_balance)
{
    for (int balance = CALC_PIPELINE_BALANCE_ENDS; balance < CALC_PIPELINE_BALANCE_COUNT;
         balance++) {
        documents d = valid(1, 2, 1);
        d.exec.pipeline_balance = (calc_pipeline_balance)balance;
        assert_valid(&d);
        d.exec.first_stage_blocks = 2;
        assert_broken(&d, "/pipeline_balance", "the blocks of the first or last stage are given",
                      "use \"blocks\", or leave first_stage_blocks and last_stage_blocks out");
        d.exec.first_stage_blocks = 0;
        d.exec.last_stage_blocks = 2;
        assert_broken(&d, "/pipeline_balance", "the blocks of the first or last stage are given",
                      "use \"blocks\", or leave first_stage_blocks and last_stage_blocks out");
        d.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
        assert_valid(&d);
    }
}

CALC_TEST(stages_of_sharding_need_replicas)
{
    for (int64_t stage = 1; stage <= 3; stage++) {
        documents d = valid(1, 1, 2);
        d.exec.strategy.zero_stage = stage;
        assert_valid(&d);
        d = valid(1, 1, 1);
        d.exec.strategy.zero_stage = stage;
        assert_broken(&d, "/zero_stage", "nothing to shard over with data_par = 1",
                      "leave it out, or data_par > 1");
    }
}

CALC_TEST(hybrid_sharding_divides_the_processors)
{
    documents d = valid(1, 1, 6);
    d.exec.strategy.zero_stage = 3;
    d.exec.strategy.fsdp_par = 3;
    assert_valid(&d);
    d.exec.strategy.fsdp_par = 4;
    assert_broken(&d, "/fsdp_par", "4 does not divide num_procs = 6", "use 1, 2, 3 or 6");
    d.exec.strategy.fsdp_par = 12;
    assert_broken(&d, "/fsdp_par", "12 does not divide num_procs = 6", "use 1, 2, 3 or 6");
}

/* ---- Of both kinds -------------------------------------------------------------------------- */

/* What Calculon does not have. */
CALC_TEST(modern_features_beside_those_of_calculon_break_no_rule)
{
    documents d = valid(1, 2, 2);
    d.exec.strategy.attention_type = CALC_ATTENTION_TYPE_FLASH;
    assert_valid(&d);
    d.app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    d.exec.strategy.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    assert_valid(&d);
    d.exec.strategy.weight_offload = true;
    d.exec.strategy.activations_offload = true;
    d.exec.strategy.optimizer_offload = true;
    assert_valid(&d);
}

/* ---- Many at once ---------------------------------------------------------------------------- */

/* 18 errors: the sizes, the micro-batch, 4 of tensor_par, 2 of seq_par_ag_redo,
 * interleaving, sharding, overlap, 2 of inference, 3 networks, 2 engines. */
static documents broken_everywhere(void)
{
    documents d = valid(4, 1, 1);
    d.app.hidden = 63;
    d.app.feedforward = 255;
    d.app.attn_heads = 5;
    d.app.seq_size = 31;
    d.system.chip.matrix[CALC_DATATYPE_FLOAT16] = (calc_engine){0};
    d.system.chip.vector[CALC_DATATYPE_FLOAT16] = (calc_engine){0};
    d.exec.num_procs = 7;
    d.exec.batch_size = 4;
    d.exec.microbatch_size = 3;
    d.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    d.exec.strategy.seq_par_ag_redo = true;
    d.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    d.exec.pipeline_interleaving = 2;
    d.exec.strategy.optimizer_sharding = true;
    d.exec.strategy.data_par_overlap = true;
    d.exec.training = false;
    d.exec.strategy.optimizer_offload = true;
    d.exec.strategy.tensor_par_net = d.exec.pipeline_par_net = d.exec.strategy.data_par_net = 5;
    return d;
}

CALC_TEST(all_broken_rules_are_reported_and_the_rest_counted)
{
    documents d = broken_everywhere();
    calc_errors errors = {0};
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, CALC_MAX_ERRORS);
    ck_assert_int_eq(errors.dropped, 18 - CALC_MAX_ERRORS);
    static const char *const pointers[] = {
        "/num_procs",          "/microbatch_size",  "/tensor_par",
        "/tensor_par",         "/tensor_par",       "/tensor_par",
        "/seq_par_ag_redo",    "/seq_par_ag_redo",  "/pipeline_interleaving",
        "/optimizer_sharding", "/data_par_overlap", "/activation_recompute",
        "/optimizer_offload",  "/tensor_par_net",   "/pipeline_par_net",
        "/data_par_net",
    };
    for (int i = 0; i < CALC_MAX_ERRORS; i++) {
        ck_assert_str_eq(errors.item[i].pointer, pointers[i]);
    }
}

CALC_TEST(errors_that_were_there_before_are_not_its_own)
{
    documents d = valid(1, 1, 1);
    calc_errors errors = {0};
    calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_APP, NULL, NULL, "an older error");
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_OK);
    ck_assert_int_eq(errors.count, 1);
    d.exec.num_procs = 2;
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 2);
}

CALC_TEST(a_full_list_still_says_that_a_rule_is_broken)
{
    documents d = valid(1, 1, 1);
    calc_errors errors = {0};
    for (int i = 0; i < CALC_MAX_ERRORS; i++) {
        calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_APP, NULL, NULL, "an older error");
    }
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_OK);
    d.exec.num_procs = 2;
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.dropped, 1);
}

CALC_TEST(errors_need_not_be_collected)
{
    documents d = valid(1, 1, 1);
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, NULL), CALC_OK);
    d.exec.num_procs = 2;
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, NULL), CALC_ERR_RULE);
}
