/* What the layers of a model keep of a sequence that is served: entries per token, tokens stored
 * and read, states, and how many sequences fit. Grouped-query attention (Ainslie et al. 2023,
 * arXiv 2305.13245) stores 2 g d numbers per token and block, latent attention (DeepSeek-V2, arXiv
 * 2405.04434) its latent and the rotary part of a key, a sliding window the last tokens only,
 * compressed attention (DeepSeek-V4) one entry for several tokens behind its window; an indexer
 * adds a key of its own. Linear mixers keep a state, whatever the sequence is long. Pages as in
 * PagedAttention (Kwon et al. 2023, arXiv 2309.06180). */
#include "model/serve/inference_pass.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/operators/transformer.h"
#include "spec/format.h"
#include "spec/stack.h"

/* ---- Layers ---------------------------------------------------------------------------------- */

/* DeepSeek keeps index keys in 8 bits, with a scale of 32 bits each. */
#define INDEX_SCALE_BYTES 4

/* Keys, values and indices. Latents in 8 bits have a scale per 128 numbers in sparse kernels, and
 * wide rotary parts (FlashMLA). */
static void set_entries(calc_kv_layer *l, const calc_shape *s, double e)
{
    double latent = s->index_topk > 0 && e == 1
                        ? s->kv_rank * (1 + 4.0 / 128) + s->rope_size * s->element_bytes
                        : (s->kv_rank + s->rope_size) * e;
    l->compressed = s->mixer == CALC_PART_TYPE_COMPRESSED;
    double head = (l->compressed ? s->qk_size : s->qk_size + s->v_size) * e;
    l->token_bytes = s->latent ? latent : s->kv_heads * head;
    l->rank_bytes = s->latent ? latent : s->local_kv_heads * head;
    l->window = s->window;
    l->global = calc_shape_global_share(s);
    l->chunk = s->chunk;
    l->ratio = l->compressed ? s->compress_ratio : 1;
    l->topk = s->index_topk;
    if (s->index_topk > 0 && !s->index_shared) {
        l->index_bytes = s->latent ? s->index_size + INDEX_SCALE_BYTES : s->index_size * e;
    }
    if (l->compressed && l->ratio > 0) {
        /* Single precision sums of the entries that are not complete, and of their weights; those
         * of an indexer overlap. */
        double sums = l->index_bytes > 0 ? 2 * l->ratio * (s->qk_size + s->index_size)
                                         : l->ratio * s->qk_size;
        l->state_bytes = 2 * 4 * sums;
        l->state_rank_bytes = l->state_bytes;
    }
}

/* A state, and the columns that the convolution looks back to, on one of so many ranks: they share
 * the heads, or channels, of Mamba-1 and short convolutions; each has whole groups of keys. */
static double state_of(const calc_shape *s, double ranks, double state_bytes)
{
    bool channels = s->mixer == CALC_PART_TYPE_MAMBA1 || s->mixer == CALC_PART_TYPE_SHORT_CONV;
    calc_shape own = *s;
    own.value_heads /= ranks;
    own.key_heads = calc_min(s->key_heads, calc_max(1, s->key_heads / ranks));
    own.value_size *= channels ? 1 / ranks : 1;
    own.hidden *= channels ? 1 / ranks : 1;
    return calc_linear_state(&own) * state_bytes +
           calc_linear_channels(&own) * calc_max(0, s->conv - 1) * s->element_bytes;
}

/* What a layer of a shape keeps, that of a part where the model lists its layers. */
static calc_kv_layer layer_of(const calc_shape *s, const calc_inference *i)
{
    calc_kv_layer l = {.share = 1};
    if (calc_part_is_linear(s->mixer)) {
        double state_bytes = calc_format_bytes_or(i->state_datatype, 4);
        l.state_bytes = state_of(s, 1, state_bytes);
        l.state_rank_bytes = state_of(s, s->tensor_par, state_bytes);
    } else {
        set_entries(&l, s, calc_format_bytes_or(i->kv_datatype, s->element_bytes));
    }
    return l;
}

/* Mean over layers with and without window. */
static double mean(const calc_kv_layer *l, double whole, double windowed)
{
    return l->window > 0 ? l->global * whole + (1 - l->global) * windowed : whole;
}

/* Entries behind a compressed layer's window. */
static double behind(const calc_kv_layer *l, double context)
{
    return l->ratio > 0 ? context / l->ratio : 0;
}

/* Entries that a layer keeps of a sequence of `context` tokens. */
static double layer_kept(const calc_kv_layer *l, double context)
{
    double windowed = calc_min(context, l->window);
    return l->compressed  ? windowed + behind(l, context)
           : l->chunk > 0 ? calc_min(context, l->chunk)
                          : mean(l, context, windowed);
}

double calc_kv_layer_read(const calc_kv_layer *l, double context)
{
    double most = l->topk > 0 ? l->topk : INFINITY;
    if (l->compressed) {
        return calc_min(context, l->window) + calc_min(behind(l, context), most);
    }
    if (l->chunk > 0) { /* anywhere in the last chunk */
        return context > l->chunk ? (l->chunk + 1) / 2 : context;
    }
    return calc_min(mean(l, context, calc_min(context, l->window)), most);
}

double calc_kv_layer_scored(const calc_kv_layer *l, double context)
{
    return l->index_bytes <= 0 ? 0 : l->compressed ? behind(l, context) : context;
}

/* Pairs of a triangle that is cut at `most` entries per query. */
static double cut(double cached, double fresh, double most)
{
    /* The first tokens still see all before them, the others a full window. */
    double growing = calc_max(0, calc_min(most - cached, fresh));
    return growing * cached + growing * (growing + 1) / 2 + (fresh - growing) * most;
}

static double triangle(double cached, double fresh)
{
    return fresh * cached + fresh * (fresh + 1) / 2;
}

/* Pairs of the first so many tokens, within their chunks. */
static double in_chunks(double tokens, double chunk)
{
    double whole = floor(tokens / chunk);
    return whole * triangle(0, chunk) + triangle(0, tokens - whole * chunk);
}

double calc_kv_layer_pairs(const calc_kv_layer *l, double cached, double fresh)
{
    if (l->compressed) {
        double most = l->topk > 0 ? l->topk * l->ratio : INFINITY;
        double far = isinf(most) ? triangle(cached, fresh) : cut(cached, fresh, most);
        return cut(cached, fresh, l->window) + behind(l, far);
    }
    if (l->chunk > 0) {
        return in_chunks(cached + fresh, l->chunk) - in_chunks(cached, l->chunk);
    }
    double whole = l->topk > 0 ? cut(cached, fresh, l->topk) : triangle(cached, fresh);
    return mean(l, whole, cut(cached, fresh, l->window));
}

double calc_kv_layer_scored_pairs(const calc_kv_layer *l, double cached, double fresh)
{
    return l->index_bytes > 0 ? triangle(cached, fresh) / calc_max(1, l->ratio) : 0;
}

/* ---- Layouts --------------------------------------------------------------------------------- */

/* Layers of one part: of all blocks. Layers that share keys and values of others keep nothing. */
static void set_part(calc_kv_cache *c, const calc_shape *s, const calc_inference *i, int part)
{
    const calc_stack *stack = s->stack;
    calc_kv_layer *l = &c->layer[part];
    double layers = 0;
    for (int k = 0; k < stack->kinds; k++) {
        const calc_layer_kind *kind = &stack->kind[k];
        layers += kind->count * ((kind->mixer[0] == part) + (kind->mixer[1] == part));
    }
    if (calc_part_mixes(stack->part[part].type)) {
        calc_shape own = calc_shape_of_part(s, &stack->part[part]);
        *l = layer_of(&own, i);
        l->share = own.kv_shared ? 0 : layers / s->blocks;
    }
}

calc_kv_cache calc_kv_cache_of(const calc_shape *s, const calc_inference *i)
{
    calc_kv_cache c = {
        .context_par = s->context_par,
        .page = i->page_size > 0 ? (double)i->page_size : 1,
        .states = 1 + (double)i->speculative_tokens,
        .layers = s->stack ? (size_t)s->stack->parts : 1,
    };
    if (!s->stack) {
        c.layer[0] = layer_of(s, i);
    }
    double state_bytes = 0;
    for (int part = 0; part < (int)c.layers; part++) {
        const calc_kv_layer *l = &c.layer[part];
        if (s->stack) {
            set_part(&c, s, i, part);
        }
        c.rank_bytes += l->share * (l->rank_bytes + l->index_bytes);
        state_bytes += l->share * l->state_rank_bytes;
    }
    /* A model that keeps states only: its room is counted in them. */
    c.rank_bytes = c.rank_bytes > 0 ? c.rank_bytes : state_bytes;
    return c;
}

static double in_pages(const calc_kv_cache *cache, double tokens)
{
    return ceil(tokens / cache->page) * cache->page;
}

double calc_kv_cache_stored(const calc_kv_cache *cache, double context)
{
    double sum = 0;
    for (size_t i = 0; i < cache->layers; i++) {
        const calc_kv_layer *l = &cache->layer[i];
        double split = cache->context_par; /* tokens are split over ranks, states are not */
        /* Index keys have no window, and are pages of their own. */
        double indices = l->index_bytes > 0 ? in_pages(cache, calc_kv_layer_scored(l, context)) : 0;
        /* In whole pages; mean over layers with and without window. */
        double paged =
            l->compressed || l->chunk > 0
                ? in_pages(cache, layer_kept(l, context))
                : mean(l, in_pages(cache, context), in_pages(cache, calc_min(context, l->window)));
        sum += l->share * l->rank_bytes / cache->rank_bytes * paged;
        sum += l->share * l->index_bytes / cache->rank_bytes * indices;
        sum += l->share * l->state_rank_bytes * cache->states * split / cache->rank_bytes;
    }
    return sum;
}

double calc_kv_cache_token_bytes(const calc_kv_cache *cache, double blocks, double context)
{
    double sum = 0;
    for (size_t i = 0; i < cache->layers; i++) {
        const calc_kv_layer *l = &cache->layer[i];
        sum += l->share * (l->token_bytes * blocks * (layer_kept(l, context) / context));
        sum += l->share * (l->index_bytes * blocks * (calc_kv_layer_scored(l, context) / context));
    }
    return sum;
}

double calc_kv_cache_state_bytes(const calc_kv_cache *cache, double blocks)
{
    double sum = 0;
    for (size_t i = 0; i < cache->layers; i++) {
        sum += cache->layer[i].share * blocks * cache->layer[i].state_bytes;
    }
    return sum;
}

double calc_kv_cache_space(const calc_kv_cache *cache, double blocks, double sequences,
                           double context)
{
    double tokens = sequences * calc_kv_cache_stored(cache, context) / cache->context_par;
    return cache->rank_bytes * blocks * tokens;
}

calc_kv_room calc_kv_cache_capacity(const calc_kv_cache *cache, double blocks, double context,
                                    double bytes)
{
    double room_bytes = calc_max(0, bytes);
    double each = calc_kv_cache_space(cache, blocks, 1, context);
    return (calc_kv_room){
        .tokens = floor(room_bytes / (cache->rank_bytes * blocks) * cache->context_par /
                        (calc_kv_cache_stored(cache, context) / context)),
        .sequences = floor(room_bytes / each),
    };
}
