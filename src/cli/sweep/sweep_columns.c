#include "cli/sweep/sweep_columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "io/utf8.h"
#include "spec/alias.h"
#include "spec/field.h"

enum { WORD_SIZE = 128 };

/* ---- Possible columns ------------------------------------------------------------------------ */

/* Columns with heads of their own, in order; the designs, the objectives and the other fields stand
 * between them. */
static const struct known {
    const char *head, *name; /* other names of it for --columns, besides its head and its key */
    calc_sweep_cell cell;
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
    {"batch", "batch", CALC_SWEEP_CELL_FIELD, "batch_size", 3},
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
    const calc_field *field = calc_axis_field(axis);
    return field->type != CALC_TYPE_NOTE && field->type != CALC_TYPE_OBJECT;
}

/* The field of the execution or of its inference with a given name; CALC_AXIS_COUNT: there is none.
 */
static calc_axis find_axis(const char *key)
{
    int axis = 0;
    while (axis < CALC_AXIS_COUNT && (!is_column((calc_axis)axis) ||
                                      strcmp(calc_axis_field((calc_axis)axis)->key, key) != 0)) {
        axis++;
    }
    return (calc_axis)axis;
}

static calc_sweep_column *add(calc_sweep_columns *c, calc_sweep_cell cell, const char *head,
                              int order)
{
    c->count -= c->count == CALC_SWEEP_COLUMNS; /* far more than any sweep has */
    calc_sweep_column *column = &c->column[c->count++];
    *column = (calc_sweep_column){.cell = cell, .head = head, .order = order};
    return column;
}

static void add_field(calc_sweep_columns *c, const calc_sweep_study *study, calc_axis axis,
                      const char *head, int order)
{
    calc_sweep_column *column = add(c, CALC_SWEEP_CELL_FIELD, head, order);
    column->field = calc_axis_field(axis);
    column->offset = calc_axis_offset(axis);
    column->left = is_word(column->field);
    const calc_values *v = &study->space.axis[axis];
    bool several = v->all || v->count > 1;
    bool batch = axis == CALC_AXIS_batch_size && study->space.batch_is_maximum;
    column->searched = several || batch; /* worth showing */
    column->order = several && !v->standard ? 1 : order;
}

static void add_stat(calc_sweep_columns *c, const calc_field *field, const char *head, int order)
{
    calc_sweep_column *column = add(c, CALC_SWEEP_CELL_STAT, head, order);
    column->field = field;
    column->left = is_word(field);
}

static void add_known(calc_sweep_columns *c, const calc_sweep_study *study, const struct known *k)
{
    if (k->cell == CALC_SWEEP_CELL_STAT) {
        add_stat(c, calc_table_find(calc_table_of(CALC_KIND_STATS), k->key), k->head, k->order);
    } else if (k->cell == CALC_SWEEP_CELL_FIELD) {
        add_field(c, study, find_axis(k->key), k->head, k->order);
    } else {
        calc_sweep_column *column = add(c, k->cell, k->head, k->order);
        column->left = k->cell == CALC_SWEEP_CELL_APP || k->cell == CALC_SWEEP_CELL_SYSTEM ||
                       k->cell == CALC_SWEEP_CELL_FLAGS;
        column->searched = k->cell == CALC_SWEEP_CELL_FLAGS || k->cell == CALC_SWEEP_CELL_NETS;
        column->always = k->cell == CALC_SWEEP_CELL_NUMBER || k->cell == CALC_SWEEP_CELL_SIZES;
    }
}

static calc_sweep_column *find_stat(calc_sweep_columns *c, const calc_field *field)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->column[i].cell == CALC_SWEEP_CELL_STAT && c->column[i].field == field) {
            return &c->column[i];
        }
    }
    return NULL;
}

/* Columns of fields that the user asked for always show; so do speed and memory. */
static void add_asked(calc_sweep_columns *c, const calc_sweep_study *study)
{
    const calc_sweep_options *o = &study->options;
    for (size_t i = 0; i < c->count; i++) {
        calc_sweep_column *column = &c->column[i];
        bool tier2 = strcmp(column->head, "GiB 2") == 0;
        column->always |= column->cell == CALC_SWEEP_CELL_STAT && !tier2;
    }
    for (size_t i = 0; i <= o->objectives; i++) {
        const calc_field *field = i == 0 ? o->top_by.field : o->objective[i - 1].field;
        calc_sweep_column *column = find_stat(c, field);
        if (!column) {
            add_stat(c, field, field->key, i == 0 ? 0 : 2);
            column = &c->column[c->count - 1];
        }
        column->always |= strcmp(field->key, "proc_mem_tier2_cap_req") != 0;
        column->order = i == 0 ? 0 : column->order;
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
                add(c, CALC_SWEEP_CELL_DESIGN, study->builder.axis[axis].path, 1)->offset = axis;
            }
        } else if (knowns[i].key && strcmp(knowns[i].key, "proc_mem_tier2_cap_req") == 0) {
            add_asked(c, study);
        }
    }
    for (int i = 0; i < CALC_AXIS_COUNT; i++) {
        calc_axis axis = (calc_axis)i;
        if (is_column(axis) && !is_shown_elsewhere(c, axis)) {
            add_field(c, study, axis, calc_axis_field(axis)->key, 7);
            calc_sweep_column *last = &c->column[c->count - 1];
            last->searched &= last->order == 1 || axis == CALC_AXIS_datatype;
        }
    }
}

/* ---- Requested columns ----------------------------------------------------------------------- */

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
    char shown[CALC_UTF8_SHOW_SIZE];
    char hint[CALC_HINT_SIZE];
    for (size_t i = 0; i < KNOWNS; i++) {
        names[i] = knowns[i].name;
    }
    names[KNOWNS] = NULL;
    const char *near = calc_nearest(word, names);
    return calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                           near ? calc_did_you_mean(near, hint)
                                : "a column is a head of the table, a statistic or a field",
                           "unknown column \"%s\"", calc_utf8_show(shown, word, strlen(word)));
}

static calc_status take_word(calc_sweep_columns *c, const calc_sweep_study *study, const char *word,
                             calc_errors *errors)
{
    if (add_called(c, study, word)) {
        return CALC_OK;
    }
    static const char inside[] = "inference.";
    size_t prefix = strncmp(word, inside, sizeof inside - 1) == 0 ? sizeof inside - 1 : 0;
    const calc_table *stats = calc_table_of(CALC_KIND_STATS);
    const calc_alias *alias = calc_alias_find(calc_table_of(CALC_KIND_EXEC), word);
    alias = alias ? alias : calc_alias_find(stats, word);
    const char *key = alias ? alias->field : word + prefix;
    const calc_field *stat = calc_table_find(stats, key);
    const calc_axis axis = find_axis(key);
    if (stat) {
        add_stat(c, stat, stat->key, 0);
    } else if (axis < CALC_AXIS_COUNT) {
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
        char word[WORD_SIZE];
        size_t length = strcspn(names, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, names);
        status = take_word(columns, study, word, errors);
        names += length + (names[length] == ',');
    }
    return status;
}
