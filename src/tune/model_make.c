/* The errors of candidates as effects: what they have in common, the cells of their fields. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/make.h"
#include "tune/model.h"

/* Length of the correlation of values of a coordinate: twice as much is nearly another matter. */
static const double values_alike = 0.35;

/* Candidates in the order of their coordinates in a field, and in a cell in their own. */
typedef struct placed {
    const calc_tune_candidate *candidate;
    const calc_tune_field *field;
} placed;

static int compare(const placed *a, const placed *b)
{
    for (int i = 0; i < CALC_TUNE_COORDINATES; i++) {
        double x = a->candidate->coordinate[i], y = b->candidate->coordinate[i];
        if (a->field->length[i] > 0 && x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

static int by_place(const void *left, const void *right)
{
    const placed *a = left, *b = right;
    int order = compare(a, b);
    return order ? order : CALC_ORDER(a->candidate, b->candidate);
}

size_t calc_tune_cells_of(const calc_tune_field *field, const calc_tune_candidate *candidate,
                          size_t count, size_t *first, size_t *cell)
{
    placed *list = calc_make(count, sizeof *list);
    size_t cells = 0;
    for (size_t i = 0; i < count; i++) {
        list[i] = (placed){&candidate[i], field};
    }
    CALC_SORT(list, count, by_place);
    for (size_t i = 0; i < count; i++) {
        size_t index = (size_t)(list[i].candidate - candidate);
        if (i == 0 || compare(&list[i - 1], &list[i]) != 0) {
            first[cells++] = index;
        }
        cell[index] = cells - 1;
    }
    free(list);
    return cells;
}

static void make_field(calc_effects_field *out, const calc_tune_field *field, size_t which,
                       const calc_tune_candidate *candidate, size_t count, calc_effects_item *item)
{
    size_t *first = calc_make(count, sizeof *first), *cell = calc_make(count, sizeof *cell);
    size_t cells = out->cells = calc_tune_cells_of(field, candidate, count, first, cell);
    out->covariance = calc_make(cells * cells, sizeof *out->covariance);
    for (size_t i = 0; i < count; i++) {
        item[i].cell[which] = cell[i];
    }
    for (size_t i = 0; i < cells * cells; i++) {
        out->covariance[i] = calc_tune_field_covariance(
            field, candidate[first[i / cells]].coordinate, candidate[first[i % cells]].coordinate);
    }
    free(first);
    free(cell);
}

static bool same_shape(const double *a, const double *b)
{
    int same = 0;
    while (same < CALC_TUNE_CELL_COORDINATES && a[same] == b[same]) {
        same++;
    }
    return same == CALC_TUNE_CELL_COORDINATES;
}

/* The field of errors of measured kernels. */
static void take_kernels(calc_effects_field *out, const calc_tune_kernels *kernels,
                         const calc_tune_candidate *candidate, size_t count,
                         calc_effects_item *item)
{
    size_t cells = out->cells = kernels->cells;
    out->covariance = calc_make(cells * cells, sizeof *out->covariance);
    out->mean = calc_make(cells, sizeof *out->mean);
    memcpy(out->covariance, kernels->covariance, cells * cells * sizeof *out->covariance);
    memcpy(out->mean, kernels->mean, cells * sizeof *out->mean);
    for (size_t i = 0; i < count; i++) {
        size_t *cell = &item[i].cell[CALC_TUNE_FIELD_KERNELS];
        while (*cell + 1 < cells &&
               !same_shape(kernels->coordinate[*cell], candidate[i].coordinate)) {
            ++*cell;
        }
    }
}

static void fill_items(calc_tune_model *m, const calc_tune_candidate *candidate, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const calc_tune_candidate *c = &candidate[i];
        calc_effects_item *time = &m->time_item[i];
        calc_effects_item *memory = &m->memory_item[i];
        time->expected = log(c->step_s);
        memory->expected = log(c->memory_bytes);
        time->weight[0] = memory->weight[0] = 1;
        memcpy(time->weight + 1, c->term, sizeof c->term);
        memcpy(memory->weight + 1, c->space, sizeof c->space);
        time->field_weight[CALC_TUNE_FIELD_KERNELS] = calc_tune_computed(c);
        time->field_weight[CALC_TUNE_FIELD_SCHEDULE] = 1;
        for (size_t k = CALC_TUNE_FIELD_VALUES; k < CALC_TUNE_FIELDS; k++) {
            time->field_weight[k] = 1;
        }
    }
}

void calc_tune_model_make(calc_tune_model *out, const calc_tune_prior *prior,
                          const calc_tune_kernels *kernels, const calc_tune_candidate *candidate,
                          size_t count)
{
    *out = (calc_tune_model){
        .time = {.common = 1 + CALC_TUNE_TERMS, .fields = CALC_TUNE_FIELDS, .own_sd = prior->own},
        .memory = {.common = 1 + CALC_TUNE_SPACES, .own_sd = prior->memory_own},
        .time_item = calc_make(count, sizeof *out->time_item),
        .memory_item = calc_make(count, sizeof *out->memory_item)};
    out->time.sd[0] = prior->common;
    out->memory.sd[0] = prior->memory_common;
    memcpy(out->time.sd + 1, prior->term, sizeof prior->term);
    memcpy(out->memory.sd + 1, prior->memory_space, sizeof prior->memory_space);
    fill_items(out, candidate, count);
    for (size_t i = 0; i < CALC_TUNE_FIELDS; i++) {
        calc_effects_field *field = &out->time.field[i];
        calc_tune_field like = i == CALC_TUNE_FIELD_KERNELS    ? prior->kernels
                               : i == CALC_TUNE_FIELD_SCHEDULE ? prior->schedule
                                                               : (calc_tune_field){.sd = 1};
        if (i >= CALC_TUNE_FIELD_VALUES) {
            like.length[i - CALC_TUNE_FIELD_VALUES] = values_alike;
        } else {
            field->size = 1;
        }
        if (i == CALC_TUNE_FIELD_KERNELS && kernels) {
            take_kernels(field, kernels, candidate, count, out->time_item);
        } else {
            make_field(field, &like, i, candidate, count, out->time_item);
        }
    }
}

void calc_tune_model_resize(calc_effects *time, const calc_tune_sizes *sizes)
{
    for (size_t i = 1; i < time->common; i++) {
        time->sd[i] *= sizes->terms;
    }
    for (size_t i = CALC_TUNE_FIELD_VALUES; i < time->fields; i++) {
        time->field[i].size = sizes->value;
    }
    time->own_sd *= sizes->own;
}

void calc_tune_model_free(calc_tune_model *model)
{
    for (size_t i = 0; i < CALC_EFFECTS_FIELDS; i++) {
        free(model->time.field[i].covariance);
        free(model->time.field[i].mean);
    }
    free(model->time_item);
    free(model->memory_item);
    *model = (calc_tune_model){0};
}
