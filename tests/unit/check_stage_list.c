/* Lists of stages: runs of equal ones, their chips and their parts. */
#include "spec/stage_list.h"

#include "frame.h"
#include "small_case.h"

static calc_app app;
static calc_exec exec;

/* Eight blocks on four stages. */
static void setup(void)
{
    app = small_app();
    exec = small_exec(1, 4, 1);
}

const calc_test_frame calc_tests = {.setup = setup};

static void add(int places, int blocks, int chip)
{
    exec.stages.run[exec.stages.count++] = (calc_stage_run){.places = (int16_t)places,
                                                            .blocks = (int16_t)blocks,
                                                            .recompute = CALC_STAGE_AS_EXEC,
                                                            .recompute_blocks = CALC_STAGE_AS_EXEC,
                                                            .chip = (int16_t)chip};
}

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
    ck_assert_int_eq(calc_stage_list_chip(&exec.stages, "chip0"), 1);
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
