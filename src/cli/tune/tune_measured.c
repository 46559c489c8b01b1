#include "cli/tune/tune_measured.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/shell/inputs.h"

/* A row that is under way. */
typedef struct reading {
    calc_tune_task *t;
    const calc_tune_row *row;
    const char *path; /* of the state */
    calc_errors *errors;
} reading;

static calc_status complain(const reading *r, calc_status status, const char *hint,
                            const char *text)
{
    const calc_tune_row *row = r->row;
    int column = row->layout_column > 0 ? row->layout_column : row->exe_column;
    return calc_errors_at(r->errors, status, r->path, row->line, column, hint, "%s", text);
}

/* The execution in a file, as one of the candidates or beside them. */
static calc_status take_exec(const reading *r, const char *path, size_t *index)
{
    calc_tune_task *t = r->t;
    calc_input input = {0};
    calc_exec exec;
    char text[160];
    bool any = t->layouts.count > 0;
    const calc_exec like = any ? calc_tune_layouts_exec(&t->layouts, 0) : (calc_exec){0};
    calc_status status = calc_input_load(&input, CALC_KIND_EXEC, &exec, path, r->errors);
    if (status == CALC_OK) {
        calc_resolve(&t->app, &t->system, &exec);
        status = calc_check(&t->app, &t->system, &exec, r->errors);
        calc_errors_locate(r->errors, CALC_KIND_EXEC, input.text.data, input.text.length,
                           input.path);
    }
    calc_text_free(&input.text);
    if (status != CALC_OK) {
        return status;
    }
    if (exec.stages.chips > 0 || !exec.training) {
        return complain(r, CALC_ERR_UNSUPPORTED, NULL,
                        "calc tune is for training on processors of one kind");
    }
    if (any && (like.batch_size != exec.batch_size || like.num_procs != exec.num_procs)) {
        snprintf(text, sizeof text,
                 "that layout has %lld processors and a batch of %lld, the candidates %lld and "
                 "%lld",
                 (long long)exec.num_procs, (long long)exec.batch_size, (long long)like.num_procs,
                 (long long)like.batch_size);
        return complain(r, CALC_ERR_RULE, "times of a step are of the same work", text);
    }
    status = calc_tune_layouts_add(&t->layouts, &exec, index, r->errors);
    return status == CALC_ERR_RULE
               ? complain(r, status, "calc run says why", "that layout cannot run on this machine")
               : status;
}

/* A layout that is not among the candidates may be one that was written when it was. */
static calc_status take_written(const reading *r, size_t *index)
{
    char path[CALC_FIND_PATH_MAX];
    const char *id = r->row->layout;
    bool plain = id[strspn(id, "0123456789abcdefABCDEF")] == '\0';
    bool there = plain &&
                 snprintf(path, sizeof path, "%s/%s.json", r->t->folder, id) < (int)sizeof path &&
                 access(path, R_OK) == 0;
    char text[CALC_FIND_PATH_MAX + 96], own[CALC_TUNE_ID_SIZE];
    if (!there) {
        snprintf(text, sizeof text, "layout %.40s is not among the candidates", id);
        return complain(r, CALC_ERR_NOT_FOUND,
                        "more --candidates, or name the file of its execution in a column exe",
                        text);
    }
    calc_status status = take_exec(r, path, index);
    if (status == CALC_OK && calc_tune_layouts_find(&r->t->layouts, id, index) == 0) {
        snprintf(text, sizeof text, "%.200s is another layout by now, %s", path,
                 calc_tune_layouts_id(&r->t->layouts, *index, own));
        return complain(r, CALC_ERR_RULE, "correct the identity, or name the file in a column exe",
                        text);
    }
    return status;
}

static calc_status take_layout(const reading *r, size_t *index)
{
    const calc_tune_row *row = r->row;
    if (*row->exe) {
        bool is_path = strchr(row->exe, '/') || strstr(row->exe, ".json");
        return is_path && access(row->exe, R_OK) != 0
                   ? complain(r, CALC_ERR_NOT_FOUND,
                              "paths are seen from the folder that calc runs in",
                              "exe: there is no such file")
                   : take_exec(r, row->exe, index);
    }
    size_t found = calc_tune_layouts_find(&r->t->layouts, row->layout, index);
    return found == 1  ? CALC_OK
           : found > 1 ? complain(r, CALC_ERR_FIELD, "write all 16 digits",
                                  "several layouts begin with these digits")
                       : take_written(r, index);
}

calc_status calc_tune_measured_read(calc_tune_task *t, calc_errors *errors)
{
    const char *path = calc_opt_value(t->args, CALC_TUNE_OPT_MEASURED);
    bool absent = t->way == CALC_TUNE_WAY_NEXT || t->way == CALC_TUNE_WAY_COMMAND;
    if (!path) {
        return CALC_OK;
    }
    calc_status status = calc_tune_rows_read(&t->rows, path, absent, errors);
    for (size_t i = 0; i < t->rows.count && status != CALC_ERR_NOMEM; i++) {
        const calc_tune_row *row = &t->rows.row[i];
        const reading r = {t, row, path, errors};
        calc_tune_measurement m = {
            .end = row->end, .step_s = row->step_s, .memory_bytes = row->memory_bytes};
        calc_status one = take_layout(&r, &m.candidate);
        one = one == CALC_OK ? calc_tune_task_add(t, &m, row->line, errors) : one;
        status = status == CALC_OK ? one : status;
    }
    if (status == CALC_OK && t->way == CALC_TUNE_WAY_COMMAND) {
        status = calc_tune_journal_open(&t->journal, path, &t->rows, errors);
    }
    return status;
}
