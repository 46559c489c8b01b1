#include "rows.h"

#include <stdlib.h>

#include "model/pipeline.h"

void calc_rows_free(calc_rows *rows)
{
    free(rows->row);
    *rows = (calc_rows){0};
}

static calc_row *next(calc_rows *rows)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 128;
        calc_row *row = realloc(rows->row, capacity * sizeof *row);
        if (!row) {
            return NULL;
        }
        rows->row = row;
        rows->capacity = capacity;
    }
    return &rows->row[rows->count++];
}

/* Values of an enumeration that are in the space; all `count` of them are legal. */
static size_t pick_enum(const calc_space *space, calc_axis axis, size_t count, int64_t *out)
{
    int64_t legal[8];
    for (size_t i = 0; i < count; i++) {
        legal[i] = (int64_t)i;
    }
    return calc_space_pick(space, axis, legal, count, out);
}

/* A row for each tensor-parallel network. */
static calc_status add_rows(calc_rows *rows, const calc_app *app, const calc_system *system,
                            const calc_exec *exec, calc_compat compat, bool profile)
{
    bool overlapped = exec->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE;
    calc_row_weights *weights = &rows->weights[overlapped];
    if (profile) {
        weights->count = calc_block_layers(app, exec, weights->layer);
    }
    for (size_t n = 0; n < rows->networks_count; n++) {
        calc_row *row = next(rows);
        if (!row) {
            return CALC_ERR_NOMEM;
        }
        row->exec = *exec;
        row->exec.tensor_par_net = rows->networks[n];
        row->weights = overlapped;
        row->network = n;
        row->full = exec->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
        if (profile) {
            calc_block_profile(app, system, &row->exec, compat, weights->layer, weights->count,
                               &row->block);
            row->step = calc_step_block_of(&row->block);
            calc_exec piped = row->exec;
            piped.pipeline_par = 2;
            row->message_bytes = calc_pipeline_message_bytes(app, &piped);
        }
    }
    return CALC_OK;
}

calc_status calc_rows_fill(calc_rows *rows, const calc_space *space, const calc_app *app,
                           const calc_system *system, const calc_exec *base, calc_compat compat,
                           bool profile)
{
    int64_t fused[2], recompute[3], type[3], overlap[3], redo[2];
    bool splits = base->tensor_par > 1;
    bool scatters = base->microbatch_size * app->seq_size % base->tensor_par == 0;
    calc_exec e = *base;

    rows->count = 0;
    rows->networks_count = calc_space_networks(space, CALC_AXIS_tensor_par_net, base->tensor_par,
                                               system, rows->networks);
    size_t fused_count = calc_space_pick_bool(space, CALC_AXIS_fused_activation, true, fused);
    size_t recompute_count =
        pick_enum(space, CALC_AXIS_activation_recompute,
                  base->training ? CALC_ACTIVATION_RECOMPUTE_FULL + 1 : 1, recompute);
    size_t type_count =
        pick_enum(space, CALC_AXIS_tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_COUNT, type);
    size_t overlap_count = pick_enum(space, CALC_AXIS_tensor_par_overlap,
                                     splits ? CALC_TENSOR_PAR_OVERLAP_PIPE + 1 : 1, overlap);
    for (size_t i = 0; i < fused_count; i++) {
        e.fused_activation = fused[i] != 0;
        for (size_t j = 0; j < recompute_count; j++) {
            e.activation_recompute = (calc_activation_recompute)recompute[j];
            for (size_t k = 0; k < type_count; k++) {
                e.tensor_par_comm_type = (calc_tensor_par_comm_type)type[k];
                if (e.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR && !scatters) {
                    continue;
                }
                bool can_redo = e.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG &&
                                e.activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL;
                size_t redo_count =
                    calc_space_pick_bool(space, CALC_AXIS_seq_par_ag_redo, can_redo, redo);
                for (size_t l = 0; l < redo_count * overlap_count; l++) {
                    e.seq_par_ag_redo = redo[l / overlap_count] != 0;
                    e.tensor_par_overlap = (calc_tensor_par_overlap)overlap[l % overlap_count];
                    if (add_rows(rows, app, system, &e, compat, profile) != CALC_OK) {
                        return CALC_ERR_NOMEM;
                    }
                }
            }
        }
    }
    return CALC_OK;
}
