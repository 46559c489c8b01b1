/* Rules between fields, and reasons why a layout does not run: unit/check_rules.txt. Its words
 * begin a layout, or set a field as --set does; the errors of calc_check() are the answer, or with
 * "run" the verdict. */
#include "spec/rules.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "engines.h"
#include "frame.h"
#include "serving_case.h"
#include "shipped_case.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/stack.h"

static calc_app app;
static calc_system machine, other; /* what lists of stages and prefill pools name is `other` */
static calc_exec exec;
static bool given; /* whether it is, or only named */

static void begin(void)
{
    machine = other = small_system();
    given = true;
}

static void take(const char *word, FILE *out)
{
    calc_errors errors = {0};
    char line[1024];
    const bool elsewhere = strncmp(word, "other.", 6) == 0;
    snprintf(line, sizeof line, "%s%s", elsewhere ? "sys." : "", word + (elsewhere ? 6 : 0));
    if (strncmp(line + 4, "networks=", 9) == 0) {
        calc_system *system = elsewhere ? &other : &machine;
        for (int64_t count = atoi(line + 13); system->networks_count < count;) {
            system->networks[system->networks_count] = system->networks[1];
            system->networks_count++;
        }
        system->networks_count = atoi(line + 13);
    } else if (strncmp(word, "engine=", 7) == 0) {
        exec.inference.engine = shipped_engine(word + 7);
    } else if (strstr(line, ".tflops=0") || strstr(line, "GiB=0")) { /* what a file cannot say */
        calc_field_ref ref;
        line[strlen(line) - 2] = '\0';
        ck_assert_int_eq(calc_field_find(CALC_KIND_SYSTEM, line + 4, &ref), CALC_OK);
        *(double *)(void *)((char *)(elsewhere ? &other : &machine) + ref.offset) = 0;
    } else if (strcmp(word, "given") == 0 || strcmp(word, "only_named") == 0) {
        given = word[0] == 'g';
    } else if (calc_set(&app, elsewhere ? &other : &machine, &exec, line, NULL, &errors) !=
               CALC_OK) {
        calc_error_print(&errors.item[0], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
}

/* The layout that a line begins, or changes of fields. */
static void take_line(char *line, FILE *out)
{
    char name[64], system[64], layout[64];
    int tensor, pipeline, data;
    if (sscanf(line, "small %d %d %d", &tensor, &pipeline, &data) == 3) {
        begin();
        app = small_app();
        exec = small_exec(tensor, pipeline, data);
    } else if (sscanf(line, "%63s %d %d %d", name, &tensor, &pipeline, &data) == 4) {
        begin();
        app = shipped_app(name);
        machine.chip.matrix[CALC_DATATYPE_BFLOAT16] = machine.chip.matrix[CALC_DATATYPE_FLOAT16];
        other.chip.matrix[CALC_DATATYPE_BFLOAT16] = other.chip.matrix[CALC_DATATYPE_FLOAT16];
        exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, tensor, pipeline, data, 16);
    } else if (!strchr(line, '=') && sscanf(line, "%63s %63s %63s", name, system, layout) == 3) {
        const shipped_case c = load_case(name, system, layout);
        begin();
        app = c.app;
        machine = c.system;
        exec = c.exec;
    } else {
        for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
            take(word, out);
        }
    }
}

/* The reasons, after what the verdict of calc_run() is. */
static void run(calc_compat rules, FILE *out)
{
    calc_stats stats = {0};
    calc_reason reason[CALC_MAX_REASONS];
    calc_verdict verdict = calc_run(&app, &machine, &exec, CALC_COMPAT_NONE, &stats);
    size_t count = calc_reasons(&app, &machine, &exec, rules, &stats, reason);
    ck_assert(rules || verdict == (count == 0 ? CALC_VERDICT_OK : reason[0].verdict));
    fputs(count == 0 ? "runs\n" : "", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s: %s%s%s%s\n", calc_verdict_text(reason[i].verdict), reason[i].text,
                reason[i].hint[0] ? " (" : "", reason[i].hint, reason[i].hint[0] ? ")" : "");
    }
}

static void check(const char *said, FILE *out)
{
    char line[4096];
    const char *how = strstr(said, "run\n"), *even = strstr(said, "run even-stages\n");
    for (size_t length; *said; said += length + 1) {
        length = strcspn(said, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, said);
        if (strncmp(line, "run", 3) != 0) {
            take_line(line, out);
        }
    }
    for (int i = 0; i < exec.stages.chips; i++) {
        exec.stages.system[i] = given ? &other : NULL;
    }
    exec.inference.prefill_system.system =
        given && exec.inference.prefill_system.name[0] ? &other : NULL;
    if (how || even) {
        run(even ? 1 << CALC_COMPAT_EVEN_STAGES : CALC_COMPAT_NONE, out);
        return;
    }
    calc_errors errors = {0};
    calc_status status = calc_check(&app, &machine, &exec, &errors);
    fputs(status == CALC_OK && errors.count == 0 ? "ok\n" : "", out);
    for (int i = 0; i < errors.count; i++) {
        const calc_error *e = &errors.item[i];
        ck_assert(i > 0 || e->status == status);
        ck_assert_int_eq(e->line, 0);
        fprintf(out, "%s %s: %s%s%s%s", calc_kind_name(e->kind), e->pointer, e->text,
                e->hint[0] ? " (" : "", e->hint, e->hint[0] ? ")" : "");
        fprintf(out, e->status == CALC_ERR_RULE ? "\n" : " [%s]\n", calc_status_text(e->status));
    }
    if (errors.dropped) {
        fprintf(out, "and %d more\n", errors.dropped);
    }
}

const calc_test_frame calc_tests = {.cases = "unit/check_rules.txt", .answer = check};

/* ---- Divisors -------------------------------------------------------------------------------- */

CALC_TEST(the_greatest_common_divisor_divides_both)
{
    ck_assert_int_eq(calc_gcd(12, 18), 6);
    ck_assert_int_eq(calc_gcd(18, 12), 6);
    ck_assert_int_eq(calc_gcd(7, 1), 1);
    ck_assert_int_eq(calc_gcd(5, 5), 5);
    ck_assert_int_eq(calc_gcd(1000000000000, 1000000000), 1000000000);
}

static const char *divisors(int64_t n)
{
    static char text[200];
    return calc_divisors_text(n, text, sizeof text);
}

CALC_TEST(divisors_are_listed_in_order)
{
    ck_assert_str_eq(divisors(1), "1");
    ck_assert_str_eq(divisors(7), "1 or 7");
    ck_assert_str_eq(divisors(12), "1, 2, 3, 4, 6 or 12");
}

CALC_TEST(more_than_sixteen_divisors_are_cut)
{
    ck_assert_str_eq(divisors(120), "1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60 or 120");
    ck_assert_str_eq(divisors(65536), "1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, "
                                      "8192, 16384, 32768, ...");
}

CALC_TEST(divisors_stay_inside_a_small_buffer)
{
    char text[12];
    memset(text, '#', sizeof text);
    calc_divisors_text(120, text, 8);
    ck_assert_str_eq(text, "1, 2, 3");
    ck_assert_mem_eq(text + 8, "####", 4);
    calc_divisors_text(65536, text, 8);
    ck_assert_str_eq(text, "1, 2, 4");
    ck_assert_mem_eq(text + 8, "####", 4);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* What a part says is checked as what the model says. */
CALC_TEST(parts_have_sizes_that_can_be)
{
    static const struct {
        const char *type;
        int64_t kv_heads, key_heads, value_heads, size;
        const char *pointer, *text;
    } cases[] = {
        {"attention", 2, 0, 0, 0, NULL, NULL},
        {"attention", 3, 0, 0, 0, "/kv_heads", "\"x\": 3 does not divide attn_heads = 4"},
        {"gated_delta", 4, 2, 4, 16, NULL, NULL},
        {"gated_delta", 4, 3, 4, 16, "/parts",
         "\"x\": key_heads = 3 does not divide value_heads = 4"},
        {"mamba2", 4, 3, 4, 16, "/parts", "\"x\": key_heads = 3 does not divide value_heads = 4"},
        {"mamba2", 4, 2, 0, 16, "/parts",
         "\"x\" has no heads, no width, no state or no convolution"},
        {"lightning", 4, 0, 4, 0, "/parts",
         "\"x\" has no heads, no width, no state or no convolution"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_app a = small_app();
        calc_errors errors = {0};
        const char *why;
        calc_stack_fault fault;
        int type = calc_choice_index(calc_part_type_names, cases[i].type);
        calc_part *p = calc_stack_declare(&a, "x", (calc_part_type)type, &why);
        ck_assert_ptr_nonnull(p);
        p->kv_heads = cases[i].kv_heads;
        p->linear_key_heads = cases[i].key_heads;
        p->linear_value_heads = cases[i].value_heads;
        p->linear_key_size = p->linear_value_size = cases[i].size;
        ck_assert(calc_stack_read(&a, "8xx+mlp", false, &fault));
        calc_rules_model(&a, false, &errors);
        ck_assert_int_eq(errors.count, cases[i].pointer ? 1 : 0);
        if (cases[i].pointer) {
            ck_assert_str_eq(errors.item[0].pointer, cases[i].pointer);
            ck_assert_str_eq(errors.item[0].text, cases[i].text);
        }
    }
}

/* ---- Engines --------------------------------------------------------------------------------- */

/* What an engine costs beside the model was fitted on one platform, or on several. */
CALC_TEST(an_engine_is_of_the_platform)
{
    static const struct {
        const char *engine;
        calc_platform platform;
        bool fine;
    } cases[] = {
        {"vllm-0.6", CALC_PLATFORM_CUDA, false},         {"vllm-0.6", CALC_PLATFORM_ROCM, true},
        {"vllm-0.6", CALC_PLATFORM_ANY, true},           {"vllm-0.5", CALC_PLATFORM_ROCM, true},
        {"tensorrt_llm-1.2", CALC_PLATFORM_ROCM, false}, {"none", CALC_PLATFORM_CANN, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_errors errors = {0};
        calc_system system = {.platform = cases[i].platform};
        const calc_serving_engine engine = shipped_engine(cases[i].engine);
        calc_serving_engine_check(&system, &engine, &errors);
        ck_assert_int_eq(errors.count, !cases[i].fine);
        ck_assert(cases[i].fine || strstr(errors.item[0].text, "of another platform only"));
    }
}

/* A name alone says nothing. */
CALC_TEST(an_engine_that_was_not_read_is_an_error)
{
    calc_errors errors = {0};
    calc_system system = {.platform = CALC_PLATFORM_CUDA};
    const calc_serving_engine engine = {.name = "mine"};
    calc_serving_engine_check(&system, &engine, &errors);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.item[0].status, CALC_ERR_UNSUPPORTED);
    ck_assert_str_eq(errors.item[0].text, "engine \"mine\" was not given");
}

/* ---- Many at once ---------------------------------------------------------------------------- */

CALC_TEST(errors_that_were_there_before_are_not_its_own)
{
    calc_errors errors = {0};
    char line[] = "small 1 1 1";
    take_line(line, stderr);
    calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_APP, NULL, NULL, "an older error");
    ck_assert_int_eq(calc_check(&app, &machine, &exec, &errors), CALC_OK);
    ck_assert_int_eq(errors.count, 1);
    exec.num_procs = 2;
    ck_assert_int_eq(calc_check(&app, &machine, &exec, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 2);
    ck_assert_int_eq(calc_check(&app, &machine, &exec, NULL), CALC_ERR_RULE); /* not collected */
    while (errors.count < CALC_MAX_ERRORS) {
        calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_APP, NULL, NULL, "an older error");
    }
    ck_assert_int_eq(calc_check(&app, &machine, &exec, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.dropped, 1);
    exec.num_procs = 1;
    ck_assert_int_eq(calc_check(&app, &machine, &exec, &errors), CALC_OK);
    ck_assert_int_eq(errors.dropped, 1);
    ck_assert_int_eq(calc_check(&app, &machine, &exec, NULL), CALC_OK);
}
