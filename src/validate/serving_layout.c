#include "validate/serving_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/serving_program.h"

static int64_t whole(double number)
{
    return (int64_t)(number + 0.5);
}

/* A parallel size: blank and 0 are 1. The product of three is a whole number still. */
static int64_t size_of(double number)
{
    enum { SIZE_MAX_PRINTED = 1000000 };
    return number > 1 ? whole(fmin(number, SIZE_MAX_PRINTED)) : 1;
}

/* GPUs that hold a copy of the model, several times over. */
typedef struct pool {
    int64_t gpus, copies;
    int64_t world;  /* of a copy */
    int64_t tensor; /* ranks that split attention; those that split its requests are the rest */
    int64_t
        expert; /* ranks that experts are spread over; those that split an expert are the rest */
} pool;

static const char uncounted[] = "how many GPUs each of two pools has is not published";
static const char inconsistent[] = "the sizes of a pool are not those of its GPUs";

/* ---- Pools ----------------------------------------------------------------------------------- */

/* The number after "key=" in words that blanks part; `missing` if it is not there. */
static double number_of(const char *words, const char *key, double missing)
{
    size_t length = strlen(key);
    for (const char *at = words; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            return strtod(at + length + 1, NULL);
        }
    }
    return missing;
}

static bool says(const char *words, const char *pair)
{
    return strstr(words, pair) != NULL;
}

/* A pool of a disaggregated run. "dp_attention=True" is attention of every GPU for itself;
 * "attention_dp=n" counts the ranks. @return whether the sizes are those of its GPUs */
static bool read_pool(pool *out, const char *words, double gpus)
{
    int64_t copies = size_of(number_of(words, "workers", 1));
    int64_t tensor = size_of(number_of(words, "tp", 1));
    int64_t expert = size_of(number_of(words, "moe_ep", number_of(words, "ep", 1)));
    int64_t all = size_of(gpus);
    int64_t world = all / copies;
    int64_t requests = size_of(number_of(words, "attention_dp", 1));
    if (says(words, "dp_attention=True")) {
        requests = tensor == world || expert == world ? world : 0;
        tensor = 1;
    } else if (says(words, "dp_attention=False") && tensor == 1 && expert == world) {
        requests = world; /* of every GPU for itself, too: nothing else is left */
    }
    *out = (pool){all, copies, world, tensor, expert};
    return *words && all % copies == 0 && tensor * requests == world && world % expert == 0;
}

/* ---- Experts --------------------------------------------------------------------------------- */

/* Whether all ranks have all tokens: they split all layers. */
static bool is_replicated(const pool *p)
{
    return p->tensor > 1 && p->tensor == p->world;
}

/* How tokens reach their experts. An execution says it for both pools: where layers of the one that
 * prefills are split and its experts spread, its ranks have different tokens. */
static void send_to_experts(calc_exec *e, const pool *decode, const pool *prefill)
{
    calc_serving_program_spread(&e->strategy);
    if (!is_replicated(decode) && prefill->tensor > 1 && prefill->expert > 1) {
        e->strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    }
}

static void fill(calc_serving_map *map, const pool *p, int64_t stages)
{
    calc_exec *e = &map->exec;
    e->num_procs = p->gpus;
    e->pipeline_par = stages;
    e->strategy.tensor_par = p->tensor;
    e->strategy.data_par = p->gpus / (p->tensor * stages);
    e->strategy.expert_par = p->expert;
    e->strategy.expert_tensor_par = p->world / stages / p->expert;
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    e->strategy.context_par_net = e->strategy.expert_par_net = -1;
    e->strategy.expert_tensor_par_net = e->strategy.expert_data_par_net = -1;
    map->gpus = (double)p->gpus;
}

/* An execution says how experts are split for both pools, where one of them has not all tokens on
 * all ranks: over no more ranks than a prefill worker has, and where that has more it spreads them
 * over the rest. */
static void spread_prefill(calc_serving_map *map, const pool *decode, pool *prefill)
{
    int64_t split = is_replicated(decode) ? 1 : map->exec.strategy.expert_tensor_par;
    if (split > prefill->world && split % prefill->world == 0) {
        split = prefill->world;
        map->exec.strategy.expert_tensor_par = split;
        map->exec.strategy.expert_par = decode->world / split;
        calc_assumptions_add(&map->assumed, "the pool that decodes splits experts over as many "
                                            "ranks as the smaller one that prefills has");
    }
    bool own = is_replicated(prefill) && (is_replicated(decode) || prefill->expert > 1);
    if (!own && prefill->world / prefill->expert != split && prefill->world % split == 0) {
        prefill->expert = prefill->world / split;
        calc_assumptions_add(&map->assumed, "the prefill pool spreads experts over more ranks, "
                                            "instead of splitting them");
    }
}

/* ---- One pool, or two ------------------------------------------------------------------------ */

static const char *fill_two(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    calc_inference *i = &map->exec.inference;
    pool decode, prefill;
    if (!read_pool(&decode, r->decode_layout, r->disagg_decode_gpus) ||
        !read_pool(&prefill, r->prefill_layout, r->disagg_prefill_gpus)) {
        return inconsistent;
    }
    fill(map, &decode, 1);
    spread_prefill(map, &decode, &prefill);
    i->prefill_procs = prefill.gpus;
    i->prefill_tensor_par = prefill.tensor;
    i->prefill_expert_par = prefill.expert;
    send_to_experts(&map->exec, &decode, &prefill);
    map->gpus += (double)prefill.gpus;
    return NULL;
}

enum { TENSOR_MAX = 16 /* GPUs that split a layer in any engine */ };

/* Whether a copy of InferenceX's rows prints tp squared ranks of experts on as many GPUs where its
 * recipes (benchmarks/minimaxm2.5_*) have tp GPUs, and experts over all of them. */
static bool is_squared(const calc_serving_row *r)
{
    return strncmp(r->source, "aiconfigurator silicon_sample: InferenceX", 41) == 0 && r->tp > 1 &&
           r->dp == r->tp && r->ep == r->tp * r->dp && r->num_gpus == r->ep;
}

/* Those recipes give every GPU attention for itself in 4 bits only, where many requests run. */
static bool is_alone(const calc_serving_row *r)
{
    bool many = r->concurrency_or_batch >= 256;
    bool b300 = strncmp(r->gpu, "B300", 4) == 0;
    return strncmp(r->weight_dtype, "fp4", 3) == 0 && many && (b300 || r->isl <= 1024);
}

static const char *fill_one(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    int64_t gpus = size_of(r->num_gpus);
    int64_t tensor = size_of(r->tp), stages = size_of(r->pp);
    int64_t expert = size_of(r->ep), requests = size_of(r->dp);
    bool alone = strcmp(r->dp_attention, "True") == 0;
    if (!(r->num_gpus > 0) || !(r->tp > 0)) {
        return "number of GPUs, or how they split the model, not published";
    }
    if (strncmp(r->source, "InferenceX ", 11) == 0 && expert > 1) {
        /* Its sizes are of the whole model: attention for itself is within tp. */
        bool twice = gpus == tensor * stages * expert;
        if (twice) {
            map->output_tokens_per_s /= (double)expert;
            gpus = tensor * stages;
            calc_assumptions_add(&map->assumed,
                                 "GPUs are tp: the published count and rate have them ep times");
        }
        tensor = alone && tensor % requests == 0 ? tensor / requests : tensor;
    }
    if (is_squared(r)) {
        gpus = expert = tensor;
        alone = is_alone(r);
        requests = alone ? gpus : 1;
        tensor /= requests;
        calc_assumptions_add(&map->assumed,
                             "GPUs and ranks of experts are tp, as the recipe has them");
    }
    int64_t world = alone ? gpus : tensor * stages;
    if (tensor * stages * requests != gpus || world % (stages * expert) != 0) {
        return "the parallel sizes do not give the number of GPUs";
    }
    if (tensor > TENSOR_MAX) {
        return "pools of a disaggregated run, published as one that splits its layers over all";
    }
    const pool p = {gpus, gpus / world, world, tensor, expert};
    fill(map, &p, stages);
    send_to_experts(&map->exec, &p, &p);
    return NULL;
}

const char *calc_serving_layout_fill(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    bool two = *r->decode_layout || *r->prefill_layout || r->disagg_decode_gpus > 0;
    return !two ? fill_one(map) : r->disagg_decode_gpus > 0 ? fill_two(map) : uncounted;
}
