/* What published runs mean to the model, compared with an independent reading of the same rules:
 * validate/inputs.csv, whose README names the columns. */
#include "io/csv_table.h"
#include "validate/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

enum { COLUMNS = 80 };

static calc_runs runs[2];

static void read_runs(void)
{
    static const char *const file[] = {CALC_TEST_DATA "/measured/runs.csv",
                                       CALC_TEST_DATA "/measured/runs_vtrain_single.csv.gz"};
    for (int i = 0; i < 2; i++) {
        calc_errors errors = {0};
        calc_status status = calc_runs_read(&runs[i], file[i], NULL, &errors);
        ck_assert_msg(status == CALC_OK, "%s: %s", file[i], errors.item[0].text);
    }
}

static void free_runs(void)
{
    calc_runs_free(&runs[0]);
    calc_runs_free(&runs[1]);
}

const calc_test_frame calc_tests = {
    .setup_once = read_runs, .teardown_once = free_runs, .in_one_process = true};

static double is(bool value)
{
    return value ? 1 : 0;
}

/* Vocabulary padded to a multiple of 128 times tensor parallelism. */
static double padded_words(const calc_run_map *m)
{
    double unit = 128 * (double)m->exec.strategy.tensor_par;
    return ceil((double)m->app.vocab_size / unit) * unit;
}

static double micro_batches(const calc_run_map *m)
{
    return (double)m->exec.batch_size /
           (double)(m->exec.strategy.data_par * m->exec.microbatch_size);
}

static double recomputed_share(const calc_run_map *m)
{
    if (m->exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP) {
        return 0.5;
    }
    if (m->exec.strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL) {
        return 0;
    }
    double blocks = (double)(m->exec.recompute_blocks * m->exec.pipeline_par);
    return blocks > 0 ? blocks / (double)m->app.num_blocks : 1;
}

/* Share of the square of scores that causal attention with a window computes. */
static double square_share(const calc_run_map *m)
{
    double seq = (double)m->app.seq_size;
    double window = (double)m->app.window_size;
    if (window <= 0 || window >= seq) {
        return 0.5;
    }
    double local = window / seq * (1 - window / (2 * seq));
    return m->app.global_every > 0 ? (0.5 + local) / 2 : local;
}

static bool recomputes(const calc_run_map *m, int module)
{
    return m->exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES &&
           (m->exec.strategy.recompute_modules >> module & 1);
}

/* X(column, what we make of it) */
#define CELLS(X)                                                                                   \
    X(h, (double)m->app.hidden)                                                                    \
    X(f, (double)m->app.feedforward)                                                               \
    X(a, (double)m->app.attn_heads)                                                                \
    X(g, (double)m->app.kv_heads)                                                                  \
    X(d, (double)m->app.attn_size)                                                                 \
    X(V, padded_words(m))                                                                          \
    X(S, (double)m->app.seq_size)                                                                  \
    X(L, (double)m->app.num_blocks)                                                                \
    X(E, (double)m->app.num_experts)                                                               \
    X(k, (double)m->app.experts_per_token)                                                         \
    X(fs, (double)m->app.shared_feedforward)                                                       \
    X(ql, (double)m->app.q_lora_rank)                                                              \
    X(kl, (double)m->app.kv_lora_rank)                                                             \
    X(dr, (double)m->app.qk_rope_size)                                                             \
    X(gated, is(m->app.ffn_type == CALC_FFN_TYPE_SWIGLU))                                          \
    X(n, (double)m->exec.num_procs)                                                                \
    X(t, (double)m->exec.strategy.tensor_par)                                                      \
    X(p, (double)m->exec.pipeline_par)                                                             \
    X(D, (double)m->exec.strategy.data_par)                                                        \
    X(c, (double)m->exec.strategy.context_par)                                                     \
    X(ep, (double)m->exec.strategy.expert_par)                                                     \
    X(etp, (double)m->exec.strategy.expert_tensor_par)                                             \
    X(mbs, (double)m->exec.microbatch_size)                                                        \
    X(m, micro_batches(m))                                                                         \
    X(sp, is(m->exec.strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG))            \
    X(full, recomputed_share(m))                                                                   \
    X(sel, is(recomputes(m, CALC_RECOMPUTE_MODULES_CORE_ATTN)))                                    \
    X(mlaup, is(recomputes(m, CALC_RECOMPUTE_MODULES_MLA_UP_PROJ)))                                \
    X(flash, is(m->exec.strategy.flash_attention))                                                 \
    X(mx, is(m->exec.strategy.scaling == CALC_SCALING_BLOCK))                                      \
    X(eager, is(m->exec.strategy.eager))                                                           \
    X(fa2, is(m->exec.strategy.attention_kernel == CALC_ATTENTION_KERNEL_GENERIC))                 \
    X(oldce, is(!m->exec.strategy.fused_cross_entropy))                                            \
    X(drop, is(m->app.dropout == CALC_CHOICE_TRUE))                                                \
    X(ub, is(m->exec.strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_FUSED))                \
    X(pov2p, is(m->exec.strategy.pipeline_par_overlap))                                            \
    X(gb, m->exec.strategy.grad_reduce_datatype == CALC_FORMAT_FLOAT32 ? 4 : 2)                    \
    X(cg, m->exec.strategy.cuda_graph)                                                             \
    X(epov, is(m->exec.strategy.expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH))              \
    X(deepep, is(m->exec.strategy.dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED))               \
    X(a2acp, is(m->exec.strategy.context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES))               \
    X(ends, is(m->exec.pipeline_balance == CALC_PIPELINE_BALANCE_ENDS))                            \
    X(uact, is(m->exec.strategy.unfused_experts))                                                  \
    X(tied, is(m->app.tied_embeddings == CALC_CHOICE_TRUE))                                        \
    X(rho, square_share(m))

/* Cells that say something only in some rows: X(column, when it does, what we make of it) */
#define CONDITIONAL_CELLS(X)                                                                       \
    X(v, m->exec.pipeline_par > 1, (double)m->exec.pipeline_interleaving)                          \
    X(dn, m->app.kv_lora_rank > 0, (double)m->app.qk_nope_size)                                    \
    X(dv, m->app.kv_lora_rank > 0, (double)m->app.v_size)                                          \
    X(nd, m->app.num_experts > 0, (double)m->app.dense_blocks)                                     \
    X(fe, m->app.num_experts > 0, (double)m->app.expert_feedforward)                               \
    X(gov, m->exec.strategy.data_par > 1, is(m->exec.strategy.data_par_overlap))                   \
    X(pov, true, is(m->exec.strategy.param_gather_overlap == CALC_CHOICE_TRUE))                    \
    X(asyn,                                                                                        \
      m->exec.strategy.tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_FUSED &&                      \
          m->exec.strategy.tensor_par > 1,                                                         \
      is(m->exec.strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_ASYNC))                    \
    X(fsdp, m->exec.strategy.data_par * m->exec.strategy.context_par > 1,                          \
      m->exec.strategy.zero_stage >= 2 ? (double)m->exec.strategy.zero_stage : 0)                  \
    X(dopt, m->exec.strategy.data_par * m->exec.strategy.context_par > 1,                          \
      is(m->exec.strategy.zero_stage > 0))                                                         \
    X(bal, m->exec.first_stage_blocks == 0,                                                        \
      is(m->exec.pipeline_balance == CALC_PIPELINE_BALANCE_FREE))                                  \
    X(fp, true,                                                                                    \
      m->exec.strategy.matrix_datatype == CALC_FORMAT_FLOAT4   ? 2                                 \
      : m->exec.strategy.matrix_datatype == CALC_FORMAT_FLOAT8 ? 1                                 \
                                                               : 0)

/* Our value of a column; NaN if the row has none to compare. */
static double ours(const calc_run_map *m, const char *column)
{
#define CELL(name, value)                                                                          \
    if (strcmp(column, #name) == 0) {                                                              \
        return value;                                                                              \
    }
#define CONDITIONAL_CELL(name, when, value)                                                        \
    if (strcmp(column, #name) == 0) {                                                              \
        return (when) ? (value) : (double)NAN;                                                     \
    }
    CELLS(CELL)
    CONDITIONAL_CELLS(CONDITIONAL_CELL)
    return (double)NAN;
}

static const calc_runs_row *row_of(const char *id)
{
    for (int file = 0; file < 2; file++) {
        for (size_t i = 0; i < runs[file].count; i++) {
            if (strcmp(runs[file].row[i].id, id) == 0) {
                return &runs[file].row[i];
            }
        }
    }
    ck_abort_msg("no run %s", id);
    return NULL;
}

/* @return how many cells of a row differ; each is printed */
static int compare_row(char *const *head, char *const *cell, int count)
{
    calc_run_map map;
    calc_run_map_row(&map, row_of(cell[0]));
    int wrong = 0;
    if ((map.reason == NULL) != (cell[2][0] == '1')) {
        printf("%s: %s\n", cell[0], map.reason ? map.reason : "is predicted");
        return 1;
    }
    if (map.reason) {
        return 0;
    }
    wrong += map.search != (cell[3][0] == '1');
    for (int i = 4; i < count; i++) {
        double expected = strtod(cell[i], NULL);
        double found =
            strcmp(head[i], "y") == 0 ? map.measured[CALC_QUANTITY_STEP_TIME] : ours(&map, head[i]);
        bool text = strcmp(head[i], "mach") == 0;
        bool same = text ? strcmp(map.row->sys, cell[i]) == 0
                         : isnan(found) || fabs(found - expected) <= 1e-9 * fabs(expected);
        if (!same) {
            printf("%s: %s is %.10g, not %s\n", cell[0], head[i], found, cell[i]);
            wrong++;
        }
    }
    return wrong;
}

CALC_TEST(every_run_means_what_the_rules_say)
{
    static char *head[COLUMNS], *cell[COLUMNS];
    calc_errors errors = {0};
    calc_text text = {0};
    calc_csv_reader reader;
    int line, rows = 0, wrong = 0;
    ck_assert_int_eq(calc_text_read(&text, CALC_TEST_DATA "/golden/validate/inputs.csv", &errors),
                     CALC_OK);
    calc_csv_read_start(&reader, text.data, text.length, "inputs.csv");
    int columns = calc_csv_read_row(&reader, head, COLUMNS, &line, &errors);
    while (calc_csv_read_row(&reader, cell, COLUMNS, &line, &errors) == columns) {
        wrong += compare_row(head, cell, columns);
        rows++;
    }
    calc_text_free(&text);
    ck_assert_int_eq(rows, 853);
    ck_assert_int_eq(wrong, 0);
}
