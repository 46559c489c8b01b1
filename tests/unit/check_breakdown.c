/* Parts add up to their whole, and bars show them: src/cli/draw/breakdown.c, src/cli/draw/human.c.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "classic.h"
#include "cli/draw/breakdown.h"
#include "cli/run/simulation.h"
#include "frame.h"
#include "shipped_case.h"

static calc_app app;
static calc_system machine;
static calc_exec example;

static void set_up(void)
{
    calc_errors errors = {0};
    ck_assert_int_eq(
        calc_load(CALC_KIND_APP, &app, CALC_DATA_DIR_SOURCE "/models/gpt3-175B.json", &errors),
        CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &machine,
                               CALC_DATA_DIR_SOURCE "/systems/a100_80g.json", &errors),
                     CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_EXEC, &example,
                               CALC_DATA_DIR_SOURCE "/executions/3072_t4_p64_d12_mbs4_full.json",
                               &errors),
                     CALC_OK);
}

const calc_test_frame calc_tests = {.setup = set_up};

static void assert_sum(const double *part, size_t count, double whole, const char *what,
                       const calc_exec *exec)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += part[i];
    }
    ck_assert_msg(fabs(sum - whole) <= 1e-12 * whole,
                  "%s: the parts sum to %.17g, the whole is %.17g; recompute %d, offload %d %d %d",
                  what, sum, whole, (int)exec->strategy.activation_recompute,
                  exec->strategy.weight_offload, exec->strategy.activations_offload,
                  exec->strategy.optimizer_offload);
}

/* All ways to offload and recompute, in training (and inference, which recomputes nothing), as
 * memory is counted by us and by Calculon. */
CALC_TEST_LOOP(the_parts_add_up_in_every_layout, 0, 2)
{
    const calc_compat rules = _i ? CALC_COMPAT_CALCULON : CALC_COMPAT_NONE;
    enum { OFFLOADS = 8 };
    int checked = 0;
    double kind_s[CALC_STACK_KINDS];
    for (int i = 0; i < OFFLOADS * CLASSIC_RECOMPUTES * 2; i++) {
        calc_exec exec = example;
        calc_stats stats;
        calc_errors errors = {0};
        exec.pipeline_par = 16;
        exec.strategy.data_par = 48;
        exec.strategy.weight_offload = i & 1;
        exec.strategy.activations_offload = i & 2;
        exec.strategy.optimizer_offload = i & 4;
        exec.strategy.activation_recompute =
            (calc_activation_recompute)(i / OFFLOADS % CLASSIC_RECOMPUTES);
        exec.training = i / (OFFLOADS * CLASSIC_RECOMPUTES) == 0;
        exec.strategy.optimizer_sharding = exec.training;
        if (calc_check(&app, &machine, &exec, &errors) != CALC_OK) {
            continue;
        }
        double time_s[CALC_BREAKDOWN_TIMES];
        double space_bytes[CALC_BREAKDOWN_SPACES];
        calc_run(&app, &machine, &exec, rules, &stats);
        calc_breakdown_times(&stats, time_s);
        assert_sum(time_s, CALC_BREAKDOWN_TIMES, stats.total_time, "time", &exec);
        calc_breakdown_kinds(&stats, kind_s);
        assert_sum(kind_s, CALC_STACK_KINDS, stats.total_time, "kinds of time", &exec);
        ck_assert_double_eq(kind_s[CALC_STACK_BUBBLE], stats.bubble_time);
        calc_breakdown_spaces(&exec, &stats, 1, space_bytes);
        assert_sum(space_bytes, CALC_BREAKDOWN_SPACES, stats.proc_mem_tier1_cap_req, "tier 1",
                   &exec);
        calc_breakdown_spaces(&exec, &stats, 2, space_bytes);
        assert_sum(space_bytes, CALC_BREAKDOWN_SPACES, stats.proc_mem_tier2_cap_req, "tier 2",
                   &exec);
        checked++;
    }
    ck_assert_int_ge(checked, OFFLOADS * CLASSIC_RECOMPUTES);
}

/* What is lost and what is used are the whole peak: in training, serving, and by Calculon's rules.
 */
CALC_TEST(losses_and_utilisation_are_the_peak)
{
    for (int i = 0; i < MODERN_LAYOUTS + 2; i++) {
        shipped_case c = i < MODERN_LAYOUTS
                             ? modern_layout(i)
                             : load_case("llama3-70B", "h200", "llama3-70B_serving_8");
        calc_stats s;
        double lost[CALC_BREAKDOWN_LOSSES];
        if (i > MODERN_LAYOUTS) {
            c = (shipped_case){.app = app, .system = machine, .exec = example};
        }
        calc_run(&c.app, &c.system, &c.exec,
                 i > MODERN_LAYOUTS ? CALC_COMPAT_CALCULON : CALC_COMPAT_NONE, &s);
        calc_breakdown_losses(&s, lost);
        double sum = s.model_flops_utilization;
        for (int k = 0; k < CALC_BREAKDOWN_LOSSES; k++) {
            sum += lost[k];
        }
        ck_assert_double_eq_tol(sum, 1, 1e-12);
        ck_assert_double_gt(lost[0], 0);
    }
    shipped_case c = modern_layout(3);
    calc_stats s;
    double lost[CALC_BREAKDOWN_LOSSES];
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
    calc_breakdown_losses(&s, lost);
    ck_assert_double_eq_tol(lost[4], s.bubble_time / s.total_time, 1e-15);
    ck_assert_double_eq_tol(lost[1], s.recompute_time / s.total_time, 1e-15);
}

CALC_TEST(the_parts_of_modern_layouts_add_up)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        double time_s[CALC_BREAKDOWN_TIMES];
        double space_bytes[CALC_BREAKDOWN_SPACES];
        calc_stats stats;
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stats);
        calc_breakdown_times(&stats, time_s);
        assert_sum(time_s, CALC_BREAKDOWN_TIMES, stats.total_time, "time", &c.exec);
        calc_breakdown_spaces(&c.exec, &stats, 1, space_bytes);
        assert_sum(space_bytes, CALC_BREAKDOWN_SPACES, stats.proc_mem_tier1_cap_req, "tier 1",
                   &c.exec);
    }
}

/* What a bar looks like, through a file: outputs have no other end. */
static void assert_bar(double fraction, bool color, bool utf8, const char *expected)
{
    char path[] = "/tmp/check_breakdown_XXXXXX";
    char text[256] = "";
    calc_errors errors = {0};
    calc_output *out;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(calc_output_open(&out, path, &errors), CALC_OK);
    const calc_paint paint = {.color = color, .utf8 = utf8};
    calc_paint_bar(out, &paint, CALC_PAINT_GREEN, fraction, 4);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    close(fd);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(path);
    ck_assert_str_eq(text, expected);
}

/* Sum of the members of a JSON object in the file, which is removed. */
static double sum_of_json(const char *path)
{
    double sum = 0;
    const char *key;
    json_t *value;
    json_t *object = json_load_file(path, 0, NULL);
    ck_assert(json_is_object(object));
    json_object_foreach (object, key, value) {
        ck_assert_msg(json_number_value(value) > 0, "%s", key);
        sum += json_number_value(value);
    }
    json_decref(object);
    ck_assert_int_eq(remove(path), 0);
    return sum;
}

CALC_TEST(the_parts_in_json_add_up_and_have_the_names_of_the_table)
{
    char path[] = "/tmp/calc-breakdown-XXXXXX";
    int made = mkstemp(path);
    ck_assert_int_ge(made, 0);
    close(made);
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        calc_errors errors = {0};
        calc_stats s;
        calc_output *out;
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
        ck_assert_int_eq(calc_output_open(&out, path, &errors), CALC_OK);
        calc_put put = calc_put_to(out);
        calc_breakdown_put_time(&put, NULL, &s);
        ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
        json_t *time = json_load_file(path, 0, NULL);
        ck_assert_double_eq(json_number_value(json_object_get(time, "forward")), s.fw_time);
        json_decref(time);
        ck_assert_double_eq_tol(sum_of_json(path), s.total_time, 1e-9 * s.total_time);
        ck_assert_int_eq(calc_output_open(&out, path, &errors), CALC_OK);
        put = calc_put_to(out);
        calc_breakdown_put_memory(&put, NULL, &c.exec, &s, 1, true);
        ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
        ck_assert_double_eq_tol(sum_of_json(path), s.proc_mem_tier1_cap_req,
                                1e-9 * s.proc_mem_tier1_cap_req);
    }
}

CALC_TEST(bars_have_the_same_width_whatever_they_show)
{
    assert_bar(0, false, true, "    ");
    assert_bar(1e-9, false, true, "▏   ");
    assert_bar(0.5, false, true, "██  ");
    assert_bar(0.6, false, true, "██▍ ");
    assert_bar(0.99, false, true, "████");
    assert_bar(1, false, true, "████");
    assert_bar(2.4, false, true, "████");
    assert_bar((double)INFINITY, false, true, "████");
    assert_bar((double)NAN, false, true, "    ");
    assert_bar(-1, false, true, "    ");
    assert_bar(1e-9, false, false, "-   ");
    assert_bar(0.6, false, false, "##- ");
    assert_bar(1, false, false, "####");
    assert_bar(0.5, true, false, "\033[32m##  \033[0m");
}

CALC_TEST(the_locale_decides_on_block_characters)
{
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    unsetenv("LANG");
    ck_assert(!calc_paint_stdout("never").utf8);
    setenv("LANG", "de_DE.utf8", 1);
    ck_assert(calc_paint_stdout("never").utf8);
    setenv("LC_CTYPE", "C", 1);
    ck_assert(!calc_paint_stdout("never").utf8);
    setenv("LC_ALL", "", 1);
    ck_assert(!calc_paint_stdout("never").utf8);
    setenv("LC_ALL", "C.UTF-8", 1);
    ck_assert(calc_paint_stdout("never").utf8);
    setenv("LC_ALL", "en_US.ISO-8859-1", 1);
    ck_assert(!calc_paint_stdout("never").utf8);
}

enum { COLUMNS = 20 };

static void count(const calc_plot_kind *kind, int columns, int seen[CALC_PLOT_KINDS])
{
    for (int k = 0; k < CALC_PLOT_KINDS; k++) {
        seen[k] = 0;
    }
    for (int i = 0; i < columns; i++) {
        seen[kind[i]]++;
    }
}

CALC_TEST(a_kind_shows_as_often_as_its_share)
{
    calc_plot_share share[COLUMNS] = {0};
    calc_plot_kind kind[COLUMNS];
    int seen[CALC_PLOT_KINDS];
    for (int i = 0; i < COLUMNS; i++) {
        share[i].of[CALC_PLOT_FORWARD] = 0.25;
        share[i].of[CALC_PLOT_BACKWARD] = 0.65;
        share[i].of[CALC_PLOT_IDLE] = 0.1;
    }
    calc_plot_choose(share, COLUMNS, kind);
    count(kind, COLUMNS, seen);
    ck_assert_int_eq(seen[CALC_PLOT_FORWARD], 5);
    ck_assert_int_eq(seen[CALC_PLOT_BACKWARD], 13);
    ck_assert_int_eq(seen[CALC_PLOT_IDLE], 2);
}

/* Forward is due for most of a column when it ends, but does not happen after. */
CALC_TEST(a_column_shows_only_what_happens_in_it)
{
    calc_plot_share share[3] = {0};
    calc_plot_kind kind[3];
    share[0].of[CALC_PLOT_FORWARD] = 0.45;
    share[0].of[CALC_PLOT_WGRAD] = 0.55;
    share[1].of[CALC_PLOT_BACKWARD] = 1;
    share[2].of[CALC_PLOT_FORWARD] = 0.1;
    share[2].of[CALC_PLOT_IDLE] = 0.9;
    calc_plot_choose(share, 3, kind);
    ck_assert_int_eq(kind[0], CALC_PLOT_WGRAD);
    ck_assert_int_eq(kind[1], CALC_PLOT_BACKWARD);
    ck_assert_int_eq(kind[2], CALC_PLOT_IDLE);
}

CALC_TEST(a_column_in_which_nothing_happens_is_idle)
{
    calc_plot_share share[1] = {0};
    calc_plot_kind kind[1] = {CALC_PLOT_FORWARD};
    calc_plot_choose(share, 1, kind);
    ck_assert_int_eq(kind[0], CALC_PLOT_IDLE);
}
