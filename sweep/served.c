#include "served.h"

#include "spec/field.h"

const calc_field *calc_served_field(calc_served served)
{
    return &calc_table_of(CALC_KIND_EXEC)->rows[CALC_AXIS_inference].table->rows[served];
}

const calc_values *calc_served_values(const calc_space *space, const calc_field *field)
{
    for (int served = 0; served < CALC_SERVED_COUNT; served++) {
        if (calc_served_field((calc_served)served) == field) {
            return &space->served[served];
        }
    }
    return NULL;
}

int64_t calc_served_get(const calc_inference *inference, calc_served served)
{
    const calc_field *field = calc_served_field(served);
    return calc_axis_member(field, (const char *)inference + field->offset);
}

void calc_served_put(calc_inference *inference, calc_served served, int64_t value)
{
    const calc_field *field = calc_served_field(served);
    calc_axis_member_put(field, (char *)inference + field->offset, value);
}

calc_status calc_served_set(calc_space *space, calc_served served, const int64_t *values,
                            size_t count)
{
    calc_status status = calc_values_set(&space->served[served], values, count);
    if (status == CALC_OK) {
        calc_served_put(&space->inference, served, space->served[served].value[0]);
    }
    return status;
}

size_t calc_served_count(const calc_space *space)
{
    size_t count = 1;
    for (int served = 0; served < CALC_SERVED_COUNT; served++) {
        count *= space->served[served].count > 0 ? space->served[served].count : 1;
    }
    return count;
}

/* A field that does nothing is 0, whatever its values. @return whether they were at the first one
 */
static bool leave_out(const calc_space *space, calc_served served, calc_inference *out)
{
    const calc_values *v = &space->served[served];
    bool first = v->count == 0 || calc_served_get(out, served) == v->value[0];
    calc_served_put(out, served, 0);
    return first;
}

bool calc_served_at(const calc_space *space, size_t index, calc_inference *out)
{
    bool listed = true;
    *out = space->inference;
    for (int served = CALC_SERVED_COUNT; served-- > 0;) { /* the last one varies fastest */
        const calc_values *v = &space->served[served];
        if (v->count > 0) {
            calc_served_put(out, (calc_served)served, v->value[index % v->count]);
            index /= v->count;
        }
    }
    if (space->served[CALC_SERVED_phase].count <= 1) {
        return true;
    }
    if (out->phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        bool asked = !space->served[CALC_SERVED_chunk_size].standard;
        return asked || leave_out(space, CALC_SERVED_chunk_size, out);
    }
    out->prefill_system = (calc_other_system){{0}, NULL};
    listed = leave_out(space, CALC_SERVED_prefill_procs, out) && listed;
    listed = leave_out(space, CALC_SERVED_prefill_tensor_par, out) && listed;
    return leave_out(space, CALC_SERVED_prefill_expert_par, out) && listed;
}

int calc_served_compare(const calc_inference *a, const calc_inference *b)
{
    for (int served = 0; served < CALC_SERVED_COUNT; served++) {
        int64_t x = calc_served_get(a, (calc_served)served);
        int64_t y = calc_served_get(b, (calc_served)served);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}
