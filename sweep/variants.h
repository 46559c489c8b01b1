/** @file variants.h  Executions that differ in the optional fields that neither rows, cells nor
 * lanes vary: every combination of their values in a space. */
#ifndef CALC_SWEEP_VARIANTS_H
#define CALC_SWEEP_VARIANTS_H

#include "calc.h"
#include "space.h"

/* ---- Spreads of experts ---------------------------------------------------------------------- */

/* Values of expert_par whose layouts are evaluated side by side: they share the cells of a unit,
 * and differ in its rows. */

enum { CALC_SPREADS = 16 };

/** Such values, ascending. */
typedef struct calc_spreads {
    size_t count; /**< 0, or at least two */
    int64_t expert_par[CALC_SPREADS];
} calc_spreads;

/** Those of a space for a model: none if layouts serve, or if networks are chosen for groups of
 *  ranks, as these then differ in what networks and blocks take; none if there are more than
 *  CALC_SPREADS. Variants then have one each. */
calc_spreads calc_spreads_of(const calc_space *space, const calc_app *app);

/** Those that a unit has: the values of the space, or that of the unit's base alone. */
calc_spreads calc_spreads_in(const calc_space *space, const calc_app *app, const calc_exec *base);

/* ---- Variants -------------------------------------------------------------------------------- */

/** A variant. */
typedef struct calc_variant {
    calc_exec exec;
    size_t first;  /**< position of the first of those that differ from it in which blocks a stage
                        has alone: they come one after the other, and have the same rows */
    size_t served; /**< which of calc_served_at() it serves */
} calc_variant;

/** A list. Owns its array. Start with {0}. */
typedef struct calc_variants {
    size_t count, capacity;
    calc_variant *item;
} calc_variants;

/** List the legal combinations. They give datatype, attention_type, training and the optional
 *  fields; tensor parallelism and the rest of the required fields are 0 or false. Where
 *  expert_tensor_par is every legal value it is 1: units know the other one.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_variants_list(calc_variants *variants, const calc_space *space,
                                             const calc_app *app, const calc_system *system,
                                             calc_compat compat);

void calc_variants_free(calc_variants *variants);

enum { CALC_MOST_CONTEXT_PAR = 64 };

/** How many combinations there are of the values of the axes of `inference`. */
size_t calc_served_count(const calc_space *space);

/** One of these combinations. Where there are several phases, those without a prefill pool are
 *  listed once, whatever the values of its fields, decoding once, whatever the chunks of prompts,
 *  and pools once, whatever chunks nobody asked for.
 *  @param index  below calc_served_count()
 *  @return whether it is listed; *out is filled in any case */
bool calc_served_at(const calc_space *space, size_t index, calc_inference *out);

/** Put which blocks a stage has, as one execution says it, into another. */
void calc_variant_put_stages(const calc_exec *from, calc_exec *to);

/** Whether calc_check() finds nothing wrong with a layout that has these fields: one on as few
 *  processors as they take. What rows, cells and lanes vary is chosen so that no rule minds; they
 *  have rules of their own. A model that contradicts itself does so with any layout, and whoever
 *  reads it says where. @param base  without a tensor parallelism: with 1 */
bool calc_variant_legal(const calc_app *app, const calc_system *system, const calc_exec *base);

/** Axes of a space with several values that may change nothing. */
typedef struct calc_legal_axes {
    size_t count;
    calc_axis axis[CALC_AXIS_EXEC_COUNT];
} calc_legal_axes;

calc_legal_axes calc_legal_axes_of(const calc_space *space);

/** Those of them that may rule out a cell of a unit: others have the first of their values in all
 *  its cells.
 *  @param base  of the unit: calc_units_base() */
calc_legal_axes calc_legal_axes_in(const calc_legal_axes *axes, const calc_space *space,
                                   const calc_exec *base);

/** Which spreads of experts are legal in a cell, and the first of those that are the same.
 *  @param axes   of the space, or of the unit
 *  @param exec   its sizes, of a variant; as before on return
 *  @param legal  filled, one per spread
 *  @return whether any is */
bool calc_legal_cell(const calc_space *space, const calc_legal_axes *axes, const calc_app *app,
                     const calc_spreads *spreads, calc_exec *exec, bool *legal);

/** Whether that may depend on the batch. */
bool calc_legal_by_batch(const calc_exec *exec);

#endif
