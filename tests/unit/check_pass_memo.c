#include "model/serve/inference_pass.h"

#include "frame.h"
#include "serving_case.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 8 };

static calc_pass_memo_entry entry[PLACES];
static calc_pass_memo memo;

static void setup(void)
{
    for (size_t i = 0; i < PLACES; i++) {
        entry[i] = (calc_pass_memo_entry){.known = false};
    }
    memo = (calc_pass_memo){.count = PLACES, .entry = entry};
}

const calc_test_frame calc_tests = {.setup = setup};

static calc_inference_pass_work decoded(double sequences)
{
    return (calc_inference_pass_work){.sequences = sequences, .queries = 1, .context = 100};
}

static calc_pass_memo_entry *at(uint64_t number, uint64_t variant, double sequences)
{
    calc_inference_pass_work work = decoded(sequences);
    return calc_pass_memo_at(&memo, number, variant, &work);
}

static void keep(uint64_t number, uint64_t variant, double sequences, double flop)
{
    calc_pass_memo_entry *e = at(number, variant, sequences);
    ck_assert(!e->known);
    e->cost.head_flop = flop;
    e->known = true;
}

CALC_TEST(what_was_kept_is_found)
{
    keep(1, 0, 4, 17);
    ck_assert(at(1, 0, 4)->known);
    ck_assert_double_eq(at(1, 0, 4)->cost.head_flop, 17);
}

/* Every member of the batch tells it apart; so do the number and the variant. */
CALC_TEST(another_batch_number_or_variant_is_not_known)
{
    const calc_inference_pass_work none = {0};
    enum { MEMBERS = sizeof none / sizeof(double) };
    for (size_t i = 0; i < MEMBERS; i++) {
        double member[MEMBERS] = {0};
        calc_inference_pass_work other;
        setup();
        calc_pass_memo_at(&memo, 1, 0, &none)->known = true;
        member[i] = 1;
        memcpy(&other, member, sizeof other);
        ck_assert(!calc_pass_memo_at(&memo, 1, 0, &other)->known);
    }
    setup();
    keep(1, 0, 4, 17);
    ck_assert(!at(1, 1, 4)->known);
    setup();
    keep(1, 0, 4, 17);
    ck_assert(!at(2, 0, 4)->known);
}

CALC_TEST(the_next_number_has_the_next_place)
{
    for (uint64_t number = 1; number < 3 * PLACES; number++) {
        ptrdiff_t step = at(number + 1, 0, 4) - at(number, 0, 4);
        ck_assert_int_eq((step + PLACES) % PLACES, 1);
    }
}

/* As many numbers as there are places: the one behind them has the first one's. */
CALC_TEST(of_two_on_one_place_the_later_stays)
{
    keep(1, 0, 4, 17);
    keep(1 + PLACES, 0, 4, 18);
    ck_assert_double_eq(at(1 + PLACES, 0, 4)->cost.head_flop, 18);
    ck_assert(!at(1, 0, 4)->known);
}

CALC_TEST(what_is_in_common_is_kept_where_there_is_room)
{
    static calc_pass_common_entry common[PLACES];
    calc_inference_pass_work work = decoded(4);
    ck_assert_ptr_null(calc_pass_memo_common_at(&memo, 1, 0, &work));
    memo.commons = PLACES;
    memo.common = common;
    calc_pass_common_entry *e = calc_pass_memo_common_at(&memo, 1, 0, &work);
    ck_assert(!e->known);
    e->known = true;
    ck_assert(calc_pass_memo_common_at(&memo, 1, 0, &work)->known);
    ck_assert(!at(1, 0, 4)->known);
    ck_assert(!calc_pass_memo_common_at(&memo, 1, 1, &work)->known);
}

CALC_TEST(a_pass_that_was_kept_is_the_one_that_was_computed)
{
    static calc_pass_memo_entry kept[16];
    memo = (calc_pass_memo){.count = 16, .entry = kept};
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 4, 1, 8);
    calc_inference_pass_model model;
    calc_inference_pass_work work = decoded(2);
    calc_inference_pass want;
    calc_inference_pass got;
    calc_inference_pass_model_init(&model, &app, &system, &exec);
    calc_inference_pass_of(&model, &work, &want);
    model.memo = &memo;
    model.number = 1;
    for (int i = 0; i < 3; i++) {
        calc_inference_pass_of(&model, &work, &got);
        ck_assert_double_eq(got.latency_s, want.latency_s);
        ck_assert_double_eq(got.flop, want.flop);
    }
    size_t known = 0;
    for (size_t i = 0; i < memo.count; i++) {
        known += kept[i].known;
    }
    ck_assert_uint_eq(known, 1);
}

/* The same for what strategies have in common that spread experts another way; drafts are not. */
CALC_TEST(a_pass_is_the_same_with_what_was_kept_of_another)
{
    static calc_pass_memo_entry kept[16];
    static calc_pass_common_entry common[16];
    memo = (calc_pass_memo){16, kept, 16, common};
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_system system = memory_bound_system();
    for (int64_t drafts = 0; drafts < 2; drafts++) {
        for (int64_t ranks = 1; ranks <= 8; ranks *= 2) {
            calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 8, 64);
            exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
            exec.strategy.expert_par = ranks;
            exec.inference.speculative_tokens = drafts;
            calc_inference_pass_model model;
            calc_inference_pass_work work = {.prompts = 1, .chunk = 100, .finished = 1};
            calc_inference_pass got;
            calc_inference_pass want;
            calc_inference_pass_model_init(&model, &app, &system, &exec);
            calc_inference_pass_of(&model, &work, &want);
            model.memo = &memo;
            model.number = (uint64_t)(8 * drafts + ranks);
            model.common = (uint64_t)(1 + drafts);
            calc_inference_pass_of(&model, &work, &got);
            ck_assert_mem_eq(&got.cost, &want.cost, sizeof want.cost);
            ck_assert_double_eq(got.latency_s, want.latency_s);
            ck_assert_double_eq(got.flop, want.flop);
        }
    }
    size_t known = 0;
    for (size_t i = 0; i < memo.commons; i++) {
        known += common[i].known;
    }
    ck_assert_uint_eq(known, 1);
}
