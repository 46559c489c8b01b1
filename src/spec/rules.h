/** @file rules.h  Rules between fields, and between application, system and execution.
 *  calc_check() in calc.h runs them all: those of rules.c and rules_inference.c. */
#ifndef CALC_SPEC_RULES_H
#define CALC_SPEC_RULES_H

#include "calc.h"

/** One rule: where it is broken, `report` adds an error. */
#define CALC_RULE(broken, report)                                                                  \
    do {                                                                                           \
        if (broken) {                                                                              \
            report;                                                                                \
        }                                                                                          \
    } while (0)

/** Whether the backward pass computes a block again from its input, all-gathers included. */
static inline bool calc_recomputes_block(const calc_strategy *strategy)
{
    return strategy->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL ||
           strategy->activation_recompute == CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP;
}

/** Level of sharding by data parallelism, 0 to 3: zero_stage, or if that is absent as
 *  optimizer_sharding says. */
static inline int64_t calc_zero_stage(const calc_strategy *strategy)
{
    return strategy->zero_stage > 0 ? strategy->zero_stage : strategy->optimizer_sharding;
}

/** A number of ranks that may be absent: at least 1. */
static inline int64_t calc_ranks_or_one(int64_t ranks)
{
    return ranks > 1 ? ranks : 1;
}

/** Add an error for each contradiction within a model: what calc_check() finds whatever the layout
 *  is.
 *  @param adapted  with adapters beside all matrices */
void calc_rules_model(const calc_app *app, bool adapted, calc_errors *errors);

/** Greatest common divisor of two positive numbers. */
int64_t calc_gcd(int64_t a, int64_t b);

/** Text of the divisors of n, smallest first: "1, 2, 3, 4, 6 or 12"; long lists are cut with
 *  "...". @return buffer */
char *calc_divisors_text(int64_t n, char *buffer, size_t size);

/** The same as a text of the block around. */
#define CALC_DIVISORS(n) calc_divisors_text(n, (char[200]){""}, 200)

/** Add an error if `value`, the field of the execution at `pointer`, does not divide `n`, which
 *  `what` names; the hint lists the divisors of `common`. */
void calc_rules_must_divide(calc_errors *errors, const char *pointer, int64_t value,
                            const char *what, int64_t n, int64_t common);

/** Add an error if the system of a prefill pool is not given, or lacks networks or engines that the
 *  execution needs. Nothing if it is the system of the run. */
void calc_rules_prefill_system(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, calc_errors *errors);

/** Add an error for each field of a layout that serves which only training has. */
void calc_rules_served(const calc_app *app, const calc_exec *exec, calc_errors *errors);

/** Check exec->inference; violations are added to `errors`. The other rules must hold. */
void calc_rules_inference(const calc_app *app, const calc_exec *exec, calc_errors *errors);

/** Check the rates of serving of a system, whatever is run; violations are added to `errors`. */
void calc_rules_serving(const calc_system *system, calc_errors *errors);

#endif
