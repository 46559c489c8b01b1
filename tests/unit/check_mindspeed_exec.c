/* Configurations as executions, and what calc's model says of them. */
#include "mindspeed/memory.h"

#include <math.h>

#include "formats/import.h"
#include "formats/read.h"
#include "frame.h"
#include "io/text.h"
#include "mindspeed/arguments.h"

#define SCRIPT CALC_TEST_DATA "/mindspeed/llama_7b.launch"

static calc_mindspeed_arguments args;
static calc_system device;

static void setup(void)
{
    calc_errors errors = {0};
    calc_text text = {0};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_text_read(&text, SCRIPT, &errors), CALC_OK);
    ck_assert_int_eq(calc_settings_from_script(&settings, text.data, text.length), CALC_OK);
    ck_assert_int_eq(
        calc_mindspeed_arguments_read(&args, &settings, CALC_MINDSPEED_GEN2, NULL, &errors),
        CALC_OK);
    calc_settings_free(&settings);
    calc_text_free(&text);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &device,
                               CALC_DATA_DIR_SOURCE "/systems/ascend_910b.json", &errors),
                     CALC_OK);
}

const calc_test_frame calc_tests = {.setup = setup};

static calc_exec exec_of(calc_mindspeed_config config)
{
    calc_errors errors = {0};
    calc_app app;
    calc_exec exec;
    calc_status status = calc_mindspeed_exec_of(&args.plan, &config, &app, &exec, &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
    ck_assert_int_eq(app.num_blocks, 32);
    return exec;
}

/* The script has pp 8 and micro-batches of 4: neither is left. */
CALC_TEST(sizes_are_those_of_the_configuration)
{
    calc_exec e = exec_of((calc_mindspeed_config){4, 2, 1, 1, 1, 2, 8, 0});
    ck_assert_int_eq(e.num_procs, 8);
    ck_assert_int_eq(e.pipeline_par, 4);
    ck_assert_int_eq(e.pipeline_interleaving, 8);
    ck_assert_int_eq(e.strategy.tensor_par, 2);
    ck_assert_int_eq(e.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    ck_assert_int_eq(e.strategy.data_par, 1);
    ck_assert_int_eq(e.strategy.context_par, 0);
    ck_assert_int_eq(e.microbatch_size, 2);
    ck_assert_int_eq(e.batch_size, 256);
    ck_assert_int_eq(e.strategy.datatype, CALC_DATATYPE_FLOAT16);
}

CALC_TEST(split_sequences)
{
    calc_exec ring = exec_of((calc_mindspeed_config){1, 1, 4, 2, 1, 1, 1, 0});
    ck_assert_int_eq(ring.strategy.context_par, 2);
    ck_assert_int_eq(ring.strategy.context_par_type, CALC_CONTEXT_PAR_TYPE_RING);
    calc_exec heads = exec_of((calc_mindspeed_config){1, 1, 4, 1, 2, 1, 1, 0});
    ck_assert_int_eq(heads.strategy.context_par, 2);
    ck_assert_int_eq(heads.strategy.context_par_type, CALC_CONTEXT_PAR_TYPE_ULYSSES);
    calc_exec both = exec_of((calc_mindspeed_config){1, 1, 1, 2, 4, 1, 1, 0});
    ck_assert_int_eq(both.strategy.context_par, 8);
    ck_assert_int_eq(both.strategy.context_par_type, CALC_CONTEXT_PAR_TYPE_HIERARCHICAL);
    ck_assert_int_eq(both.strategy.context_par_inner, 4);
}

/* What scripts say of stages is dropped: with it, no other number of them would be possible. */
CALC_TEST(stages_of_the_script)
{
    const char *const words[] = {"--decoder-first-pipeline-num-layers", "3", "--num-layers", "32"};
    calc_settings settings = {0};
    calc_errors errors = {0};
    calc_plan plan;
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(calc_settings_from_words(&settings, words, 4), CALC_OK);
    const calc_import import = {.framework = &calc_framework_mindspeed, .settings = &settings};
    ck_assert_int_eq(calc_import_plan(&import, &plan, &errors), CALC_OK);
    calc_settings_free(&settings);
    const calc_mindspeed_config config = {4, 1, 2, 1, 1, 1, 1, 0};
    ck_assert_int_eq(calc_mindspeed_exec_of(&plan, &config, &app, &exec, &errors), CALC_OK);
    ck_assert_int_eq(exec.first_stage_blocks, 0);
}

/* calc_run() of the same execution, and what one layer of it keeps. */
CALC_TEST(by_the_model)
{
    const calc_mindspeed_config config = {1, 8, 1, 1, 1, 1, 1, 0};
    calc_errors errors = {0};
    calc_app app;
    calc_exec exec;
    calc_stats stats;
    calc_mindspeed_modelled m = calc_mindspeed_modelled_of(&args.plan, &device, &config);
    ck_assert_int_eq(calc_mindspeed_exec_of(&args.plan, &config, &app, &exec, &errors), CALC_OK);
    ck_assert_int_eq(calc_check(&app, &device, &exec, &errors), CALC_OK);
    calc_verdict verdict = calc_run(&app, &device, &exec, CALC_COMPAT_NONE, &stats);
    ck_assert_str_eq(m.why, "");
    ck_assert_int_eq(m.fits, verdict == CALC_VERDICT_OK);
    ck_assert_double_eq(m.step_s, stats.total_time);
    ck_assert_double_eq(m.peak_bytes, stats.proc_mem_tier1_cap_req);
    ck_assert_double_eq(m.layer_bytes, stats.block_act_storage_space);
    ck_assert_double_gt(m.step_s, 0);
}

/* One that does not fit has a time; one that cannot be laid out has a reason. */
CALC_TEST(what_cannot_be_run)
{
    const calc_mindspeed_config whole = {1, 1, 8, 1, 1, 8, 1, 0};
    calc_mindspeed_modelled m = calc_mindspeed_modelled_of(&args.plan, &device, &whole);
    ck_assert(!m.fits && isfinite(m.step_s));
    ck_assert_double_gt(m.peak_bytes, device.chip.mem1.capacity_bytes);
    const calc_mindspeed_config odd = {1, 3, 1, 1, 1, 1, 1, 0};
    m = calc_mindspeed_modelled_of(&args.plan, &device, &odd);
    ck_assert(isinf(m.step_s) && isinf(m.peak_bytes));
    ck_assert_str_ne(m.why, "");
}
