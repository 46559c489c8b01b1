#include "parts.h"

#include <stdlib.h>

#include "base/error.h"
#include "checkpoint.h"

#define REFUSE(errors, path, ...)                                                                  \
    calc_errors_at(errors, CALC_ERR_RANGE, path, 0, 0, NULL, __VA_ARGS__)

/* Take the place of a shard among those that were there before. */
static calc_status place(const calc_shard *shard, const char *path, const char **taken,
                         size_t count, calc_errors *errors)
{
    unsigned long long index = shard->index;
    unsigned long long shards = shard->count;
    if (shard->next != CALC_SHARD_DONE) {
        return REFUSE(errors, path, "shard %llu/%llu is not finished; go on with --resume", index,
                      shards);
    }
    if (shard->count != count) {
        return REFUSE(errors, path, "shard %llu/%llu, but %zu %s given", index, shards, count,
                      count == 1 ? "part is" : "parts are");
    }
    if (taken[index - 1]) {
        return REFUSE(errors, path, "shard %llu/%llu, as is %s", index, shards, taken[index - 1]);
    }
    taken[index - 1] = path;
    return CALC_OK;
}

calc_status calc_parts_merge(const char *const *path, size_t count, uint64_t fingerprint,
                             const calc_sweep_options *options, calc_sweep_result *result,
                             calc_errors *errors)
{
    *result = (calc_sweep_result){0};
    const char **taken = calloc(count > 0 ? count : 1, sizeof *taken);
    calc_status status = taken ? CALC_OK : CALC_ERR_NOMEM;
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        calc_checkpoint part;
        status = calc_checkpoint_read(&part, path[i], errors);
        if (status == CALC_OK) {
            status = calc_checkpoint_belongs(&part, path[i], fingerprint, NULL, errors);
        }
        if (status == CALC_OK) {
            status = place(&part.shard, path[i], taken, count, errors);
        }
        if (status == CALC_OK && i == 0) {
            *result = part.result;
            part.result = (calc_sweep_result){0};
        } else if (status == CALC_OK) {
            status = calc_sweep_merge(options, result, &part.result);
        }
        calc_checkpoint_free(&part);
    }
    free(taken);
    result->threads = 1;
    result->cpu = "merged";
    return status == CALC_ERR_NOMEM && errors->count == 0 ? calc_errors_no_memory(errors) : status;
}
