#include "saved.h"

#include "checkpoint.h"
#include "fingerprint.h"

/* A sweep that is being saved. */
typedef struct saver {
    const char *path;
    calc_checkpoint part; /* borrows words and result */
} saver;

static calc_status save(void *context, const calc_sweep_result *result, uint64_t chunk)
{
    saver *s = context;
    calc_errors ignored = {0};
    s->part.shard.next = calc_shard_after(&s->part.shard, chunk);
    s->part.result = *result;
    /* The next one may succeed, and the last one has the last word. */
    calc_status status = calc_checkpoint_write(&s->part, s->path, &ignored);
    (void)status;
    return CALC_OK;
}

/* Read the checkpoint to go on from, if there is one. */
static calc_status resume(saver *s, calc_checkpoint *earlier, calc_errors *errors)
{
    calc_errors own = {0};
    calc_status status = calc_checkpoint_read(earlier, s->path, &own);
    if (status == CALC_ERR_NOT_FOUND) {
        return CALC_OK;
    }
    if (status != CALC_OK) {
        *errors = own;
        return status;
    }
    status = calc_checkpoint_belongs(earlier, s->path, s->part.fingerprint, &s->part.shard, errors);
    s->part.shard.next = earlier->shard.next;
    s->part.result = earlier->result;
    return status;
}

/* Sweep the shard from where it is, with checkpoints. */
static calc_status run(saver *s, const calc_space *space, const calc_designs *designs,
                       const calc_sweep_options *options, calc_sweep_result *result,
                       calc_errors *errors)
{
    calc_shard shard = s->part.shard;
    calc_sweep_result earlier = s->part.result;
    calc_sweep_options own = *options;
    own.take = calc_shard_take;
    own.take_context = &shard;
    own.resumed = &earlier;
    if (s->path) {
        own.checkpoint = save;
        own.checkpoint_context = s;
    }
    calc_status status = calc_sweep(space, designs, &own, result, errors);
    if (status != CALC_OK || result->partial || !s->path) {
        return status;
    }
    s->part.shard.next = CALC_SHARD_DONE;
    s->part.result = *result;
    return calc_checkpoint_write(&s->part, s->path, errors);
}

calc_status calc_saved_sweep(const calc_space *space, const calc_designs *designs,
                             const calc_sweep_options *options, const calc_saving *saving,
                             calc_sweep_result *result, calc_errors *errors)
{
    *result = (calc_sweep_result){0};
    calc_checkpoint earlier = {0};
    saver s = {
        .path = saving->path,
        .part = {.shard = saving->shard, .words = saving->words, .words_size = saving->words_size}};
    calc_status status = CALC_OK;
    if (s.path) {
        s.part.fingerprint = calc_fingerprint(space, designs, options);
        status = saving->resume ? resume(&s, &earlier, errors) : CALC_OK;
    }
    if (s.path && status == CALC_OK) {
        status = calc_checkpoint_write(&s.part, s.path, errors);
    }
    if (status == CALC_OK) {
        status = run(&s, space, designs, options, result, errors);
    }
    calc_checkpoint_free(&earlier);
    return status;
}
