#include "aiak/sizes.h"

#include <math.h>

#include "aiak/gpus.h"

/* ---- Sizes ----------------------------------------------------------------------------------- */

static bool heads_divide(const calc_app *app, int tensor_par)
{
    int64_t kept = app->kv_heads > 0 ? app->kv_heads : app->attn_heads;
    return app->attn_heads % tensor_par == 0 &&
           (kept % tensor_par == 0 || tensor_par % kept == 0) && app->hidden % tensor_par == 0 &&
           app->feedforward % tensor_par == 0;
}

static int64_t microbatches(const calc_aiak_task *task, const calc_aiak_sizes *s)
{
    return task->batch / (s->data_par * s->microbatch);
}

/* Adds all micro-batch sizes for the other sizes. */
static size_t add(const calc_aiak_task *task, calc_aiak_sizes s, calc_aiak_sizes *out,
                  size_t capacity, size_t count)
{
    for (s.microbatch = 1; s.microbatch <= CALC_AIAK_MOST_MICROBATCH; s.microbatch *= 2) {
        if (task->batch % (s.data_par * s.microbatch) == 0 && microbatches(task, &s) >= s.stages) {
            if (count < capacity) {
                out[count] = s;
            }
            count++;
        }
    }
    return count;
}

size_t calc_aiak_sizes_list(const calc_aiak_task *task, calc_aiak_sizes *out, size_t capacity)
{
    size_t count = 0;
    int64_t most =
        task->app->num_blocks < CALC_BALANCE_STAGES ? task->app->num_blocks : CALC_BALANCE_STAGES;
    for (int tensor = 1; tensor <= CALC_AIAK_NODE; tensor *= 2) {
        int64_t rest = task->gpus / tensor;
        if (task->gpus % tensor != 0 || !heads_divide(task->app, tensor)) {
            continue;
        }
        for (int64_t stages = 1; stages <= most; stages++) {
            if (rest % stages == 0) {
                calc_aiak_sizes s = {(int)stages, tensor, 1, rest / stages};
                count = add(task, s, out, out ? capacity : 0, count);
            }
        }
    }
    return count;
}

/* ---- Chips ----------------------------------------------------------------------------------- */

static int common(int a, int b)
{
    return b == 0 ? a : common(b, a % b);
}

int calc_aiak_most_stages(const calc_aiak_task *task, const calc_aiak_sizes *sizes, int chip,
                          int *step)
{
    int64_t each = sizes->data_par * sizes->tensor_par;
    int64_t most =
        task->most[chip] == CALC_AIAK_UNLIMITED ? sizes->stages : task->most[chip] / each;
    int node = task->gpus < CALC_AIAK_NODE ? 1 : CALC_AIAK_NODE;
    *step = node / common(node, (int)(each % node));
    return (int)(most < sizes->stages ? most - most % *step : sizes->stages);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* One stage has at least the mean number of layers, and reduces and updates their weights. */
static double after_s(const calc_layout *l, double layers)
{
    calc_stage_class c = {.stages = 1, .dense = layers};
    calc_stage_pass none = {0};
    calc_stage_weights w = calc_stage_weights_sum(&l->terms, &c);
    calc_stage_reduction r = calc_stage_reduction_sum(&l->terms, &l->links, &c, &w, &none, 1);
    return r.reduce_s + r.gather_s + calc_stage_optimizer_sum(&l->terms, &c, &w) +
           l->terms.overhead_s;
}

double calc_aiak_least_s(const calc_aiak_task *task, const calc_aiak_bound *bound,
                         const int stages[CALC_AIAK_CHIPS])
{
    double layers = (double)task->app->num_blocks;
    double count = (double)microbatches(task, &bound->sizes);
    double ahead = fmin((double)bound->sizes.stages, count) - 1;
    double per_s = 0;
    double stays_per_s = 0;
    double fastest_s = INFINITY;
    for (int i = 0; i < task->chips; i++) {
        if (stages[i] > 0) {
            double layer_s = bound->layer_s[i];
            per_s += stages[i] / layer_s;
            stays_per_s += stages[i] / ((count - 1) * layer_s - ahead * bound->forward_s[i]);
            fastest_s = fmin(fastest_s, layer_s);
        }
    }
    double busy_s = count * layers / per_s;
    double around_s = layers / stays_per_s + layers * fastest_s;
    return fmax(busy_s, around_s) * (1 - 1e-9) * (1 + bound->growth) + bound->after_s;
}

bool calc_aiak_fastest(const calc_aiak_task *task, const calc_aiak_bound *bound,
                       int stages[CALC_AIAK_CHIPS])
{
    bool taken[CALC_AIAK_CHIPS] = {false};
    int left = bound->sizes.stages;
    for (int i = 0; i < CALC_AIAK_CHIPS; i++) {
        stages[i] = 0;
    }
    for (int round = 0; round < task->chips && left > 0; round++) {
        int fastest = 0;
        for (int i = 0; i < task->chips; i++) {
            bool faster = taken[fastest] || bound->layer_s[i] < bound->layer_s[fastest];
            fastest = !taken[i] && faster ? i : fastest;
        }
        int step;
        int most = calc_aiak_most_stages(task, &bound->sizes, fastest, &step);
        taken[fastest] = true;
        stages[fastest] = most < left ? most : left;
        left -= stages[fastest];
    }
    return left == 0;
}

void calc_aiak_bound_of(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                        const calc_aiak_layouts *layouts, calc_aiak_bound *out)
{
    double layers = (double)task->app->num_blocks / sizes->stages;
    *out = (calc_aiak_bound){.sizes = *sizes, .growth = INFINITY, .after_s = INFINITY};
    for (int i = 0; i < task->chips; i++) {
        const calc_stage_part *b = &layouts->of[i][CALC_BALANCE_NONE].terms.block[0];
        out->layer_s[i] = b->fw_s + b->agrad_s + b->wgrad_s - b->spared_s;
        out->forward_s[i] = b->fw_s;
        out->growth = fmin(out->growth, layouts->of[i][CALC_BALANCE_NONE].terms.growth);
        out->after_s = fmin(out->after_s, after_s(&layouts->of[i][CALC_BALANCE_NONE], layers));
    }
    int stages[CALC_AIAK_CHIPS];
    bool enough = calc_aiak_fastest(task, out, stages);
    out->least_s = enough ? calc_aiak_least_s(task, out, stages) : (double)INFINITY;
}
