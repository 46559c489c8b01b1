#include "model/serve/kv_cache.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/format.h"

calc_kv_cache calc_kv_cache_of(const calc_shape *s, const calc_inference *i)
{
    double e = calc_format_bytes_or(i->kv_datatype, s->element_bytes);
    double latent = (s->kv_rank + s->rope_size) * e;
    double head = (s->qk_size + s->v_size) * e;
    return (calc_kv_cache){
        .token_bytes = s->latent ? latent : s->kv_heads * head,
        .rank_bytes = s->latent ? latent : s->local_kv_heads * head,
        .context_par = s->context_par,
        .page = i->page_size > 0 ? (double)i->page_size : 1,
        .window = s->window,
        .global = calc_shape_global_share(s),
    };
}

/* Mean over the blocks with and without window. */
static double mean(const calc_kv_cache *cache, double whole, double windowed)
{
    return cache->window > 0 ? cache->global * whole + (1 - cache->global) * windowed : whole;
}

static double in_pages(const calc_kv_cache *cache, double tokens)
{
    return ceil(tokens / cache->page) * cache->page;
}

double calc_kv_cache_stored(const calc_kv_cache *cache, double context)
{
    return mean(cache, in_pages(cache, context), in_pages(cache, calc_min(context, cache->window)));
}

double calc_kv_cache_read(const calc_kv_cache *cache, double context)
{
    return mean(cache, context, calc_min(context, cache->window));
}

double calc_kv_cache_pairs(const calc_kv_cache *cache, double cached, double fresh)
{
    double whole = fresh * cached + fresh * (fresh + 1) / 2;
    /* The first tokens still see all before them, the others a full window. */
    double growing = calc_max(0, calc_min(cache->window - cached, fresh));
    double windowed =
        growing * cached + growing * (growing + 1) / 2 + (fresh - growing) * cache->window;
    return mean(cache, whole, windowed);
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
