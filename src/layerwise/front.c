/* Fronts in two values: first the corners of their convex hull, each with the least weighted sum
 * for the normal of a side; then, behind each side, all answers that may lie between its ends. */
#include "layerwise/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

/* Ties of sums, as a share. */
static const double TIE = 1e-12;
/* Effort at a front, at most: until only answers a step apart are looked for; at a side thereafter;
 * at a corner; answers kept before they are thinned. */
enum { EXACT_NODES = 5000, SIDE_NODES = 500, CORNER_NODES = 50000, MOST_POINTS = 20000 };

typedef struct front {
    calc_layerwise_core core;
    calc_layerwise_answer *answer; /* x ascending, y descending */
    size_t count, capacity;
    double from_x, to_x;   /* the side being searched */
    double step_x, step_y; /* an answer must be so much less than its neighbours */
    size_t most;
    int64_t nodes;
    bool no_memory, proven;
} front;

/* The first answer whose x is not smaller. */
static size_t first_from(const front *f, double x)
{
    size_t low = 0;
    size_t high = f->count;
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

static bool is_beaten(const front *f, size_t at, const calc_layerwise_answer *answer)
{
    return (at > 0 && f->answer[at - 1].y <= answer->y) ||
           (at < f->count && f->answer[at].x <= answer->x && f->answer[at].y <= answer->y);
}

/* @return whether it is on the front so far */
static bool enter(front *f, const calc_layerwise_answer *answer)
{
    size_t at = first_from(f, answer->x);
    if (is_beaten(f, at, answer)) {
        return false;
    }
    calc_layerwise_answer *grown = calc_grown(f->answer, f->count, &f->capacity, sizeof *f->answer);
    if (!grown) {
        f->no_memory = true;
        return false;
    }
    f->answer = grown;
    size_t behind = at;
    while (behind < f->count && f->answer[behind].y >= answer->y) {
        behind++;
    }
    memmove(&f->answer[at + 1], &f->answer[behind], (f->count - behind) * sizeof *f->answer);
    f->count -= behind - at;
    f->answer[at] = *answer;
    f->count++;
    return true;
}

/* ---- Corners
 * ------------------------------------------------------------------------------------- */

static void keep_least(calc_layerwise_search *search, const calc_layerwise_answer *answer)
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
        .core = &f->core,
        .alpha = alpha,
        .beta = beta,
        .limit = limit,
        .tie = limit < INFINITY ? TIE * fabs(limit) : 0,
        .found = keep_least,
        .data = answer,
        .most_nodes = CORNER_NODES,
    };
    f->proven &= calc_layerwise_look(&search);
    return search.limit < limit ? search.limit : INFINITY;
}

/* ---- Behind a side
 * ------------------------------------------------------------------------------- */

/* The greatest weighted sum that an answer between two neighbours may have. */
static double greatest(const front *f, const calc_layerwise_search *search)
{
    double most = -INFINITY;
    for (size_t i = first_from(f, f->from_x); i + 1 < f->count && f->answer[i].x < f->to_x; i++) {
        double x = f->answer[i + 1].x - f->step_x;
        double y = f->answer[i].y - f->step_y;
        if (x > f->answer[i].x && y > f->answer[i + 1].y) {
            most = fmax(most, search->alpha * x + search->beta * y);
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
    if (f->no_memory || f->count >= MOST_POINTS) {
        search->nodes = search->most_nodes; /* stop */
    }
    search->limit = greatest(f, search);
    search->tie = TIE * fabs(search->limit);
}

static void look_behind(front *f, double alpha, double beta, double from_x, double to_x)
{
    if (f->nodes >= EXACT_NODES) {
        f->proven = false;
        f->step_x = (f->answer[f->count - 1].x - f->answer[0].x) / (double)f->most;
        f->step_y = (f->answer[0].y - f->answer[f->count - 1].y) / (double)f->most;
    }
    f->from_x = from_x;
    f->to_x = to_x;
    calc_layerwise_search search = {
        .core = &f->core,
        .alpha = alpha,
        .beta = beta,
        .found = keep_front,
        .data = f,
        .most_nodes = f->proven ? EXACT_NODES - f->nodes : SIDE_NODES,
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
    for (double left_x = f->answer[0].x; !f->no_memory;) {
        size_t i = first_from(f, left_x);
        if (i + 1 >= f->count) {
            return;
        }
        calc_layerwise_answer left = f->answer[i];
        calc_layerwise_answer right = f->answer[i + 1];
        double alpha = left.y - right.y;
        double beta = right.x - left.x;
        double limit = alpha * left.x + beta * left.y;
        if (least(f, alpha, beta, limit - TIE * fabs(limit), &end) < INFINITY && enter(f, &end)) {
            left_x = fmin(left_x, end.x);
        } else {
            look_behind(f, alpha, beta, left.x, right.x);
            left_x = right.x;
        }
    }
}

/* ---- Results
 * ------------------------------------------------------------------------------------- */

/* Thin the front to an even selection, with both ends. */
static bool write_out(front *f, size_t most, calc_layerwise_front *out)
{
    size_t count = f->count < most ? f->count : most;
    out->proven = f->proven && f->count <= most;
    out->count = 0;
    out->point = count ? malloc(count * sizeof *out->point) : NULL;
    if (f->no_memory || (count && !out->point)) {
        free(out->point);
        out->point = NULL;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t from = count > 1 ? i * (f->count - 1) / (count - 1) : 0;
        out->point[out->count++] = calc_layerwise_point_of(&f->core, &f->answer[from]);
    }
    return true;
}

static bool front_in(const calc_layerwise_stage *stage, calc_layerwise_values values,
                     double micro_weight, double sync_weight, size_t most,
                     calc_layerwise_front *out)
{
    *out = (calc_layerwise_front){0};
    front *f = calloc(1, sizeof *f);
    if (!f) {
        return false;
    }
    calc_layerwise_core_make(&f->core, stage, values, micro_weight, sync_weight);
    f->proven = true;
    f->most = most;
    make(f);
    bool done = write_out(f, most, out);
    free(f->answer);
    free(f);
    return done;
}

bool calc_layerwise_front_of(const calc_layerwise_stage *stage, size_t most,
                             calc_layerwise_front *out)
{
    return front_in(stage, CALC_LAYERWISE_MICRO_AND_SYNC, 1, 1, most, out);
}

bool calc_layerwise_curve_of(const calc_layerwise_stage *stage, double micro_weight,
                             double sync_weight, size_t most, calc_layerwise_front *out)
{
    return front_in(stage, CALC_LAYERWISE_TIME_AND_BYTES, micro_weight, sync_weight, most, out);
}
