#include "cli/sweep/sweep_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_study.h"
#include "io/csv_table.h"
#include "io/json_put.h"
#include "parallel.h"
#include "report/page.h"
#include "report/sweep_data.h"

/* What the speed of training is worth for each doubling of tensor parallelism, for the order of the
 * rows after the start: they are there in case that the prediction errs, and measured runs are the
 * slower, compared with predictions, the more they have of it. Choosing by it costs on no
 * publisher's sets of measured layouts (docs/sweep.md). */
static const double doubled_worth = 0.97;

static void mark(calc_sweep_rows *rows, const calc_sweep_study *study)
{
    for (size_t i = 0; i < rows->count; i++) {
        (void)calc_is_yes(calc_sweep_order_mark(&rows->row[i], rows->measured, study));
    }
}

void calc_sweep_rows_free(calc_sweep_rows *rows)
{
    free(rows->row);
    free(rows->side);
    calc_sweep_result_free(&rows->more);
    *rows = (calc_sweep_rows){0};
}

/* ---- What a study compares ------------------------------------------------------------------- */

enum { SIDES = 32 };

/* Fields of which a study compares the values that were asked for: number formats, but for that of
 * gradients, which --for asks for, and lengths. */
static bool is_compared(const calc_space *space, int axis)
{
    const calc_values *values = &space->axis[axis];
    const char *const *formats = calc_axis_field(CALC_AXIS_matrix_datatype)->choices;
    return !values->standard && values->count > 1 && axis != CALC_AXIS_grad_datatype &&
           (calc_axis_field((calc_axis)axis)->choices == formats || axis == CALC_AXIS_datatype ||
            calc_axis_is_length((calc_axis)axis));
}

/* The layouts to start with of all designs with one value of each axis that is compared, every
 * one as if it were swept alone. @return how many were added */
static size_t find_sides(calc_found *out, const calc_sweep_study *study,
                         const calc_residuals *measured, size_t side)
{
    int64_t value[CALC_AXIS_COUNT];
    calc_sweep_study with = *study;
    calc_sweep_result result = {0};
    calc_errors errors = {0};
    size_t found = 0;
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        const calc_values *values = &study->space.axis[axis];
        if (is_compared(&study->space, axis)) {
            value[axis] = values->value[side % values->count];
            side /= values->count;
            with.space.axis[axis] = (calc_values){.count = 1, .value = &value[axis]};
        }
    }
    bool swept = calc_is_yes(
        calc_sweep_study_again(&with, study->options.top, true, false, &result, &errors));
    for (size_t i = 0; swept && i < result.groups_count; i++) {
        const calc_sweep_result own = {.group = &result.group[i], .groups_count = 1};
        const calc_found *start = calc_sweep_order_advise(measured, study, &own).start.layout;
        if (start) {
            out[found++] = *start;
        }
    }
    calc_sweep_result_free(&result);
    return found;
}

/* ---- Rows of the best ------------------------------------------------------------------------ */

/* Which layouts a row stands for: itself; those of its sizes and micro-batch; those of its sizes.
 */
typedef enum folds { EACH, MICROBATCH, SIZES } folds;

/* Axes whose values are never folded into one row: sizes, and fields that the user asked to
 * compare. */
static bool is_apart(const calc_space *space, calc_axis axis, folds by)
{
    const calc_values *values = &space->axis[axis];
    switch (axis) {
    case CALC_AXIS_num_procs:
    case CALC_AXIS_tensor_par:
    case CALC_AXIS_pipeline_par:
    case CALC_AXIS_data_par:
    case CALC_AXIS_context_par:
    case CALC_AXIS_expert_par:
    case CALC_AXIS_expert_tensor_par:
    case CALC_AXIS_seq_size:
        return true;
    default:
        return (by == MICROBATCH && axis == CALC_AXIS_microbatch_size) ||
               (!values->standard && (values->count > 1 || (values->all && values->count == 0)));
    }
}

static bool is_like(const calc_sweep_study *study, const calc_found *a, const calc_found *b,
                    folds by)
{
    const calc_exec p = calc_found_exec(a);
    const calc_exec q = calc_found_exec(b);
    bool like = by != EACH && a->design == b->design;
    for (int axis = 0; axis < CALC_AXIS_COUNT && like; axis++) {
        like = !is_apart(&study->space, (calc_axis)axis, by) ||
               calc_axis_get(&p, (calc_axis)axis) == calc_axis_get(&q, (calc_axis)axis);
    }
    return like;
}

/* From the one that is worth most. */
static int compare_worth(const void *a, const void *b)
{
    const calc_sweep_row *x = a, *y = b;
    return x->worth != y->worth ? CALC_ORDER(y->worth, x->worth) : CALC_ORDER(x->number, y->number);
}

/* Fold layouts into rows: the first ones, which stay the first, and of each other kind the layout
 * that is worth most.
 * @param all  from the one that may be worth most; only those that may be shown are looked at */
static void fold(calc_sweep_rows *rows, const calc_sweep_study *study, const calc_sweep_row *all,
                 size_t count, size_t fixed, size_t top, folds by)
{
    size_t first = 0; /* that may move */
    rows->count = 0;
    for (size_t i = 0; i < count; i++) {
        calc_sweep_row row = all[i];
        size_t at = 0, to;
        while (at < rows->count && !is_like(study, row.layout, rows->row[at].layout, by)) {
            at++;
        }
        bool more = at == rows->count;
        bool shown = rows->count < top || (top > 0 && row.worth > rows->row[top - 1].worth);
        if (shown && (more || row.worth > rows->row[at].worth)) {
            (void)calc_is_yes(calc_sweep_order_mark(&row, rows->measured, study));
        }
        if (!more && (!shown || at < first || row.worth <= rows->row[at].worth)) {
            rows->row[at].alike++;
        } else if (shown) {
            row.alike = more ? 0 : rows->row[at].alike + 1;
            for (to = at; i >= fixed && to > first && rows->row[to - 1].worth < row.worth; to--) {
                rows->row[to] = rows->row[to - 1];
            }
            rows->row[to] = row;
            rows->count += more;
            first = i < fixed ? rows->count : first;
        }
    }
}

/* Lists the start, those of other sides, and the best. @return how many are the first two */
static size_t list_best(calc_sweep_row *all, size_t *count, const calc_sweep_rows *rows,
                        const calc_sweep_order *order, const calc_front *best,
                        const calc_sweep_row *start, size_t sides)
{
    size_t fixed = 1;
    all[0] = *start;
    for (size_t i = 0; i < sides; i++) {
        if (calc_found_compare(&rows->side[i], start->layout) != 0) {
            all[fixed] = (calc_sweep_row){.layout = &rows->side[i]};
            calc_sweep_order_weigh(order, &all[fixed++]);
        }
    }
    CALC_SORT(all + 1, fixed - 1, compare_worth);
    *count = fixed;
    for (size_t i = 0; i < best->count; i++) {
        const calc_exec exec = calc_found_exec(&best->item[i]);
        bool listed = false;
        for (size_t k = 0; k < fixed && !listed; k++) {
            listed = calc_found_compare(all[k].layout, &best->item[i]) == 0;
            all[k].number = listed ? i + 1 : all[k].number;
        }
        all[*count] = (calc_sweep_row){.layout = &best->item[i], .number = i + 1};
        calc_sweep_order_weigh(order, &all[*count]);
        all[*count].worth *=
            order->known ? pow(doubled_worth, log2((double)exec.strategy.tensor_par)) : 1;
        if (i == 0) {
            all[*count].worth = 1.5; /* the fastest is shown, behind the first ones */
        }
        *count += !listed;
    }
    CALC_SORT(all + fixed, *count - fixed, compare_worth);
    return fixed;
}

/* The layouts to start with of all sides, numbered among those of a model and a length. */
static void list_each(calc_sweep_rows *rows, const calc_sweep_study *study, size_t sides)
{
    double value[SIDES];
    for (size_t i = 0; i < sides; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(study, &rows->side[i], &found);
        value[i] = calc_objective_of(&study->options.top_by, &found.stats);
    }
    for (size_t i = 0; i < sides; i++) {
        rows->row[i] = (calc_sweep_row){.layout = &rows->side[i], .number = 1};
        for (size_t k = 0; k < sides; k++) {
            rows->row[i].number += value[k] < value[i] &&
                                   calc_sweep_study_compares(study, &rows->side[i], &rows->side[k]);
        }
    }
    rows->count = rows->of = sides;
    rows->each = true;
    mark(rows, study);
}

void calc_sweep_rows_best(calc_sweep_rows *rows, const calc_sweep_study *study,
                          const calc_front *best, size_t top, const calc_sweep_row *start,
                          bool again)
{
    enum { MOST = 10000, READ = 1000 /* longer tables are for programs: none is folded */ };
    size_t sides = 0, count = 0, kept = study->options.top, values = 1;
    const size_t designs = study->designs.count <= SIDES ? (size_t)study->designs.count : SIDES + 1;
    for (int axis = 0; axis < CALC_AXIS_COUNT && values <= SIDES; axis++) {
        values *= is_compared(&study->space, axis) ? study->space.axis[axis].count : 1;
    }
    bool compares = again && start->layout && designs * values > 1 && designs * values <= SIDES;
    rows->side = calc_make(SIDES, sizeof *rows->side);
    for (size_t i = 0; compares && i < values; i++) {
        sides += find_sides(&rows->side[sides], study, rows->measured, i);
    }
    rows->without = compares ? designs * values - sides : 0;
    rows->row = calc_make(SIDES, sizeof *rows->row);
    if (sides > 0 && calc_sweep_study_mixes(study)) {
        list_each(rows, study, sides);
        return;
    }
    const calc_sweep_order order = calc_sweep_order_of(study, best->count > 0 ? best->item : NULL);
    for (bool done = best->count == 0; !done;) {
        calc_sweep_row *all = calc_make(best->count + SIDES + 1, sizeof *all);
        size_t fixed = list_best(all, &count, rows, &order, best, start, sides);
        top = top > fixed || top == 0 ? top : fixed;
        free(rows->row);
        rows->row = calc_make(count, sizeof *rows->row);
        folds by = top <= READ ? SIZES : EACH;
        do {
            fold(rows, study, all, count, fixed, top, by);
        } while (rows->count <= fixed && by-- > EACH);
        free(all);
        done = rows->count >= top || best->count < kept || !again || kept > MOST;
        if (!done) {
            calc_errors errors = {0};
            kept *= 8;
            calc_sweep_result_free(&rows->more);
            (void)calc_is_yes(
                calc_sweep_study_again(study, kept, false, false, &rows->more, &errors));
            best = &rows->more.group[0].top;
        }
    }
    rows->count = rows->count < top ? rows->count : top;
    rows->of = best->count == kept ? top : rows->count; /* there may be others */
    rows->near = !order.known;
    for (size_t i = 0; i < rows->count; i++) {
        calc_sweep_row *row = &rows->row[i];
        calc_sweep_found f;
        calc_sweep_found_run(study, row->layout, &f);
        row->sure = calc_sweep_order_sure(&order, f.design, &f.exec, &f.stats);
        row->equal = row->number != 1 && calc_sweep_order_equal(&order, row->sure, &f.stats);
    }
}

void calc_sweep_rows_front(calc_sweep_rows *rows, const calc_sweep_study *study,
                           const calc_front *front)
{
    size_t shown = front->count < CALC_SWEEP_ROWS_FRONT ? front->count : CALC_SWEEP_ROWS_FRONT;
    *rows =
        (calc_sweep_rows){.row = calc_make(shown, sizeof *rows->row), .measured = rows->measured};
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_spread(i, shown, front->count);
        rows->row[i] = (calc_sweep_row){.layout = &front->item[at], .number = at + 1};
    }
    rows->count = shown;
    rows->of = front->count;
    mark(rows, study);
}

void calc_sweep_rows_groups(calc_sweep_rows *rows, const calc_sweep_study *study,
                            const calc_sweep_result *result)
{
    const calc_sweep_options *o = &study->options;
    size_t counts = o->per_num_procs ? study->space.axis[CALC_AXIS_num_procs].count : 1;
    calc_sweep_row *all = calc_make(result->groups_count + 1, sizeof *all);
    for (size_t procs = 0; procs < counts; procs++) {
        size_t first = rows->of;
        for (size_t g = procs; g < result->groups_count; g += counts) {
            const calc_found *best = calc_sweep_found_best(&result->group[g]);
            if (best) {
                calc_sweep_found found;
                calc_sweep_found_run(study, best, &found);
                all[rows->of] =
                    (calc_sweep_row){.layout = best,
                                     .number = rows->of + 1,
                                     .worth = -calc_objective_of(&o->top_by, &found.stats)};
                rows->of++;
            }
        }
        CALC_SORT(all + first, rows->of - first, compare_worth);
    }
    rows->count = rows->of < CALC_SWEEP_ROWS_GROUPS ? rows->of : CALC_SWEEP_ROWS_GROUPS;
    rows->row = calc_make(rows->count + 1, sizeof *rows->row);
    for (size_t i = 0; i < rows->count; i++) {
        size_t at = o->per_design ? i : calc_sweep_spread(i, rows->count, rows->of);
        rows->row[i] = (calc_sweep_row){.layout = all[at].layout, .number = at + 1};
    }
    free(all);
    mark(rows, study);
}

void calc_sweep_write_json(calc_output *out, const calc_sweep_study *study,
                           const calc_sweep_result *result)
{
    const calc_sweep_order order = calc_sweep_order_of(study, calc_sweep_found_best_of_all(result));
    const calc_sweep_data data = {
        .study = study, .result = result, .sure = calc_sweep_order_sure, .context = &order};
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_sweep_put_results(&put, &data);
    calc_put_end(&put);
}

void calc_sweep_write_header(calc_output *out, const calc_sweep_study *study, const char *first)
{
    calc_output_printf(out, "%s%sapplication,system", first ? first : "", first ? "," : "");
    for (size_t i = 0; i < study->builder.axes; i++) {
        calc_csv_text(out, study->builder.axis[i].path, false);
    }
    calc_csv_header(out, CALC_KIND_EXEC, false);
    calc_csv_header(out, CALC_KIND_STATS, false);
    calc_output_text(out, "\n");
}

void calc_sweep_write_row(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_found *found, bool is_first)
{
    calc_design_parts parts = calc_designs_parts(&study->builder, found->design);
    calc_csv_text(out, parts.app->name, is_first);
    calc_csv_text(out, parts.system->name, false);
    for (size_t i = 0; i < study->builder.axes; i++) {
        char text[32];
        calc_csv_text(out, calc_designs_value_text(&study->builder, found->design, i, text), false);
    }
    calc_csv_values(out, CALC_KIND_EXEC, &found->exec, false);
    calc_csv_values(out, CALC_KIND_STATS, &found->stats, false);
    calc_output_text(out, "\n");
}

/* Rows of a list: all threads make those of a few pieces at a time, which are written in order. */
enum { PIECE = 16, PIECES = 64 };

typedef struct rows {
    const calc_sweep_study *study;
    const char *name;
    const calc_front *list;
    size_t first;              /* of the first piece */
    calc_output *text[PIECES]; /* in memory; NULL if memory is short */
} rows;

static void write_piece(const rows *r, size_t piece, calc_output *out)
{
    size_t first = r->first + piece * PIECE;
    for (size_t i = first; i < first + PIECE && i < r->list->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(r->study, &r->list->item[i], &found);
        calc_output_printf(out, "%s,%zu", r->name, i + 1);
        calc_sweep_write_row(out, r->study, &found, false);
    }
}

static void make_piece(void *context, size_t piece)
{
    const rows *r = context;
    if (r->text[piece]) {
        write_piece(r, piece, r->text[piece]);
    }
}

static void write_rows(calc_output *out, const calc_sweep_study *study, const char *name,
                       const calc_front *list)
{
    rows r = {.study = study, .name = name, .list = list};
    bool several = list->count > PIECE; /* else threads cost more than they save */
    for (size_t i = 0; i < PIECES && several; i++) {
        (void)!calc_output_open_memory(&r.text[i], NULL, NULL);
    }
    for (; r.first < list->count; r.first += (size_t)PIECES * PIECE) {
        size_t left = (list->count - r.first + PIECE - 1) / PIECE;
        size_t pieces = left < PIECES ? left : PIECES;
        calc_parallel_for(several ? study->options.threads : 1, pieces, make_piece, &r);
        for (size_t i = 0; i < pieces; i++) {
            size_t length;
            const char *text = r.text[i] ? calc_output_take(r.text[i], &length) : NULL;
            if (text) {
                calc_output_write(out, text, length);
            } else {
                write_piece(&r, i, out);
            }
        }
    }
    for (size_t i = 0; i < PIECES; i++) {
        calc_output_discard(r.text[i]);
    }
}

void calc_sweep_write_csv(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_result *result)
{
    calc_sweep_write_header(out, study, "list,rank");
    for (size_t g = 0; g < result->groups_count; g++) {
        const calc_sweep_group *group = &result->group[g];
        write_rows(out, study, result->partial ? "partial front" : "front", &group->front);
        write_rows(out, study, result->partial ? "partial top" : "top", &group->top);
    }
}

/* What measured runs say of the layouts of a sweep. */
typedef struct known {
    const calc_sweep_study *study;
    const calc_residuals *measured;
    calc_sweep_order order;
} known;

static double sure_of(const void *context, uint64_t design, const calc_exec *exec,
                      const calc_stats *stats)
{
    return calc_sweep_order_sure(&((const known *)context)->order, design, exec, stats);
}

static double fits_of(const void *context, const calc_found *layout)
{
    const known *k = context;
    return calc_sweep_order_fits(k->measured, k->study, layout).share;
}

calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                  const calc_sweep_result *result, const calc_args *args,
                                  const calc_sweep_row *start, const calc_residuals *measured,
                                  calc_errors *errors)
{
    const known k = {study, measured,
                     calc_sweep_order_of(study, calc_sweep_found_best_of_all(result))};
    const calc_sweep_data data = {.study = study,
                                  .result = result,
                                  .start = start->layout,
                                  .start_rank = start->number,
                                  .sure = k.order.known ? sure_of : NULL,
                                  .fits = fits_of,
                                  .context = &k};
    calc_put put = calc_page_begin(out, CALC_PAGE_SWEEP);
    calc_put_object(&put, "study", CALC_PUT_LINES);
    calc_sweep_put_study(&put, study);
    calc_putf(&put, "designs: %zu, per_num_procs?: %d", study->designs.count,
              study->options.per_num_procs);
    calc_sweep_read_put(&put, study, args);
    calc_put_close(&put);
    calc_status status = calc_sweep_data_put(&put, &data, errors);
    calc_page_end(&put, CALC_PAGE_SWEEP);
    return status;
}
