/* Galvatron's file of strategies: written, read, and as an execution. */
#include "galvatron/layout.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "galvatron/arguments.h"
#include "galvatron/posed.h"
#include "galvatron/profiles.h"
#include "galvatron/search.h"
#include "galvatron_search_case.h"
#include "io/text.h"
#include "small_case.h"
#include "spec/layer_list.h"

static calc_galvatron_layout layout;
static calc_notes notes;

static calc_status read_text(const char *text, const char *name, int64_t world, calc_errors *errors)
{
    *errors = (calc_errors){0};
    notes = (calc_notes){0};
    return calc_galvatron_layout_read(&layout, text, strlen(text), name, world, &notes, errors);
}

static calc_text written(void)
{
    calc_output *out;
    calc_text text = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_galvatron_layout_write(&layout, out);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    return text;
}

/* ---- Files that upstream wrote --------------------------------------------------------------- */

static const struct {
    const char *folder, *file, *runs;
} cases[] = {
    {"01_llama2-7b_1x8_36G_bsz16", "llama2-7b_1nodes_8gpus_per_node_36GB_bf16",
     "20 1-1-8f-c, 12 1-1-8f"},
    {"02_llama2-7b_1x8_24G_bsz64", "llama2-7b_1nodes_8gpus_per_node_24GB_bf16",
     "8 4-1-2-c, 5 4-2*-1-c, 3 4-2*-1, 3 4-2*-1-c, 5 4-2*-1, 1 4-2*-1-c, 7 4-2*-1"},
    {"04_llama2-7b_1x4_40G_bsz32", "llama2-7b_1nodes_4gpus_per_node_40GB_bf16",
     "15 2-2*-1-c, 1 2-2*-1, 13 2-2*-1-c, 3 2-2*-1"},
    {"06_fixture_seq8192_1x8_36G_bsz64_chunk32",
     "llama_search_1nodes_8gpus_per_node_36GB_bf16_bsz64", "14 1-4*-2f-c, 12 1-4*-2f, 2 1-4*-2"},
    {"10_fixture_static_gpipe_ddp_nosp_notp_1x8_40G",
     "llama_static_1nodes_8gpus_per_node_40GB_bf16_[tp_off]", "22 1-1-8f-c, 10 1-1-8f"},
    {"17_t5-3B_twolayertypes_1x8_12G_bsz64", "t5-3B_1nodes_8gpus_per_node_12GB_bf16_bsz64_[tp_off]",
     "13 1-1-8f-c, 1 1-1-8f, 32 1-1-8f-c, 2 1-1-8f"},
    {"20_llama2-7b_1x8_20G_bsz64_chunk8", "llama2-7b_1nodes_8gpus_per_node_20GB_bf16",
     "16 2-2*-2-c, 13 2-2*-2f-c, 1 2-2*-2-c, 2 2-2*-2f"},
};

static calc_text file_of(int i, char path[512])
{
    calc_text text = {0};
    calc_errors errors = {0};
    snprintf(path, 512, "%s/galvatron/%s/galvatron_config_%s.json", CALC_TEST_DATA, cases[i].folder,
             cases[i].file);
    ck_assert_int_eq(calc_text_read(&text, path, &errors), CALC_OK);
    return text;
}

/* Its bytes, but for the key that training reads. */
CALC_TEST_LOOP(files_are_upstreams_to_the_byte, 0, sizeof cases / sizeof *cases)
{
    char path[512], added[64];
    calc_errors errors;
    calc_text theirs = file_of(_i, path);
    ck_assert_int_eq(calc_galvatron_layout_is(theirs.data, theirs.length), CALC_OK);
    ck_assert_int_eq(read_text(theirs.data, path, 0, &errors), CALC_OK);
    calc_text ours = written();
    size_t ending = (size_t)snprintf(added, sizeof added, ",\n    \"vocab_sdp\": %d\n}",
                                     layout.ends.type == CALC_GALVATRON_ZERO3);
    ck_assert_uint_eq(ours.length, theirs.length - 2 + ending);
    ck_assert_str_eq(ours.data + ours.length - ending, added);
    ck_assert_mem_eq(ours.data, theirs.data, theirs.length - 2);
    calc_text_free(&ours);
    calc_text_free(&theirs);
}

CALC_TEST_LOOP(runs_are_what_upstream_printed, 0, sizeof cases / sizeof *cases)
{
    char path[512], the_list[512] = "", one[CALC_GALVATRON_STRATEGY_SIZE];
    calc_errors errors;
    calc_text text = file_of(_i, path);
    ck_assert_int_eq(read_text(text.data, path, 0, &errors), CALC_OK);
    for (int at = 0, run; at < layout.layers; at += run) {
        run = calc_galvatron_layout_run(&layout, at, layout.layers);
        snprintf(the_list + strlen(the_list), sizeof the_list - strlen(the_list), "%s%d %s",
                 at ? ", " : "", run, calc_galvatron_strategy_text(&layout.layer[at], one));
    }
    ck_assert_str_eq(the_list, cases[_i].runs);
    calc_text_free(&text);
}

CALC_TEST(names_are_upstreams)
{
    calc_galvatron_arguments defaults;
    calc_galvatron_arguments_start(&defaults);
    calc_galvatron_request r = defaults.request;
    char name[CALC_GALVATRON_NAME_SIZE];
    snprintf(r.model, sizeof r.model, "m");
    ck_assert_str_eq(calc_galvatron_layout_name(&r, name),
                     "galvatron_config_m_1nodes_8gpus_per_node_24GB_bf16.json");
    r.settle_bsz = 64;
    r.disable_dp = r.disable_tp = r.disable_pp = r.disable_fsdp = r.disable_ckpt = true;
    r.disable_sp = true;
    r.mixed_precision = CALC_GALVATRON_FP32;
    r.memory_constraint = 79.5;
    ck_assert_str_eq(calc_galvatron_layout_name(&r, name),
                     "galvatron_config_m_1nodes_8gpus_per_node_79.5GB_fp32_bsz64_"
                     "[dp_tp_pp_fsdp_ckpt_off].json");
}

/* ---- Files in words: unit/check_galvatron_layout.txt ------------------------------------------
 */

static void print_layout(FILE *out)
{
    static const char *const types[] = {"ddp", "zero2", "zero3"};
    char one[CALC_GALVATRON_STRATEGY_SIZE];
    fprintf(out, "%d GPUs, %d stages of", layout.world, layout.pp);
    for (int i = 0; i < layout.pp; i++) {
        fprintf(out, " %d", layout.division[i]);
    }
    fprintf(out, " layers, %jd samples in %jd, %s, %s\nlayers", (intmax_t)layout.gbsz,
            (intmax_t)layout.chunks,
            layout.pipeline_type == CALC_GALVATRON_GPIPE ? "gpipe" : "pipedream_flush",
            types[layout.default_dp_type]);
    for (int i = 0; i < layout.layers; i++) {
        fprintf(out, " %s", calc_galvatron_strategy_text(&layout.layer[i], one));
    }
    fprintf(out, ", ends %s; training wants a multiple of %jd\n",
            calc_galvatron_strategy_text(&layout.ends, one),
            (intmax_t)calc_galvatron_layout_multiple(&layout));
    for (int i = 0; i < notes.count; i++) {
        fprintf(out, "note: %s\n", notes.text[i]);
    }
}

/* -1: as the execution */
static void print_strategy(const char *name, const calc_layer_strategy *s, FILE *out)
{
    fprintf(out, "%s: tensor %d, context %d of type %d, zero %d, recompute %d\n", name,
            (int)s->tensor_par, (int)s->context_par, (int)s->context_par_type, (int)s->zero_stage,
            (int)s->recompute);
}

static void print_exec(FILE *out)
{
    static calc_exec e;
    char name[32];
    calc_errors errors = {0};
    if (calc_galvatron_layout_exec(&layout, &e, &errors) != CALC_OK) {
        fprintf(out, "no execution: %s\n", errors.item[0].text);
        return;
    }
    const calc_strategy *s = &e.strategy;
    fprintf(out, "execution: num_procs %jd, tensor %jd, pipeline %jd, data %jd%s, batch %jd of %jd",
            (intmax_t)e.num_procs, (intmax_t)s->tensor_par, (intmax_t)e.pipeline_par,
            (intmax_t)s->data_par, s->data_par_overlap ? " overlapped" : "", (intmax_t)e.batch_size,
            (intmax_t)e.microbatch_size);
    fprintf(out, ", schedule %d, datatype %d, rank order %d, stages", e.pipeline_schedule,
            s->datatype, e.rank_order);
    for (int i = 0; i < e.stages.count; i++) {
        fprintf(out, " %d", (int)e.stages.run[i].blocks);
    }
    fputs("\n", out);
    for (int i = 0; i < e.layers.count; i++) {
        snprintf(name, sizeof name, "%d blocks", (int)e.layers.run[i].blocks);
        print_strategy(name, &e.layers.run[i].strategy, out);
    }
    print_strategy("ends", &e.layers.ends, out);
}

/* The first line is the file's name, and the GPUs if they are given. */
static void answer(const char *said, FILE *out)
{
    char name[256], line[1200];
    int world = 0;
    const char *text = strchr(said, '\n') + 1;
    calc_errors errors = {0};
    notes = (calc_notes){0};
    ck_assert_int_ge(sscanf(said, "%255s %d", name, &world), 1);
    size_t length = strlen(text) - 1;
    if (calc_galvatron_layout_is(text, length) != CALC_OK) {
        fputs("not known by its keys\n", out);
    }
    if (calc_galvatron_layout_read(&layout, text, length, name, world, &notes, &errors) !=
        CALC_OK) {
        calc_error_print(&errors.item[0], line, sizeof line);
        fprintf(out, "%s\n", line);
        return;
    }
    print_layout(out);
    print_exec(out);
    calc_text ours = written();
    const char *context = strstr(ours.data, "    \"cp_sizes_enc");
    if (context) {
        fprintf(out, "written: %s\n", context);
    }
    calc_text_free(&ours);
}

const calc_test_frame calc_tests = {.cases = "unit/check_galvatron_layout.txt", .answer = answer};

/* ---- As an execution ------------------------------------------------------------------------- */

/* But for the type that strategies would have that none has. */
CALC_TEST_LOOP(executions_are_written_as_they_were_read, 0, sizeof cases / sizeof *cases)
{
    char path[512];
    calc_errors errors;
    calc_exec exec;
    calc_text text = file_of(_i, path);
    ck_assert_int_eq(read_text(text.data, path, 0, &errors), CALC_OK);
    calc_text first = written();
    ck_assert_int_eq(calc_galvatron_layout_exec(&layout, &exec, &errors), CALC_OK);
    const calc_app app = {.num_blocks = layout.layers};
    calc_galvatron_dp type = layout.default_dp_type;
    ck_assert_int_eq(calc_galvatron_layout_from(&layout, &app, &exec, &errors), CALC_OK);
    bool any = layout.ends.type != CALC_GALVATRON_ZERO3 && layout.ends.dp > 1;
    for (int i = 0; i < layout.layers; i++) {
        any = any || (layout.layer[i].type != CALC_GALVATRON_ZERO3 && layout.layer[i].dp > 1);
    }
    layout.default_dp_type = any ? layout.default_dp_type : type;
    calc_text second = written();
    ck_assert_str_eq(second.data, first.data);
    calc_text_free(&second);
    calc_text_free(&first);
    calc_text_free(&text);
}

static void cannot(const calc_exec *exec, const char *expected)
{
    const calc_app app = {.num_blocks = 8};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_galvatron_layout_from(&layout, &app, exec, &errors),
                     CALC_ERR_UNSUPPORTED);
    ck_assert_str_eq(errors.item[0].text, expected);
}

CALC_TEST(what_the_file_cannot_say_is_refused)
{
    const calc_exec good = small_exec(2, 2, 2);
    const calc_app app = {.num_blocks = 8};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_galvatron_layout_from(&layout, &app, &good, &errors), CALC_OK);
    ck_assert_int_eq(layout.chunks, 4);
    ck_assert_int_eq(layout.layer[7].dp, 2);
    calc_exec e = good;
    e.training = false;
    cannot(&e, "Galvatron's file cannot say that a model is served");
    e = good;
    e.pipeline_interleaving = 2;
    cannot(&e, "Galvatron's file cannot say that stages have several chunks");
    e = good;
    e.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_H1;
    cannot(&e, "Galvatron's file cannot say this pipeline_schedule: it has 1f1b and gpipe");
    e = good;
    e.recompute_blocks = 2;
    cannot(&e, "Galvatron's file cannot say recompute_blocks: list the layers that recompute");
    e = good;
    e.strategy.expert_par = 2;
    cannot(&e, "Galvatron's file cannot say expert parallelism");
    e = good;
    e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    cannot(&e, "Galvatron's file cannot say that parts of a layer are recomputed");
    e = good;
    e.strategy.context_par = 2;
    e.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    cannot(&e, "Galvatron's file cannot say tensor parallelism and Ulysses in one layer");
    e.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ALL_GATHER;
    cannot(&e, "Galvatron's file cannot say this context_par_type: it has ulysses and ring");
    e = good;
    e.layers = (calc_layer_list){.count = 2, .ends = calc_layer_as_exec};
    e.layers.run[0] = (calc_layer_run){4, calc_layer_as_exec};
    e.layers.run[1] = e.layers.run[0];
    e.layers.run[1].strategy.zero_stage = 2;
    cannot(&e, "Galvatron's file cannot say that some layers have ZeRO-2 and others shard nothing");
}

CALC_TEST(heads_are_the_models)
{
    calc_exec e = {.pipeline_par = 1};
    const struct {
        int64_t kv, latent;
        calc_attention_type type;
    } heads[] = {{0, 0, CALC_ATTENTION_TYPE_MULTIHEAD},
                 {1, 0, CALC_ATTENTION_TYPE_MULTIQUERY},
                 {8, 0, CALC_ATTENTION_TYPE_GROUPED_QUERY},
                 {0, 512, CALC_ATTENTION_TYPE_MULTI_LATENT}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const calc_app app = {.kv_heads = heads[i].kv, .kv_lora_rank = heads[i].latent};
        calc_galvatron_exec_attention(&app, &e);
        ck_assert_int_eq(e.strategy.attention_type, heads[i].type);
    }
}

/* Strategies and tasks, as many and in the order as upstream has them. */

static calc_galvatron_strategy the_list[4096];
static calc_galvatron_task task[4096];

static calc_galvatron_request request(void)
{
    return (calc_galvatron_request){.types = 1,
                                    .layers = {{4096, 32, 2048}},
                                    .default_dp_type = CALC_GALVATRON_ZERO2,
                                    .num_nodes = 1,
                                    .num_gpus_per_node = 8,
                                    .min_bsz = 16,
                                    .max_bsz = 16,
                                    .bsz_scale = 8,
                                    .settle_bsz = -1,
                                    .settle_chunk = -1,
                                    .disable_cp = true,
                                    .max_tp_deg = 8,
                                    .max_pp_deg = 8,
                                    .max_sp_deg = 8,
                                    .max_cp_deg = 8};
}

static int count(const calc_galvatron_request *r, bool ends)
{
    int sum = 0;
    for (int pp = 1; pp <= 8; pp *= 2) {
        sum += calc_galvatron_strategies(r, pp, ends, NULL);
    }
    return sum;
}

CALC_TEST(eight_gpus_have_fifty_and_twenty_five)
{
    calc_galvatron_request r = request();
    ck_assert_int_eq(count(&r, false), 50);
    ck_assert_int_eq(count(&r, true), 25);
    r.disable_ckpt = true;
    ck_assert_int_eq(count(&r, false), 25);
    r.disable_fsdp = true;
    ck_assert_int_eq(count(&r, true), 16);
    r.disable_embedding_lmhead_sp = true;
    ck_assert_int_eq(count(&r, true), 10);
    ck_assert_int_eq(count(&r, false), 16);
    r.disable_dp = true;
    ck_assert_int_eq(count(&r, true), 4); /* dp = 1: tp and pp fill the node */
    r.disable_tp = true;
    ck_assert_int_eq(count(&r, true), 1); /* eight stages */
}

/* Those of the whole space that do not have what is switched off, in the same order. */
CALC_TEST(a_switch_takes_away_what_it_names)
{
    enum { PP, TP, SP, CP, DP, CHECKPOINT, FSDP, ENDS_TP, ENDS_SP, SWITCHES };
    for (int off = 0; off < SWITCHES; off++) {
        for (int pp = 1; pp <= 4; pp *= 2) {
            for (int ends = 0; ends < 2; ends++) {
                calc_galvatron_request r = request();
                calc_galvatron_strategy left[256];
                r.disable_cp = false;
                int all = calc_galvatron_strategies(&r, pp, ends, the_list), kept = 0;
                for (int i = 0; i < all; i++) {
                    const calc_galvatron_strategy *s = &the_list[i];
                    const bool has[] = {s->pp > 1,
                                        s->tp > 1,
                                        s->sp > 1,
                                        s->cp > 1,
                                        s->dp > 1,
                                        s->checkpoint,
                                        s->type == CALC_GALVATRON_ZERO3,
                                        ends && s->tp > 1,
                                        ends && s->sp > 1};
                    the_list[kept] = *s;
                    kept += !has[off];
                }
                bool *const flag[] = {&r.disable_pp,
                                      &r.disable_tp,
                                      &r.disable_sp,
                                      &r.disable_cp,
                                      &r.disable_dp,
                                      &r.disable_ckpt,
                                      &r.disable_fsdp,
                                      &r.disable_embedding_lmhead_tp,
                                      &r.disable_embedding_lmhead_sp};
                *flag[off] = true;
                ck_assert_int_eq(calc_galvatron_strategies(&r, pp, ends, left), kept);
                for (int i = 0; i < kept; i++) {
                    char want[64], got[64];
                    galvatron_words(&the_list[i], want, sizeof want);
                    galvatron_words(&left[i], got, sizeof got);
                    ck_assert_str_eq(got, want);
                }
            }
        }
    }
}

CALC_TEST(they_come_in_upstream_order)
{
    calc_galvatron_request r = request();
    char text[64];
    static const char *const words[] = {"2-1-4",     "2-1-4-c",     "2-1-4f",     "2-1-4f-c",
                                        "2-2*-2-sp", "2-2*-2-c-sp", "2-2*-2f-sp", "2-2*-2f-c-sp",
                                        "2-4*-1-sp", "2-4*-1-c-sp", "2-2*-2",     "2-2*-2-c",
                                        "2-2*-2f",   "2-2*-2f-c",   "2-4*-1",     "2-4*-1-c"};
    int n = calc_galvatron_strategies(&r, 2, false, the_list);
    ck_assert_int_eq(n, 16);
    for (int i = 0; i < n; i++) {
        galvatron_words(&the_list[i], text, sizeof text);
        ck_assert_str_eq(text, words[i]);
    }
}

CALC_TEST(tasks_are_as_many_as_upstream_had)
{
    calc_galvatron_request r = request();
    int n = calc_galvatron_tasks(&r, task);
    ck_assert_int_eq(n, 74); /* case 01 */
    ck_assert_int_eq(task[0].chunks, 1);
    ck_assert_int_eq(task[0].pp, 1);
    ck_assert_int_eq(task[0].mode, CALC_GALVATRON_TP_ONLY);
    ck_assert_int_eq(task[0].buffer_tp, 1);
    r.settle_chunk = 5;
    ck_assert_int_eq(calc_galvatron_tasks(&r, NULL), 0); /* does not divide 16 */
    r.settle_chunk = 1;
    r.max_bsz = 31;
    ck_assert_int_eq(calc_galvatron_tasks(&r, task), 18); /* 16 and 24, one stage */
    ck_assert_int_eq(task[17].gbsz, 24);
}

CALC_TEST(a_task_allows_its_modes_degrees_and_batch)
{
    calc_galvatron_request r = request();
    calc_galvatron_task t = {16, 4, 1, CALC_GALVATRON_TP_ONLY, 4};
    calc_galvatron_strategy s = {.pp = 1, .tp = 4, .sp = 1, .cp = 1, .dp = 2};
    ck_assert(calc_galvatron_allows(&r, &t, &s));
    t.buffer_tp = 2;
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
    t.buffer_tp = 4;
    s = (calc_galvatron_strategy){.pp = 1, .tp = 1, .sp = 4, .cp = 1, .dp = 2};
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
    t.mode = CALC_GALVATRON_TP_WITH_SP;
    ck_assert(calc_galvatron_allows(&r, &t, &s));
    s.sp = 1;
    s.dp = 8; /* four samples */
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
    t.chunks = 2;
    ck_assert(calc_galvatron_allows(&r, &t, &s));
    t.mode = CALC_GALVATRON_SP_ONLY;
    s.tp = 2;
    s.dp = 4;
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
}

CALC_TEST(ranks_have_equal_micro_batches_but_in_compat)
{
    calc_galvatron_request r = {.num_nodes = 1, .num_gpus_per_node = 8, .max_tp_deg = 8};
    const calc_galvatron_task odd = {
        .gbsz = 12, .chunks = 1, .pp = 1, .mode = CALC_GALVATRON_TP_ONLY, .buffer_tp = 8};
    const calc_galvatron_strategy eight = {.pp = 1, .tp = 1, .sp = 1, .cp = 1, .dp = 8};
    const calc_galvatron_strategy four = {.pp = 1, .tp = 2, .sp = 1, .cp = 1, .dp = 4};
    ck_assert(!calc_galvatron_allows(&r, &odd, &eight));
    ck_assert(calc_galvatron_allows(&r, &odd, &four));
    r.compat = true;
    ck_assert(calc_galvatron_allows(&r, &odd, &eight));
    ck_assert(calc_galvatron_allows(&r, &odd, &four));
}

/* What PaddleNLP's port of Galvatron computes otherwise, and what it writes. */

static calc_galvatron_request paddle_request;
static calc_galvatron_profiles profiles;
static calc_galvatron_case c;

/* 10 ms a sample, 16 MB of activations, 100 MB of parameters; 0.01 ms/MB everywhere. */
static void start(int64_t chunks)
{
    calc_galvatron_arguments defaults;
    calc_galvatron_arguments_start(&defaults);
    paddle_request = defaults.request;
    paddle_request.dialect = CALC_GALVATRON_PADDLE;
    paddle_request.pipeline_type = CALC_GALVATRON_PIPEDREAM_FLUSH;
    paddle_request.types = 1;
    paddle_request.layers[0] = (calc_galvatron_layers){4096, 4, 2048};
    paddle_request.disable_sp = true;
    profiles = (calc_galvatron_profiles){.overlap = 1.25};
    profiles.layer[0].line.offset = 10;
    profiles.other.line.offset = 20;
    profiles.memory[0].parameter_mb = 100;
    for (int k = 0; k < 4; k++) {
        profiles.consecutive[k] = profiles.strided[k] = k ? 0.01 : 0;
        profiles.memory[0].activation_mb[k] = 64 >> k;
        profiles.p2p[k] = 0.01;
        for (int place = 0; place < CALC_GALVATRON_PLACES; place++) {
            profiles.other_memory[place].states_mb[k] = 900 >> k;
            profiles.other_memory[place].activation_mb[k] = 32 >> k;
        }
    }
    c = (calc_galvatron_case){&paddle_request, &profiles, 8 * chunks, chunks};
}

static calc_galvatron_strategy strategy(int pp, int tp, int dp, calc_galvatron_dp type)
{
    return (calc_galvatron_strategy){.pp = pp, .tp = tp, .sp = 1, .cp = 1, .dp = dp, .type = type};
}

CALC_TEST(states_are_of_two_byte_parameters)
{
    start(1);
    assert_near(calc_galvatron_paddle_states(&c), 7);
    const calc_galvatron_strategy whole = strategy(1, 1, 8, CALC_GALVATRON_DDP);
    assert_near(calc_galvatron_layer_states_mb(&c, &whole, 0), 700);
    start(2);
    assert_near(calc_galvatron_layer_states_mb(&c, &whole, 0), 900);
}

CALC_TEST(sharded_states_have_no_remainder)
{
    const double shares[][2] = {/* one micro-batch, several */
                                {1, 1},
                                {1.0 / 7 + 6.0 / 7 / 8, 1.0 / 3 + 2.0 / 3 / 8},
                                {1.0 / 8, 2.0 / 9 + 7.0 / 9 / 8}};
    for (int type = 0; type < 3; type++) {
        start(1);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 8), shares[type][0]);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 1), 1);
        start(4);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 8), shares[type][1]);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 1), 1);
    }
}

CALC_TEST(no_more_micro_batches_are_in_flight_than_there_are)
{
    start(2);
    assert_near(calc_galvatron_in_flight(&c, 8, 0), 2);
    assert_near(calc_galvatron_in_flight(&c, 8, 6), 2);
    assert_near(calc_galvatron_in_flight(&c, 8, 7), 1);
    paddle_request.dialect = CALC_GALVATRON_UPSTREAM;
    assert_near(calc_galvatron_in_flight(&c, 8, 0), 8);
}

CALC_TEST(tensor_parallelism_sends_four_all_reduces)
{
    start(1);
    calc_galvatron_strategy s = strategy(1, 4, 2, CALC_GALVATRON_DDP);
    double mb = calc_galvatron_message_mb(&paddle_request, 4, 0); /* 4 samples a rank */
    assert_near(mb, 64);
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 4 * 2 * 0.75 * 64 * 0.01);
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).tp_s, 0.001 * 4 * 2 * 0.75 * 64 * 0.01);
    s.checkpoint = true; /* not repeated */
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 4 * 2 * 0.75 * 64 * 0.01);
    paddle_request.disable_sp = false;
    profiles.all_gather[2].line.slope = 0.5;
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 6 * 32);
    s.checkpoint = false;
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 4 * 32);
}

/* 8 GPUs, tp 1: 10 ms forward, 20 back; 2 * 7/8 * 100 MB at 0.01 ms/MB are 1.75 ms. */
CALC_TEST(gradients_hide_behind_the_backward_pass_or_half_of_it)
{
    start(1);
    calc_galvatron_strategy s = strategy(1, 1, 8, CALC_GALVATRON_DDP);
    assert_near(calc_galvatron_paddle_hiding(&s), 1);
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).sync_s, 0.001 * (30 + 0.25 * 1.75));
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).nosync_s, 0.001 * 30);
    /* dp 2, tp 4: 4 samples of 10 / 4 ms; 100 / 4 MB * 2 * 1/2 take 0.25 ms. */
    s = strategy(1, 4, 2, CALC_GALVATRON_DDP);
    assert_near(calc_galvatron_paddle_hiding(&s), 0.5);
    double tp_ms = 4 * 2 * 0.75 * 64 * 0.01;
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).sync_s,
                0.001 * (10 + 20 + 0.25 * 0.25 + tp_ms));
    /* Messages beyond what may hide them: 100 times as slow, 25 ms beside 10 of 20. */
    profiles.strided[1] = 1;
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).sync_s,
                0.001 * (10 + 10 + (25 + 0.25 * 10) + tp_ms));
}

CALC_TEST(ends_are_sharded_and_nothing_else_is_held)
{
    start(2);
    const calc_galvatron_strategy s = strategy(1, 2, 4, CALC_GALVATRON_ZERO2);
    double share = 2.0 / 9 + 7.0 / 9 / 4;
    assert_near(calc_galvatron_ends_cost_of(&c, &s, 0).mb, 450 * share + 2 * 16);
    assert_near(calc_galvatron_buffer_mb(&c, 1, 2), 0);
    start(1);
    assert_near(calc_galvatron_ends_cost_of(&c, &s, 0).mb, 450 * 7.0 / 9 / 4 + 2 * 16);
    const calc_galvatron_strategy middle = strategy(4, 1, 2, CALC_GALVATRON_ZERO2);
    assert_near(calc_galvatron_ends_cost_of(&c, &middle, 1).mb, 0);
}

CALC_TEST(layers_have_any_stage_of_sharding)
{
    static calc_galvatron_strategy list[256];
    start(1);
    int of[3] = {0, 0, 0}, of_ends[3] = {0, 0, 0};
    int count = calc_galvatron_strategies(&paddle_request, 1, false, list);
    for (int i = 0; i < count; i++) {
        of[list[i].type] += list[i].dp > 1;
    }
    paddle_request.default_dp_type = CALC_GALVATRON_ZERO2;
    count = calc_galvatron_strategies(&paddle_request, 1, true, list);
    for (int i = 0; i < count; i++) {
        of_ends[list[i].type] += list[i].dp > 1;
    }
    /* tp 1, 2 and 4, plain and checkpointed; ends are not checkpointed. */
    ck_assert(of[CALC_GALVATRON_DDP] == 6 && of[CALC_GALVATRON_ZERO2] == 6 &&
              of[CALC_GALVATRON_ZERO3] == 6);
    ck_assert(of_ends[CALC_GALVATRON_DDP] == 0 && of_ends[CALC_GALVATRON_ZERO2] == 3 &&
              of_ends[CALC_GALVATRON_ZERO3] == 3);
}

CALC_TEST(more_than_20_gb_lose_30_percent_of_them)
{
    start(1);
    const double limits[][2] = {{20, 20480}, {24, 20480}, {40, 28672}, {80, 57344}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        paddle_request.memory_constraint = limits[i][0];
        assert_near(calc_galvatron_limits_of(&paddle_request).limit_mb, limits[i][1]);
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static calc_galvatron_layout layout_of(void)
{
    calc_galvatron_layout l = {.world = 8,
                               .pp = 2,
                               .gbsz = 64,
                               .chunks = 4,
                               .layers = 3,
                               .layer = {strategy(2, 2, 2, CALC_GALVATRON_ZERO2),
                                         strategy(2, 1, 4, CALC_GALVATRON_ZERO3),
                                         strategy(2, 1, 2, CALC_GALVATRON_DDP)},
                               .ends = strategy(2, 4, 1, CALC_GALVATRON_ZERO3),
                               .division = {1, 2}};
    l.layer[1].checkpoint = true;
    l.layer[2].sp = 2;
    return l;
}

static void writes(void (*write)(const calc_galvatron_layout *, calc_output *),
                   const calc_galvatron_layout *l, const char *expected)
{
    calc_output *out;
    calc_text text = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    write(l, out);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_str_eq(text.data, expected);
    calc_text_free(&text);
}

CALC_TEST(the_file_has_the_ports_keys)
{
    const calc_galvatron_layout l = layout_of();
    writes(calc_galvatron_paddle_write, &l,
           "{\n    \"pp_size\": 2,\n    \"vtp\": 4,\n    \"vsp_flag\": 0,\n    \"embed_sdp\": 1,\n"
           "    \"global_batch_size\": 64,\n    \"gradient_accumulation_steps\": 4,\n"
           "    \"dp_size_list\": \"2,4,2\",\n    \"sharding_stage_list\": \"2,3,0\",\n"
           "    \"tp_size_list\": \"2,1,2\",\n    \"usp_flag_list\": \"0,0,1\",\n"
           "    \"recompute_list\": \"0,1,0\",\n    \"pp_stage_idx_list\": \"0,1,1\"\n}");
}

CALC_TEST(the_trainer_is_told_of_the_first_layer)
{
    calc_galvatron_layout l = layout_of();
    writes(calc_galvatron_paddle_options, &l,
           "--sharding_parallel_degree 2\n--tensor_parallel_degree 2\n--pipeline_parallel_degree "
           "2\n--recompute true\n--gradient_accumulation_steps 4\n--per_device_train_batch_size "
           "8\n");
    ck_assert(!calc_galvatron_paddle_uniform(&l));
    l.layer[1] = l.layer[2] = l.layer[0];
    ck_assert(calc_galvatron_paddle_uniform(&l));
    writes(calc_galvatron_paddle_options, &l,
           "--sharding_parallel_degree 2\n--tensor_parallel_degree 2\n--pipeline_parallel_degree "
           "2\n--recompute false\n--gradient_accumulation_steps 4\n--per_device_train_batch_size "
           "8\n");
}
