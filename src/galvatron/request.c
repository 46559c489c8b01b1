#include "galvatron/request.h"

#include <stdio.h>

#include "galvatron/search.h"

enum { GPUS_MAX = 65536, BATCHES_MAX = 100000000 /* sum over all batches */ };

calc_galvatron_request calc_galvatron_request_default(void)
{
    return (calc_galvatron_request){.default_dp_type = CALC_GALVATRON_DDP,
                                    .pipeline_type = CALC_GALVATRON_GPIPE,
                                    .async_grad_reduce = true,
                                    .mixed_precision = CALC_GALVATRON_BF16,
                                    .sequence_parallel = true,
                                    .global_memory_buffer = true,
                                    .num_nodes = 1,
                                    .num_gpus_per_node = 8,
                                    .memory_constraint = 24,
                                    .min_bsz = 8,
                                    .max_bsz = 8,
                                    .bsz_scale = 8,
                                    .settle_bsz = -1,
                                    .settle_chunk = -1,
                                    .disable_cp = true,
                                    .max_tp_deg = 8,
                                    .max_pp_deg = 8,
                                    .max_sp_deg = 8,
                                    .max_cp_deg = 8,
                                    .fine_grained = true,
                                    .debug_costmodel_coe = 1};
}

static bool check_layers(const calc_galvatron_request *r, char *why, size_t size)
{
    static const char *const keys[] = {"num_layers", "hidden_size", "seq_length"};
    for (int i = 0; i < r->types || i == 0; i++) {
        const calc_galvatron_layers *l = &r->layers[i];
        const int64_t values[] = {l->layer_num, l->hidden_size, l->seq_len};
        for (int k = 0; k < 3; k++) {
            if (r->types < 1 || values[k] < 1) {
                snprintf(why, size, "%s is missing: the model has none to search for", keys[k]);
                return false;
            }
        }
    }
    int64_t layers = calc_galvatron_layer_count(r);
    if (layers > CALC_GALVATRON_LAYERS) {
        snprintf(why, size, "num_layers: %lld are more than %d, which are searched at most",
                 (long long)layers, CALC_GALVATRON_LAYERS);
        return false;
    }
    return true;
}

static bool check_gpus(const calc_galvatron_request *r, char *why, size_t size)
{
    int64_t gpus = r->num_nodes * r->num_gpus_per_node;
    if (gpus < 1 || gpus > GPUS_MAX || (gpus & (gpus - 1)) != 0) {
        snprintf(why, size,
                 "num_nodes * num_gpus_per_node: %lld GPUs are not a power of two from 1 to %d",
                 (long long)gpus, GPUS_MAX);
        return false;
    }
    return true;
}

static bool check_batch(const calc_galvatron_request *r, char *why, size_t size)
{
    int64_t first = r->min_bsz > r->bsz_scale ? r->min_bsz : r->bsz_scale;
    if (r->settle_bsz < 1 && first > r->max_bsz) {
        snprintf(why, size,
                 "max_bsz: %lld is below the first batch, %lld, the larger of min_bsz and "
                 "bsz_scale (bsz_step): raise it, or give settle_bsz",
                 (long long)r->max_bsz, (long long)first);
        return false;
    }
    int64_t batches = (r->max_bsz - first) / r->bsz_scale + 1;
    if (r->settle_bsz < 1 && batches > BATCHES_MAX / r->max_bsz) {
        snprintf(why, size,
                 "max_bsz: %lld batches up to %lld are too many to search: raise bsz_scale, or "
                 "give settle_bsz",
                 (long long)batches, (long long)r->max_bsz);
        return false;
    }
    if (r->settle_bsz > 0 && r->settle_chunk > 0 && r->settle_bsz % r->settle_chunk != 0) {
        snprintf(why, size, "settle_chunk: %lld does not divide settle_bsz, %lld",
                 (long long)r->settle_chunk, (long long)r->settle_bsz);
        return false;
    }
    return true;
}

static bool check_options(const calc_galvatron_request *r, char *why, size_t size)
{
    bool wide = r->num_nodes * r->num_gpus_per_node > 1 && r->max_tp_deg != 1;
    if (!r->sequence_parallel && !r->disable_tp && wide) {
        snprintf(why, size,
                 "disable_tp: without sequence_parallel there are no costs of tensor "
                 "parallelism: set disable_tp 1, or sequence_parallel");
        return false;
    }
    if (r->memory_profile_mode == CALC_GALVATRON_MEMORY_SEQUENCE &&
        (!r->sequence_parallel || r->types > 1)) {
        snprintf(why, size,
                 "memory_profile_mode: sequence needs sequence_parallel and one type of layers");
        return false;
    }
    if (r->compat && r->memory_constraint != (double)(int64_t)r->memory_constraint) {
        snprintf(why, size, "memory_constraint: %g GB are not whole, as --compat needs them to be",
                 r->memory_constraint);
        return false;
    }
    return true;
}

bool calc_galvatron_request_check(const calc_galvatron_request *request, char *why, size_t size)
{
    return check_layers(request, why, size) && check_gpus(request, why, size) &&
           check_batch(request, why, size) && check_options(request, why, size);
}
