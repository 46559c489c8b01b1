#include "galvatron/paddle.h"

#include "galvatron/cost_terms.h"

double calc_galvatron_paddle_states(const calc_galvatron_case *c)
{
    return c->chunks == 1 ? 7 : 9;
}

double calc_galvatron_paddle_ratio(const calc_galvatron_case *c, calc_galvatron_dp type, int sdp)
{
    double each = 1.0 / sdp;
    if (type == CALC_GALVATRON_DDP) {
        return 1;
    }
    if (c->chunks == 1) {
        return type == CALC_GALVATRON_ZERO2 ? 1.0 / 7 + 6.0 / 7 * each : each;
    }
    return type == CALC_GALVATRON_ZERO2 ? 1.0 / 3 + 2.0 / 3 * each : 2.0 / 9 + 7.0 / 9 * each;
}

double calc_galvatron_paddle_tp_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                                   double mb)
{
    const calc_galvatron_profiles *p = c->profiles;
    int n = calc_galvatron_doublings(s->tp);
    if (!c->request->disable_sp) {
        return (s->checkpoint ? 6 : 4) * calc_galvatron_collective_ms(&p->all_gather[n], mb);
    }
    double tp = s->tp;
    return 4 * 2 * (tp - 1) / tp * mb * p->consecutive[n];
}

double calc_galvatron_paddle_hiding(const calc_galvatron_strategy *s)
{
    return 2 * s->tp >= s->tp * s->dp ? 0.5 : 1;
}
