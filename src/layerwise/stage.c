#include "layerwise/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/make.h"
#include "layerwise/core.h"

/* Rounding of sums, as a share. */
static const double ROUNDING = 1e-12;

typedef struct near_list {
    const calc_layerwise_core *core;
    calc_layerwise_front *out;
    size_t capacity, most;
} near_list;

static void keep(calc_layerwise_search *search, const calc_layerwise_answer *answer)
{
    near_list *n = search->data;
    calc_layerwise_front *out = n->out;
    if (answer->x > search->limit) {
        return;
    }
    if (out->count == n->most) {
        out->proven = false;
        search->limit = -INFINITY; /* stop */
        return;
    }
    const calc_layerwise_point point = calc_layerwise_point_of(n->core, answer);
    CALC_ADD(out->point, out->count, n->capacity, &point);
}

void calc_layerwise_near(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         double slack_s, size_t most, calc_layerwise_front *out)
{
    *out = (calc_layerwise_front){.proven = true};
    calc_layerwise_point best;
    if (!calc_layerwise_best(stage, micro_weight, sync_weight, &best)) {
        return;
    }
    calc_layerwise_core core;
    calc_layerwise_core_make(&core, stage, CALC_LAYERWISE_EVERY_OPTION, micro_weight, sync_weight);
    double best_s = micro_weight * best.micro_s + sync_weight * best.sync_s;
    near_list n = {.core = &core, .out = out, .most = most};
    calc_layerwise_search search = {
        .core = &core,
        .alpha = 1,
        .limit = best_s + slack_s + ROUNDING * fabs(best_s),
        .tie_bytes = INFINITY,
        .all = true,
        .found = keep,
        .data = &n,
    };
    calc_layerwise_look(&search);
}

/* Ties of sums, as a share. */
static const double TIE = 1e-12;

static void best_keep(calc_layerwise_search *search, const calc_layerwise_answer *answer)
{
    double value = search->alpha * answer->x + search->beta * answer->y;
    if (value > search->limit ||
        (value >= search->limit - search->tie && answer->bytes >= search->tie_bytes)) {
        return;
    }
    *(calc_layerwise_answer *)search->data = *answer;
    search->limit = value;
    search->tie = TIE * fabs(value);
    search->tie_bytes = answer->bytes;
}

bool calc_layerwise_best(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         calc_layerwise_point *out)
{
    calc_layerwise_core core;
    calc_layerwise_core_make(&core, stage, CALC_LAYERWISE_WEIGHTED, micro_weight, sync_weight);
    calc_layerwise_answer answer;
    calc_layerwise_search search = {
        .core = &core,
        .alpha = 1,
        .limit = INFINITY,
        .tie_bytes = INFINITY,
        .found = best_keep,
        .data = &answer,
    };
    bool proven = calc_layerwise_look(&search), fits = search.limit < INFINITY;
    if (fits) {
        *out = calc_layerwise_point_of(&core, &answer);
    }
    return proven && fits;
}

double calc_layerwise_bound(const calc_layerwise_stage *stage, double micro_weight,
                            double sync_weight)
{
    calc_layerwise_core core;
    calc_layerwise_core_make(&core, stage, CALC_LAYERWISE_WEIGHTED, micro_weight, sync_weight);
    calc_layerwise_search search = {.core = &core, .alpha = 1};
    return calc_layerwise_least(&search);
}

/* Fronts in two values: first the corners of their convex hull, each with the least weighted sum
 * for the normal of a side; then, behind each side, all answers that may lie between its ends. */

/* Effort at a front, at most: until only answers a step apart are looked for; at a side thereafter;
 * at a corner; answers kept before they are thinned. */
enum { EXACT_NODES = 5000, SIDE_NODES = 500, CORNER_NODES = 50000, MOST_POINTS = 20000 };
enum { MOST_STEPS = 400 /* between answers looked for where the best of a front takes too long */ };

typedef struct front {
    const calc_layerwise_core *core;
    calc_layerwise_answer *answer; /* x ascending, y descending */
    size_t count, capacity;
    double from_x, to_x;   /* the side being searched */
    double step_x, step_y; /* an answer must be so much less than its neighbours */
    size_t most;
    int64_t nodes, exact_nodes;
    bool proven;
    calc_layerwise_aim *aim; /* NULL: the whole front matters; its limit: the best so far, */
    bool found;              /* if there is one: */
    calc_layerwise_answer best;
} front;

/* Whether answers that have at least so much may matter. */
static bool matters(const front *f, double x, double y)
{
    return !f->aim || f->aim->value(f->aim->data, x, y) < f->aim->limit;
}

/* The first answer whose x is not smaller. */
static size_t first_from(const front *f, double x)
{
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->answer[middle].x < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* @return whether it is on the front so far */
static bool enter(front *f, const calc_layerwise_answer *answer)
{
    size_t at = first_from(f, answer->x);
    if ((at > 0 && f->answer[at - 1].y <= answer->y) ||
        (at < f->count && f->answer[at].x <= answer->x && f->answer[at].y <= answer->y)) {
        return false;
    }
    size_t behind = at, count = f->count;
    while (behind < count && f->answer[behind].y >= answer->y) {
        behind++;
    }
    CALC_ADD(f->answer, f->count, f->capacity, answer);
    memmove(&f->answer[at + 1], &f->answer[behind], (count - behind) * sizeof *f->answer);
    f->count -= behind - at;
    f->answer[at] = *answer;
    if (f->aim && matters(f, answer->x, answer->y)) {
        f->aim->limit = f->aim->value(f->aim->data, answer->x, answer->y);
        f->found = true;
        f->best = *answer;
    }
    return true;
}

/* ---- Corners -------------------------------------------------------------------------------- */

static void front_keep_least(calc_layerwise_search *search, const calc_layerwise_answer *answer)
{
    double value = search->alpha * answer->x + search->beta * answer->y;
    if (value < search->limit) {
        *(calc_layerwise_answer *)search->data = *answer;
        search->limit = value;
        search->tie = TIE * fabs(value);
    }
}

/* @return the least weighted sum, with its answer; INFINITY: none below the limit */
static double least(front *f, double alpha, double beta, double limit,
                    calc_layerwise_answer *answer)
{
    calc_layerwise_search search = {
        .core = f->core,
        .alpha = alpha,
        .beta = beta,
        .limit = limit,
        .tie = limit < INFINITY ? TIE * fabs(limit) : 0,
        .found = front_keep_least,
        .data = answer,
        .most_nodes = CORNER_NODES,
    };
    f->proven &= calc_layerwise_look(&search);
    return search.limit < limit ? search.limit : INFINITY;
}

/* ---- Behind a side -------------------------------------------------------------------------- */

/* The greatest y of answers from x on that may matter, between two that do and may not. */
static double highest(const front *f, double x, double low_y, double high_y)
{
    for (int i = 0; i < 30 && !matters(f, x, high_y); i++) {
        double middle_y = (low_y + high_y) / 2;
        *(matters(f, x, middle_y) ? &low_y : &high_y) = middle_y;
    }
    return high_y;
}

/* The greatest weighted sum that an answer between two neighbours may have. */
static double greatest(const front *f, const calc_layerwise_search *search)
{
    const int strips = f->aim ? 16 : 1;
    double most = -INFINITY;
    for (size_t i = first_from(f, f->from_x); i + 1 < f->count && f->answer[i].x < f->to_x; i++) {
        double from_x = f->answer[i].x, from_y = f->answer[i + 1].y;
        double x = f->answer[i + 1].x - f->step_x, y = f->answer[i].y - f->step_y;
        double wide = x - from_x;
        for (int k = 0; wide > 0 && y > from_y && k < strips; k++) {
            double at_x = from_x + wide * k / strips;
            if (!matters(f, at_x, from_y)) {
                break;
            }
            x = from_x + wide * (k + 1) / strips;
            most = fmax(most, search->alpha * x + search->beta * highest(f, at_x, from_y, y));
        }
    }
    return most;
}

static void keep_front(calc_layerwise_search *search, const calc_layerwise_answer *answer)
{
    front *f = search->data;
    if (!enter(f, answer)) {
        return;
    }
    if (f->count >= MOST_POINTS) {
        search->nodes = search->most_nodes; /* stop */
    }
    search->limit = greatest(f, search);
    search->tie = TIE * fabs(search->limit);
}

static void look_behind(front *f, double alpha, double beta, double from_x, double to_x)
{
    if (f->nodes >= f->exact_nodes) {
        f->proven = false;
        f->step_x = (f->answer[f->count - 1].x - f->answer[0].x) / (double)f->most;
        f->step_y = (f->answer[0].y - f->answer[f->count - 1].y) / (double)f->most;
    }
    f->from_x = from_x;
    f->to_x = to_x;
    calc_layerwise_search search = {
        .core = f->core,
        .alpha = alpha,
        .beta = beta,
        .found = keep_front,
        .data = f,
        .most_nodes = f->proven ? f->exact_nodes - f->nodes : SIDE_NODES,
    };
    search.limit = greatest(f, &search);
    search.tie = TIE * fabs(search.limit);
    f->proven &= calc_layerwise_look(&search);
    f->nodes += search.nodes;
}

/* Split sides at corners, from left to right, until no corner lies in front of a side. */
static void make(front *f)
{
    calc_layerwise_answer end;
    if (least(f, 1, 0, INFINITY, &end) == INFINITY) {
        return;
    }
    enter(f, &end);
    least(f, 0, 1, INFINITY, &end);
    enter(f, &end);
    for (double left_x = f->answer[0].x;;) {
        size_t i = first_from(f, left_x);
        if (i + 1 >= f->count) {
            return;
        }
        calc_layerwise_answer left = f->answer[i];
        calc_layerwise_answer right = f->answer[i + 1];
        double alpha = left.y - right.y, beta = right.x - left.x;
        double limit = alpha * left.x + beta * left.y;
        if (least(f, alpha, beta, limit - TIE * fabs(limit), &end) < INFINITY && enter(f, &end)) {
            left_x = fmin(left_x, end.x);
        } else {
            if (matters(f, left.x, right.y)) {
                look_behind(f, alpha, beta, left.x, right.x);
            }
            left_x = right.x;
        }
    }
}

/* ---- Results -------------------------------------------------------------------------------- */

/* Thin the front to an even selection, with both ends. */
static void write_out(front *f, size_t most, calc_layerwise_front *out)
{
    size_t count = f->count < most ? f->count : most;
    out->proven = f->proven && f->count <= most;
    out->point = calc_make(count, sizeof *out->point);
    for (size_t i = 0; i < count; i++) {
        size_t from = count > 1 ? i * (f->count - 1) / (count - 1) : 0;
        out->point[out->count++] = calc_layerwise_point_of(f->core, &f->answer[from]);
    }
}

static void front_in(const calc_layerwise_stage *stage, calc_layerwise_values values,
                     double micro_weight, double sync_weight, size_t most,
                     calc_layerwise_front *out)
{
    *out = (calc_layerwise_front){0};
    calc_layerwise_core core;
    calc_layerwise_core_make(&core, stage, values, micro_weight, sync_weight);
    front f = {.core = &core, .proven = true, .exact_nodes = EXACT_NODES, .most = most};
    make(&f);
    write_out(&f, most, out);
    free(f.answer);
}

void calc_layerwise_front_of(const calc_layerwise_stage *stage, size_t most,
                             calc_layerwise_front *out)
{
    front_in(stage, CALC_LAYERWISE_MICRO_AND_SYNC, 1, 1, most, out);
}

void calc_layerwise_curve_of(const calc_layerwise_stage *stage, double micro_weight,
                             double sync_weight, size_t most, calc_layerwise_front *out)
{
    front_in(stage, CALC_LAYERWISE_TIME_AND_BYTES, micro_weight, sync_weight, most, out);
}

bool calc_layerwise_best_of(const calc_layerwise_stage *stage, calc_layerwise_aim *aim,
                            calc_layerwise_point *out, bool *proven)
{
    calc_layerwise_core core;
    calc_layerwise_core_make(&core, stage, CALC_LAYERWISE_MICRO_AND_SYNC, 1, 1);
    front f = {.core = &core,
               .proven = true,
               .exact_nodes = aim->most_nodes,
               .most = MOST_STEPS,
               .aim = aim};
    make(&f);
    free(f.answer);
    *proven = f.proven;
    if (f.found) {
        *out = calc_layerwise_point_of(&core, &f.best);
    }
    return f.found;
}
