#include "model/serve/sim_hold.h"

bool calc_sim_idle(const calc_sim_stream *t)
{
    return t->count == 0 && !t->prefilled.first;
}

static bool waits(const calc_sim_server *v, double at_s)
{
    return v->waiting.first && v->waiting.first->joins_s < at_s;
}

static bool all_wait(const calc_sim *s, double at_s)
{
    size_t i = 0;
    while (i < s->replicas && waits(&s->replica[i], at_s)) {
        i++;
    }
    return i == s->replicas;
}

/* Requests are held until one waits at every replica, and then let go at all of them. */
static bool gather(const calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    for (size_t i = 0; all_wait(s, at_s) && i < s->replicas; i++) {
        s->replica[i].released = true;
    }
    bool any = waits(v, at_s);
    t->held = any ? t->held + 1 : 0;
    v->released = any && (v->released || t->held > (double)s->r->i->hold_steps);
    return v->released;
}

bool calc_sim_takes(const calc_sim *s, calc_sim_server *v, calc_sim_stream *t, double at_s)
{
    double longest = (double)s->r->i->hold_steps;
    if (longest <= 1 || calc_sim_idle(t)) {
        return true;
    }
    if (s->r->engine.gathers) {
        return gather(s, v, t, at_s);
    }
    t->held = t->held + 1 < longest ? t->held + 1 : 0;
    return t->held == 0;
}

void calc_sim_prefilled(const calc_sim *s, calc_sim_stream *t)
{
    t->held = s->r->engine.gathers ? 0 : (double)s->r->i->hold_steps;
}
