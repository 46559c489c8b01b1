#include "cli/draw/scatter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"

enum { MOST_COLUMNS = 120 /* a wider drawing shows no more */, ROWS = 16 };

/* The range of the values of an axis and its number of cells. */
typedef struct scale {
    double lo, hi;
    int cells;
} scale;

typedef struct drawing {
    const calc_scatter_point *point;
    size_t count;
    bool x_up, y_up;
    scale x, y;
    char cell[ROWS][MOST_COLUMNS]; /* ' ', 'o', '*' on the front, or a digit */
} drawing;

static bool is_finite(const calc_scatter_point *p)
{
    return isfinite(p->x) && isfinite(p->y);
}

static void widen(scale *s, double value)
{
    s->lo = fmin(s->lo, value);
    s->hi = fmax(s->hi, value);
}

static int cell_of(const scale *s, double value)
{
    static const double log_from = 50;
    bool is_log = s->lo > 0 && s->hi / s->lo >= log_from;
    double share = is_log ? log(value / s->lo) / log(s->hi / s->lo)
                          : (value - s->lo) / (s->hi > s->lo ? s->hi - s->lo : 1);
    return (int)lround(share * (s->cells - 1));
}

static int column_of(const drawing *d, const calc_scatter_point *p)
{
    return cell_of(&d->x, p->x);
}

static int row_of(const drawing *d, const calc_scatter_point *p)
{
    return ROWS - 1 - cell_of(&d->y, p->y);
}

/* By how much a is better; below 0 if it is worse. */
static double gain(double a, double b, bool up)
{
    return up ? a - b : b - a;
}

static bool is_front(const drawing *d, const calc_scatter_point *p)
{
    for (size_t i = 0; i < d->count; i++) {
        double x = gain(d->point[i].x, p->x, d->x_up), y = gain(d->point[i].y, p->y, d->y_up);
        if (x >= 0 && y >= 0 && x + y > 0) {
            return false;
        }
    }
    return true;
}

/* The number goes to the right of its mark, or to the left, where the cells are free and touch no
 * other number. */
static void put_number(drawing *d, const calc_scatter_point *p)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%zu", p->number);
    const char *row = d->cell[row_of(d, p)];
    const int starts[] = {column_of(d, p) + 1, column_of(d, p) - length};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        int start = starts[i];
        bool is_free = start >= 0 && start + length <= d->x.cells;
        for (int k = 0; k < length && is_free; k++) {
            is_free = row[start + k] == ' ';
        }
        int beside = i == 0 ? start + length : start - 1;
        if (is_free && (beside < 0 || beside >= d->x.cells || row[beside] < '0')) {
            memcpy(&d->cell[row_of(d, p)][start], text, (size_t)length);
            return;
        }
    }
}

/* First all marks, then the numbers of the front, then those of the others. */
static void put_points(drawing *d)
{
    memset(d->cell, ' ', sizeof d->cell);
    for (int front = 0; front < 2; front++) {
        for (size_t i = 0; i < d->count; i++) {
            const calc_scatter_point *p = &d->point[i];
            if (is_finite(p) && is_front(d, p) == front) {
                d->cell[row_of(d, p)][column_of(d, p)] = front ? '*' : 'o';
            }
        }
    }
    for (const char *mark = "*o"; *mark; mark++) {
        for (size_t i = 0; i < d->count; i++) {
            const calc_scatter_point *p = &d->point[i];
            if (is_finite(p) && p->number > 0 && d->cell[row_of(d, p)][column_of(d, p)] == *mark) {
                put_number(d, p);
            }
        }
    }
}

static void write_cell(calc_output *out, const calc_paint *paint, char cell)
{
    const char text[] = {cell, 0};
    if (cell == '*') {
        calc_paint_text(out, paint, CALC_PAINT_GREEN, paint->utf8 ? "●" : text);
    } else if (cell == 'o') {
        calc_paint_text(out, paint, CALC_PAINT_BLUE, paint->utf8 ? "○" : text);
    } else if (cell != ' ') {
        calc_paint_text(out, paint, CALC_PAINT_BOLD, text);
    } else {
        calc_output_text(out, text);
    }
}

static void write_row(calc_output *out, const calc_paint *paint, const drawing *d, int row,
                      const char *label, int left)
{
    int end = d->x.cells;
    while (end > 0 && d->cell[row][end - 1] == ' ') {
        end--;
    }
    calc_output_printf(out, "%*s %s", left, label, paint->utf8 ? "│" : "|");
    for (int column = 0; column < end; column++) {
        write_cell(out, paint, d->cell[row][column]);
    }
    calc_output_text(out, "\n");
}

void calc_scatter_write(calc_output *out, const calc_paint *paint, const calc_scatter_point *point,
                        size_t count, const calc_scatter_axis *x, const calc_scatter_axis *y,
                        int columns)
{
    char lo[CALC_HUMAN_MAX], hi[CALC_HUMAN_MAX];
    drawing d = {point, count, x->up, y->up, .x = {HUGE_VAL, -HUGE_VAL, 0}};
    d.y = (scale){HUGE_VAL, -HUGE_VAL, ROWS};
    for (size_t i = 0; i < count; i++) {
        if (is_finite(&point[i])) {
            widen(&d.x, point[i].x);
            widen(&d.y, point[i].y);
        }
    }
    if (!(d.x.lo <= d.x.hi)) {
        return;
    }
    y->text(d.y.lo, lo);
    y->text(d.y.hi, hi);
    int left = (int)(strlen(lo) > strlen(hi) ? strlen(lo) : strlen(hi));
    columns = columns < CALC_SCATTER_MIN_COLUMNS ? CALC_SCATTER_MIN_COLUMNS : columns;
    d.x.cells = (columns > MOST_COLUMNS ? MOST_COLUMNS : columns) - left - 3;
    put_points(&d);
    calc_output_printf(out, "%s\n", y->label);
    for (int row = 0; row < ROWS; row++) {
        write_row(out, paint, &d, row, row == 0 ? hi : row == ROWS - 1 ? lo : "", left);
    }
    calc_output_printf(out, "%*s %s", left, "", paint->utf8 ? "└" : "+");
    for (int i = 0; i < d.x.cells; i++) {
        calc_output_text(out, paint->utf8 ? "─" : "-");
    }
    x->text(d.x.lo, lo);
    x->text(d.x.hi, hi);
    calc_output_printf(out, "\n%*s  %s%*s\n%*s\n", left, "", lo, d.x.cells - (int)strlen(lo), hi,
                       left + 2 + d.x.cells, x->label);
}
