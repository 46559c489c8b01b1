#include "tune/kernel_cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Candidates in the order of their cells, and in each in their own. */
typedef struct placed {
    double at[CALC_TUNE_CELL_COORDINATES];
    size_t candidate;
} placed;

static int compare(const placed *a, const placed *b)
{
    for (int i = 0; i < CALC_TUNE_CELL_COORDINATES; i++) {
        if (a->at[i] != b->at[i]) {
            return a->at[i] < b->at[i] ? -1 : 1;
        }
    }
    return 0;
}

static int by_place(const void *left, const void *right)
{
    const placed *a = left;
    const placed *b = right;
    int order = compare(a, b);
    return order ? order : (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

/* The first candidate of each cell comes to the front. @return how many there are */
static size_t find_cells(placed *list, const calc_tune_candidate *candidate, size_t count)
{
    static const calc_tune_coordinate which[CALC_TUNE_CELL_COORDINATES] = {
        CALC_TUNE_COORDINATE_TOKENS, CALC_TUNE_COORDINATE_TENSOR, CALC_TUNE_COORDINATE_CONTEXT};
    size_t cells = 0;
    for (size_t i = 0; i < count; i++) {
        list[i].candidate = i;
        for (int k = 0; k < CALC_TUNE_CELL_COORDINATES; k++) {
            list[i].at[k] = candidate[i].coordinate[which[k]];
        }
    }
    qsort(list, count, sizeof *list, by_place);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare(&list[cells - 1], &list[i]) != 0) {
            list[cells++] = list[i];
        }
    }
    return cells;
}

static bool reserve(calc_tune_kernel_cells *out, size_t *capacity)
{
    calc_layout_kernel *more = realloc(out->kernel, 2 * *capacity * sizeof *more);
    if (!more) {
        return false;
    }
    out->kernel = more;
    *capacity *= 2;
    return true;
}

calc_status calc_tune_kernel_cells_make(calc_tune_kernel_cells *out, const calc_app *app,
                                        const calc_system *system,
                                        const calc_tune_candidate *candidate, size_t count,
                                        calc_tune_exec_of exec, const void *context,
                                        calc_errors *errors)
{
    *out = (calc_tune_kernel_cells){0};
    placed *list = malloc((count + 1) * sizeof *list);
    size_t cells = list ? find_cells(list, candidate, count) : 0;
    size_t capacity = 2 * CALC_LAYOUT_KERNELS, used = 0;
    out->cell = calloc(cells + 1, sizeof *out->cell);
    out->kernel = malloc(capacity * sizeof *out->kernel);
    bool fine = list && out->cell && out->kernel;
    for (size_t i = 0; i < cells && fine; i++) {
        calc_tune_kernel_cell *cell = &out->cell[i];
        fine = used + CALC_LAYOUT_KERNELS <= capacity || reserve(out, &capacity);
        if (fine) {
            memcpy(cell->coordinate, list[i].at, sizeof cell->coordinate);
            const double *term = candidate[list[i].candidate].term;
            double kernels = term[CALC_TUNE_TERM_MATRIX] + term[CALC_TUNE_TERM_ATTENTION] +
                             term[CALC_TUNE_TERM_MEMORY];
            double all = kernels + term[CALC_TUNE_TERM_HOST];
            cell->busy = all > 0 ? kernels / all : 0;
            const calc_exec e = exec(context, list[i].candidate);
            cell->kernels = calc_layout_kernels(app, system, &e, out->kernel + used);
            used += cell->kernels;
        }
    }
    out->count = fine ? cells : 0;
    used = 0;
    for (size_t i = 0; i < out->count; i++) {
        out->cell[i].kernel = out->kernel + used;
        used += out->cell[i].kernels;
    }
    free(list);
    return fine ? CALC_OK : calc_errors_no_memory(errors);
}

void calc_tune_kernel_cells_free(calc_tune_kernel_cells *cells)
{
    free(cells->cell);
    free(cells->kernel);
    *cells = (calc_tune_kernel_cells){0};
}
