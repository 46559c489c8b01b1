/* A sweep in which nobody says otherwise searches layouts, never models: of every shipped model the
 * best layout trains that model. */
#include <glob.h>
#include <stdlib.h>

#include "defaults.h"
#include "frame.h"
#include "model/operators/shape.h"
#include "shipped_case.h"
#include "small_case.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "sweep.h"
#include "variants.h"

static calc_space space;
static calc_designs_builder designs;
static glob_t models;

static void list_models(void)
{
    ck_assert_int_eq(glob(CALC_DATA_DIR_SOURCE "/models/*.json", 0, NULL, &models), 0);
}

const calc_test_frame calc_tests = {.setup_once = list_models, .timeout_s = 120};

/* How a model is divided, computed and kept. No other field may be searched unless asked for. */
static const char *const layout_fields[] = {"num_procs",
                                            "tensor_par",
                                            "pipeline_par",
                                            "data_par",
                                            "tensor_par_net",
                                            "pipeline_par_net",
                                            "data_par_net",
                                            "batch_size",
                                            "microbatch_size",
                                            "activation_recompute",
                                            "pipeline_interleaving",
                                            "optimizer_sharding",
                                            "tensor_par_comm_type",
                                            "tensor_par_overlap",
                                            "seq_par_ag_redo",
                                            "data_par_overlap",
                                            "weight_offload",
                                            "activations_offload",
                                            "optimizer_offload",
                                            "context_par",
                                            "expert_par",
                                            "expert_par_overlap",
                                            "recompute_modules",
                                            "cuda_graph",
                                            "pipeline_balance",
                                            "pipeline_par_overlap",
                                            "zero_stage",
                                            NULL};

/* A model on eight processors of a calibrated machine, whose memory holds any model. */
static calc_app begin(size_t model)
{
    calc_app app;
    calc_system machine;
    const char *path = models.gl_pathv[model];
    const int64_t eight = 8;
    ck_assert_int_eq(calc_load(CALC_KIND_APP, &app, path, NULL), CALC_OK);
    load_shipped(CALC_KIND_SYSTEM, &machine, "systems", "h100_sxm");
    machine.chip.mem1.capacity_bytes *= 1e6;
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_designs_add_app(&designs, path, &app), CALC_OK);
    ck_assert_int_eq(calc_designs_add_system(&designs, "h100_sxm", &machine), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &eight, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_batch_size, &eight, 1), CALC_OK);
    return app;
}

static void end(void)
{
    calc_space_free(&space);
    calc_designs_builder_free(&designs);
}

/* Key and value heads, however they are said. */
static double key_heads(const calc_app *app)
{
    return (double)(app->kv_heads > 0 ? app->kv_heads : app->attn_heads);
}

static void assert_same_model(const calc_app *app, const calc_exec *best, const char *name)
{
    calc_exec given;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &given);
    given.strategy.datatype = best->strategy.datatype;
    given.strategy.tensor_par = best->strategy.tensor_par; /* the vocabulary is padded for it */
    calc_shape a = calc_shape_of(app, &given.strategy, 1, given.seq_size);
    calc_shape b = calc_shape_of(app, &best->strategy, 1, best->seq_size);
    bool narrow = app->trained_datatype == CALC_FORMAT_FLOAT8; /* which the machine has */
    /* Of those a token is routed to, some compute nothing. */
    double computing = (double)app->experts_per_token * (double)app->num_experts /
                       (double)(app->num_experts + app->zero_experts);
    const double pairs[][2] = {
        {a.hidden, b.hidden},
        {a.feedforward, b.feedforward},
        {a.seq, b.seq},
        {(double)app->seq_size, b.seq},
        {a.blocks, b.blocks},
        {a.heads, b.heads},
        {key_heads(app), b.kv_heads},
        {a.qk_size, b.qk_size},
        {a.v_size, b.v_size},
        {a.vocab, b.vocab},
        {(double)app->num_experts, b.experts},
        {app->num_experts > 0 ? computing : 0, b.experts_per_token},
        {a.expert_feedforward, b.expert_feedforward},
        {a.shared_feedforward, b.shared_feedforward},
        {(double)app->window_size, b.window},
        {(double)app->global_every, b.global_every},
        {(double)app->mtp_blocks, b.mtp_blocks},
        {a.gated, b.gated},
        {a.rms, b.rms},
        {a.rope, b.rope},
        {a.learned, b.learned},
        {a.bias, b.bias},
        {a.dropout, b.dropout},
        {a.tied, b.tied},
        {app->causal, b.causal},
        {a.qk_norm, b.qk_norm},
        {2, b.element_bytes},
        {narrow ? 1 : 2, b.matrix_bytes},
        {2, b.weight_bytes},
        {narrow ? 1 + 1 / 32. : 2, b.kept_bytes}, /* with scales of blocks */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ck_assert_msg(pairs[i][0] == pairs[i][1], "%s: pair %zu is %g, the model's is %g", name, i,
                      pairs[i][1], pairs[i][0]);
    }
    ck_assert_msg(best->training && best->strategy.capacity_factor == 0 &&
                      best->strategy.moe_imbalance == 0,
                  "%s", name);
}

CALC_TEST_LOOP(the_best_layout_of_every_shipped_model_trains_it, 0, 4)
{
    static const int64_t fixed[][2] = {{CALC_AXIS_microbatch_size, 1},
                                       {CALC_AXIS_pipeline_interleaving, 1},
                                       {CALC_AXIS_fused_activation, true},
                                       {CALC_AXIS_tensor_par_overlap, 0},
                                       {CALC_AXIS_seq_par_ag_redo, false}};
    for (size_t i = (size_t)_i; i < models.gl_pathc; i += 4) {
        const char *name = models.gl_pathv[i];
        calc_sweep_result result;
        calc_designs pairs;
        calc_errors errors = {0};
        calc_sweep_options options = {.top = 3, .threads = 1};
        calc_app app = begin(i);
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++) {
            ck_assert_int_eq(calc_space_set(&space, (calc_axis)fixed[k][0], &fixed[k][1], 1), 0);
        }
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert_int_eq(calc_designs_make(&designs, &pairs, &errors), CALC_OK);
        ck_assert_int_eq(calc_objective_parse(&options.top_by, "sample_rate", &errors), CALC_OK);
        ck_assert_int_eq(calc_sweep(&space, &pairs, &options, &result, &errors), CALC_OK);
        ck_assert_msg(result.group[0].top.count > 0, "%s: no layout can run", name);
        for (size_t k = 0; k < result.group[0].top.count; k++) {
            const calc_exec exec = calc_found_exec(&result.group[0].top.item[k]);
            assert_same_model(&app, &exec, name);
        }
        calc_sweep_result_free(&result);
        end();
    }
}

/* What several values are searched of is a field of the layout; what stands for all of them is one
 * number format and the attention of the model. */
CALC_TEST(only_fields_of_the_layout_are_free)
{
    for (size_t i = 0; i < models.gl_pathc; i++) {
        calc_variants variants = {0};
        calc_app app = begin(i);
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
            const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
            const calc_values *values = &space.axis[axis];
            bool one = axis == CALC_AXIS_attention_type || axis == CALC_AXIS_datatype ||
                       field->type == CALC_TYPE_NOTE || field->type == CALC_TYPE_OBJECT;
            ck_assert_msg(one || (!values->all && values->count <= 1) ||
                              calc_choice_index(layout_fields, field->key) >= 0,
                          "%s searches %s", models.gl_pathv[i], field->key);
        }
        ck_assert_int_eq(calc_variants_list(&variants, &space, &app, &designs.system[0].system, 0),
                         CALC_OK);
        ck_assert_uint_gt(variants.count, 0);
        for (size_t k = 0; k < variants.count; k++) {
            const calc_strategy *s = &variants.item[k].exec.strategy;
            ck_assert_int_eq(s->datatype, variants.item[0].exec.strategy.datatype);
            ck_assert_int_eq(s->attention_type,
                             app.kv_lora_rank > 0 ? CALC_ATTENTION_TYPE_MULTI_LATENT
                             : app.kv_heads > 0   ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                                                  : CALC_ATTENTION_TYPE_MULTIHEAD);
        }
        calc_variants_free(&variants);
        end();
    }
}

CALC_TEST(who_asks_for_another_attention_gets_it)
{
    calc_variants variants = {0};
    calc_app app = small_app();
    calc_system machine = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    calc_space_set_all(&space, CALC_AXIS_attention_type);
    ck_assert_int_eq(calc_variants_list(&variants, &space, &app, &machine, 0), CALC_OK);
    ck_assert_uint_eq(variants.count, 2);
    ck_assert_int_eq(variants.item[1].exec.strategy.attention_type, CALC_ATTENTION_TYPE_MULTIQUERY);
    calc_variants_free(&variants);
    end();
}
