#include "galvatron/cost.h"

#include "galvatron/cost_terms.h"
#include "galvatron/paddle.h"

/* MB that the framework occupies on every GPU. */
static double context_mb(const calc_galvatron_case *c)
{
    return calc_galvatron_is_paddle(c) ? 0 : 1024;
}

/* The part of embedding and head on a stage; CALC_GALVATRON_PLACES: none. */
static int place_of(int pp, int stage)
{
    if (pp == 1) {
        return CALC_GALVATRON_OFF;
    }
    return stage == 0        ? CALC_GALVATRON_FIRST
           : stage == pp - 1 ? CALC_GALVATRON_LAST
                             : CALC_GALVATRON_PLACES;
}

/* Share of the ends' states on a rank. The port shards them with every strategy. */
static double ends_ratio(const calc_galvatron_case *c, const calc_galvatron_strategy *s)
{
    return calc_galvatron_is_paddle(c)
               ? calc_galvatron_paddle_states(c) / 9 *
                     calc_galvatron_paddle_ratio(c, CALC_GALVATRON_ZERO3, calc_galvatron_sdp(s))
               : calc_galvatron_states_ratio(c, s);
}

static double ends_mb(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int stage,
                      int place)
{
    const calc_galvatron_other_memory *memory = &c->profiles->other_memory[place];
    double samples =
        (double)calc_galvatron_local_batch(c, s) * calc_galvatron_in_flight(c, s->pp, stage);
    return memory->states_mb[calc_galvatron_doublings(s->tp)] * ends_ratio(c, s) +
           memory->activation_mb[calc_galvatron_doublings(calc_galvatron_tpsp(s))] * samples +
           context_mb(c);
}

/* Time [ms] of messages and computing at the same time. */
static double hidden_ms(double message_ms, double computing_ms, double overlap)
{
    return overlap * computing_ms > message_ms ? message_ms + computing_ms - message_ms / overlap
                                               : message_ms;
}

/* Time [ms] to all-gather the activations of a layer of a type; 0 without tensor parallelism. */
static double gather_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int type)
{
    double samples = (double)calc_galvatron_local_batch(c, s);
    return s->tp == 1 ? 0
                      : calc_galvatron_collective_ms(
                            &c->profiles->all_gather[calc_galvatron_doublings(s->tp)],
                            calc_galvatron_message_mb(c->request, samples, type));
}

static double ends_tp_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int place)
{
    double first_ms = place == CALC_GALVATRON_LAST ? 0 : gather_ms(c, s, 0);
    double last_ms = place == CALC_GALVATRON_FIRST ? 0 : gather_ms(c, s, c->request->types - 1);
    return first_ms + last_ms;
}

calc_galvatron_ends_cost calc_galvatron_ends_cost_of(const calc_galvatron_case *c,
                                                     const calc_galvatron_strategy *s, int stage)
{
    const calc_galvatron_profiles *p = c->profiles;
    int place = place_of(s->pp, stage);
    if (place == CALC_GALVATRON_PLACES) {
        return (calc_galvatron_ends_cost){.mb = context_mb(c)};
    }
    double sdp = calc_galvatron_sdp(s);
    double samples = (double)calc_galvatron_local_batch(c, s) / calc_galvatron_tpsp(s) / s->cp;
    double forward = calc_galvatron_compute_ms(&p->other, samples) / (s->pp == 1 ? 1 : 2);
    double states_mb = p->other_memory[place].states_mb[calc_galvatron_doublings(s->tp)];
    double parameter_mb = calc_galvatron_is_paddle(c)
                              ? states_mb / 9
                              : states_mb / 4 * (calc_galvatron_mixed(c->request) ? 0.5 : 1);
    double reduced = parameter_mb * calc_galvatron_gradients_ms_per_mb(p, s) * (sdp - 1) / sdp;
    bool zero3 = s->type == CALC_GALVATRON_ZERO3;
    double tp = ends_tp_ms(c, s, place);
    double front = hidden_ms(reduced * (zero3 ? 0.5 : 0), forward, p->overlap);
    double sync = hidden_ms(reduced * (zero3 ? 1 : 0.5), forward * 2, p->overlap);
    double nosync = hidden_ms(reduced * (zero3 ? 0.5 : 0), forward * 2, p->overlap);
    return (calc_galvatron_ends_cost){.sync_s = 0.001 * (front + sync + tp),
                                      .nosync_s = 0.001 * (front + nosync + tp),
                                      .mb = ends_mb(c, s, stage, place)};
}
