/* The job of a launch script, and of flags. */
#include "mindspeed/arguments.h"

#include <string.h>

#include "formats/read.h"
#include "frame.h"
#include "io/text.h"
#include "mindspeed_jobs.h"

#define SCRIPT CALC_TEST_DATA "/mindspeed/llama_7b.launch"
#define MODEL                                                                                      \
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 "               \
    "--global-batch-size 256 --use-flash-attn --bf16 "
#define NODES "--nnodes 1 --nproc-per-node 8 "

static calc_mindspeed_arguments args;
static calc_errors errors;

/* A script, and then flags: NULL for none. */
static calc_status read_both(const char *script, const char *flags,
                             calc_mindspeed_generation generation)
{
    calc_settings settings = {0};
    const char *word[64];
    char copy[1024];
    size_t count = 0;
    errors = (calc_errors){0};
    if (script) {
        ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script)), CALC_OK);
    }
    ck_assert_uint_lt(strlen(flags), sizeof copy);
    strcpy(copy, flags);
    for (char *at = strtok(copy, " "); at && count < 64; at = strtok(NULL, " ")) {
        word[count++] = at;
    }
    ck_assert_int_eq(calc_settings_from_words(&settings, word, count), CALC_OK);
    calc_status status = calc_mindspeed_arguments_read(&args, &settings, generation,
                                                       script ? "a.sh" : NULL, &errors);
    calc_settings_free(&settings);
    return status;
}

static const calc_mindspeed_job *reads(const char *flags)
{
    calc_status status = read_both(NULL, flags, CALC_MINDSPEED_GEN2);
    ck_assert_msg(status == CALC_OK, "%s: %s", flags, errors.item[0].text);
    ck_assert_int_eq(errors.count, 0);
    return &args.job;
}

static void refuses(const char *script, const char *flags, const char *expected)
{
    char line[1024];
    ck_assert_int_ne(read_both(script, flags, CALC_MINDSPEED_GEN2), CALC_OK);
    ck_assert_int_gt(errors.count, 0);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, expected);
}

CALC_TEST(a_launch_script)
{
    calc_text text = {0};
    ck_assert_int_eq(calc_text_read(&text, SCRIPT, &errors), CALC_OK);
    ck_assert_int_eq(read_both(text.data, "", CALC_MINDSPEED_GEN1), CALC_OK);
    calc_text_free(&text);
    const calc_mindspeed_job *job = &args.job;
    ck_assert_int_eq(job->layers, 32);
    ck_assert_int_eq(job->hidden, 4096);
    ck_assert_int_eq(job->ffn, 11008);
    ck_assert_int_eq(job->heads, 32);
    ck_assert_int_eq(job->groups, 32);
    ck_assert_int_eq(job->head, 128);
    ck_assert_int_eq(job->seq, 2048);
    ck_assert_int_eq(job->batch, 256);
    ck_assert_int_eq(job->vocab, 0);
    ck_assert_int_eq(job->experts, 0);
    ck_assert_int_eq(job->topk, 0);
    ck_assert_int_eq(job->nodes, 1);
    ck_assert_int_eq(job->per_node, 8);
    ck_assert_int_eq(job->target_nodes, 1);
    ck_assert(job->swiglu && job->untied && job->fp16);
    ck_assert(!job->distributed_optimizer && !job->reuse_fp32 && !job->full_recompute);
    ck_assert(!job->recompute_activation_function && !job->swap_attention && !args.every);
    ck_assert_str_eq(args.unused, "--tokenizer-type, --tokenizer-model, --use-fused-rmsnorm, --lr, "
                                  "--min-lr, --train-iters and 5 more");
}

CALC_TEST(every_flag_of_the_job)
{
    const calc_mindspeed_job *job =
        reads(MODEL "--nodes 2 --nproc_per_node 16 --target-nnodes 8 --group-query-attention "
                    "--num-query-groups 8 --kv-channels 64 --vocab-size 32001 "
                    "--make-vocab-size-divisible-by 16 --num-experts 8 --moe-router-topk 3 "
                    "--moe-ffn-hidden-size 1024 --use-distributed-optimizer --reuse-fp32-param "
                    "--recompute-granularity full --recompute-activation-function "
                    "--swap-attention --search-algo full_precision");
    ck_assert_int_eq(job->nodes, 2);
    ck_assert_int_eq(job->per_node, 16);
    ck_assert_int_eq(job->target_nodes, 8);
    ck_assert_int_eq(calc_mindspeed_devices(job), 128);
    ck_assert_int_eq(job->groups, 8);
    ck_assert_int_eq(job->head, 64);
    ck_assert_int_eq(job->vocab, 32016);
    ck_assert_int_eq(job->experts, 8);
    ck_assert_int_eq(job->topk, 3);
    ck_assert_int_eq(job->ffn, 1024);
    ck_assert(job->distributed_optimizer && job->reuse_fp32 && job->full_recompute);
    ck_assert(job->recompute_activation_function && job->swap_attention && args.every);
    ck_assert(!job->swiglu && !job->untied && !job->fp16);
    ck_assert_str_eq(args.unused, "");
}

/* What Megatron does where a width is not said. */
CALC_TEST(widths_that_are_not_said)
{
    ck_assert_int_eq(reads(MODEL NODES)->ffn, 4 * 4096);
    ck_assert_int_eq(reads(MODEL NODES "--swiglu")->ffn, 4096 * 8 / 3 / 64 * 64);
    ck_assert_int_eq(reads(MODEL NODES)->target_nodes, 1);
}

/* Sizes that are searched are not even read; flags count more than the script. */
CALC_TEST(what_gives_way)
{
    const char *script = "python x.py " MODEL NODES "--tensor-model-parallel-size $TP "
                         "--micro-batch-size ${MBS} --context-parallel-algo what "
                         "--num-layers-per-virtual-pipeline-stage 3\n";
    ck_assert_int_eq(read_both(script, "--nodes 4 --fp16 --num-layers 16", CALC_MINDSPEED_GEN2),
                     CALC_OK);
    ck_assert_int_eq(args.job.nodes, 4);
    ck_assert_int_eq(args.job.layers, 16);
    ck_assert(args.job.fp16);
}

CALC_TEST(refusals)
{
    refuses("x " NODES, "--num-layers 4",
            "a.sh: the size of the model is not said: missing --hidden-size, "
            "--num-attention-heads, --seq-length");
    refuses("x " MODEL, "", "a.sh: missing --nnodes: how many nodes there are");
    refuses(NULL, MODEL "--nnodes 2", "missing --nproc-per-node: how many devices a node has");
    refuses(NULL, MODEL "--nnodes 0 --nproc-per-node 8",
            "--nnodes: expected 1 to 1e9, found \"0\"");
    refuses(NULL, MODEL "--nnodes 100000 --nproc-per-node 100",
            "100000 nodes of 100 devices: expected 1 to 1048576 devices");
    refuses("x " MODEL "\n --nnodes $HOSTS --nproc-per-node 8", "",
            "a.sh:2:2: --nnodes: expected a number, found \"$HOSTS\"\n"
            "  hint: nothing in a script is executed: write the value there; --procs N of calc "
            "import replaces it");
    refuses(NULL, MODEL NODES "--target-nnodes 1.5",
            "--target-nnodes: expected a whole number of at least 1, found \"1.5\"");
    refuses("x " MODEL NODES "\n--target-nnodes x", "",
            "a.sh:2:1: --target-nnodes: expected a whole number of at least 1, found \"x\"");
    refuses(NULL, MODEL NODES "--search-algo slow",
            "--search-algo: expected fast_mode or full_precision, found \"slow\"");
    refuses(NULL, MODEL NODES "--num-attention-heads 24",
            "--num-attention-heads 24 does not divide --hidden-size 4096\n"
            "  hint: --kv-channels gives heads another width");
    refuses(NULL, MODEL NODES "--num-query-groups 5",
            "--num-query-groups: 5 does not divide attn_heads = 32");
    refuses(NULL, MODEL NODES "--auto-settings --auto-settings-ranks 16",
            "--auto-settings: the third generation of the planner is not known here, only "
            "--auto-parallel");
    refuses(NULL, MODEL NODES "--multi-latent-attention",
            "--multi-latent-attention: the planner does not know it");
    refuses(NULL, MODEL NODES "--global-batch-size 2000000",
            "--global-batch-size: 2000000 is more than 1048576");
}

CALC_TEST(what_the_planner_counts_on)
{
    refuses(NULL,
            "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 "
            "--global-batch-size 256 --bf16 " NODES,
            "missing --use-flash-attn: the planner counts on flash attention");
    refuses(NULL,
            "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 "
            "--global-batch-size 256 --use-flash-attn " NODES,
            "missing --bf16 or --fp16: the planner knows no other numbers");
    refuses(NULL,
            "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 --bf16 "
            "--use-flash-attn " NODES,
            "missing --global-batch-size: how many sequences a step has");
    ck_assert_int_eq(read_both(NULL, MODEL NODES "--target-nnodes 2", CALC_MINDSPEED_GEN1),
                     CALC_ERR_UNSUPPORTED);
}

/* The spaces of MindSpeed's planner. */

static size_t count(const calc_mindspeed_job *job, calc_mindspeed_generation generation)
{
    calc_mindspeed_space space;
    ck_assert_int_eq(calc_mindspeed_space_list(job, generation, &space), CALC_OK);
    size_t found = space.count;
    calc_mindspeed_space_free(&space);
    return found;
}

/* Counts that were derived from the planner's rules in another language. */
CALC_TEST(as_many_as_the_planner_has)
{
    calc_mindspeed_job job = mindspeed_7b();
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN1), 294);
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 36);
    job.seq = 8192;
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 72);
    job = mindspeed_65b();
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN1), 955);
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 96);
    job = mindspeed_experts();
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 116);
}

CALC_TEST(sequences_whole)
{
    calc_mindspeed_job job = mindspeed_65b();
    calc_mindspeed_space space;
    int whole = 0;
    ck_assert_int_eq(calc_mindspeed_space_list(&job, CALC_MINDSPEED_GEN1, &space), CALC_OK);
    for (size_t i = 0; i < space.count; i++) {
        whole += space.config[i].cp * space.config[i].up == 1;
    }
    calc_mindspeed_space_free(&space);
    ck_assert_int_eq(whole, 119);
}

static bool lawful(const calc_mindspeed_job *job, calc_mindspeed_generation generation,
                   const calc_mindspeed_config *c)
{
    bool second = generation == CALC_MINDSPEED_GEN2;
    int each = job->batch / c->dp;
    bool sizes = c->pp * c->tp * c->dp * c->cp * c->up == calc_mindspeed_devices(job) &&
                 job->layers % (c->pp * c->vpp) == 0 && job->batch % (c->dp * c->mbs) == 0;
    bool heads =
        job->heads % (c->tp * (second && c->up == 1 ? 1 : c->up)) == 0 && c->tp <= job->per_node;
    bool tokens = !second || c->cp * c->up == 1 || job->seq / (c->cp * c->up) >= 4096;
    bool chunks = c->vpp == 1 || (second && c->pp > 2 && each / c->mbs % c->pp == 0);
    bool experts = !second || job->experts == 0
                       ? c->ep == 0
                       : c->ep > 0 && job->experts % c->ep == 0 && c->dp % c->ep == 0;
    return sizes && heads && tokens && chunks && experts && (!second || c->mbs <= 2);
}

static bool same(const calc_mindspeed_config *a, const calc_mindspeed_config *b)
{
    return a->pp == b->pp && a->tp == b->tp && a->dp == b->dp && a->cp == b->cp && a->up == b->up &&
           a->mbs == b->mbs && a->vpp == b->vpp && a->ep == b->ep;
}

CALC_TEST(all_are_lawful_and_none_is_there_twice)
{
    const calc_mindspeed_job jobs[] = {mindspeed_7b(), mindspeed_65b(), mindspeed_experts()};
    for (int i = 0; i < 6; i++) {
        calc_mindspeed_generation generation = i % 2 ? CALC_MINDSPEED_GEN2 : CALC_MINDSPEED_GEN1;
        calc_mindspeed_space space;
        ck_assert_int_eq(calc_mindspeed_space_list(&jobs[i / 2], generation, &space), CALC_OK);
        for (size_t j = 0; j < space.count; j++) {
            ck_assert(lawful(&jobs[i / 2], generation, &space.config[j]));
            size_t k = 0;
            while (k < j && !same(&space.config[j], &space.config[k])) {
                k++;
            }
            ck_assert_uint_eq(k, j);
        }
        calc_mindspeed_space_free(&space);
    }
}

/* 3 devices a node, 12 in all; 7 layers, so one stage; 6 heads. */
CALC_TEST(sizes_that_are_no_powers_of_two)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.layers = 7;
    job.heads = job.groups = 6;
    job.per_node = 3;
    job.nodes = job.target_nodes = 4;
    job.batch = 12;
    calc_mindspeed_space space;
    ck_assert_int_eq(calc_mindspeed_space_list(&job, CALC_MINDSPEED_GEN2, &space), CALC_OK);
    /* tp 1: 12 replicas of one sequence; tp 2: 6 replicas of two, in one or two micro-batches. */
    ck_assert_uint_eq(space.count, 3);
    ck_assert_int_eq(space.config[0].dp, 12);
    ck_assert_int_eq(space.config[2].tp, 2);
    ck_assert_int_eq(space.config[2].mbs, 2);
    calc_mindspeed_space_free(&space);
    job.batch =
        5; /* neither 12, 6, 4, 3 nor 2 divide it, and sequences are too short to be split */
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 0);
}

/* Planning for 32 devices with 8 at hand: as with 32. */
CALC_TEST(more_devices_than_there_are)
{
    calc_mindspeed_job job = mindspeed_65b();
    job.nodes = 1;
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 96);
}
