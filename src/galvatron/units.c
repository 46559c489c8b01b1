#include <inttypes.h>

#include "galvatron/cost_terms.h"
#include "galvatron/reading.h"

/* Limits beyond any processor's speed, any network's bandwidth, and any layer's size relative to 12
 * times the square of its width. A number beyond them is in another unit. */
static const double MOST_FLOP_PER_S = 2e16;
static const double MOST_MB_PER_MS = 1e5;
static const double LEAST_SQUARES = 0.25, MOST_SQUARES = 3000;

enum { SAMPLES = 64 /* samples in the checked time, so that an offset has little weight */ };

static calc_status check_memory(const calc_galvatron_reading *r, int type)
{
    double width = (double)r->request->layers[type].hidden_size;
    double mb = r->out->memory[type].parameter_mb;
    double squares = mb * 1048576 / 4 / (width * width);
    if (squares >= LEAST_SQUARES && squares <= MOST_SQUARES) {
        return CALC_OK;
    }
    return calc_galvatron_file_error(
        r, CALC_ERR_RANGE, "it is in MB of 2^20 bytes, of parameters in float32",
        "parameter_size: %.6g MB are %.3g times the square of hidden_size %.0f, expected %g to %g",
        mb, squares, width, LEAST_SQUARES, MOST_SQUARES);
}

static calc_status check_compute(const calc_galvatron_reading *r, int type)
{
    const calc_galvatron_layers *layers = &r->request->layers[type];
    double width = (double)layers->hidden_size;
    double flop = 2 * LEAST_SQUARES * width * width * (double)layers->seq_len;
    double ms = calc_galvatron_compute_ms(&r->out->layer[type], SAMPLES) / SAMPLES;
    if (flop <= MOST_FLOP_PER_S * ms * 1e-3) {
        return CALC_OK;
    }
    return calc_galvatron_file_error(
        r, CALC_ERR_RANGE, "it is in milliseconds, of one sample",
        "layertype_%d: %.6g ms for %" PRId64 " tokens of width %.0f, expected at least %.6g", type,
        ms, layers->seq_len, width, flop / MOST_FLOP_PER_S * 1e3);
}

static calc_status check_rate(const calc_galvatron_reading *r, const char *what, double mb_per_ms)
{
    return mb_per_ms <= MOST_MB_PER_MS
               ? CALC_OK
               : calc_galvatron_file_error(r, CALC_ERR_RANGE, "it is in MB in a millisecond",
                                           "%s: %.6g MB/ms, expected at most %g", what, mb_per_ms,
                                           MOST_MB_PER_MS);
}

static calc_status check_times(const calc_galvatron_reading *r, const char *what,
                               const calc_galvatron_collective *c)
{
    for (int i = 0; i < c->count; i++) {
        if (c->mb[i] > MOST_MB_PER_MS * c->ms[i]) {
            return calc_galvatron_file_error(r, CALC_ERR_RANGE, "it is in milliseconds",
                                             "%s of %g MB: %.6g ms, expected at least %g", what,
                                             c->mb[i], c->ms[i], c->mb[i] / MOST_MB_PER_MS);
        }
    }
    return CALC_OK;
}

/* Checks the figures for a number of ranks. */
static calc_status check_ranks(const calc_galvatron_reading *r, calc_galvatron_file file, int k)
{
    const calc_galvatron_profiles *p = r->out;
    calc_status status = CALC_OK;
    if (file == CALC_GALVATRON_FILE_ALLREDUCE) {
        status = check_rate(r, "allreduce_size", 1 / p->consecutive[k]);
        status = status == CALC_OK ? check_rate(r, "allreduce_size", 1 / p->strided[k]) : status;
    } else if (file == CALC_GALVATRON_FILE_P2P) {
        status = p->p2p[k] > 0 ? check_rate(r, "pp_size", 1 / p->p2p[k]) : CALC_OK;
    } else if (file == CALC_GALVATRON_FILE_COLLECTIVES) {
        status = check_times(r, "half of allreduce_size", &p->all_gather[k]);
        status = status == CALC_OK ? check_times(r, "all2all_size", &p->all_to_all[k]) : status;
    }
    return status;
}

calc_status calc_galvatron_units_check(const calc_galvatron_reading *r, calc_galvatron_file file)
{
    calc_status status = CALC_OK;
    for (int type = 0; type < r->request->types && status == CALC_OK; type++) {
        status = file == CALC_GALVATRON_FILE_COMPUTATION ? check_compute(r, type)
                 : file == CALC_GALVATRON_FILE_MEMORY    ? check_memory(r, type)
                                                         : CALC_OK;
    }
    int world = calc_galvatron_needs_of(r->request).world;
    for (int k = 1; k <= world && status == CALC_OK; k++) {
        status = check_ranks(r, file, k);
    }
    return status;
}
