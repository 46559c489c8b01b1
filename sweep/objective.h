/** @file objective.h  Objectives and constraints of a sweep: any statistic, with a direction. */
#ifndef CALC_SWEEP_OBJECTIVE_H
#define CALC_SWEEP_OBJECTIVE_H

#include <string.h>

#include "calc.h"

enum { CALC_MAX_OBJECTIVES = 4 };

/** Statistics that the fast path knows without calc_run(). */
typedef enum calc_objective_kind {
    CALC_OBJECTIVE_SAMPLE_RATE,
    CALC_OBJECTIVE_TOTAL_TIME,
    CALC_OBJECTIVE_MEM1, /**< proc_mem_tier1_cap_req */
    CALC_OBJECTIVE_MEM2, /**< proc_mem_tier2_cap_req */
    CALC_OBJECTIVE_OTHER /**< any other: every point needs calc_run() */
} calc_objective_kind;

/** One objective. */
typedef struct calc_objective {
    calc_objective_kind kind;
    const calc_field *field; /**< row of the statistic */
    bool up;                 /**< more is better */
} calc_objective;

/** Relations of a constraint. */
typedef enum calc_relation {
    CALC_RELATION_LE,
    CALC_RELATION_LT,
    CALC_RELATION_GE,
    CALC_RELATION_GT,
    CALC_RELATION_EQ,
    CALC_RELATION_NE
} calc_relation;

/** Whether a value has a relation to a limit. NaN has none. */
static inline bool calc_relation_met(calc_relation relation, double value, double limit)
{
    switch (relation) {
    case CALC_RELATION_LE:
        return value <= limit;
    case CALC_RELATION_LT:
        return value < limit;
    case CALC_RELATION_GE:
        return value >= limit;
    case CALC_RELATION_GT:
        return value > limit;
    case CALC_RELATION_EQ:
        return value == limit;
    default:
        return value < limit || value > limit; /* not !=, which NaN would meet */
    }
}

/** When it is known whether a condition is met. */
typedef enum calc_condition_kind {
    CALC_CONDITION_TILE,   /**< field of a row, a choice or a cell */
    CALC_CONDITION_LANE,   /**< field that a lane has: networks, interleaving */
    CALC_CONDITION_FLAG,   /**< data_par_overlap, param_gather_overlap */
    CALC_CONDITION_MEMORY, /**< the need of a tier */
    CALC_CONDITION_TIME,   /**< the time of a step, or a number derived from it: calc_run_rates() */
    CALC_CONDITION_OTHER,  /**< any other statistic: calc_run() */
    CALC_CONDITION_KINDS
} calc_condition_kind;

/** A condition on a statistic or on a field of the execution; points that do not meet it are
 *  filtered out. */
typedef struct calc_constraint {
    calc_kind kind; /**< CALC_KIND_STATS or CALC_KIND_EXEC */
    const calc_field *field;
    size_t offset; /**< of the value in the execution or the statistics */
    calc_relation relation;
    double value; /**< in SI units */
    calc_condition_kind when;
} calc_constraint;

/** Parse "sample_rate", "mem1", "total_time:down", "-sample_rate" is not a form. A name is a
 *  statistic's, or mem1 or mem2 for the need of a tier. The direction may be given as :up or :down;
 *  otherwise it is up for rates and efficiencies and down for all else.
 *  @return CALC_OK or CALC_ERR_FIELD with an error that names the nearest statistic */
CALC_MUST_USE calc_status calc_objective_parse(calc_objective *out, const char *text,
                                               calc_errors *errors);

/** Parse "mem1 <= 60GiB", "sample_rate>=100", "tensor_par != 3". Relations <=, <, >=, >, =, ==, !=;
 *  units as spec/value_text.h has them, without which bytes and FLOP are asked about; enumerations
 *  by text. Fields have the names that --set knows ("inference.phase", "isl").
 *  @return CALC_OK or CALC_ERR_FIELD, _TYPE with an error */
CALC_MUST_USE calc_status calc_constraint_parse(calc_constraint *out, const char *text,
                                                calc_errors *errors);

/** The value that a constraint tests, in SI units. @param exec, stats the one that it is on */
double calc_constraint_value(const calc_constraint *constraint, const calc_exec *exec,
                             const calc_stats *stats);

/** Whether a point meets a constraint. A NaN statistic meets none. */
bool calc_constraint_met(const calc_constraint *constraint, const calc_exec *exec,
                         const calc_stats *stats);

/** Whether a statistic is known of serving alone. */
bool calc_objective_serves(const calc_field *statistic);

/** Value of an objective from statistics, written so that less is better. */
double calc_objective_of(const calc_objective *objective, const calc_stats *stats);

/** The same back in the statistic's own sign. */
double calc_objective_value(const calc_objective *objective, double stored);

/* Text from outside inside a message. */

enum { CALC_SHOW_SIZE = 64 /**< bytes that calc_show() fills at most */ };

/** Copy a text so that it stands in one line: bytes that are not printable ASCII become '?', and an
 *  end that does not fit becomes "...". @return buffer */
static inline char *calc_show(char buffer[CALC_SHOW_SIZE], const char *text)
{
    size_t used = 0;
    for (; *text && used < CALC_SHOW_SIZE - 4; text++) {
        buffer[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
    }
    strcpy(buffer + used, *text ? "..." : "");
    return buffer;
}

#endif
