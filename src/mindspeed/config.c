#include "mindspeed/config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"

char *calc_mindspeed_config_name(const calc_mindspeed_config *config,
                                 calc_mindspeed_generation generation,
                                 char text[CALC_MINDSPEED_NAME])
{
    int length = snprintf(text, CALC_MINDSPEED_NAME, "PP%d_TP%d_DP%d_CP%d_UP%d_MBS%d", config->pp,
                          config->tp, config->dp, config->cp, config->up, config->mbs);
    if (generation == CALC_MINDSPEED_GEN2) {
        snprintf(text + length, CALC_MINDSPEED_NAME - (size_t)length, "_VP%d_EP%d", config->vpp,
                 config->ep);
    }
    return text;
}

enum { LEAST_TOKENS = 4096 /* tokens of a rank, if sequences are split */, MOST_MBS = 2 };

/* A walk through the space with nested dimensions. */
typedef struct walk {
    const calc_mindspeed_job *job;
    calc_mindspeed_generation generation;
    calc_mindspeed_space *space;
    int devices;
    calc_mindspeed_config at;
    bool no_memory;
} walk;

static void keep(walk *w)
{
    calc_mindspeed_space *s = w->space;
    if (!CALC_PUSH(s->config, s->count, s->capacity, &w->at)) {
        w->no_memory = true;
    }
}

static void over_experts(walk *w)
{
    int ranks = w->at.dp * w->at.cp * w->at.up;
    w->at.ep = 0;
    if (w->job->experts == 0 || w->generation == CALC_MINDSPEED_GEN1) {
        keep(w);
        return;
    }
    for (int ep = 1; ep <= w->at.dp && !w->no_memory; ep++) {
        if (w->job->experts % ep == 0 && w->at.dp % ep == 0 && ranks % ep == 0) {
            w->at.ep = ep;
            keep(w);
        }
    }
}

static void over_chunks(walk *w)
{
    int layers = w->job->layers / w->at.pp;
    int microbatches = w->job->batch / w->at.dp / w->at.mbs;
    bool chunks =
        w->generation == CALC_MINDSPEED_GEN2 && w->at.pp > 2 && microbatches % w->at.pp == 0;
    for (int vpp = 1; vpp <= (chunks ? layers : 1) && !w->no_memory; vpp++) {
        if (layers % vpp == 0) {
            w->at.vpp = vpp;
            over_experts(w);
        }
    }
}

static void over_microbatches(walk *w)
{
    int each = w->job->batch / w->at.dp;
    int most = w->generation == CALC_MINDSPEED_GEN2 && each > MOST_MBS ? MOST_MBS : each;
    for (int mbs = 1; mbs <= most && !w->no_memory; mbs++) {
        if (each % mbs == 0) {
            w->at.mbs = mbs;
            over_chunks(w);
        }
    }
}

/* Requirements of the algorithms on heads and sequences. */
static bool attends(const walk *w)
{
    bool all = w->generation == CALC_MINDSPEED_GEN1;
    bool heads = w->job->heads % (w->at.up * w->at.tp) == 0;
    bool tokens = w->job->seq % (2 * w->at.cp) == 0;
    int split = w->at.cp * w->at.up;
    bool wide = all || split == 1 || w->job->seq >= (int64_t)LEAST_TOKENS * split;
    return (heads || (!all && w->at.up == 1)) && (tokens || (!all && w->at.cp == 1)) && wide;
}

static void over_context(walk *w)
{
    int ranks = w->devices / (w->at.pp * w->at.tp);
    for (int split = 1; split <= ranks && !w->no_memory; split++) {
        w->at.dp = ranks / split;
        bool fits = ranks % split == 0 && w->job->batch % w->at.dp == 0;
        for (int up = 1; fits && up <= split && !w->no_memory; up++) {
            w->at.up = up;
            w->at.cp = split / up;
            if (split % up == 0 && attends(w)) {
                over_microbatches(w);
            }
        }
    }
}

static void over_tensor(walk *w)
{
    int ranks = w->devices / w->at.pp;
    int most = ranks < w->job->per_node ? ranks : w->job->per_node;
    int heads = w->job->heads, groups = w->job->groups;
    for (int tp = 1; tp <= most && !w->no_memory; tp *= 2) {
        if (ranks % tp == 0 && heads % tp == 0 && (groups <= 1 || groups % tp == 0)) {
            w->at.tp = tp;
            over_context(w);
        }
    }
}

calc_status calc_mindspeed_space_list(const calc_mindspeed_job *job,
                                      calc_mindspeed_generation generation,
                                      calc_mindspeed_space *space)
{
    walk w = {.job = job,
              .generation = generation,
              .space = space,
              .devices = calc_mindspeed_devices(job)};
    *space = (calc_mindspeed_space){0};
    for (int pp = 1; pp <= w.devices && pp <= job->layers && !w.no_memory; pp++) {
        if (w.devices % pp == 0 && job->layers % pp == 0) {
            w.at.pp = pp;
            over_tensor(&w);
        }
    }
    return w.no_memory ? CALC_ERR_NOMEM : CALC_OK;
}

void calc_mindspeed_space_free(calc_mindspeed_space *space)
{
    free(space->config);
    *space = (calc_mindspeed_space){0};
}
