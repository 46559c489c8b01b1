#include "model/operators/processor.h"
#include "model/stages/stages.h"

void calc_stage_set_muon(const calc_cost_context *c, const calc_exec *e, const calc_stage_parts *p,
                         calc_stage_terms *t)
{
    if (!e->training || e->strategy.optimizer != CALC_OPTIMIZER_MUON) {
        return;
    }
    const calc_shape *s = c->shape;
    const calc_memory_tier *memory = &c->chip->mem1;
    calc_state_bytes b = calc_state_bytes_of(&e->strategy, s, true);
    bool shared = calc_zero_stage(&e->strategy) >= 1;
    double dense = shared ? t->dense_shards : 1;
    double expert = shared ? t->expert_shards : 1;
    double tied = e->pipeline_par <= 1 ? calc_stage_tied_weights(c) : 0;
    double embedding = p->embedding.dense_weights / dense;
    double head = (p->head.dense_weights - tied) / dense;
    double reached = calc_share_or(c->chip->optimizer_efficiency, memory->efficiency.efficiency[0]);
    double moved_s = 2 * b.moment / (memory->bytes_per_s * reached);
    calc_stage_muon *m = &t->muon;
    m->any = true;
    m->longest_s = p->mtp_muon.longest_s;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        const calc_muon *block = &p->muon[kind];
        m->block_s[kind] = block->dense_s / dense + block->expert_s / expert;
        m->longest_s = calc_max(m->longest_s, block->longest_s);
    }
    m->head_s = s->mtp_blocks * (m->block_s[s->experts > 0] + p->mtp_muon.dense_s / dense);
    m->embedding_adam_s = moved_s * embedding;
    m->head_adam_s = moved_s * head;
    m->embedding_bytes = b.moment * embedding;
    m->head_bytes = b.moment * head;
    m->away = calc_stage_away_of(&e->strategy).optimizer;
}
