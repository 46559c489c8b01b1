/* Rules of lists of stages (calc_exec.stages), through calc_check(); and the lists themselves. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "frame.h"
#include "small_case.h"
#include "spec/stage_list.h"

static calc_app app;
static calc_system system_, other;
static calc_exec exec;

/* Eight blocks on four stages. */
static void setup(void)
{
    app = small_app();
    system_ = small_system();
    other = small_system();
    exec = small_exec(1, 4, 1);
    exec.num_procs = 4;
}

const calc_test_frame calc_tests = {.setup = setup};

static void add(int places, int blocks, int chip)
{
    exec.stages.run[exec.stages.count++] = (calc_stage_run){.places = (int16_t)places,
                                                            .blocks = (int16_t)blocks,
                                                            .recompute = CALC_STAGE_AS_EXEC,
                                                            .recompute_blocks = CALC_STAGE_AS_EXEC,
                                                            .chip = (uint8_t)chip};
}

static void name(const calc_system *system)
{
    char text[8];
    snprintf(text, sizeof text, "chip%d", exec.stages.chips);
    int chip = calc_stage_list_chip(&exec.stages, text);
    exec.stages.system[chip - 1] = system;
}

static void legal(void)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_check(&app, &system_, &exec, &errors) == CALC_OK, "%s", errors.item[0].text);
}

static void broken(calc_status status, const char *text, const char *hint)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_check(&app, &system_, &exec, &errors), status);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_str_eq(errors.item[0].hint, hint);
    ck_assert_str_eq(errors.item[0].pointer, "/stages");
    ck_assert_int_eq(errors.count, 1);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* A chunk with the head alone, and none elsewhere. */
CALC_TEST(only_ends_may_have_no_blocks)
{
    app.vocab_size = 512;
    add(1, 3, 0);
    add(1, 3, 0);
    add(1, 2, 0);
    add(1, 0, 0);
    legal();
    app.vocab_size = 0;
    broken(CALC_ERR_RULE, "stage 3 of the list has no blocks",
           "only the first and the last may, with the embedding or the head alone");
    app.vocab_size = 512;
    exec.stages.run[2].blocks = 0;
    exec.stages.run[3].blocks = 2;
    broken(CALC_ERR_RULE, "stage 2 of the list has no blocks",
           "only the first and the last may, with the embedding or the head alone");
}

CALC_TEST(there_is_an_entry_per_stage_or_per_chunk)
{
    add(4, 2, 0);
    legal();
    exec.stages.run[0].places = 3;
    broken(CALC_ERR_RULE, "3 stages are listed, but pipeline_par = 4", "");
    exec.pipeline_interleaving = 2;
    broken(CALC_ERR_RULE, "3 stages are listed, but pipeline_par = 4",
           "or 8: a chunk each, along the model");
    exec.stages.run[0] = (calc_stage_run){8, 1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};
    legal();
}

CALC_TEST(there_are_at_most_128_places)
{
    app.num_blocks = 256;
    exec.pipeline_interleaving = 32;
    add(4, 64, 0);
    legal();
    exec.pipeline_interleaving = 33;
    broken(CALC_ERR_RULE, "stages are listed for at most 128 stages and chunks, not 132",
           "leave the list out, or lower pipeline_par or pipeline_interleaving");
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

CALC_TEST(blocks_are_those_of_the_model)
{
    add(1, 1, 0);
    add(2, 3, 0);
    add(1, 1, 0);
    legal();
    exec.stages.run[2].blocks = 2;
    broken(CALC_ERR_RULE, "the blocks of the stages are 9 together, the model has 8",
           "1 blocks too many");
    exec.stages.run[0].blocks = exec.stages.run[2].blocks = 1;
    exec.stages.run[1].blocks = 2;
    broken(CALC_ERR_RULE, "the blocks of the stages are 6 together, the model has 8",
           "2 blocks are missing");
    exec.stages.run[1].blocks = CALC_STAGE_AS_EXEC;
    broken(CALC_ERR_RULE, "blocks of 2 stages of 4 are given",
           "give all, or none for an even split");
}

CALC_TEST(blocks_that_are_not_given_split_evenly)
{
    add(4, CALC_STAGE_AS_EXEC, 0);
    legal();
    exec.pipeline_interleaving = 2;
    legal();
    exec.pipeline_interleaving = 4;
    broken(CALC_ERR_RULE, "8 blocks do not split evenly over 4 stages of 4 chunks",
           "give their blocks");
    exec.pipeline_interleaving = 1;
    app.num_blocks = 9;
    broken(CALC_ERR_RULE, "9 blocks do not split evenly over 4 stages", "give their blocks");
}

CALC_TEST(blocks_of_a_stage_split_over_its_chunks)
{
    exec.pipeline_interleaving = 2;
    add(2, 2, 0);
    add(1, 3, 0);
    add(1, 1, 0);
    broken(CALC_ERR_RULE, "the 3 blocks of stage 2 do not split over its 2 chunks",
           "give a multiple, or list every chunk along the model");
}

/* ---- Beside it ------------------------------------------------------------------------------- */

CALC_TEST(blocks_are_not_said_twice)
{
    const char *text = "the blocks of every stage are listed already";
    const char *hint = "leave pipeline_balance, first_stage_blocks and last_stage_blocks out";
    add(4, 2, 0);
    exec.first_stage_blocks = 2;
    broken(CALC_ERR_RULE, text, hint);
    exec.first_stage_blocks = 0;
    exec.last_stage_blocks = 2;
    broken(CALC_ERR_RULE, text, hint);
    exec.stages.run[0].blocks = CALC_STAGE_AS_EXEC;
    legal(); /* they are not, here */
}

CALC_TEST(a_stage_with_both_ends_is_not_listed)
{
    add(4, 2, 0);
    exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_H1;
    legal();
    exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_V;
    broken(CALC_ERR_RULE,
           "with pipeline_schedule \"zb_v\" a stage has both ends of the model: its stages are "
           "not listed",
           "use \"1f1b\", \"gpipe\", \"zb_h1\" or \"zb_h2\"");
}

/* ---- Recomputation --------------------------------------------------------------------------- */

CALC_TEST(blocks_recompute_something)
{
    add(4, 2, 0);
    exec.stages.run[0].recompute_blocks = 1;
    broken(CALC_ERR_RULE, "stage 0 has recompute_blocks 1, but its activation_recompute is none",
           "give activation_recompute, of the stages or of all");
    exec.stages.run[0].recompute_blocks = 0;
    legal();
    exec.stages.run[0].recompute_blocks = 1;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    legal();
    exec.stages.run[0].modules = 1;
    broken(CALC_ERR_RULE, "stage 0 has recompute_modules of its own",
           "give its activation_recompute, too: \"modules\"");
}

CALC_TEST(chunks_of_a_stage_are_on_one_system_and_recompute_one_way)
{
    exec.pipeline_interleaving = 2;
    name(&other);
    add(4, 1, 0);
    add(4, 1, 1);
    broken(CALC_ERR_RULE, "chunks of stage 0 are on different systems",
           "chunks of a stage are on the same processors");
    exec.stages.run[0].chip = 1;
    exec.stages.run[0].recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    exec.stages.run[1].recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    broken(CALC_ERR_RULE, "chunks of stage 0 recompute in different ways",
           "let them differ in recompute_blocks only");
    exec.stages.run[1].recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    legal();
}

/* ---- Systems --------------------------------------------------------------------------------- */

CALC_TEST(systems_that_are_named_are_given_and_can_run_it)
{
    name(&other);
    add(2, 2, 0);
    add(2, 2, 1);
    legal();
    other.chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s = 0;
    broken(CALC_ERR_RULE,
           "stages on chip0: datatype: the system's matrix engine does not offer float16",
           "use float8 or bfloat16 or float32");
    exec.stages.system[0] = NULL;
    broken(CALC_ERR_UNSUPPORTED, "system \"chip0\" was not given",
           "put it into calc_exec.stages.system");
}

/* A list with nothing but one system says which machine the execution is for. */
CALC_TEST(a_layout_for_one_system_is_not_run_on_another)
{
    name(&other);
    add(4, CALC_STAGE_AS_EXEC, 1);
    legal(); /* another name for the same */
    other.chip.mem1.capacity_bytes *= 2;
    broken(CALC_ERR_RULE, "this is a layout for chip0, and the system of the run is another one",
           "give chip0 as SYS, or --set stages=null");
    exec.stages.run[0].blocks = 2; /* a list of stages, which may all be elsewhere */
    legal();
}

CALC_TEST(more_than_sixteen_recipes_are_too_many)
{
    exec = small_exec(1, 16, 1);
    app.num_blocks = 16;
    for (int i = 0; i < 7; i++) {
        name(&other);
    }
    for (int i = 0; i < 16; i++) {
        add(1, 1, i / 2);
        exec.stages.run[i].recompute =
            (int8_t)(i % 2 ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE);
    }
    legal();
    app.num_blocks = 17;
    exec.pipeline_par = exec.num_procs = 17;
    add(1, 1, 3);
    exec.stages.run[16].recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    broken(CALC_ERR_RULE, "more than 16 pairs of a system and what is recomputed",
           "let stages agree in activation_recompute and recompute_modules");
}

/* ---- Lists ----------------------------------------------------------------------------------- */

CALC_TEST(runs_are_places_and_back)
{
    calc_stage_run place[CALC_MAX_PLACES];
    calc_stage_list packed = {0};
    add(3, 2, 0);
    add(1, 1, 0);
    add(2, 1, 1);
    ck_assert_int_eq(calc_stage_list_places(&exec.stages), 6);
    ck_assert_int_eq(calc_stage_list_expand(&exec.stages, place), 6);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(place[i].places, 1);
        ck_assert_int_eq(place[i].blocks, i < 3 ? 2 : 1);
        ck_assert_int_eq(place[i].chip, i > 3);
    }
    ck_assert(calc_stage_list_pack(place, 6, &packed));
    ck_assert_int_eq(packed.count, 3);
    ck_assert_mem_eq(packed.run, exec.stages.run, 3 * sizeof *packed.run);
    for (int i = 0; i < CALC_MAX_PLACES; i++) {
        place[i].blocks = (int16_t)(i < CALC_MAX_STAGE_RUNS ? i : CALC_MAX_STAGE_RUNS - 1);
        place[i].chip = 0;
        place[i] = (calc_stage_run){1, place[i].blocks, -1, -1, 0, 0};
    }
    ck_assert(calc_stage_list_pack(place, CALC_MAX_PLACES, &packed));
    ck_assert_int_eq(packed.count, CALC_MAX_STAGE_RUNS);
    place[CALC_MAX_PLACES - 1].blocks = CALC_MAX_STAGE_RUNS;
    ck_assert(!calc_stage_list_pack(place, CALC_MAX_PLACES, &packed));
}

CALC_TEST(a_name_is_one_chip_and_eight_are_all)
{
    calc_stage_list list = {0};
    ck_assert_int_eq(calc_stage_list_chip(&list, "a"), 1);
    ck_assert_int_eq(calc_stage_list_chip(&list, "b"), 2);
    ck_assert_int_eq(calc_stage_list_chip(&list, "a"), 1);
    ck_assert_int_eq(calc_stage_list_chip(&list, "0123456789abcdef0123456789abcdef"), -1);
    for (int i = 2; i < 8; i++) {
        ck_assert_int_eq(calc_stage_list_chip(&list, (char[]){(char)('a' + i), '\0'}), i + 1);
    }
    ck_assert_int_eq(calc_stage_list_chip(&list, "i"), -1);
    ck_assert_int_eq(list.chips, 8);
}

CALC_TEST(the_fewest_blocks_are_of_a_stage_with_all_its_chunks)
{
    exec.pipeline_interleaving = 2;
    app.num_blocks = 16;
    add(1, 1, 0);
    add(4, 2, 0);
    add(2, 1, 0);
    add(1, 5, 0);
    ck_assert_int_eq(calc_stage_list_fewest(&app, &exec), 3); /* stages: 3 3 3 7 */
    exec.stages.count = 0;
    add(4, CALC_STAGE_AS_EXEC, 0);
    ck_assert_int_eq(calc_stage_list_fewest(&app, &exec), 4);
}

CALC_TEST(a_chip_has_its_share_of_the_stages_and_processors)
{
    exec = small_exec(2, 4, 3);
    name(&other);
    add(1, 2, 0);
    add(3, 2, 1);
    calc_exec part = calc_stage_list_part(&exec, 1);
    ck_assert_int_eq(part.pipeline_par, 3);
    ck_assert_int_eq(part.num_procs, 18);
    part = calc_stage_list_part(&exec, 0);
    ck_assert_int_eq(part.pipeline_par, 1);
    ck_assert_int_eq(part.num_procs, 6);
    ck_assert_int_eq(calc_stage_list_part(&exec, 2).pipeline_par, 0);
}
