/* Configurations of Hugging Face: those of published models, and unit/check_hf.txt. There "TYPE
 * KEYS" is a small model of a type with more keys, and the answer is what it is not as "llama " is:
 * fields, layers, remarks; or the error. "raw TEXT" is a whole text, in which SMALL stands
 * for the sizes of a small model; "beside TEXT" before it is a file beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "differences.h"
#include "formats/hf_model.h"
#include "formats/plan.h"
#include "formats/read.h"
#include "frame.h"
#include "hf_case.h"
#include "io/text.h"
#include "scratch.h"
#include "shipped_case.h"
#include "spec/field.h"

static void answer(const char *said, FILE *out);

const calc_test_frame calc_tests = {
    .timeout_s = 60, .cases = "unit/check_hf.txt", .answer = answer};

static bool is_read(const char *key)
{
    static const char *const keys[] = {
#define CALC_HF(name, how, field, keys) keys,
#include "formats/hf.fields.h"
#undef CALC_HF
    };
    size_t i = 0;
    while (i < sizeof keys / sizeof *keys && !strstr(keys[i], key)) {
        i++;
    }
    return i < sizeof keys / sizeof *keys;
}

static calc_app read_file(const char *name)
{
    char path[512];
    calc_text text = {0};
    calc_errors errors = {0};
    calc_app app;
    remarks all = {0};
    snprintf(path, sizeof path, CALC_TEST_DATA "/formats/hf/%s.json", name);
    ck_assert_int_eq(calc_text_read(&text, path, &errors), CALC_OK);
    ck_assert_int_eq(calc_hf_is_text(text.data, text.length), CALC_OK);
    ck_assert_msg(read_text(text.data, &app, &all, &errors) == CALC_OK, "%s: %s", name,
                  errors.item[0].text);
    ck_assert_msg(!strstr(all.text, "ignored"), "%s: %s", name, all.text);
    calc_text_free(&text);
    return app;
}

/* ---- Published models ------------------------------------------------------------------------ */

/* Files of tests/formats/hf with the parameters of the published weights, and of these the ones
 * that our models cannot have. Source: what the safetensors of the repository add up to, unless
 * said otherwise; GLM-4.5 with its block of multi-token prediction, whose tables are its own. */
static const struct {
    const char *file, *shipped; /* NULL: calc ships no such model */
    double parameters, beyond;  /* 0: not compared */
    bool mtp;
    double active; /* 0: not compared */
} published[] = {
    {"llama-2-7b", "llama2-7B", 6738415616, 0, false, 0},
    {"llama-3.1-8b", "llama3-8B", 8030261248, 0, false, 0},
    {"llama-3.1-405b", "llama3-405B", 405853388800, 0, false, 0},
    {"mistral-7b", "mistral-7B", 7241732096, 0, false, 0},
    {"mistral-nemo", NULL, 12247782400, 0, false, 0},
    {"mixtral-8x7b", "mixtral-8x7B", 46702792704, 0, false, 0},
    {"mixtral-8x22b", "mixtral-8x22B", 140620634112, 0, false, 0},
    {"qwen2.5-0.5b", "qwen2.5-0.5B", 494032768, 0, false, 0},
    {"qwen2.5-72b", "qwen2.5-72B", 72706203648, 0, false, 0},
    {"qwen1.5-moe-a2.7b", "qwen1.5-moe-14B-A2.7B", 14315784192, 0, false, 0},
    {"qwen3-0.6b", "qwen3-0.6B", 596049920, 0, false, 0},
    {"qwen3-32b", "qwen3-32B", 32762123264, 0, false, 0},
    {"qwen3-30b-a3b", "qwen3-30B-A3B", 30532122624, 0, false, 0},
    {"qwen3-235b-a22b", "qwen3-235B-A22B", 235093634560, 0, false, 0},
    {"qwen3-coder-480b", "qwen3-coder-480B-A35B", 480154875392, 0, false, 0},
    {"qwen3-vl-30b-a3b", "qwen3-30B-A3B", 30532122624, 0, false, 0}, /* its text model */
    {"deepseek-moe-16b", "deepseek-moe-16B", 16375728128, 0, false, 0},
    {"deepseek-v2", "deepseek-v2-236B", 235741434880, 0, false, 0},
    {"deepseek-v2-lite", "deepseek-v2-lite", 15706484224, 0, false, 0},
    {"deepseek-v3", "deepseek-v3-671B", 671026419200, 0, false, 0},
    {"kimi-k2", "kimi-k2-1T", 0, 0, false, 0},
    {"gemma-7b", NULL, 8537680896, 0, false, 0},
    {"gemma-2-9b", "gemma2-9B", 9241705984, 0, false, 0},
    {"gemma-3-1b", "gemma3-1B", 999885952, 0, false, 0},
    /* Text models with the 64 words of the whole that the shipped ones leave out. */
    {"gemma-3-4b", "gemma3-4B", 3880099328 + 64 * 2560, 0, false, 0},
    {"gemma-3-27b", "gemma3-27B", 27009002240 + 64 * 5376, 0, false, 0},
    {"glm-4-9b-chat", NULL, 9399951360, 0, false, 0},
    {"glm-4-9b-0414", "glm-4-9B", 9400279040, 0, false, 0},
    {"glm-4.5-air", "glm-4.5-air-106B-A12B", 110468824832, 2.0 * 151552 * 4096, true, 0},
    {"glm-4.5", "glm-4.5-355B-A32B", 358337791296, 2.0 * 151552 * 5120, true, 0},
    {"gpt-oss-20b", "gpt-oss-20B", 20914757184, 0, false, 0},
    {"gpt-oss-120b", "gpt-oss-120B", 116829156672, 0, false, 0},
    {"phi-2", "phi-2-2.7B", 2779683840, 51200 - 32 * 2 * 2560, false,
     0}, /* a bias of the head, one norm */
    {"phi-3-mini", "phi-3-mini-3.8B", 3821079552, 0, false, 0},
    {"opt-1.3b", "opt-1.3B", 1315758080, 2 * 2048, false, 0},   /* two positions */
    {"gpt-neox-20b", "gpt-neox-20B", 20554567680, 0, false, 0}, /* arXiv 2204.06745, section 2 */
    {"pythia-1b", "pythia-1B", 1011781632, 0, false, 0},        /* arXiv 2304.01373, table 1 */
    {"gpt2", "gpt2-124M", 124439808, 0, false, 0},
    {"gpt2-xl", "gpt2-xl-1.6B", 1557611200, 0, false, 0},
    {"starcoder", NULL, 15517456384, 0, false, 0},
    {"falcon-7b", "falcon-7B", 6921720704, -32 * 2 * 4544, false,
     0}, /* one norm; one vocabulary table */
    {"falcon-40b", "falcon-40B", 41303293952, 0, false, 0},
    {"bloom-560m", "bloom-560M", 559214592, 2 * 1024, false, 0}, /* a norm after the embedding */
    {"bloom", "bloom-176B", 176247271424, 2 * 14336, false, 0},
    /* Totals and active parameters from the equations of their papers, by a program of its own that
     * gives the published counts to the last number where there are any. */
    {"qwen3-next-80b-a3b", NULL, 79674391296, 0, false, 3874929408},
    {"qwen3.5-27b", NULL, 26895998464, 0, false, 26895998464},
    {"qwen3.5-35b-a3b", NULL, 34660610688, 0, false, 3454988928},
    {"qwen3.5-397b-a17b", NULL, 396346350336, 0, false, 17349040896},
    {"qwen3.6-35b-a3b", NULL, 34660610688, 0, false, 3454988928},
    {"nemotron-3-nano-30b-a3b", NULL, 31577940288, 0, false, 3580076352},
    {"nemotron-3-super-120b-a12b", NULL, 120668707840, 0, false, 12770237440},
    {"nemotron-3-ultra-550b-a55b", NULL, 549308993536, 0, false, 56058843136},
    {"nemotron-h-56b", NULL, 56324350464, 0, false, 56324350464},
    {"deepseek-v3.2", NULL, 671877944064, 0, false, 38403822336},
    {"glm-5", NULL, 743911218432, 0, false, 41784728832},
    {"kimi-k2.5", NULL, 1026408232448, 0, false, 32861500928},
    {"deepseek-v4-flash", NULL, 284332240471, 0, false, 13799632471},
    {"kimi-k3", NULL, 2779484476000, 0, false, 105364017760},
    {"minimax-m2.5", NULL, 228689764864, 0, false, 11030553088},
    {"minimax-m1", NULL, 456089655296, 0, false, 48403306496},
    /* Keys and values of layers that read those of earlier ones: in its file, never used. */
    {"gemma-3n-e4b", NULL, 6866696688, 15 * (2 * 2048 * 512 + 256), false, 6866696688},
    {"gemma-4-26b-a4b", NULL, 25233141760, 0, false, 3822530560},
    {"llama-4-maverick-17b-128e-instruct", NULL, 400711848960, 0, false, 17184691200},
    {"longcat-flash", NULL, 560664980480, 0, false, 27954818048},
    {"jamba-1.5-mini", NULL, 51570323328, 0, false, 12110311296},
    {"step-3.7-flash-aic-config", NULL, 195844508736, 0, false, 10875702336},
    {"smollm3-3b", NULL, 3075098624, 0, false, 3075098624},
    {"granite-3.3-8b", NULL, 8170864640, 0, false, 8170864640},
    {"olmo3-7b", NULL, 7298011136, 0, false, 7298011136},
    {"mimo-7b-base", NULL, 7622619136, 0, false, 7622619136},
    {"phi-4-mini", NULL, 3836021760, 0, false, 3836021760},
    {"ernie-4.5-21b-a3b", NULL, 21825437888, 0, false, 3352150208},
    {"ling-mini-2", NULL, 16255643392, 0, false, 1432973056},
    {"glm-4.6", NULL, 352797829024, 0, false, 33632266144},
    {"llama-3.3-nemotron-super-49b", NULL, 49867145216, 0, false, 49867145216},
    {"minimax-m3", NULL, 426174572928, 0, false, 25962473856},
    {"laguna-xs", NULL, 33442617088, 0, false, 3017135872},
    {"glm-5.2", NULL, 743377019904, 0, false, 41250530304},
    {"gemma-4-e2b", NULL, 4628569344, 0, false, 4628569344},
    {"step-3.5-flash", NULL, 196956130368, 0, false, 11987323968},
    {"llada-8b", NULL, 8015581184, 0, false, 8015581184},
    {"embeddinggemma-300m", NULL, 302863104, 0, false, 302863104},
    {"lfm2-8b-a1b", NULL, 8339930560, 0, false, 1557740992},
    {"jamba-reasoning-3b", NULL, 3029337472, 0, false, 3029337472},
    /* Norms of queries and keys are in its 24 linear layers, here in the 8 others. */
    {"minicpm-sala", NULL, 9477203968, (24 - 8) * 256, false, 9477203968},
    /* Written from public descriptions, not from the files; the counts are those that programs
     * print which loaded the published weights. calc has neither the two numbers of each xIELU, nor
     * biases of some matrices only, and a second norm of blocks whose sub-layers stand side by
     * side. */
    {"olmoe-1b-7b", "olmoe-7B-A1B", 6919161856, 0, false, 0},
    {"chatglm3-6b", NULL, 6243584000, 0, false, 0},
    {"olmo2-32b", "olmo2-32B", 32234279936, 0, false, 0},
    {"seed-oss-36b", "seed-oss-36B", 36151104512, 0, false, 0},
    {"apertus-8b", "apertus-8B", 8053338176, 2 * 32, false, 0},
    {"lfm2-1.2b", "lfm2-1.2B", 1170340608, 0, false, 0},
    {"granite-4.0-h-small", "granite-4.0-h-small-32B-A9B", 32207337984, 0, false, 0},
    {"gpt-j-6b", NULL, 6050882784, 28.0 * (5 * 4096 - 2 * 4096) + 50400, false, 0},
    /* Their counts are below. */
    {"phi-3.5-moe", "phi-3.5-moe-42B", 0, 0, false, 0},
    {"dbrx", "dbrx-132B", 0, 0, false, 0},
    {"command-a", "command-a-111B", 0, 0, false, 0},
    {"starcoder2-15b", "starcoder2-15B", 0, 0, false, 0},
    {"falcon-h1-34b", "falcon-h1-34B", 0, 0, false, 0},
    {"exaone-4.0-32b", "exaone-4.0-32B", 0, 0, false, 0},
    {"hunyuan-a13b", "hunyuan-80B-A13B", 0, 0, false, 0},
};
enum { PUBLISHED = sizeof published / sizeof *published };

CALC_TEST_LOOP(models_have_the_parameters_of_their_weights, 0, PUBLISHED)
{
    const calc_app app = read_file(published[_i].file);
    calc_parameters p;
    calc_count_parameters(&app, &p);
    if (published[_i].parameters > 0) {
        ck_assert_msg(p.total + (published[_i].mtp ? p.mtp : 0) + published[_i].beyond ==
                          published[_i].parameters,
                      "%s: %.0f", published[_i].file, p.total);
    }
    if (published[_i].active > 0) {
        ck_assert_msg(p.active + published[_i].beyond == published[_i].active, "%s: %.0f active",
                      published[_i].file, p.active);
    }
}

/* Totals in billions as pages of the weights and papers round them; written as those above. */
static const struct {
    const char *file;
    double billions, half; /* of the last digit */
} rounded[] = {{"minicpm3-4b", 4.07, 0.005},
               {"afm-4.5b", 4.62, 0.005},
               {"minitron-8b", 8.27, 0.005},
               {"mamba2-2.7b", 2.7, 0.05},
               {"trinity-mini", 26.1, 0.05},
               {"kimi-linear-48b", 49.12, 0.005},
               {"k-exaone-236b", 237, 0.5},
               {"persimmon-8b", 9.4, 0.05},
               {"granite-3.0-1b-a400m", 1.33, 0.005},
               {"phi-3.5-moe", 41.9, 0.05},
               {"dbrx", 132, 0.5},
               {"command-r-plus", 104, 0.5},
               {"command-a", 111, 0.5},
               {"starcoder2-15b", 16, 0.5},
               {"baichuan2-13b", 13.9, 0.05},
               {"dots.llm1", 142, 1},
               {"falcon-h1-34b", 33.6, 0.05},
               {"exaone-4.0-32b", 32.0, 0.05},
               {"hunyuan-a13b", 80, 0.5},
               {"internlm3-8b", 8.8, 0.05},
               {"ling-3.0-flash", 124.4, 0.05},
               {"hy3", 295, 0.5},
               {"mistral-small-4", 119, 0.5},
               {"mimo-v2.5-pro", 1020, 5}};

CALC_TEST_LOOP(models_have_the_parameters_of_their_pages, 0, sizeof rounded / sizeof *rounded)
{
    const calc_app app = read_file(rounded[_i].file);
    calc_parameters p;
    calc_count_parameters(&app, &p);
    ck_assert_msg(fabs(p.total * 1e-9 - rounded[_i].billions) <= rounded[_i].half, "%s: %.0f",
                  rounded[_i].file, p.total);
}

/* Field by field, once "auto" and equal spellings are resolved. The sequence length is a choice. */
CALC_TEST_LOOP(models_are_those_that_are_shipped, 0, PUBLISHED)
{
    calc_app shipped, app = read_file(published[_i].file);
    calc_exec exec = {0}, other = {0};
    if (!published[_i].shipped) {
        return;
    }
    load_shipped(CALC_KIND_APP, &shipped, "models", published[_i].shipped);
    app.seq_size = shipped.seq_size;
    if (app.vocab_size == 262208) {
        app.vocab_size = shipped.vocab_size;
    }
    calc_plan_resolve(&app, &exec);
    calc_plan_resolve(&shipped, &other);
    const calc_table *table = calc_table_of(CALC_KIND_APP);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        /* The format of a file is that of its weights; the others the shipped models leave out. */
        bool told = strcmp(field->key, "trained_datatype") != 0 &&
                    strcmp(field->key, "qkv_bias") != 0 && strcmp(field->key, "norm_place") != 0 &&
                    strcmp(field->key, "attention_sinks") != 0;
        if (field->type == CALC_TYPE_OBJECT) {
            ck_assert_msg(calc_same(field->table, (const char *)&app + field->offset,
                                    (const char *)&shipped + field->offset),
                          "%s: %s", published[_i].file, field->key);
        } else if (field->type != CALC_TYPE_NOTE && told) {
            double found = calc_member_number(field, (const char *)&app + field->offset);
            double expected = calc_member_number(field, (const char *)&shipped + field->offset);
            ck_assert_msg(found == expected, "%s: %s is %g, not %g", published[_i].file, field->key,
                          found, expected);
        }
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void print_model(const calc_app *app, bool whole, FILE *out)
{
    static const calc_app nothing;
    const calc_app llama = whole ? nothing : silent("");
    int count = 0;
    print_differences(CALC_KIND_APP, &llama, app, out, &count);
    fputs(count ? "\n" : "as it is\n", out);
    print_stack(app, out);
}

/* A text with the sizes in place of SMALL. @return to be freed */
static char *text_of(const char *said)
{
    char *text = malloc(strlen(said) + 512), *small = NULL;
    const char *at = strstr(said, "SMALL");
    if (strncmp(said, "raw ", 4) == 0) {
        sprintf(text, "%.*s%s%s", (int)((at ? at : said + strlen(said)) - said - 4), said + 4,
                at ? SMALL : "", at ? at + 5 : "");
    } else {
        size_t type = strcspn(said, " ");
        small = text;
        sprintf(small, "{\"model_type\": \"%.*s\", \"max_position_embeddings\": 512, " SMALL "%s%s",
                (int)type, said, said[type + 1] == '\n' ? "" : ", ", said + type + 1);
        text[strlen(text) - 1] = '}';
    }
    return text;
}

static void answer(const char *said, FILE *out)
{
    static const char usual[] = "sequences of 512 tokens";
    char folder[256], line[1024];
    calc_app app;
    calc_errors errors = {0};
    remarks all = {0};
    calc_hf hf = {.name = "config.json", .tell = remember, .context = &all};
    if (strncmp(said, "beside ", 7) == 0) {
        size_t length = strcspn(said, "\f"); /* the end of that file */
        scratch_enter(folder, sizeof folder);
        scratch_write("hf_quant_config.json", said + 7, length - 7);
        hf.path = "./config.json";
        said += length + 2;
    }
    char *text = text_of(said);
    calc_status status = calc_hf_read_text(&hf, text, strlen(text), &app, &errors);
    ck_assert((status == CALC_OK) == (errors.count == 0));
    if (status == CALC_OK) {
        print_model(&app, strcmp(said, "llama \n") == 0, out);
        const char *rest = all.text;
        if (said[0] != 'r' && strncmp(rest, usual, strlen(usual)) == 0) {
            rest += strcspn(rest, "\n") + 1;
        }
        fputs(rest, out);
    } else {
        ck_assert_int_eq(errors.item[0].status, status);
        calc_error_print(&errors.item[0], line, sizeof line);
        fputs(line, out);
    }
    free(text);
    if (hf.path) {
        scratch_leave(folder);
    }
}

CALC_TEST(files_are_known_by_their_type)
{
    const char *yes[] = {"{\"model_type\": \"x\"}", "{\"architectures\": [\"X\"]}"};
    const char *no[] = {
        "{\"hidden\": 1}", "{", "", "[1]", "--model_type x", "{\"a\": {\"model_type\": \"x\"}}"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        ck_assert_int_eq(calc_hf_is_text(yes[i], strlen(yes[i])), CALC_OK);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        ck_assert_int_ne(calc_hf_is_text(no[i], strlen(no[i])), CALC_OK);
    }
}

/* Rows of hf_families.json say what exists: all are read by this test. */
CALC_TEST(families_are_rows)
{
    calc_settings rows = {0};
    calc_errors errors = {0};
    calc_hf_family family;
    int families = 0;
    const calc_embedded *file = calc_embedded_find(calc_hf_list, "families");
    ck_assert_int_eq(calc_settings_from_text(&rows, CALC_SYNTAX_JSON, file->bytes, file->length,
                                             "families", &errors),
                     CALC_OK);
    for (size_t i = 0; i < rows.count; i++) {
        char type[CALC_HF_TYPE_SIZE] = "";
        size_t length = strcspn(rows.item[i].key, ".");
        ck_assert_uint_lt(length, sizeof type);
        memcpy(type, rows.item[i].key, length);
        if (i == 0 || strncmp(rows.item[i - 1].key, rows.item[i].key, length + 1) != 0) {
            ck_assert_msg(calc_hf_family_read(&rows, type, &family, &errors) == CALC_OK, "%s: %s",
                          type, errors.item[0].text);
            ck_assert_msg(family.refused || family.row.links == 1 || family.is.norm_type > 0, "%s",
                          type);
            families++;
        }
        if (strstr(rows.item[i].key, ".names.")) { /* other models call it what is read */
            ck_assert_msg(is_read(rows.item[i].value), "%s", rows.item[i].value);
        }
    }
    ck_assert_int_ge(families, 60);
    calc_settings_free(&rows);
}

CALC_TEST(the_sequence_of_the_caller_counts)
{
    const char *text = "{\"model_type\": \"llama\", " SMALL "}";
    remarks all = {0};
    calc_hf hf = {.name = "c", .seq_size = 32768, .tell = remember, .context = &all};
    calc_app app;
    ck_assert_int_eq(calc_hf_read_text(&hf, text, strlen(text), &app, NULL), CALC_OK);
    ck_assert_int_eq(app.seq_size, 32768);
    ck_assert_str_eq(all.text, "");
    hf.seq_size = 0;
    ck_assert_int_eq(calc_hf_read_text(&hf, text, strlen(text), &app, NULL), CALC_OK);
    ck_assert_int_eq(app.seq_size, CALC_HF_SEQ_MAX);
    ck_assert_str_eq(all.text,
                     "sequences of 8192 tokens, as the file says none; seq_size sets another\n");
}
