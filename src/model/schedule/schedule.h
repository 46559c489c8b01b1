/** @file schedule.h  Pipeline schedules in closed form: the time of a step, and the micro-batches
 *  whose activations a stage holds. schedule_sim.h gives the same numbers operation by operation;
 *  docs/schedules.md has the equations, errors and sources. 1F1B with one chunk is in stage_step.h.
 *
 *  For one stage and micro-batch, all chunks: F forward, B activation gradient with recomputation,
 *  W weight gradient, C = F + B + W. p stages, v chunks per stage, m micro-batches. A step takes m
 *  C and the bubble. If all stages are equal and m >= 2p the bubble is, exactly:
 *
 *      gpipe, 1f1b         (p-1) C
 *      1f1b, interleaved   (p-1) C / v, if p divides m
 *      zb_h1               (p-1) max(F, B, F+B-W)
 *      zb_h2               (p-1) max(F, B-F, F+B-2W)
 *      zb_v                (p-1) max(B, W, 2F-B, 2F-2W, 2B-2W) / 2
 *      dualpipe            max(2hF, 2hF + h(B-W), (h-1)F + 2hB - hW, (h-1)F + hB),
 *                          h = p/2 - 1
 *      dualpipe_v          the same in half stages, h = p - 1
 *
 *  Calculon's bubble equals 1f1b's, except where p does not divide m.
 *  tests/property/prop_schedule.c bounds the errors of the forms that are not exact. */
#ifndef CALC_MODEL_SCHEDULE_H
#define CALC_MODEL_SCHEDULE_H

#include <math.h>

#include "calc.h"
#include "model/operators/processor.h"

/* ---- Shapes -----------------------------------------------------------------------------------*/

/** The shape that a schedule runs on. */
typedef struct calc_schedule_shape {
    calc_pipeline_schedule kind;
    int64_t stages;       /**< p: processors along the pipeline */
    int64_t chunks;       /**< v: parts of the model that a stage holds; 1f1b with several is
                               interleaved; ZB-V and DualPipeV have 2, the others 1. DualPipe has 1
                               too: the second part of its stages is a copy of another's. */
    int64_t microbatches; /**< m */
} calc_schedule_shape;

/** Why a schedule cannot run on a shape. */
#define CALC_SCHEDULE_STATUS_LIST(X)                                                               \
    X(OK, "fits")                                                                                  \
    X(EMPTY, "needs at least one stage, one chunk and one micro-batch")                            \
    X(TOO_MANY_CHUNKS, "has at most 65535 chunks per stage")                                       \
    X(ONE_CHUNK, "has one chunk per stage")                                                        \
    X(TWO_CHUNKS, "has two chunks per stage")                                                      \
    X(ODD, "needs an even number of stages and of micro-batches")                                  \
    X(FEW_MICROBATCHES, "needs at least two micro-batches per stage")

#define CALC_SCHEDULE_STATUS_NAME(name, text) CALC_SCHEDULE_##name,
typedef enum calc_schedule_status {
    CALC_SCHEDULE_STATUS_LIST(CALC_SCHEDULE_STATUS_NAME)
} calc_schedule_status;
#undef CALC_SCHEDULE_STATUS_NAME

/** Whether a schedule can run on a shape. DualPipe follows the rules of its authors' code; 1f1b is
 *  interleaved for any m (Megatron-LM asks for a multiple of p). */
calc_schedule_status calc_schedule_check(const calc_schedule_shape *shape);

/** The reason in words, to follow the name of the schedule. */
const char *calc_schedule_status_text(calc_schedule_status status);

/** Micro-batches whose activations a stage holds at the peak, in activations of the whole stage,
 *  from the start of the forward to the end of the weight gradient. Exact.
 *  @param s      one that calc_schedule_check() accepts
 *  @param stage  0 is the first */
static inline double calc_schedule_in_flight(const calc_schedule_shape *s, int64_t stage)
{
    double p = (double)s->stages;
    double v = (double)s->chunks;
    double m = (double)s->microbatches;
    double before = (double)stage;
    double after = p - 1 - before;
    switch (s->kind) {
    case CALC_PIPELINE_SCHEDULE_GPIPE:
        return m;
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
        return calc_min(m, p);
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
        return calc_min(m, 2 * p - 1);
    case CALC_PIPELINE_SCHEDULE_ZB_V:
        return (calc_min(m, p + after) + calc_min(m, before + 1)) / 2;
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
        return p + 1;
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V:
        return p + 0.5;
    default:
        break;
    }
    if (v > 1) {
        return ((v - 1) * calc_min(m, p) + calc_min(m, 2 * after + 1)) / v;
    }
    return calc_min(m, after + 1);
}

/** The stage from `first` to `last` that holds most of them; the first of several. */
int64_t calc_schedule_fullest(const calc_schedule_shape *shape, int64_t first, int64_t last);

/* ---- The bubble of equal stages ---------------------------------------------------------------*/

/** Counts and times of equal stages. Elementwise: a sweep evaluates many at once. */
typedef struct calc_schedule_even {
    double stages, chunks, microbatches;
    double fw_s, bw_s, wgrad_s; /**< of one micro-batch on a stage, all chunks */
} calc_schedule_even;

/** 1f1b with v > 1. Exact if p divides m, or m <= p; else a lower bound. */
static inline double calc_schedule_interleaved_bubble_s(const calc_schedule_even *e)
{
    double p = e->stages;
    double back_s = e->bw_s + e->wgrad_s;
    double missing = ceil(e->microbatches / p) * p - e->microbatches; /* of the last round */
    double lost = p - 1 + (e->chunks - 1) * missing;
    double one_round_s = lost * (e->fw_s + back_s);
    double rounds_s = calc_max((p - 1) * e->fw_s + lost * back_s,
                               lost * e->fw_s + (lost - p * (e->chunks - 1)) * back_s);
    return (e->microbatches <= p ? one_round_s : rounds_s) / e->chunks;
}

/** zb_h1 and zb_h2. Weight gradients of `late` micro-batches at most fill the gaps.
 *  Exact for zb_h1; for zb_h2 if m >= p, else a lower bound. */
static inline double calc_schedule_zero_bubble_s(const calc_schedule_even *e, double late)
{
    double p = e->stages;
    double delay = (e->microbatches < late + 1 ? e->microbatches - 1 : late);
    double fill_s = (p - 1) * e->fw_s;
    double drain_s = (p - 1) * e->bw_s;
    double best_s = calc_max(fill_s, fill_s + drain_s - delay * e->fw_s);
    return calc_max(best_s, fill_s + drain_s - delay * e->wgrad_s);
}

/** zb_v with m <= p: every micro-batch goes down and up before the first returns. Exact. In chunk
 *  times, as the next one; q = p-1. */
static inline double calc_schedule_zb_v_few_s(double q, double k, double f, double b, double w)
{
    double best_s = calc_max((2 * q - 2 * k) * f + 2 * q * b, (2 * q - k) * (f + b));
    double delay_s = 2 * k * b + k * w + k * (b < w ? b : w);
    return calc_max(best_s, 2 * q * (f + b) - delay_s);
}

/** zb_v with m > p: returning micro-batches fill in, those of the first `i` of the q stages. Exact
 *  if i = q, else a bound. */
static inline double calc_schedule_zb_v_many_s(double q, double i, double f, double b, double w)
{
    double wait = 2 * i + 1 < 2 * q ? 2 * i + 1 : 2 * q;
    double best_s = calc_max((q - i) * calc_max(f, b) + i * w, (q + i) * f - i * b);
    best_s = calc_max(best_s, (2 * q - i) * b - (q - i) * w);
    best_s = calc_max(best_s, 2 * q * b - wait * w);
    best_s = calc_max(best_s, (q + i) * f + (q - i) * b - wait * w);
    best_s = calc_max(best_s, (q - 1 - i) * b + (q - 1 - i) * calc_max(f, b));
    return calc_max(best_s, 2 * q * f - q * w - q * (b < w ? b : w));
}

/** zb_v. Exact if m <= p or m >= 2p; between them a bound. */
static inline double calc_schedule_zb_v_bubble_s(const calc_schedule_even *e)
{
    double q = e->stages - 1;
    double f = e->fw_s / 2;
    double b = e->bw_s / 2;
    double w = e->wgrad_s / 2;
    double more = e->microbatches - e->stages - 1;
    double few_s = calc_schedule_zb_v_few_s(q, e->microbatches - 1, f, b, w);
    double many_s = calc_schedule_zb_v_many_s(q, more < q ? more : q, f, b, w);
    return more < 0 ? few_s : many_s;
}

/** dualpipe and dualpipe_v. Exact.
 *  @param depth      stages that a micro-batch visits before it turns, or meets another
 *  @param f, b, w    of a chunk [s] */
static inline double calc_schedule_dual_bubble_s(double depth, double f, double b, double w)
{
    double h = depth - 1;
    double fill_s = 2 * h * f + calc_max(0, h * (b - w));
    double drain_s = (h - 1) * f + h * b + calc_max(0, h * (b - w));
    return calc_max(fill_s, drain_s);
}

/** Time of a step beyond m C [s]. */
static inline double calc_schedule_bubble_s(calc_pipeline_schedule kind,
                                            const calc_schedule_even *e)
{
    switch (kind) {
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
        return calc_schedule_zero_bubble_s(e, e->stages - 1);
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
        return calc_schedule_zero_bubble_s(e, 2 * (e->stages - 1));
    case CALC_PIPELINE_SCHEDULE_ZB_V:
        return calc_schedule_zb_v_bubble_s(e);
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
        return calc_schedule_dual_bubble_s(e->stages / 2, e->fw_s, e->bw_s, e->wgrad_s);
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V:
        return calc_schedule_dual_bubble_s(e->stages, e->fw_s / 2, e->bw_s / 2, e->wgrad_s / 2);
    default: /* 1f1b with one chunk and gpipe: exact */
        return e->chunks > 1 ? calc_schedule_interleaved_bubble_s(e)
                             : (e->stages - 1) * (e->fw_s + e->bw_s + e->wgrad_s);
    }
}

/* ---- A step -----------------------------------------------------------------------------------*/

/** Consecutive stages that take as long [s]: all chunks of one micro-batch, messages included. */
typedef struct calc_schedule_class {
    double stages; /**< how many; 0: none */
    double fw_s, bw_s, wgrad_s;
} calc_schedule_class;

enum { CALC_SCHEDULE_CLASSES = 4 };

typedef struct calc_schedule_times {
    calc_schedule_class of[CALC_SCHEDULE_CLASSES]; /**< from the first stage to the last */
} calc_schedule_times;

/** Time of a step in closed form [s]: exact for gpipe. For the others m C and
 *  calc_schedule_bubble_s() if all stages and chunks are equal; else the busiest stage and the
 * bubble of average ones, which is off by up to a fifth: schedule_steady.h is exact.
 *  @param shape  one that calc_schedule_check() accepts; its stages are those of all classes */
double calc_schedule_s(const calc_schedule_shape *shape, const calc_schedule_times *times);

/* The filling of an interleaved pipeline: a part of schedule_interleaved.c,
 * which defines paths, slots and rounds. */

/** The first and the last stage of each class, and one more. */
enum { CALC_SCHEDULE_PLACES = 2 * CALC_SCHEDULE_CLASSES + 1 };

/** One direction of all places: times of a usual chunk, and of the usual chunks of all stages
 *  before. */
typedef struct calc_schedule_way {
    double chunk_s[CALC_SCHEDULE_PLACES], before_s[CALC_SCHEDULE_PLACES];
    double all_s;           /**< a usual chunk of every stage */
    double first_s, last_s; /**< extra time of the special chunks over a usual one */
} calc_schedule_way;

typedef struct calc_schedule_line {
    int count; /**< places */
    double p, v;
    double stage[CALC_SCHEDULE_PLACES];
    double slot_s[CALC_SCHEDULE_PLACES]; /**< a usual forward and backward */
    calc_schedule_way fw, bw;
} calc_schedule_line;

/** Longest paths of a pipeline that fills [s]. */
typedef struct calc_schedule_filling {
    /** Until slot 0 is over: until the first backward has come up to here. */
    double turn_s[CALC_SCHEDULE_PLACES];
    /** Until the last forward, if all come before the first backward. */
    double last_s[CALC_SCHEDULE_PLACES];
} calc_schedule_filling;

/* The step of interleaved 1F1B whose stages are not all equal, in
 * closed form: the maximum over all paths through the operations that can be the longest. */

/** One direction of a chunk [s]. */
typedef struct calc_schedule_chunk {
    double fw_s;
    double bw_s; /**< both gradients, recomputation included */
} calc_schedule_chunk;

/** A pipeline whose chunks are all alike within a stage, but for the first one of the first stage
 *  and the last one of the last stage. */
typedef struct calc_schedule_interleaved {
    double stages, chunks, microbatches;
    /** Consecutive stages that are alike, from the first stage to the last. */
    struct {
        double stages; /**< how many; 0: none */
        calc_schedule_chunk chunk;
    } of[CALC_SCHEDULE_CLASSES];
    /** Extra time of those two chunks over a usual chunk of their stage; may be less than 0. */
    calc_schedule_chunk first, last;
} calc_schedule_interleaved;

/** Whether there is a closed form: three stages and two chunks at least, and m a multiple of p. */
bool calc_schedule_interleaved_fits(const calc_schedule_shape *shape);

/** Time of a step [s], messages included in the chunks. Each of the paths exists in the order of
 *  schedule_order.h, so the time is never more than that of calc_schedule_sim_s(), and grows with
 *  every chunk; docs/schedules.md lists the paths and how much less the time may be.
 *  @param x  of a shape that calc_schedule_interleaved_fits() accepts */
double calc_schedule_interleaved_s(const calc_schedule_interleaved *x);

#endif
