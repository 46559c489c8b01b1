/* What is searched where nobody says: for models of today what practitioners would, and the best
 * layout it finds for Llama 3 405B is the published one. */
#include "defaults.h"

#include "shipped_case.h"
#include "small_case.h"
#include "sweep.h"

static calc_space space;
static calc_designs_builder designs;

static void begin(const char *app, const char *system)
{
    calc_app a;
    calc_system s;
    load_shipped(CALC_KIND_APP, &a, "models", app);
    load_shipped(CALC_KIND_SYSTEM, &s, "systems", system);
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_designs_add_app(&designs, app, &a), CALC_OK);
    ck_assert_int_eq(calc_designs_add_system(&designs, system, &s), CALC_OK);
}

static void end(void)
{
    calc_space_free(&space);
    calc_designs_builder_free(&designs);
}

static void set(calc_axis axis, int64_t value)
{
    ck_assert_int_eq(calc_space_set(&space, axis, &value, 1), CALC_OK);
}

START_TEST(models_of_calculon_keep_its_search)
{
    begin("gpt3-175B", "h100_sxm");
    calc_space before = space;
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert_mem_eq(&before, &space, sizeof space);
    end();
}
END_TEST

START_TEST(a_mixture_of_models_keeps_it_too)
{
    calc_app gpt;
    begin("llama3-405B", "h100_sxm");
    load_shipped(CALC_KIND_APP, &gpt, "models", "gpt3-175B");
    ck_assert_int_eq(calc_designs_add_app(&designs, "gpt3-175B", &gpt), CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert(calc_space_has(&space, CALC_AXIS_flash_attention, 0));
    end();
}
END_TEST

START_TEST(what_is_asked_for_stays)
{
    begin("llama3-405B", "h100_sxm");
    set(CALC_AXIS_flash_attention, 0);
    set(CALC_AXIS_data_par_net, 1);
    set(CALC_AXIS_seq_par_ag_redo, 0);
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert(!calc_space_has(&space, CALC_AXIS_flash_attention, 1));
    ck_assert(!space.axis[CALC_AXIS_seq_par_ag_redo].last);
    /* Networks are asked for: ranks have no order. */
    ck_assert(calc_space_has(&space, CALC_AXIS_rank_order, CALC_RANK_ORDER_NETWORKS));
    ck_assert(calc_space_has(&space, CALC_AXIS_memory_model, CALC_MEMORY_MODEL_MEGATRON));
    ck_assert(space.axis[CALC_AXIS_attention_type].all);
    end();
}
END_TEST

START_TEST(experts_and_long_sequences_are_split)
{
    begin("llama3-405B", "h100_sxm");
    set(CALC_AXIS_seq_size, CALC_DEFAULTS_LONG_SEQ - 1);
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert(!space.axis[CALC_AXIS_expert_par].all);
    ck_assert(!space.axis[CALC_AXIS_context_par].all);
    set(CALC_AXIS_seq_size, CALC_DEFAULTS_LONG_SEQ);
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert(space.axis[CALC_AXIS_context_par].all);
    end();
    begin("qwen3-30B-A3B", "h100_sxm");
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert(space.axis[CALC_AXIS_expert_par].all);
    end();
}
END_TEST

START_TEST(bfloat16_is_taken_where_every_machine_has_it)
{
    begin("llama3-405B", "h100_sxm");
    calc_system without = designs.system[0].system;
    without.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s = 0;
    ck_assert_int_eq(calc_designs_add_system(&designs, "without", &without), CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert(space.axis[CALC_AXIS_datatype].all);
    end();
}
END_TEST

/* With whole gradients it fits if the outputs of norms are computed again. */
START_TEST(the_best_layout_of_llama3_405B_is_the_published_one)
{
    static const int64_t recompute[] = {CALC_ACTIVATION_RECOMPUTE_NONE,
                                        CALC_ACTIVATION_RECOMPUTE_FULL,
                                        CALC_ACTIVATION_RECOMPUTE_MODULES};
    static const int64_t modules[] = {0, 1 << CALC_RECOMPUTE_MODULES_LAYERNORM};
    calc_designs pairs;
    calc_errors errors = {0};
    calc_sweep_result result;
    calc_sweep_options options = {.top = 1, .threads = 1, .verify = 1, .no_prune = true};
    begin("llama3-405B", "h100_sxm");
    set(CALC_AXIS_num_procs, 16384);
    set(CALC_AXIS_batch_size, 2048);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_activation_recompute, recompute, 3), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_recompute_modules, modules, 2), CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs), CALC_OK);
    ck_assert_int_eq(calc_designs_make(&designs, &pairs, &errors), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&options.top_by, "sample_rate", &errors), CALC_OK);
    ck_assert_int_eq(calc_sweep(&space, &pairs, &options, &result, &errors), CALC_OK);
    const calc_exec *best = &result.group[0].top.item[0].exec;
    /* Llama team 2024, arXiv 2407.21783, table 4. */
    ck_assert_int_eq(best->strategy.tensor_par, 8);
    ck_assert_int_eq(best->pipeline_par, 16);
    ck_assert_int_eq(best->strategy.data_par, 128);
    ck_assert_int_eq(best->strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_MODULES);
    ck_assert(best->strategy.data_par_overlap && best->strategy.seq_par_ag_redo &&
              best->strategy.optimizer_sharding);
    calc_sweep_result_free(&result);
    end();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("defaults");
    tcase_add_test(cases, models_of_calculon_keep_its_search);
    tcase_add_test(cases, a_mixture_of_models_keeps_it_too);
    tcase_add_test(cases, what_is_asked_for_stays);
    tcase_add_test(cases, experts_and_long_sequences_are_split);
    tcase_add_test(cases, bfloat16_is_taken_where_every_machine_has_it);
    tcase_add_test(cases, the_best_layout_of_llama3_405B_is_the_published_one);
    return run_cases(cases);
}
