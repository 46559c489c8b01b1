#include "mindspeed/memory.h"

#define GIB 1073741824.0
/* Buffers of the runtime and of collectives, the same for every configuration. */
#define RUNTIME_BYTES (4.5 * GIB)
#define RING_MASK_BYTES (2048.0 * 2048) /* the mask of causal attention around a ring */

enum { ELEMENT = 2 /* bytes of a float16 or bfloat16 number */ };

/* The first multiplication of a gated feed-forward layer has two matrices, joined in one. */
static double widened(const calc_mindspeed_job *job)
{
    return job->swiglu ? 2.0 * job->ffn : job->ffn;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static double parameters(const calc_mindspeed_job *job, const calc_mindspeed_config *c)
{
    double h = job->hidden;
    double layers = (double)job->layers / c->pp;
    double experts = job->experts > 0 ? job->experts : 1;
    double matrices = job->swiglu ? 3 : 2;
    double feedforward = matrices * h * job->ffn * experts;
    double attention = 2 * h * h * (1 + (double)job->groups / job->heads);
    double norms = 4 * h; /* two per layer, each with a scale and a shift */
    double final_norm = 2 * h / c->pp;
    double embedding = h * job->vocab;
    double tail = job->untied && c->pp == 1 ? embedding : 0;
    double rest = layers * (attention + norms) + final_norm + embedding + tail;
    return rest / c->tp + layers * feedforward / c->tp / (c->ep > 0 ? c->ep : 1);
}

/* Memory of the parameters' states, by format, sharding and reuse: MindSpeed's table of static
 * memory. */
static void take_state(const calc_mindspeed_job *job, const calc_mindspeed_config *c,
                       calc_mindspeed_memory *m)
{
    double n = m->parameters;
    bool reuse = job->reuse_fp32;
    double moments = job->distributed_optimizer ? 8 * n / c->dp : 8 * n;
    m->weight_bytes = reuse && !job->fp16 ? 0 : 2 * n;
    m->grad_bytes = job->fp16 ? 2 * n : 4 * n;
    m->optimizer_bytes = (job->fp16 && !reuse ? 8 : 4) * n + moments;
}

/* ---- Activations ----------------------------------------------------------------------------- */

static double feedforward_bytes(const calc_mindspeed_job *job, const calc_mindspeed_config *c,
                                double tokens)
{
    double exchanged = 0;
    if (job->experts > 0) {
        double ep = c->ep > 0 ? c->ep : 1;
        double local = job->experts / ep;
        tokens *= ep * job->topk / job->experts * local;
        exchanged = 2 * ELEMENT * tokens * job->hidden;
    }
    double wide = ELEMENT * tokens * widened(job) / c->tp;
    double activated = job->recompute_activation_function ? 0 : job->swiglu ? wide / 2 : wide;
    return wide + activated + ELEMENT * tokens / c->tp * job->hidden + exchanged;
}

double calc_mindspeed_memory_layer_bytes(const calc_mindspeed_job *job,
                                         const calc_mindspeed_config *c)
{
    double tokens = (double)job->seq / ((double)c->cp * c->up) * c->mbs;
    double heads = (double)job->heads / c->tp;
    double groups = (double)job->groups / c->tp;
    double narrow = ELEMENT * tokens / c->tp * job->hidden;
    double attended = ELEMENT * tokens * heads * job->head;
    double attention = ELEMENT * tokens * (heads + 2 * groups) * job->head + attended + narrow;
    attention += c->up > 1 ? 4 * attended : 0;
    attention += c->cp > 1 ? RING_MASK_BYTES : 0;
    return 2 * narrow + (job->swap_attention ? 0 : attention) + feedforward_bytes(job, c, tokens);
}

/* Layers whose activations are kept at the same time, with chunks visited in turn. */
static double layers_kept(const calc_mindspeed_job *job, const calc_mindspeed_config *c)
{
    double layers = (double)job->layers / c->pp;
    int in_flight = c->vpp > 1 ? c->pp * c->vpp + c->pp - 1 : c->pp;
    return layers / c->vpp * in_flight;
}

/* ---- Total ----------------------------------------------------------------------------------- */

calc_mindspeed_memory calc_mindspeed_memory_of(const calc_mindspeed_job *job,
                                               const calc_mindspeed_config *config)
{
    calc_mindspeed_memory m = {.parameters = parameters(job, config)};
    take_state(job, config, &m);
    m.activation_bytes = job->full_recompute ? 0
                                             : calc_mindspeed_memory_layer_bytes(job, config) *
                                                   layers_kept(job, config);
    m.peak_bytes =
        m.weight_bytes + m.grad_bytes + m.optimizer_bytes + m.activation_bytes + RUNTIME_BYTES;
    return m;
}
