#include "model/operators/build.h"

#include "frame.h"
#include "modern_case.h"

static const double WIDTH = 64; /* of the model of modern_case.h, on 32 tokens */

/* A gather of `ranks` and a matrix of 64 x 16 behind it, in 8 bits; narrowing moves 6 bytes an
   element. */
typedef struct gathered {
    modern_case c;
    calc_build b;
    calc_operator *gather, *matrix;
} gathered;

static void build(gathered *g, int64_t ranks, calc_format format)
{
    g->c = case_of(modern_app(), modern_exec(ranks, 1, 1));
    g->c.exec.strategy.matrix_datatype = format;
    g->c.system.chip.quantize_bytes = 6;
    resolve(&g->c);
    calc_recipe recipe = calc_block_recipe(&g->c.context, CALC_DENSE_BLOCK);
    g->b = calc_build_start(&recipe, g->c.operators);
    g->gather = calc_build_open_tensor_par(&g->b, "gather", 0, WIDTH);
    g->matrix = calc_build_matrix(&g->b, "matrix", CALC_OPERATOR_MATRIX, 0, 32, WIDTH, 16, 1);
}

/* Half of narrowing is done once for all ranks that gather: each does its share of it. */
CALC_TEST(ranks_that_gather_share_half_of_narrowing)
{
    static const calc_pass stages[] = {CALC_PASS_FW, CALC_PASS_AGRAD};
    static const int64_t ranks[] = {2, 4};
    for (int i = 0; i < 4; i++) {
        gathered g;
        calc_pass pass = stages[i % 2];
        build(&g, ranks[i / 2], CALC_FORMAT_FLOAT8);
        double elements = pass == CALC_PASS_FW ? 32 * WIDTH : 32 * 16;
        double alone = 6 * elements, before = g.matrix->bytes[pass];
        calc_build_narrow_gather(&g.b, g.gather, g.matrix, pass);
        double shared = alone / 2 + alone / 2 / (double)ranks[i / 2];
        ck_assert_double_eq(g.matrix->bytes[pass], before - alone + shared);
        ck_assert_double_eq(g.gather->narrowed[pass], 0.5);
        bool again = pass == CALC_PASS_FW; /* for the gradient of weights */
        ck_assert_double_eq(g.gather->narrowed[CALC_PASS_WGRAD], again ? 0.5 : 0);
        ck_assert_double_eq(g.gather->narrowed[again ? CALC_PASS_AGRAD : CALC_PASS_FW], 0);
    }
}

CALC_TEST(nothing_is_narrowed_where_nothing_is_gathered_or_narrow)
{
    for (int i = 0; i < 3; i++) {
        gathered g;
        build(&g, 4, i == 0 ? CALC_FORMAT_AUTO : CALC_FORMAT_FLOAT8);
        g.b.sequence_par = i != 1;
        double before = g.matrix->bytes[CALC_PASS_FW];
        calc_build_narrow_gather(&g.b, i == 2 ? NULL : g.gather, g.matrix, CALC_PASS_FW);
        ck_assert_double_eq(g.matrix->bytes[CALC_PASS_FW], before);
        ck_assert_double_eq(g.gather->narrowed[CALC_PASS_FW], 0);
    }
}
