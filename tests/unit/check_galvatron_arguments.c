/* Arguments of Galvatron's search: unit/check_galvatron_arguments.txt. "file" begins one,
 * NAME=VALUE is a flag, "compat" too, and "finish" asks for the request; the answer is what is not
 * the default, and what is wrong. */
#include "galvatron/arguments.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "galvatron/cost.h"
#include "galvatron_case.h"
#include "io/text.h"

static calc_galvatron_arguments args;
static char why[512];

static const calc_galvatron_argument *row(const char *name)
{
    const calc_galvatron_argument *at = calc_galvatron_argument_rows;
    while (at->name && strcmp(at->name, name) != 0) {
        at++;
    }
    ck_assert_msg(at->name != NULL, "%s", name);
    return at;
}

/* As a file says it. */
static void print_value(const calc_galvatron_argument *at, const char *member, FILE *out)
{
    const calc_galvatron_sizes *sizes = (const void *)member;
    switch (at->kind) {
    case CALC_GALVATRON_TAKES_COUNT:
    case CALC_GALVATRON_TAKES_LIMIT:
        fprintf(out, " %s=%lld", at->name, (long long)*(const int64_t *)(const void *)member);
        break;
    case CALC_GALVATRON_TAKES_REAL:
        fprintf(out, " %s=%g", at->name, *(const double *)(const void *)member);
        break;
    case CALC_GALVATRON_TAKES_TRUTH:
        fprintf(out, " %s=%d", at->name, *(const bool *)member);
        break;
    case CALC_GALVATRON_TAKES_WORD:
        fprintf(out, " %s=%s", at->name, at->choices[*(const int *)(const void *)member]);
        break;
    case CALC_GALVATRON_TAKES_LAYERS:
        fprintf(out, " %s=", at->name);
        for (int i = 0; i < sizes->count; i++) {
            fprintf(out, "%s%lld", i ? "," : "", (long long)sizes->of[i]);
        }
        break;
    default:
        fprintf(out, " %s=%s", at->name, member);
    }
}

static void print_arguments(const calc_galvatron_arguments *before, FILE *out)
{
    for (const calc_galvatron_argument *at = calc_galvatron_argument_rows; at->name; at++) {
        size_t size = at->kind == CALC_GALVATRON_TAKES_TEXT     ? CALC_GALVATRON_PATH_SIZE
                      : at->kind == CALC_GALVATRON_TAKES_LAYERS ? sizeof(calc_galvatron_sizes)
                      : at->kind == CALC_GALVATRON_TAKES_TRUTH  ? sizeof(bool)
                      : at->kind == CALC_GALVATRON_TAKES_WORD   ? sizeof(int)
                                                                : sizeof(int64_t);
        const char *member = (const char *)&args + at->offset;
        if (at->kind != CALC_GALVATRON_TAKES_UNUSED &&
            memcmp(member, (const char *)before + at->offset, size) != 0) {
            print_value(at, member, out);
        }
    }
    fprintf(out, "%s%s\n", args.unused[0] ? "; unused: " : "", args.unused);
}

static void finish(FILE *out)
{
    const calc_galvatron_request *r = &args.request;
    if (!calc_galvatron_arguments_finish(&args, why, sizeof why)) {
        fprintf(out, "%s\n", why);
        return;
    }
    fprintf(out, "%s:", r->model);
    for (int i = 0; i < r->types; i++) {
        fprintf(out, " %lld layers of %lld on %lld,", (long long)r->layers[i].layer_num,
                (long long)r->layers[i].hidden_size, (long long)r->layers[i].seq_len);
    }
    const calc_galvatron_paths p = calc_galvatron_arguments_paths(&args);
    fprintf(out, " files %s, %s, %s, %s, %s, %s\n", p.of[0], p.of[1], p.of[2], p.of[3], p.of[4],
            p.of[5]);
}

static void answer(const char *said, FILE *out)
{
    char line[1024];
    calc_errors errors = {0};
    const char *value = strchr(said, '=');
    if (!args.request.max_bsz || strncmp(said, "file", 4) == 0) {
        calc_galvatron_arguments_start(&args);
    }
    const calc_galvatron_arguments before = args;
    why[0] = '\0';
    if (strncmp(said, "file", 4) == 0) {
        calc_status status =
            calc_galvatron_arguments_read(&args, said + 5, strlen(said + 5) - 1, "a.yaml", &errors);
        ck_assert((status == CALC_OK) == (errors.count == 0));
        for (int i = 0; i < errors.count; i++) {
            calc_error_print(&errors.item[i], line, sizeof line);
            fprintf(out, "%s\n", line);
        }
        if (status == CALC_OK) {
            print_arguments(&before, out);
        }
    } else if (strcmp(said, "finish\n") == 0) {
        finish(out);
    } else if (strcmp(said, "compat\n") == 0) {
        args.request.compat = true;
    } else {
        char name[64], text[512];
        snprintf(name, sizeof name, "%.*s", (int)(value - said), said);
        snprintf(text, sizeof text, "%.*s", (int)strlen(value + 1) - 1, value + 1);
        if (calc_galvatron_arguments_set(&args, row(name), text, why, sizeof why)) {
            print_arguments(&before, out);
        } else {
            fprintf(out, "%s\n", why);
        }
    }
}

const calc_test_frame calc_tests = {.cases = "unit/check_galvatron_arguments.txt",
                                    .answer = answer};

/* What people are told of defaults is what they are. */
CALC_TEST(presets_are_the_defaults)
{
    for (const calc_galvatron_argument *at = calc_galvatron_argument_rows; at->name; at++) {
        if (!at->preset || at->kind == CALC_GALVATRON_TAKES_TEXT) {
            continue;
        }
        calc_galvatron_arguments before;
        calc_galvatron_arguments_start(&args);
        before = args;
        ck_assert_msg(calc_galvatron_arguments_set(&args, at, at->preset, why, sizeof why), "%s",
                      at->name);
        ck_assert_msg(memcmp(&before, &args, sizeof args) == 0, "%s", at->name);
    }
}

static void read_case(const char *name)
{
    char path[512];
    calc_text text = {0};
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/galvatron/%s/args.json", CALC_TEST_DATA, name);
    ck_assert_int_eq(calc_text_read(&text, path, &errors), CALC_OK);
    calc_galvatron_arguments_start(&args);
    calc_status status =
        calc_galvatron_arguments_read(&args, text.data, text.length, path, &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
    calc_text_free(&text);
    ck_assert_msg(calc_galvatron_arguments_finish(&args, why, sizeof why), "%s", why);
}

/* A second reader, written for the tests of the cost model, finds the same. */
static const char *const cases[] = {
    "01_llama2-7b_1x8_36G_bsz16", "07_fixture_seq8192_1x8_36G_bsz64_chunk8_coarse",
    "10_fixture_static_gpipe_ddp_nosp_notp_1x8_40G", "17_t5-3B_twolayertypes_1x8_12G_bsz64",
    "19_llama2-7b_1x8_24G_bsz32_pp4_gpipe"};

CALC_TEST_LOOP(requests_are_those_of_another_reader, 0, sizeof cases / sizeof *cases)
{
    galvatron_case c;
    galvatron_open(&c, cases[_i]);
    read_case(cases[_i]);
    const calc_galvatron_request *a = &c.request, *b = &args.request;
    ck_assert_str_eq(a->model, b->model);
    ck_assert_int_eq(a->types, b->types);
    ck_assert_mem_eq(a->layers, b->layers, (size_t)a->types * sizeof *a->layers);
#define SAME(member) ck_assert_msg(a->member == b->member, "%s", #member);
    SAME(default_dp_type)
    SAME(pipeline_type)
    SAME(mixed_precision)
    SAME(time_profile_mode)
    SAME(memory_profile_mode)
    SAME(async_grad_reduce)
    SAME(sequence_parallel)
    SAME(global_memory_buffer)
    SAME(num_nodes)
    SAME(num_gpus_per_node)
    SAME(memory_constraint)
    SAME(min_bsz)
    SAME(max_bsz)
    SAME(bsz_scale)
    SAME(settle_bsz)
    SAME(settle_chunk)
    SAME(disable_tp)
    SAME(disable_sp)
    SAME(disable_pp)
    SAME(disable_ckpt)
    SAME(max_tp_deg)
    SAME(max_sp_deg)
    SAME(max_pp_deg)
    ck_assert_int_eq(b->fine_grained, galvatron_int(&c, "options_info", "fine_grained_mode"));
    ck_assert_int_eq(b->disable_dp, galvatron_int(&c, "search_space_info", "disable_dp"));
    ck_assert_int_eq(b->disable_fsdp, galvatron_int(&c, "search_space_info", "disable_fsdp"));
    ck_assert_str_eq(c.model, args.path[CALC_GALVATRON_FILE_COMPUTATION]);
    ck_assert_str_eq(c.machine, args.path[CALC_GALVATRON_FILE_P2P]);
    galvatron_close(&c);
}

CALC_TEST(layers_of_several_types_are_listed)
{
    read_case("17_t5-3B_twolayertypes_1x8_12G_bsz64");
    ck_assert_int_eq(args.request.types, 2);
    ck_assert_int_eq(args.request.layers[1].layer_num, 24);
    ck_assert_int_eq(args.request.layers[1].seq_len, 512);
    ck_assert(!args.request.sequence_parallel && args.request.disable_tp);
    ck_assert_int_eq(args.request.max_pp_deg, 4);
    ck_assert_str_eq(args.request.model, "t5-3B");
    ck_assert_str_eq(args.path[CALC_GALVATRON_FILE_MEMORY],
                     CALC_TEST_DATA "/galvatron/17_t5-3B_twolayertypes_1x8_12G_bsz64/../profiles/"
                                    "t5-3B_renamed");
    ck_assert_str_eq(args.path[CALC_GALVATRON_FILE_OVERLAP],
                     CALC_TEST_DATA "/galvatron/17_t5-3B_twolayertypes_1x8_12G_bsz64/../profiles/"
                                    "shipped_hardware");
}
