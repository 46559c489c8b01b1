#include "formats/import.h"

#include <stdio.h>
#include <string.h>

#include "formats/read.h"
#include "frame.h"

static size_t ignored;

static void count_unread(void *context, const char *key, calc_unread what, const char *assumed)
{
    ck_assert_msg(what == CALC_UNREAD_UNKNOWN && !assumed, "%s", key);
    ck_assert_ptr_eq(context, &ignored);
    ck_assert_str_eq(key, "--unheard-of");
    ignored++;
}

static calc_status import_script(const char *script, int64_t procs, calc_app *app, calc_exec *exec,
                                 calc_errors *errors)
{
    calc_settings settings = {0};
    ignored = 0;
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script)), CALC_OK);
    const calc_import import = {.framework = &calc_framework_megatron,
                                .settings = &settings,
                                .name = "run.sh",
                                .procs = procs,
                                .unread = count_unread,
                                .context = &ignored};
    calc_status status = calc_import_run(&import, app, exec, errors);
    calc_settings_free(&settings);
    return status;
}

static void fails(const char *script, calc_status status, const char *printed)
{
    calc_app app;
    calc_exec exec;
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_eq(import_script(script, 0, &app, &exec, &errors), status);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

static calc_status import_maxtext(const char *text, int64_t *data_par, calc_errors *errors)
{
    calc_settings settings = {0};
    calc_app app;
    calc_exec exec = {.num_procs = 0};
    const calc_framework *framework = calc_framework_find("maxtext");
    ck_assert_int_eq(
        calc_settings_from_text(&settings, framework->syntax, text, strlen(text), "c.yml", errors),
        CALC_OK);
    const calc_import import = {.framework = framework, .settings = &settings, .name = "c.yml"};
    calc_status status = calc_import_run(&import, &app, &exec, errors);
    *data_par = exec.strategy.data_par;
    calc_settings_free(&settings);
    return status;
}

CALC_TEST(factors_of_a_size_are_multiplied_once_and_keep_its_range)
{
    int64_t data_par;
    calc_errors errors = {0};
    ck_assert_int_eq(
        import_maxtext("ici_fsdp_parallelism: 4\ndcn_fsdp_parallelism: 2\n", &data_par, &errors),
        CALC_OK);
    ck_assert_int_eq(data_par, 8);
    ck_assert_int_eq(import_maxtext("ici_fsdp_parallelism: 4\ndcn_fsdp_parallelism: 2\n"
                                    "ici_fsdp_parallelism: 16\n",
                                    &data_par, &errors),
                     CALC_OK);
    ck_assert_int_eq(data_par, 32);
    ck_assert_int_eq(import_maxtext("ici_fsdp_parallelism: 1000000\n"
                                    "dcn_fsdp_parallelism: 1000000\n",
                                    &data_par, &errors),
                     CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text,
                     "dcn_fsdp_parallelism: expected at most 1000000000 as the product "
                     "of its keys, found \"1000000\"");
}

CALC_TEST(no_options_are_the_defaults_of_megatron)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script("--unheard-of 3", 0, &app, &exec, NULL), CALC_OK);
    ck_assert_uint_eq(ignored, 1);
    ck_assert_int_eq(exec.num_procs, 1);
    ck_assert_int_eq(exec.batch_size, 1);
    ck_assert_int_eq(exec.strategy.datatype, CALC_DATATYPE_FLOAT32);
    ck_assert_int_eq(exec.strategy.zero_stage, 0);
    ck_assert(exec.training && exec.strategy.fused_activation && exec.strategy.flash_attention);
    ck_assert_int_eq(exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE);
    ck_assert_int_eq(exec.strategy.memory_model, CALC_MEMORY_MODEL_MEGATRON);
    ck_assert_int_eq(exec.strategy.expert_par_net, -1);
    ck_assert(app.causal);
    ck_assert_int_eq(app.hidden, 0);
}

/* Widths as Megatron-LM derives them: 4h, or 8/3 h in multiples of 64 with a gate. */
/* Megatron-LM 0.20, megatron/training/arguments.py: --kv-lora-rank 32, --qk-head-dim 128,
 * --qk-pos-emb-head-dim 64, --v-head-dim 128, --moe-router-topk 2, --hidden-dropout 0.1, linear
 * layers with biases, embedding and head of one table. */
CALC_TEST(options_not_given_are_as_megatron_has_them)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script("--multi-latent-attention --num-experts 8 --swiglu "
                                   "--normalization RMSNorm --position-embedding-type rope",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(app.q_lora_rank, 0);
    ck_assert_int_eq(app.kv_lora_rank, 32);
    ck_assert_int_eq(app.qk_nope_size, 128);
    ck_assert_int_eq(app.qk_rope_size, 64);
    ck_assert_int_eq(app.v_size, 128);
    ck_assert_int_eq(app.experts_per_token, 2);
    ck_assert_int_eq(app.structure_type, CALC_STRUCTURE_TYPE_LLAMA);
    ck_assert_int_eq(app.dropout, CALC_CHOICE_TRUE);
    ck_assert_int_eq(app.bias, CALC_CHOICE_TRUE);
    ck_assert_int_eq(app.tied_embeddings, CALC_CHOICE_TRUE);
}

CALC_TEST(widths_not_given_are_derived)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(
        import_script("--hidden-size 4096 --num-attention-heads 32", 0, &app, &exec, NULL),
        CALC_OK);
    ck_assert_int_eq(app.feedforward, 16384);
    ck_assert_int_eq(app.attn_size, 128);
    ck_assert_int_eq(import_script("--hidden-size 4096 --swiglu", 0, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(app.feedforward, 10880);
}

CALC_TEST(processors_come_from_the_launcher_or_the_caller)
{
    const char *script = "--nproc-per-node 8 --nnodes 4 --tensor-model-parallel-size 8 "
                         "--pipeline-model-parallel-size 2 --context-parallel-size 2";
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script(script, 0, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.num_procs, 32);
    ck_assert_int_eq(exec.strategy.data_par, 1);
    ck_assert_int_eq(exec.strategy.context_par, 2);
    ck_assert_int_eq(import_script(script, 128, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.num_procs, 128);
    ck_assert_int_eq(exec.strategy.data_par, 4);
    fails("--nnodes 1000000000 --nproc-per-node 2", CALC_ERR_RANGE,
          "2e+09 processors: expected 1 to 1000000000");
    /* No context parallelism. */
    ck_assert_int_eq(import_script("--context-parallel-size 0", 8, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.data_par, 8);
}

CALC_TEST(chunks_are_counted_or_computed)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script("--pipeline-model-parallel-size 4 --num-layers 80 "
                                   "--num-layers-per-virtual-pipeline-stage 4",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.pipeline_interleaving, 5);
    ck_assert(exec.strategy.pipeline_par_overlap);
    fails("--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4",
          CALC_ERR_FIELD,
          "blocks per chunk need the number of blocks, which is missing\n"
          "  hint: without it, set pipeline_interleaving in the layout");
    fails("--pipeline-model-parallel-size 4 --num-layers 82 "
          "--num-layers-per-virtual-pipeline-stage 4",
          CALC_ERR_RULE, "chunks of 4 blocks do not divide a stage of a model of 82");
}

CALC_TEST(sharding_and_overlap_need_replicas)
{
    const char *script = "--use-distributed-optimizer --overlap-grad-reduce --sequence-parallel";
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script(script, 1, &app, &exec, NULL), CALC_OK);
    ck_assert(!exec.strategy.optimizer_sharding && !exec.strategy.data_par_overlap);
    ck_assert_int_eq(exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_AR);
    ck_assert_int_eq(import_script(script, 2, &app, &exec, NULL), CALC_OK);
    ck_assert(exec.strategy.optimizer_sharding && exec.strategy.data_par_overlap);
    ck_assert_int_eq(exec.strategy.zero_stage, 1);
    ck_assert_int_eq(exec.strategy.param_gather_overlap, CALC_CHOICE_AUTO);
}

CALC_TEST(deferred_weight_gradients_have_a_limit_or_none)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script("--pipeline-model-parallel-size 2 --wgrad-deferral-limit 3", 0,
                                   &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.deferred_head_wgrad, 0);
    ck_assert_int_eq(import_script("--pipeline-model-parallel-size 2 --wgrad-deferral-limit 3 "
                                   "--defer-embedding-wgrad-compute",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.deferred_head_wgrad, 3);
    ck_assert_int_eq(import_script("--pipeline-model-parallel-size 2 --wgrad-deferral-limit 0 "
                                   "--defer-embedding-wgrad-compute",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.deferred_head_wgrad, -1);
}

/* dist_muon, as older releases had it, is Muon with its state sharded. */
CALC_TEST(muon_is_an_optimizer)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script("--optimizer muon", 2, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.optimizer, CALC_OPTIMIZER_MUON);
    ck_assert_int_eq(exec.strategy.zero_stage, 0);
    ck_assert_int_eq(import_script("--optimizer dist_muon", 2, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.optimizer, CALC_OPTIMIZER_MUON);
    ck_assert_int_eq(exec.strategy.zero_stage, 1);
    ck_assert_int_eq(import_script("--optimizer adam", 2, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.optimizer, CALC_OPTIMIZER_ADAM);
}

CALC_TEST(gathered_activations_are_gathered_again_unless_all_is_recomputed)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(
        import_script("--tensor-model-parallel-size 2 --sequence-parallel", 0, &app, &exec, NULL),
        CALC_OK);
    ck_assert(exec.strategy.seq_par_ag_redo);
    ck_assert_int_eq(exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_ASYNC);
    ck_assert_int_eq(import_script("--tensor-model-parallel-size 2 --sequence-parallel "
                                   "--recompute-granularity full",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert(!exec.strategy.seq_par_ag_redo);
    ck_assert_int_eq(exec.recompute_blocks, 0);
    ck_assert_int_eq(import_script("--recompute-granularity full --recompute-method block "
                                   "--recompute-num-layers 3",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.recompute_blocks, 3);
    ck_assert_int_eq(import_script("--recompute-granularity full --recompute-method block "
                                   "--recompute-num-layers 1 --num-layers 80 "
                                   "--pipeline-model-parallel-size 8 "
                                   "--num-layers-per-virtual-pipeline-stage 2",
                                   64, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.pipeline_interleaving, 5);
    ck_assert_int_eq(exec.recompute_blocks, 5); /* of all chunks of a stage */
}

/* Uniform recomputation stores the input of every Nth layer of a chunk, once if it has fewer. */
CALC_TEST(uniform_recomputation_is_in_groups)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script("--recompute-granularity full --recompute-method uniform "
                                   "--recompute-num-layers 5 --num-layers 80 "
                                   "--tensor-model-parallel-size 2 --distribute-saved-activations "
                                   "--pipeline-model-parallel-size 8",
                                   64, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.recompute_blocks, 0);
    ck_assert_int_eq(exec.strategy.recompute_group, 5);
    ck_assert(exec.strategy.distribute_saved_activations);
    ck_assert_int_eq(import_script("--recompute-granularity full --recompute-method uniform "
                                   "--recompute-num-layers 20 --num-layers 80 "
                                   "--tensor-model-parallel-size 2 --sequence-parallel "
                                   "--distribute-saved-activations "
                                   "--pipeline-model-parallel-size 8",
                                   64, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.strategy.recompute_group, 10);
    ck_assert(!exec.strategy.distribute_saved_activations);
}

CALC_TEST(errors_name_the_setting_and_its_place)
{
    fails("\n --hidden-size big", CALC_ERR_RANGE,
          "run.sh:2:2: --hidden-size: expected a number, found \"big\"");
    fails("--bf16 --fp16", CALC_ERR_RULE, "run.sh:1:8: --fp16: contradicts --bf16");
    fails("--swiglu\n--quick-geglu", CALC_ERR_RULE,
          "run.sh:2:1: --quick-geglu: contradicts --swiglu");
    fails("--global-batch-size 5 --micro-batch-size 2", CALC_ERR_RULE,
          "the global batch of 5 is not a multiple of micro-batch * data parallelism = 2");
}

CALC_TEST(layers_of_experts_may_be_quoted_twice)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script("MOE=\"--num-experts 8 --moe-layer-freq '([0]*1+[1]*3)'\"\n"
                                   "--num-layers 4 --hidden-size 64 --num-attention-heads 4 "
                                   "--moe-router-topk 2 $MOE",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(app.num_experts, 8);
    ck_assert_int_eq(app.dense_blocks, 1);
}

/* megatron/training/arguments.py: what Megatron-FSDP shards; without it nobody asks. */
CALC_TEST(a_sharding_strategy_is_that_of_megatron_fsdp)
{
    static const char *const words =
        "--use-distributed-optimizer --data-parallel-sharding-strategy "
        "optim_grads_params --use-megatron-fsdp";
    char text[200];
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(import_script(words, 8, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.zero_stage, 3);
    snprintf(text, sizeof text, "%.*s", (int)(strrchr(words, ' ') - words), words);
    ck_assert_int_eq(import_script(text, 8, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.zero_stage, 1);
    ck_assert(exec.strategy.optimizer_sharding);
    /* Experts are spread over the fewest processors where nothing says how many there are. */
    ck_assert_int_eq(import_script("--tensor-model-parallel-size 2 --expert-model-parallel-size 8 "
                                   "--expert-tensor-parallel-size 1",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.num_procs, 8);
    ck_assert_int_eq(import_script("--tensor-model-parallel-size 2 --expert-model-parallel-size 8",
                                   0, &app, &exec, NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.num_procs, 16);
}

CALC_TEST(the_last_of_equal_options_counts)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(
        import_script("--micro-batch-size 2 --micro-batch-size 4", 0, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(exec.microbatch_size, 4);
    ck_assert_int_eq(import_script("--hidden-dropout 0.0", 0, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(app.dropout, CALC_CHOICE_FALSE);
    ck_assert_int_eq(
        import_script("--hidden-dropout 0.1 --attention-dropout 0", 0, &app, &exec, NULL), CALC_OK);
    ck_assert_int_eq(app.dropout, CALC_CHOICE_AUTO);
}
