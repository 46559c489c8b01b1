#include "cli/scatter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_COLUMNS = 120, /* wider drawings do not show more */
    MOST_ROWS = 24,
    DOTS_X = 2, /* of a Braille character */
    DOTS_Y = 4,
};

/* ---- Scales ---------------------------------------------------------------------------------- */

static void add_tick(calc_scatter_scale *s, double value, int decimals)
{
    if (s->count < CALC_SCATTER_TICKS && value >= s->lo && value <= s->hi) {
        s->tick[s->count] = value;
        snprintf(s->text[s->count], CALC_SCATTER_TICK_TEXT,
                 fabs(value) < 1e9 && fabs(value) >= 1e-6 ? "%.*f" : "%.*g", decimals, value);
        s->count++;
    }
}

/* Whole multiples of 1, 2 or 5 times a power of ten. */
static void linear_ticks(calc_scatter_scale *s, size_t most)
{
    static const double step_of[] = {1, 2, 5, 10};
    static const double within_margins = 0.9;
    double rough = within_margins * (s->hi - s->lo) / (double)most;
    double power = pow(10, floor(log10(rough)));
    int i = 0;
    while (i < 3 && step_of[i] * power < rough) {
        i++;
    }
    double step = step_of[i] * power;
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    for (double k = ceil(s->lo / step); k * step <= s->hi && s->count < CALC_SCATTER_TICKS; k++) {
        add_tick(s, k == 0 ? 0 : k * step, decimals);
    }
}

/* Powers of ten; 2 and 5 times them as well, if that is not too many. */
static void log_ticks(calc_scatter_scale *s, size_t most)
{
    static const double factor[] = {1, 2, 5};
    double decades = log10(s->hi / s->lo);
    bool powers = 3 * decades > (double)most + 1;
    int every = powers ? (int)ceil(decades / (double)most) : 1;
    int first = (int)(powers ? ceil(log10(s->lo)) : floor(log10(s->lo)));
    for (int e = first; e <= (int)floor(log10(s->hi)); e += every) {
        for (size_t f = 0; f < (powers ? 1 : 3); f++) {
            add_tick(s, factor[f] * pow(10, e), e < 0 ? -e : 0);
        }
    }
}

void calc_scatter_scale_of(double lo, double hi, size_t most, calc_scatter_scale *scale)
{
    static const double log_from = 50, margin = 0.04;
    *scale = (calc_scatter_scale){.log = lo > 0 && hi / lo >= log_from};
    if (scale->log) {
        double factor = pow(hi / lo, margin);
        scale->lo = lo / factor;
        scale->hi = hi * factor;
        log_ticks(scale, most);
        return;
    }
    double span = hi > lo ? hi - lo : hi != 0 ? fabs(hi) : 1;
    scale->lo = lo >= 0 && lo < margin * span ? 0 : lo - margin * span;
    scale->hi = hi + margin * span;
    linear_ticks(scale, most);
}

double calc_scatter_at(const calc_scatter_scale *s, double value)
{
    return s->log ? log(value / s->lo) / log(s->hi / s->lo) : (value - s->lo) / (s->hi - s->lo);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* What a cell holds, later kinds over earlier ones. */
typedef enum content { EMPTY, LINE, OTHER, FRONT, NUMBER } content;

typedef struct drawing {
    int columns, rows, left; /* of the plane; columns before it */
    calc_scatter_scale x, y;
    unsigned char content[MOST_ROWS][MOST_COLUMNS];
    unsigned char dots[MOST_ROWS][MOST_COLUMNS]; /* of the line, as Braille numbers them */
    char digit[MOST_ROWS][MOST_COLUMNS];
} drawing;

static int clamp(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

static int column_of(const drawing *d, double x)
{
    return clamp((int)(calc_scatter_at(&d->x, x) * d->columns), d->columns - 1);
}

static int row_of(const drawing *d, double y)
{
    return clamp((int)((1 - calc_scatter_at(&d->y, y)) * d->rows), d->rows - 1);
}

static bool finite_point(const calc_scatter_point *p)
{
    return isfinite(p->x) && isfinite(p->y);
}

static void mark(drawing *d, const calc_scatter_point *p, content kind)
{
    unsigned char *cell = &d->content[row_of(d, p->y)][column_of(d, p->x)];
    *cell = *cell < (unsigned char)kind ? (unsigned char)kind : *cell;
}

/* Whether a number fits there, without touching another on its row. */
static bool has_room(const drawing *d, int row, int column, int length)
{
    if (row < 0 || row >= d->rows || column < 0 || column + length > d->columns) {
        return false;
    }
    for (int i = column - 1; i <= column + length; i++) {
        bool within = i >= column && i < column + length;
        unsigned char here = i < 0 || i >= d->columns ? EMPTY : d->content[row][i];
        if (within ? here != EMPTY : here == NUMBER) {
            return false;
        }
    }
    return true;
}

/* Beside its mark: right, left, above, below; nowhere if all are taken. */
static void number(drawing *d, const calc_scatter_point *p)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%zu", p->number);
    if (p->number == 0) {
        return;
    }
    int row = row_of(d, p->y), column = column_of(d, p->x);
    const int at[][2] = {
        {row, column + 1}, {row, column - length}, {row - 1, column}, {row + 1, column}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        if (has_room(d, at[i][0], at[i][1], length)) {
            memset(&d->content[at[i][0]][at[i][1]], NUMBER, (size_t)length);
            memcpy(&d->digit[at[i][0]][at[i][1]], text, (size_t)length);
            return;
        }
    }
}

/* One dot of the line; Braille numbers its dots down the left, then the right column, and the
 * lowest row last. */
static void dot(drawing *d, int dot_x, int dot_y)
{
    static const unsigned char bit[DOTS_Y][DOTS_X] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int x = clamp(dot_x, d->columns * DOTS_X - 1), y = clamp(dot_y, d->rows * DOTS_Y - 1);
    unsigned char *cell = &d->content[y / DOTS_Y][x / DOTS_X];
    *cell = *cell == EMPTY ? LINE : *cell;
    d->dots[y / DOTS_Y][x / DOTS_X] |= bit[y % DOTS_Y][x % DOTS_X];
}

/* A step of the front: along x at the worse height, then to the next point. */
static void step(drawing *d, const calc_scatter_point *a, const calc_scatter_point *b)
{
    int x0 = (int)(calc_scatter_at(&d->x, a->x) * d->columns * DOTS_X);
    int x1 = (int)(calc_scatter_at(&d->x, b->x) * d->columns * DOTS_X);
    int y0 = (int)((1 - calc_scatter_at(&d->y, a->y)) * d->rows * DOTS_Y);
    int y1 = (int)((1 - calc_scatter_at(&d->y, b->y)) * d->rows * DOTS_Y);
    for (int x = x0; x <= x1; x++) {
        dot(d, x, y0);
    }
    for (int y = y0 < y1 ? y0 : y1; y <= (y0 < y1 ? y1 : y0); y++) {
        dot(d, x1, y);
    }
}

/* ---- The front ------------------------------------------------------------------------------- */

/* Points and which of them are on the front of the two axes, in the order of the way along it. */
typedef struct front {
    const calc_scatter_point *point;
    size_t count;
    bool x_up, y_up;
} front;

/* Whether a comes before b on the way from the cheapest to the best: by x from its better end, of
 * equals the better y. */
static bool before(const front *f, const calc_scatter_point *a, const calc_scatter_point *b)
{
    return a->x != b->x ? (f->x_up ? a->x > b->x : a->x < b->x)
                        : (f->y_up ? a->y > b->y : a->y < b->y);
}

/* The next point of the front after `last`, the first after NULL; NULL after the last. */
static const calc_scatter_point *next_on_front(const front *f, const calc_scatter_point *last)
{
    const calc_scatter_point *next = NULL;
    for (size_t i = 0; i < f->count; i++) {
        const calc_scatter_point *p = &f->point[i];
        bool gains = !last || (f->y_up ? p->y > last->y : p->y < last->y);
        if (finite_point(p) && gains && (!next || before(f, p, next))) {
            next = p;
        }
    }
    return next;
}

/* Two neighbours of the front: their corner is as bad as each of them in one axis. */
static void join(drawing *d, const front *f, const calc_scatter_point *a,
                 const calc_scatter_point *b)
{
    const calc_scatter_point corner = {.x = b->x, .y = a->y};
    step(d, f->x_up ? &corner : a, f->x_up ? a : &corner);
    step(d, b, &corner);
}

static void mark_all(drawing *d, const front *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (finite_point(&f->point[i])) {
            mark(d, &f->point[i], OTHER);
        }
    }
    for (const calc_scatter_point *p = NULL; (p = next_on_front(f, p));) {
        mark(d, p, FRONT);
    }
    for (const calc_scatter_point *p = NULL; (p = next_on_front(f, p));) {
        number(d, p);
    }
    for (size_t i = 0; i < f->count; i++) {
        const calc_scatter_point *p = &f->point[i];
        if (finite_point(p) && d->content[row_of(d, p->y)][column_of(d, p->x)] == OTHER) {
            number(d, p);
        }
    }
    const calc_scatter_point *last = next_on_front(f, NULL);
    for (const calc_scatter_point *next; (next = next_on_front(f, last)); last = next) {
        join(d, f, last, next);
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_cell(calc_output *out, const calc_paint *paint, const drawing *d, int row,
                       int column)
{
    unsigned char dots = d->dots[row][column];
    const char braille[] = {(char)0xE2, (char)(0xA0 | dots >> 6), (char)(0x80 | (dots & 0x3F)), 0};
    const char digit[] = {d->digit[row][column], 0};
    switch (d->content[row][column]) {
    case NUMBER:
        calc_paint_text(out, paint, CALC_PAINT_BOLD, digit);
        break;
    case FRONT:
        calc_paint_text(out, paint, CALC_PAINT_GREEN, paint->utf8 ? "●" : "*");
        break;
    case OTHER:
        calc_paint_text(out, paint, CALC_PAINT_BLUE, paint->utf8 ? "○" : "o");
        break;
    case LINE:
        calc_paint_text(out, paint, CALC_PAINT_GREEN, paint->utf8 ? braille : ".");
        break;
    default:
        calc_output_text(out, " ");
        break;
    }
}

/* The tick of a row, if it has one: of several the first. */
static const char *tick_of_row(const drawing *d, int row)
{
    for (size_t i = 0; i < d->y.count; i++) {
        if (row_of(d, d->y.tick[i]) == row) {
            return d->y.text[i];
        }
    }
    return NULL;
}

static void write_rows(calc_output *out, const calc_paint *paint, const drawing *d)
{
    for (int row = 0; row < d->rows; row++) {
        const char *tick = tick_of_row(d, row);
        calc_output_printf(out, "%*s ", d->left - 2, tick ? tick : "");
        calc_output_text(out, tick ? (paint->utf8 ? "┤" : "+") : (paint->utf8 ? "│" : "|"));
        int end = d->columns;
        while (end > 0 && d->content[row][end - 1] == EMPTY) {
            end--;
        }
        for (int column = 0; column < end; column++) {
            write_cell(out, paint, d, row, column);
        }
        calc_output_text(out, "\n");
    }
}

/* The line below the plane, and the labels of its ticks, those that do not touch. */
static void write_foot(calc_output *out, const calc_paint *paint, const drawing *d,
                       const char *label)
{
    char labels[MOST_COLUMNS + 2 * CALC_SCATTER_TICK_TEXT];
    bool tick[MOST_COLUMNS] = {false};
    int free_from = 0;
    memset(labels, ' ', sizeof labels);
    for (size_t i = 0; i < d->x.count; i++) {
        int column = column_of(d, d->x.tick[i]);
        int length = (int)strlen(d->x.text[i]);
        int start = d->left + column - length / 2;
        if (start >= free_from && start + length <= d->left + d->columns) {
            tick[column] = true;
            memcpy(labels + start, d->x.text[i], (size_t)length);
            free_from = start + length + 1;
        }
    }
    labels[free_from > 0 ? free_from - 1 : 0] = '\0';
    calc_output_printf(out, "%*s%s", d->left - 1, "", paint->utf8 ? "└" : "+");
    for (int i = 0; i < d->columns; i++) {
        calc_output_text(out, tick[i] ? (paint->utf8 ? "┬" : "+") : (paint->utf8 ? "─" : "-"));
    }
    calc_output_printf(out, "\n%s\n", labels);
    calc_output_printf(out, "%*s\n", d->left + d->columns, label);
}

/* The ranges, and from the widest label what is left for the plane. @return whether there is one */
static bool lay_out(drawing *d, const calc_scatter_point *point, size_t count, int columns)
{
    enum { LEAST_ROWS = 8, CELL_RATIO = 5, PER_TICK = 8, ROWS_PER_TICK = 3 };
    double lo[2] = {HUGE_VAL, HUGE_VAL}, hi[2] = {-HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < count; i++) {
        if (finite_point(&point[i])) {
            lo[0] = fmin(lo[0], point[i].x);
            hi[0] = fmax(hi[0], point[i].x);
            lo[1] = fmin(lo[1], point[i].y);
            hi[1] = fmax(hi[1], point[i].y);
        }
    }
    if (!(lo[0] <= hi[0])) {
        return false;
    }
    columns = columns < CALC_SCATTER_MIN_COLUMNS ? CALC_SCATTER_MIN_COLUMNS : columns;
    columns = columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
    d->rows = clamp(columns / CELL_RATIO, MOST_ROWS);
    d->rows = d->rows < LEAST_ROWS ? LEAST_ROWS : d->rows;
    calc_scatter_scale_of(lo[1], hi[1], (size_t)(d->rows / ROWS_PER_TICK), &d->y);
    int widest = 1;
    for (size_t i = 0; i < d->y.count; i++) {
        int length = (int)strlen(d->y.text[i]);
        widest = length > widest ? length : widest;
    }
    d->left = widest + 2;
    d->columns = columns - d->left - 1;
    calc_scatter_scale_of(lo[0], hi[0], (size_t)(d->columns / PER_TICK), &d->x);
    return true;
}

void calc_scatter_write(calc_output *out, const calc_paint *paint, const calc_scatter_point *point,
                        size_t count, const calc_scatter_axis *x, const calc_scatter_axis *y,
                        int columns)
{
    drawing d = {0};
    if (!lay_out(&d, point, count, columns)) {
        return;
    }
    const front f = {point, count, x->up, y->up};
    mark_all(&d, &f);
    calc_output_printf(out, "%s\n", y->label);
    write_rows(out, paint, &d);
    write_foot(out, paint, &d, x->label);
}
