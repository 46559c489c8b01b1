#include "galvatron/strategies.h"

#include "galvatron/cost_terms.h"

static bool within(int64_t value, int64_t most)
{
    return most < 0 || value <= most;
}

static bool is_off(const calc_galvatron_request *r, const calc_galvatron_strategy *s, bool ends)
{
    return (r->disable_pp && s->pp > 1) || (r->disable_tp && s->tp > 1) ||
           (r->disable_sp && s->sp > 1) || (r->disable_cp && s->cp > 1) ||
           (r->disable_dp && s->dp > 1) || (r->disable_ckpt && s->checkpoint) ||
           (r->disable_fsdp && s->type == CALC_GALVATRON_ZERO3) ||
           (ends && r->disable_embedding_lmhead_tp && s->tp > 1) ||
           (ends && r->disable_embedding_lmhead_sp && s->sp > 1);
}

/* Adds all strategies of a split: its types, plain and checkpointed. @return the new count */
static int add_types(const calc_galvatron_request *r, calc_galvatron_strategy s, bool ends,
                     calc_galvatron_strategy *out, int count)
{
    /* The port searches all three types for layers, and always shards the states of the ends. */
    bool all = r->dialect == CALC_GALVATRON_PADDLE && !ends;
    calc_galvatron_dp types[] = {s.dp == 1 || all ? CALC_GALVATRON_DDP : r->default_dp_type,
                                 CALC_GALVATRON_ZERO3, CALC_GALVATRON_ZERO2};
    for (int type = 0; type < (s.dp == 1 ? 1 : all ? 3 : 2); type++) {
        for (int checkpoint = 0; checkpoint < (ends ? 1 : 2); checkpoint++) {
            s.type = types[type];
            s.checkpoint = checkpoint;
            if (!is_off(r, &s, ends)) {
                if (out) {
                    out[count] = s;
                }
                count++;
            }
        }
    }
    return count;
}

int calc_galvatron_strategies(const calc_galvatron_request *r, int pp, bool ends,
                              calc_galvatron_strategy *out)
{
    int64_t ranks = calc_galvatron_world(r) / pp;
    int count = 0;
    for (int tp = 1; tp <= ranks && within(tp, r->max_tp_deg); tp *= 2) {
        for (int sp = 1; sp <= (tp > 1 ? 1 : ranks) && within(sp, r->max_sp_deg); sp *= 2) {
            /* dp takes the remaining ranks and falls as cp rises, because upstream sorts by cp
             * first. */
            for (int cp = 1; (int64_t)tp * sp * cp <= ranks && within(cp, r->max_cp_deg); cp *= 2) {
                calc_galvatron_strategy s = {
                    .pp = pp, .tp = tp, .sp = sp, .cp = cp, .dp = (int)(ranks / tp / sp / cp)};
                count = add_types(r, s, ends, out, count);
            }
        }
    }
    return count;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Most ranks of data parallelism: each needs a sample. */
static int64_t most_dp(const calc_galvatron_request *r, const calc_galvatron_task *task)
{
    int64_t dp = least(task->gbsz / task->chunks, calc_galvatron_world(r) / task->pp);
    return dp < 1 ? 1 : dp;
}

bool calc_galvatron_allows(const calc_galvatron_request *r, const calc_galvatron_task *task,
                           const calc_galvatron_strategy *s)
{
    /* Upstream drops leftover samples; a trained layout may have none. */
    bool equal = r->compat || task->gbsz / task->chunks % s->dp == 0;
    return equal && calc_galvatron_tpsp(s) <= task->buffer_tp && s->dp <= most_dp(r, task) &&
           (task->mode != CALC_GALVATRON_TP_ONLY || s->sp == 1) &&
           (task->mode != CALC_GALVATRON_SP_ONLY || s->tp == 1);
}

static int add_modes(const calc_galvatron_request *r, calc_galvatron_task task,
                     calc_galvatron_task *out, int count)
{
    int64_t ranks = calc_galvatron_world(r) / task.pp;
    int64_t most = r->max_tp_deg < 0 ? ranks : least(ranks, r->max_tp_deg);
    int64_t fewest = ranks / most_dp(r, &task);
    for (int mode = 0; mode <= CALC_GALVATRON_TP_WITH_SP; mode++) {
        task.mode = (calc_galvatron_mode)mode;
        for (int64_t tp = 1; tp <= most; tp *= 2) {
            if (mode == CALC_GALVATRON_SP_ONLY ? tp * 2 > most : tp >= fewest) {
                task.buffer_tp = (int)(mode == CALC_GALVATRON_SP_ONLY ? most : tp);
                if (out) {
                    out[count] = task;
                }
                count++;
            }
        }
    }
    return count;
}

static int add_stages(const calc_galvatron_request *r, calc_galvatron_task task,
                      calc_galvatron_task *out, int count)
{
    int64_t layers = calc_galvatron_layer_count(r);
    int64_t most =
        least(least(calc_galvatron_world(r), least(layers, task.chunks)), CALC_GALVATRON_STAGES);
    for (int pp = 1; pp <= most && within(pp, r->max_pp_deg); pp *= 2) {
        task.pp = pp;
        if (calc_galvatron_strategies(r, pp, true, NULL) > 0) {
            count = add_modes(r, task, out, count);
        }
    }
    return count;
}

int calc_galvatron_tasks(const calc_galvatron_request *r, calc_galvatron_task *out)
{
    int count = 0;
    int64_t scale = r->bsz_scale > 0 ? r->bsz_scale : 1;
    int64_t first = r->settle_bsz > 0 ? r->settle_bsz : (r->min_bsz > scale ? r->min_bsz : scale);
    int64_t last = r->settle_bsz > 0 ? r->settle_bsz : r->max_bsz;
    for (int64_t gbsz = first; gbsz <= last; gbsz += scale) {
        bool settled = r->settle_chunk > 0;
        for (int64_t chunks = settled ? r->settle_chunk : 1;
             chunks <= (settled ? r->settle_chunk : gbsz); chunks++) {
            if (gbsz % chunks == 0) {
                calc_galvatron_task task = {.gbsz = gbsz, .chunks = chunks};
                count = add_stages(r, task, out, count);
            }
        }
    }
    return count;
}
