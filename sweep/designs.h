/** @file designs.h  Applications times systems times swept fields of the two: the designs that a
 *  space is swept over. Designs are made on demand, so that memory grows with the lists and not
 *  with their product. */
#ifndef CALC_SWEEP_DESIGNS_H
#define CALC_SWEEP_DESIGNS_H

#include "calc.h"
#include "sweep.h"

enum { CALC_DESIGN_PATH_SIZE = 64 /**< bytes of the longest path of a field */ };

/** A swept field of the application or the system. Owns its lists. */
typedef struct calc_design_axis {
    calc_field_ref ref;               /**< kind: CALC_KIND_APP or CALC_KIND_SYSTEM */
    char path[CALC_DESIGN_PATH_SIZE]; /**< with its prefix: "sys.networks[0].size" */
    size_t count;
    double *value; /**< in file units; booleans and enumerations by number */
    /** Neighbouring values that make designs of one kind form a class: all values, unless counting
     *  depends on the field. */
    size_t classes;
    size_t *class; /**< of each value */
    size_t *start; /**< position of the first value of each class, and where the last one ends */
} calc_design_axis;

typedef struct calc_design_app {
    char name[64];
    calc_app app;
} calc_design_app;

typedef struct calc_design_system {
    char name[64];
    calc_system system;
} calc_design_system;

/** The lists. Owns them. Start with {0}; free with calc_designs_builder_free(). */
typedef struct calc_designs_builder {
    size_t apps, systems, axes;
    size_t apps_capacity, systems_capacity, axes_capacity;
    calc_design_app *app;
    calc_design_system *system;
    calc_design_axis *axis;
} calc_designs_builder;

/** Add an application or a system (copied). A long name loses its end.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_designs_add_app(calc_designs_builder *builder, const char *name,
                                               const calc_app *app);
CALC_MUST_USE calc_status calc_designs_add_system(calc_designs_builder *builder, const char *name,
                                                  const calc_system *system);

/** Sweep a field (values copied), replacing its earlier values.
 *  @param ref     INT, REAL, BOOL or ENUM field of CALC_KIND_APP or CALC_KIND_SYSTEM
 *  @param path    without prefix: "mem1.GiB"
 *  @param values  at least one, in file units
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_designs_add_axis(calc_designs_builder *builder,
                                                const calc_field_ref *ref, const char *path,
                                                const double *values, size_t count);

/** All designs: application, system and then the fields in the order they were added; the first
 *  varies slowest. *out borrows the builder, which must not change from now on.
 *  @return CALC_OK; CALC_ERR_RANGE with an error if there are 2^63 or more */
CALC_MUST_USE calc_status calc_designs_make(const calc_designs_builder *builder, calc_designs *out,
                                            calc_errors *errors);

/** The parts of a design: positions in the lists. */
typedef struct calc_design_parts {
    const calc_design_app *app;
    const calc_design_system *system;
} calc_design_parts;

/** The application and system that a design starts from. @param index  below the count */
calc_design_parts calc_designs_parts(const calc_designs_builder *builder, uint64_t index);

/** Value of a swept field in a design, in file units. @param axis  below builder->axes */
double calc_designs_value(const calc_designs_builder *builder, uint64_t index, size_t axis);

/** Text of that value: a number, true, false or a choice. @param text  filled, 32 bytes
 *  @return text */
char *calc_designs_value_text(const calc_designs_builder *builder, uint64_t index, size_t axis,
                              char text[32]);

/** Name of a design for people: "gpt3-175B h100_80g_nvl8 sys.mem1.GiB=80"; cut if it is too long.
 *  @return buffer */
char *calc_designs_describe(const calc_designs_builder *builder, uint64_t index, char *buffer,
                            size_t size);

/** Free what the builder owns. Fine on {0}. */
void calc_designs_builder_free(calc_designs_builder *builder);

#endif
