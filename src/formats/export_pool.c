#include "formats/export_pool.h"

#include "spec/prefill_pool.h"

void calc_export_pool_exec(const calc_exec *exec, calc_pool pool, calc_exec *out)
{
    const calc_inference *i = &exec->inference;
    *out = *exec;
    if (pool == CALC_POOL_PREFILL) {
        calc_prefill_pool_of(exec, out);
        out->inference.batch =
            (i->prefill_batch > 0 ? i->prefill_batch : 1) * out->strategy.data_par;
        out->inference.speculative_tokens = 0;
        out->inference.max_sequences = 0;
    } else {
        out->inference.prefill_batch = 0;
        out->inference.chunk_size = 0;
    }
    out->inference.phase =
        pool == CALC_POOL_PREFILL ? CALC_INFERENCE_PHASE_PREFILL : CALC_INFERENCE_PHASE_DECODE;
    out->inference.prefill_procs = 0;
    out->inference.prefill_system = (calc_other_system){{0}, NULL};
    out->inference.prefill_tensor_par = 0;
    out->inference.prefill_expert_par = 0;
}
