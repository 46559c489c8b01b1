/* Models that list their layers beside independent counts of their parameters and arithmetic:
   stacks/README.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "frame.h"
#include "model/operators/parameters.h"
#include "model/operators/transformer.h"

enum { MAX_ROWS = 64, NAME_SIZE = 64 };

/* A row of oracle.csv. */
typedef struct expected {
    char model[NAME_SIZE];
    double total, active, mtp, flop, unused, unused_flop, megatron_flop;
    int megatron_mtp;
} expected;

static expected rows[MAX_ROWS];
static int count;

/* Reads them when it is first called. */
static int count_rows(void)
{
    if (count > 0) {
        return count;
    }
    static const char head[] = "model,total,active,mtp,flop_per_token,unused_weights,unused_flop,"
                               "megatron_flop,megatron_mtp\n";
    char line[256];
    FILE *file = fopen(CALC_TEST_DATA "/golden/stacks/oracle.csv", "r");
    bool good = file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, head) == 0;
    while (good && fgets(line, sizeof line, file)) {
        expected *r = &rows[count++];
        good =
            count < MAX_ROWS && sscanf(line, "%63[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%d", r->model,
                                       &r->total, &r->active, &r->mtp, &r->flop, &r->unused,
                                       &r->unused_flop, &r->megatron_flop, &r->megatron_mtp) == 9;
    }
    if (!good) {
        fprintf(stderr, "golden/stacks/oracle.csv: missing, or not as expected\n");
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return count;
}

static void load(const expected *r, calc_app *app)
{
    char path[512];
    calc_errors errors = {0};
    snprintf(path, sizeof path, CALC_TEST_DATA "/golden/stacks/%s.json", r->model);
    calc_status status = calc_load(CALC_KIND_APP, app, path, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", path, errors.count ? errors.item[0].text : "");
}

CALC_TEST_LOOP(every_parameter_is_counted, 0, count_rows())
{
    const expected *r = &rows[_i];
    calc_app app;
    calc_parameters p;
    load(r, &app);
    calc_count_parameters(&app, &p);
    ck_assert_msg(p.total + r->unused == r->total, "%s: %.0f parameters, not %.0f", r->model,
                  p.total + r->unused, r->total);
    ck_assert_msg(p.active + r->unused == r->active, "%s: %.0f active ones, not %.0f", r->model,
                  p.active + r->unused, r->active);
    ck_assert_msg(p.mtp == r->mtp, "%s: %.0f to predict tokens, not %.0f", r->model, p.mtp, r->mtp);
    ck_assert_double_eq(p.attention + p.mlp + p.experts + p.norm + p.embedding, p.total);
}

/* Windows are counted without the half token of their edge. */
CALC_TEST_LOOP(a_token_costs_what_was_counted, 0, count_rows())
{
    const expected *r = &rows[_i];
    calc_app app;
    load(r, &app);
    const calc_exec exec = {.batch_size = 1};
    const calc_shape shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    double flop = calc_parameters_step_flop(&shape, &exec, false) / (double)app.seq_size;
    ck_assert_msg(fabs((flop + r->unused_flop) / r->flop - 1) < 1e-5, "%s: %.6g FLOP, not %.6g",
                  r->model, flop + r->unused_flop, r->flop);
}

/* A third of what a step of training takes, with as many depths as were counted. */
CALC_TEST_LOOP(a_token_costs_what_megatron_counts, 0, count_rows())
{
    const expected *r = &rows[_i];
    calc_app app;
    load(r, &app);
    app.mtp_blocks = r->megatron_mtp;
    const calc_exec exec = {.batch_size = 2, .training = true};
    const calc_shape shape = calc_shape_of(&app, &exec.strategy, 1, 0);
    double tokens = 2 * (double)app.seq_size;
    double flop = calc_parameters_megatron_flop(&shape, &exec) / 3 / tokens;
    ck_assert_msg(r->megatron_flop <= 0 || fabs(flop / r->megatron_flop - 1) < 1e-6,
                  "%s: %.12g FLOP, not %.12g", r->model, flop, r->megatron_flop);
}

static double weights_of(const calc_operator *list, size_t operators)
{
    double sum = 0;
    for (size_t i = 0; i < operators; i++) {
        sum += calc_operator_share(&list[i]) * list[i].weights;
    }
    return sum;
}

/* Weights of the operators of all blocks, of the embedding and of the head, a shared table once. */
static double all_weights(const calc_shape *shape)
{
    static const calc_chip chip;
    const calc_strategy strategy = {.flash_attention = true};
    calc_operator list[CALC_MAX_OPERATORS];
    double sum = weights_of(list, calc_transformer_embedding(shape, &strategy, list)) +
                 weights_of(list, calc_transformer_head(shape, &strategy, false, list)) -
                 (shape->tied ? shape->vocab * shape->hidden : 0);
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        double moe = shape->moe_blocks;
        double blocks = kind == CALC_MOE_BLOCK ? moe : shape->blocks - moe;
        const calc_recipe recipe = {
            .kind = kind, .shape = shape, .chip = &chip, .strategy = &strategy};
        if (blocks > 0) {
            sum += blocks * weights_of(list, calc_transformer_block(&recipe, list));
        }
    }
    return sum;
}

CALC_TEST_LOOP(operators_have_every_weight, 0, count_rows())
{
    const expected *r = &rows[_i];
    calc_app app;
    calc_parameters p;
    load(r, &app);
    const calc_strategy strategy = {0};
    const calc_shape shape = calc_shape_of(&app, &strategy, 1, 0);
    calc_count_parameters(&app, &p);
    /* Ranks may have rows of no word. */
    double padding = (shape.vocab - (double)app.vocab_size) * (shape.tied ? 1 : 2) * shape.hidden;
    double wanted = p.total + padding;
    double weights = all_weights(&shape);
    ck_assert_msg(fabs(weights / wanted - 1) < 1e-13, "%s: %.1f weights, not %.1f", r->model,
                  weights, wanted);
}
