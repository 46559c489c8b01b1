/* Kernels of linear mixers and modules of sparse and compressed attention beside measured ones of
   shapes that the constants do not depend on (measured/block_kernels.csv). */
#include <string.h>

#include "frame.h"
#include "io/csv_table.h"
#include "io/text.h"
#include "model/cost/cost_kernel.h"
#include "model/serve/inference_pass.h"
#include "unit/serving_case.h"

enum {
    FAMILY,
    SYSTEM,
    FRAMEWORK,
    MODEL, /* a mixer, or a model of golden/stacks */
    HEADS,
    KEY_HEADS,
    KEY_SIZE,
    VALUE_SIZE,
    CHUNK,
    BATCH,
    LENGTH,
    CACHED,
    KV_DTYPE,
    DTYPE,
    LATENCY,
    CELLS
};

static calc_system machine;
static calc_app app;
static calc_exec exec;

static double number(char *const *cell, int column)
{
    return strtod(cell[column], NULL);
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void load(calc_kind kind, void *document, const char *format, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, format, name);
    ck_assert_msg(calc_load(kind, document, path, NULL) == CALC_OK, "%s", path);
}

/* Kernels of a part, all or those of one name; the engines' modules end before the residual sum. */
static double part_s(const calc_inference_pass_work *work, const char *part, const char *name)
{
    static calc_inference_pass_model model;
    static calc_operator o[CALC_MAX_OPERATORS];
    double sum_s = 0;
    calc_inference_pass_model_init(&model, &app, &machine, &exec);
    calc_shape s = calc_inference_pass_shape(&model, work);
    calc_cost_context c = calc_inference_pass_context(&model, &s);
    for (int kind = CALC_DENSE_BLOCK; kind <= CALC_MOE_BLOCK && sum_s == 0; kind++) {
        size_t count = calc_inference_pass_block(&model, &c, work, (calc_block_kind)kind, o);
        for (size_t i = 0; i < count; i++) {
            bool own = o[i].part && is(o[i].part, part) && o[i].kind != CALC_OPERATOR_COLLECTIVE;
            if (own && (name ? is(o[i].name, name) : strstr(o[i].name, "residual") == NULL)) {
                sum_s += calc_cost_kernel_s(&c, &o[i], CALC_PASS_FW);
            }
        }
    }
    return sum_s;
}

static calc_part *part_of_type(calc_part_type type, bool indexed)
{
    for (int i = 0; i < app.stack.parts; i++) {
        calc_part *p = &app.stack.part[i];
        if (p->type == type && (p->index_topk > 0) == indexed &&
            (type != CALC_PART_TYPE_COMPRESSED || p->compress_ratio > 0)) {
            return p;
        }
    }
    ck_abort_msg("no such part");
}

static double linear_s(char *const *cell)
{
    static const struct {
        const char *mixer, *model;
        calc_part_type type;
    } all[] = {{"gated_delta", "qwen3-next-80b-a3b", CALC_PART_TYPE_GATED_DELTA},
               {"kimi_delta", "kimi-k3", CALC_PART_TYPE_KIMI_DELTA},
               {"mamba2", "nemotron-3-nano-30b-a3b", CALC_PART_TYPE_MAMBA2}};
    int i = 0;
    while (!is(all[i].mixer, cell[MODEL])) {
        i++;
    }
    load(CALC_KIND_APP, &app, CALC_TEST_DATA "/golden/stacks/%s.json", all[i].model);
    calc_part *p = part_of_type(all[i].type, false);
    p->linear_value_heads = (int64_t)number(cell, HEADS);
    p->linear_key_heads = (int64_t)number(cell, KEY_HEADS);
    p->linear_key_size = (int64_t)number(cell, KEY_SIZE);
    p->linear_value_size = (int64_t)number(cell, VALUE_SIZE);
    p->linear_chunk = (int64_t)number(cell, CHUNK);
    exec.inference.traits.fused_recurrence = is(cell[FRAMEWORK], "vllm");
    if (is(cell[FAMILY], "state")) {
        calc_inference_pass_work w = {.sequences = number(cell, BATCH), .queries = 1, .context = 1};
        return part_s(&w, p->name, "state update");
    }
    calc_inference_pass_work w = {.prompts = number(cell, BATCH), .chunk = number(cell, LENGTH)};
    return part_s(&w, p->name,
                  is(cell[FAMILY], "recurrence") ? "recurrence" : "causal convolution");
}

/* A rank's heads, as a model that has no others. */
static double sparse_s(char *const *cell)
{
    calc_inference_pass_work w = {.sequences = number(cell, BATCH), .queries = 1};
    bool whole = is(cell[FAMILY], "dsa");
    w.context = number(cell, CACHED) + 1;
    load(CALC_KIND_APP, &app, CALC_TEST_DATA "/golden/stacks/%s.json", cell[MODEL]);
    calc_part *p = part_of_type(whole ? CALC_PART_TYPE_ATTENTION : CALC_PART_TYPE_COMPRESSED,
                                !is(cell[FAMILY], "hca"));
    p->attn_heads = (int64_t)number(cell, HEADS);
    p->kv_heads = whole ? p->attn_heads : p->kv_heads;
    exec.inference.kv_datatype = is(cell[KV_DTYPE], "fp8") ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    if (is(cell[DTYPE], "fp8_block")) {
        exec.strategy.matrix_datatype = exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
        exec.strategy.scaling = CALC_SCALING_BLOCK;
    }
    return part_s(&w, p->name, NULL);
}

static double predicted_s(char *const *cell)
{
    exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    load(CALC_KIND_SYSTEM, &machine, CALC_DATA_DIR_SOURCE "/systems/%s.json", cell[SYSTEM]);
    bool sparse = is(cell[DTYPE], "fp8_block") || *cell[KV_DTYPE];
    return sparse ? sparse_s(cell) : linear_s(cell);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Kernels of a family, of a mixer or an engine: their number, and the error in their middle that is
 * allowed: what it is, and a tenth more. */
typedef struct family {
    const char *name, *of;
    size_t rows;
    double median;
} family;

CALC_TEST(the_error_in_the_middle_is_what_it_was)
{
    static const family all[] = {{"recurrence", "gated_delta", 96, 0.135},
                                 {"recurrence", "kimi_delta", 24, 0.285},
                                 {"recurrence", "mamba2", 12, 0.148},
                                 {"convolution", "gated_delta", 60, 0.101},
                                 {"convolution", "kimi_delta", 12, 0.105},
                                 {"state", "gated_delta", 60, 0.062},
                                 {"state", "kimi_delta", 24, 0.231},
                                 {"csa", "sglang", 24, 0.199},
                                 {"csa", "vllm", 24, 0.166},
                                 {"hca", "sglang", 24, 0.177},
                                 {"hca", "vllm", 24, 0.117},
                                 {"dsa", "sglang", 48, 0.165},
                                 {"dsa", "vllm", 48, 0.542}};
    enum { FAMILIES = sizeof all / sizeof *all, MOST = 100 };
    static double error[FAMILIES][MOST];
    size_t count[FAMILIES] = {0};
    calc_text text;
    calc_csv_reader reader;
    char *cell[CELLS];
    int line;
    ck_assert_int_eq(calc_text_read(&text, CALC_TEST_DATA "/measured/block_kernels.csv", NULL),
                     CALC_OK);
    calc_csv_read_start(&reader, text.data, text.length, "block_kernels.csv");
    ck_assert_int_eq(calc_csv_read_row(&reader, cell, CELLS, &line, NULL), CELLS);
    ck_assert_str_eq(cell[LATENCY], "latency_us");
    while (calc_csv_read_row(&reader, cell, CELLS, &line, NULL) == CELLS) {
        size_t i = 0;
        while (!is(all[i].name, cell[FAMILY]) ||
               (!is(all[i].of, cell[MODEL]) && !is(all[i].of, cell[FRAMEWORK]))) {
            i++;
        }
        error[i][count[i]++] = fabs(predicted_s(cell) / (1e-6 * number(cell, LATENCY)) - 1);
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        qsort(error[i], count[i], sizeof **error, by_size);
        double median = error[i][count[i] / 2];
        ck_assert_msg(count[i] == all[i].rows && median <= all[i].median,
                      "%s %s: %zu rows, error in the middle %.4f", all[i].name, all[i].of, count[i],
                      median);
    }
    calc_text_free(&text);
}

/* What a further sequence, or a further 1,000 tokens of 64 sequences, adds to a decoding step:
 * kernels of vLLM 0.24, the difference of two rows of their table. */
typedef struct slope {
    char *first[CELLS], *second[CELLS]; /* rows but for the latency */
    double each, slope_us;
} slope;

#define STATES(system, mixer, heads, keys, batch)                                                  \
    {                                                                                              \
        "state", system, "vllm", mixer, heads, keys, "128", "128", "64", batch, "1", "0", "", "",  \
            ""                                                                                     \
    }
#define INDEX(system, cached)                                                                      \
    {                                                                                              \
        "dsa", system, "vllm", "deepseek-v3.2", "16", "0", "0", "0", "0", "64", "1", cached,       \
            "fp8", "fp8_block", ""                                                                 \
    }

CALC_TEST(slopes_of_decoding_are_within_15_percent)
{
    static slope all[] = {{STATES("h100_sxm", "gated_delta", "32", "16", "256"),
                           STATES("h100_sxm", "gated_delta", "32", "16", "512"), 256, 1.426},
                          {STATES("h200", "gated_delta", "32", "16", "256"),
                           STATES("h200", "gated_delta", "32", "16", "512"), 256, 1.046},
                          {STATES("b200", "gated_delta", "32", "16", "256"),
                           STATES("b200", "gated_delta", "32", "16", "512"), 256, 0.658},
                          {STATES("b200", "kimi_delta", "96", "96", "256"),
                           STATES("b200", "kimi_delta", "96", "96", "512"), 256, 2.383},
                          {INDEX("h200", "16384"), INDEX("h200", "131072"), 114.688, 2.49},
                          {INDEX("b200", "16384"), INDEX("b200", "131072"), 114.688, 1.71}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double us = 1e6 * (predicted_s(all[i].second) - predicted_s(all[i].first)) / all[i].each;
        ck_assert_msg(fabs(us / all[i].slope_us - 1) < 0.15, "slope %zu: %.3f us, measured %.3f us",
                      i, us, all[i].slope_us);
    }
}
