#include "cli/sweep/sweep_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "cli/shell/help.h"
#include "cli/shell/start.h"
#include "cli/sweep/sweep_next.h"
#include "cli/sweep/sweep_opts.h"
#include "cli/sweep/sweep_write.h"
#include "spec/field.h"

enum { TEXT_SIZE = 2048, GAP = 2 };

/* ---- Columns: those that vary and those that fit --------------------------------------------- */

/* Note the values of the rows. */
static void look(calc_sweep_columns *columns, const calc_sweep_study *study,
                 const calc_sweep_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(study, rows->row[i].layout, &found);
        for (size_t k = 0; k < columns->count; k++) {
            char text[CALC_SWEEP_CELL_SIZE];
            calc_sweep_column *c = &columns->column[k];
            calc_sweep_cell_text(c, study, &rows->row[i], &found, text);
            if (i == 0) {
                strcpy(c->first, text);
                c->width = (int)strlen(c->head);
            }
            c->varies |= c->cell == CALC_SWEEP_CELL_FITS ? rows->row[i].fits.share < CALC_FITS_SURE
                                                         : strcmp(text, c->first) != 0;
            c->width = (int)strlen(text) > c->width ? (int)strlen(text) : c->width;
        }
    }
}

/* Choose columns that vary, and drop the least important ones, from the right, until the rest
 * fits. */
static void fit(calc_sweep_columns *columns, int width)
{
    int used = -GAP;
    for (size_t i = 0; i < columns->count; i++) {
        calc_sweep_column *c = &columns->column[i];
        bool unknown = !c->varies && strcmp(c->first, "nan") == 0; /* without meaning in serving */
        c->shown = ((c->varies || c->always) && !unknown) || columns->chosen;
        used += c->shown ? c->width + GAP : 0;
    }
    while (used > width && !columns->chosen) {
        calc_sweep_column *least = NULL;
        for (size_t i = 0; i < columns->count; i++) {
            calc_sweep_column *c = &columns->column[i];
            least = c->shown && (!least || c->order >= least->order) ? c : least;
        }
        if (!least || least->order == 0) {
            break;
        }
        least->shown = false;
        least->dropped = true;
        used -= least->width + GAP;
    }
}

/* Whether the value that all rows share means that a feature is not used. */
static bool is_off(const calc_sweep_column *c)
{
    bool size =
        c->cell == CALC_SWEEP_CELL_FIELD && strcmp(c->first, "1") == 0 &&
        (strcmp(c->head, "cp") == 0 || strcmp(c->head, "ep") == 0 || strcmp(c->head, "etp") == 0);
    return size || strcmp(c->first, "-") == 0 || strcmp(c->first, "false") == 0;
}

/* Values that all rows share, and columns for which there is no room. */
static void write_rest(calc_output *out, const calc_sweep_columns *columns, bool dropped)
{
    char text[TEXT_SIZE] = "";
    for (size_t i = 0; i < columns->count; i++) {
        const calc_sweep_column *c = &columns->column[i];
        if (dropped && c->dropped) {
            calc_append(text, TEXT_SIZE, "%s%s", *text ? ", " : "no room for ", c->head);
        } else if (!dropped && !c->shown && !c->dropped && c->searched && !is_off(c)) {
            calc_append(text, TEXT_SIZE, "%s%s %s", *text ? ", " : "all with ", c->head, c->first);
        }
    }
    if (*text) {
        calc_append(text, TEXT_SIZE, "%s", dropped ? ": --columns, or a wider terminal" : "");
        calc_output_text(out, "  ");
        calc_help_wrapped(out, text, 2);
    }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void add_cell(char line[TEXT_SIZE], const calc_sweep_column *c, const char *text)
{
    const char *gap = *line ? "  " : "";
    calc_append(line, TEXT_SIZE, c->left ? "%s%-*s" : "%s%*s", gap, c->width, text);
}

/* A line without the blanks at its end. */
static void write_line(calc_output *out, const char *line)
{
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ') {
        length--;
    }
    calc_output_write(out, line, length);
    calc_output_text(out, "\n");
}

static void write_head(calc_output *out, const calc_sweep_columns *columns)
{
    char line[TEXT_SIZE] = "";
    for (size_t i = 0; i < columns->count; i++) {
        const calc_sweep_column *c = &columns->column[i];
        if (c->shown) {
            add_cell(line, c, c->cell == CALC_SWEEP_CELL_NUMBER ? "# " : c->head);
        }
    }
    write_line(out, line);
}

static void write_row(calc_output *out, const calc_sweep_columns *columns,
                      const calc_sweep_study *study, const calc_sweep_row *row)
{
    char line[TEXT_SIZE] = "";
    calc_sweep_found found;
    calc_sweep_found_run(study, row->layout, &found);
    for (size_t i = 0; i < columns->count; i++) {
        const calc_sweep_column *c = &columns->column[i];
        char text[CALC_SWEEP_CELL_SIZE];
        if (c->shown) {
            calc_sweep_cell_text(c, study, row, &found, text);
            add_cell(line, c, text);
        }
    }
    write_line(out, line);
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
        calc_start_write(
            out, &(calc_start){.args = view->args,
                               .set = CALC_SWEEP_OPT_SET,
                               .app = &app,
                               .system = &system,
                               .exec = &exec,
                               .names = {parts.app->name, parts.system->name, view->saved}});
    }
}

/* Marks in the tables written so far that need a legend. */
typedef struct legend {
    unsigned letters; /* of flags, by bit */
    bool nets, sizes, equal, near, alike, lacks;
    bool capacities;   /* rows may be of machines with different memory */
    double sure_bytes; /* of the first shown row that may not fit; 0: there is none */
} legend;

static void note(legend *l, const calc_sweep_columns *columns, const calc_sweep_rows *rows)
{
    for (size_t i = 0; i < columns->count; i++) {
        const calc_sweep_column *c = &columns->column[i];
        bool seen = c->shown || (c->searched && !c->dropped && !is_off(c));
        bool flags = c->cell == CALC_SWEEP_CELL_FLAGS && seen;
        for (size_t r = 0; flags && r < rows->count; r++) {
            const calc_exec exec = calc_found_exec(rows->row[r].layout);
            l->letters |= calc_sweep_flags_of(&exec);
        }
        l->nets |= c->cell == CALC_SWEEP_CELL_NETS && seen;
        l->alike |= c->cell == CALC_SWEEP_CELL_ALIKE && c->shown;
        for (size_t r = 0; c->cell == CALC_SWEEP_CELL_FITS && c->shown && r < rows->count; r++) {
            const calc_fits *fits = &rows->row[r].fits;
            bool first = l->sure_bytes <= 0 && fits->share < CALC_FITS_SURE;
            l->sure_bytes = first ? fits->sure_bytes : l->sure_bytes;
        }
        l->sizes |= seen && (strcmp(c->head, "cp") == 0 || strcmp(c->head, "ep") == 0 ||
                             strcmp(c->head, "etp") == 0);
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
        calc_append(text, TEXT_SIZE,
                    " alike: further layouts of the same sizes, within 1 %% of the row and with "
                    "about its memory.");
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
                               const char *title, legend *l, calc_errors *errors)
{
    char number[CALC_HUMAN_MAX];
    calc_sweep_columns columns;
    if (rows->count == 0) {
        return CALC_OK;
    }
    calc_status status = calc_sweep_columns_list(&columns, study, view->columns, errors);
    if (status != CALC_OK) {
        return status;
    }
    look(&columns, study, rows);
    fit(&columns, view->width);
    calc_output_printf(out, "\n%s", title);
    if (rows->count < rows->of) {
        calc_output_printf(out, " (%zu of %s)", rows->count,
                           calc_human_integer((double)rows->of, number));
    }
    calc_output_text(out, ":\n");
    if (!columns.chosen) {
        write_rest(out, &columns, false);
    }
    write_head(out, &columns);
    for (size_t i = 0; i < rows->count; i++) {
        write_row(out, &columns, study, &rows->row[i]);
    }
    write_rest(out, &columns, true);
    note(l, &columns, rows);
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
        status = calc_errors_status(errors, calc_sweep_rows_groups(&rows, study, result));
        if (status == CALC_OK) {
            status = write_table(out, study, view, &rows, "Best of each group", &l, errors);
        }
    } else {
        char title[96];
        snprintf(title, sizeof title, "Best by %s", study->options.top_by.field->key);
        write_start(out, study, view);
        status = write_table(out, study, view, view->best, title, &l, errors);
        if (status == CALC_OK && view->advice->start.layout) {
            status = calc_errors_status(
                errors, calc_sweep_next_write(out, study, view->advice->start.layout));
            write_next(out, study, view);
        }
        if (status == CALC_OK && view->front) {
            status = calc_errors_status(
                errors, calc_sweep_rows_front(&rows, study, &result->group[0].front));
        }
        if (status == CALC_OK && view->front) {
            status = write_table(out, study, view, &rows, "Pareto front", &l, errors);
        }
    }
    calc_sweep_rows_free(&rows);
    write_legend(out, &l);
    return status;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static void write_count(calc_output *out, uint64_t count, const char *what)
{
    char number[CALC_HUMAN_MAX];
    if (count > 0) {
        calc_output_printf(out, "%18s  %s\n", calc_human_integer((double)count, number), what);
    }
}

void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result, bool conditions)
{
    const calc_sweep_counts *c = &result->counts;
    char number[CALC_HUMAN_MAX], time[CALC_HUMAN_MAX], rate[CALC_HUMAN_MAX];
    calc_output_printf(out, "\n%18s  layouts%s\n", calc_human_integer((double)c->total, number),
                       result->partial ? " so far: the sweep is partial" : "");
    write_count(out, c->skipped,
                conditions ? "skipped: by a condition, or dominated or too large by bounds"
                           : "skipped: bounds prove them dominated or too large");
    write_count(out, c->evaluated, "evaluated");
    write_count(out, c->feasible, "feasible");
    write_count(out, c->filtered, "filtered: feasible, but a condition is not met");
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        char what[64];
        snprintf(what, sizeof what, "rejected: %s", calc_verdict_text((calc_verdict)v));
        write_count(out, c->rejected[v], what);
    }
    double per_s = calc_sweep_rate(result);
    calc_output_printf(out, "%18s  with %d thread%s: ", calc_human_seconds(result->elapsed_s, time),
                       result->threads, result->threads == 1 ? "" : "s");
    calc_output_printf(out, "%s evaluations/s", calc_human_count(per_s, rate));
    calc_output_printf(out, ", %s per core\n", calc_human_count(per_s / result->threads, rate));
}
