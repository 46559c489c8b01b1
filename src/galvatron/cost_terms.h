/** @file cost_terms.h  Small terms that the times and the memory of the cost model share. */
#ifndef CALC_GALVATRON_COST_TERMS_H
#define CALC_GALVATRON_COST_TERMS_H

#include "galvatron/profiles.h"

/** Exponent of a power of two; of other numbers that of the one below. */
static inline int calc_galvatron_doublings(int64_t n)
{
    int k = 0;
    while (n > 1) {
        n >>= 1;
        k++;
    }
    return k;
}

/** Ranks that work on one sample's layer together: one of tp and sp is 1. */
static inline int calc_galvatron_tpsp(const calc_galvatron_strategy *s)
{
    return s->tp > s->sp ? s->tp : s->sp;
}

/** Ranks that states are sharded over and gradients reduced. */
static inline int calc_galvatron_sdp(const calc_galvatron_strategy *s)
{
    return s->dp * s->sp * s->cp;
}

/** Mixed precision: two bytes a value instead of four. */
static inline bool calc_galvatron_mixed(const calc_galvatron_request *request)
{
    return request->mixed_precision != CALC_GALVATRON_FP32;
}

/** Milliseconds of a micro-batch's forward pass: samples may be a fraction. */
static inline double calc_galvatron_compute_ms(const calc_galvatron_compute *compute,
                                               double samples)
{
    return compute->batch ? compute->line.slope * samples + compute->line.offset
                          : compute->line.offset * samples;
}

/** Milliseconds of a collective: measured where it was, else on the line. */
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

/** ms/MB of the all-reduce over the ranks that gradients are reduced over. Ranks of tensor
 *  parallelism stand between them, those of Ulysses are among them. */
static inline double calc_galvatron_gradients_ms_per_mb(const calc_galvatron_profiles *profiles,
                                                        const calc_galvatron_strategy *s)
{
    int n = calc_galvatron_doublings(calc_galvatron_sdp(s));
    return s->tp > 1 ? profiles->strided[n] : profiles->consecutive[n];
}

/** MB of a layer's activations of so many samples. */
static inline double calc_galvatron_message_mb(const calc_galvatron_request *request,
                                               double samples, int type)
{
    const calc_galvatron_layers *layers = &request->layers[type];
    return samples * (double)layers->seq_len * (double)layers->hidden_size *
           (calc_galvatron_mixed(request) ? 2 : 4) / 1048576;
}

/** Share of all states that a rank holds. */
double calc_galvatron_states_ratio(const calc_galvatron_case *c, const calc_galvatron_strategy *s);

/** Micro-batches whose activations a stage holds at once. */
double calc_galvatron_in_flight(const calc_galvatron_case *c, int pp, int stage);

#endif
