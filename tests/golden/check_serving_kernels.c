/* Rates of serving beside kernels of engines that they were not fitted to
   (scripts/make_serving_rates.py, measured/serving_kernels.csv). */
#include <string.h>

#include "frame.h"
#include "io/csv_table.h"
#include "io/text.h"
#include "model/cost/cost_kernel.h"
#include "model/operators/build.h"
#include "model/serve/inference_pass.h"
#include "unit/serving_case.h"

static calc_system machine;
static calc_app app;
static calc_exec exec;
static calc_shape shape;

enum {
    FAMILY,
    SYSTEM,
    FRAMEWORK,
    DTYPE,
    KV_DTYPE,
    ROWS,
    COLUMNS,
    INNER,
    BATCH,
    LENGTH,
    CACHED,
    HEADS,
    KV_HEADS,
    HEAD_SIZE,
    TOKENS,
    HIDDEN,
    EXPERT_WIDTH,
    CHOSEN,
    EXPERTS,
    TENSOR_PAR,
    EXPERT_PAR,
    BYTES,
    RANKS,
    LATENCY,
    CELLS
};

static double number(char *const *cell, int column)
{
    return strtod(cell[column], NULL);
}

static calc_format format_of(const char *text)
{
    return strcmp(text, "bfloat16") == 0 ? CALC_FORMAT_AUTO
           : strcmp(text, "nvfp4") == 0  ? CALC_FORMAT_FLOAT4
                                         : CALC_FORMAT_FLOAT8;
}

static void load_machine(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/systems/%s.json", CALC_DATA_DIR_SOURCE, name);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &machine, path, NULL), CALC_OK);
}

static double matrix_s(char *const *cell)
{
    calc_operator o;
    calc_recipe recipe = {.shape = &shape, .chip = &machine.chip, .strategy = &exec.strategy};
    exec.strategy.matrix_datatype = format_of(cell[DTYPE]);
    exec.strategy.scaling = CALC_SCALING_BLOCK; /* or of tokens: found for every input, too */
    shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    calc_build b = calc_build_start(&recipe, &o);
    calc_build_matrix(&b, "product", CALC_OPERATOR_MATRIX, 0, number(cell, ROWS),
                      number(cell, INNER), number(cell, COLUMNS), 1);
    calc_cost_context c = calc_cost_context_of(&machine, &exec, &shape, CALC_COMPAT_NONE);
    c.serving = &machine.chip.serving;
    return calc_cost_kernel_s(&c, &o, CALC_PASS_FW);
}

/* The operators of a block's pass whose names begin with one of those. */
static double named_s(const calc_inference_pass_work *work, calc_block_kind kind,
                      const char *const *name, size_t names)
{
    static calc_inference_pass_model model;
    calc_operator operators[CALC_MAX_OPERATORS];
    double sum_s = 0;
    calc_inference_pass_model_init(&model, &app, &machine, &exec);
    calc_shape s = calc_inference_pass_shape(&model, work);
    calc_cost_context c = calc_inference_pass_context(&model, &s);
    size_t count = calc_inference_pass_block(&model, &c, work, kind, operators);
    for (size_t i = 0; i < count * names; i++) {
        const calc_operator *o = &operators[i / names];
        if (strncmp(o->name, name[i % names], strlen(name[i % names])) == 0) {
            sum_s += calc_cost_kernel_s(&c, o, CALC_PASS_FW);
        }
    }
    return sum_s;
}

static double attention_s(char *const *cell)
{
    bool decodes = strcmp(cell[FAMILY], "decode") == 0;
    const char *const name = decodes ? "decode attention" : "flash attention";
    calc_inference_pass_work work = {.sequences = number(cell, BATCH), .queries = 1};
    work.context = number(cell, CACHED);
    if (!decodes) {
        work = (calc_inference_pass_work){.prompts = number(cell, BATCH)};
        work.chunk = number(cell, LENGTH);
    }
    app.attn_heads = (int64_t)number(cell, HEADS);
    app.kv_heads = (int64_t)number(cell, KV_HEADS);
    app.attn_size = (int64_t)number(cell, HEAD_SIZE);
    if (app.kv_heads == 0) { /* latent, DeepSeek-V3's */
        app.kv_heads = app.attn_heads;
        app.attn_size = app.qk_nope_size = app.v_size = 128;
        app.kv_lora_rank = 512;
        app.qk_rope_size = 64;
    }
    exec.inference.kv_datatype =
        strcmp(cell[KV_DTYPE], "fp8") == 0 ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    exec.inference.traits.narrow_prompts = strcmp(cell[FRAMEWORK], "trtllm") == 0;
    return named_s(&work, CALC_DENSE_BLOCK, &name, 1);
}

static double grouped_s(char *const *cell)
{
    static const char *const names[] = {"permute", "experts", "unpermute"};
    calc_inference_pass_work work = {
        .sequences = number(cell, TOKENS) / number(cell, EXPERT_PAR), .queries = 1, .context = 1};
    app.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    app.hidden = (int64_t)number(cell, HIDDEN);
    app.num_experts = (int64_t)number(cell, EXPERTS);
    app.experts_per_token = (int64_t)number(cell, CHOSEN);
    app.expert_feedforward = (int64_t)number(cell, EXPERT_WIDTH);
    bool unpacked = strcmp(cell[FAMILY], "unpacked") == 0;
    exec.strategy.scaling =
        strcmp(cell[DTYPE], "fp8_block") == 0 ? CALC_SCALING_BLOCK : CALC_SCALING_TENSOR;
    exec.strategy.matrix_datatype = unpacked ? CALC_FORMAT_AUTO : format_of(cell[DTYPE]);
    exec.strategy.weight_datatype = unpacked ? CALC_FORMAT_FLOAT4 : CALC_FORMAT_AUTO;
    exec.strategy.expert_par = (int64_t)number(cell, EXPERT_PAR);
    exec.strategy.data_par = exec.num_procs = exec.strategy.expert_par;
    return named_s(&work, CALC_MOE_BLOCK, names, 3);
}

/* On the first network. */
static double link_s(calc_collective_op op, double ranks, double bytes)
{
    calc_group group = {ranks, 0, 0};
    double model_s = calc_collective_s(&machine, op, &group, bytes);
    return calc_pass_link_s(&machine, op, &group, bytes, model_s);
}

/* Of messages that are small; the table has no bytes of exchanges. */
static double latency_s(char *const *cell)
{
    calc_collective_op op =
        strcmp(cell[FAMILY], "exchange") == 0 ? CALC_OP_ALL_TO_ALL : CALC_OP_ALL_GATHER;
    return link_s(op, number(cell, RANKS), number(cell, BYTES) + 1);
}

static double predicted_s(char *const *cell)
{
    const char *family = cell[FAMILY];
    app = small_app();
    exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    load_machine(cell[SYSTEM]);
    return strcmp(family, "matrix") == 0                                       ? matrix_s(cell)
           : strcmp(family, "grouped") == 0 || strcmp(family, "unpacked") == 0 ? grouped_s(cell)
           : strcmp(family, "decode") == 0                                     ? attention_s(cell)
           : strcmp(family, "prefill") == 0                                    ? attention_s(cell)
           : strcmp(family, "all_reduce") == 0
               ? link_s(CALC_OP_ALL_REDUCE, number(cell, RANKS), number(cell, BYTES))
               : latency_s(cell);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Rows of a family, and the error in their middle that is allowed: what it is, and a tenth more. */
typedef struct family {
    const char *name;
    size_t rows;
    double median;
} family;

CALC_TEST(the_error_in_the_middle_is_what_it_was)
{
    static const family all[] = {{"matrix", 75, 0.074},     {"grouped", 60, 0.176},
                                 {"decode", 75, 0.104},     {"prefill", 75, 0.165},
                                 {"all_reduce", 60, 0.235}, {"collective", 60, 0.173},
                                 {"exchange", 52, 0.149},   {"unpacked", 50, 0.113}};
    enum { FAMILIES = sizeof all / sizeof *all, MOST = 80 };
    static double error[FAMILIES][MOST];
    size_t count[FAMILIES] = {0};
    calc_text text;
    calc_csv_reader reader;
    char *cell[CELLS];
    int line;
    ck_assert_int_eq(
        calc_text_read(&text, CALC_DATA_DIR_SOURCE "/tests/measured/serving_kernels.csv", NULL),
        CALC_OK);
    calc_csv_read_start(&reader, text.data, text.length, "serving_kernels.csv");
    ck_assert_int_eq(calc_csv_read_row(&reader, cell, CELLS, &line, NULL), CELLS);
    ck_assert_str_eq(cell[LATENCY], "latency_us");
    while (calc_csv_read_row(&reader, cell, CELLS, &line, NULL) == CELLS) {
        size_t i = 0;
        while (strcmp(all[i].name, cell[FAMILY]) != 0) {
            i++;
        }
        error[i][count[i]++] = fabs(predicted_s(cell) / (1e-6 * number(cell, LATENCY)) - 1);
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        qsort(error[i], count[i], sizeof **error, by_size);
        double median = error[i][count[i] / 2];
        ck_assert_msg(count[i] == all[i].rows && median <= all[i].median,
                      "%s: %zu rows, error in the middle %.4f", all[i].name, count[i], median);
    }
    calc_text_free(&text);
}
