#include "screening.h"

#include <math.h>
#include <stdlib.h>

/* Rounding keeps to the safe side. */
static const double more = 1 + 1e-9;

static bool is_time(calc_objective_kind kind)
{
    return kind == CALC_OBJECTIVE_SAMPLE_RATE || kind == CALC_OBJECTIVE_TOTAL_TIME;
}

/* Whether a screen can say something: one objective is a time or a rate, the others are needs of
 * memory, and less of each is better. */
static bool screens(const calc_worker *w)
{
    const calc_sweep_options *o = w->options;
    size_t times = 0;
    bool fine = w->bounded && (o->top == 0 || is_time(o->top_by.kind));
    for (size_t i = 0; i < o->objectives; i++) {
        times += is_time(o->objective[i].kind);
    }
    return fine && (o->objectives == 0 || times == 1);
}

/* The rate of an objective that is a time or a rate. */
static double rate_of(const calc_objective *objective, double value)
{
    return objective->kind == CALC_OBJECTIVE_SAMPLE_RATE ? -value : 1 / value;
}

static double numerator_of(const calc_objective *objective, double batch)
{
    return objective->kind == CALC_OBJECTIVE_SAMPLE_RATE ? batch : 1;
}

static void add(calc_screen *screen, const calc_sweep_options *o, const double *objective)
{
    double rate = 0;
    double tier1_bytes = 0;
    double tier2_bytes = 0;
    for (size_t i = 0; i < o->objectives; i++) {
        if (is_time(o->objective[i].kind)) {
            rate = rate_of(&o->objective[i], objective[i]);
        } else if (o->objective[i].kind == CALC_OBJECTIVE_MEM1) {
            tier1_bytes = objective[i];
        } else {
            tier2_bytes = objective[i];
        }
    }
    calc_screen_add(screen, rate, tier1_bytes, tier2_bytes);
}

/* Finds in other designs. A screen without them excludes less, but nothing wrongly. */
static void add_front(calc_screen *screen, const calc_sweep_options *o, const calc_front *front)
{
    double(*list)[CALC_MAX_OBJECTIVES] = front->count > 0 ? calc_front_objectives(front) : NULL;
    for (size_t i = 0; list && i < front->count; i++) {
        add(screen, o, list[i]);
    }
    free(list);
}

void calc_screening_begin(calc_worker *w)
{
    const calc_sweep_options *o = w->options;
    double tier1_bytes = 0; /* unless it is an objective, needs do not matter */
    double tier2_bytes = 0;
    for (size_t i = 0; i < o->objectives; i++) {
        calc_objective_kind kind = o->objective[i].kind;
        tier1_bytes =
            kind == CALC_OBJECTIVE_MEM1 ? w->system->chip.mem1.capacity_bytes : tier1_bytes;
        tier2_bytes =
            kind == CALC_OBJECTIVE_MEM2 ? w->system->chip.mem2.capacity_bytes : tier2_bytes;
    }
    for (size_t g = 0; g < w->groups_count; g++) {
        calc_screen_clear(&w->screens[g], tier1_bytes, tier2_bytes);
        if (o->objectives > 0 && screens(w)) {
            add_front(&w->screens[g], o, &w->groups[g].front);
        } else if (screens(w)) {
            /* Nothing but the list of the best asks for anything. */
            calc_screen_add(&w->screens[g], 1e37, 0, 0);
        }
    }
}

void calc_screening_cell(calc_worker *w)
{
    const calc_sweep_options *o = w->options;
    double batch = (double)w->cell.exec.batch_size;
    bool known = screens(w);
    w->job.screen = w->screen;
    w->job.numerator = 1;
    for (size_t i = 0; i < o->objectives && known; i++) {
        if (is_time(o->objective[i].kind)) {
            w->job.numerator = numerator_of(&o->objective[i], batch) * more;
        }
    }
    w->job.least_longest_s = known ? 0 : CALC_KERNEL_NEVER_S;
    if (o->top > 0 && known) {
        double least = calc_top_threshold(&w->group->top, o->top);
        w->job.least_longest_s =
            isfinite(least) ? numerator_of(&o->top_by, batch) / rate_of(&o->top_by, least) * more
                            : CALC_KERNEL_NEVER_S;
    }
}

double calc_screening_longest_s(calc_worker *w)
{
    calc_screening_cell(w);
    double screen_s = calc_screen_longest_s(w->screen, w->job.numerator, 0, 0);
    return fmin(fmax(screen_s, w->job.least_longest_s), w->conditions.steps.most_s);
}

void calc_screening_enter(calc_worker *w, const double *objective)
{
    if (w->options->objectives > 0 && screens(w)) {
        add(w->screen, w->options, objective);
    }
    calc_screening_cell(w);
}
