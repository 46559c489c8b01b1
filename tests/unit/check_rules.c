#include "spec/rules.h"

#include <string.h>

#include "base/error.h"
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

/* Exactly one thing is not modelled. */
static void assert_unsupported(const documents *d, calc_kind kind, const char *pointer,
                               const char *text, const char *hint)
{
    calc_errors errors = {0};
    calc_status status = calc_check(&d->app, &d->system, &d->exec, &errors);
    ck_assert_int_eq(status, CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(errors.count, 1);
    assert_error(&errors.item[0], CALC_ERR_UNSUPPORTED, kind, pointer, text, hint);
}

/* ---- Divisors -------------------------------------------------------------------------------- */

START_TEST(the_greatest_common_divisor_divides_both)
{
    ck_assert_int_eq(calc_gcd(12, 18), 6);
    ck_assert_int_eq(calc_gcd(18, 12), 6);
    ck_assert_int_eq(calc_gcd(7, 1), 1);
    ck_assert_int_eq(calc_gcd(5, 5), 5);
    ck_assert_int_eq(calc_gcd(1000000000000, 1000000000), 1000000000);
}
END_TEST

static const char *divisors(int64_t n)
{
    static char text[200];
    return calc_divisors_text(n, text, sizeof text);
}

START_TEST(divisors_are_listed_in_order)
{
    ck_assert_str_eq(divisors(1), "1");
    ck_assert_str_eq(divisors(7), "1 or 7");
    ck_assert_str_eq(divisors(12), "1, 2, 3, 4, 6 or 12");
}
END_TEST

START_TEST(more_than_sixteen_divisors_are_cut)
{
    ck_assert_str_eq(divisors(120), "1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60 or 120");
    ck_assert_str_eq(divisors(65536), "1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, "
                                      "8192, 16384, 32768, ...");
}
END_TEST

START_TEST(divisors_stay_inside_a_small_buffer)
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
END_TEST

/* ---- Parallel sizes -------------------------------------------------------------------------- */

START_TEST(the_parallel_sizes_make_up_all_processors)
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
END_TEST

/* Their product is above what num_procs may be. */
START_TEST(huge_parallel_sizes_are_not_advised)
{
    documents d = valid(1, 100000, 100000);
    d.exec.num_procs = 7;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par = 1 * 100000 * 100000 is not num_procs = 7",
                  "");
}
END_TEST

START_TEST(parallel_sizes_whose_product_would_overflow_are_reported)
{
    documents d = valid(1, 1000000000, 1000000000);
    d.exec.num_procs = 1000000000;
    d.exec.batch_size = 1000000000;
    assert_broken(&d, "/num_procs",
                  "tensor_par * pipeline_par * data_par = 1 * 1000000000 * 1000000000 is not "
                  "num_procs = 1000000000",
                  "data_par = 1 would fit");
}
END_TEST

/* ---- Batch ----------------------------------------------------------------------------------- */

START_TEST(replicas_have_equal_batches)
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
END_TEST

START_TEST(micro_batches_divide_the_batch_of_a_replica)
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
END_TEST

/* ---- Tensor parallelism ---------------------------------------------------------------------- */

/* The hint lists what divides all of hidden, feedforward and attn_heads: here their greatest
 * common divisor is that of what is broken and 4. */
START_TEST(tensor_par_divides_what_it_splits)
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
END_TEST

START_TEST(scattered_messages_need_tokens_for_every_rank)
{
    documents d = valid(4, 1, 1);
    d.app.seq_size = 30;
    assert_valid(&d);
    for (int type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG; type <= CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
         type++) {
        d.exec.tensor_par_comm_type = (calc_tensor_par_comm_type)type;
        d.exec.microbatch_size = 1;
        assert_broken(&d, "/tensor_par", "4 does not divide microbatch_size * seq_size = 30",
                      "use 1 or 2");
        d.exec.microbatch_size = 2;
        assert_valid(&d);
    }
}
END_TEST

START_TEST(overlap_needs_ranks)
{
    documents d = valid(2, 1, 1);
    d.exec.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    assert_valid(&d);
    for (int overlap = CALC_TENSOR_PAR_OVERLAP_RING; overlap <= CALC_TENSOR_PAR_OVERLAP_PIPE;
         overlap++) {
        d = valid(1, 1, 1);
        d.exec.tensor_par_overlap = (calc_tensor_par_overlap)overlap;
        assert_broken(&d, "/tensor_par_overlap", "nothing to overlap with tensor_par = 1",
                      "use \"none\", or tensor_par > 1");
    }
}
END_TEST

START_TEST(redoing_the_gather_needs_sequence_parallelism)
{
    documents d = valid(2, 1, 1);
    d.exec.seq_par_ag_redo = true;
    for (int type = CALC_TENSOR_PAR_COMM_TYPE_AR; type <= CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
         type++) {
        d.exec.tensor_par_comm_type = (calc_tensor_par_comm_type)type;
        assert_broken(
            &d, "/seq_par_ag_redo",
            "only sequence parallelism (tensor_par_comm_type \"rs_ag\") has an all-gather to redo",
            "use false, or tensor_par_comm_type \"rs_ag\"");
    }
    d.exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    assert_valid(&d);
}
END_TEST

START_TEST(redoing_the_gather_is_part_of_full_recomputation)
{
    documents d = valid(2, 1, 1);
    d.exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    d.exec.seq_par_ag_redo = true;
    d.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    assert_valid(&d);
    d.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    assert_broken(&d, "/seq_par_ag_redo", "full recomputation already repeats the all-gather",
                  "use false, or activation_recompute \"attn_only\" or \"none\"");
}
END_TEST

/* ---- Pipeline and data parallelism ----------------------------------------------------------- */

START_TEST(interleaving_needs_a_pipeline)
{
    documents d = valid(1, 2, 1);
    d.exec.pipeline_interleaving = 4;
    assert_valid(&d);
    d = valid(1, 1, 1);
    d.exec.pipeline_interleaving = 4;
    assert_broken(&d, "/pipeline_interleaving", "4 chunks need a pipeline, but pipeline_par = 1",
                  "use 1, or pipeline_par > 1");
}
END_TEST

START_TEST(sharding_needs_replicas)
{
    documents d = valid(1, 1, 2);
    d.exec.optimizer_sharding = true;
    assert_valid(&d);
    d = valid(1, 1, 1);
    d.exec.optimizer_sharding = true;
    assert_broken(&d, "/optimizer_sharding", "nothing to shard over with data_par = 1",
                  "use false, or data_par > 1");
}
END_TEST

START_TEST(overlap_of_the_reduction_needs_replicas)
{
    documents d = valid(1, 1, 2);
    d.exec.data_par_overlap = true;
    assert_valid(&d);
    d = valid(1, 1, 1);
    d.exec.data_par_overlap = true;
    assert_broken(&d, "/data_par_overlap", "nothing to overlap with data_par = 1",
                  "use false, or data_par > 1");
}
END_TEST

/* ---- Inference ------------------------------------------------------------------------------- */

START_TEST(inference_has_nothing_to_recompute)
{
    documents d = valid(1, 1, 2);
    d.exec.training = false;
    assert_valid(&d);
    for (int recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
         recompute <= CALC_ACTIVATION_RECOMPUTE_FULL; recompute++) {
        d.exec.activation_recompute = (calc_activation_recompute)recompute;
        assert_broken(&d, "/activation_recompute",
                      "without training there is no backward pass to recompute for",
                      "use \"none\", or training true");
    }
}
END_TEST

/* With one replica that is what is wrong with it, once. */
START_TEST(inference_has_no_gradients_to_reduce)
{
    documents d = valid(1, 1, 2);
    d.exec.training = false;
    d.exec.data_par_overlap = true;
    assert_broken(&d, "/data_par_overlap", "without training there are no gradients to reduce",
                  "use false, or training true");
    d = valid(1, 1, 1);
    d.exec.training = false;
    d.exec.data_par_overlap = true;
    assert_broken(&d, "/data_par_overlap", "nothing to overlap with data_par = 1",
                  "use false, or data_par > 1");
}
END_TEST

START_TEST(inference_has_no_optimizer_to_offload)
{
    documents d = valid(1, 1, 1);
    d.exec.optimizer_offload = true;
    assert_valid(&d);
    d.exec.training = false;
    assert_broken(&d, "/optimizer_offload", "without training there is no optimizer",
                  "use false, or training true");
    d.exec.optimizer_offload = false;
    d.exec.weight_offload = true;
    d.exec.activations_offload = true;
    assert_valid(&d);
}
END_TEST

/* ---- Across documents ------------------------------------------------------------------------ */

START_TEST(networks_are_those_of_the_system)
{
    documents d = valid(1, 1, 1);
    d.exec.tensor_par_net = 1;
    assert_valid(&d);
    d.exec.tensor_par_net = 2;
    assert_broken(&d, "/tensor_par_net", "no network 2: the system has 2", "use 0 to 1");
    d = valid(1, 1, 1);
    d.exec.pipeline_par_net = 7;
    assert_broken(&d, "/pipeline_par_net", "no network 7: the system has 2", "use 0 to 1");
    d = valid(1, 1, 1);
    d.exec.pipeline_par_net = 0;
    d.system.networks_count = 1;
    assert_broken(&d, "/data_par_net", "no network 1: the system has 1", "use 0");
}
END_TEST

START_TEST(both_engines_offer_the_datatype)
{
    documents d = valid(1, 1, 1);
    d.system.matrix[CALC_DATATYPE_FLOAT8] = (calc_engine){0};
    assert_valid(&d);
    d.exec.datatype = CALC_DATATYPE_FLOAT8;
    assert_broken(&d, "/datatype", "the system's matrix engine does not offer float8",
                  "use float16 or bfloat16 or float32");
    d = valid(1, 1, 1);
    for (int type = 0; type < CALC_DATATYPE_FLOAT32; type++) {
        d.system.vector[type] = (calc_engine){0};
    }
    assert_broken(&d, "/datatype", "the system's vector engine does not offer float16",
                  "use float32");
    d.exec.datatype = CALC_DATATYPE_FLOAT32;
    assert_valid(&d);
}
END_TEST

/* ---- Not modelled yet ------------------------------------------------------------------------ */

START_TEST(what_is_not_modelled_is_said_to_be_so)
{
    documents d = valid(1, 1, 1);
    d.exec.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
    assert_valid(&d);
    d.exec.attention_type = CALC_ATTENTION_TYPE_FLASH;
    assert_unsupported(&d, CALC_KIND_EXEC, "/attention_type",
                       "\"flash\" attention is not modelled yet",
                       "use \"multihead\" or \"multiquery\"");
    d = valid(1, 1, 1);
    d.app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    assert_unsupported(&d, CALC_KIND_APP, "/structure_type",
                       "the \"llama\" structure is not modelled yet", "use \"gpt\"");
    d = valid(1, 1, 1);
    d.exec.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    assert_unsupported(&d, CALC_KIND_EXEC, "/structure_type",
                       "the \"llama\" structure is not modelled yet", "use \"gpt\"");
}
END_TEST

/* ---- Many at once ---------------------------------------------------------------------------- */

/* 21 errors: 3 not modelled, the sizes, the micro-batch, 4 of tensor_par, 2 of seq_par_ag_redo,
 * interleaving, sharding, overlap, 2 of inference, 3 networks, 2 engines. */
static documents broken_everywhere(void)
{
    documents d = valid(4, 1, 1);
    d.app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    d.app.hidden = 63;
    d.app.feedforward = 255;
    d.app.attn_heads = 5;
    d.app.seq_size = 31;
    d.system.matrix[CALC_DATATYPE_FLOAT16] = (calc_engine){0};
    d.system.vector[CALC_DATATYPE_FLOAT16] = (calc_engine){0};
    d.exec.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    d.exec.attention_type = CALC_ATTENTION_TYPE_FLASH;
    d.exec.num_procs = 7;
    d.exec.batch_size = 4;
    d.exec.microbatch_size = 3;
    d.exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    d.exec.seq_par_ag_redo = true;
    d.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    d.exec.pipeline_interleaving = 2;
    d.exec.optimizer_sharding = true;
    d.exec.data_par_overlap = true;
    d.exec.training = false;
    d.exec.optimizer_offload = true;
    d.exec.tensor_par_net = d.exec.pipeline_par_net = d.exec.data_par_net = 5;
    return d;
}

START_TEST(all_broken_rules_are_reported_and_the_rest_counted)
{
    documents d = broken_everywhere();
    calc_errors errors = {0};
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(errors.count, CALC_MAX_ERRORS);
    ck_assert_int_eq(errors.dropped, 21 - CALC_MAX_ERRORS);
    static const char *const pointers[] = {
        "/attention_type",     "/structure_type",   "/structure_type",
        "/num_procs",          "/microbatch_size",  "/tensor_par",
        "/tensor_par",         "/tensor_par",       "/tensor_par",
        "/seq_par_ag_redo",    "/seq_par_ag_redo",  "/pipeline_interleaving",
        "/optimizer_sharding", "/data_par_overlap", "/activation_recompute",
        "/optimizer_offload",
    };
    for (int i = 0; i < CALC_MAX_ERRORS; i++) {
        ck_assert_str_eq(errors.item[i].pointer, pointers[i]);
    }
}
END_TEST

START_TEST(errors_that_were_there_before_are_not_its_own)
{
    documents d = valid(1, 1, 1);
    calc_errors errors = {0};
    calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_APP, NULL, NULL, "an older error");
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_OK);
    ck_assert_int_eq(errors.count, 1);
    d.exec.attention_type = CALC_ATTENTION_TYPE_FLASH;
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, &errors), CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(errors.count, 2);
}
END_TEST

START_TEST(a_full_list_still_says_that_a_rule_is_broken)
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
END_TEST

START_TEST(errors_need_not_be_collected)
{
    documents d = valid(1, 1, 1);
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, NULL), CALC_OK);
    d.exec.num_procs = 2;
    ck_assert_int_eq(calc_check(&d.app, &d.system, &d.exec, NULL), CALC_ERR_RULE);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("rules");
    tcase_add_test(cases, the_greatest_common_divisor_divides_both);
    tcase_add_test(cases, divisors_are_listed_in_order);
    tcase_add_test(cases, more_than_sixteen_divisors_are_cut);
    tcase_add_test(cases, divisors_stay_inside_a_small_buffer);
    tcase_add_test(cases, the_parallel_sizes_make_up_all_processors);
    tcase_add_test(cases, huge_parallel_sizes_are_not_advised);
    tcase_add_test(cases, parallel_sizes_whose_product_would_overflow_are_reported);
    tcase_add_test(cases, replicas_have_equal_batches);
    tcase_add_test(cases, micro_batches_divide_the_batch_of_a_replica);
    tcase_add_test(cases, tensor_par_divides_what_it_splits);
    tcase_add_test(cases, scattered_messages_need_tokens_for_every_rank);
    tcase_add_test(cases, overlap_needs_ranks);
    tcase_add_test(cases, redoing_the_gather_needs_sequence_parallelism);
    tcase_add_test(cases, redoing_the_gather_is_part_of_full_recomputation);
    tcase_add_test(cases, interleaving_needs_a_pipeline);
    tcase_add_test(cases, sharding_needs_replicas);
    tcase_add_test(cases, overlap_of_the_reduction_needs_replicas);
    tcase_add_test(cases, inference_has_nothing_to_recompute);
    tcase_add_test(cases, inference_has_no_gradients_to_reduce);
    tcase_add_test(cases, inference_has_no_optimizer_to_offload);
    tcase_add_test(cases, networks_are_those_of_the_system);
    tcase_add_test(cases, both_engines_offer_the_datatype);
    tcase_add_test(cases, what_is_not_modelled_is_said_to_be_so);
    tcase_add_test(cases, all_broken_rules_are_reported_and_the_rest_counted);
    tcase_add_test(cases, errors_that_were_there_before_are_not_its_own);
    tcase_add_test(cases, a_full_list_still_says_that_a_rule_is_broken);
    tcase_add_test(cases, errors_need_not_be_collected);
    return run_cases(cases);
}
