#include "aiak/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "spec/absent.h"
#include "spec/field.h"

static const char *const chips[] = {"a800", "h800", "h100", "kunlun3", "ascend_910b", NULL};

static bool read_one(const char *text, size_t length, calc_aiak_task *out, char *complaint,
                     size_t size)
{
    char name[32], number[16], list[128] = "";
    double most = CALC_AIAK_UNLIMITED;
    size_t named = strcspn(text, ":,");
    snprintf(name, sizeof name, "%.*s", (int)named, text);
    int chip = calc_choice_index(chips, name);
    if (chip < 0) {
        snprintf(complaint, size, "\"%s\" is no chip: %s", name,
                 calc_append_choices(list, sizeof list, chips));
        return false;
    }
    snprintf(number, sizeof number, "%.*s", named < length ? (int)(length - named - 1) : 0,
             text + named + 1);
    if (named < length && (!calc_decimal_read(number, true, -1, 999999999, &most) || most == 0)) {
        snprintf(complaint, size, "\"%.*s\" is no number of %s: 1 or more, or -1 for any",
                 (int)(length - named - 1), text + named + 1, name);
        return false;
    }
    for (int i = 0; i < out->chips; i++) {
        if (out->chip[i] == chips[chip]) {
            snprintf(complaint, size, "%s is named twice", name);
            return false;
        }
    }
    out->chip[out->chips] = chips[chip];
    out->most[out->chips++] = (int64_t)most;
    return true;
}

bool calc_aiak_chips_parse(const char *text, calc_aiak_task *out, char *complaint, size_t size)
{
    out->chips = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!read_one(text, length, out, complaint, size)) {
            return false;
        }
        if (!text[length]) {
            return true;
        }
        text += length + 1;
    }
}

bool calc_aiak_chips_suffice(const calc_aiak_task *task, char *complaint, size_t size)
{
    int64_t all = 0;
    for (int i = 0; i < task->chips; i++) {
        if (task->most[i] == CALC_AIAK_UNLIMITED) {
            return true;
        }
        all += task->most[i];
    }
    if (all < task->gpus) {
        snprintf(complaint, size, "%jd processors at most, fewer than %jd", all, task->gpus);
    }
    return all >= task->gpus;
}

const char *const calc_aiak_models[] = {
    "llama-7b",  "llama-65b",      "llama-175b",    "llama-540b",     "llama-1800b",
    "llama2-7b", "llama2-13b",     "llama2-70b",    "llama2-35b",     "glm-130b",
    "glm-67b",   "galactica-6.7b", "galactica-30b", "galactica-120b", NULL};

/* ---- Layouts --------------------------------------------------------------------------------- */

void calc_aiak_exec(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                    calc_balance_recompute recompute, calc_exec *e)
{
    static const calc_activation_recompute words[CALC_BALANCE_RECOMPUTES] = {
        CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY,
        CALC_ACTIVATION_RECOMPUTE_FULL};
    bool split = sizes->tensor_par > 1, sharded = sizes->data_par > 1;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), e);
    e->num_procs = task->gpus;
    e->pipeline_par = sizes->stages;
    e->pipeline_interleaving = 1;
    e->batch_size = task->batch;
    e->microbatch_size = sizes->microbatch;
    e->seq_size = task->sequence;
    e->training = true;
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    e->pipeline_par_net = 1;
    calc_strategy *s = &e->strategy;
    s->tensor_par = sizes->tensor_par;
    s->data_par = sizes->data_par;
    s->data_par_net = 1;
    s->datatype = CALC_DATATYPE_BFLOAT16;
    s->fused_activation = true;
    s->flash_attention = true;
    s->attention_type = task->app->kv_heads > 0 && task->app->kv_heads < task->app->attn_heads
                            ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                            : CALC_ATTENTION_TYPE_MULTIHEAD;
    s->activation_recompute = words[recompute];
    s->optimizer_sharding = sharded;
    s->zero_stage = sharded;
    s->tensor_par_comm_type =
        split ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    /* Full recomputation repeats the all-gather unchanged. */
    s->seq_par_ag_redo = split && recompute != CALC_BALANCE_FULL;
    s->memory_model = CALC_MEMORY_MODEL_MEGATRON;
}

void calc_aiak_layouts_of(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                          calc_aiak_layouts *out)
{
    for (int how = 0; how < CALC_BALANCE_RECOMPUTES; how++) {
        calc_aiak_exec(task, sizes, (calc_balance_recompute)how, &out->exec[how]);
        for (int i = 0; i < task->chips; i++) {
            calc_layout_of(task->app, task->system[i], &out->exec[how], CALC_COMPAT_NONE, NULL,
                           NULL, &out->of[i][how]);
        }
    }
}

/* ---- The problem ----------------------------------------------------------------------------- */

void calc_aiak_chips_of(const calc_aiak_layouts *layouts, const calc_aiak_chain *chain,
                        calc_balance_chip out[CALC_AIAK_CHIPS])
{
    for (int i = 0; i < chain->kinds; i++) {
        int chip = chain->chip[i];
        const calc_layout *of = layouts->of[chip];
        out[i] =
            (calc_balance_chip){.full = &of[CALC_BALANCE_FULL], .none = &of[CALC_BALANCE_NONE]};
        out[i].selective = chain->selective[i] ? &of[CALC_BALANCE_SELECTIVE] : NULL;
    }
}

const char *calc_aiak_problem(const calc_aiak_task *task, const calc_aiak_layouts *layouts,
                              const calc_aiak_chain *chain, calc_balance_problem *out)
{
    calc_balance_chip chip[CALC_AIAK_CHIPS];
    int of_stage[CALC_BALANCE_STAGES], stage = 0;
    for (int i = 0; i < chain->kinds; i++) {
        for (int left = chain->stages[i]; left > 0 && stage < CALC_BALANCE_STAGES; left--) {
            of_stage[stage++] = i;
        }
    }
    calc_aiak_chips_of(layouts, chain, chip);
    const char *why = calc_balance_of_layouts(chip, chain->kinds, of_stage, out);
    if (why) {
        return why;
    }
    out->may_select = false;
    out->alike_on_chip = true;
    for (int i = 0; i < chain->kinds; i++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS && chain->selective[i]; kind++) {
            calc_balance_layer *layer = &out->layer[i][kind]; /* always recomputes in parts */
            layer->agrad_s += layer->again_s[CALC_BALANCE_SELECTIVE];
            for (int again = 0; again < CALC_BALANCE_RECOMPUTES; again++) {
                layer->again_s[again] = 0;
                layer->flight_bytes[again] = layer->flight_bytes[CALC_BALANCE_SELECTIVE];
            }
        }
    }
    for (int i = 0; i < stage; i++) {
        out->place[i].again_s = out->place[i].again_bytes = 0; /* the head as without */
        if (chain->selective[of_stage[i]]) {
            out->stage[i].working_bytes = 0;
        }
    }
    if (chain->kinds == 1) {
        out->may_full = !chain->selective[0];
        out->least_layers = out->most_layers = (int)(task->app->num_blocks / out->shape.stages);
    }
    return NULL;
}

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
    double ahead = fmin((double)bound->sizes.stages, count) - 1, per_s = 0;
    double stays_per_s = 0, fastest_s = INFINITY;
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
        int step, most = calc_aiak_most_stages(task, &bound->sizes, fastest, &step);
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
