/* Random lanes with a chunking, networks, capacities and a screen: what tests of kernels and bounds
 * begin with. */
#ifndef CALC_TEST_LANES_CASE_H
#define CALC_TEST_LANES_CASE_H

#include "kernel.h"
#include "panel_case.h"
#include "small_case.h"

static calc_rng rng;
static calc_stage_terms shared;
static calc_stage_terms terms[CALC_PANEL_LANES];
static calc_panel panel;
static calc_screen screen;
static calc_stage_links links[CALC_PANEL_LANES]; /* they differ in messages and experts; */
static calc_stage_links links_of_all;            /* the rest */
static bool allowed[2][2];
static calc_kernel_job job;

/* Blocks that any number of chunks divides, or any. */
static inline double random_blocks(bool whole, uint32_t least)
{
    return whole ? 12 * (double)(least + calc_rng_below(&rng, 3))
                 : (double)calc_rng_below(&rng, 16) / 4;
}

/* A class of so many stages from a position on. */
static inline calc_stage_class random_class(double stages, bool experts, bool whole)
{
    calc_stage_class c = {.stages = stages, .position = 0};
    if (stages > 0) {
        c.dense = random_blocks(whole, 1);
        c.moe = experts ? random_blocks(whole, 0) : 0;
    }
    return c;
}

/* The ends of the model are on the first and on the last stage, or spread over all of them. */
static inline void put_ends(calc_kernel_chunking *c)
{
    int first = -1;
    int last = 0;
    for (int i = 0; i < c->classes; i++) {
        first = first < 0 && c->item[i].stages > 0 ? i : first;
        last = c->item[i].stages > 0 ? i : last;
    }
    bool spread = c->classes == 1 && calc_rng_below(&rng, 2) > 0;
    c->item[first].first = spread ? 1 / shared.stages : 1;
    c->item[last].last = spread ? 1 / shared.stages : 1;
}

static inline void hold(calc_kernel_chunking *c)
{
    for (int i = 0; i < c->classes; i++) {
        c->held[i] = calc_stage_held(&shared, job.schedule, &c->item[i], c->chunks);
    }
}

/* Without experts lanes do not differ in theirs. */
static inline void share_links(void)
{
    for (size_t i = 1; i < panel.count; i++) {
#define CALC_X(member) links[i].member = links[0].member;
        CALC_KERNEL_EXPERT_LINK_LIST(CALC_X)
#undef CALC_X
    }
}

/* Up to four classes of stages.
 * @param gaps  some may have no stages */
static inline void random_chunking(calc_kernel_chunking *c, bool gaps)
{
    bool whole = shared.compat || !gaps;
    double left = shared.stages;
    *c = (calc_kernel_chunking){.chunks = panel_case_count(&rng, 4),
                                .overlapped = (double)calc_rng_below(&rng, 2),
                                .classes = 1 + (int)calc_rng_below(&rng, CALC_MAX_STAGE_CLASSES),
                                .experts = calc_rng_below(&rng, 2) > 0};
    if (job.schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        c->chunks = 1; /* others have none */
    }
    bool even = calc_compat_has(shared.compat, CALC_COMPAT_EVEN_STAGES);
    c->classes = even && (!gaps || calc_rng_below(&rng, 2)) ? 1 : c->classes;
    c->classes = gaps || left >= c->classes ? c->classes : 1;
    for (int i = 0; i < c->classes; i++) {
        double others = gaps ? 0 : c->classes - 1 - i;
        double least = gaps ? 0 : 1;
        bool all = i + 1 == c->classes;
        double some = least + (double)calc_rng_below(&rng, (uint32_t)(left - others - least) + 1);
        c->item[i] = random_class(all ? left : some, c->experts, whole);
        c->item[i].position = shared.stages - left;
        left -= c->item[i].stages;
    }
    if (even && shared.recompute_blocks == 0) {
        c->item[0].missing = (double)calc_rng_below(&rng, (uint32_t)c->item[0].stages + 1);
        c->item[0].missing = fmin(c->item[0].missing, fmax(0, c->item[0].stages - 1));
    }
    put_ends(c);
    hold(c);
    if (!c->experts) {
        share_links();
    }
}

static inline void random_links(void)
{
    for (size_t i = 0; i < panel.count; i++) {
#define CALC_X(member) links[i].member = panel_case_number(&rng);
        CALC_STAGE_LINK_LIST(CALC_X)
#undef CALC_X
        const calc_stage_links own = links[i];
        links[i] = links[0];
        links[i].message_s = own.message_s;
        links[i].back_message_s = own.back_message_s;
#define CALC_X(member) links[i].member = own.member;
        CALC_KERNEL_EXPERT_LINK_LIST(CALC_X)
#undef CALC_X
    }
}

/* What lanes have of their own, for pipelines. Without experts nobody looks at theirs. */
static inline void put_links(const calc_kernel_chunking *c, calc_kernel_pipelines *to)
{
    links_of_all = links[0];
    for (size_t i = 0; i < calc_panel_whole(panel.count); i++) {
        const calc_stage_links *own = &links[i < panel.count ? i : 0];
        to->message_s.of[i] = own->message_s;
        to->back_message_s.of[i] = own->back_message_s;
#define CALC_X(member)                                                                             \
    to->member.of[i] = c->experts ? own->member : NAN;                                             \
    links_of_all.member = c->experts ? 0 : links[0].member;
        CALC_KERNEL_EXPERT_LINK_LIST(CALC_X)
#undef CALC_X
    }
}

static inline void random_allowed(void)
{
    uint32_t some = 1 + calc_rng_below(&rng, 15);
    for (uint32_t i = 0; i < 4; i++) {
        allowed[i / 2][i % 2] = (some >> i & 1) != 0;
    }
}

static inline void random_lanes(void)
{
    shared = panel_case_shared(&rng);
    panel_case_fill(&rng, &shared, &panel, terms);
    job = (calc_kernel_job){
        .panel = &panel,
        .shared = &shared,
        .schedule = (calc_pipeline_schedule)calc_rng_below(&rng, CALC_PIPELINE_SCHEDULE_COUNT),
        .screen = &screen,
        .numerator = panel_case_count(&rng, 512),
    };
    if (calc_rng_below(&rng, 2) > 0) {
        job.schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    }
    if (job.schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE && fmod(shared.stages, 2) != 0) {
        job.schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    }
    random_links();
    random_allowed();
}

static inline calc_stage_step step_of(const calc_kernel_chunking *c, size_t lane, bool least)
{
    return calc_kernel_lane_step(&job, c, &links[lane], lane, least);
}

/* Capacities that some lane needs to the byte, or any. */
static inline void random_capacities(const calc_kernel_chunking *c)
{
    calc_stage_step one = step_of(c, calc_rng_below(&rng, (uint32_t)panel.count), true);
    calc_stage_step other = step_of(c, calc_rng_below(&rng, (uint32_t)panel.count), true);
    bool edge = calc_rng_below(&rng, 4) > 0;
    job.tier1_capacity_bytes = edge ? one.tier1_bytes : panel_case_number(&rng) * 1e4;
    edge = calc_rng_below(&rng, 4) > 0;
    job.tier2_capacity_bytes = edge ? other.tier2_bytes : panel_case_number(&rng) * 1e4;
}

static inline double least_s(const calc_stage_step *step)
{
    double least = CALC_KERNEL_NEVER_S;
    for (int i = 0; i < 4; i++) {
        double s = step->total_s[i / 2][i % 2];
        least = allowed[i / 2][i % 2] && s < least ? s : least;
    }
    return least;
}

/* Rates like those of the lanes, or none. */
static inline void random_screen(const calc_kernel_chunking *c)
{
    calc_screen_clear(&screen, job.tier1_capacity_bytes, job.tier2_capacity_bytes);
    for (uint32_t n = calc_rng_below(&rng, 8); n > 0; n--) {
        calc_stage_step s = step_of(c, calc_rng_below(&rng, (uint32_t)panel.count), true);
        double rate = job.numerator / fmax(least_s(&s), 1e-30) * (1 + calc_rng_real(&rng));
        calc_screen_add(&screen, rate, s.tier1_bytes * calc_rng_real(&rng),
                        s.tier2_bytes * calc_rng_real(&rng));
    }
    calc_stage_step s = step_of(c, 0, true);
    bool top = calc_rng_below(&rng, 3) == 0;
    job.least_longest_s = top ? least_s(&s) : 0;
    job.most_s = calc_rng_below(&rng, 3) ? CALC_KERNEL_NEVER_S : 2 * least_s(&s);
}

static inline bool fits(double tier1_bytes, double tier2_bytes)
{
    return tier1_bytes <= job.tier1_capacity_bytes && tier2_bytes <= job.tier2_capacity_bytes;
}

/* No longer step of such needs matters. */
static inline double longest_s(double tier1_bytes, double tier2_bytes)
{
    double screened_s = calc_screen_longest_s(&screen, job.numerator, tier1_bytes, tier2_bytes);
    return fits(tier1_bytes, tier2_bytes) ? fmin(fmax(screened_s, job.least_longest_s), job.most_s)
                                          : -1;
}

#endif
