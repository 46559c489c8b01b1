#include "pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/field.h"

static bool reserve(calc_pack *out, size_t more)
{
    if (out->failed || more <= out->capacity - out->size) {
        return !out->failed;
    }
    size_t capacity = 2 * out->capacity + more;
    unsigned char *data = realloc(out->data, capacity);
    if (!data) {
        out->failed = true;
        return false;
    }
    out->data = data;
    out->capacity = capacity;
    return true;
}

void calc_pack_u64(calc_pack *out, uint64_t value)
{
    if (reserve(out, 8)) {
        for (int i = 0; i < 8; i++) {
            out->data[out->size++] = (unsigned char)(value >> 8 * i);
        }
    }
}

void calc_pack_bytes(calc_pack *out, const void *bytes, size_t size)
{
    calc_pack_u64(out, size);
    if (size > 0 && reserve(out, size)) {
        memcpy(out->data + out->size, bytes, size);
        out->size += size;
    }
}

uint64_t calc_unpack_u64(calc_unpack *in)
{
    if (in->failed || in->end - in->at < 8) {
        in->failed = true;
        return 0;
    }
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        value |= (uint64_t)*in->at++ << 8 * i;
    }
    return value;
}

/* Bring the members of an execution, of what it is made of, and so on, to `out` or from `in`,
 * unless these are NULL, in the order of the rows: integers, real numbers and choices, of 8 bytes
 * each.
 * @return how many are not 0 */
static size_t move_members(const calc_table *table, void *object, calc_pack *out, calc_unpack *in)
{
    size_t set = 0;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        void *member = (char *)object + field->offset;
        if (field->type == CALC_TYPE_OBJECT) {
            set += move_members(field->table, member, out, in);
            continue;
        }
        int64_t value = in ? (int64_t)calc_unpack_u64(in) : calc_axis_member(field, member);
        if (in) {
            calc_axis_member_put(field, member, value);
            /* More bits than the member has? */
            in->failed = in->failed || calc_axis_member(field, member) != value;
        } else if (out) {
            calc_pack_u64(out, (uint64_t)value);
        }
        set += value != 0;
    }
    return set;
}

static void pack_front(calc_pack *out, const calc_front *front)
{
    calc_pack_u64(out, front->count);
    for (size_t i = 0; i < front->count; i++) {
        const calc_found *found = &front->item[i];
        for (size_t o = 0; o < CALC_MAX_OBJECTIVES; o++) {
            uint64_t bits;
            memcpy(&bits, &found->objective[o], sizeof bits);
            calc_pack_u64(out, bits);
        }
        calc_exec exec = calc_found_exec(found);
        calc_pack_u64(out, found->design);
        move_members(calc_table_of(CALC_KIND_EXEC), &exec, out, NULL);
    }
}

void calc_pack_result(calc_pack *out, const calc_sweep_result *result)
{
    const uint64_t *counts = (const void *)&result->counts;
    for (size_t i = 0; i < CALC_SWEEP_COUNTS; i++) {
        if (&counts[i] == result->counts.rejected) {
            calc_pack_u64(out, CALC_VERDICT_COUNT);
        }
        calc_pack_u64(out, counts[i]);
    }
    calc_pack_u64(out, result->groups_count);
    for (size_t g = 0; g < result->groups_count; g++) {
        pack_front(out, &result->group[g].front);
        pack_front(out, &result->group[g].top);
    }
}

/* A number of things that follow, each of at least `size` bytes. */
static size_t unpack_count(calc_unpack *in, size_t size)
{
    uint64_t count = calc_unpack_u64(in);
    if (count > (size_t)(in->end - in->at) / size) {
        in->failed = true;
    }
    return in->failed ? 0 : (size_t)count;
}

const unsigned char *calc_unpack_bytes(calc_unpack *in, size_t *size)
{
    const unsigned char *bytes;
    *size = unpack_count(in, 1);
    bytes = in->at;
    in->at += *size;
    return bytes;
}

/* Whether every member is in the range of its field, or all of an object inside are 0: it is
 * absent. Whoever made the bytes, what is computed from them then is as safe as from a file. */
static bool is_allowed(const calc_table *table, void *object)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        void *member = (char *)object + field->offset;
        bool is_set =
            field->type != CALC_TYPE_OBJECT || move_members(field->table, member, NULL, NULL) > 0;
        if (is_set && !(field->type == CALC_TYPE_OBJECT ? is_allowed(field->table, member)
                                                        : calc_member_allowed(field, member))) {
            return false;
        }
    }
    return true;
}

static calc_status unpack_front(calc_unpack *in, calc_front *front)
{
    size_t count = unpack_count(in, 8 * (CALC_MAX_OBJECTIVES + 1)); /* and members */
    if (count == 0) {
        return CALC_OK;
    }
    front->item = calloc(count, sizeof *front->item);
    if (!front->item) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < count && !in->failed; i++) {
        double objective[CALC_MAX_OBJECTIVES];
        calc_exec exec = {0};
        for (size_t o = 0; o < CALC_MAX_OBJECTIVES; o++) {
            uint64_t bits = calc_unpack_u64(in);
            memcpy(&objective[o], &bits, sizeof bits);
            in->failed |= isnan(objective[o]);
        }
        uint64_t design = calc_unpack_u64(in);
        move_members(calc_table_of(CALC_KIND_EXEC), &exec, NULL, in);
        in->failed |= !is_allowed(calc_table_of(CALC_KIND_EXEC), &exec);
        front->item[i] = calc_found_of(design, &exec);
        memcpy(front->item[i].objective, objective, sizeof objective);
    }
    front->count = count;
    front->capacity = count;
    return CALC_OK;
}

calc_status calc_unpack_result(calc_unpack *in, calc_sweep_result *result)
{
    *result = (calc_sweep_result){0};
    uint64_t *counts = (void *)&result->counts;
    for (size_t i = 0; i < CALC_SWEEP_COUNTS; i++) {
        if (&counts[i] == result->counts.rejected && calc_unpack_u64(in) != CALC_VERDICT_COUNT) {
            return CALC_ERR_SYNTAX;
        }
        counts[i] = calc_unpack_u64(in);
    }
    size_t groups = unpack_count(in, 16);
    if (groups > 0) {
        result->group = calloc(groups, sizeof *result->group);
        if (!result->group) {
            return CALC_ERR_NOMEM;
        }
        result->groups_count = groups;
    }
    calc_status status = CALC_OK;
    for (size_t g = 0; g < groups && status == CALC_OK; g++) {
        status = unpack_front(in, &result->group[g].front);
        status = status == CALC_OK ? unpack_front(in, &result->group[g].top) : status;
    }
    return status == CALC_OK && in->failed ? CALC_ERR_SYNTAX : status;
}
