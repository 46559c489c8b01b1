/* Memory and time of calc_run() beside 43 measured steps of Megatron-LM on eight B200:
 * b200/README.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "classic.h"
#include "frame.h"

enum { MAX_ROWS = 64, TEXT_SIZE = 96, LINE_SIZE = 512, GPUS = 8 };

/* What may be off, as shares of what was measured. */
static const double memory_mean = 0.01, memory_worst = 0.025;
static const double time_mean = 0.04, time_worst = 0.12;

typedef struct row {
    char name[TEXT_SIZE], model[TEXT_SIZE];
    int64_t blocks, seq, tensor_par, pipeline_par, context_par, expert_par, microbatches;
    double alloc_bytes, step_s;
} row;

static row rows[MAX_ROWS];
static int row_count;
static calc_system machine;

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_rows(void)
{
    static const char head[] = "case,model,blocks,seq,tensor_par,pipeline_par,context_par,"
                               "expert_par,microbatches,alloc_gib,step_ms\n";
    char line[LINE_SIZE];
    FILE *file = fopen(CALC_TEST_DATA "/golden/b200/rows.csv", "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL || strcmp(line, head) != 0) {
        fprintf(stderr, "golden/b200/rows.csv: missing, or another header\n");
        exit(EXIT_FAILURE);
    }
    while (row_count < MAX_ROWS && fgets(line, sizeof line, file) != NULL) {
        row *r = &rows[row_count++];
        long long n[7];
        double gib, ms;
        int cells =
            sscanf(line, "%95[^,],%95[^,],%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf,%lf", r->name,
                   r->model, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &gib, &ms);
        if (cells != 11) {
            fprintf(stderr, "golden/b200/rows.csv: bad line: %s", line);
            exit(EXIT_FAILURE);
        }
        r->blocks = n[0];
        r->seq = n[1];
        r->tensor_par = n[2];
        r->pipeline_par = n[3];
        r->context_par = n[4];
        r->expert_par = n[5];
        r->microbatches = n[6];
        r->alloc_bytes = gib * 0x1p30;
        r->step_s = ms / 1000;
    }
    fclose(file);
}

static void read_all(void)
{
    read_rows();
    calc_errors errors = {0};
    if (calc_load(CALC_KIND_SYSTEM, &machine, CALC_DATA_DIR_SOURCE "/systems/b200_180g.json",
                  &errors) != CALC_OK) {
        fprintf(stderr, "systems/b200_180g.json: %s\n", errors.item[0].text);
        exit(EXIT_FAILURE);
    }
}

const calc_test_frame calc_tests = {.setup_once = read_all};

/* ---- The runs -------------------------------------------------------------------------------- */

static const struct model {
    const char *name;
    calc_app app;
} models[] = {
    {"llama3-70b",
     {.hidden = 8192, .feedforward = 28672, .attn_heads = 64, .kv_heads = 8, .vocab_size = 128256}},
    {"llama3-405b",
     {.hidden = 16384,
      .feedforward = 53248,
      .attn_heads = 128,
      .kv_heads = 16,
      .vocab_size = 128256}},
    {"deepseekv2",
     {.hidden = 5120,
      .feedforward = 12288,
      .attn_heads = 128,
      .vocab_size = 102400,
      .kv_lora_rank = 512,
      .num_experts = 160,
      .experts_per_token = 6,
      .expert_feedforward = 1536,
      .shared_feedforward = 3072}},
    {"deepseekv3",
     {.hidden = 7168,
      .feedforward = 18432,
      .attn_heads = 128,
      .vocab_size = 129280,
      .kv_lora_rank = 512,
      .num_experts = 256,
      .experts_per_token = 8,
      .expert_feedforward = 2048,
      .shared_feedforward = 2048}},
};

static calc_app app_of(const row *r)
{
    size_t i = 0;
    while (i < sizeof models / sizeof *models && strcmp(models[i].name, r->model) != 0) {
        i++;
    }
    ck_assert_uint_lt(i, sizeof models / sizeof *models);
    calc_app app = models[i].app;
    app.attn_size = 128;
    app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    app.causal = true;
    app.seq_size = r->seq;
    app.num_blocks = r->blocks;
    if (app.kv_lora_rank > 0) {
        app.q_lora_rank = 1536;
        app.qk_nope_size = 128;
        app.qk_rope_size = 64;
        app.v_size = 128;
        app.dense_blocks = 1;
    }
    return app;
}

static calc_exec exec_of(const row *r)
{
    int64_t replica = r->tensor_par * r->pipeline_par * r->context_par;
    int64_t data_par = GPUS / replica;
    return (calc_exec){
        CLASSIC_EXEC,
        .num_procs = GPUS,
        .strategy.tensor_par = r->tensor_par,
        .pipeline_par = r->pipeline_par,
        .strategy.data_par = data_par,
        .strategy.context_par = r->context_par,
        .strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES,
        .strategy.expert_par = r->expert_par,
        .batch_size = r->microbatches * data_par,
        .microbatch_size = 1,
        .strategy.datatype = CALC_DATATYPE_BFLOAT16,
        .strategy.fused_activation = true,
        .pipeline_interleaving = 1,
        .strategy.optimizer_sharding = data_par * r->context_par > 1,
        .strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG,
        .strategy.seq_par_ag_redo = true,
        .training = true,
        .strategy.flash_attention = true,
        .strategy.fused_cross_entropy = true,
        .strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON,
        .strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD,
    };
}

static calc_stats stats_of(const row *r)
{
    calc_app app = app_of(r);
    calc_exec exec = exec_of(r);
    calc_errors errors = {0};
    calc_stats stats;
    ck_assert_msg(calc_check(&app, &machine, &exec, &errors) == CALC_OK, "%s: %s", r->name,
                  errors.item[0].text);
    calc_verdict verdict = calc_run(&app, &machine, &exec, CALC_COMPAT_NONE, &stats);
    ck_assert_msg(verdict == CALC_VERDICT_OK, "%s: %s", r->name, calc_verdict_text(verdict));
    return stats;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Shares by which predictions are off. */
typedef struct errors_of {
    double sum, worst;
    int count;
    const char *worst_name;
} errors_of;

static void add_error(errors_of *e, const char *name, double error)
{
    e->sum += fabs(error);
    e->count++;
    if (fabs(error) > fabs(e->worst)) {
        e->worst = error;
        e->worst_name = name;
    }
}

static void assert_within(const errors_of *e, const char *what, double mean, double worst)
{
    double found = e->sum / e->count;
    ck_assert_msg(found <= mean && fabs(e->worst) <= worst,
                  "%s: mean %.2f %%, worst %+.2f %% (%s), %d rows", what, 100 * found,
                  100 * e->worst, e->worst_name, e->count);
}

/* Rows that differ in micro-batches only share one measurement: their names differ behind _mbc. */
static bool seen_before(int i)
{
    size_t length = (size_t)(strstr(rows[i].name, "_mbc") - rows[i].name);
    for (int j = 0; j < i; j++) {
        if (strncmp(rows[j].name, rows[i].name, length + 4) == 0) {
            return true;
        }
    }
    return false;
}

CALC_TEST(memory_is_what_was_allocated)
{
    errors_of e = {0};
    for (int i = 0; i < row_count; i++) {
        calc_stats s = stats_of(&rows[i]);
        if (!seen_before(i)) {
            add_error(&e, rows[i].name, s.mem_allocated / rows[i].alloc_bytes - 1);
        }
    }
    ck_assert_int_eq(e.count, 19);
    assert_within(&e, "memory", memory_mean, memory_worst);
}

/* Both stages of the layouts with two, as their ranks logged them. Models and layouts are those of
   the rows; what is off in mixtures of experts is the same on either stage (0.3 GiB). */
CALC_TEST(memory_of_each_stage_is_what_was_allocated)
{
    static const struct stage_peaks {
        const char *name;
        double gib[2], off;
    } peaks[] = {
        {"llama3_70b_l12_tp1_pp2_dp4_mbc4_cef", {66.552, 62.968}, 0.0025},
        {"llama3_405b_l4_tp1_pp2_dp4_mbc4_cef", {86.610, 87.083}, 0.0025},
        {"deepseekv2_tp1_ep4_pp2_dp4_l4_mbc4_cef", {31.585, 44.703}, 0.0125},
        {"deepseekv3_l4_tp1_ep4_pp2_dp4_mbc4_cef", {71.239, 114.002}, 0.005},
    };
    for (size_t k = 0; k < sizeof peaks / sizeof *peaks; k++) {
        int i = 0;
        while (i < row_count && strcmp(rows[i].name, peaks[k].name) != 0) {
            i++;
        }
        ck_assert_int_lt(i, row_count);
        calc_app app = app_of(&rows[i]);
        calc_exec exec = exec_of(&rows[i]);
        calc_stage_stats stage[2];
        ck_assert_uint_eq(calc_each_stage(&app, &machine, &exec, CALC_COMPAT_NONE, stage, 2), 2);
        for (int s = 0; s < 2; s++) {
            double bytes = stage[s].mem_tier1 - stage[s].mem_overhead;
            double off = bytes / (peaks[k].gib[s] * 0x1p30) - 1;
            ck_assert_msg(fabs(off) <= peaks[k].off, "%s, stage %d: %+.2f %%", peaks[k].name, s,
                          100 * off);
        }
    }
}

/* The machine's file was fitted to these runs and others: one factor stands for its clock. */
CALC_TEST(time_is_what_was_measured_but_for_one_factor)
{
    double log_sum = 0;
    double predicted_s[MAX_ROWS];
    for (int i = 0; i < row_count; i++) {
        predicted_s[i] = stats_of(&rows[i]).total_time;
        log_sum += log(rows[i].step_s / predicted_s[i]);
    }
    double factor = exp(log_sum / row_count);
    errors_of e = {0};
    for (int i = 0; i < row_count; i++) {
        add_error(&e, rows[i].name, factor * predicted_s[i] / rows[i].step_s - 1);
    }
    ck_assert_int_eq(e.count, 43);
    ck_assert_double_eq_tol(factor, 1, 0.1);
    assert_within(&e, "time", time_mean, time_worst);
}
