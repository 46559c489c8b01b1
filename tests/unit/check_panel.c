/* Panels keep what the step of a lane reads: every member, wherever a lane goes. */
#include "panel.h"

#include <stddef.h>

#include "frame.h"
#include "panel_case.h"

const calc_test_frame calc_tests = {.in_one_process = true};

enum { ROUNDS = 100, SLOTS = sizeof(calc_stage_terms) / sizeof(double) };

static calc_rng rng;
static calc_panel panel, other;
static calc_stage_terms terms[CALC_PANEL_LANES];

/* ---- Members --------------------------------------------------------------------------------- */

/* Members that no lane keeps: nothing reads them. */
static const size_t unread[] = {
    offsetof(calc_stage_terms, embedding.spared_s),
    offsetof(calc_stage_terms, embedding.weights.expert),
    offsetof(calc_stage_terms, embedding.narrowed_bytes),
    offsetof(calc_stage_terms, embedding.kept_bytes),
    offsetof(calc_stage_terms, embedding.away_bytes),
    offsetof(calc_stage_terms, embedding.passing_bytes),
    offsetof(calc_stage_terms, head.spared_s),
    offsetof(calc_stage_terms, head.away_bytes),
    offsetof(calc_stage_terms, head.passing_bytes),
    offsetof(calc_stage_terms, framework_bytes[0][0]),
};
enum { UNREAD = sizeof unread / sizeof *unread };

/* Frozen weights of a part. */
static bool is_frozen_part(size_t offset)
{
    const size_t parts[] = {
        offsetof(calc_stage_terms, block[0].frozen), offsetof(calc_stage_terms, block[1].frozen),
        offsetof(calc_stage_terms, embedding.frozen), offsetof(calc_stage_terms, head.frozen)};
    bool is = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        is = is || (offset >= parts[i] && offset < parts[i] + sizeof(calc_stage_weights));
    }
    return is;
}

/* What layouts of the kernel have not: a flag says so, and the rest is not read. */
static bool is_seldom(size_t offset)
{
    size_t deferred = offsetof(calc_stage_terms, deferred);
    size_t muon = offsetof(calc_stage_terms, muon);
    size_t frozen = offsetof(calc_stage_terms, frozen);
    return (offset >= deferred && offset < deferred + sizeof(calc_stage_deferred)) ||
           (offset >= muon && offset < muon + sizeof(calc_stage_muon)) ||
           (offset >= frozen && offset < frozen + sizeof(calc_stage_frozen)) ||
           is_frozen_part(offset);
}

/* Members that are no doubles. */
static bool is_flag(size_t offset)
{
    const size_t flags[] = {offsetof(calc_stage_terms, compat),
                            offsetof(calc_stage_terms, dense_first),
                            offsetof(calc_stage_terms, head_as_blocks),
                            offsetof(calc_stage_terms, training), offsetof(calc_stage_terms, away)};
    bool is = false;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        is = is || flags[i] / sizeof(double) == offset / sizeof(double);
    }
    return is;
}

static bool is_unread(size_t offset)
{
    bool is = false;
    for (size_t i = 0; i < UNREAD; i++) {
        is = is || unread[i] == offset;
    }
    return is;
}

/* A number in every member. */
static calc_stage_terms whole_terms(calc_compat compat)
{
    calc_stage_terms t = {.compat = compat};
    for (size_t i = 0; i < SLOTS; i++) {
        double value = (double)(i + 1) + calc_rng_real(&rng);
        if (!is_flag(i * sizeof value)) {
            memcpy((char *)&t + i * sizeof value, &value, sizeof value);
        }
    }
    t.training = calc_rng_below(&rng, 2) > 0;
    t.dense_first = (int)calc_rng_below(&rng, 2);
    t.head_as_blocks = (int)calc_rng_below(&rng, 3);
    return t;
}

static calc_stage_terms from_panel(const calc_stage_terms *shared, size_t lane)
{
    calc_stage_terms t;
    memset(&t, 0xff, sizeof t);
    calc_panel_terms(&panel, shared, shared->compat, shared->training, lane, &t);
    return t;
}

/* Whether a lane has given back a number, where that is wanted; what is unread stays as it was. */
static void assert_kept(const calc_stage_terms *got, const calc_stage_terms *want, bool rules)
{
    size_t rule = offsetof(calc_stage_terms, rule);
    for (size_t at = 0; at < SLOTS * sizeof(double); at += sizeof(double)) {
        double a, b;
        memcpy(&a, (const char *)got + at, sizeof a);
        memcpy(&b, (const char *)want + at, sizeof b);
        bool zero = at >= rule && !rules;
        bool kept = is_unread(at) ? isnan(a) : a == (zero ? 0 : b);
        ck_assert_msg(is_flag(at) || is_seldom(at) || kept, "member at %zu: %.17g, not %.17g", at,
                      a, zero ? 0 : b);
    }
    ck_assert_int_eq(got->compat, want->compat);
    ck_assert_int_eq(got->training, want->training);
    ck_assert(!got->deferred.any && !got->muon.any && !got->frozen.any);
    ck_assert_int_eq(got->dense_first, want->dense_first);
    ck_assert_int_eq(got->head_as_blocks, want->head_as_blocks);
}

CALC_TEST_LOOP(every_member_that_is_read_comes_back, 0, 2)
{
    calc_compat compat = _i % 2 ? CALC_COMPAT_CALCULON : CALC_COMPAT_NONE;
    calc_rng_init(&rng, (uint64_t)_i, 1);
    calc_stage_terms shared = whole_terms(compat);
    for (size_t i = 0; i < CALC_PANEL_LANES; i++) {
        terms[i] = whole_terms(compat);
#define CALC_X(member) terms[i].member = shared.member;
        CALC_PANEL_SHARED_LIST(CALC_X)
#undef CALC_X
        terms[i].training = shared.training;
        calc_panel_put(&panel, i, &terms[i]);
    }
    for (size_t i = 0; i < CALC_PANEL_LANES; i++) {
        calc_stage_terms got = from_panel(&shared, i);
        assert_kept(&got, &terms[i], compat != CALC_COMPAT_NONE);
    }
}

/* What is unread may be anything. */
CALC_TEST_LOOP(steps_are_the_same_without_what_is_unread, 0, ROUNDS)
{
    calc_rng_init(&rng, (uint64_t)_i, 2);
    calc_stage_terms shared = panel_case_shared(&rng);
    calc_stage_terms t = panel_case_terms(&rng, &shared);
    calc_stage_terms bare = t;
    for (size_t i = 0; i < UNREAD; i++) {
        memset((char *)&bare + unread[i], 0xff, sizeof(double));
    }
    bare.away = !bare.away;
    calc_stage_links links;
#define CALC_X(member) links.member = panel_case_number(&rng);
    CALC_STAGE_LINK_LIST(CALC_X)
#undef CALC_X
    for (int kind = 0; kind < 3; kind++) { /* dense blocks, those with experts, both */
        calc_stage_class item[CALC_MAX_STAGE_CLASSES] = {
            {.stages = t.stages, .dense = kind != 1, .moe = kind != 0, .first = 1, .last = 1}};
        calc_stage_step a =
            calc_stage_step_of(&t, &links, CALC_PIPELINE_SCHEDULE_1F1B, 1, item, 1, 1);
        calc_stage_step b =
            calc_stage_step_of(&bare, &links, CALC_PIPELINE_SCHEDULE_1F1B, 1, item, 1, 1);
        ck_assert_mem_eq(&a, &b, sizeof a);
    }
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static void assert_lane(const calc_panel *got, size_t to, const calc_panel *want, size_t from,
                        bool rules)
{
    ck_assert_uint_eq(got->row[to], want->row[from]);
    ck_assert_uint_eq(got->choice[to], want->choice[from]);
    ck_assert_uint_eq(got->message[to], want->message[from]);
#define CALC_X(name, member)                                                                       \
    ck_assert_mem_eq(&got->name[to], &want->name[from], sizeof got->name[to]);
    CALC_PANEL_LIST(CALC_X)
    if (rules) {
        CALC_PANEL_RULE_LIST(CALC_X)
    }
#undef CALC_X
}

CALC_TEST_LOOP(lanes_are_added_behind_those_that_are_there, 0, ROUNDS)
{
    unsigned char lane[CALC_PANEL_LANES];
    calc_rng_init(&rng, (uint64_t)_i, 3);
    calc_stage_terms shared = panel_case_shared(&rng);
    bool rules = shared.compat != CALC_COMPAT_NONE;
    panel_case_fill(&rng, &shared, &other, terms);
    panel_case_fill(&rng, &shared, &panel, terms);
    const calc_panel before = panel;
    size_t room = CALC_PANEL_LANES - panel.count;
    size_t count = calc_rng_below(&rng, (uint32_t)room + 1);
    for (size_t i = 0; i < count; i++) {
        lane[i] = (unsigned char)calc_rng_below(&rng, (uint32_t)other.count);
    }
    calc_panel_add(&panel, &other, lane, count, rules);
    ck_assert_uint_eq(panel.count, before.count + count);
    for (size_t i = 0; i < before.count; i++) {
        assert_lane(&panel, i, &before, i, rules);
    }
    for (size_t i = 0; i < count; i++) {
        assert_lane(&panel, before.count + i, &other, lane[i], rules);
    }
}

CALC_TEST(the_last_vector_is_filled_up_with_the_first_lane_and_no_more)
{
    calc_rng_init(&rng, 5, 4);
    for (size_t count = 1; count <= CALC_PANEL_LANES; count++) {
        calc_stage_terms shared = panel_case_shared(&rng);
        bool rules = shared.compat != CALC_COMPAT_NONE;
        panel_case_fill(&rng, &shared, &panel, terms);
        panel.count = count;
        const calc_panel before = panel;
        calc_panel_pad(&panel, rules);
        ck_assert_uint_eq(panel.count, count);
        size_t whole = calc_panel_whole(count);
        ck_assert_uint_eq(whole % CALC_PANEL_VECTOR, 0);
        ck_assert_uint_lt(whole - count, CALC_PANEL_VECTOR);
        for (size_t i = 0; i < CALC_PANEL_LANES; i++) {
            assert_lane(&panel, i, &before, i >= count && i < whole ? 0 : i, rules);
        }
    }
}

CALC_TEST(panels_are_whole_vectors)
{
    ck_assert_uint_eq(CALC_PANEL_LANES % CALC_PANEL_VECTOR, 0);
    ck_assert_uint_eq(offsetof(calc_panel, dense_fw_s) % CALC_PANEL_ALIGN, 0);
    ck_assert_uint_eq(sizeof(calc_panel) % CALC_PANEL_ALIGN, 0);
    ck_assert_uint_eq(calc_panel_whole(0), 0);
    ck_assert_uint_eq(calc_panel_whole(1), CALC_PANEL_VECTOR);
    ck_assert_uint_eq(calc_panel_whole(CALC_PANEL_VECTOR), CALC_PANEL_VECTOR);
    ck_assert_uint_eq(calc_panel_whole(CALC_PANEL_LANES), CALC_PANEL_LANES);
}
