/* The pipeline of schedules beside plain 1F1B: stage_step.h hands them its classes of stages. */
#include <math.h>

#include "model/schedule/schedule.h"
#include "model/schedule/schedule_sim.h"
#include "model/stages/stage_step.h"
#include "spec/schedule.h"

enum { PARTS = 1024 }; /* of the model, at most, in a simulation */

static calc_schedule_shape shape_of(const calc_stage_terms *t, calc_pipeline_schedule schedule,
                                    double chunks)
{
    bool two = calc_schedule_traits_of(schedule).chunks == 2;
    return (calc_schedule_shape){.kind = schedule,
                                 .stages = (int64_t)t->stages,
                                 .chunks = two ? 2 : (int64_t)chunks,
                                 .microbatches = (int64_t)t->microbatches};
}

calc_stage_class calc_stage_chunk(const calc_stage_terms *t, const calc_stage_class *c,
                                  int64_t chunks, int64_t chunk)
{
    double count = (double)chunks;
    double blocks = c->dense + c->moe;
    bool first = chunk == 0;
    bool last = chunk == chunks - 1;
    bool spread = c->first > 0 && c->first < 1;
    /* Ends that count as a block take the place of one in the chunk they are in. */
    double first_end = t->head_as_blocks > 0 ? c->first : 0;
    double last_end = t->head_as_blocks * c->last;
    double even = (blocks + first_end + last_end) / count;
    double mine = even - first * first_end - last * last_end;
    double before = (double)chunk * even - (first ? 0 : first_end);
    calc_stage_class out = {
        .stages = 1,
        .position = c->position,
        .dense = blocks > 0 ? mine * c->dense / blocks : 0,
        .first = spread ? c->first / count : first * c->first,
        .last = spread ? c->last / count : last * c->last,
    };
    if (t->dense_first && t->stages > 1 && c->position == 0 && !spread) {
        out.dense = fmin(mine, calc_max(0, c->dense - before));
    }
    out.moe = mine - out.dense;
    return out;
}

calc_stage_pass calc_stage_chunk_pass(const calc_stage_terms *t, const calc_stage_links *l,
                                      const calc_stage_class *c, double chunks, int64_t parts,
                                      int64_t chunk, double exposed)
{
    calc_stage_class mine = calc_stage_chunk(t, c, parts, chunk);
    if (t->recompute_blocks <= 0) {
        return calc_stage_pass_of(t, l, &mine, chunks / (double)parts, exposed);
    }
    calc_stage_terms terms = *t;
    /* Blocks that recompute are spread over the chunks of a stage as all its blocks are. */
    double blocks = c->dense + c->moe;
    terms.recompute_blocks *= blocks > 0 ? (mine.dense + mine.moe) / blocks : 0;
    return calc_stage_pass_of(&terms, l, &mine, chunks / (double)parts, exposed);
}

/* Times of all parts of the model, in the order of calc_schedule_sim.
 * @return whether they are all the same */
static bool set_parts(const calc_stage_terms *t, const calc_stage_links *l,
                      const calc_schedule_shape *shape, const calc_stage_class *c, double chunks,
                      double exposed, calc_schedule_pass *pass)
{
    bool back = shape->kind != CALC_PIPELINE_SCHEDULE_1F1B;
    bool equal = true;
    for (int64_t chunk = 0; chunk < shape->chunks; chunk++) {
        calc_schedule_pass *of = pass + chunk * shape->stages;
        int64_t stage = 0;
        for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
            if (c[i].stages <= 0) {
                continue;
            }
            const calc_stage_pass p =
                calc_stage_chunk_pass(t, l, &c[i], chunks, shape->chunks, chunk, exposed);
            for (int64_t left = (int64_t)c[i].stages; left > 0; left--, stage++) {
                calc_schedule_pass *at = &of[back && chunk ? shape->stages - 1 - stage : stage];
                *at = (calc_schedule_pass){p.fw_s, p.agrad_s, p.wgrad_s};
                equal = equal && at->fw_s == pass->fw_s && at->bw_s == pass->bw_s &&
                        at->wgrad_s == pass->wgrad_s;
            }
        }
    }
    return equal;
}

static calc_schedule_chunk chunk_of(const calc_stage_pass *p)
{
    return (calc_schedule_chunk){p->fw_s, p->agrad_s + p->wgrad_s};
}

/* A stage whose chunks are alike except one: returns the extra time of that one. */
static calc_schedule_chunk tell_apart(calc_schedule_chunk *all, const calc_stage_pass *one,
                                      double chunks)
{
    calc_schedule_chunk special = chunk_of(one);
    all->fw_s = (all->fw_s * chunks - special.fw_s) / (chunks - 1);
    all->bw_s = (all->bw_s * chunks - special.bw_s) / (chunks - 1);
    return (calc_schedule_chunk){special.fw_s - all->fw_s, special.bw_s - all->bw_s};
}

/* Dense blocks before others may be in several chunks of the first stage: all but the first of
 * these are taken for alike. */
static double interleaved_s(const calc_stage_terms *t, const calc_stage_links *l,
                            const calc_stage_class *c, const calc_stage_pass *pass, double chunks,
                            double exposed)
{
    calc_schedule_interleaved x = {
        .stages = t->stages, .chunks = chunks, .microbatches = t->microbatches};
    int last = 0;
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        calc_schedule_chunk chunk = chunk_of(&pass[i]);
        x.of[i].stages = c[i].stages;
        x.of[i].chunk = (calc_schedule_chunk){chunk.fw_s / chunks, chunk.bw_s / chunks};
        last = c[i].stages > 0 ? i : last;
    }
    int64_t parts = (int64_t)chunks;
    if (c[0].stages == 1) { /* those in use come first */
        calc_stage_pass p = calc_stage_chunk_pass(t, l, &c[0], chunks, parts, 0, exposed);
        x.first = tell_apart(&x.of[0].chunk, &p, chunks);
    }
    if (c[last].stages == 1) {
        calc_stage_pass p =
            calc_stage_chunk_pass(t, l, &c[last], chunks, parts, parts - 1, exposed);
        x.last = tell_apart(&x.of[last].chunk, &p, chunks);
    }
    return calc_schedule_interleaved_s(&x);
}

double calc_stage_scheduled_s(const calc_stage_terms *t, const calc_stage_links *l,
                              calc_pipeline_schedule schedule, const calc_stage_class *c,
                              const calc_stage_pass *pass, double chunks, double exposed)
{
    calc_schedule_shape shape = shape_of(t, schedule, chunks);
    calc_schedule_times times;
    int classes = 0;
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        times.of[i] =
            (calc_schedule_class){c[i].stages, pass[i].fw_s, pass[i].agrad_s, pass[i].wgrad_s};
        classes += c[i].stages > 0;
    }
    if (classes > 1 && calc_schedule_interleaved_fits(&shape)) {
        return interleaved_s(t, l, c, pass, chunks, exposed);
    }
    calc_schedule_pass part[PARTS];
    bool few = shape.stages * shape.chunks <= PARTS &&
               calc_schedule_check(&shape) == CALC_SCHEDULE_OK && calc_schedule_steady_fits(&shape);
    if (schedule == CALC_PIPELINE_SCHEDULE_GPIPE || !few ||
        set_parts(t, l, &shape, c, chunks, exposed, part)) {
        return calc_schedule_s(&shape, &times);
    }
    return calc_schedule_steady_s(&shape, part);
}

double calc_stage_scheduled_in_flight(const calc_stage_terms *t, calc_pipeline_schedule schedule,
                                      double position)
{
    calc_schedule_shape shape = shape_of(t, schedule, 1);
    return calc_schedule_in_flight(&shape, (int64_t)position);
}

double calc_stage_scheduled_peak(const calc_stage_terms *t, calc_pipeline_schedule schedule,
                                 const calc_stage_class *c)
{
    calc_schedule_shape shape = shape_of(t, schedule, 1);
    int64_t first = (int64_t)c->position;
    return (double)calc_schedule_fullest(&shape, first, first + (int64_t)c->stages - 1);
}
