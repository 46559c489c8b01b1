/* Corners: no bound on one of them is above that of a lane that it stands for, in no cell. */
#include "sheet.h"

#include "bound_case.h"
#include "frame.h"
#include "sampled.h"

const calc_test_frame calc_tests = {.in_one_process = true};

enum { ROUNDS = 300 };

#define CALC_X(name, member) +1
enum { MEMBERS = 0 CALC_PANEL_LIST(CALC_X) CALC_PANEL_RULE_LIST(CALC_X) };
#undef CALC_X

static calc_panel corners;

/* The corners of all lanes of the panel, as far apart as they may be. */
static void put_corners(double shared_weights)
{
    bool rules = shared.compat != CALC_COMPAT_NONE;
    corners.count = 0;
    for (size_t i = 0; i < panel.count; i += CALC_CORNER_LANES) {
        calc_corner_put(&corners, corners.count++, &panel, i, NULL, shared_weights, rules);
    }
    calc_panel_pad(&corners, rules);
}

static void assert_no_more(const char *what, size_t lane, double corner, double own)
{
    /* The order of sums may differ by less than bounds are lowered by. */
    ck_assert_msg(corner <= own + fabs(own) * 1e-13, "%s of lane %zu: %.17g above %.17g", what,
                  lane, corner, own);
}

static void assert_not_above(size_t lane)
{
    calc_bound corner = cell_bound(&corners, lane / CALC_CORNER_LANES);
    calc_bound own = cell_bound(&panel, lane);
    assert_no_more("time", lane, corner.total_s, own.total_s);
    assert_no_more("first tier", lane, corner.tier1_bytes, own.tier1_bytes);
    assert_no_more("second tier", lane, corner.tier2_bytes, own.tier2_bytes);
}

CALC_TEST_LOOP(no_corner_is_above_any_of_its_lanes, 0, sample_of(ROUNDS))
{
    calc_rng_init(&rng, (uint64_t)_i, 6);
    random_lanes();
    random_cell();
    put_corners(0);
    ck_assert_uint_eq(corners.count, (panel.count + CALC_CORNER_LANES - 1) / CALC_CORNER_LANES);
    for (size_t i = 0; i < panel.count; i++) {
        assert_not_above(i);
    }
}

/* Neighbours that are alike but for one member each. */
static void make_alike(void)
{
    for (size_t i = 1; i < panel.count; i++) {
        calc_stage_terms t = terms[0];
        uint32_t picked = calc_rng_below(&rng, MEMBERS);
        uint32_t n = 0;
#define CALC_X(name, member)                                                                       \
    if (n++ == picked) {                                                                           \
        t.member = terms[i].member;                                                                \
    }
        CALC_PANEL_LIST(CALC_X)
        CALC_PANEL_RULE_LIST(CALC_X)
#undef CALC_X
        for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
            t.block[kind].spared_s = fmin(t.block[kind].spared_s, t.block[kind].agrad_s);
            t.block[kind].whole_bytes = fmax(t.block[kind].whole_bytes, t.block[kind].kept_bytes);
        }
        calc_panel_put(&panel, i, &t);
    }
    calc_panel_pad(&panel, shared.compat != CALC_COMPAT_NONE);
}

CALC_TEST_LOOP(no_corner_is_above_any_of_lanes_that_are_alike, 0, sample_of(ROUNDS))
{
    calc_rng_init(&rng, (uint64_t)_i, 9);
    random_lanes();
    make_alike();
    random_cell();
    put_corners(0);
    for (size_t i = 0; i < panel.count; i++) {
        assert_not_above(i);
    }
}

/* Where both ends are on one stage the head has less. */
CALC_TEST_LOOP(a_table_that_may_be_shared_is_left_out, 0, sample_of(ROUNDS))
{
    calc_rng_init(&rng, (uint64_t)_i, 7);
    random_lanes();
    random_cell();
    double least = panel.head_weights[0];
    for (size_t i = 0; i < panel.count; i++) {
        least = fmin(least, panel.head_weights[i]);
    }
    put_corners(least);
    for (size_t i = 0; i < panel.count; i++) {
        assert_not_above(i);
        panel.head_weights[i] -= least;
        assert_not_above(i);
    }
}

CALC_TEST_LOOP(a_lane_of_its_own_is_its_corner, 0, sample_of(ROUNDS))
{
    calc_rng_init(&rng, (uint64_t)_i, 8);
    random_lanes();
    shared.compat = CALC_COMPAT_NONE;
    for (size_t i = 0; i < CALC_CORNER_LANES; i++) {
        calc_panel_put(&panel, i, &terms[0]);
    }
    panel.count = CALC_CORNER_LANES;
    random_cell();
    put_corners(0);
    calc_bound corner = cell_bound(&corners, 0);
    calc_bound own = cell_bound(&panel, 0);
    ck_assert(near(corner.total_s, own.total_s));
    ck_assert(near(corner.tier1_bytes, own.tier1_bytes));
    ck_assert(near(corner.tier2_bytes, own.tier2_bytes));
}
