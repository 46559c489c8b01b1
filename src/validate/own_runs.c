#include "validate/own_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "spec/field.h"

enum { KINDS = 3, ASSIGNMENT_SIZE = 1024 };

static const char example[] = "calc validate --template prints an example";

/* clang-format off */
/* Columns of a short table that are no fields. Other columns of runs.h are fields here, or ignored:
 * "hidden". */
static const char *const own_columns[] = {
    "name", "id", "source", "app", "sys", "exe", "arguments", "procs", "num_gpus", "measured_s",
    "measured_mem_gib", "measured_iteration_s", "measured_memory_gib",
    "measured_tokens_per_s_per_gpu", "memory_counting", "confidence", NULL};
/* clang-format on */

/* Columns of published tables: names that a reader takes for understood, not for remarks. */
static const char *const published_columns[] = {
#define CALC_X(type, name) #name,
    CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
        NULL};

/* A file under way. */
typedef struct reading {
    const calc_own_loader *loader;
    char stem[64];      /* of its name */
    calc_own_run *last; /* of the rows so far */
    bool refused;       /* notes for all rows were given */
    const char *loaded[KINDS];
    calc_app app; /* the documents that were loaded last */
    calc_system system;
    calc_exec exec;
    bool told[CALC_CSV_CELLS_MAX]; /* which columns are said to be ignored */
    const char *hardware;          /* that was asked for last, and whether it is a machine's file */
    bool is_machine;
} reading;

/* A row under way. */
typedef struct entry {
    reading *r;
    calc_runs_row *row;
    calc_own_run *own;
    const calc_csv_row *from;
    calc_errors *errors;
} entry;

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool is_blank(const char *cell)
{
    return cell[strspn(cell, " ")] == '\0' || strcmp(cell, "-") == 0;
}

static int title_index(const calc_csv_row *from, const char *title)
{
    int i = 0;
    while (i < from->titles && strcmp(from->title[i], title) != 0) {
        i++;
    }
    return i < from->titles ? i : -1;
}

static bool has_title(const calc_csv_row *from, const char *title)
{
    return title_index(from, title) >= 0;
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

/* ---- Groups ---------------------------------------------------------------------------------- */

static void set_machine(const entry *e, const char *name)
{
    const calc_own_run *o = e->r->last;
    while (o && (o->machine != &o->its_machine || strcmp(o->its_machine.system, name) != 0)) {
        o = o->before;
    }
    if (!o) {
        e->own->its_machine = (calc_run_machine){
            .contains = name, .system = name, .family = calc_run_machine_family(name)};
    }
    e->own->machine = o ? &o->its_machine : &e->own->its_machine;
}

/* @param like  known properties of its software */
static void set_source(const entry *e, const calc_run_source *like)
{
    snprintf(e->own->group, sizeof e->own->group, "%s", e->r->stem);
    const char *name = is_blank(e->row->source) ? e->own->group : e->row->source;
    const calc_own_run *o = e->r->last;
    while (o && (o->source != &o->its_source || strcmp(o->its_source.name, name) != 0 ||
                 o->its_source.traits != like->traits)) {
        o = o->before;
    }
    if (!o) {
        e->own->its_source = *like;
        e->own->its_source.name = name;
    }
    e->own->source = o ? &o->its_source : &e->own->its_source;
}

/* ---- Documents ------------------------------------------------------------------------------- */

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
    calc_own_run *own = e->own;
    bool model = !is_blank(e->row->app);
    int64_t procs = e->row->num_gpus > 0 ? (int64_t)e->row->num_gpus : 0;
    int before = e->errors->count;
    calc_status status =
        e->r->loader->arguments(e->row->arguments, procs, !model, &own->app, &own->exec, e->errors);
    place(e, "arguments", before, true);
    if (status == CALC_OK && model) {
        own->exec.seq_size = own->app.seq_size;
        status = load_model(e);
    }
    return status;
}

static calc_status load_documents(const entry *e)
{
    calc_status model = load_model(e);
    calc_status status = load(e, CALC_KIND_EXEC, "exe", e->row->exe);
    e->own->exec = e->r->exec;
    if (e->row->num_gpus > 0) {
        e->own->exec.num_procs = (int64_t)e->row->num_gpus;
    }
    return model == CALC_OK ? status : model;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static bool is_one_of(const char *const *names, const char *title)
{
    while (*names && strcmp(*names, title) != 0) {
        names++;
    }
    return *names != NULL;
}

/* A column that is neither a field nor near to one is for people. */
static calc_status set_field(const entry *e, int column)
{
    const char *title = e->from->title[column];
    char assignment[ASSIGNMENT_SIZE];
    calc_errors errors = {0};
    calc_field_ref where = {0};
    bool remark = snprintf(assignment, sizeof assignment, "%s=%s", title, e->from->cell[column]) >=
                  ASSIGNMENT_SIZE; /* no value is so long */
    calc_status status =
        remark ? CALC_ERR_FIELD
               : calc_set(&e->own->app, &e->r->system, &e->own->exec, assignment, &where, &errors);
    if (status == CALC_OK && where.kind == CALC_KIND_SYSTEM) {
        e->r->loaded[CALC_KIND_SYSTEM] = NULL;
        return refuse(e, title, "write a file of that machine, and name it in sys",
                      "fields of app and exe may be columns, a machine's may not");
    }
    if (status == CALC_OK) {
        return CALC_OK;
    }
    const calc_error *error = &errors.item[0];
    bool unknown = status == CALC_ERR_FIELD;
    if (unknown && !error->hint[0] && !is_one_of(published_columns, title)) {
        if (e->r->loader->ignored && !e->r->told[column]) {
            e->r->loader->ignored(e->from->reader->name, title);
        }
        e->r->told[column] = true;
        return CALC_OK;
    }
    const char *hint = error->hint[0] ? error->hint : "calc fields has the names of all";
    return calc_errors_at(e->errors, status, e->from->reader->name, e->from->line,
                          column_of(e, title), unknown || error->hint[0] ? hint : NULL, "%s%s%s",
                          unknown ? "" : title, unknown ? "" : ": ", error->text);
}

static calc_status set_fields(const entry *e)
{
    calc_status status = CALC_OK;
    for (int i = 0; i < e->from->cells; i++) {
        if (!is_one_of(own_columns, e->from->title[i]) && !is_blank(e->from->cell[i])) {
            calc_status one = set_field(e, i);
            status = status == CALC_OK ? one : status;
        }
    }
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Columns missing in the first row, reported once. */
static calc_status check_titles(const entry *e)
{
    const calc_csv_row *from = e->from;
    bool measured = has_title(from, "measured_s") || has_title(from, "measured_iteration_s") ||
                    has_title(from, "measured_tokens_per_s_per_gpu") ||
                    has_title(from, "measured_mem_gib") || has_title(from, "measured_memory_gib");
    bool arguments = has_title(from, "arguments");
    const char *missing = !arguments && !has_title(from, "app")               ? "app"
                          : !e->r->loader->machine && !has_title(from, "sys") ? "sys"
                          : !arguments && !has_title(from, "exe")             ? "exe"
                          : !measured                                         ? "measured_s"
                                                                              : NULL;
    if (missing && !e->r->refused) {
        calc_errors_at(e->errors, CALC_ERR_FIELD, from->reader->name, 1, 0, example,
                       "column \"%s\" is missing", missing);
        e->r->refused = true;
    }
    return missing ? CALC_ERR_FIELD : CALC_OK;
}

/* The row in the columns of a published table, for those who group and write rows. */
static void describe(const entry *e)
{
    calc_runs_row *row = e->row;
    const calc_app *app = &e->own->app;
    const calc_exec *exec = &e->own->exec;
    row->model = is_blank(row->app) ? "arguments" : row->app;
    row->dtype = calc_datatype_names[exec->strategy.datatype];
    row->num_gpus = (double)exec->num_procs;
    row->global_batch = (double)exec->batch_size;
    row->seq = (double)(exec->seq_size > 0 ? exec->seq_size : app->seq_size);
    row->num_experts = (double)app->num_experts;
}

static calc_status read_own(const entry *e)
{
    calc_runs_row *row = e->row;
    bool arguments = !is_blank(row->arguments);
    const char *machine = is_blank(row->sys) ? e->r->loader->machine : row->sys;
    calc_status status = check_titles(e);
    if (status != CALC_OK) {
        return status;
    }
    if (!machine) {
        return refuse(e, "sys", example, "sys: the row names no machine");
    }
    if (!arguments && is_blank(row->app)) {
        return refuse(e, "app", example, "app: the row names no model");
    }
    if (arguments != is_blank(row->exe)) {
        return refuse(e, "exe", example,
                      arguments ? "exe and arguments: one of them is the layout"
                                : "exe: the row names no layout");
    }
    calc_status sys = load(e, CALC_KIND_SYSTEM, "sys", machine);
    status = arguments ? load_arguments(e) : load_documents(e);
    status = status == CALC_OK ? sys : status;
    status = status == CALC_OK ? set_fields(e) : status;
    static const calc_run_source plain = {.prefix = ""};
    e->own->complete = true;
    set_machine(e, machine);
    set_source(e, &plain);
    describe(e);
    return status;
}

/* A published table: machines by the name of a file, and groups that none of the published ones
 * is. */
static calc_status read_published(const entry *e)
{
    reading *r = e->r;
    const char *hardware = e->row->hardware;
    const calc_run_source *source = calc_run_source_of(e->row);
    if (!r->hardware || strcmp(r->hardware, hardware) != 0) {
        r->hardware = hardware;
        r->is_machine = !is_blank(hardware) && r->loader->is_machine(hardware);
    }
    if (r->is_machine) {
        set_machine(e, hardware);
    } else if (is_blank(hardware) && r->loader->machine) {
        set_machine(e, r->loader->machine);
    }
    if (strcmp(source->name, CALC_RUN_SOURCE_OTHER) == 0) {
        set_source(e, source);
    }
    return CALC_OK;
}

static calc_status finish_row(void *context, void *row, const calc_csv_row *from,
                              calc_errors *errors)
{
    reading *r = context;
    entry e = {r, row, calloc(1, sizeof *e.own), from, errors};
    if (!e.own) {
        return calc_errors_no_memory(errors);
    }
    bool own = !has_title(from, "hardware") || has_title(from, "app") || has_title(from, "sys") ||
               has_title(from, "exe");
    calc_status status = own ? read_own(&e) : read_published(&e);
    if (status != CALC_OK || !(e.own->machine || e.own->source)) {
        free(e.own);
        return status;
    }
    if (is_blank(e.row->id)) {
        snprintf(e.own->id, sizeof e.own->id, "%s:%d", r->stem, from->line);
        e.row->id = e.own->id;
    }
    e.own->before = r->last;
    e.row->own = r->last = e.own;
    return CALC_OK;
}

/* "runs/my.csv.gz" is "my". */
static reading *start(const char *path, const calc_own_loader *loader)
{
    reading *r = calloc(1, sizeof *r); /* the machine makes it too large for a stack */
    if (r) {
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : strcmp(path, "-") == 0 ? "stdin" : path;
        r->loader = loader;
        snprintf(r->stem, sizeof r->stem, "%.*s", (int)strcspn(name, "."), name);
    }
    return r;
}

calc_status calc_own_runs_parse(calc_runs *out, calc_text text, const char *name,
                                const calc_own_loader *loader, calc_errors *errors)
{
    reading *r = start(name, loader);
    *out = (calc_runs){.text = text};
    calc_status status =
        r ? calc_runs_parse(out, text, name, finish_row, r, errors) : calc_errors_no_memory(errors);
    free(r);
    return status;
}

bool calc_own_runs_has(const calc_runs_row *row)
{
    return row->own && row->own->source;
}
