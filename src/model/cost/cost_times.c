#include "model/cost/cost_times.h"

#include <stddef.h>
#include <string.h>

#include "model/cost/cost_kernel.h"

/* Adding up and copying by processors is part of a collective's time, and counted as a kernel
 * unless the operator is part of another. */
static void time_collective(const calc_cost_context *c, const calc_operator *o, int passes,
                            calc_cost_links *known, calc_cost_times *out)
{
    for (calc_pass pass = CALC_PASS_FW; (int)pass < passes; pass++) {
        calc_cost_kernel k = {0, 0, 0};
        if (o->flop[pass] + o->bytes[pass] > 0) {
            k = calc_cost_kernel_model(c, o, pass);
            if (o->name && pass != CALC_PASS_WGRAD) {
                calc_cost_kernel_put(o, pass, &k, out);
            }
        }
        out->link_s[pass] = calc_cost_link_once_s(c, o, pass, o->op[pass], known) * o->times[pass];
        out->link_s[pass] += k.all_s;
        out->edge_s[pass] = out->link_s[pass];
        if (o->has_edge) {
            out->edge_s[pass] =
                calc_cost_link_once_s(c, o, pass, o->edge_op[pass], known) * o->times[pass] +
                k.all_s;
        }
    }
}

static void time_kernel(const calc_cost_context *c, const calc_operator *o, int passes,
                        calc_cost_times *out)
{
    bool third = calc_operator_runs(o, CALC_PASS_WGRAD);
    passes = third || passes < CALC_PASS_WGRAD ? passes : CALC_PASS_WGRAD;
    calc_cost_kernel_times(c, o, passes, out);
}

/* Whether two kernels do the same, as far as a chip can tell. */
static bool same_kernel(const calc_operator *a, const calc_operator *b)
{
    /* The work of the passes lies side by side. */
    enum { FIRST = offsetof(calc_operator, flop), END = offsetof(calc_operator, converted_bytes) };
    _Static_assert(END - FIRST == 5 * sizeof a->flop, "flop, bytes, launches, work and steps");
    const char *x = (const char *)a + FIRST;
    const char *y = (const char *)b + FIRST;
    return a->kind == b->kind && a->weights == b->weights && a->without == b->without &&
           a->untouched == b->untouched && memcmp(x, y, END - FIRST) == 0;
}

/* The times of the share of an operator that a mean block has, in the passes from `first` on. */
static void take_share(double share, calc_pass first, calc_cost_times *t)
{
    for (calc_pass pass = first; pass < CALC_PASS_COUNT; pass++) {
        calc_cost_work *w = &t->work[pass];
        w->flop *= share;
        w->flop_s *= share;
        w->bytes *= share;
        w->mem_s *= share;
        t->all_s[pass] *= share;
        t->link_s[pass] *= share;
        t->edge_s[pass] *= share;
    }
}

static void time_operator(const calc_cost_context *c, const calc_operator *o,
                          calc_cost_links *known, calc_cost_times *out)
{
    int passes = c->training ? CALC_PASS_COUNT : CALC_PASS_AGRAD;
    *out = (calc_cost_times){0};
    if (o->kind == CALC_OPERATOR_COLLECTIVE) {
        time_collective(c, o, passes, known, out);
    } else {
        time_kernel(c, o, passes, out);
    }
    if (o->without != 0) {
        take_share(calc_operator_share(o), CALC_PASS_FW, out);
    }
    if (o->untouched > 0) {
        take_share(1 - o->untouched, CALC_PASS_AGRAD, out);
    }
}

void calc_cost_times_of(const calc_cost_context *c, const calc_operator *operators, size_t count,
                        calc_cost_links *known, calc_cost_times *out)
{
    for (size_t i = 0; i < count; i++) {
        time_operator(c, &operators[i], known, &out[i]);
    }
}

void calc_cost_times_like(const calc_cost_context *c, const calc_operator *operators, size_t count,
                          const calc_operator *like, const calc_cost_times *times,
                          size_t like_count, calc_cost_links *known, calc_cost_times *out)
{
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        bool kernel = i < like_count && o->kind != CALC_OPERATOR_COLLECTIVE;
        if (kernel && same_kernel(o, &like[i])) {
            out[i] = times[i];
        } else {
            time_operator(c, o, known, &out[i]);
        }
    }
}
