#include "cli/sweep/sweep_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/help.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_study.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/value_text.h"

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

static void field_text(const calc_field *field, const char *member, char *text)
{
    bool size = calc_is_word(" context_par expert_par expert_tensor_par ", field->key);
    calc_value_text(field, member, text);
    if (!*text || (size && calc_member_number(field, member) < 1)) {
        strcpy(text, size ? "1" : "-");
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
        calc_human_number_in(value, text);
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

enum { WORD_SIZE = 128 };

/* Columns with heads of their own, in order; the designs, the objectives and the other fields stand
 * between them. */
static const struct known {
    const char *head, *name; /* other names of it for --columns, besides its head and its key */
    calc_sweep_column_kind cell;
    const char *key;
    int order;
} knowns[] = {
    {"#", "number", CALC_SWEEP_CELL_NUMBER, NULL, 0},
    {"model", "app", CALC_SWEEP_CELL_APP, NULL, 1},
    {"machine", "sys", CALC_SWEEP_CELL_SYSTEM, NULL, 1},
    {"samples/s", "rate", CALC_SWEEP_CELL_STAT, "sample_rate", 0},
    {"tok/s/proc", "output", CALC_SWEEP_CELL_STAT, "output_tokens_per_s_per_proc", 0},
    {"tok/s/user", "user", CALC_SWEEP_CELL_STAT, "tokens_per_s_per_user", 1},
    {"TTFT ms", "ttft", CALC_SWEEP_CELL_STAT, "ttft", 2},
    {"TPOT ms", "tpot", CALC_SWEEP_CELL_STAT, "tpot", 2},
    {"USD/Mtok", "price", CALC_SWEEP_CELL_STAT, "usd_per_million_output_tokens", 3},
    {"MFU %", "mfu", CALC_SWEEP_CELL_STAT, "model_flops_utilization", 5},
    {"GiB", "mem1", CALC_SWEEP_CELL_STAT, "proc_mem_tier1_cap_req", 3},
    {"fits", "fits", CALC_SWEEP_CELL_FITS, NULL, 3},
    {"GiB 2", "mem2", CALC_SWEEP_CELL_STAT, "proc_mem_tier2_cap_req", 5},
    {"procs", "procs", CALC_SWEEP_CELL_FIELD, "num_procs", 2},
    {"tp/pp/dp", "sizes", CALC_SWEEP_CELL_SIZES, NULL, 0},
    {"cp", "cp", CALC_SWEEP_CELL_FIELD, "context_par", 2},
    {"ep", "ep", CALC_SWEEP_CELL_FIELD, "expert_par", 2},
    {"etp", "etp", CALC_SWEEP_CELL_FIELD, "expert_tensor_par", 2},
    {"batch", "batch", CALC_SWEEP_CELL_FIELD, "batch_size", 1},
    {"requests", "requests", CALC_SWEEP_CELL_FIELD, "concurrency", 1},
    {"mbs", "mbs", CALC_SWEEP_CELL_FIELD, "microbatch_size", 3},
    {"chunk", "chunk", CALC_SWEEP_CELL_FIELD, "chunk_size", 3},
    {"phase", "phase", CALC_SWEEP_CELL_FIELD, "phase", 2},
    {"prefill", "prefill", CALC_SWEEP_CELL_FIELD, "prefill_procs", 2},
    {"its tp", "prefill_tp", CALC_SWEEP_CELL_FIELD, "prefill_tensor_par", 3},
    {"il", "vpp", CALC_SWEEP_CELL_FIELD, "pipeline_interleaving", 4},
    {"zero", "zero", CALC_SWEEP_CELL_FIELD, "zero_stage", 4},
    {"recompute", "recompute", CALC_SWEEP_CELL_FIELD, "activation_recompute", 4},
    {"modules", "modules", CALC_SWEEP_CELL_FIELD, "recompute_modules", 4},
    {"schedule", "schedule", CALC_SWEEP_CELL_FIELD, "pipeline_schedule", 4},
    {"balance", "balance", CALC_SWEEP_CELL_FIELD, "pipeline_balance", 7},
    {"comm", "comm", CALC_SWEEP_CELL_FIELD, "tensor_par_comm_type", 7},
    {"nets", "nets", CALC_SWEEP_CELL_NETS, NULL, 6},
    {"flags", "flags", CALC_SWEEP_CELL_FLAGS, NULL, 5},
    {"alike", "alike", CALC_SWEEP_CELL_ALIKE, NULL, 4},
};
enum { KNOWNS = sizeof knowns / sizeof *knowns };

static bool is_word(const calc_field *field)
{
    return field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_SET;
}

static bool is_column(calc_axis axis)
{
    return axis < CALC_AXIS_COUNT && calc_axis_field(axis)->type != CALC_TYPE_NOTE &&
           calc_axis_field(axis)->type != CALC_TYPE_OBJECT;
}

/* The axis of a field of the execution; CALC_AXIS_COUNT: there is none. */
static calc_axis find_axis(const char *name)
{
    calc_field_ref ref;
    bool known = calc_field_find(CALC_KIND_EXEC, name, &ref) == CALC_OK;
    return known ? calc_axis_of(ref.field) : CALC_AXIS_COUNT;
}

static calc_sweep_column *add(calc_sweep_columns *c, calc_sweep_column_kind cell, const char *head,
                              int order)
{
    c->count -= c->count == CALC_SWEEP_COLUMNS; /* far more than any sweep has */
    calc_sweep_column *column = &c->column[c->count];
    *column = (calc_sweep_column){.cell = cell};
    c->shown[c->count++] = (calc_listing_column){.head = head, .order = order};
    return column;
}

static void add_field(calc_sweep_columns *c, const calc_sweep_study *study, calc_axis axis,
                      const char *head, int order)
{
    calc_sweep_column *column = add(c, CALC_SWEEP_CELL_FIELD, head, order);
    column->field = calc_axis_field(axis);
    column->offset = calc_axis_offset(axis);
    calc_listing_column *shown = &c->shown[c->count - 1];
    shown->left = is_word(column->field);
    const calc_values *v = &study->space.axis[axis];
    bool several = v->all || v->count > 1;
    bool batch = axis == CALC_AXIS_batch_size && study->space.batch_is_maximum;
    column->searched = several || batch; /* worth showing */
    shown->order = several && !v->standard ? 1 : order;
}

static void add_stat(calc_sweep_columns *c, const calc_field *field, const char *head, int order)
{
    add(c, CALC_SWEEP_CELL_STAT, head, order)->field = field;
    c->shown[c->count - 1].left = is_word(field);
}

static void add_known(calc_sweep_columns *c, const calc_sweep_study *study, const struct known *k)
{
    if (k->cell == CALC_SWEEP_CELL_STAT) {
        add_stat(c, calc_table_find(calc_table_of(CALC_KIND_STATS), k->key), k->head, k->order);
    } else if (k->cell == CALC_SWEEP_CELL_FIELD) {
        add_field(c, study, find_axis(k->key), k->head, k->order);
    } else {
        calc_sweep_column *column = add(c, k->cell, k->head, k->order);
        c->shown[c->count - 1].left = k->cell == CALC_SWEEP_CELL_APP ||
                                      k->cell == CALC_SWEEP_CELL_SYSTEM ||
                                      k->cell == CALC_SWEEP_CELL_FLAGS;
        column->searched = k->cell == CALC_SWEEP_CELL_FLAGS || k->cell == CALC_SWEEP_CELL_NETS ||
                           (k->cell == CALC_SWEEP_CELL_APP && study->builder.apps > 1) ||
                           (k->cell == CALC_SWEEP_CELL_SYSTEM && study->builder.systems > 1);
        column->always = k->cell == CALC_SWEEP_CELL_NUMBER || k->cell == CALC_SWEEP_CELL_SIZES;
    }
}

/* Columns of fields that the user asked for always show; so do speed and memory. */
static void add_asked(calc_sweep_columns *c, const calc_sweep_study *study)
{
    const calc_sweep_options *o = &study->options;
    for (size_t i = 0; i < c->count; i++) {
        calc_sweep_column *column = &c->column[i];
        bool tier2 = strcmp(c->shown[i].head, "GiB 2") == 0;
        column->always |= column->cell == CALC_SWEEP_CELL_STAT && !tier2;
    }
    for (size_t i = 0; i <= o->objectives; i++) {
        const calc_field *field = i == 0 ? o->top_by.field : o->objective[i - 1].field;
        size_t k = 0; /* the column that has it */
        while (k < c->count &&
               (c->column[k].cell != CALC_SWEEP_CELL_STAT || c->column[k].field != field)) {
            k++;
        }
        if (k == c->count) {
            add_stat(c, field, field->key, i == 0 ? 0 : 2);
            k = c->count - 1;
        }
        c->column[k].always |= strcmp(field->key, "proc_mem_tier2_cap_req") != 0;
        c->shown[k].order = i == 0 ? 0 : c->shown[k].order;
    }
}

/* Fields already shown by other columns. */
static bool is_shown_elsewhere(const calc_sweep_columns *c, calc_axis axis)
{
    static const calc_axis together[] = {CALC_AXIS_tensor_par,       CALC_AXIS_pipeline_par,
                                         CALC_AXIS_data_par,         CALC_AXIS_tensor_par_net,
                                         CALC_AXIS_pipeline_par_net, CALC_AXIS_data_par_net};
    bool shown = false;
    for (size_t i = 0; i < sizeof together / sizeof *together; i++) {
        shown |= axis == together[i];
    }
    for (int i = 0; i < CALC_SWEEP_FLAGS; i++) {
        shown |= axis == calc_sweep_flags[i].axis;
    }
    for (size_t i = 0; i < c->count; i++) {
        shown |= c->column[i].cell == CALC_SWEEP_CELL_FIELD &&
                 c->column[i].field == calc_axis_field(axis);
    }
    return shown;
}

/* Whether a statistic is meaningful for the use, training or serving: samples of a step are not
 * served, and training has no latency per token. A price needs a stated rate. */
static bool says(const calc_sweep_study *study, const struct known *k)
{
    bool serves = study->space.inference.phase != CALC_INFERENCE_PHASE_NONE;
    bool of_step = k->key && (strcmp(k->key, "sample_rate") == 0 ||
                              strcmp(k->key, "model_flops_utilization") == 0);
    bool price = k->key && strcmp(k->key, "usd_per_million_output_tokens") == 0;
    const calc_field *stat = k->cell == CALC_SWEEP_CELL_STAT
                                 ? calc_table_find(calc_table_of(CALC_KIND_STATS), k->key)
                                 : NULL;
    bool of_request = stat && stat->where && strcmp(stat->where, "calc_run_inference") == 0;
    bool priced = !price;
    for (size_t i = 0; i < study->builder.systems && !priced; i++) {
        priced = study->builder.system[i].system.chip.usd_per_hour > 0;
    }
    for (size_t i = 0; i < study->builder.axes && !priced; i++) {
        priced = strcmp(study->builder.axis[i].ref.field->key, "usd_per_hour") == 0;
    }
    return priced && (serves ? !of_step : !of_request);
}

static void list_all(calc_sweep_columns *c, const calc_sweep_study *study)
{
    for (size_t i = 0; i < KNOWNS; i++) {
        if (says(study, &knowns[i])) {
            add_known(c, study, &knowns[i]);
        }
        if (knowns[i].cell == CALC_SWEEP_CELL_SYSTEM) {
            for (size_t axis = 0; axis < study->builder.axes; axis++) {
                const calc_design_axis *a = &study->builder.axis[axis];
                calc_sweep_column *column = add(c, CALC_SWEEP_CELL_DESIGN, a->path, 1);
                column->offset = axis;
                column->searched = a->count > 1;
            }
        } else if (knowns[i].key && strcmp(knowns[i].key, "proc_mem_tier2_cap_req") == 0) {
            add_asked(c, study);
        }
    }
    for (int i = 0; i < CALC_AXIS_COUNT; i++) {
        calc_axis axis = (calc_axis)i;
        if (is_column(axis) && !is_shown_elsewhere(c, axis)) {
            add_field(c, study, axis, calc_axis_field(axis)->key, 7);
            size_t last = c->count - 1;
            c->column[last].searched &= c->shown[last].order == 1 || axis == CALC_AXIS_datatype;
        }
    }
}

/* Add a column by its head or another of its names. @return whether there is one */
static bool add_called(calc_sweep_columns *c, const calc_sweep_study *study, const char *word)
{
    for (size_t i = 0; i < KNOWNS; i++) {
        const struct known *k = &knowns[i];
        if (strcasecmp(word, k->name) == 0 || strcasecmp(word, k->head) == 0 ||
            (k->key && strcmp(word, k->key) == 0)) {
            add_known(c, study, k);
            return true;
        }
    }
    for (size_t i = 0; i < study->builder.axes; i++) {
        if (strcmp(word, study->builder.axis[i].path) == 0) {
            add(c, CALC_SWEEP_CELL_DESIGN, study->builder.axis[i].path, 0)->offset = i;
            return true;
        }
    }
    return false;
}

static calc_status unknown_column(const char *word, calc_errors *errors)
{
    const char *names[KNOWNS + 1];
    for (size_t i = 0; i < KNOWNS; i++) {
        names[i] = knowns[i].name;
    }
    names[KNOWNS] = NULL;
    const char *near = calc_nearest(word, names);
    return calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                           near ? CALC_DID_YOU_MEAN(near)
                                : "a column is a head of the table, a statistic or a field",
                           "unknown column \"%s\"", calc_utf8_shown(word, strlen(word)));
}

static calc_status take_word(calc_sweep_columns *c, const calc_sweep_study *study, const char *word,
                             calc_errors *errors)
{
    if (add_called(c, study, word)) {
        return CALC_OK;
    }
    const calc_field *stat = calc_table_find(calc_table_of(CALC_KIND_STATS), word);
    const calc_axis axis = find_axis(word);
    if (stat) {
        add_stat(c, stat, stat->key, 0);
    } else if (is_column(axis)) {
        add_field(c, study, axis, calc_axis_field(axis)->key, 0);
    } else {
        return unknown_column(word, errors);
    }
    return CALC_OK;
}

calc_status calc_sweep_columns_list(calc_sweep_columns *columns, const calc_sweep_study *study,
                                    const char *names, calc_errors *errors)
{
    calc_status status = CALC_OK;
    *columns = (calc_sweep_columns){.chosen = names != NULL};
    if (!names) {
        list_all(columns, study);
        return CALC_OK;
    }
    add_known(columns, study, &knowns[0]);
    while (*names && status == CALC_OK) {
        size_t length = strcspn(names, ",");
        status =
            take_word(columns, study, CALC_TEXT(WORD_SIZE, "%.*s", (int)length, names), errors);
        names += length + (names[length] == ',');
    }
    return status;
}

enum { TEXT_SIZE = 2048 };

/* The cells of all columns; those columns are hidden that do not vary, unless they always show. */
static void fill(calc_listing *l, calc_sweep_columns *columns, const calc_sweep_study *study,
                 const calc_sweep_rows *rows)
{
    bool unsure = false;
    for (size_t i = 0; i < rows->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(study, rows->row[i].layout, &found);
        unsure |= rows->row[i].fits.share < CALC_FITS_SURE;
        for (size_t k = 0; k < columns->count; k++) {
            char text[CALC_SWEEP_CELL_SIZE];
            calc_sweep_cell_text(&columns->column[k], study, &rows->row[i], &found, text);
            calc_listing_add(l, text);
        }
    }
    for (size_t k = 0; k < columns->count; k++) {
        const calc_sweep_column *c = &columns->column[k];
        bool varies = c->cell == CALC_SWEEP_CELL_FITS ? unsure : l->column[k].varies;
        /* "nan": without meaning in serving. */
        bool unknown = !varies && strcmp(calc_listing_cell(l, 0, k), "nan") == 0;
        l->column[k].hidden = !columns->chosen && (unknown || !(varies || c->always));
        l->column[k].head = c->cell == CALC_SWEEP_CELL_NUMBER ? "# " : l->column[k].head;
    }
}

/* Whether the value that all rows share is said: it was searched, and does not mean that a feature
 * is not used. */
static bool is_said(const calc_listing *l, const calc_sweep_columns *columns, size_t k)
{
    const char *head = l->column[k].head, *first = calc_listing_cell(l, 0, k);
    bool size = columns->column[k].cell == CALC_SWEEP_CELL_FIELD && strcmp(first, "1") == 0 &&
                (strcmp(head, "cp") == 0 || strcmp(head, "ep") == 0 || strcmp(head, "etp") == 0);
    bool off = size || strcmp(first, "-") == 0 || strcmp(first, "false") == 0;
    return columns->column[k].searched && !l->column[k].dropped && !off;
}

/* Values that all rows share, and columns for which there is no room. */
static void write_rest(calc_output *out, const calc_listing *l, const calc_sweep_columns *columns,
                       bool dropped)
{
    char text[TEXT_SIZE] = "";
    for (size_t k = 0; k < l->columns; k++) {
        const calc_listing_column *c = &l->column[k];
        if (dropped && c->dropped) {
            calc_append(text, TEXT_SIZE, "%s%s", *text ? ", " : "no room for ", c->head);
        } else if (!dropped && c->hidden && is_said(l, columns, k)) {
            calc_append(text, TEXT_SIZE, "%s%s %s", *text ? ", " : "all with ", c->head,
                        calc_listing_cell(l, 0, k));
        }
    }
    if (*text) {
        calc_append(text, TEXT_SIZE, "%s", dropped ? ": --columns, or a wider terminal" : "");
        calc_output_text(out, "  ");
        calc_help_wrapped(out, text, 2);
    }
}

/* How far a row is behind the fastest, and why it may come first all the same. */
static void add_reason(char text[TEXT_SIZE], const calc_sweep_row *row,
                       const calc_sweep_row *fastest)
{
    bool likelier = fastest->fits.share < row->fits.share && fastest->fits.share < CALC_FITS_SURE;
    calc_append(text, TEXT_SIZE, ", %.1f %% behind the fastest but ", 100 * (1 - row->share));
    if (!fastest->starts) {
        calc_append(text, TEXT_SIZE, "a framework runs it");
    } else if (fastest->spread && !row->spread) {
        calc_append(text, TEXT_SIZE,
                    "its experts stay on the fastest network, and what spreading "
                    "them further gains was never measured alone");
    } else if (likelier) {
        calc_append(text, TEXT_SIZE, "more likely to fit (%.0f against %.0f %%)",
                    100 * row->fits.share, 100 * fastest->fits.share);
    } else {
        calc_append(text, TEXT_SIZE, "simpler");
    }
}

/* The answer: the layout to start with, and the one that is sure to fit if it is not. */
static void write_start(calc_output *out, const calc_sweep_study *study,
                        const calc_sweep_view *view)
{
    const calc_sweep_row *start = &view->advice->start;
    const calc_sweep_row *safe = &view->advice->safe;
    char text[TEXT_SIZE] = "Start with the first row";
    if (!start->layout || study->options.compat != CALC_COMPAT_NONE) {
        return;
    }
    if (start->number == 1) {
        calc_append(text, TEXT_SIZE, ", the fastest");
    } else {
        add_reason(text, start, &view->advice->fastest);
    }
    if (start->fits.share < CALC_FITS_SURE && safe->layout && safe->layout != start->layout) {
        const calc_exec e = calc_found_exec(safe->layout);
        calc_append(text, TEXT_SIZE, "; %d/%d/%d, %.1f %% behind, is sure to fit",
                    (int)e.strategy.tensor_par, (int)e.pipeline_par, (int)e.strategy.data_par,
                    100 * (1 - safe->share));
    } else if (start->fits.share < CALC_FITS_SURE) {
        calc_append(text, TEXT_SIZE, "; none is sure to fit, this one to %.0f %%",
                    100 * start->fits.share);
    }
    calc_append(text, TEXT_SIZE, view->saved ? ": %s has it" : ": --save-best FILE saves it",
                view->saved);
    calc_output_text(out, "\n");
    calc_help_wrapped(out, text, 0);
}

/* What to do with it. */
static void write_next(calc_output *out, const calc_sweep_study *study, const calc_sweep_view *view)
{
    calc_app app;
    calc_system system;
    const calc_found *layout = view->advice->start.layout;
    if (view->saved && strcmp(view->saved, "-") != 0 && layout) {
        const calc_exec exec = calc_found_exec(layout);
        calc_design_parts parts = calc_designs_parts(&study->builder, layout->design);
        study->designs.get(study->designs.context, layout->design, &app, &system);
        calc_output_text(out, "  run it: ");
        calc_start_write(out,
                         &(calc_start){.args = view->args,
                                       .set = CALC_SWEEP_OPT_SET,
                                       .app = &app,
                                       .system = &system,
                                       .exec = &exec,
                                       .names = {parts.app->name, parts.system->name, view->saved},
                                       .designs = &study->builder,
                                       .design = layout->design});
    }
}

/* Marks in the tables written so far that need a legend. */
typedef struct legend {
    unsigned letters; /* of flags, by bit */
    bool nets, sizes, equal, near, alike, lacks;
    bool capacities;   /* rows may be of machines with different memory */
    double sure_bytes; /* of the first shown row that may not fit; 0: there is none */
} legend;

static void note(legend *l, const calc_listing *listing, const calc_sweep_columns *columns,
                 const calc_sweep_rows *rows)
{
    for (size_t i = 0; i < columns->count; i++) {
        const calc_sweep_column *c = &columns->column[i];
        const char *head = listing->column[i].head;
        bool shown = !listing->column[i].hidden, seen = shown || is_said(listing, columns, i);
        bool flags = c->cell == CALC_SWEEP_CELL_FLAGS && seen;
        for (size_t r = 0; flags && r < rows->count; r++) {
            const calc_exec exec = calc_found_exec(rows->row[r].layout);
            l->letters |= calc_sweep_flags_of(&exec);
        }
        l->nets |= c->cell == CALC_SWEEP_CELL_NETS && seen;
        l->alike |= c->cell == CALC_SWEEP_CELL_ALIKE && shown;
        for (size_t r = 0; c->cell == CALC_SWEEP_CELL_FITS && shown && r < rows->count; r++) {
            const calc_fits *fits = &rows->row[r].fits;
            bool first = l->sure_bytes <= 0 && fits->share < CALC_FITS_SURE;
            l->sure_bytes = first ? fits->sure_bytes : l->sure_bytes;
        }
        l->sizes |= seen && (strcmp(head, "cp") == 0 || strcmp(head, "ep") == 0 ||
                             strcmp(head, "etp") == 0);
    }
    l->near |= rows->near;
    for (size_t r = 0; r < rows->count; r++) {
        l->equal |= rows->row[r].equal;
        l->lacks |= !rows->row[r].starts;
    }
}

static void write_legend(calc_output *out, const legend *l)
{
    char text[TEXT_SIZE] = "";
    if (l->equal) {
        calc_append(text, TEXT_SIZE,
                    l->near ? " =: within 1 %% of the best."
                            : " =: an equal: it is not 75 %% sure that the best is faster. calc "
                              "tune says what to measure.");
    }
    if (l->lacks) {
        calc_append(text, TEXT_SIZE, " !: no framework runs it: calc export says why.");
    }
    if (l->sure_bytes > 0) {
        calc_append(text, TEXT_SIZE,
                    " fits: how sure that is, by the errors in memory of comparable measured runs");
        calc_append(text, TEXT_SIZE,
                    l->capacities ? "."
                                  : "; --where 'mem1 <= %.1fGiB' leaves what is sure to 90 %%.",
                    l->sure_bytes / 0x1p30);
    }
    if (l->alike) {
        calc_append(text, TEXT_SIZE, " alike: further layouts of the same sizes.");
    }
    if (l->sizes) {
        calc_append(text, TEXT_SIZE, " cp, ep, etp: context, expert, expert tensor parallelism.");
    }
    if (l->nets) {
        calc_append(text, TEXT_SIZE, " nets: of tensor, pipeline and data parallelism.");
    }
    for (int i = 0; i < CALC_SWEEP_FLAGS; i++) {
        bool first = (l->letters & ((1U << i) - 1)) == 0;
        if (l->letters >> i & 1) {
            calc_append(text, TEXT_SIZE, "%s %c=%s", first ? " flags:" : ",",
                        calc_sweep_flags[i].letter, calc_sweep_flags[i].meaning);
        }
    }
    if (*text) {
        calc_output_text(out, "\n");
        calc_help_wrapped(out, text + 1, 0);
    }
}

static calc_status write_table(calc_output *out, const calc_sweep_study *study,
                               const calc_sweep_view *view, const calc_sweep_rows *rows,
                               const char *title, legend *marks, calc_errors *errors)
{
    calc_sweep_columns columns;
    if (rows->count == 0) {
        return CALC_OK;
    }
    calc_status status = calc_sweep_columns_list(&columns, study, view->columns, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_listing l = {.column = columns.shown, .columns = columns.count, .gap = 2};
    fill(&l, &columns, study, rows);
    if (!columns.chosen) {
        calc_listing_fit(&l, view->width);
    }
    calc_output_printf(out, "\n%s", title);
    if (rows->count < rows->of) {
        calc_output_printf(out, " (%zu of %s)", rows->count, calc_human_integer((double)rows->of));
    }
    calc_output_text(out, ":\n");
    if (!columns.chosen) {
        write_rest(out, &l, &columns, false);
    }
    for (size_t i = 0; i <= rows->count; i++) {
        calc_listing_write_row(&l, out, i, 0);
    }
    write_rest(out, &l, &columns, true);
    if (rows->without > 0) {
        calc_output_printf(
            out, "  %zu of what is compared cannot run in any layout: alone it says why\n",
            rows->without);
    }
    note(marks, &l, &columns, rows);
    calc_listing_free(&l);
    return CALC_OK;
}

calc_status calc_sweep_table_found(calc_output *out, const calc_sweep_study *study,
                                   const calc_sweep_result *result, const calc_sweep_view *view,
                                   calc_errors *errors)
{
    legend l = {.capacities = study->designs.count > 1};
    calc_sweep_rows rows = {.measured = view->best->measured};
    calc_status status = CALC_OK;
    if (result->groups_count > 1) {
        calc_sweep_rows_groups(&rows, study, result);
        status = write_table(out, study, view, &rows, "Best of each group", &l, errors);
    } else {
        bool each = view->best->each;
        const char *title =
            CALC_TEXT(96, "Best %sby %s", each ? "of each " : "", study->options.top_by.field->key);
        if (calc_sweep_study_mixes(study)) {
            calc_output_text(out, "\n");
            calc_help_wrapped(out,
                              each ? "Models or lengths differ: their rows are not comparable; "
                                     "--top-by STATISTIC ranks them in one list"
                                   : "Models or lengths differ, and rows are not comparable: "
                                     "--per design, or sweep each",
                              0);
        } else {
            write_start(out, study, view);
        }
        status = write_table(out, study, view, view->best, title, &l, errors);
        if (status == CALC_OK && view->advice->start.layout && !calc_sweep_study_mixes(study)) {
            calc_sweep_next_write(out, study, view->advice->start.layout);
            write_next(out, study, view);
        }
        if (status == CALC_OK && view->front) {
            calc_sweep_rows_front(&rows, study, &result->group[0].front);
            status = write_table(out, study, view, &rows, "Pareto front", &l, errors);
        }
    }
    calc_sweep_rows_free(&rows);
    write_legend(out, &l);
    return status;
}

static void write_count(calc_output *out, uint64_t count, const char *what)
{
    if (count > 0) {
        calc_output_printf(out, "%18s  %s\n", calc_human_integer((double)count), what);
    }
}

void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result, bool conditions)
{
    const calc_sweep_counts *c = &result->counts;
    calc_output_printf(out, "\n%18s  layouts%s\n", calc_human_integer((double)c->total),
                       result->partial ? " so far: the sweep is partial" : "");
    write_count(out, c->skipped,
                conditions ? "skipped: by a condition, or dominated or too large by bounds"
                           : "skipped: bounds prove them dominated or too large");
    write_count(out, c->evaluated, "evaluated");
    write_count(out, c->feasible, "feasible");
    write_count(out, c->filtered, "filtered: feasible, but a condition is not met");
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        write_count(out, c->rejected[v],
                    CALC_TEXT(64, "rejected: %s", calc_verdict_text((calc_verdict)v)));
    }
    double per_s = calc_sweep_rate(result);
    calc_output_printf(out, "%18s  with %d thread%s: ", calc_human_seconds(result->elapsed_s),
                       result->threads, result->threads == 1 ? "" : "s");
    calc_output_printf(out, "%s evaluations/s", calc_human_count(per_s));
    calc_output_printf(out, ", %s per core\n", calc_human_count(per_s / result->threads));
}
