/* What is searched where nobody says: for models of today what practitioners would, and the best
 * layout it finds for Llama 3 405B is the published one. */
#include "defaults.h"

#include "axis.h"
#include "engines.h"
#include "frame.h"
#include "shipped_case.h"
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

CALC_TEST(models_of_calculon_keep_its_search_with_its_rules)
{
    begin("gpt3-175B", "h100_sxm");
    calc_space before = space;
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_REPAIRED), CALC_OK);
    ck_assert_mem_eq(&before, &space, sizeof space);
    end();
}

CALC_TEST(a_mixture_of_models_keeps_it_too)
{
    calc_app gpt;
    begin("gpt3-175B", "h100_sxm");
    load_shipped(CALC_KIND_APP, &gpt, "models", "turing-530B");
    ck_assert_int_eq(calc_designs_add_app(&designs, "turing-530B", &gpt), CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_REPAIRED), CALC_OK);
    ck_assert(calc_space_has(&space, CALC_AXIS_flash_attention, 0));
    end();
}

/* Without its rules every model is trained as models are today, in bfloat16, not the first 16-bit
 * format of the machine. */
CALC_TEST(models_of_calculon_are_trained_as_others_are)
{
    static const char *const models[] = {"gpt3-175B", "llama3-405B"};
    for (size_t i = 0; i < 2; i++) {
        begin(models[i], "h100_sxm");
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert(!calc_space_has(&space, CALC_AXIS_flash_attention, 0));
        ck_assert_int_eq(space.axis[CALC_AXIS_datatype].value[0], CALC_DATATYPE_BFLOAT16);
        ck_assert(calc_space_has(&space, CALC_AXIS_memory_model, CALC_MEMORY_MODEL_MEGATRON));
        ck_assert(calc_space_has(&space, CALC_AXIS_rank_order, CALC_RANK_ORDER_TP_CP_EP_DP_PP));
        end();
    }
}

CALC_TEST(what_is_asked_for_stays)
{
    begin("llama3-405B", "h100_sxm");
    set(CALC_AXIS_flash_attention, 0);
    set(CALC_AXIS_data_par_net, 1);
    set(CALC_AXIS_seq_par_ag_redo, 0);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(!calc_space_has(&space, CALC_AXIS_flash_attention, 1));
    ck_assert(!space.axis[CALC_AXIS_seq_par_ag_redo].last);
    /* Networks are asked for: ranks have no order. */
    ck_assert(calc_space_has(&space, CALC_AXIS_rank_order, CALC_RANK_ORDER_NETWORKS));
    ck_assert(calc_space_has(&space, CALC_AXIS_memory_model, CALC_MEMORY_MODEL_MEGATRON));
    ck_assert(space.axis[CALC_AXIS_attention_type].all);
    end();
}

static size_t splits(void)
{
    const calc_values *split = &space.axis[CALC_AXIS_context_par];
    for (size_t i = 0; i < split->count && split->count > 1; i++) {
        ck_assert_int_eq(split->value[i], (int64_t)1 << i);
    }
    return split->count;
}

CALC_TEST(experts_and_long_sequences_are_split)
{
    begin("llama3-405B", "h100_sxm");
    set(CALC_AXIS_seq_size, 2 * CALC_DEFAULTS_RANK_TOKENS - 1);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(!space.axis[CALC_AXIS_expert_par].all);
    ck_assert_uint_eq(splits(), 1);
    set(CALC_AXIS_seq_size, 2 * CALC_DEFAULTS_RANK_TOKENS);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(splits(), 2);
    end();
    begin("llama3-405B", "h100_sxm");
    set(CALC_AXIS_seq_size, (int64_t)1 << 20);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(splits(), 7); /* 1 to 64 */
    end();
    begin("qwen3-30B-A3B", "h100_sxm");
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(space.axis[CALC_AXIS_expert_par].all);
    end();
}

/* Frameworks of training have no kernel for a clamped gate with biases; engines of serving have. */
CALC_TEST(gates_of_biased_experts_have_kernels_of_their_own)
{
    static const struct {
        const char *model, *machine;
        bool served, unfused;
    } cases[] = {{"gpt-oss-120B", "h100_sxm", false, true},
                 {"gpt-oss-120B", "h100_sxm", true, false},
                 {"gpt-oss-120B", "mi300x", false, false},
                 {"qwen3-30B-A3B", "h100_sxm", false, false},
                 {"gpt3-175B", "h100_sxm", false, false}}; /* biases, but no experts */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].model, cases[i].machine);
        space.inference.phase =
            cases[i].served ? CALC_INFERENCE_PHASE_DECODE : CALC_INFERENCE_PHASE_NONE;
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert(calc_space_has(&space, CALC_AXIS_unfused_experts, cases[i].unfused));
        end();
    }
}

/* In kernels of their own they are not part of the grouped multiplications, which have the gate
 * where units scale blocks of 8 bits by themselves. */
CALC_TEST(other_gates_are_fused_where_units_scale_blocks)
{
    static const struct {
        const char *model, *machine;
        calc_format format; /* AUTO: nobody asks for one */
        bool blocks, served, fused;
    } cases[] = {{"qwen3-30B-A3B", "gb200_nvl72", CALC_FORMAT_FLOAT8, true, false, true},
                 {"qwen3-30B-A3B", "gb200_nvl72", CALC_FORMAT_FLOAT8, false, false, false},
                 {"qwen3-30B-A3B", "gb200_nvl72", CALC_FORMAT_FLOAT8, true, true, false},
                 {"qwen3-30B-A3B", "gb200_nvl72", CALC_FORMAT_AUTO, false, false, false},
                 {"qwen3-30B-A3B", "h100_sxm", CALC_FORMAT_FLOAT8, true, false, false},
                 {"qwen3-30B-A3B", "mi355x", CALC_FORMAT_FLOAT8, true, false, false},
                 {"deepseek-v3-671B", "b200_180g", CALC_FORMAT_AUTO, false, false, true},
                 {"deepseek-v3-671B", "h100_sxm", CALC_FORMAT_AUTO, false, false, false},
                 {"gpt-oss-120B", "gb200_nvl72", CALC_FORMAT_FLOAT8, true, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].model, cases[i].machine);
        if (cases[i].format != CALC_FORMAT_AUTO) {
            set(CALC_AXIS_matrix_datatype, cases[i].format);
        }
        if (cases[i].blocks) {
            set(CALC_AXIS_scaling, CALC_SCALING_BLOCK);
        }
        space.inference.phase =
            cases[i].served ? CALC_INFERENCE_PHASE_DECODE : CALC_INFERENCE_PHASE_NONE;
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert_msg(calc_space_has(&space, CALC_AXIS_fused_experts, cases[i].fused), "%zu", i);
        end();
    }
}

/* The length of the sequence may be said by the model, or as an axis of the model or the layout. */
CALC_TEST(a_long_sequence_is_split_whoever_says_its_length)
{
    static const struct {
        const char *axis;
        size_t splits;
    } axes[] = {{"seq_size=32768", 4},
                {"app.seq_size=32768", 4},
                {"app.seq_size=4096,32768", 4},
                {"app.seq_size=32767", 3}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        begin("qwen3-30B-A3B", "h100_sxm");
        ck_assert_int_eq(calc_axis_assign(&space, &designs, false, axes[i].axis, NULL), CALC_OK);
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert_uint_eq(splits(), axes[i].splits);
        end();
    }
    begin("qwen3-30B-A3B", "h100_sxm");
    designs.app[0].app.seq_size = 32768;
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(splits(), 4);
    end();
    begin("llama3-8B", "h100_sxm");
    ck_assert_int_eq(calc_axis_assign(&space, &designs, false, "app.num_experts=8", NULL), CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(space.axis[CALC_AXIS_expert_par].all);
    end();
}

/* What people turn on depends on the platform, the model and its experts. */
CALC_TEST(usual_choices_go_with_machine_and_model)
{
    static const struct {
        const char *app, *system;
        int overlap, dispatch, batch, grad, graphs, modules;
    } cases[] = {
        {"llama3-8B", "h100_sxm", CALC_TENSOR_PAR_OVERLAP_FUSED, 0, 0, CALC_FORMAT_BFLOAT16, 2,
         1 << CALC_RECOMPUTE_MODULES_LAYERNORM},
        {"llama3-405B", "h100_sxm", CALC_TENSOR_PAR_OVERLAP_FUSED, 0, 0, CALC_FORMAT_BFLOAT16, 1,
         1 << CALC_RECOMPUTE_MODULES_LAYERNORM},
        {"llama3-8B", "mi300x", CALC_TENSOR_PAR_OVERLAP_ASYNC, 0, 0, CALC_FORMAT_AUTO, 1,
         1 << CALC_RECOMPUTE_MODULES_LAYERNORM},
        {"qwen3-30B-A3B", "h200", CALC_TENSOR_PAR_OVERLAP_FUSED, CALC_DISPATCH_TYPE_NODE_LIMITED, 1,
         CALC_FORMAT_BFLOAT16, 2,
         1 << CALC_RECOMPUTE_MODULES_LAYERNORM | 1 << CALC_RECOMPUTE_MODULES_MOE_ACT},
        /* No library of one copy per node without float8 units, the sign of Hopper and later. */
        {"qwen3-30B-A3B", "a100_sxm_80g", CALC_TENSOR_PAR_OVERLAP_FUSED,
         CALC_DISPATCH_TYPE_ALL_TO_ALL, 1, CALC_FORMAT_BFLOAT16, 1,
         1 << CALC_RECOMPUTE_MODULES_LAYERNORM | 1 << CALC_RECOMPUTE_MODULES_MOE_ACT},
        {"deepseek-v3-671B", "mi355x", CALC_TENSOR_PAR_OVERLAP_ASYNC,
         CALC_DISPATCH_TYPE_NODE_LIMITED, 0, CALC_FORMAT_AUTO, 1,
         1 << CALC_RECOMPUTE_MODULES_LAYERNORM | 1 << CALC_RECOMPUTE_MODULES_MOE_ACT |
             1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].app, cases[i].system);
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        const calc_values *overlap = &space.axis[CALC_AXIS_tensor_par_overlap];
        ck_assert(overlap->last && overlap->reason);
        ck_assert_int_eq(overlap->value[overlap->count - 1], cases[i].overlap);
        ck_assert(calc_space_has(&space, CALC_AXIS_dispatch_type, cases[i].dispatch));
        ck_assert_int_eq(
            calc_space_has(&space, CALC_AXIS_expert_par_overlap, CALC_EXPERT_PAR_OVERLAP_BATCH),
            cases[i].batch);
        ck_assert(calc_space_has(&space, CALC_AXIS_grad_datatype, cases[i].grad));
        ck_assert_int_eq((int)space.axis[CALC_AXIS_cuda_graph].count, cases[i].graphs);
        ck_assert(calc_space_has(&space, CALC_AXIS_recompute_modules, cases[i].modules));
        end();
    }
}

/* Experts stay on a wide fastest network; however wide it is, there are no more spreads than
 * experts. */
CALC_TEST(experts_stay_on_a_wide_network)
{
    static const int64_t sizes[][2] = {{8, 0}, {31, 0}, {32, 32}, {72, 64}, {1000000000, 128}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        begin("qwen3-30B-A3B", "h200");
        designs.system[0].system.networks[0].size = sizes[i][0];
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        const calc_values *v = &space.axis[CALC_AXIS_expert_par];
        ck_assert_int_eq(v->all, sizes[i][1] == 0);
        ck_assert_int_eq(v->count > 0 ? v->value[v->count - 1] : 0, sizes[i][1]);
        end();
    }
}

/* The format that a model was trained in is taken where the machine has it. */
CALC_TEST(a_model_is_trained_in_its_own_format)
{
    begin("deepseek-v3-671B", "h800");
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(calc_space_has(&space, CALC_AXIS_matrix_datatype, CALC_FORMAT_FLOAT8));
    ck_assert(calc_space_has(&space, CALC_AXIS_scaling, CALC_SCALING_BLOCK));
    end();
    begin("deepseek-v3-671B", "a100_sxm_80g");
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(calc_space_has(&space, CALC_AXIS_matrix_datatype, CALC_FORMAT_AUTO));
    end();
    begin("kimi-k2-1T", "h800"); /* says nothing */
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(calc_space_has(&space, CALC_AXIS_matrix_datatype, CALC_FORMAT_AUTO));
    end();
}

static void serve(void)
{
    space.inference.phase = CALC_INFERENCE_PHASE_SERVE;
    space.inference.prompt_size = 1024;
    space.inference.generate_size = 128;
}

static bool is_legal(void *context, const calc_sweep_point *p)
{
    const calc_designs_builder *d = context;
    calc_errors errors = {0};
    ck_assert_msg(calc_check(&d->app[0].app, &d->system[0].system, p->exec, &errors) == CALC_OK,
                  "%s: %s", errors.item[0].pointer, errors.item[0].text);
    return true;
}

/* Whatever a machine with a second tier could keep there. */
static void all_are_legal(void)
{
    calc_designs pairs;
    calc_sweep_result result;
    calc_sweep_options options = {.threads = 1, .point = is_legal, .point_context = &designs};
    designs.system[0].system.chip.mem2 = designs.system[0].system.chip.mem1;
    set(CALC_AXIS_num_procs, 8);
    set(CALC_AXIS_batch_size, 8);
    space.batch_is_of_replica = false;
    ck_assert_int_eq(calc_designs_make(&designs, &pairs, NULL), CALC_OK);
    ck_assert_int_eq(calc_sweep(&space, &pairs, &options, &result, NULL), CALC_OK);
    ck_assert_uint_gt(result.counts.feasible, 10);
    calc_sweep_result_free(&result);
}

CALC_TEST(what_is_served_is_not_trained)
{
    static const char *const models[] = {"qwen3-30B-A3B", "gpt3-175B"};
    for (size_t i = 0; i < 2; i++) {
        begin(models[i], "h100_sxm");
        serve();
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert(!calc_space_has(&space, CALC_AXIS_training, true));
        ck_assert(!calc_space_has(&space, CALC_AXIS_optimizer_sharding, true));
        ck_assert(!calc_space_has(&space, CALC_AXIS_zero_stage, 2));
        ck_assert(!calc_space_has(&space, CALC_AXIS_microbatch_size, 2));
        all_are_legal();
        end();
    }
    begin("qwen3-30B-A3B", "h100_sxm");
    set(CALC_AXIS_training, true);
    set(CALC_AXIS_zero_stage, 3);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(calc_space_has(&space, CALC_AXIS_training, true));
    ck_assert(calc_space_has(&space, CALC_AXIS_zero_stage, 3));
    end();
}

static void served_in(calc_format weight, calc_format matrix, calc_scaling scaling)
{
    serve();
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_int_eq(space.axis[CALC_AXIS_weight_datatype].value[0], (int64_t)weight);
    ck_assert_int_eq(space.axis[CALC_AXIS_matrix_datatype].value[0], (int64_t)matrix);
    ck_assert_int_eq(space.axis[CALC_AXIS_scaling].value[0], (int64_t)scaling);
}

CALC_TEST(a_model_is_served_as_it_was_published)
{
    begin("deepseek-v3-671B", "h200");
    served_in(CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT8, CALC_SCALING_BLOCK);
    ck_assert_str_eq(space.axis[CALC_AXIS_weight_datatype].reason, "the checkpoint's");
    end();
    begin("deepseek-v3-671B", "a100_sxm_80g"); /* without such arithmetic */
    served_in(CALC_FORMAT_FLOAT8, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR);
    end();
    begin("deepseek-v3-671B", "h200");
    set(CALC_AXIS_weight_datatype, CALC_FORMAT_BFLOAT16);
    served_in(CALC_FORMAT_BFLOAT16, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR);
    end();
    /* Models that differ: layouts of each have its own (calc_variants_list). */
    calc_app other;
    begin("deepseek-v3-671B", "h200");
    load_shipped(CALC_KIND_APP, &other, "models", "gpt-oss-120B");
    ck_assert_int_eq(calc_designs_add_app(&designs, "gpt-oss-120B", &other), CALC_OK);
    served_in(CALC_FORMAT_AUTO, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR);
    end();
    begin("gpt-oss-120B", "h200");
    served_in(CALC_FORMAT_FLOAT4, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR);
    ck_assert(calc_space_has(&space, CALC_AXIS_inference_wide_attention, CALC_WIDE_ATTENTION_ALL));
    end();
    begin("qwen3-235B-A22B", "h200"); /* in bfloat16 */
    served_in(CALC_FORMAT_AUTO, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR);
    ck_assert_ptr_null(space.axis[CALC_AXIS_weight_datatype].reason);
    end();
}

static bool launched(void *context, const calc_sweep_point *p)
{
    const calc_strategy *s = &p->exec->strategy;
    int64_t ranks = s->expert_par * s->expert_tensor_par;
    bool replicated = s->dispatch_type == CALC_DISPATCH_TYPE_REPLICATED;
    size_t *seen = context;
    /* Whoever splits all layers has all tokens; others send them, and split sequences only then. */
    ck_assert_int_eq(replicated, s->tensor_par > 1 && ranks == s->tensor_par);
    ck_assert(replicated || s->expert_tensor_par <= 1);
    ck_assert_int_eq(s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG,
                     !replicated && s->tensor_par > 1 && s->expert_par > 1);
    ck_assert(s->tensor_par == 1 || ranks > 1);
    if (*p->exec->inference.engine.name) {
        ck_assert_int_eq(ranks, s->tensor_par * s->data_par);
        ck_assert(s->expert_par == 1 || s->expert_tensor_par == 1);
    }
    seen[0] += replicated && s->expert_par == 1;
    seen[1] += replicated && s->expert_tensor_par == 1;
    seen[2] += !replicated && s->tensor_par == 1 && s->expert_par == s->data_par;
    ck_assert_int_eq(p->exec->pipeline_par, 1); /* as all processors are on a node */
    return true;
}

/* Experts are spread as programs do it, and a program that is named takes what it starts. */
CALC_TEST(what_is_served_is_what_engines_launch)
{
    for (int named = 0; named < 2; named++) {
        size_t seen[3] = {0};
        calc_designs pairs;
        calc_errors errors = {0};
        calc_constraint tpot;
        begin("qwen3-30B-A3B", "h200");
        serve();
        set(CALC_AXIS_num_procs, 8);
        set(CALC_AXIS_batch_size, 64);
        ck_assert_int_eq(
            calc_axis_assign(&space, &designs, false, "inference.chunk_size=512", NULL), CALC_OK);
        space.inference.engine = named ? shipped_engine("vllm-0.11") : shipped_engine("none");
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert_int_eq(calc_constraint_parse(&tpot, "tpot <= 1", &errors), CALC_OK);
        const calc_sweep_options options = {.threads = 1,
                                            .verify = 1,
                                            .constraints = 1,
                                            .constraint = &tpot,
                                            .point = launched,
                                            .point_context = seen};
        calc_sweep_result result;
        ck_assert_int_eq(calc_defaults_stages(&space, &designs, &options), CALC_OK);
        ck_assert_int_eq(calc_designs_make(&designs, &pairs, NULL), CALC_OK);
        ck_assert_int_eq(calc_sweep(&space, &pairs, &options, &result, NULL), CALC_OK);
        ck_assert(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
        calc_sweep_result_free(&result);
        end();
    }
}

CALC_TEST(users_wait_where_a_condition_is_on_what_they_see)
{
    static const struct {
        const char *condition;
        bool waits;
    } cases[] = {{"tpot <= 1", true},
                 {"ttft_p99 <= 1", true},
                 {"tokens_per_s_per_user >= 1", true},
                 {"output_tokens_per_s >= 1", false},
                 {"mem1 <= 60GiB", false},
                 {"tensor_par <= 8", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_constraint condition;
        calc_errors errors = {0};
        begin("qwen3-30B-A3B", "h200");
        serve();
        set(CALC_AXIS_num_procs, 16);
        ck_assert_msg(calc_constraint_parse(&condition, cases[i].condition, &errors) == CALC_OK,
                      "%s", cases[i].condition);
        const calc_sweep_options options = {.constraints = 1, .constraint = &condition};
        ck_assert_int_eq(calc_defaults_stages(&space, &designs, &options), CALC_OK);
        const calc_values *stages = &space.axis[CALC_AXIS_pipeline_par];
        ck_assert_msg((stages->count == 2 && stages->value[1] == 2) == cases[i].waits, "%s",
                      cases[i].condition); /* a stage per node */
        end();
    }
}

/* Requests in flight and chunks are searched; what is asked for stays, and so does what is served.
 */
CALC_TEST(what_is_served_has_batches_and_chunks)
{
    begin("qwen3-30B-A3B", "h100_sxm");
    serve();
    set(CALC_AXIS_num_procs, 8);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    const calc_values *batch = &space.axis[CALC_AXIS_batch_size];
    const calc_values *chunk = &space.axis[CALC_AXIS_inference_chunk_size];
    ck_assert(space.batch_is_of_replica);
    ck_assert_int_eq(batch->value[0], 1);
    ck_assert_int_ge(batch->value[batch->count - 1], 2048);
    for (size_t i = 1; i < batch->count; i++) {
        ck_assert_int_le(batch->value[i], 2 * batch->value[i - 1]);
    }
    ck_assert_uint_gt(chunk->count, 3);
    ck_assert_uint_eq(space.axis[CALC_AXIS_inference_prompt_size].count, 0);
    ck_assert_uint_eq(space.all_procs.count, 0);
    end();
    begin("qwen3-30B-A3B", "h100_sxm");
    serve();
    space.inference.arrival_rate = 3;
    set(CALC_AXIS_num_procs, 8);
    ck_assert_int_eq(calc_axis_assign(&space, &designs, false, "inference.chunk_size=0", NULL),
                     CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(space.axis[CALC_AXIS_inference_chunk_size].count, 1);
    ck_assert_uint_eq(space.axis[CALC_AXIS_batch_size].count, 1);
    end();
}

static bool sums_to_16(void *context, const calc_sweep_point *p)
{
    (void)context;
    ck_assert_int_eq(p->exec->num_procs + p->exec->inference.prefill_procs, 16);
    return true;
}

/* Two pools share the processors, each has some in turn; where there is one pool too, it has all.
 */
CALC_TEST(pools_share_the_processors)
{
    for (int both = 0; both < 2; both++) {
        calc_sweep_counts counts;
        calc_designs pairs;
        begin("qwen3-30B-A3B", "h100_sxm");
        serve();
        set(CALC_AXIS_num_procs, 16);
        ck_assert_int_eq(calc_axis_assign(&space, &designs, false,
                                          both ? "inference.phase=serve,disaggregated"
                                               : "inference.phase=disaggregated",
                                          NULL),
                         CALC_OK);
        ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
        ck_assert_uint_eq(space.all_procs.count, 1);
        ck_assert_int_eq(space.all_procs.value[0], 16);
        ck_assert_uint_eq(space.axis[CALC_AXIS_num_procs].count, both ? 16 : 15);
        ck_assert_uint_eq(space.axis[CALC_AXIS_inference_prefill_procs].count, 15);
        ck_assert_int_eq(calc_designs_make(&designs, &pairs, NULL), CALC_OK);
        set(CALC_AXIS_batch_size, 64);
        ck_assert_int_eq(calc_sweep_count(&space, &pairs, CALC_COMPAT_NONE, &counts), CALC_OK);
        ck_assert_uint_gt(counts.total, 15);
        const calc_sweep_options options = {.threads = 1, .point = sums_to_16};
        calc_sweep_result result;
        ck_assert_int_eq(calc_sweep(&space, &pairs, &options, &result, NULL), CALC_OK);
        calc_sweep_result_free(&result);
        end();
    }
    /* Who names the pool has the processors beside it. */
    begin("qwen3-30B-A3B", "h100_sxm");
    serve();
    set(CALC_AXIS_num_procs, 16);
    ck_assert_int_eq(
        calc_axis_assign(&space, &designs, false, "inference.phase=disaggregated", NULL), CALC_OK);
    ck_assert_int_eq(calc_axis_assign(&space, &designs, false, "inference.prefill_procs=8", NULL),
                     CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_uint_eq(space.all_procs.count, 0);
    ck_assert_int_eq(space.axis[CALC_AXIS_num_procs].value[0], 16);
    end();
}

CALC_TEST(what_no_layout_can_serve_is_an_error)
{
    calc_errors errors = {0};
    begin("qwen3-30B-A3B", "h100_sxm");
    calc_defaults_check(&space, &designs, &errors);
    ck_assert_int_eq(errors.count, 0);
    serve();
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    calc_defaults_check(&space, &designs, &errors);
    ck_assert_int_eq(errors.count, 0);
    set(CALC_AXIS_training, true);
    calc_defaults_check(&space, &designs, &errors);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].pointer, "/inference/phase");
    ck_assert_str_eq(errors.item[0].text, "nothing is served in training");
    end();
}

/* ---- No two layouts are the same ------------------------------------------------------------- */

enum { POINTS = 80000 };
static calc_stats point[POINTS];
static size_t points, sharded, sharded_beside; /* gradients; beside stages or split experts */

static bool keep(void *context, const calc_sweep_point *p)
{
    (void)context;
    ck_assert_uint_lt(points, POINTS);
    point[points++] = *p->stats;
    bool split = p->exec->pipeline_par > 1 || p->exec->strategy.expert_par > 1;
    sharded += p->exec->strategy.zero_stage >= 2;
    sharded_beside += p->exec->strategy.zero_stage >= 2 && split;
    return true;
}

static int compare_stats(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(calc_stats));
}

/* How many layouts of a space have the statistics of another one, all of them to the bit. */
static size_t repeated(const char *const *axes)
{
    calc_designs pairs;
    calc_errors errors = {0};
    calc_sweep_result result;
    calc_sweep_options options = {.threads = 1, .point = keep};
    size_t same = 0;
    points = sharded = sharded_beside = 0;
    set(CALC_AXIS_num_procs, 16);
    set(CALC_AXIS_batch_size, 32);
    for (size_t i = 0; axes && axes[i]; i++) {
        ck_assert_int_eq(calc_axis_assign(&space, &designs, false, axes[i], &errors), CALC_OK);
    }
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_int_eq(calc_designs_make(&designs, &pairs, &errors), CALC_OK);
    ck_assert_int_eq(calc_sweep(&space, &pairs, &options, &result, &errors), CALC_OK);
    ck_assert_uint_eq(points, result.counts.feasible);
    ck_assert_uint_gt(points, 20);
    qsort(point, points, sizeof *point, compare_stats);
    for (size_t i = 1; i < points; i++) {
        same += compare_stats(&point[i - 1], &point[i]) == 0;
    }
    calc_sweep_result_free(&result);
    end();
    return same;
}

CALC_TEST(no_layout_is_searched_twice)
{
    static const char *const models[] = {"llama3-8B", "llama2-7B", "qwen3-30B-A3B"};
    /* Longer chunks than there ever are prompts for do nothing, and no rule knows which are. */
    static const char *const chunks[] = {"inference.chunk_size=512,1024", NULL};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        begin(models[i], "h200");
        ck_assert_uint_eq(repeated(NULL), 0);
        begin(models[i], "h200");
        serve();
        ck_assert_uint_eq(repeated(chunks), 0);
    }
}

CALC_TEST(gradients_are_sharded_beside_stages_and_experts_only_if_somebody_asks)
{
    static const char *const asked[] = {"zero_stage=0,2,3", NULL};
    begin("qwen3-30B-A3B", "h200");
    repeated(NULL);
    ck_assert_uint_gt(sharded, 0);
    ck_assert_uint_eq(sharded_beside, 0);
    begin("qwen3-30B-A3B", "h200");
    repeated(asked);
    ck_assert_uint_gt(sharded_beside, 0);
}

/* Fields that matter for some of the layouts only. */
CALC_TEST(nor_where_fields_are_asked_for_that_do_nothing)
{
    static const char *const axes[] = {"dispatch_type=all_to_all,node_limited",
                                       "context_par=1,2",
                                       "context_par_type=ring,all_gather",
                                       "tensor_par_comm_type=ar,rs_ag",
                                       "seq_par_ag_redo=false,true",
                                       "tensor_par_overlap=none,ring",
                                       "expert_par_overlap=none",
                                       "zero_stage=*",
                                       "optimizer_sharding=false,true",
                                       "pipeline_par_overlap=false,true",
                                       "microbatch_size=1",
                                       "tensor_par=1,2",
                                       "pipeline_par=1,2",
                                       NULL};
    begin("qwen3-30B-A3B", "h200");
    ck_assert_uint_eq(repeated(axes), 0);
}

CALC_TEST(bfloat16_is_taken_where_every_machine_has_it)
{
    begin("llama3-405B", "h100_sxm");
    calc_system without = designs.system[0].system;
    without.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s = 0;
    ck_assert_int_eq(calc_designs_add_system(&designs, "without", &without), CALC_OK);
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert(space.axis[CALC_AXIS_datatype].all);
    end();
}

/* With whole gradients it fits if the outputs of norms are computed again. */
CALC_TEST(the_best_layout_of_llama3_405B_is_the_published_one)
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
    ck_assert_int_eq(calc_defaults_set(&space, &designs, CALC_COMPAT_NONE), CALC_OK);
    ck_assert_int_eq(calc_designs_make(&designs, &pairs, &errors), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&options.top_by, "sample_rate", &errors), CALC_OK);
    ck_assert_int_eq(calc_sweep(&space, &pairs, &options, &result, &errors), CALC_OK);
    const calc_exec best = calc_found_exec(&result.group[0].top.item[0]);
    /* Llama team 2024, arXiv 2407.21783, table 4. */
    ck_assert_int_eq(best.strategy.tensor_par, 8);
    ck_assert_int_eq(best.pipeline_par, 16);
    ck_assert_int_eq(best.strategy.data_par, 128);
    ck_assert_int_eq(best.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_MODULES);
    ck_assert(best.strategy.data_par_overlap && best.strategy.seq_par_ag_redo &&
              best.strategy.optimizer_sharding);
    calc_sweep_result_free(&result);
    end();
}
