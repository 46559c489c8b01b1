/* Files of a run, shapes of operators and the job of a launch script:
 * unit/check_mindspeed_kernels.txt. The first line has the kind, then what it is of; behind it
 * stand the rows of a file or a script. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/read.h"
#include "frame.h"
#include "io/text.h"
#include "mindspeed/loop.h"
#include "scratch.h"

static char folder[512];
static calc_mindspeed_times times;
static calc_mindspeed_results results;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    calc_mindspeed_times_free(&times);
    calc_mindspeed_results_free(&results);
    scratch_leave(folder);
}

static const char *const type_names[CALC_MINDSPEED_TYPES] = {"MatMul",
                                                             "RmsNorm",
                                                             "RmsNormGrad",
                                                             "LayerNorm",
                                                             "LayerNormGrad",
                                                             "FlashAttentionScore",
                                                             "FlashAttentionScoreGrad"};

static void print_shape(const calc_mindspeed_shape *s, FILE *out)
{
    fprintf(out, "%s %g %g %g %g", type_names[s->type], s->size[0], s->size[1], s->size[2],
            s->size[3]);
}

static void print_times(FILE *out)
{
    for (size_t i = 0; i < times.count; i++) {
        const calc_mindspeed_timed *t = &times.item[i];
        print_shape(&t->shape, out);
        fprintf(out, ": %.10g us\n", t->time_s * 1e6);
    }
    fprintf(out, "%zu others, %zu brief, %zu odd\n", times.others, times.brief, times.odd);
}

static calc_status read_kernels(const char *path, FILE *out, calc_errors *errors)
{
    calc_mindspeed_times_free(&times);
    times = (calc_mindspeed_times){0};
    calc_status status = calc_mindspeed_kernels_read(&times, path, errors);
    if (status == CALC_OK) {
        print_times(out);
    }
    return status;
}

static calc_status read_cache(const char *path, FILE *out, calc_errors *errors)
{
    calc_mindspeed_times_free(&times);
    times = (calc_mindspeed_times){0};
    calc_status status = calc_mindspeed_cache_read(&times, path, errors);
    if (status == CALC_OK) {
        print_times(out);
    }
    return status;
}

static calc_status read_results(const char *path, FILE *out, calc_errors *errors)
{
    static const char *const ends[] = {"ran", "out of memory", "failed"};
    calc_mindspeed_results_free(&results);
    calc_status status = calc_mindspeed_results_read(&results, path, errors);
    for (size_t i = 0; i < results.count && status == CALC_OK; i++) {
        const calc_mindspeed_result *r = &results.item[i];
        const calc_mindspeed_config *c = &r->config;
        fprintf(out, "pp %d tp %d dp %d cp %d up %d mbs %d vpp %d ep %d: %s, %.10g s, %.10g GB\n",
                c->pp, c->tp, c->dp, c->cp, c->up, c->mbs, c->vpp, c->ep, ends[r->end], r->step_s,
                r->peak_bytes / 1e9);
        ck_assert_ptr_eq(calc_mindspeed_results_find(&results, c), r);
    }
    return status;
}

static calc_status read_comm(const char *path, FILE *out, calc_errors *errors)
{
    static const struct {
        const char *name;
        calc_mindspeed_message message;
    } asked[] = {{"all_gather of 8, 1048576", {CALC_OP_ALL_GATHER, 8, 1048576}},
                 {"all_to_all of 8, 1048576", {CALC_OP_ALL_TO_ALL, 8, 1048576}},
                 {"reduce_scatter of 4, 7", {CALC_OP_REDUCE_SCATTER, 4, 7}},
                 {"all_gather of 4, 1048576", {CALC_OP_ALL_GATHER, 4, 1048576}},
                 {"the same", {CALC_OP_ALL_GATHER, 4, 1048576}},
                 {"all_gather of 8, 1048575", {CALC_OP_ALL_GATHER, 8, 1048575}}};
    calc_mindspeed_comm comm = {0};
    calc_status status = calc_mindspeed_comm_read(&comm, path, errors);
    for (size_t i = 0; i < sizeof asked / sizeof *asked && status == CALC_OK; i++) {
        fprintf(out, "%s: %.10g us\n", asked[i].name,
                calc_mindspeed_comm_s(&comm, &asked[i].message) * 1e6);
    }
    if (status == CALC_OK) {
        fprintf(out, "%zu of them, %zu found, %zu missing\n", comm.count, comm.found,
                comm.missing_count);
    }
    calc_mindspeed_comm_free(&comm);
    return status;
}

static void print_job(const calc_mindspeed_arguments *a, FILE *out)
{
    const calc_mindspeed_job *j = &a->job;
    const struct {
        const char *name;
        bool on;
    } truths[] = {{"swiglu", j->swiglu},
                  {"untied", j->untied},
                  {"fp16", j->fp16},
                  {"distributed_optimizer", j->distributed_optimizer},
                  {"reuse_fp32", j->reuse_fp32},
                  {"full_recompute", j->full_recompute},
                  {"recompute_activation_function", j->recompute_activation_function},
                  {"swap_attention", j->swap_attention},
                  {"every", a->every}};
    fprintf(out, "%d layers, %d wide and %d, %d heads of %d, %d groups, %d words; ", j->layers,
            j->hidden, j->ffn, j->heads, j->head, j->groups, j->vocab);
    fprintf(out, "%d sequences of %d; %d experts, %d chosen\n", j->batch, j->seq, j->experts,
            j->topk);
    fprintf(out, "%d nodes of %d, for %d: %d devices;", j->nodes, j->per_node, j->target_nodes,
            calc_mindspeed_devices(j));
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        if (truths[i].on) {
            fprintf(out, " %s", truths[i].name);
        }
    }
    fprintf(out, "%s%s\n", a->unused[0] ? "; unused: " : "", a->unused);
}

/* "job FLAGS", "job1 FLAGS" for the first generation, and a script. */
static calc_status read_job(const char *said, const char *script, FILE *out, calc_errors *errors)
{
    calc_mindspeed_arguments args;
    calc_settings settings = {0};
    const char *word[64];
    char flags[1024];
    size_t count = 0;
    if (*script) {
        ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script), NULL),
                         CALC_OK);
    }
    snprintf(flags, sizeof flags, "%.*s", (int)strcspn(said, "\n"), said);
    strtok(flags, " ");
    while ((word[count] = strtok(NULL, " "))) {
        ck_assert_uint_lt(++count, 64);
    }
    ck_assert_int_eq(calc_settings_from_words(&settings, word, count), CALC_OK);
    calc_status status = calc_mindspeed_arguments_read(
        &args, &settings, said[3] == '1' ? CALC_MINDSPEED_GEN1 : CALC_MINDSPEED_GEN2,
        *script ? "a.sh" : NULL, errors);
    if (status == CALC_OK) {
        print_job(&args, out);
    }
    calc_settings_free(&settings);
    return status;
}

/* "shape TYPE INPUTS OUTPUTS" */
static void read_shape(const char *said, FILE *out)
{
    static const char *const kinds[] = {
        [CALC_MINDSPEED_SHAPE_OTHER] = "another", [CALC_MINDSPEED_SHAPE_WRONG] = "no shape"};
    char name[64] = "", in[128] = "", made[128] = "";
    calc_mindspeed_shape shape;
    int words = sscanf(said, "shape %63s %127s %127s", name, in, made);
    calc_mindspeed_type type = calc_mindspeed_shape_type(name);
    if (words == 1) {
        fprintf(out, "%s\n", type < CALC_MINDSPEED_TYPES ? type_names[type] : "none");
        return;
    }
    calc_mindspeed_shape_kind kind = calc_mindspeed_shape_read(type, in, made, &shape);
    if (kind == CALC_MINDSPEED_SHAPE_GOOD) {
        print_shape(&shape, out);
    }
    fprintf(out, "%s\n", kind == CALC_MINDSPEED_SHAPE_GOOD ? "" : kinds[kind]);
}

static void answer(const char *said, FILE *out)
{
    static const struct {
        const char *kind, *head;
        calc_status (*read)(const char *path, FILE *out, calc_errors *errors);
    } files[] = {{"kernels", "Name,Type,Duration(us),Input Shapes,Output Shapes", read_kernels},
                 {"cache", "Type,Input Shapes,Output Shapes,fwd_time,bwd_time", read_cache},
                 {"results", "pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,peak_memory,e2e_time",
                  read_results},
                 {"comm", "type,domains,datasize,time", read_comm}};
    const char *rows = said + strcspn(said, "\n") + 1;
    char text[4096];
    calc_errors errors = {0};
    calc_status status = CALC_OK;
    if (strncmp(said, "shape", 5) == 0) {
        read_shape(said, out);
    } else if (strncmp(said, "job", 3) == 0) {
        status = read_job(said, rows, out, &errors);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strncmp(said, files[i].kind, strcspn(said, "\n")) == 0) {
            snprintf(text, sizeof text, "%s\n%s", files[i].head, rows);
            scratch_write("f.csv", text, strlen(text));
            status = files[i].read("f.csv", out, &errors);
        }
    }
    ck_assert_int_eq(status, calc_errors_first(&errors));
    if (status != CALC_OK) {
        calc_error_print(&errors.item[0], text, sizeof text);
        fprintf(out, "%s\n", text);
    }
}

const calc_test_frame calc_tests = {.setup = enter,
                                    .teardown = leave,
                                    .cases = "unit/check_mindspeed_kernels.txt",
                                    .answer = answer};

/* The first generation's configurations have no chunks and no experts. */
CALC_TEST(columns_that_may_be_missing)
{
    static const char text[] = "e2e_time,pp,tp,dp,ring_attention,ulysses,mbs\n5,1,2,3,4,5,6\n";
    calc_errors errors = {0};
    scratch_write("r.csv", text, strlen(text));
    ck_assert_int_eq(calc_mindspeed_results_read(&results, "r.csv", &errors), CALC_OK);
    const calc_mindspeed_config c = {1, 2, 3, 4, 5, 6, 1, 0};
    ck_assert_ptr_nonnull(calc_mindspeed_results_find(&results, &c));
}

CALC_TEST(files_without_the_columns)
{
    calc_errors errors = {0};
    scratch_write("k.csv", "Type,Input Shapes\n", 18);
    ck_assert_int_eq(calc_mindspeed_kernels_read(&times, "k.csv", &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "column \"Output Shapes\" is missing");
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_mindspeed_kernels_read(&times, "none.csv", &errors), CALC_ERR_NOT_FOUND);
}

CALC_TEST(a_launch_script)
{
    calc_text text = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_text_read(&text, CALC_TEST_DATA "/mindspeed/llama_7b.launch", &errors),
                     CALC_OK);
    char *made = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&made, &size);
    ck_assert_int_eq(read_job("job1\n", text.data, out, &errors), CALC_OK);
    fclose(out);
    ck_assert_str_eq(made, "32 layers, 4096 wide and 11008, 32 heads of 128, 32 groups, 0 words; "
                           "256 sequences of 2048; 0 experts, 0 chosen\n"
                           "1 nodes of 8, for 1: 8 devices; swiglu untied fp16; unused: "
                           "--tokenizer-type, --tokenizer-model, --use-fused-rmsnorm, --lr, "
                           "--min-lr, --train-iters and 5 more\n");
    free(made);
    calc_text_free(&text);
}
