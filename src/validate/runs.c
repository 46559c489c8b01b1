#include "validate/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "io/json_load.h"
#include "model/operators/parameters.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/software.h"

void calc_assumptions_add(calc_assumptions *assumed, const char *text)
{
    for (int i = 0; i < assumed->count; i++) {
        if (strcmp(assumed->text[i], text) == 0) {
            return;
        }
    }
    if (assumed->count < CALC_ASSUMPTIONS_MAX) {
        assumed->text[assumed->count++] = text;
    }
}

static int title_index(const calc_csv_row *from, const char *title)
{
    int i = 0;
    while (i < from->titles && strcmp(from->title[i], title) != 0) {
        i++;
    }
    return i < from->titles ? i : -1;
}

void calc_assumptions_read(calc_assumptions *assumed, const calc_csv_row *from)
{
    static const char between[] = " | ";
    int i = title_index(from, "assumed");
    for (char *at = i >= 0 && i < from->cells ? from->cell[i] : NULL; at && *at;) {
        char *end = strstr(at, between);
        if (end) {
            *end = '\0';
        }
        calc_assumptions_add(assumed, at);
        at = end ? end + strlen(between) : NULL;
    }
}

void calc_runs_stem(const char *path, char stem[CALC_RUNS_STEM])
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : strcmp(path, "-") == 0 ? "stdin" : path;
    snprintf(stem, CALC_RUNS_STEM, "%.*s", (int)strcspn(name, "."), name);
}

const char *const calc_quantity_words[] = {
#define CALC_X(name, word, unit) word,
    CALC_QUANTITY_LIST(CALC_X)
#undef CALC_X
        NULL};

enum { KINDS = 3, ASSIGNMENT_SIZE = 1024 };

static const char example[] = "calc validate --template prints an example";

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_runs_row, line)},
#define CALC_X(type, ...) CALC_CSV_COLUMN_##type(calc_runs_row, __VA_ARGS__),
                                          CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* A file under way. */
typedef struct reading {
    const calc_runs_loader *loader;
    char stem[CALC_RUNS_STEM];
    bool refused; /* notes for all rows were given */
    const char *loaded[KINDS];
    calc_app app; /* the documents that were loaded last */
    calc_system system;
    calc_exec exec;
    bool told[CALC_CSV_CELLS_MAX];            /* which columns are said to be ignored */
    calc_field_ref field[CALC_CSV_CELLS_MAX]; /* of the columns that are known to be fields */
} reading;

/* A row under way. */
typedef struct entry {
    reading *r;
    calc_runs_row *row;
    calc_run_documents *own;
    const calc_csv_row *from;
    calc_errors *errors;
} entry;

static bool has_cell(const entry *e, const char *title)
{
    int i = title_index(e->from, title);
    return i >= 0 && i < e->from->cells && !calc_csv_is_blank(e->from->cell[i]);
}

static int column_of(const entry *e, const char *title)
{
    int i = title_index(e->from, title);
    return i < 0 || i >= e->from->cells ? 0
                                        : calc_csv_read_column(e->from->reader, e->from->cell[i]);
}

static calc_status refuse(const entry *e, const char *title, const char *hint, const char *text)
{
    return calc_errors_at(e->errors, CALC_ERR_FIELD, e->from->reader->name, e->from->line,
                          column_of(e, title), hint, "%s", text);
}

/* Errors from `first` on that have no place are of this cell. */
static void place(const entry *e, const char *title, int first, bool all)
{
    for (int i = first; i < e->errors->count; i++) {
        calc_error *error = &e->errors->item[i];
        if (all || !error->file[0]) {
            calc_error_place(error, e->from->reader->name, e->from->line, column_of(e, title));
        }
    }
}

static calc_status load(const entry *e, calc_kind kind, const char *title, const char *name)
{
    reading *r = e->r;
    void *const object[KINDS] = {&r->app, &r->system, &r->exec};
    if (r->loaded[kind] && strcmp(r->loaded[kind], name) == 0) {
        return CALC_OK;
    }
    int before = e->errors->count;
    calc_status status = r->loader->document(kind, name, object[kind], e->errors);
    place(e, title, before, false);
    r->loaded[kind] = status == CALC_OK ? name : NULL;
    return status;
}

static calc_status load_model(const entry *e)
{
    calc_status status = load(e, CALC_KIND_APP, "app", e->row->app);
    e->own->app = e->r->app;
    return status;
}

static calc_status load_arguments(const entry *e)
{
    calc_run_documents *own = e->own;
    bool model = !calc_csv_is_blank(e->row->app);
    int64_t procs = e->row->procs > 0 ? (int64_t)e->row->procs : 0;
    int before = e->errors->count;
    calc_status status =
        e->r->loader->arguments(e->row->arguments, procs, !model, &own->app, &own->exec, e->errors);
    place(e, "arguments", before, true);
    calc_software_state_all(&own->exec);
    if (status == CALC_OK && model) {
        own->exec.seq_size = own->app.seq_size;
        status = load_model(e);
    }
    return status;
}

/* Documents, or what absent keys mean where fields say all. */
static calc_status load_documents(const entry *e)
{
    calc_status model = CALC_OK, status = CALC_OK;
    if (calc_csv_is_blank(e->row->app)) {
        calc_absent_fill(calc_table_of(CALC_KIND_APP), &e->own->app);
    } else {
        model = load_model(e);
    }
    if (calc_csv_is_blank(e->row->exe)) {
        calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &e->own->exec);
        e->own->by_fields = true;
    } else {
        status = load(e, CALC_KIND_EXEC, "exe", e->row->exe);
        e->own->exec = e->r->exec;
    }
    if (e->row->procs > 0) {
        e->own->exec.num_procs = (int64_t)e->row->procs;
    }
    return model == CALC_OK ? status : model;
}

/* A column that is neither a field nor near to one is for people. */
static calc_status set_field(const entry *e, int column)
{
    const char *title = e->from->title[column];
    char assignment[ASSIGNMENT_SIZE];
    calc_errors errors; /* large, and of each cell */
    errors.count = errors.dropped = 0;
    errors.item[0].hint[0] = '\0';
    calc_field_ref where = {0};
    bool remark = snprintf(assignment, sizeof assignment, "%s=%s", title, e->from->cell[column]) >=
                  ASSIGNMENT_SIZE; /* no value is so long */
    void *const object[KINDS] = {&e->own->app, &e->r->system, &e->own->exec};
    calc_field_ref *known = &e->r->field[column];
    calc_status status =
        remark         ? CALC_ERR_FIELD
        : known->field ? calc_assign_again(object, known, assignment, &errors)
                       : calc_set(object[0], object[1], object[2], assignment, &where, &errors);
    if (status == CALC_OK && where.kind == CALC_KIND_SYSTEM) {
        e->r->loaded[CALC_KIND_SYSTEM] = NULL;
        return refuse(e, title, "write a file of that machine, and name it in sys",
                      "fields of app and exe may be columns, a machine's may not");
    }
    if (status == CALC_OK) {
        *known = known->field ? *known : where;
        return CALC_OK;
    }
    const calc_error *error = &errors.item[0];
    bool unknown = status == CALC_ERR_FIELD;
    if (unknown && !error->hint[0]) {
        if (e->r->loader && e->r->loader->ignored && !e->r->told[column]) {
            e->r->loader->ignored(e->from->reader->name, title);
        }
        e->r->told[column] = true;
        return CALC_OK;
    }
    const char *hint = error->hint[0] ? error->hint : "calc show fields has the names of all";
    return calc_errors_at(e->errors, status, e->from->reader->name, e->from->line,
                          column_of(e, title), unknown || error->hint[0] ? hint : NULL, "%s%s%s",
                          unknown ? "" : title, unknown ? "" : ": ", error->text);
}

static calc_status set_fields(const entry *e)
{
    calc_status status = CALC_OK;
    for (int i = 0; i < e->from->cells; i++) {
        if (!calc_csv_has_column(columns, COLUMNS, e->from->title[i]) &&
            !calc_csv_is_blank(e->from->cell[i])) {
            calc_status one = set_field(e, i);
            status = status == CALC_OK ? one : status;
        }
    }
    return status;
}

static bool has_measurement(const calc_csv_row *from)
{
    bool has = false;
    for (int i = 0; i < from->titles; i++) {
        has = has || calc_is_word("outcome measured_s measured_iteration_s measured_mem_gib "
                                  "measured_memory_gib measured_tokens_per_s_per_gpu "
                                  "measured_tflops_per_gpu",
                                  from->title[i]);
    }
    return has;
}

/* Columns missing in the first row, reported once. */
static calc_status check_titles(const entry *e)
{
    const calc_csv_row *from = e->from;
    bool published = title_index(from, "hardware") >= 0 && title_index(from, "sys") < 0;
    bool arguments = title_index(from, "arguments") >= 0;
    bool machine = e->r->loader && e->r->loader->machine;
    const char *missing =
        !machine && title_index(from, "sys") < 0                                            ? "sys"
        : !arguments && title_index(from, "app") < 0 && title_index(from, "hidden") < 0     ? "app"
        : !arguments && title_index(from, "exe") < 0 && title_index(from, "tensor_par") < 0 ? "exe"
        : !has_measurement(from) ? "measured_s"
                                 : NULL;
    if (missing && !e->r->refused) {
        calc_errors_at(e->errors, CALC_ERR_FIELD, from->reader->name, 1, 0,
                       published ? "scripts/make_runs.py makes runs of a published table" : example,
                       "column \"%s\" is missing", missing);
        e->r->refused = true;
    }
    return missing ? CALC_ERR_FIELD : CALC_OK;
}

/* Where fields say all, each size has a value, but those that may be left to a search. */
static calc_status check_sizes(const entry *e)
{
    char text[256];
    calc_exec exec = e->own->exec;
    exec.microbatch_size += exec.microbatch_size == 0;
    exec.pipeline_interleaving += exec.pipeline_interleaving == 0;
    bool model = calc_csv_is_blank(e->row->arguments) && calc_csv_is_blank(e->row->app);
    bool wrong = e->own->by_fields && calc_misfit(CALC_KIND_EXEC, &exec, false, text, sizeof text);
    if (wrong || (model && calc_misfit(CALC_KIND_APP, &e->own->app, false, text, sizeof text))) {
        return calc_errors_at(e->errors, CALC_ERR_FIELD, e->from->reader->name, e->from->line, 0,
                              example, "%s", text);
    }
    return CALC_OK;
}

static calc_status read_run(const entry *e)
{
    calc_runs_row *row = e->row;
    const calc_runs_loader *loader = e->r->loader;
    bool arguments = !calc_csv_is_blank(row->arguments);
    bool documents = arguments || !calc_csv_is_blank(row->app) || !calc_csv_is_blank(row->exe);
    if (calc_csv_is_blank(row->sys)) {
        row->sys = loader && loader->machine ? loader->machine : "";
    }
    if (!calc_csv_is_blank(row->unpredicted)) {
        return CALC_OK;
    }
    if (calc_csv_is_blank(row->sys)) {
        return refuse(e, "sys", example, "sys: the row names no machine");
    }
    if (!calc_csv_is_blank(row->outcome) && strcmp(row->outcome, "ok") != 0 &&
        !calc_runs_is_oom(row)) {
        return refuse(e, "outcome", NULL, "outcome: expected ok or oom, or nothing");
    }
    if (!arguments && calc_csv_is_blank(row->app) && !has_cell(e, "hidden")) {
        return refuse(e, "app", example, "app: the row names no model");
    }
    if (arguments ? !calc_csv_is_blank(row->exe)
                  : calc_csv_is_blank(row->exe) && !has_cell(e, "tensor_par")) {
        return refuse(e, "exe", example,
                      arguments ? "exe and arguments: one of them is the layout"
                                : "exe: the row names no layout");
    }
    if (documents && !loader) {
        return refuse(e, "app", NULL, "app, exe and arguments: fields say all in this table");
    }
    calc_status sys = documents ? load(e, CALC_KIND_SYSTEM, "sys", row->sys) : CALC_OK;
    calc_status status = arguments ? load_arguments(e) : load_documents(e);
    status = status == CALC_OK ? sys : status;
    status = status == CALC_OK ? set_fields(e) : status;
    status = status == CALC_OK ? check_sizes(e) : status;
    if (status == CALC_OK && loader) {
        int before = e->errors->count;
        status = loader->software(&e->own->exec, e->errors);
        place(e, "software", before, false);
    }
    if (calc_csv_is_blank(row->model)) {
        row->model = calc_csv_is_blank(row->app) ? "arguments" : row->app;
    }
    return status;
}

static calc_status finish_row(void *context, void *row, const calc_csv_row *from,
                              calc_errors *errors)
{
    reading *r = context;
    const entry e = {r, row, calc_make(1, sizeof *e.own), from, errors};
    calc_status status = check_titles(&e);
    status = status == CALC_OK ? read_run(&e) : status;
    if (status != CALC_OK) {
        free(e.own);
        return status;
    }
    calc_assumptions_read(&e.own->assumed, from);
    if (calc_csv_is_blank(e.row->id)) {
        snprintf(e.own->id, sizeof e.own->id, "%s:%d", r->stem, from->line);
        e.row->id = e.own->id;
    }
    if (calc_csv_is_blank(e.row->source)) {
        snprintf(e.own->source, sizeof e.own->source, "%s", r->stem);
        e.row->source = e.own->source;
    }
    e.row->document = e.own;
    return CALC_OK;
}

calc_status calc_runs_parse(calc_runs *out, calc_text text, const char *path,
                            const calc_runs_loader *loader, calc_errors *errors)
{
    reading *r = calc_make(1, sizeof *r); /* the machine makes it too large for a stack */
    const calc_csv_table table = {.column = columns,
                                  .columns = COLUMNS,
                                  .row_bytes = sizeof(calc_runs_row),
                                  .finish = finish_row,
                                  .context = r};
    r->loader = loader;
    calc_runs_stem(path, r->stem);
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, path, errors);
    *out = (calc_runs){rows.item, rows.count, rows.text};
    free(r);
    return status == CALC_OK && rows.count == 0
               ? calc_errors_at(errors, CALC_ERR_FIELD, path, 0, 0, NULL, "it has no rows")
               : status;
}

calc_status calc_runs_read(calc_runs *out, const char *path, const calc_runs_loader *loader,
                           calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_runs){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_runs_parse(out, text, path, loader, errors) : status;
}

bool calc_runs_is_oom(const calc_runs_row *row)
{
    return strcmp(row->outcome, "oom") == 0;
}

void calc_runs_free(calc_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        free(runs->row[i].document);
    }
    free(runs->row);
    calc_text_free(&runs->text);
    *runs = (calc_runs){0};
}

/* The measured time from a rate of FLOP, as `tflops_counting` says they are counted: "model" counts
 * matrices and the whole square of attention ("causal": half of it; "megatron": as Megatron does);
 * "recompute" and "hardware"
 * also count recomputation. @return NULL, or why the rate says nothing */
static const char *measure_flop_rate(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    const calc_exec *e = &map->exec;
    bool again = strstr(r->tflops_counting, "recompute") || strstr(r->tflops_counting, "hardware");
    if (!again && !strstr(r->tflops_counting, "model")) {
        return "FLOP/s are printed, but not how they are counted";
    }
    bool causal = strstr(r->tflops_counting, "causal") != NULL;
    bool megatron = strstr(r->tflops_counting, "megatron") != NULL;
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_shape shape = calc_shape_of(&map->app, &e->strategy, e->microbatch_size, e->seq_size);
    double flop = megatron ? calc_parameters_megatron_flop(&shape, e)
                           : calc_parameters_step_flop(&shape, e, !causal);
    flop *= again && full ? 4.0 / 3 : 1;
    map->measured[CALC_QUANTITY_STEP_TIME] =
        flop / (r->measured_tflops_per_gpu * 1e12 * (double)e->num_procs);
    calc_assumptions_add(&map->assumed, megatron ? "FLOP as Megatron counts them"
                                        : causal
                                            ? "FLOP of matrices and of half of the square of "
                                              "attention"
                                            : "FLOP of matrices and of the square of attention");
    return NULL;
}

/* Fill the time of a step; it stays NaN if no time and no rate was measured. */
static const char *measure(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    double *step_s = &map->measured[CALC_QUANTITY_STEP_TIME];
    int64_t length = map->exec.seq_size > 0 ? map->exec.seq_size : map->app.seq_size;
    double tokens = (double)map->exec.batch_size * (double)length;
    if (r->measured_s > 0) {
        *step_s = r->measured_s;
    } else if (r->measured_tokens_per_s_per_gpu > 0) {
        *step_s = tokens / (r->measured_tokens_per_s_per_gpu * (double)map->exec.num_procs);
    } else if (r->measured_tflops_per_gpu > 0) {
        return measure_flop_rate(map);
    }
    return isnan(*step_s) && isnan(map->measured[CALC_QUANTITY_MEMORY]) && !calc_runs_is_oom(r)
               ? "no measured time or memory"
               : NULL;
}

void calc_run_map_row(calc_run_map *out, const calc_runs_row *row)
{
    const calc_run_documents *own = row->document;
    bool predicted = *row->unpredicted == '\0';
    *out = (calc_run_map){.row = row,
                          .network = row->inter_node_gbit > 0 ? row->inter_node_gbit * 1e9 / 8 : 0,
                          .reason = predicted ? NULL : row->unpredicted,
                          .assumed = own->assumed};
    calc_quantities_none(out->measured);
    out->measured[CALC_QUANTITY_STEP_TIME] = predicted ? (double)NAN : row->measured_s;
    out->measured[CALC_QUANTITY_MEMORY] = row->measured_mem_gib * 1073741824.0;
    if (predicted) {
        out->app = own->app;
        out->exec = own->exec;
        out->search = own->by_fields && own->exec.microbatch_size == 0;
        out->exec.microbatch_size += out->search;
        out->exec.pipeline_interleaving += out->exec.pipeline_interleaving == 0;
        out->reason = measure(out);
        out->reason = isnan(out->measured[CALC_QUANTITY_STEP_TIME]) &&
                              !isnan(out->measured[CALC_QUANTITY_MEMORY])
                          ? NULL
                          : out->reason;
    }
}

const calc_system *calc_run_map_system(const calc_run_map *map, const calc_system *system,
                                       calc_system *own)
{
    if (!(map->network > 0) || system->networks_count < 2) {
        return system;
    }
    *own = *system;
    own->networks[own->networks_count - 1].bytes_per_s = map->network;
    return own;
}

bool calc_run_map_counts(const calc_run_map *map, const char *kind)
{
    return strstr(map->row->memory_counting, kind) != NULL;
}

static int64_t size_of(int64_t size)
{
    return size > 0 ? size : 1;
}

static bool same_model(const calc_app *a, const calc_app *b)
{
    return a->hidden == b->hidden && a->num_blocks == b->num_blocks &&
           a->feedforward == b->feedforward && a->attn_heads == b->attn_heads &&
           a->num_experts == b->num_experts && a->experts_per_token == b->experts_per_token &&
           a->expert_feedforward == b->expert_feedforward;
}

/* @param found  micro-batch and interleaving were not published */
static bool same_layout(const calc_exec *x, const calc_exec *y, bool found)
{
    const calc_strategy *a = &x->strategy, *b = &y->strategy;
    return x->num_procs == y->num_procs && x->pipeline_par == y->pipeline_par &&
           x->batch_size == y->batch_size && a->tensor_par == b->tensor_par &&
           a->data_par == b->data_par && size_of(a->context_par) == size_of(b->context_par) &&
           size_of(a->expert_par) == size_of(b->expert_par) &&
           size_of(a->expert_tensor_par) == size_of(b->expert_tensor_par) &&
           calc_format_datatype(a->matrix_datatype, a->datatype) ==
               calc_format_datatype(b->matrix_datatype, b->datatype) &&
           a->activation_recompute == b->activation_recompute &&
           a->recompute_modules == b->recompute_modules &&
           (found || (x->microbatch_size == y->microbatch_size &&
                      x->pipeline_interleaving == y->pipeline_interleaving));
}

static double sequence_of(const calc_app *app, const calc_exec *exec)
{
    return (double)(exec->seq_size > 0 ? exec->seq_size : app->seq_size);
}

size_t calc_same_runs_find(calc_same_run *out, size_t room, const calc_runs *runs,
                           const calc_app *app, const char *machine, const calc_exec *exec)
{
    size_t count = 0;
    for (size_t i = 0; exec->training && i < runs->count; i++) {
        calc_run_map map;
        calc_run_map_row(&map, &runs->row[i]);
        double step_s = map.measured[CALC_QUANTITY_STEP_TIME];
        if (!map.reason && strcmp(map.row->sys, machine) == 0 && step_s > 0 &&
            same_model(&map.app, app) && same_layout(&map.exec, exec, map.search) &&
            sequence_of(&map.app, &map.exec) == sequence_of(app, exec)) {
            if (count < room) {
                out[count] = (calc_same_run){&runs->row[i], step_s};
            }
            count++;
        }
    }
    return count;
}

const calc_document *calc_documents_get(calc_documents *documents, const char *name)
{
    for (int i = 0; i < documents->count; i++) {
        if (strcmp(documents->entry[i].name, name) == 0) {
            return &documents->entry[i];
        }
    }
    /* More names than there is room for take the place of the last. */
    int index = documents->count < CALC_DOCUMENTS_MAX ? documents->count++ : CALC_DOCUMENTS_MAX - 1;
    calc_document *made = &documents->entry[index];
    calc_errors errors = {0};
    *made = (calc_document){.name = name};
    bool model = documents->kind == CALC_KIND_APP;
    void *object = model ? (void *)&made->app : &made->system;
    calc_status status = documents->load(documents->kind, name, object, &errors);
    made->fine = status == CALC_OK;
    if (documents->failed == CALC_OK && (status == CALC_ERR_NOMEM || status == CALC_ERR_IO)) {
        documents->failed = status;
    }
    if (made->fine && documents->measure) {
        made->measured = documents->measure(documents->operators, name, &made->system);
    }
    if (!made->fine && errors.count > 0) {
        errors.item[0].hint[0] = '\0';
        calc_error_print(&errors.item[0], made->reason, sizeof made->reason);
    }
    return made;
}
