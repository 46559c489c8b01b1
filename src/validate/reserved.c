#include "validate/reserved.h"

#include <math.h>

enum { STAGES_MAX = 64, NARROW_BYTES = 2, WIDE_BYTES = 4 };

/* Tokens of a micro-batch on a rank that splits its context. */
static double tokens_of(const calc_run_map *map)
{
    const calc_exec *e = &map->exec;
    return (double)(map->app.seq_size * e->microbatch_size) / (double)e->strategy.context_par;
}

/* Memory added by the last stage's logits. */
static double loss_pieces(const calc_run_map *map, const calc_stage_stats *stage)
{
    const calc_strategy *s = &map->exec.strategy;
    double logits = tokens_of(map) * (double)map->app.vocab_size / (double)s->tensor_par;
    double each = s->fused_cross_entropy ? 0 : NARROW_BYTES + (s->tensor_par > 1 ? WIDE_BYTES : 0);
    return stage->head_space > 0 ? stage->working_space + each * logits : 0;
}

/* Memory of FSDP2 under stages. */
static double staged_pieces(const calc_run_map *map, const calc_stage_stats *stage)
{
    const calc_exec *e = &map->exec;
    const calc_strategy *s = &e->strategy;
    if (e->pipeline_par < 2) {
        return 0;
    }
    double shards = (double)(s->data_par * s->context_par);
    double batches = (double)e->batch_size / (double)(s->data_par * e->microbatch_size);
    double chunks = (double)e->pipeline_interleaving;
    double message = NARROW_BYTES * tokens_of(map) * (double)map->app.hidden;
    return stage->weight_grad_space / shards +
           2 * chunks * batches * message / (double)s->tensor_par;
}

double calc_reserved_of(const calc_run_map *map, const calc_system *system)
{
    calc_stage_stats stage[STAGES_MAX];
    size_t count =
        calc_each_stage(&map->app, system, &map->exec, CALC_COMPAT_NONE, stage, STAGES_MAX);
    double most = (double)NAN;
    for (size_t i = 0; i < count && i < STAGES_MAX; i++) {
        double occupied = stage[i].mem_tier1 - stage[i].mem_overhead;
        double loss = i + 1 == count ? loss_pieces(map, &stage[i]) : 0;
        most = fmax(most, occupied + loss + staged_pieces(map, &stage[i]));
    }
    return most;
}
