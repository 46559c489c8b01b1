/** @file kernel_loops.h  Specialisation of the loops of kernel.c: they are written once and
 *  compiled for the usual cases, so that their bodies have no branches. */
#ifndef CALC_SWEEP_KERNEL_LOOPS_H
#define CALC_SWEEP_KERNEL_LOOPS_H

#include "kernel.h"

/** The properties that loops are specialised for. */
typedef struct calc_kernel_known {
    bool training;
    calc_pipeline_schedule schedule;
    calc_compat compat;
    int classes;
    bool experts, chunked;
} calc_kernel_known;

/** Call the loop specialised for the current case: BODY(known). `chunking` and `job` are in
 *  scope. */
#define CALC_KERNEL_CLASSES(BODY, experts, chunked)                                                \
    switch (chunking->classes) {                                                                   \
    case 1:                                                                                        \
        BODY(((calc_kernel_known){true, usual, CALC_COMPAT_NONE, 1, experts, chunked}));           \
        break;                                                                                     \
    case 2:                                                                                        \
        BODY(((calc_kernel_known){true, usual, CALC_COMPAT_NONE, 2, experts, chunked}));           \
        break;                                                                                     \
    case 3:                                                                                        \
        BODY(((calc_kernel_known){true, usual, CALC_COMPAT_NONE, 3, experts, chunked}));           \
        break;                                                                                     \
    default:                                                                                       \
        BODY(((calc_kernel_known){true, usual, CALC_COMPAT_NONE, CALC_MAX_STAGE_CLASSES, experts,  \
                                  chunked}));                                                      \
        break;                                                                                     \
    }

#define CALC_KERNEL_DISPATCH(BODY)                                                                 \
    const calc_pipeline_schedule usual = CALC_PIPELINE_SCHEDULE_1F1B;                              \
    const calc_stage_terms *shared = job->shared;                                                  \
    bool chunks = chunking->chunks > 1;                                                            \
    bool plain = shared->training && job->schedule == usual;                                       \
    bool simple = plain && chunking->classes == 1 && !chunking->experts;                           \
    if (plain && shared->compat == CALC_COMPAT_NONE) {                                             \
        if (chunking->experts && chunks) {                                                         \
            CALC_KERNEL_CLASSES(BODY, true, true)                                                  \
        } else if (chunking->experts) {                                                            \
            CALC_KERNEL_CLASSES(BODY, true, false)                                                 \
        } else if (chunks) {                                                                       \
            CALC_KERNEL_CLASSES(BODY, false, true)                                                 \
        } else {                                                                                   \
            CALC_KERNEL_CLASSES(BODY, false, false)                                                \
        }                                                                                          \
    } else if (simple && shared->compat == CALC_COMPAT_REPAIRED) {                                 \
        BODY(((calc_kernel_known){true, usual, CALC_COMPAT_REPAIRED, 1, false, true}));            \
    } else if (simple && shared->compat == CALC_COMPAT_CALCULON) {                                 \
        BODY(((calc_kernel_known){true, usual, CALC_COMPAT_CALCULON, 1, false, true}));            \
    } else {                                                                                       \
        BODY(((calc_kernel_known){shared->training, job->schedule, shared->compat,                 \
                                  chunking->classes, chunking->experts, chunks}));                 \
    }

/** The members of the chunking that loops need, with its known properties. */
typedef struct calc_kernel_shape {
    calc_stage_class item[CALC_MAX_STAGE_CLASSES];
    double held[CALC_MAX_STAGE_CLASSES];
    double chunks, exposed;
    calc_stage_special start, finish;
} calc_kernel_shape;

CALC_STAGE_INLINE calc_kernel_shape calc_kernel_shape_of(const calc_kernel_job *job,
                                                         const calc_kernel_chunking *c,
                                                         calc_kernel_known k)
{
    const calc_stage_class none = {0};
    calc_kernel_shape s = {.item = {none, none, none, none}, .held = {0}};
    for (int i = 0; i < k.classes; i++) {
        s.item[i] = c->item[i];
        s.item[i].moe = k.experts ? c->item[i].moe : 0;
        s.held[i] = c->held[i];
    }
    s.chunks = k.chunked ? c->chunks : 1;
    s.start = c->start;
    s.finish = c->finish;
    s.start.chunk.moe = k.experts ? s.start.chunk.moe : 0;
    s.finish.chunk.moe = k.experts ? s.finish.chunk.moe : 0;
    s.exposed = c->overlapped > 0 ? 1 - job->shared->message_hidden : 1;
    return s;
}

#endif
