#include "mindspeed/compose.h"

#include "frame.h"
#include "mindspeed_case.h"

enum { SAMPLES = 7 };

static llama_case l;

static bool exec_of(const void *context, const calc_mindspeed_config *config, calc_app *app,
                    calc_exec *exec)
{
    const llama_case *here = context;
    *app = here->app;
    return config->pp < 8 && parse_exec(config, "", exec);
}

static bool modules_of(const void *context, const calc_mindspeed_config *config,
                       calc_mindspeed_module_times *out)
{
    *out = *(const calc_mindspeed_module_times *)context;
    return config->pp > 1;
}

static calc_mindspeed_judge open_judge(void)
{
    open_llama(&l, &llama_configs[0], "");
    return (calc_mindspeed_judge){
        .job = &llama_job, .system = &l.system, .exec = exec_of, .exec_context = &l};
}

CALC_TEST(samples_of_a_step)
{
    calc_mindspeed_judge judge = open_judge();
    double s[SAMPLES];
    ck_assert(calc_mindspeed_time(&judge, &llama_configs[0], s, SAMPLES));
    for (int i = 0; i < SAMPLES; i++) {
        ck_assert_double_eq(s[i], calc_says_s(&l));
    }
}

/* Nine stages, or heads that do not divide. */
CALC_TEST(what_cannot_be_laid_out_has_no_time)
{
    static const calc_mindspeed_config none[] = {{8, 1, 1, 1, 1, 1, 1, 0},
                                                 {1, 3, 1, 1, 1, 1, 1, 0}};
    calc_mindspeed_judge judge = open_judge();
    for (int i = 0; i < 2; i++) {
        double s[SAMPLES] = {0};
        ck_assert(!calc_mindspeed_time(&judge, &none[i], s, SAMPLES));
        ck_assert(isinf(s[0]) && isinf(s[SAMPLES - 1]));
    }
}

CALC_TEST(modules_count_where_they_were_profiled)
{
    calc_mindspeed_judge judge = open_judge();
    const calc_mindspeed_module_times m = {.layer_s = 1, .backward = 2};
    double s[SAMPLES];
    judge.modules = modules_of;
    judge.modules_context = &m;
    ck_assert(calc_mindspeed_time(&judge, &llama_configs[2], s, SAMPLES));
    ck_assert_double_gt(s[0], 64 * 16 * 3);
    ck_assert_double_eq(s[0], s[SAMPLES - 1]);
    ck_assert(calc_mindspeed_time(&judge, &llama_configs[0], s, SAMPLES));
    ck_assert_double_eq(s[0], calc_says_s(&l));
}

/* Two configurations of the same shapes have the same draws: what differs is scaled alike. */
CALC_TEST(draws_are_common)
{
    static const calc_mindspeed_config a = {1, 4, 2, 1, 1, 1, 1, 0}, b = {2, 4, 1, 1, 1, 1, 1, 0};
    calc_mindspeed_judge judge = open_judge();
    const calc_mindspeed_sampling sampling = {200, 1, 0.1};
    calc_mindspeed_operators o;
    double x[200], y[200], mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    calc_mindspeed_operators_start(&o, &llama_job, &l.app, &l.system, NULL, &sampling);
    judge.operators = &o;
    ck_assert(calc_mindspeed_time(&judge, &a, x, 200));
    ck_assert(calc_mindspeed_time(&judge, &b, y, 200));
    for (int i = 0; i < 200; i++) {
        mx += x[i] / 200;
        my += y[i] / 200;
    }
    for (int i = 0; i < 200; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    ck_assert_double_gt(sqrt(xx / 200) / mx, 0.02);
    ck_assert_double_gt(xy / sqrt(xx * yy), 0.999);
    calc_mindspeed_operators_free(&o);
}
