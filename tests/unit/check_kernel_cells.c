/* Cells of candidates, and whose kernels they have. */
#include "tune/kernels.h"

#include "frame.h"
#include "modern_case.h"

enum { LAYOUTS = 5 };

static modern_case c;
static calc_exec exec[LAYOUTS];
static calc_tune_candidate candidate[LAYOUTS];
static calc_tune_kernel_cells cells;
static size_t asked[LAYOUTS];

static calc_exec exec_of(const void *context, size_t i)
{
    asked[i]++;
    return ((const calc_exec *)context)[i];
}

static void make(size_t count)
{
    calc_tune_kernel_cells_free(&cells);
    memset(asked, 0, sizeof asked);
    calc_tune_kernel_cells_make(&cells, &c.app, &c.system, candidate, count, exec_of, exec);
}

static void enter(void)
{
    c = case_of(modern_app(), modern_exec(1, 1, 1));
    for (int i = 0; i < LAYOUTS; i++) {
        exec[i] = c.exec;
        exec[i].training = true;
        candidate[i] = (calc_tune_candidate){.step_s = 1};
    }
}

static void leave(void)
{
    calc_tune_kernel_cells_free(&cells);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* Candidates 0, 2 and 4 differ in what is no coordinate of a cell; cells are in order. */
CALC_TEST(each_cell_has_the_kernels_of_its_first_candidate)
{
    static calc_layout_kernel own[CALC_LAYOUT_KERNELS];
    for (int i = 0; i < LAYOUTS; i++) {
        candidate[i].coordinate[CALC_TUNE_COORDINATE_TOKENS] = 5;
        candidate[i].coordinate[CALC_TUNE_COORDINATE_PIPELINE] = i;
    }
    candidate[1].coordinate[CALC_TUNE_COORDINATE_TENSOR] = -1;
    candidate[3].coordinate[CALC_TUNE_COORDINATE_CONTEXT] = 1;
    exec[1].strategy.tensor_par = 2;
    exec[2].strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    make(LAYOUTS);
    ck_assert_uint_eq(cells.count, 3);
    ck_assert(asked[0] == 1 && asked[1] == 1 && asked[2] == 0 && asked[3] == 1 && asked[4] == 0);
    static const size_t first[] = {1, 0, 3};
    for (int k = 0; k < 3; k++) {
        const calc_tune_kernel_cell *cell = &cells.cell[k];
        size_t count = calc_layout_kernels(&c.app, &c.system, &exec[first[k]], own);
        ck_assert_uint_eq(cell->kernels, count);
        ck_assert_double_eq(cell->coordinate[0], 5);
        for (size_t i = 0; i < count; i++) {
            ck_assert(cell->kernel[i].time_s == own[i].time_s);
        }
    }
    ck_assert_double_eq(cells.cell[0].coordinate[1], -1);
    ck_assert_double_eq(cells.cell[2].coordinate[2], 1);
}

CALC_TEST(hosts_are_not_kernels)
{
    candidate[0].term[CALC_TUNE_TERM_MATRIX] = 0.5;
    candidate[0].term[CALC_TUNE_TERM_ATTENTION] = 0.1;
    candidate[0].term[CALC_TUNE_TERM_MEMORY] = 0.2;
    candidate[0].term[CALC_TUNE_TERM_HOST] = 0.2;
    candidate[0].term[CALC_TUNE_TERM_NETWORK0] = 7;
    candidate[1].coordinate[CALC_TUNE_COORDINATE_TOKENS] = 1;
    make(2);
    ck_assert_double_eq_tol(cells.cell[0].busy, 0.8, 1e-15);
    ck_assert_double_eq(cells.cell[1].busy, 0);
}

static calc_exec only_exec(const void *context, size_t i)
{
    (void)i;
    return *(const calc_exec *)context;
}

/* More kernels than there is room for at first. */
CALC_TEST(many_cells)
{
    enum { MANY = 400 };
    static calc_tune_candidate many[MANY];
    for (int i = 0; i < MANY; i++) {
        many[i].coordinate[CALC_TUNE_COORDINATE_TOKENS] = MANY - i;
    }
    calc_tune_kernel_cells_make(&cells, &c.app, &c.system, many, MANY, only_exec, exec);
    ck_assert_uint_eq(cells.count, MANY);
    ck_assert_uint_gt(MANY * cells.cell[0].kernels, 2 * CALC_LAYOUT_KERNELS);
    const calc_tune_kernel_cell *last = &cells.cell[MANY - 1];
    ck_assert_double_eq(last->coordinate[0], MANY);
    for (size_t i = 0; i < last->kernels; i++) {
        ck_assert(last->kernel[i].time_s == cells.cell[0].kernel[i].time_s);
    }
}

CALC_TEST(no_candidates)
{
    make(0);
    ck_assert_uint_eq(cells.count, 0);
}
