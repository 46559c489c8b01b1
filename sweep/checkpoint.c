#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/error.h"
#include "base/hash.h"
#include "pack.h"
#include "spec/field.h"

static uint64_t hash_u64(uint64_t hash, uint64_t value)
{
    return calc_hash(hash, &value, sizeof value);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return calc_hash(hash, text, strlen(text) + 1);
}

/* Structs are hashed by their fields: padding between members is undefined. */
static uint64_t hash_struct(uint64_t hash, const calc_table *table, const char *object)
{
    static const size_t bytes[] = {[CALC_TYPE_INT] = 8,
                                   [CALC_TYPE_REAL] = 8,
                                   [CALC_TYPE_SET] = 8,
                                   [CALC_TYPE_BOOL] = sizeof(bool),
                                   [CALC_TYPE_ENUM] = sizeof(calc_datatype),
                                   [CALC_TYPE_OP] = sizeof(calc_network_op)};
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *member = object + field->offset;
        const calc_curve *curve = (const void *)member;
        const calc_other_system *other = (const void *)member;
        size_t elements = field->type == CALC_TYPE_MAP ? CALC_DATATYPE_COUNT : 1;
        switch (field->type) {
        case CALC_TYPE_CURVE:
            hash = hash_u64(hash, (uint64_t)curve->count);
            hash = calc_hash(hash, curve->threshold, (size_t)curve->count * sizeof(double));
            hash = calc_hash(hash, curve->efficiency, (size_t)curve->count * sizeof(double));
            break;
        case CALC_TYPE_LIST:
        case CALC_TYPE_MAP:
        case CALC_TYPE_OBJECT:
            if (field->type == CALC_TYPE_LIST) {
                elements = (size_t) * (const int64_t *)(const void *)(object + field->count);
            }
            hash = hash_u64(hash, elements);
            for (size_t e = 0; e < elements; e++) {
                hash = hash_struct(hash, field->table, member + e * field->element);
            }
            break;
        case CALC_TYPE_SYSTEM:
            hash = hash_text(hash, other->name);
            hash = other->system ? hash_struct(hash, calc_table_of(CALC_KIND_SYSTEM),
                                               (const char *)other->system)
                                 : hash;
            break;
        case CALC_TYPE_ENGINE:
            hash = hash_text(hash, member);
            hash = hash_struct(hash, calc_serving_engine_table(), member);
            break;
        case CALC_TYPE_NOTE:
            break;
        default:
            hash = calc_hash(hash, member, bytes[field->type]);
        }
    }
    return hash;
}

static uint64_t hash_values(uint64_t hash, const calc_values *values)
{
    hash = hash_u64(hash, values->all + 2u * values->last);
    hash = hash_u64(hash, values->count);
    return values->count > 0 ? calc_hash(hash, values->value, values->count * sizeof *values->value)
                             : hash;
}

static uint64_t hash_objective(uint64_t hash, const calc_objective *objective)
{
    return hash_u64(hash_text(hash, objective->field->key), objective->up);
}

static uint64_t hash_options(uint64_t hash, const calc_sweep_options *options)
{
    hash = hash_u64(hash, (uint64_t)options->compat);
    hash = hash_u64(hash, options->objectives);
    for (size_t i = 0; i < options->objectives; i++) {
        hash = hash_objective(hash, &options->objective[i]);
    }
    hash = hash_u64(hash, options->top);
    if (options->top > 0) {
        hash = hash_objective(hash, &options->top_by);
    }
    hash = hash_u64(hash, options->constraints);
    for (size_t i = 0; i < options->constraints; i++) {
        const calc_constraint *constraint = &options->constraint[i];
        hash = hash_u64(hash, (uint64_t)constraint->kind);
        hash = hash_text(hash, constraint->field->key);
        hash = hash_u64(hash, constraint->offset);
        hash = hash_u64(hash, (uint64_t)constraint->relation);
        hash = calc_hash(hash, &constraint->value, sizeof constraint->value);
    }
    hash = hash_text(hash, options->runs_name ? options->runs_name : "");
    hash = hash_u64(hash, options->per_num_procs);
    hash = hash_u64(hash, options->per_design);
    return hash_u64(hash, options->no_prune);
}

uint64_t calc_fingerprint(const calc_space *space, const calc_designs *designs,
                          const calc_sweep_options *options)
{
    uint64_t hash = hash_text(CALC_HASH_START, CALC_VERSION);
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        hash = hash_values(hash, &space->axis[axis]);
    }
    hash = hash_values(hash, &space->all_procs);
    hash = hash_struct(hash, calc_axis_field(CALC_AXIS_inference)->table,
                       (const char *)&space->inference);
    hash = hash_u64(hash, (uint64_t)space->most_tokens);
    hash = hash_u64(hash, space->batch_is_maximum + 2u * space->batch_is_of_replica);
    hash = hash_options(hash, options);
    hash = hash_u64(hash, designs->count);
    for (uint64_t d = 0; d < designs->count; d++) {
        calc_app app;
        calc_system system;
        designs->get(designs->context, d, &app, &system);
        hash = hash_struct(hash, calc_table_of(CALC_KIND_APP), (const char *)&app);
        hash = hash_struct(hash, calc_table_of(CALC_KIND_SYSTEM), (const char *)&system);
    }
    return hash;
}

/* ---- Shards ---------------------------------------------------------------------------------- */

/* Read up to 7 digits and move behind them. @return 0 if there are none */
static uint64_t read_number(const char **text)
{
    uint64_t number = 0;
    for (int i = 0; i < 7 && **text >= '0' && **text <= '9'; i++) {
        number = 10 * number + (uint64_t)(*(*text)++ - '0');
    }
    return number;
}

calc_status calc_shard_parse(calc_shard *out, const char *text, calc_errors *errors)
{
    const char *at = text;
    uint64_t index = read_number(&at);
    uint64_t count = 0;
    if (*at == '/') {
        at++;
        count = read_number(&at);
    }
    if (*at != '\0' || index < 1 || index > count || count > 1000000) {
        return calc_errors_add(
            errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, "the second of four shards is 2/4",
            "\"%s\" is not a shard: i/n with i from 1 to n, n at most 1000000", text);
    }
    *out = (calc_shard){.index = index, .count = count, .next = index - 1};
    return CALC_OK;
}

/* ---- Parts as files -------------------------------------------------------------------------- */

/* The file: magic, length of the body, its hash, the body. The body starts with the version of
 * calc, so that all behind it may change from one version to the next. */
static const char magic[8] = "calcpart";
enum { HEAD_SIZE = sizeof magic + 16 };

static calc_status fail(calc_errors *errors, calc_status status, const char *path, const char *hint,
                        const char *text)
{
    return calc_errors_at(errors, status, path, 0, 0, hint, "%s", text);
}

static calc_status fail_to(const char *verb, int code, const char *path, calc_errors *errors)
{
    char text[128];
    snprintf(text, sizeof text, "cannot %s: %s", verb, strerror(code));
    return fail(errors, code == ENOMEM ? CALC_ERR_NOMEM : CALC_ERR_IO, path, NULL, text);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool write_all(int file, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return true;
}

static void pack_part(calc_pack *out, const calc_checkpoint *part)
{
    static const unsigned char head[HEAD_SIZE] = {0};
    calc_pack_bytes(out, head, HEAD_SIZE - 8); /* its length takes the other 8 */
    calc_pack_bytes(out, CALC_VERSION, strlen(CALC_VERSION));
    calc_pack_u64(out, part->fingerprint);
    calc_pack_u64(out, part->shard.index);
    calc_pack_u64(out, part->shard.count);
    calc_pack_u64(out, part->shard.next);
    calc_pack_bytes(out, part->words, part->words_size);
    calc_pack_result(out, &part->result);
    if (!out->failed) {
        size_t size = out->size;
        uint64_t hash = calc_hash(CALC_HASH_START, out->data + HEAD_SIZE, size - HEAD_SIZE);
        memcpy(out->data, magic, sizeof magic);
        out->size = sizeof magic;
        calc_pack_u64(out, size - HEAD_SIZE);
        calc_pack_u64(out, hash);
        out->size = size;
    }
}

calc_status calc_checkpoint_write(const calc_checkpoint *part, const char *path,
                                  calc_errors *errors)
{
    calc_pack pack = {0};
    calc_draft draft = {0};
    pack_part(&pack, part);
    int code = pack.failed ? ENOMEM : calc_draft_open(&draft, path);
    if (code == 0 && !write_all(draft.file, pack.data, pack.size)) {
        code = errno;
        calc_draft_drop(&draft);
    } else if (code == 0) {
        code = calc_draft_keep(&draft);
    }
    free(pack.data);
    return code == 0 ? CALC_OK
           : code == EINVAL
               ? fail(errors, CALC_ERR_IO, path, NULL, "cannot write: not a regular file")
               : fail_to("write", code, path, errors);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* @return 0 or errno */
static int read_all(const char *path, unsigned char **bytes, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait for a writer */
    if (file < 0) {
        return errno;
    }
    int code = fstat(file, &status) != 0 ? errno
               : S_ISDIR(status.st_mode) ? EISDIR
               : S_ISREG(status.st_mode) ? 0
                                         : EINVAL;
    if (code == 0) {
        *bytes = malloc((size_t)status.st_size + 1);
        code = *bytes ? 0 : ENOMEM;
    }
    while (code == 0 && *size < (size_t)status.st_size) {
        ssize_t more = read(file, *bytes + *size, (size_t)status.st_size - *size);
        *size += more > 0 ? (size_t)more : 0;
        code = more < 0 && errno != EINTR ? errno : 0;
        if (more == 0) { /* it was cut */
            break;
        }
    }
    close(file);
    return code;
}

static const char redo[] = "start the sweep again without --resume";
static const char no_sense[] = "damaged: its contents make no sense";

static calc_status unpack_part(calc_checkpoint *out, const unsigned char *bytes, size_t size,
                               const char *path, calc_errors *errors)
{
    calc_unpack head = {.at = bytes + sizeof magic, .end = bytes + size};
    if (size < HEAD_SIZE || memcmp(bytes, magic, sizeof magic) != 0) {
        return fail(errors, CALC_ERR_SYNTAX, path, NULL, "not a checkpoint or part of a sweep");
    }
    uint64_t body_size = calc_unpack_u64(&head);
    uint64_t hash = calc_unpack_u64(&head);
    if (body_size != size - HEAD_SIZE ||
        hash != calc_hash(CALC_HASH_START, bytes + HEAD_SIZE, size - HEAD_SIZE)) {
        return fail(errors, CALC_ERR_SYNTAX, path, redo, "damaged: its checksum is wrong");
    }
    calc_unpack in = {.at = bytes + HEAD_SIZE, .end = bytes + size};
    size_t length;
    const unsigned char *version = calc_unpack_bytes(&in, &length);
    if (length != strlen(CALC_VERSION) || memcmp(version, CALC_VERSION, length) != 0) {
        char text[128];
        snprintf(text, sizeof text, "written by calc %.*s; this is " CALC_VERSION,
                 length < 32 ? (int)length : 32, (const char *)version);
        return fail(errors, CALC_ERR_SYNTAX, path, redo, text);
    }
    out->fingerprint = calc_unpack_u64(&in);
    out->shard.index = calc_unpack_u64(&in);
    out->shard.count = calc_unpack_u64(&in);
    out->shard.next = calc_unpack_u64(&in);
    const unsigned char *words = calc_unpack_bytes(&in, &out->words_size);
    out->words = malloc(out->words_size + 1);
    calc_status status = out->words ? CALC_OK : CALC_ERR_NOMEM;
    if (out->words) {
        memcpy(out->words, words, out->words_size);
    }
    status = status == CALC_OK ? calc_unpack_result(&in, &out->result) : status;
    bool sensible = in.at == in.end && out->shard.index >= 1 &&
                    out->shard.index <= out->shard.count && out->words &&
                    (out->words_size == 0 || out->words[out->words_size - 1] == '\0');
    if (status == CALC_ERR_NOMEM) {
        return fail_to("read", ENOMEM, path, errors);
    }
    return status == CALC_OK && sensible ? CALC_OK
                                         : fail(errors, CALC_ERR_SYNTAX, path, redo, no_sense);
}

calc_status calc_checkpoint_read(calc_checkpoint *out, const char *path, calc_errors *errors)
{
    *out = (calc_checkpoint){0};
    unsigned char *bytes = NULL;
    size_t size = 0;
    int code = read_all(path, &bytes, &size);
    calc_status status =
        code == 0        ? unpack_part(out, bytes, size, path, errors)
        : code == ENOENT ? fail(errors, CALC_ERR_NOT_FOUND, path, NULL, "no such file")
        : code == EISDIR ? fail(errors, CALC_ERR_NOT_FOUND, path, NULL, "is a folder, not a file")
        : code == EINVAL ? fail(errors, CALC_ERR_IO, path, NULL, "cannot read: not a regular file")
                         : fail_to("read", code, path, errors);
    free(bytes);
    return status;
}

calc_sweep_mark calc_sweep_mark_of(const calc_space *space, const calc_designs *designs,
                                   const calc_sweep_options *options)
{
    return (calc_sweep_mark){calc_fingerprint(space, designs, options), designs->count,
                             calc_sweep_groups(space, designs, options)};
}

static bool has_designs(const calc_front *list, uint64_t designs)
{
    size_t i = 0;
    while (i < list->count && list->item[i].design < designs) {
        i++;
    }
    return i == list->count;
}

calc_status calc_checkpoint_belongs(const calc_checkpoint *part, const char *path,
                                    const calc_sweep_mark *sweep, const calc_shard *shard,
                                    calc_errors *errors)
{
    const calc_shard *own = &part->shard;
    if (part->fingerprint != sweep->fingerprint) {
        return fail(errors, CALC_ERR_RANGE, path,
                    "inputs, space, objectives and options must be the same",
                    "belongs to another sweep");
    }
    if (shard && (own->index != shard->index || own->count != shard->count)) {
        char text[128];
        snprintf(text, sizeof text, "belongs to shard %llu/%llu, not %llu/%llu",
                 (unsigned long long)own->index, (unsigned long long)own->count,
                 (unsigned long long)shard->index, (unsigned long long)shard->count);
        return fail(errors, CALC_ERR_RANGE, path, NULL, text);
    }
    /* Whether the result has the shape of the sweep's. The first checkpoint has no groups yet. */
    const calc_sweep_result *result = &part->result;
    bool is_first = result->groups_count == 0 && own->next != CALC_SHARD_DONE;
    bool fits = is_first || result->groups_count == sweep->groups;
    for (size_t g = 0; g < result->groups_count && fits; g++) {
        fits = has_designs(&result->group[g].front, sweep->designs) &&
               has_designs(&result->group[g].top, sweep->designs);
    }
    return fits ? CALC_OK : fail(errors, CALC_ERR_SYNTAX, path, redo, no_sense);
}

void calc_checkpoint_free(calc_checkpoint *part)
{
    calc_sweep_result_free(&part->result);
    free(part->words);
    *part = (calc_checkpoint){0};
}

/* ---- Sweeps that are saved ------------------------------------------------------------------- */

/* A sweep that is being saved. */
typedef struct saver {
    const calc_saving *saving;
    const char *path;     /* of saving */
    calc_checkpoint part; /* borrows words and result */
    bool warned;
} saver;

static calc_status save(void *context, const calc_sweep_result *result, uint64_t unit)
{
    saver *s = context;
    calc_errors errors = {0};
    s->part.shard.next = calc_shard_after(&s->part.shard, unit);
    s->part.result = *result;
    /* The next one may succeed, and the last one has the last word. */
    if (calc_checkpoint_write(&s->part, s->path, &errors) != CALC_OK && !s->warned) {
        s->warned = true;
        if (s->saving->unsaved) {
            s->saving->unsaved(&errors.item[0]);
        }
    }
    return CALC_OK;
}

/* Read the checkpoint to go on from, if there is one. */
static calc_status resume(saver *s, const calc_sweep_mark *sweep, calc_checkpoint *earlier,
                          calc_errors *errors)
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
    status = calc_checkpoint_belongs(earlier, s->path, sweep, &s->part.shard, errors);
    s->part.shard.next = earlier->shard.next;
    s->part.result = earlier->result;
    return status;
}

/* Take the lock on the checkpoint, so that two sweeps do not replace each other's. */
static calc_status lock(calc_lock *out, const char *path, calc_errors *errors)
{
    long owner;
    int code = calc_lock_take(out, path, &owner);
    if (code == EBUSY) {
        return calc_errors_at(errors, CALC_ERR_IO, path, 0, 0, NULL,
                              "another sweep is being saved there, by process %ld", owner);
    }
    return code == 0 ? CALC_OK : calc_errors_no_memory(errors);
}

/* Sweep the shard from where it is, with checkpoints. */
static calc_status run(saver *s, const calc_space *space, const calc_designs *designs,
                       const calc_sweep_options *options, calc_sweep_result *result,
                       calc_errors *errors)
{
    calc_sweep_result earlier = s->part.result;
    calc_sweep_options own = *options;
    own.shard = s->part.shard;
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
    calc_lock held = {0};
    calc_sweep_mark sweep = {0};
    saver s = {
        .saving = saving,
        .path = saving->path,
        .part = {.shard = saving->shard, .words = saving->words, .words_size = saving->words_size}};
    calc_status status = CALC_OK;
    if (s.path) {
        sweep = calc_sweep_mark_of(space, designs, options);
        s.part.fingerprint = sweep.fingerprint;
        status = lock(&held, s.path, errors);
    }
    if (s.path && status == CALC_OK && saving->resume) {
        status = resume(&s, &sweep, &earlier, errors);
    }
    if (s.path && status == CALC_OK) {
        status = calc_checkpoint_write(&s.part, s.path, errors);
    }
    status = status == CALC_OK ? run(&s, space, designs, options, result, errors) : status;
    calc_lock_release(&held);
    calc_checkpoint_free(&earlier);
    return status;
}

/* ---- Parts of a sweep, put together ---------------------------------------------------------- */

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

calc_status calc_parts_merge(const char *const *path, size_t count, const calc_sweep_mark *sweep,
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
            status = calc_checkpoint_belongs(&part, path[i], sweep, NULL, errors);
        }
        status = status == CALC_OK ? place(&part.shard, path[i], taken, count, errors) : status;
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
