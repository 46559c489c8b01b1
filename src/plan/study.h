/** @file study.h  A study: the models, machines and space of layouts to sweep, and the results
 *  wanted.
 */
#ifndef CALC_PLAN_STUDY_H
#define CALC_PLAN_STUDY_H

#include "designs.h"
#include "sweep.h"

/** A document that was read. */
typedef struct calc_study_document {
    char name[64];       /**< for people to read; a long one is cut */
    char sha256[65];     /**< of the document's bytes, in hexadecimal digits */
    char remark[512];    /**< what to know before using its numbers; "": nothing */
    char calibrated[64]; /**< of a system: the machine whose runs its constants were fitted to */
} calc_study_document;

/** A study. Owns its lists. Start with {0}. */
typedef struct calc_sweep_study {
    calc_space space;
    calc_designs_builder builder;
    calc_designs designs;       /**< borrows builder */
    calc_system prefill;        /**< that the space names for prefill pools */
    calc_sweep_options options; /**< without callbacks */
    size_t top; /**< number of best layouts asked for; options.top keeps more, so that similar ones
                     can be shown as one */
    size_t constraints;
    calc_constraint *constraint;
    size_t documents;
    calc_study_document *document;
} calc_sweep_study;

#endif
