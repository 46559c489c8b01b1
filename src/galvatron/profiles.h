/** @file profiles.h  Galvatron's profiles: six JSON files, or calc's own figures in their place. */
#ifndef CALC_GALVATRON_PROFILES_H
#define CALC_GALVATRON_PROFILES_H

#include "base/notes.h"
#include "galvatron/cost.h"

enum {
    CALC_GALVATRON_DOUBLINGS = 17, /**< degrees 1, 2, 4 .. 65,536, as their exponents */
    CALC_GALVATRON_POINTS = 64     /**< measured sizes of a collective */
};

/** milliseconds = slope * amount + offset. */
typedef struct calc_galvatron_line {
    double slope, offset;
    double least, most; /**< measured amounts; 0, 0: not a fit */
} calc_galvatron_line;

/** A collective of so many ranks: times at measured sizes, and the line of all others. */
typedef struct calc_galvatron_collective {
    int count;
    double mb[CALC_GALVATRON_POINTS], ms[CALC_GALVATRON_POINTS];
    calc_galvatron_line line;
} calc_galvatron_collective;

/** Forward time of a sample, or of a batch. */
typedef struct calc_galvatron_compute {
    bool batch;               /**< the line is of samples; else offset is a sample's time */
    calc_galvatron_line line; /**< of samples, at the sequence of the request */
} calc_galvatron_compute;

/** A layer. MB of a sample by the doublings of tp or sp. */
typedef struct calc_galvatron_layer_memory {
    double parameter_mb; /**< in fp32, undivided */
    double activation_mb[CALC_GALVATRON_DOUBLINGS], checkpoint_mb;
} calc_galvatron_layer_memory;

/** Embedding and head: all states by tp, activations of a sample by tp or sp. */
typedef struct calc_galvatron_other_memory {
    double states_mb[CALC_GALVATRON_DOUBLINGS], activation_mb[CALC_GALVATRON_DOUBLINGS];
} calc_galvatron_other_memory;

enum {
    CALC_GALVATRON_OFF,   /**< all on the only stage */
    CALC_GALVATRON_FIRST, /**< the embedding, on the first of several */
    CALC_GALVATRON_LAST,  /**< the head */
    CALC_GALVATRON_PLACES
};

struct calc_galvatron_profiles {
    calc_galvatron_compute layer[CALC_GALVATRON_TYPES], other;
    calc_galvatron_layer_memory memory[CALC_GALVATRON_TYPES];
    calc_galvatron_other_memory other_memory[CALC_GALVATRON_PLACES];
    double consecutive[CALC_GALVATRON_DOUBLINGS]; /**< ms/MB of an all-reduce's bus traffic */
    double strided[CALC_GALVATRON_DOUBLINGS];
    double p2p[CALC_GALVATRON_DOUBLINGS]; /**< ms/MB, by the doublings of pp */
    double overlap; /**< computing and messages at the same time take so many times longer */
    calc_galvatron_collective all_gather[CALC_GALVATRON_DOUBLINGS];
    calc_galvatron_collective all_to_all[CALC_GALVATRON_DOUBLINGS];
    calc_notes notes; /**< what was extrapolated or made up while they were read */
};

/** Where they are: each a file, or a folder that has it under its name. */
typedef struct calc_galvatron_paths {
    const char *computation, *memory;
    const char *allreduce, *p2p, *overlap, *collectives;
} calc_galvatron_paths;

/** Read what the search of a request needs. */
CALC_MUST_USE calc_status calc_galvatron_profiles_load(calc_galvatron_profiles *out,
                                                       const calc_galvatron_request *request,
                                                       const calc_galvatron_paths *paths,
                                                       calc_errors *errors);

/** Say what a strategy's costs extrapolate, beyond profiles.notes.
 *  @param type  of its layers; -1: it is that of embedding and head */
void calc_galvatron_cost_notes(const calc_galvatron_case *c,
                               const calc_galvatron_strategy *strategy, int type,
                               calc_notes *notes);

#endif
