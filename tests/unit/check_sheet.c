/* Sheets: every legal pair of a row and a choice is a lane of one of them, where it belongs. */
#include "sheet.h"

#include <string.h>

#include "frame.h"
#include "small_case.h"
#include "spec/absent.h"

enum { MOST_ROWS = 2048 };

static calc_space space;
static calc_app app;
static calc_system sys;
static calc_exec base;
static calc_compat compat;
static calc_rows rows;
static calc_sheets sheets;
static size_t times[MOST_ROWS][CALC_ROW_CHOICES]; /* that a lane was seen */

static void begin(void)
{
    app = small_app();
    sys = small_system();
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &base);
    base.strategy.tensor_par = 2;
    base.microbatch_size = 1;
    base.strategy.datatype = CALC_DATATYPE_FLOAT16;
    base.training = true;
    compat = CALC_COMPAT_NONE;
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void end(void)
{
    calc_sheets_free(&sheets);
    calc_rows_free(&rows);
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

static void set(calc_axis axis, int64_t a, int64_t b)
{
    const int64_t value[] = {a, b};
    ck_assert_int_eq(calc_space_set(&space, axis, value, 2), CALC_OK);
}

static void fill(void)
{
    ck_assert_int_eq(calc_rows_fill(&rows, &space, &app, &sys, &base, compat, true), CALC_OK);
    ck_assert_int_eq(calc_rows_terms(&rows), CALC_OK);
    ck_assert_int_eq(calc_sheets_list(&sheets, &rows), CALC_OK);
    ck_assert_uint_eq(sheets.panels, 0);
    for (int again = 0; again < 2; again++) { /* the second time nothing is left to do */
        for (size_t i = 0; i < sheets.count; i++) {
            ck_assert_int_eq(calc_sheets_fill(&sheets, &rows, &sheets.sheet[i], true), CALC_OK);
        }
    }
    ck_assert_uint_gt(rows.count, 0);
    ck_assert_uint_lt(rows.count, MOST_ROWS);
}

/* A lane of a sheet is a row of its networks with a choice of its state, and has their terms. */
static void assert_lane(const calc_sheet *sheet, const calc_panel *p, size_t lane)
{
    ck_assert_uint_lt(p->row[lane], rows.count);
    const calc_row *row = &rows.row[p->row[lane]];
    ck_assert_uint_lt(p->choice[lane], row->choices);
    const calc_row_choice *choice = &rows.choice[p->choice[lane]];
    ck_assert_uint_eq(row->network, sheet->network);
    ck_assert_int_eq(row->data_network, sheet->data_network);
    ck_assert_int_eq(choice->sharding, sheet->state.sharding);
    ck_assert_int_eq(choice->zero, sheet->state.zero);
    ck_assert_int_eq(choice->alone, sheet->state.alone);
    ck_assert_uint_lt(p->message[lane], sheets.messages);
    ck_assert(sheets.message_bytes[p->message[lane]] == row->parts.message_bytes);
    times[p->row[lane]][p->choice[lane]]++;
    const calc_stage_terms *want = &rows.terms[row->terms + p->choice[lane]];
    calc_stage_terms alone = *want;
    alone.expert_shards = 1; /* until a cell says otherwise */
    want = &alone;
    ck_assert_uint_eq(p->spread[lane], row->spread);
    ck_assert(sheet->spread < 0 || sheet->spread == (int64_t)row->spread);
#define CALC_X(name, member) ck_assert_mem_eq(&p->name[lane], &want->member, sizeof want->member);
    CALC_PANEL_LIST(CALC_X)
    if (compat) {
        CALC_PANEL_RULE_LIST(CALC_X)
    }
#undef CALC_X
}

/* Lanes of a sheet choice after choice, in panels of which all but the last are full; beyond them
 * is the first. */
static void assert_sheet(const calc_sheet *sheet)
{
    size_t last = 0; /* before any: choice and row, one number */
    for (size_t i = 0; i < sheet->panels; i++) {
        const calc_panel *p = &sheets.panel[sheet->first + i];
        ck_assert_uint_gt(p->count, 0);
        ck_assert(p->count == CALC_PANEL_LANES || i + 1 == sheet->panels);
        for (size_t lane = 0; lane < p->count; lane++) {
            size_t at = 1 + p->choice[lane] * (size_t)MOST_ROWS + p->row[lane];
            ck_assert_uint_gt(at, last);
            last = at;
            assert_lane(sheet, p, lane);
        }
        for (size_t lane = p->count; lane < calc_panel_whole(p->count); lane++) {
            ck_assert_mem_eq(&p->held_bytes[lane], &p->held_bytes[0], sizeof p->held_bytes[0]);
            ck_assert_uint_eq(p->row[lane], p->row[0]);
        }
    }
}

/* Every few lanes of a sheet have a corner, unless there are no more than that. */
static void assert_corners(const calc_sheet *sheet)
{
    size_t panel = 0;
    size_t first = 0;
    for (size_t i = 0; i < sheet->corners; i++) {
        const calc_panel *p = &sheets.corner[sheet->corner + i];
        ck_assert_uint_gt(p->count, 0);
        for (size_t lane = 0; lane < p->count; lane++) {
            ck_assert_uint_eq(p->row[lane], panel);
            ck_assert_uint_eq(p->choice[lane], first);
            first += CALC_CORNER_LANES;
            if (first >= sheets.panel[sheet->first + panel].count) {
                first = 0;
                panel++;
            }
        }
    }
    bool few = sheet->panels == 1 && sheets.panel[sheet->first].count <= CALC_CORNER_LANES;
    ck_assert_uint_eq(panel, few ? 0 : sheet->panels);
}

/* Sheets follow one another and no two are for the same; every legal pair is in one of them. */
static void assert_sheets(void)
{
    size_t panels = 0;
    memset(times, 0, sizeof times);
    for (size_t i = 0; i < sheets.count; i++) {
        const calc_sheet *s = &sheets.sheet[i];
        ck_assert_uint_eq(s->first, panels);
        panels += s->panels;
        assert_sheet(s);
        assert_corners(s);
        ck_assert(!s->state.activations && !s->state.weights && !s->state.optimizer);
        for (size_t k = 0; k < i; k++) {
            const calc_sheet *o = &sheets.sheet[k];
            ck_assert(s->network != o->network || s->data_network != o->data_network ||
                      s->state.sharding != o->state.sharding || s->state.zero != o->state.zero ||
                      s->state.alone != o->state.alone);
        }
    }
    ck_assert_uint_eq(sheets.panels, panels);
    for (size_t r = 0; r < rows.count; r++) {
        for (size_t c = 0; c < CALC_ROW_CHOICES; c++) {
            ck_assert_uint_eq(times[r][c], c < rows.row[r].choices);
        }
    }
}

CALC_TEST(every_legal_pair_is_a_lane_once)
{
    fill();
    assert_sheets();
    ck_assert_uint_eq(sheets.count, rows.networks_count * 2); /* sharded or not */
    ck_assert_uint_gt(sheets.panels, sheets.count);           /* more than a panel each */
    ck_assert_uint_eq(sheets.messages, 2); /* split over the tensor-parallel ranks or not */
}

CALC_TEST(each_way_to_keep_the_state_has_a_sheet)
{
    set(CALC_AXIS_zero_stage, 0, 3);
    space.axis[CALC_AXIS_optimizer_sharding].last = true;
    fill();
    assert_sheets();
    ck_assert_uint_eq(sheets.count, rows.networks_count * 3);
    ck_assert(sheets.sheet[0].state.alone && !sheets.sheet[1].state.alone);
    ck_assert_int_eq(sheets.sheet[2].state.zero, 3);
}

CALC_TEST(experts_on_the_network_of_data_parallelism_have_sheets_for_each)
{
    app.num_experts = 4;
    app.experts_per_token = 1;
    fill();
    assert_sheets();
    ck_assert_int_eq(sheets.sheet[0].data_network, -1);
    base.strategy.expert_par = 2;
    fill();
    assert_sheets();
    ck_assert_uint_eq(sheets.count, rows.networks_count * 2 * 2);
    ck_assert_int_eq(sheets.sheet[0].data_network, 0);
    ck_assert_int_eq(sheets.sheet[2].data_network, 1);
}

CALC_TEST(rules_have_members_of_their_own)
{
    compat = CALC_COMPAT_CALCULON;
    fill();
    assert_sheets();
}

/* From unit to unit the same memory is used. */
CALC_TEST(a_smaller_table_leaves_nothing_of_a_larger_one)
{
    fill();
    size_t panels = sheets.panels;
    base.strategy.tensor_par = 1;
    sys.chip.mem2.capacity_bytes = 0;
    fill();
    assert_sheets();
    ck_assert_uint_lt(sheets.panels, panels);
    ck_assert_uint_eq(sheets.messages, 1);
    base.strategy.tensor_par = 2;
    fill();
    assert_sheets();
    calc_sheets_free(&sheets);
    ck_assert_ptr_null(sheets.panel);
    ck_assert_ptr_null(sheets.sheet);
    ck_assert_ptr_null(sheets.corner);
}

/* Tensor-parallel experts send what all-reduces do not: with nothing else there is no row. */
CALC_TEST(a_table_without_rows_has_no_lanes)
{
    set(CALC_AXIS_tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_AR,
        CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG);
    app.num_experts = 4;
    app.experts_per_token = 1;
    base.strategy.expert_par = 2;
    ck_assert_int_eq(calc_rows_fill(&rows, &space, &app, &sys, &base, compat, true), CALC_OK);
    ck_assert_int_eq(calc_rows_terms(&rows), CALC_OK);
    ck_assert_uint_eq(rows.count, 0);
    ck_assert_int_eq(calc_sheets_list(&sheets, &rows), CALC_OK);
    ck_assert_uint_eq(sheets.count, 0);
    ck_assert_uint_eq(sheets.panels, 0);
    ck_assert_uint_eq(sheets.corners, 0);
}
