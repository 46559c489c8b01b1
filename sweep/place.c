#include <assert.h>

#include "model/verdict.h"
#include "worker.h"

/* Pairs of networks of a row's points. */
static size_t pairs_of(const calc_cell *c, const calc_row *row)
{
    size_t pairs = 0;
    for (size_t i = 0; i < c->pipelines * c->datas; i++) {
        pairs += calc_cell_pairs_with(c, row->data_network, i);
    }
    return pairs;
}

calc_verdict calc_worker_decode(const calc_worker_place *place, uint64_t index, calc_exec *exec)
{
    const calc_worker *w = place->worker;
    const calc_cell *c = &w->cell;
    size_t pairs = pairs_of(c, place->row);
    size_t chunkings = c->fitting + c->unfit;
    size_t flags = c->reduces * c->gathers;
    size_t pair = 0;
    assert(pairs > 0); /* the point is there */
    for (size_t left = (size_t)(index % pairs);; pair++) {
        if (calc_cell_pairs_with(c, place->row->data_network, pair) && left-- == 0) {
            break;
        }
    }
    index /= pairs;
    size_t chunking = (size_t)(index % chunkings);
    index /= chunkings;
    bool fits = chunking < c->fitting;
    *exec = calc_worker_exec_of(w, place->row);
    calc_worker_put_choice(w, (size_t)(index / flags), exec);
    calc_cell_put_point(c, pair,
                        fits ? &c->chunking[chunking] : &c->unfit_chunking[chunking - c->fitting],
                        (size_t)(index % flags), exec);
    calc_verdict verdict = c->verdict[place->row->network][pair];
    if (verdict != CALC_VERDICT_OK) {
        return verdict;
    }
    if (!fits) {
        return CALC_VERDICT_INTERLEAVING;
    }
    return calc_verdict_offload_blocks(exec, c->fewest_blocks) ? CALC_VERDICT_OFFLOAD_BLOCKS
                                                               : CALC_VERDICT_OK;
}
