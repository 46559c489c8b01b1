#include "galvatron/paddle.h"

#include "galvatron/profiles.h"

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

static int stage_of(const calc_galvatron_strategy *s)
{
    static const int stages[] = {
        [CALC_GALVATRON_DDP] = 0, [CALC_GALVATRON_ZERO2] = 2, [CALC_GALVATRON_ZERO3] = 3};
    return stages[s->type];
}

typedef int number_of(const calc_galvatron_strategy *s);

static int replicas(const calc_galvatron_strategy *s)
{
    return s->dp;
}
static int ulysses(const calc_galvatron_strategy *s)
{
    return s->sp > 1;
}
static int recomputes(const calc_galvatron_strategy *s)
{
    return s->checkpoint;
}

static void put_list(const calc_galvatron_layout *l, const char *key, number_of *number,
                     calc_output *out)
{
    calc_output_printf(out, ",\n    \"%s\": \"", key);
    for (int i = 0; i < l->layers; i++) {
        calc_output_printf(out, "%s%d", i ? "," : "", number(&l->layer[i]));
    }
    calc_output_text(out, "\"");
}

void calc_galvatron_paddle_write(const calc_galvatron_layout *l, calc_output *out)
{
    calc_output_printf(out,
                       "{\n    \"pp_size\": %d,\n    \"vtp\": %d,\n    \"vsp_flag\": %d,\n"
                       "    \"embed_sdp\": %d,\n    \"global_batch_size\": %lld,\n"
                       "    \"gradient_accumulation_steps\": %lld",
                       l->pp, calc_galvatron_degree(&l->ends), l->ends.sp > 1,
                       l->ends.type == CALC_GALVATRON_ZERO3, (long long)l->gbsz,
                       (long long)l->chunks);
    put_list(l, "dp_size_list", replicas, out);
    put_list(l, "sharding_stage_list", stage_of, out);
    put_list(l, "tp_size_list", calc_galvatron_degree, out);
    put_list(l, "usp_flag_list", ulysses, out);
    put_list(l, "recompute_list", recomputes, out);
    calc_output_text(out, ",\n    \"pp_stage_idx_list\": \"");
    for (int stage = 0; stage < l->pp; stage++) {
        for (int i = 0; i < l->division[stage]; i++) {
            calc_output_printf(out, "%s%d", stage + i ? "," : "", stage);
        }
    }
    calc_output_text(out, "\"\n}");
}

void calc_galvatron_paddle_options(const calc_galvatron_layout *l, calc_output *out)
{
    const calc_galvatron_strategy *first = &l->layer[0];
    bool recompute = false;
    for (int i = 0; i < l->layers; i++) {
        recompute = recompute || l->layer[i].checkpoint;
    }
    calc_output_printf(out,
                       "--sharding_parallel_degree %d\n--tensor_parallel_degree %d\n"
                       "--pipeline_parallel_degree %d\n--recompute %s\n"
                       "--gradient_accumulation_steps %lld\n--per_device_train_batch_size %lld\n",
                       first->dp, calc_galvatron_degree(first), l->pp, recompute ? "true" : "false",
                       (long long)l->chunks, (long long)(l->gbsz / l->chunks / first->dp));
}

bool calc_galvatron_paddle_uniform(const calc_galvatron_layout *l)
{
    return calc_galvatron_layout_run(l, 0, l->layers) == l->layers;
}
