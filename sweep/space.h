/** @file space.h  The space of a sweep: for every field of the execution a list of values, or every
 *  legal one. Only legal layouts belong to a space: those that calc_check() accepts. */
#ifndef CALC_SWEEP_SPACE_H
#define CALC_SWEEP_SPACE_H

#include <stddef.h>
#include <string.h>

#include "calc.h"

/** Copy a layout of a sweep: all but the lists of stages and layers, which none has and which are
 *  most of its bytes.
 *  @param to  one without such lists */
static inline void calc_space_copy(calc_exec *to, const calc_exec *from)
{
    memcpy(to, from, offsetof(calc_exec, stages));
}

/** The axes: fields of the execution, in the order of their rows, and after them the fields of the
 *  requests that it serves, `inference`. */
typedef enum calc_axis {
#define CALC_FIELD(name, type, arg, ...) CALC_AXIS_##name,
#include "calc/exec.fields.h"
#undef CALC_FIELD
    CALC_AXIS_EXEC_COUNT, /**< axes of the execution itself; also the first axis of `inference` */
    CALC_AXIS_EXEC_LAST = CALC_AXIS_EXEC_COUNT - 1,
#define CALC_FIELD(name, type, arg, ...) CALC_AXIS_inference_##name,
#include "calc/inference.fields.h"
#undef CALC_FIELD
    CALC_AXIS_COUNT
} calc_axis;

/** Values of one axis, ascending and without repetition; enumerations by index. Owns `value`. An
 *  axis of `inference` without values has the one in calc_space.inference. */
typedef struct calc_values {
    bool all;      /**< every legal value, by the rules of Calculon's search */
    bool last;     /**< only the last one of those that are legal in a context */
    bool standard; /**< nobody asked for it: calc_space_init() or calc_defaults_set() chose it */
    const char *reason; /**< why it was chosen, a phrase; NULL: every legal value, or asked for */
    size_t count;
    int64_t *value;
} calc_values;

/** A space. Start with calc_space_init(); free with calc_space_free(). */
typedef struct calc_space {
    calc_values axis[CALC_AXIS_COUNT];
    calc_inference inference; /**< the requests served, with the first value of fields that vary */
    char software[CALC_SOFTWARE_NAME]; /**< for the caller to read; "": none */
    bool batch_is_maximum;    /**< batch_size stands for its largest multiple of data_par */
    bool batch_is_of_replica; /**< values of batch_size are those of one replica */
    int64_t most_tokens;      /**< of a micro-batch of several sequences on a rank, where its sizes
                                   are every legal one; 0: any */
    calc_values all_procs;    /**< none, or the sum of num_procs and prefill_procs */
} calc_space;

/** Every legal value of everything, except: multihead attention, training, activations fused; no
 *  optional field; no processors, batch size or datatype yet. */
CALC_MUST_USE calc_status calc_space_init(calc_space *space);

/** Sort numbers and drop repetitions. @return how many are left */
size_t calc_space_sort(int64_t *value, size_t count);

/** Set the values of an axis (copied, sorted, repetitions dropped). calc_space.inference takes the
 *  first value of an axis of it. CALC_ERR_NOMEM or CALC_OK. */
CALC_MUST_USE calc_status calc_space_set(calc_space *space, calc_axis axis, const int64_t *values,
                                         size_t count);

/** Every legal value of an axis. */
void calc_space_set_all(calc_space *space, calc_axis axis);

/** Free what a space owns. */
void calc_space_free(calc_space *space);

/** The row of an axis. */
const calc_field *calc_axis_field(calc_axis axis);

/** The axis that a row of the execution or of `inference` is; CALC_AXIS_COUNT: it is none. */
calc_axis calc_axis_of(const calc_field *field);

/** Where the member of an axis is in an execution, in bytes. */
size_t calc_axis_offset(calc_axis axis);

/** Whether an axis is a field of the execution itself that it may leave out. */
bool calc_axis_is_optional(calc_axis axis);

/** Make an execution of the first values of the optional fields; the others are zero. */
void calc_space_optional(const calc_space *space, calc_exec *exec);

/** Member of an execution by axis, as a whole number: a choice by its index, a set by its bits, a
 *  real number by calc_axis_value(). */
int64_t calc_axis_get(const calc_exec *exec, calc_axis axis);
void calc_axis_put(calc_exec *exec, calc_axis axis, int64_t value);

/** A number of an axis as such a value, and back. Real numbers of the execution are not negative:
 *  the bits of their double, which are in the same order. */
int64_t calc_axis_value(calc_axis axis, double number);
double calc_axis_number(calc_axis axis, int64_t value);

/** calc_axis_get() and calc_axis_put() for a member of any object, by its field. */
int64_t calc_axis_member(const calc_field *field, const void *member);
void calc_axis_member_put(const calc_field *field, void *member, int64_t value);

/** A list of numbers as values: copied, sorted, repetitions dropped. Frees the earlier ones.
 *  @return CALC_ERR_NOMEM, and nothing has changed, or CALC_OK */
CALC_MUST_USE calc_status calc_values_set(calc_values *values, const int64_t *list, size_t count);

/** Order of layouts: by the values of their axes, in the order of these. <0, 0 or >0. */
int calc_axis_compare(const calc_exec *a, const calc_exec *b);

/** The values of an axis that are legal in some context: those of `legal` (ascending) that are
 *  values of the axis.
 *  @return how many were written to `out`, which has room for `legal_count` */
size_t calc_space_pick(const calc_space *space, calc_axis axis, const int64_t *legal,
                       size_t legal_count, int64_t *out);

/** The same for false and, if `both`, true. @param out  two entries */
size_t calc_space_pick_bool(const calc_space *space, calc_axis axis, bool both, int64_t out[2]);

/** Whether an axis has a value. */
bool calc_space_has(const calc_space *space, calc_axis axis, int64_t value);

/** The first field of the execution, by name, with a value that the kernel does not cover: few
 *  layouts have one. All are then evaluated by calc_run(). NULL: there is none. */
const char *calc_space_by_run(const calc_space *space);

/** Whether `*` stands for the values of Calculon's search: a number of stages that divides the
 *  blocks, and the overlaps that it knows (rows.c). Else for every legal value. That goes with its
 *  rule of even stages. */
static inline bool calc_space_calculon(calc_compat compat)
{
    return calc_compat_has(compat, CALC_COMPAT_EVEN_STAGES);
}

/** Networks a parallel dimension may use: any of the system's if its size is above 1; else one,
 *  which does not matter: 0 or the first of the list.
 *  @return how many were written to `out` */
size_t calc_space_networks(const calc_space *space, calc_axis axis, int64_t par,
                           const calc_system *system, int64_t out[CALC_MAX_NETWORKS]);

#endif
