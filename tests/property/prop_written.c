/* What an export writes passes the framework's own checks, or nothing is written and there is a
 * reason: on every shipped layout and 1,000 random ones. The checks (written_*.c) see the text
 * only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/export.h"
#include "formats/write.h"
#include "frame.h"
#include "io/text.h"
#include "random_modern.h"
#include "shipped.h"
#include "unit/scratch.h"
#include "written.h"

const calc_test_frame calc_tests = {.timeout_s = 300};

enum { FRAMEWORKS = 16, LAYOUTS = 1000 };

static size_t written_count[FRAMEWORKS], refused_count[FRAMEWORKS];
static written w;

static void count_reason(void *context, const char *reason)
{
    ck_assert(reason[0]);
    ++*(size_t *)context;
}

static void add_number(const char *key, int64_t number)
{
    ck_assert_int_lt(w.count, WRITTEN_MAX);
    snprintf(w.key[w.count], WRITTEN_TEXT, "%s", key);
    snprintf(w.value[w.count++], WRITTEN_TEXT, "%lld", (long long)number);
}

/* The checks of a framework. What its launcher and its model say is added to the text. */
static void check_text(const calc_framework *f, const calc_random_layout *l)
{
    int64_t world = l->exec.num_procs;
    if (f == &calc_framework_megatron) {
        written_must_megatron(&w);
    } else if (f == &calc_framework_mindspeed) {
        written_must_mindspeed(&w);
    } else if (f == &calc_framework_nemo || f == &calc_framework_bridge) {
        written_must_core(&w);
    } else if (f == &calc_framework_torchtitan) {
        add_number("world", world);
        add_number("layers", l->app.num_blocks);
        written_must_torchtitan(&w);
    } else if (f == &calc_framework_deepspeed) {
        written_must_deepspeed(&w, world);
    } else if (f == &calc_framework_mindformers) {
        written_must_mindformers(&w, world);
    } else if (f == &calc_framework_paddle) {
        written_must_paddle(&w, world);
    } else if (f == &calc_framework_vllm) {
        written_must_vllm(&w, world);
    } else if (f == &calc_framework_sglang) {
        written_must_sglang(&w, world);
    } else {
        ck_assert_ptr_eq(f, &calc_framework_tensorrt_llm);
        written_must_tensorrt_llm(&w, world);
    }
}

static void read_written(const calc_framework *f, const calc_random_layout *l, const char *name)
{
    calc_settings settings = {0};
    calc_text text = {0};
    calc_output *out;
    ck_assert_int_eq(calc_export(f, &l->app, &l->exec, 8, &settings, NULL), CALC_OK);
    ck_assert_int_eq(calc_output_open(&out, "file", NULL), CALC_OK);
    calc_settings_write(out, f, &settings);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(calc_text_read(&text, "file", NULL), CALC_OK);
    memset(&w, 0, sizeof w);
    w.framework = f->name;
    w.layout = name;
    (f->syntax == CALC_SYNTAX_SHELL  ? written_shell
     : f->syntax == CALC_SYNTAX_TOML ? written_tables
                                     : written_nested)(&w, text.data);
    ck_assert_uint_eq((size_t)w.count, settings.count);
    calc_text_free(&text);
    calc_settings_free(&settings);
}

static void try_all(const char *name, const calc_random_layout *l)
{
    for (size_t k = 0; calc_framework_list[k]; k++) {
        const calc_framework *f = calc_framework_list[k];
        size_t told = 0, reasons;
        ck_assert_int_eq(calc_export_refused(f, &l->app, &l->exec, count_reason, &told, &reasons),
                         CALC_OK);
        ck_assert_uint_eq(reasons, told);
        if (reasons > 0) {
            refused_count[k]++;
            continue;
        }
        written_count[k]++;
        read_written(f, l, name);
        check_text(f, l);
    }
}

static void start(char *folder, size_t size)
{
    memset(written_count, 0, sizeof written_count);
    memset(refused_count, 0, sizeof refused_count);
    scratch_enter(folder, size);
}

/* Each framework must have had something to write and something to refuse. */
static void end(char *folder, size_t least)
{
    scratch_leave(folder);
    for (size_t k = 0; calc_framework_list[k]; k++) {
        ck_assert_msg(written_count[k] >= least && refused_count[k] >= least,
                      "%s: %zu written, %zu refused", calc_framework_list[k]->name,
                      written_count[k], refused_count[k]);
    }
}

/* The same with all of a replica sharded, which some frameworks always do. */
static void try_sharded(const char *name, const calc_random_layout *l)
{
    calc_random_layout sharded = *l;
    sharded.exec.strategy.optimizer_sharding = true;
    sharded.exec.strategy.zero_stage = 3;
    if (calc_check(&sharded.app, &sharded.system, &sharded.exec, NULL) == CALC_OK) {
        try_all(name, &sharded);
    }
}

CALC_TEST(shipped_layouts_start_or_are_refused)
{
    char folder[256];
    start(folder, sizeof folder);
    calc_shipped_all(try_all);
    calc_shipped_all(try_sharded);
    end(folder, 1);
}

/* ---- Random layouts, of what is usual -------------------------------------------------------- */

#define ONE_OF(rng, ...)                                                                           \
    ((const int64_t[]){__VA_ARGS__}[calc_rng_below(                                                \
        rng, (uint32_t)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)))])

static bool once_in(calc_rng *rng, uint32_t n)
{
    return calc_rng_below(rng, n) == 0;
}

static calc_app random_model(calc_rng *rng)
{
    calc_app a = {.hidden = 4096,
                  .feedforward = 14336,
                  .seq_size = ONE_OF(rng, 4096, 8192, 8192, 8200),
                  .attn_heads = 32,
                  .attn_size = 128,
                  .kv_heads = ONE_OF(rng, 1, 8, 8, 32),
                  .num_blocks = ONE_OF(rng, 32, 32, 32, 30, 33),
                  .vocab_size = 128256,
                  .causal = true,
                  .structure_type =
                      once_in(rng, 4) ? CALC_STRUCTURE_TYPE_GPT : CALC_STRUCTURE_TYPE_LLAMA};
    if (once_in(rng, 3)) {
        a.num_experts = ONE_OF(rng, 8, 64);
        a.experts_per_token = ONE_OF(rng, 1, 2, 4);
        a.expert_feedforward = 2048;
        a.shared_feedforward = once_in(rng, 2) ? 2048 : 0;
    }
    a.moe_every = a.num_experts > 0 && once_in(rng, 8) ? 2 : 0;
    a.mtp_blocks = once_in(rng, 8) ? ONE_OF(rng, 1, 2) : 0;
    return a;
}

/* DeepSeek-V2-Lite: the smallest model with experts that all know by name. */
static void make_latent(calc_app *a)
{
    *a = (calc_app){.hidden = 2048,
                    .feedforward = 10944,
                    .seq_size = 4096,
                    .attn_heads = 16,
                    .attn_size = 128,
                    .kv_lora_rank = 512,
                    .qk_nope_size = 128,
                    .qk_rope_size = 64,
                    .v_size = 128,
                    .num_blocks = 27,
                    .vocab_size = 102400,
                    .num_experts = 64,
                    .experts_per_token = 6,
                    .expert_feedforward = 1408,
                    .shared_feedforward = 2816,
                    .dense_blocks = 1,
                    .causal = true,
                    .structure_type = CALC_STRUCTURE_TYPE_LLAMA};
}

static void random_sizes(calc_rng *rng, const calc_app *a, calc_exec *e)
{
    calc_strategy *s = &e->strategy;
    s->tensor_par = ONE_OF(rng, 1, 1, 2, 4, 8);
    e->pipeline_par = ONE_OF(rng, 1, 1, 2, 4, 8);
    s->data_par = ONE_OF(rng, 1, 2, 4, 8, 16);
    s->context_par = ONE_OF(rng, 0, 0, 0, 2, 4);
    int64_t context = s->context_par > 0 ? s->context_par : 1;
    e->num_procs = s->tensor_par * e->pipeline_par * s->data_par * context;
    e->microbatch_size = ONE_OF(rng, 1, 2);
    e->batch_size = e->microbatch_size * s->data_par * ONE_OF(rng, 1, 8, 12, 16, 32);
    e->pipeline_interleaving = e->pipeline_par > 1 ? ONE_OF(rng, 1, 1, 2, 4) : 1;
    s->expert_par = a->num_experts > 0 ? ONE_OF(rng, 0, 2, 4, 8) : 0;
    s->expert_tensor_par = a->num_experts > 0 ? ONE_OF(rng, 0, 0, 2) : 0;
    s->zero_stage = s->data_par * context > 1 ? ONE_OF(rng, 0, 1, 1, 2, 3, 3) : 0;
    s->optimizer_sharding = s->zero_stage > 0;
    s->fsdp_par = s->zero_stage > 0 && once_in(rng, 4) ? s->data_par : 0;
}

static void random_choices(calc_rng *rng, calc_exec *e)
{
    calc_strategy *s = &e->strategy;
    bool sequence = s->tensor_par > 1 && !once_in(rng, 4);
    s->datatype = once_in(rng, 6) ? CALC_DATATYPE_FLOAT16 : CALC_DATATYPE_BFLOAT16;
    s->tensor_par_comm_type =
        sequence ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    s->tensor_par_overlap = (calc_tensor_par_overlap)calc_rng_below(rng, 4);
    s->fused_activation = !once_in(rng, 4);
    s->flash_attention = s->context_par > 1 || !once_in(rng, 4);
    s->data_par_overlap = !once_in(rng, 3);
    s->param_gather_overlap = (calc_choice)calc_rng_below(rng, 3);
    s->pipeline_par_overlap = !once_in(rng, 3);
    s->context_par_type = (calc_context_par_type)calc_rng_below(rng, 4);
    s->context_par_inner = once_in(rng, 2) ? 2 : 0;
    s->activation_recompute = (calc_activation_recompute)ONE_OF(
        rng, CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_NONE,
        CALC_ACTIVATION_RECOMPUTE_FULL, CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY,
        CALC_ACTIVATION_RECOMPUTE_MODULES);
    s->recompute_modules =
        s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES ? ONE_OF(rng, 1, 2, 4, 8) : 0;
    s->dispatch_type = (calc_dispatch_type)calc_rng_below(rng, CALC_DISPATCH_TYPE_REPLICATED);
    s->expert_par_overlap = (calc_expert_par_overlap)calc_rng_below(rng, 3);
    s->capacity_factor = once_in(rng, 5) ? 1.25 : 0;
    s->optimizer_offload = once_in(rng, 8);
    s->cuda_graph = once_in(rng, 6);
    s->grad_datatype = once_in(rng, 3) ? CALC_FORMAT_BFLOAT16 : CALC_FORMAT_AUTO;
    s->matrix_datatype = once_in(rng, 6) ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    s->weight_datatype = once_in(rng, 8) ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    s->optimizer_moment_datatype = once_in(rng, 8) ? CALC_FORMAT_BFLOAT16 : CALC_FORMAT_AUTO;
    e->rank_order = (calc_rank_order)calc_rng_below(rng, 3);
    e->pipeline_schedule = once_in(rng, 5) ? (calc_pipeline_schedule)calc_rng_below(rng, 6)
                                           : CALC_PIPELINE_SCHEDULE_1F1B;
    e->pipeline_balance = once_in(rng, 5) ? (calc_pipeline_balance)calc_rng_below(rng, 3)
                                          : CALC_PIPELINE_BALANCE_BLOCKS;
    e->first_stage_blocks = once_in(rng, 8) ? ONE_OF(rng, 2, 4, 8) : 0;
    e->last_stage_blocks = once_in(rng, 8) ? ONE_OF(rng, 2, 4, 8) : 0;
}

/* What is rare is left out, so that more layouts are written. */
static void make_plain(calc_rng *rng, calc_exec *e)
{
    calc_strategy *s = &e->strategy;
    s->datatype = CALC_DATATYPE_BFLOAT16;
    s->grad_datatype = s->matrix_datatype = s->weight_datatype = CALC_FORMAT_AUTO;
    s->optimizer_moment_datatype = CALC_FORMAT_AUTO;
    s->optimizer_offload = false;
    s->cuda_graph = s->capacity_factor = 0;
    s->context_par_type = (calc_context_par_type)ONE_OF(rng, CALC_CONTEXT_PAR_TYPE_RING,
                                                        CALC_CONTEXT_PAR_TYPE_ULYSSES);
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    e->pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    e->first_stage_blocks = e->last_stage_blocks = 0;
    if (e->pipeline_interleaving == 1 && once_in(rng, 2)) {
        e->pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    }
    if (s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES) {
        s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
        s->recompute_modules = 0;
    }
    s->tensor_par_comm_type =
        s->tensor_par > 1 ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
}

static void random_serving(calc_rng *rng, const calc_app *a, calc_exec *e)
{
    calc_strategy *s = &e->strategy;
    e->training = false;
    s->zero_stage = 0;
    s->optimizer_sharding = s->optimizer_offload = false;
    s->fsdp_par = s->context_par = 0;
    s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s->recompute_modules = 0;
    e->pipeline_interleaving = 1;
    e->pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    e->pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    e->first_stage_blocks = e->last_stage_blocks = 0;
    s->data_par = once_in(rng, 2) ? 1 : s->data_par;
    e->batch_size = e->microbatch_size * s->data_par * 32;
    if (a->num_experts > 0 && once_in(rng, 2)) {
        s->expert_par = s->tensor_par * s->data_par;
        s->expert_tensor_par = 0;
    }
    e->num_procs = s->tensor_par * e->pipeline_par * s->data_par;
    e->inference =
        (calc_inference){.phase = (calc_inference_phase)(1 + calc_rng_below(rng, 4)),
                         .prompt_size = ONE_OF(rng, 100, 4000),
                         .generate_size = ONE_OF(rng, 2, 500),
                         .chunk_size = ONE_OF(rng, 0, 512, 2048),
                         .page_size = ONE_OF(rng, 0, 16, 64, 24),
                         .speculative_tokens = once_in(rng, 3) ? 2 : 0,
                         .kv_datatype = once_in(rng, 3) ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO};
}

static bool random_legal(calc_rng *rng, const calc_system *system, calc_random_layout *l)
{
    memset(&l->exec, 0, sizeof l->exec);
    l->app = random_model(rng);
    if (once_in(rng, 6)) {
        make_latent(&l->app);
    }
    l->exec.training = true;
    l->exec.strategy.context_par_net = l->exec.strategy.expert_par_net = -1;
    l->exec.strategy.expert_tensor_par_net = l->exec.strategy.expert_data_par_net = -1;
    random_sizes(rng, &l->app, &l->exec);
    random_choices(rng, &l->exec);
    if (once_in(rng, 2)) {
        make_plain(rng, &l->exec);
    }
    if (once_in(rng, 4)) {
        random_serving(rng, &l->app, &l->exec);
    }
    return calc_check(&l->app, system, &l->exec, NULL) == CALC_OK;
}

CALC_TEST(random_layouts_start_or_are_refused)
{
    char folder[256], name[32];
    calc_rng rng;
    calc_random_layout other, l = {0};
    start(folder, sizeof folder);
    calc_rng_init(&rng, 20, 25);
    /* A machine that has room for everything. */
    calc_random_modern_make(&rng, &other);
    for (int i = 0; i < LAYOUTS;) {
        if (random_legal(&rng, &other.system, &l)) {
            snprintf(name, sizeof name, "random layout %d", i++);
            try_all(name, &l);
        }
    }
    end(folder, 5);
}

/* Whatever modern fields a layout has. */
CALC_TEST(strange_layouts_start_or_are_refused)
{
    char folder[256], name[32];
    calc_rng rng;
    calc_random_layout l;
    start(folder, sizeof folder);
    calc_rng_init(&rng, 5, 5);
    for (int i = 0; i < LAYOUTS; i++) {
        calc_random_modern_make(&rng, &l);
        snprintf(name, sizeof name, "strange layout %d", i);
        try_all(name, &l);
    }
    scratch_leave(folder);
}
