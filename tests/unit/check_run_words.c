/* Free words of runs: spellings, denials, lists, words that no table has. */
#include "run_case.h"

#include "base/error.h"
#include "frame.h"
#include "io/csv_table.h"

#include <string.h>

static calc_runs_row row;
static calc_run_words words;

static void enter(void)
{
    row = plain_row();
}

const calc_test_frame calc_tests = {.setup = enter};

static void read_overlap(const char *text)
{
    row.overlap = text;
    calc_run_words_read(&words, &row);
}

static void says(const char *overlap, calc_run_word word)
{
    read_overlap(overlap);
    ck_assert_msg(words.on[word] && !words.off[word], "%s", overlap);
    ck_assert_str_eq(words.unread, "");
}

static void denies(const char *overlap, calc_run_word word)
{
    read_overlap(overlap);
    ck_assert_msg(words.off[word] && !words.on[word], "%s", overlap);
    ck_assert(!calc_run_words_say(&words, word, true));
    ck_assert_str_eq(words.unread, "");
}

static void says_nothing(const char *overlap, calc_run_word word)
{
    read_overlap(overlap);
    ck_assert_msg(!words.off[word] && !words.on[word], "%s", overlap);
    ck_assert(calc_run_words_say(&words, word, true));
    ck_assert(!calc_run_words_say(&words, word, false));
    ck_assert_str_eq(words.unread, "");
}

CALC_TEST(spelling_does_not_matter)
{
    static const char *const spelt[] = {
        "hybridep",    "HybridEP", "Hybrid-EP", "hybrid ep", "dispatcher=hybridep",
        "TE + DeepEP", "DEEPEP"};
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++) {
        says(spelt[i], CALC_RUN_WORD_NODE_LIMITED);
    }
    says("torch.compile; AsyncTP", CALC_RUN_WORD_TENSOR_OVERLAP);
    says("Torch-Compile", CALC_RUN_WORD_COMPILED);
}

CALC_TEST(values_say_and_deny)
{
    says("TP comm overlap", CALC_RUN_WORD_TENSOR_OVERLAP);
    says("tp_comm=True", CALC_RUN_WORD_TENSOR_OVERLAP);
    says("ub_tp_comm_overlap: yes", CALC_RUN_WORD_TENSOR_OVERLAP);
    denies("ub_tp_comm_overlap=false; overlap_p2p=n/a", CALC_RUN_WORD_TENSOR_OVERLAP);
    denies("ub_tp_comm_overlap=false; overlap_p2p=n/a", CALC_RUN_WORD_MESSAGE_OVERLAP);
    denies("moe_a2a_overlap=None", CALC_RUN_WORD_EXPERT_OVERLAP);
    read_overlap("moe_a2a_overlap=True; ep_a2a=0");
    ck_assert(!calc_run_words_say(&words, CALC_RUN_WORD_EXPERT_OVERLAP, true));
    denies("grad_reduce=", CALC_RUN_WORD_GRADIENT_OVERLAP);
    says_nothing("", CALC_RUN_WORD_GRADIENT_OVERLAP);
    says_nothing("none stated", CALC_RUN_WORD_GRADIENT_OVERLAP);
}

CALC_TEST(clauses_are_denied_as_a_whole)
{
    static const char all_off[] = "none (TP-comm overlap, p2p overlap all off); DeepEP";
    denies(all_off, CALC_RUN_WORD_TENSOR_OVERLAP);
    denies(all_off, CALC_RUN_WORD_MESSAGE_OVERLAP);
    says(all_off, CALC_RUN_WORD_NODE_LIMITED);
    denies("no DP overlap; TP overlap", CALC_RUN_WORD_GATHER_OVERLAP);
    says("no DP overlap; TP overlap", CALC_RUN_WORD_TENSOR_OVERLAP);
}

CALC_TEST(graphs_and_their_parts)
{
    says_nothing("cuda_graph=transformer_engine/['attn', 'moe_router']", CALC_RUN_WORD_GRAPHS);
    ck_assert(words.on[CALC_RUN_WORD_ENGINE_GRAPHS] && words.on[CALC_RUN_WORD_ATTENTION_GRAPH]);
    denies("cuda_graph=None/[]", CALC_RUN_WORD_GRAPHS);
    says("cuda_graph=local/full_iteration", CALC_RUN_WORD_FULL_GRAPH);
    /* A scope without an implementation captures nothing: Megatron-Bridge's train.py. */
    says_nothing("cuda_graph=none/full_iteration; nccl_ub=None", CALC_RUN_WORD_FULL_GRAPH);
    says("CUDA graphs", CALC_RUN_WORD_GRAPHS);
    denies("layer CUDA graph=0", CALC_RUN_WORD_GRAPHS);
}

CALC_TEST(sharding_in_words_and_numbers)
{
    static const struct {
        const char *text;
        bool optimizer, gradients, weights;
    } cells[] = {{"0", false, false, false},
                 {"1", true, false, false},
                 {"Parallel Optimizer", true, false, false},
                 {"1 (DeepSpeed) or 0: not stated here", false, false, false},
                 {"ZeRO-2", false, true, false},
                 {"3 (DeepSpeed ZeRO-3)", false, false, true},
                 {"fsdp2 full shard group 1", false, false, true},
                 {"no FSDP (DDP/dist-opt)", true, false, false}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        row.zero_stage_fsdp = cells[i].text;
        calc_run_words_read(&words, &row);
        ck_assert_str_eq(words.unread, "");
        ck_assert_msg(words.on[CALC_RUN_WORD_SHARDED_OPTIMIZER] == cells[i].optimizer &&
                          words.on[CALC_RUN_WORD_SHARDED_GRADIENTS] == cells[i].gradients &&
                          words.on[CALC_RUN_WORD_SHARDED_WEIGHTS] == cells[i].weights,
                      "%s", cells[i].text);
    }
    row.zero_stage_fsdp = "1 (distributed optimizer within groups of 8)";
    calc_run_words_read(&words, &row);
    ck_assert_int_eq(calc_run_words_number(&words, CALC_RUN_WORD_SHARD_GROUP), 8);
    ck_assert_int_eq(calc_run_words_number(&words, CALC_RUN_WORD_BLOCKS), 0);
}

CALC_TEST(formats_and_recomputation)
{
    row.dtype = "BFloat16, Float8 blockwise";
    row.recompute = "RMSNorm and MLA up-projection; full block 70";
    calc_run_words_read(&words, &row);
    ck_assert(words.on[CALC_RUN_WORD_FLOAT8] && words.on[CALC_RUN_WORD_BLOCK_SCALES]);
    ck_assert(!words.on[CALC_RUN_WORD_FLOAT16] && !words.on[CALC_RUN_WORD_FLOAT4]);
    ck_assert(words.on[CALC_RUN_WORD_LAYERNORM] && words.on[CALC_RUN_WORD_MLA_UP_PROJ]);
    ck_assert_int_eq(calc_run_words_number(&words, CALC_RUN_WORD_BLOCKS), 70);
    ck_assert_str_eq(words.unread, "");
    row.dtype = "MXFP8";
    row.recompute = "selective [moe_act]";
    calc_run_words_read(&words, &row);
    ck_assert(words.on[CALC_RUN_WORD_FLOAT8] && words.on[CALC_RUN_WORD_BLOCK_SCALES]);
    ck_assert(words.on[CALC_RUN_WORD_MOE_ACT] && !words.on[CALC_RUN_WORD_MOE]);
    ck_assert(!words.on[CALC_RUN_WORD_FULL]);
}

CALC_TEST(options_of_newer_software)
{
    static const char options[] =
        "use_transformer_engine_op_fuser=True; moe_mlp_glu_interleave_size=32; "
        "delay_wgrad_compute=true; high_priority_a2a_comm_stream=True; moe_paged_stash=True; "
        "cuda_graph=local/full_iteration";
    says(options, CALC_RUN_WORD_FUSED_EXPERTS);
    says(options, CALC_RUN_WORD_DELAYED_WGRAD);
    says(options, CALC_RUN_WORD_FULL_GRAPH);
    denies("fp8_dot_product_attention=False", CALC_RUN_WORD_FLOAT8_ATTENTION);
    /* A recipe that overlaps the all-to-all delays weight gradients, too. */
    says("moe_a2a_overlap=True; token drop", CALC_RUN_WORD_DELAYED_WGRAD);
    ck_assert_str_eq(words.unread, "");
    denies("moe_a2a_overlap=False", CALC_RUN_WORD_DELAYED_WGRAD);
    row.dtype = "mxfp8, FP8 attention";
    says("", CALC_RUN_WORD_FLOAT8_ATTENTION);
}

CALC_TEST(deferred_gradients_have_a_number)
{
    says("overlap_p2p=true; wgrad_deferral_limit=22", CALC_RUN_WORD_DEFERRED_WGRAD);
    ck_assert_int_eq(calc_run_words_number(&words, CALC_RUN_WORD_DEFERRED_WGRAD), 22);
    says("wgrad_deferral_limit=0", CALC_RUN_WORD_DEFERRED_WGRAD); /* of all micro-batches */
    ck_assert_int_eq(calc_run_words_number(&words, CALC_RUN_WORD_DEFERRED_WGRAD), 0);
}

CALC_TEST(lists_belong_to_their_key)
{
    read_overlap("mc2=True; num_layer_list=5,6,7; pp_layout=Et*4|(t*4|)*14tmL");
    ck_assert_str_eq(words.unread, "");
    ck_assert(words.on[CALC_RUN_WORD_TENSOR_OVERLAP]);
    ck_assert_int_eq(strncmp(words.number[CALC_RUN_WORD_STAGE_LIST], "5,6,7;", 6), 0);
}

/* The first is named; a word that begins like a known one is another. */
CALC_TEST(a_word_that_no_table_has_is_named)
{
    read_overlap("DeepEP; warp-drive; flux");
    ck_assert_str_eq(words.unread, "overlap: \"warp\" is not known, and not read");
    ck_assert(words.on[CALC_RUN_WORD_NODE_LIMITED]);
    read_overlap("deepepic");
    ck_assert(!words.on[CALC_RUN_WORD_NODE_LIMITED]);
    ck_assert_str_eq(words.unread, "overlap: \"deepepic\" is not known, and not read");
    read_overlap("tp_comm=perhaps");
    ck_assert(!words.on[CALC_RUN_WORD_TENSOR_OVERLAP]);
    ck_assert_str_eq(words.unread, "overlap: \"perhaps\" is not known, and not read");
    read_overlap("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
    ck_assert_str_eq(words.unread,
                     "overlap: \"abcdefghijklmnopqrstuvwx\" is not known, and not read");
    read_overlap("\xc3\xbc"
                 "ber\xe9\x87\x8d\xe5\x8f\xa0");
    ck_assert_str_eq(words.unread, "overlap: \"\xc3\xbc"
                                   "ber\xe9\x87\x8d\xe5\x8f\xa0\" is not known, and not read");
    read_overlap("abcdefghijklmnopqrstuvw\xc3\xbc"
                 "ber"); /* not half of a letter */
    ck_assert_str_eq(words.unread,
                     "overlap: \"abcdefghijklmnopqrstuvw\" is not known, and not read");
    row.overlap = "";
    row.recompute = "sometimes";
    calc_run_words_read(&words, &row);
    ck_assert_str_eq(words.unread, "recompute: \"sometimes\" is not known, and not read");
}

/* What calc ships is read to the last word. */
CALC_TEST(every_word_of_shipped_tables_is_known)
{
    static const char *const file[] = {CALC_TEST_DATA "/measured/runs.csv",
                                       CALC_TEST_DATA "/measured/unfitted_runs.csv.gz",
                                       CALC_TEST_DATA "/measured/runs_vtrain_single.csv.gz",
                                       CALC_TEST_DATA "/measured/runs_megatron_small.csv.gz"};
    for (size_t f = 0; f < sizeof file / sizeof *file; f++) {
        calc_errors errors = {0};
        calc_runs runs = {0};
        ck_assert_int_eq(calc_runs_read(&runs, file[f], NULL, NULL, &errors), CALC_OK);
        ck_assert_uint_gt(runs.count, 400);
        for (size_t i = 0; i < runs.count; i++) {
            calc_run_words_read(&words, &runs.row[i]);
            ck_assert_msg(words.unread[0] == '\0', "%s: %s", runs.row[i].id, words.unread);
        }
        calc_runs_free(&runs);
    }
}
