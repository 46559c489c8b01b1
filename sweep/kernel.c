/* The hot loops. Compiled once per CPU level; CALC_KERNEL_NAME is the kernel's name at that level.
 * Loops are written once and specialised for the usual cases: where training, schedule, rules, the
 * number of classes and whether there are chunks are known, their bodies have no branches. */
#include "kernel.h"

#include <assert.h>

#ifndef CALC_KERNEL_NAME
#define CALC_KERNEL_NAME calc_kernel_generic
#endif

/* ---- Specialised loops ----------------------------------------------------------------------- */

/* The properties that loops are specialised for. */
typedef struct calc_kernel_known {
    bool training;
    calc_pipeline_schedule schedule;
    calc_compat compat;
    int classes;
    bool experts, chunked;
} calc_kernel_known;

/* Call the loop specialised for the current case: BODY(known). `chunking` and `job` are in
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

/* The members of the chunking that loops need, with its known properties. */
typedef struct calc_kernel_shape {
    calc_stage_class item[CALC_MAX_STAGE_CLASSES];
    double held[CALC_MAX_STAGE_CLASSES];
    double chunks, exposed;
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
    s.exposed = c->overlapped > 0 ? 1 - job->shared->message_hidden : 1;
    return s;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

CALC_STAGE_INLINE double longest_of(const calc_kernel_job *job, double tier1_bytes,
                                    double tier2_bytes)
{
    double screen_s = calc_screen_longest_s(job->screen, job->numerator, tier1_bytes, tier2_bytes);
    double longest_s = calc_max(screen_s, job->least_longest_s);
    return calc_min(longest_s, job->most_s);
}

/* The bounds of lanes. */
typedef struct bounds {
    calc_lanes total_s, tier1_bytes, tier2_bytes;
} bounds;

/* Bodies of loops are functions: so compilers keep their local variables out of memory. */
CALC_STAGE_INLINE void bound_lane(const calc_panel *restrict p, const calc_stage_terms *shared,
                                  const calc_floor *f, calc_pipeline_schedule schedule,
                                  calc_compat compat, bool training, size_t lane, size_t i,
                                  bounds *restrict out)
{
    calc_stage_terms t;
    calc_panel_terms(p, shared, compat, training, lane, &t);
    calc_bound b = calc_bound_of(&t, f, schedule);
    out->total_s.of[i] = b.total_s;
    out->tier1_bytes.of[i] = b.tier1_bytes;
    out->tier2_bytes.of[i] = b.tier2_bytes;
}

CALC_STAGE_INLINE void bound_loop(const calc_kernel_job *job, const calc_floor *floor,
                                  calc_compat compat, bool training, const unsigned char *vector,
                                  size_t vectors, bounds *restrict out)
{
    const calc_panel *restrict p = job->panel;
    const calc_floor f = *floor;
    const calc_stage_terms shared = *job->shared;
    const calc_pipeline_schedule schedule = job->schedule;
    for (size_t v = 0; v < vectors; v++) {
        size_t first = (size_t)vector[v] * CALC_PANEL_VECTOR;
#pragma omp simd
        for (size_t i = 0; i < CALC_PANEL_VECTOR; i++) {
            bound_lane(p, &shared, &f, schedule, compat, training, first + i,
                       v * CALC_PANEL_VECTOR + i, out);
        }
    }
}

/* The remainder of the time of a step [s]: negative values do not matter. */
static void spare(const calc_kernel_job *job, size_t count, bounds *restrict b)
{
    const double tier1 = job->tier1_capacity_bytes;
    const double tier2 = job->tier2_capacity_bytes;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        bool fits = b->tier1_bytes.of[i] <= tier1 && b->tier2_bytes.of[i] <= tier2;
        double longest_s = longest_of(job, b->tier1_bytes.of[i], b->tier2_bytes.of[i]);
        b->total_s.of[i] = fits ? longest_s - b->total_s.of[i] : -1;
    }
}

static size_t bound(const calc_kernel_job *job, const calc_floor *floor,
                    const unsigned char *vector, size_t vectors, unsigned char *alive)
{
    bounds b;
    const calc_stage_terms *shared = job->shared;
    if (!shared->training) {
        bound_loop(job, floor, shared->compat, false, vector, vectors, &b);
    } else if (shared->compat) {
        bound_loop(job, floor, shared->compat, true, vector, vectors, &b);
    } else {
        bound_loop(job, floor, CALC_COMPAT_NONE, true, vector, vectors, &b);
    }
    spare(job, vectors * CALC_PANEL_VECTOR, &b);
    size_t count = 0;
    for (size_t i = 0; i < vectors * CALC_PANEL_VECTOR; i++) {
        size_t lane =
            (size_t)vector[i / CALC_PANEL_VECTOR] * CALC_PANEL_VECTOR + i % CALC_PANEL_VECTOR;
        alive[count] = (unsigned char)lane;
        count += lane < job->panel->count && b.total_s.of[i] >= 0;
    }
    return count;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void screen(const calc_kernel_job *job, calc_kernel_needs *out)
{
    const double tier1 = job->tier1_capacity_bytes;
    const double tier2 = job->tier2_capacity_bytes;
    const double *restrict need1 = out->tier1_bytes.of;
    const double *restrict need2 = out->tier2_bytes.of;
    double *restrict longest = out->longest_s.of;
    size_t count = calc_panel_whole(job->panel->count);
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        bool fits = need1[i] <= tier1 && need2[i] <= tier2;
        double longest_s = longest_of(job, need1[i], need2[i]);
        longest[i] = fits ? longest_s : -1;
    }
}

CALC_STAGE_INLINE void needs_lane(const calc_panel *restrict p, const calc_stage_terms *shared,
                                  calc_kernel_known k, const calc_kernel_shape *s, size_t i,
                                  calc_kernel_needs *restrict out)
{
    calc_stage_terms t;
    calc_panel_terms(p, shared, k.compat, k.training, i, &t);
    calc_stage_needs n = calc_stage_needs_of(&t, k.schedule, k.classes, s->item, s->held);
    out->optimizer_s.of[i] = n.optimizer_s;
    out->tier1_bytes.of[i] = n.allocated_bytes * t.used_share + t.reserved_bytes;
    out->tier2_bytes.of[i] = n.tier2_bytes;
}

CALC_STAGE_INLINE void needs_loop(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                                  calc_kernel_known k, calc_kernel_needs *restrict out)
{
    const calc_panel *restrict p = job->panel;
    const calc_kernel_shape s = calc_kernel_shape_of(job, chunking, k);
    const calc_stage_terms shared = *job->shared;
    size_t count = calc_panel_whole(p->count);
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        needs_lane(p, &shared, k, &s, i, out);
    }
}

static void count_needs(const calc_kernel_job *job, calc_kernel_needs *out)
{
    const double tier1 = job->tier1_capacity_bytes;
    const double tier2 = job->tier2_capacity_bytes;
    size_t over1 = 0;
    size_t over = 0;
    for (size_t i = 0; i < job->panel->count; i++) {
        over1 += out->tier1_bytes.of[i] > tier1;
        over += out->tier1_bytes.of[i] > tier1 || out->tier2_bytes.of[i] > tier2;
    }
    out->over_tier1 = over1;
    out->over_tier2 = over - over1;
    out->feasible = job->panel->count - over;
}

static void needs(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                  calc_kernel_needs *out)
{
#define CALC_KERNEL_NEEDS(k) needs_loop(job, chunking, k, out)
    CALC_KERNEL_DISPATCH(CALC_KERNEL_NEEDS)
    count_needs(job, out);
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Links of a lane: with its own messages, and what its experts add. */
CALC_STAGE_INLINE void links_of(const calc_stage_links *from,
                                const calc_kernel_pipelines *restrict own, bool experts, size_t i,
                                calc_stage_links *l)
{
#define CALC_X(member) l->member = from->member;
    CALC_STAGE_LINK_LIST(CALC_X)
#undef CALC_X
#define CALC_X(member) l->member += experts ? own->member.of[i] : 0;
    CALC_KERNEL_EXPERT_LINK_LIST(CALC_X)
#undef CALC_X
    l->message_s = own->message_s.of[i];
    l->back_message_s = own->back_message_s.of[i];
}

/* The pass of a class. No loop over classes: compilers make vectors of the lanes instead. */
CALC_STAGE_INLINE void put_pass(calc_kernel_pipelines *restrict io, calc_kernel_known k, int c,
                                size_t i, const calc_stage_pass *pass)
{
    if (c < k.classes) {
        io->fw_s[c].of[i] = pass->fw_s;
        io->bw_s[c].of[i] = pass->agrad_s + pass->wgrad_s;
    }
    if (c < k.classes && k.compat) {
        io->base_bw_s[c].of[i] = pass->base_bw_s;
        io->edge_bw_s[c].of[i] = pass->edge_bw_s;
    }
}

CALC_STAGE_INLINE void pipeline_lane(const calc_panel *restrict p, const calc_stage_terms *shared,
                                     calc_kernel_known k, const calc_kernel_shape *s,
                                     const calc_stage_links *links, size_t i,
                                     calc_kernel_pipelines *restrict io)
{
    calc_stage_terms t;
    calc_panel_terms(p, shared, k.compat, k.training, i, &t);
    calc_stage_links l;
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    links_of(links, io, k.experts, i, &l);
    calc_stage_passes_of(&t, &l, k.classes, s->item, s->chunks, s->exposed, pass);
    io->pipeline_s.of[i] = calc_stage_pipeline_least_s(&t, &l, k.schedule, k.classes, s->item, pass,
                                                       s->chunks, k.chunked);
    put_pass(io, k, 0, i, &pass[0]);
    put_pass(io, k, 1, i, &pass[1]);
    put_pass(io, k, 2, i, &pass[2]);
    put_pass(io, k, 3, i, &pass[3]);
}

CALC_STAGE_INLINE void pipeline_loop(const calc_kernel_job *job,
                                     const calc_kernel_chunking *chunking,
                                     const calc_stage_links *links, calc_kernel_known k,
                                     calc_kernel_pipelines *restrict io)
{
    const calc_panel *restrict p = job->panel;
    const calc_kernel_shape s = calc_kernel_shape_of(job, chunking, k);
    const calc_stage_terms shared = *job->shared;
    const calc_stage_links l = *links;
    size_t count = calc_panel_whole(p->count);
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        pipeline_lane(p, &shared, k, &s, &l, i, io);
    }
}

static void pipeline(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                     const calc_stage_links *links, calc_kernel_pipelines *io)
{
#define CALC_KERNEL_PIPELINE(k) pipeline_loop(job, chunking, links, k, io)
    CALC_KERNEL_DISPATCH(CALC_KERNEL_PIPELINE)
}

/* That pass again, as pipeline() left it: only the sum of the backward pass matters. */
CALC_STAGE_INLINE calc_stage_pass pass_of(const calc_kernel_pipelines *restrict pipes,
                                          calc_kernel_known k, int c, size_t i)
{
    bool there = c < k.classes;
    calc_stage_pass p;
    p.fw_s = there ? pipes->fw_s[c].of[i] : 0;
    p.agrad_s = there ? pipes->bw_s[c].of[i] : 0;
    p.wgrad_s = 0;
    p.base_fw_s = p.edge_fw_s = 0;
    p.base_bw_s = there && k.compat ? pipes->base_bw_s[c].of[i] : 0;
    p.edge_bw_s = there && k.compat ? pipes->edge_bw_s[c].of[i] : 0;
    return p;
}

CALC_STAGE_INLINE void passes_of(const calc_kernel_pipelines *restrict pipes, calc_kernel_known k,
                                 size_t i, calc_stage_pass *pass)
{
    pass[0] = pass_of(pipes, k, 0, i);
    pass[1] = pass_of(pipes, k, 1, i);
    pass[2] = pass_of(pipes, k, 2, i);
    pass[3] = pass_of(pipes, k, 3, i);
}

/* The shortest step of a lane. */
CALC_STAGE_INLINE void step_lane(const calc_panel *restrict p, const calc_stage_terms *shared,
                                 calc_kernel_known k, const calc_kernel_shape *s,
                                 const calc_stage_links *links,
                                 const calc_kernel_needs *restrict needs,
                                 const calc_kernel_pipelines *restrict pipes, double skip[2][2],
                                 size_t i, calc_lanes *restrict best_s)
{
    assert(k.classes > 0);
    calc_stage_terms t;
    calc_panel_terms(p, shared, k.compat, k.training, i, &t);
    calc_stage_links l;
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    links_of(links, pipes, k.experts, i, &l);
    passes_of(pipes, k, i, pass);
    calc_stage_needs n = {needs->optimizer_s.of[i], 0, 0};
    calc_stage_exposed x = calc_stage_exposed_of(&t, &l, k.classes, s->item, pass, s->chunks);
    calc_stage_step step = calc_stage_step_sum(&t, &l, &n, &x, pipes->pipeline_s.of[i]);
    double best = step.total_s[0][0] + skip[0][0];
    best = calc_min(best, step.total_s[0][1] + skip[0][1]);
    best = calc_min(best, step.total_s[1][0] + skip[1][0]);
    best = calc_min(best, step.total_s[1][1] + skip[1][1]);
    best_s->of[i] = best;
}

CALC_STAGE_INLINE void step_loop(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                                 const calc_stage_links *links, calc_kernel_known k,
                                 const calc_kernel_needs *restrict needs,
                                 const calc_kernel_pipelines *restrict pipes, bool allowed[2][2],
                                 calc_lanes *restrict best_s)
{
    const calc_panel *restrict p = job->panel;
    const calc_kernel_shape s = calc_kernel_shape_of(job, chunking, k);
    const calc_stage_terms shared = *job->shared;
    const calc_stage_links l = *links;
    double skip[2][2];
    for (int i = 0; i < 4; i++) {
        skip[i / 2][i % 2] = allowed[i / 2][i % 2] ? 0 : CALC_KERNEL_NEVER_S;
    }
    size_t count = calc_panel_whole(p->count);
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        step_lane(p, &shared, k, &s, &l, needs, pipes, skip, i, best_s);
    }
}

static size_t step(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                   const calc_stage_links *links, const calc_kernel_needs *needs,
                   const calc_kernel_pipelines *pipelines, bool allowed[2][2], calc_lanes *best_s)
{
#define CALC_KERNEL_STEP(k) step_loop(job, chunking, links, k, needs, pipelines, allowed, best_s)
    CALC_KERNEL_DISPATCH(CALC_KERNEL_STEP)
    size_t hits = 0;
    for (size_t i = 0; i < job->panel->count; i++) {
        hits += best_s->of[i] <= needs->longest_s.of[i];
    }
    return hits;
}

extern const calc_kernel CALC_KERNEL_NAME;
const calc_kernel CALC_KERNEL_NAME = {bound, needs, screen, pipeline, step};
