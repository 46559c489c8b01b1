#include "fingerprint.h"

#include <string.h>

#include "base/hash.h"
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
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *member = object + field->offset;
        size_t elements = 1;
        int64_t listed;
        switch (field->type) {
        case CALC_TYPE_INT:
        case CALC_TYPE_REAL:
            hash = calc_hash(hash, member, 8);
            break;
        case CALC_TYPE_BOOL:
            hash = calc_hash(hash, member, sizeof(bool));
            break;
        case CALC_TYPE_ENUM:
            hash = calc_hash(hash, member, sizeof(calc_datatype));
            break;
        case CALC_TYPE_CURVE: {
            const calc_curve *curve = (const calc_curve *)member;
            size_t size = (size_t)curve->count * sizeof curve->threshold[0];
            hash = hash_u64(hash, (uint64_t)curve->count);
            hash = calc_hash(hash, curve->threshold, size);
            hash = calc_hash(hash, curve->efficiency, size);
            break;
        }
        case CALC_TYPE_OP:
            hash = calc_hash(hash, member, sizeof(calc_network_op));
            break;
        case CALC_TYPE_LIST:
        case CALC_TYPE_MAP:
        case CALC_TYPE_OBJECT:
            if (field->type == CALC_TYPE_LIST) {
                memcpy(&listed, object + field->count, sizeof listed);
                elements = (size_t)listed;
            } else if (field->type == CALC_TYPE_MAP) {
                elements = CALC_DATATYPE_COUNT;
            }
            hash = hash_u64(hash, elements);
            for (size_t e = 0; e < elements; e++) {
                hash = hash_struct(hash, field->table, member + e * field->element);
            }
            break;
        case CALC_TYPE_SET: {
            int64_t set;
            memcpy(&set, member, sizeof set);
            hash = hash_u64(hash, (uint64_t)set);
            break;
        }
        case CALC_TYPE_SYSTEM: {
            const calc_other_system *other = (const calc_other_system *)(const void *)member;
            hash = hash_text(hash, other->name);
            hash = other->system ? hash_struct(hash, calc_table_of(CALC_KIND_SYSTEM),
                                               (const char *)other->system)
                                 : hash;
            break;
        }
        case CALC_TYPE_ENGINE:
            hash = hash_text(hash, member);
            hash = hash_struct(hash, calc_serving_engine_table(), member);
            break;
        case CALC_TYPE_NOTE:
            break;
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

static uint64_t hash_space(uint64_t hash, const calc_space *space)
{
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        hash = hash_values(hash, &space->axis[axis]);
    }
    hash = hash_values(hash, &space->all_procs);
    hash = hash_struct(hash, calc_axis_field(CALC_AXIS_inference)->table,
                       (const char *)&space->inference);
    hash = hash_u64(hash, (uint64_t)space->most_tokens);
    return hash_u64(hash, space->batch_is_maximum + 2u * space->batch_is_of_replica);
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
    hash = hash_space(hash, space);
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
