#include "model/serve/hold.h"

#include "model/operators/processor.h"
#include "model/serve/queue.h"

double calc_hold_replicas(const calc_exec *e, const calc_engine_traits *engine)
{
    const calc_strategy *s = &e->strategy;
    double ranks = (double)(s->expert_par * s->expert_tensor_par);
    return engine->gathers ? calc_max(1, ranks / (double)s->tensor_par) : 1;
}

calc_hold calc_hold_of(const calc_exec *e, const calc_engine_traits *engine, double rate)
{
    double longest = (double)e->inference.hold_steps;
    if (longest <= 1) {
        return (calc_hold){.looks = 1};
    }
    if (!engine->gathers) {
        return (calc_hold){.most = longest - 1, .looks = longest};
    }
    /* The first that comes to a replica is held for all of it, those that come meanwhile for the
     * rest. */
    double most = calc_queue_gather(calc_hold_replicas(e, engine), rate, longest);
    return (calc_hold){.least = most / (1 + rate * most), .most = most, .looks = 1};
}
