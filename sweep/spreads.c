#include "spreads.h"

/* Whether no layout of a space chooses networks for its groups of ranks. */
static bool placed(const calc_space *space)
{
    const calc_values *orders = &space->axis[CALC_AXIS_rank_order];
    bool fine = !orders->all && orders->count > 0;
    for (size_t i = 0; i < orders->count; i++) {
        fine = fine && orders->value[i] != CALC_RANK_ORDER_NETWORKS;
    }
    return fine;
}

/* Whether a value divides some number of processors. Where there are many it is taken to. */
static bool divides(const calc_space *space, int64_t value)
{
    enum { MANY = 64 };
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    bool found = procs->count == 0 || procs->count > MANY;
    for (size_t i = 0; i < procs->count && !found; i++) {
        found = procs->value[i] % value == 0;
    }
    return found;
}

/* Add a divisor of the experts, if the space has layouts with it. */
static void add(calc_spreads *s, const calc_space *space, int64_t value)
{
    if (calc_space_has(space, CALC_AXIS_expert_par, value) && divides(space, value)) {
        if (s->count < CALC_SPREADS) {
            s->expert_par[s->count] = value;
        }
        s->count++;
    }
}

calc_spreads calc_spreads_of(const calc_space *space, const calc_app *app)
{
    calc_spreads s = {0};
    bool serves = space->inference.phase != CALC_INFERENCE_PHASE_NONE;
    int64_t experts = app->num_experts;
    int64_t v = 1;
    const calc_values *asked = &space->axis[CALC_AXIS_expert_par];
    bool zero = asked->count > 0 && asked->value[0] == 0; /* which stands for 1 */
    if (experts == 0 || serves || zero || !placed(space)) {
        return s;
    }
    for (; v * v < experts; v++) {
        if (experts % v == 0) {
            add(&s, space, v);
        }
    }
    for (; v > 0; v--) {
        if (experts % v == 0 && v * v <= experts) {
            add(&s, space, experts / v);
        }
    }
    s.count = s.count > 1 && s.count <= CALC_SPREADS ? s.count : 0;
    return s;
}

calc_spreads calc_spreads_in(const calc_space *space, const calc_app *app, const calc_exec *base)
{
    calc_spreads s = calc_spreads_of(space, app);
    if (s.count == 0) {
        s.count = 1;
        s.expert_par[0] = base->strategy.expert_par;
    }
    return s;
}
