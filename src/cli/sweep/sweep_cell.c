#include "cli/sweep/sweep_cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"
#include "spec/field.h"

const calc_sweep_flag calc_sweep_flags[CALC_SWEEP_FLAGS] = {
    {'f', CALC_AXIS_fused_activation, true, "fused_activation"},
    {'s', CALC_AXIS_optimizer_sharding, true, "optimizer_sharding"},
    {'d', CALC_AXIS_data_par_overlap, true, "data_par_overlap"},
    {'r', CALC_AXIS_seq_par_ag_redo, true, "seq_par_ag_redo"},
    {'g', CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_RING, "ring tensor_par_overlap"},
    {'p', CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_PIPE, "pipe tensor_par_overlap"},
    {'a', CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_ASYNC, "async tensor_par_overlap"},
    {'u', CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_FUSED, "fused tensor_par_overlap"},
    {'m', CALC_AXIS_pipeline_par_overlap, true, "pipeline_par_overlap"},
    {'W', CALC_AXIS_weight_offload, true, "weight_offload"},
    {'A', CALC_AXIS_activations_offload, true, "activations_offload"},
    {'O', CALC_AXIS_optimizer_offload, true, "optimizer_offload"},
};

unsigned calc_sweep_flags_of(const calc_exec *e)
{
    unsigned letters = 0;
    for (int i = 0; i < CALC_SWEEP_FLAGS; i++) {
        letters |=
            (unsigned)(calc_axis_get(e, calc_sweep_flags[i].axis) == calc_sweep_flags[i].value)
            << i;
    }
    return letters;
}

static void flags_text(const calc_exec *e, char *text)
{
    unsigned letters = calc_sweep_flags_of(e);
    size_t used = 0;
    for (int i = 0; i < CALC_SWEEP_FLAGS; i++) {
        if (letters >> i & 1) {
            text[used++] = calc_sweep_flags[i].letter;
        }
    }
    strcpy(text + used, used ? "" : "-");
}

static bool is_size(const calc_field *field)
{
    return strcmp(field->key, "context_par") == 0 || strcmp(field->key, "expert_par") == 0 ||
           strcmp(field->key, "expert_tensor_par") == 0;
}

static void field_text(const calc_field *field, const char *member, char *text)
{
    double number = calc_member_number(field, member);
    if (field->type == CALC_TYPE_ENUM) {
        snprintf(text, CALC_SWEEP_CELL_SIZE, "%s", field->choices[(size_t)number]);
    } else if (field->type == CALC_TYPE_SET) {
        number > 0 ? calc_choice_set_text(field->choices, (int64_t)number, text)
                   : strcpy(text, "-");
    } else if (field->type == CALC_TYPE_BOOL) {
        strcpy(text, number > 0 ? "true" : "false");
    } else {
        calc_number_text(is_size(field) && number < 1 ? 1 : number, 1, text);
    }
}

static void stat_text(const calc_field *field, const calc_stats *stats, char *text)
{
    double value = calc_member_number(field, (const char *)stats + field->offset);
    if (strcmp(field->key, "model_flops_utilization") == 0) {
        snprintf(text, CALC_SWEEP_CELL_SIZE, "%.2f", 100 * value);
    } else if (strncmp(field->key, "proc_mem_tier", 13) == 0) {
        snprintf(text, CALC_SWEEP_CELL_SIZE, "%.1f", value / 0x1p30);
    } else if (strcmp(field->key, "ttft") == 0 || strcmp(field->key, "tpot") == 0) {
        snprintf(text, CALC_SWEEP_CELL_SIZE, "%.4g", 1e3 * value);
    } else if (strcmp(field->key, "sample_rate") == 0) {
        calc_human_number(value, text);
    } else if (field->type == CALC_TYPE_ENUM) {
        field_text(field, (const char *)stats + field->offset, text);
    } else {
        snprintf(text, CALC_SWEEP_CELL_SIZE, "%.4g", value);
    }
}

static void three(char *text, int64_t a, int64_t b, int64_t c)
{
    snprintf(text, CALC_SWEEP_CELL_SIZE, "%" PRId64 "/%" PRId64 "/%" PRId64, a, b, c);
}

void calc_sweep_cell_text(const calc_sweep_column *c, const calc_sweep_study *study,
                          const calc_sweep_row *row, const calc_sweep_found *found, char *text)
{
    const calc_exec *e = &found->exec;
    const calc_strategy *s = &e->strategy;
    calc_design_parts parts = calc_designs_parts(&study->builder, found->design);
    switch (c->cell) {
    case CALC_SWEEP_CELL_NUMBER:
        snprintf(text, CALC_SWEEP_CELL_SIZE, row->number > 0 ? "%zu%s%s" : "-%.0zu%s%s",
                 row->number, row->starts ? "" : "!", row->equal ? "=" : " ");
        break;
    case CALC_SWEEP_CELL_APP:
        snprintf(text, CALC_SWEEP_CELL_SIZE, "%s", parts.app->name);
        break;
    case CALC_SWEEP_CELL_SYSTEM:
        snprintf(text, CALC_SWEEP_CELL_SIZE, "%s", parts.system->name);
        break;
    case CALC_SWEEP_CELL_DESIGN:
        calc_designs_value_text(&study->builder, found->design, c->offset, text);
        break;
    case CALC_SWEEP_CELL_STAT:
        stat_text(c->field, &found->stats, text);
        break;
    case CALC_SWEEP_CELL_FITS:
        isnan(row->fits.share)
            ? snprintf(text, CALC_SWEEP_CELL_SIZE, "-")
            : snprintf(text, CALC_SWEEP_CELL_SIZE, "%.0f %%", 100 * row->fits.share);
        break;
    case CALC_SWEEP_CELL_ALIKE:
        row->alike > 0 ? snprintf(text, CALC_SWEEP_CELL_SIZE, "+%zu", row->alike)
                       : snprintf(text, CALC_SWEEP_CELL_SIZE, "-");
        break;
    case CALC_SWEEP_CELL_SIZES:
        three(text, s->tensor_par, e->pipeline_par, s->data_par);
        break;
    case CALC_SWEEP_CELL_NETS:
        e->rank_order == CALC_RANK_ORDER_NETWORKS
            ? three(text, s->tensor_par_net, e->pipeline_par_net, s->data_par_net)
            : (void)strcpy(text, "-");
        break;
    case CALC_SWEEP_CELL_FLAGS:
        flags_text(e, text);
        break;
    case CALC_SWEEP_CELL_FIELD:
        field_text(c->field, (const char *)e + c->offset, text);
        break;
    }
}
