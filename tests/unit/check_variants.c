/* Variants: the combinations of optional fields, and which of them are legal. */
#include "variants.h"

#include "frame.h"
#include "small_case.h"

static calc_space space;
static calc_app app;
static calc_system sys;
static calc_variants variants;
static calc_compat compat;

static void begin(void)
{
    app = small_app();
    sys = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void end(void)
{
    calc_variants_free(&variants);
    calc_space_free(&space);
}

static void set(calc_axis axis, int64_t a, int64_t b)
{
    const int64_t value[] = {a, b};
    ck_assert_int_eq(calc_space_set(&space, axis, value, 2), CALC_OK);
}

static size_t listed(void)
{
    ck_assert_int_eq(calc_variants_list(&variants, &space, &app, &sys, compat), CALC_OK);
    return variants.count;
}

CALC_TEST(without_optional_fields_there_is_one)
{
    begin();
    ck_assert_uint_eq(listed(), 1);
    const calc_exec *e = &variants.item[0].exec;
    ck_assert_int_eq(e->strategy.datatype, CALC_DATATYPE_BFLOAT16);
    ck_assert(e->training);
    ck_assert_int_eq(e->strategy.expert_par_net, -1);
    end();
}

CALC_TEST(every_combination_is_listed_but_what_tiles_vary)
{
    begin();
    set(CALC_AXIS_flash_attention, 0, 1);
    set(CALC_AXIS_memory_model, 0, 1);
    set(CALC_AXIS_zero_stage, 0, 3);
    set(CALC_AXIS_pipeline_par_overlap, 0, 1);
    set(CALC_AXIS_param_gather_overlap, 0, 1);
    ck_assert_uint_eq(listed(), 4);
    set(CALC_AXIS_capacity_factor, 0, calc_axis_value(CALC_AXIS_capacity_factor, 1.25));
    ck_assert_uint_eq(listed(), 8);
    ck_assert_double_eq(variants.item[2].exec.strategy.capacity_factor, 1.25);
    end();
}

/* Calculon's list of layers has no flash attention and no modules to recompute. */
CALC_TEST(a_rule_leaves_out_what_it_cannot_say)
{
    begin();
    set(CALC_AXIS_flash_attention, 0, 1);
    set(CALC_AXIS_recompute_modules, 0, 1);
    ck_assert_uint_eq(listed(), 4);
    compat = CALC_COMPAT_REPAIRED;
    ck_assert_uint_eq(listed(), 1);
    ck_assert(!variants.item[0].exec.strategy.flash_attention &&
              !variants.item[0].exec.strategy.recompute_modules);
    app.num_experts = 6;
    app.experts_per_token = 2;
    ck_assert_uint_eq(listed(), 0);
    compat = CALC_COMPAT_NONE;
    end();
}

CALC_TEST(a_star_is_what_the_model_allows)
{
    begin();
    app.seq_size = 24;
    set(CALC_AXIS_flash_attention, 1, 1);
    calc_space_set_all(&space, CALC_AXIS_context_par);
    ck_assert_uint_eq(listed(), 4); /* 1, 2, 4, 8 */
    ck_assert_int_eq(variants.item[3].exec.strategy.context_par, 8);
    set(CALC_AXIS_seq_size, 1 << 20, 1 << 20);
    ck_assert_uint_eq(listed(), 7); /* up to 64 */
    ck_assert_int_eq(variants.item[6].exec.strategy.context_par, CALC_MOST_CONTEXT_PAR);
    set(CALC_AXIS_context_par, 0, 0);
    calc_space_set_all(&space, CALC_AXIS_expert_par);
    ck_assert_uint_eq(listed(), 1);
    ck_assert_int_eq(variants.item[0].exec.strategy.expert_par, 1);
    app.num_experts = 6;
    app.experts_per_token = 2;
    ck_assert_uint_eq(listed(), 4); /* 1, 2, 3, 6 */
    ck_assert_int_eq(variants.item[2].exec.strategy.expert_par, 3);
    calc_space_set_all(&space, CALC_AXIS_expert_tensor_par);
    ck_assert_uint_eq(listed(), 4);
    ck_assert_int_eq(variants.item[0].exec.strategy.expert_tensor_par, 1);
    end();
}

CALC_TEST(what_contradicts_itself_is_left_out)
{
    static const struct {
        calc_axis axis, other;
        int64_t value, with; /* illegal unless the other axis has this value */
    } cases[] = {
        {CALC_AXIS_context_par, CALC_AXIS_flash_attention, 2, 1},
        {CALC_AXIS_first_stage_blocks, CALC_AXIS_pipeline_balance, 3, CALC_PIPELINE_BALANCE_BLOCKS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        set(cases[i].axis, cases[i].value, cases[i].value);
        set(cases[i].other, !cases[i].with, !cases[i].with);
        ck_assert_uint_eq(listed(), 0);
        set(cases[i].other, cases[i].with, cases[i].with);
        ck_assert_uint_eq(listed(), 1);
        end();
    }
}

/* Variants that differ in nothing but the blocks of stages follow one another. */
CALC_TEST(variants_with_the_same_rows_are_neighbours)
{
    begin();
    set(CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS, CALC_PIPELINE_BALANCE_ENDS);
    set(CALC_AXIS_first_stage_blocks, 0, 1);
    set(CALC_AXIS_flash_attention, 0, 1);
    set(CALC_AXIS_cuda_graph, 0, 1);
    ck_assert_uint_eq(listed(), 4 * 3); /* no blocks of the first stage where ends are balanced */
    for (size_t i = 0; i < variants.count; i++) {
        calc_exec like = variants.item[variants.item[i].first].exec;
        ck_assert_uint_eq(variants.item[i].first, i / 3 * 3);
        calc_variant_put_stages(&variants.item[i].exec, &like);
        ck_assert_int_eq(calc_axis_compare(&like, &variants.item[i].exec), 0);
    }
    end();
}

CALC_TEST(what_model_or_machine_do_not_have_is_left_out)
{
    begin();
    set(CALC_AXIS_expert_par_net, 1, 2); /* the machine has 0 and 1 */
    ck_assert_uint_eq(listed(), 1);
    ck_assert_int_eq(variants.item[0].exec.strategy.expert_par_net, 1);
    set(CALC_AXIS_matrix_datatype, CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT4);
    ck_assert_uint_eq(listed(), 1);
    ck_assert_int_eq(variants.item[0].exec.strategy.matrix_datatype, CALC_FORMAT_FLOAT8);
    set(CALC_AXIS_expert_par, 1, 2);
    ck_assert_uint_eq(listed(), 1);
    set(CALC_AXIS_last_stage_blocks, app.num_blocks, app.num_blocks + 1);
    ck_assert_uint_eq(listed(), 1);
    set(CALC_AXIS_attention_type, CALC_ATTENTION_TYPE_GROUPED_QUERY,
        CALC_ATTENTION_TYPE_MULTI_LATENT);
    ck_assert_uint_eq(listed(), 0);
    app.kv_heads = 2;
    ck_assert_uint_eq(listed(), 1);
    end();
}

CALC_TEST(layouts_that_serve_are_in_the_formats_of_the_checkpoint)
{
    begin();
    app.checkpoint = (calc_checkpoint_formats){.weight_datatype = CALC_FORMAT_FLOAT8,
                                               .matrix_datatype = CALC_FORMAT_FLOAT8,
                                               .kv_datatype = CALC_FORMAT_FLOAT8};
    set(CALC_AXIS_training, false, false);
    set(CALC_AXIS_weight_datatype, CALC_FORMAT_AUTO, CALC_FORMAT_BFLOAT16);
    ck_assert_uint_eq(listed(), 2);
    ck_assert_int_eq(variants.item[0].exec.strategy.weight_datatype, CALC_FORMAT_AUTO);
    space.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    ck_assert_uint_eq(listed(), 2);
    ck_assert_int_eq(variants.item[0].exec.strategy.weight_datatype, CALC_FORMAT_FLOAT8);
    ck_assert_int_eq(variants.item[0].exec.strategy.matrix_datatype, CALC_FORMAT_FLOAT8);
    ck_assert_int_eq(variants.item[0].exec.inference.kv_datatype, CALC_FORMAT_FLOAT8);
    ck_assert_int_eq(variants.item[1].exec.strategy.weight_datatype, CALC_FORMAT_BFLOAT16);
    end();
}

CALC_TEST(sizes_that_do_not_divide_are_illegal_for_a_tensor_parallelism)
{
    begin();
    calc_exec e = small_exec(2, 1, 1);
    ck_assert(calc_variant_legal(&app, &sys, &e));
    e.strategy.flash_attention = true;
    app.causal = true;
    e.strategy.context_par = 32; /* 32 tokens: 16 pairs of a triangle's ends */
    ck_assert(!calc_variant_legal(&app, &sys, &e));
    e.strategy.context_par = 16;
    ck_assert(calc_variant_legal(&app, &sys, &e));
    e.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES; /* 2 heads for 16 ranks */
    ck_assert(!calc_variant_legal(&app, &sys, &e));
    e.strategy.context_par = 2;
    ck_assert(calc_variant_legal(&app, &sys, &e));
    app.num_experts = 4;
    app.experts_per_token = 1;
    e.strategy.expert_par = 3;
    ck_assert(!calc_variant_legal(&app, &sys, &e));
    e.strategy.expert_par = 4;
    ck_assert(calc_variant_legal(&app, &sys, &e));
    e.inference.redundant_experts = 2; /* 6 in all */
    ck_assert(!calc_variant_legal(&app, &sys, &e));
    e.inference.redundant_experts = 4;
    ck_assert(calc_variant_legal(&app, &sys, &e));
    app.shared_feedforward = 33;
    ck_assert(!calc_variant_legal(&app, &sys, &e));
    end();
}

/* Ranks of tensor and context parallelism share the heads of linear mixers: 16 of keys. */
CALC_TEST(ranks_that_do_not_divide_the_heads_of_a_linear_mixer_are_illegal)
{
    const char *const path = CALC_DATA_DIR_SOURCE "/models/qwen3-next-80B-A3B.json";
    begin();
    ck_assert_int_eq(calc_load(CALC_KIND_APP, &app, path, NULL), CALC_OK);
    calc_exec e = small_exec(16, 1, 1);
    e.strategy.flash_attention = true;
    ck_assert(calc_variant_legal(&app, &sys, &e));
    e.strategy.context_par = 2;
    ck_assert(!calc_variant_legal(&app, &sys, &e));
    e.strategy.tensor_par = 8;
    ck_assert(calc_variant_legal(&app, &sys, &e));
    end();
}
