/** @file cost_terms.h  Small terms that the time and memory parts of the cost model share. */
#ifndef CALC_GALVATRON_COST_TERMS_H
#define CALC_GALVATRON_COST_TERMS_H

#include "galvatron/profiles.h"

/** Exponent of the largest power of two that is not above the number. */
static inline int calc_galvatron_doublings(int64_t n)
{
    int k = 0;
    while (n > 1) {
        n >>= 1;
        k++;
    }
    return k;
}

/** Ranks that share the work on one sample's layer; one of tp and sp is 1. */
static inline int calc_galvatron_tpsp(const calc_galvatron_strategy *s)
{
    return s->tp > s->sp ? s->tp : s->sp;
}

/** Ranks over which states are sharded and gradients reduced. */
static inline int calc_galvatron_sdp(const calc_galvatron_strategy *s)
{
    return s->dp * s->sp * s->cp;
}

/** Mixed precision: two bytes per value, not four. */
static inline bool calc_galvatron_mixed(const calc_galvatron_request *request)
{
    return request->mixed_precision != CALC_GALVATRON_FP32;
}

/** Milliseconds of a micro-batch's forward pass. The number of samples may be a fraction. */
static inline double calc_galvatron_compute_ms(const calc_galvatron_compute *compute,
                                               double samples)
{
    return compute->batch ? compute->line.slope * samples + compute->line.offset
                          : compute->line.offset * samples;
}

/** Milliseconds of a collective: the measured time if there is one, else the value of the line. */
static inline double calc_galvatron_collective_ms(const calc_galvatron_collective *collective,
                                                  double mb)
{
    for (int i = 0; i < collective->count; i++) {
        if (collective->mb[i] == mb) {
            return collective->ms[i];
        }
    }
    return collective->line.slope * mb + collective->line.offset;
}

/** ms/MB of the all-reduce over the ranks that reduce gradients. Ranks of tensor parallelism lie
 *  between them; ranks of Ulysses are among them. */
static inline double calc_galvatron_gradients_ms_per_mb(const calc_galvatron_profiles *profiles,
                                                        const calc_galvatron_strategy *s)
{
    int n = calc_galvatron_doublings(calc_galvatron_sdp(s));
    return s->tp > 1 ? profiles->strided[n] : profiles->consecutive[n];
}

/** MB of a layer's activations for this number of samples. */
static inline double calc_galvatron_message_mb(const calc_galvatron_request *request,
                                               double samples, int type)
{
    const calc_galvatron_layers *layers = &request->layers[type];
    return samples * (double)layers->seq_len * (double)layers->hidden_size *
           (calc_galvatron_mixed(request) ? 2 : 4) / 1048576;
}

#endif
