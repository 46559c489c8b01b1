/* Runs of layers as JSON, beside the stages that have them: src/cli/plan/plan_table.c. */
#include "cli/plan/plan_task.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "model/stages/placed.h"
#include "shipped_case.h"
#include "small_case.h"

static shipped_case c;
static calc_text json;

static void set(const char *assignment)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_set(&c.app, &c.system, &c.exec, assignment, NULL, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

/* 80 blocks on four stages. */
static void setup(void)
{
    c = load_case("llama3-70B", "h100_sxm", "llama3-70B_512");
    set("tensor_par_overlap=none");
    set("seq_par_ag_redo=false");
    set("pipeline_interleaving=1");
}

static void leave(void)
{
    calc_text_free(&json);
}

const calc_test_frame calc_tests = {.setup = setup, .teardown = leave};

static void write_runs(void)
{
    calc_plan_task *t = calloc(1, sizeof *t);
    calc_output *out;
    ck_assert_ptr_nonnull(t);
    t->app = c.app;
    t->chips = 1;
    t->chip[0].system = c.system;
    ck_assert_int_eq(calc_output_open_memory(&out, &json, NULL), CALC_OK);
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_layers_runs_put(&put, t, &c.exec);
    calc_put_end(&put);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    free(t);
}

/* The sum of a member over all runs and the ends. */
static double sum_of(const char *key)
{
    char text[64];
    double sum = 0;
    snprintf(text, sizeof text, "\"%s\": ", key);
    for (const char *at = json.data; (at = strstr(at, text)); at += strlen(text)) {
        sum += strtod(at + strlen(text), NULL);
    }
    return sum;
}

/* What its chunks rearrange between them. */
static double rearranged_s(void)
{
    calc_placed *p = calloc(1, sizeof *p);
    double sum_s = 0;
    ck_assert_ptr_nonnull(p);
    calc_placed_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, p);
    for (int64_t i = 0; i < p->stages * p->chunks; i++) {
        sum_s += p->chunk[i].reshard.fw_s + p->chunk[i].reshard.bw_s;
    }
    free(p);
    return sum_s;
}

CALC_TEST(rearranging_is_that_of_the_stages)
{
    set("layers={\"blocks\": [20, 30, 30], \"tensor_par\": [8, 4, 2], \"zero_stage\": [1, 3, 2], "
        "\"ends\": {\"tensor_par\": 8}}");
    write_runs();
    ck_assert_double_eq(sum_of("blocks"), 80);
    ck_assert_double_eq(sum_of("zero_stage"), 1 + 3 + 2 + 1);
    ck_assert_double_gt(rearranged_s(), 0);
    ck_assert_double_eq_tol(sum_of("rearranging_time"), rearranged_s(), 1e-15);
}

CALC_TEST(without_a_list_all_layers_are_one_run)
{
    write_runs();
    ck_assert_double_eq(sum_of("blocks"), 80);
    ck_assert_double_eq(sum_of("tensor_par"), 2 * (double)c.exec.strategy.tensor_par);
    ck_assert_double_eq(sum_of("rearranging_time"), 0);
}
