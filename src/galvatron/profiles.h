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
    double least, most; /**< range of measured amounts; 0, 0: not a fit */
} calc_galvatron_line;

/** A collective over a number of ranks: times at measured sizes, and a line for other sizes. */
typedef struct calc_galvatron_collective {
    int count;
    double mb[CALC_GALVATRON_POINTS], ms[CALC_GALVATRON_POINTS];
    calc_galvatron_line line;
} calc_galvatron_collective;

/** Forward time of a sample, or of a batch. */
typedef struct calc_galvatron_compute {
    bool batch;               /**< the line is over samples; else offset is the time of a sample */
    calc_galvatron_line line; /**< over samples, at the sequence length of the request */
} calc_galvatron_compute;

/** Memory of a layer. MB per sample, indexed by log2 of tp or sp. */
typedef struct calc_galvatron_layer_memory {
    double parameter_mb; /**< in fp32, undivided */
    double activation_mb[CALC_GALVATRON_DOUBLINGS], checkpoint_mb;
} calc_galvatron_layer_memory;

/** Embedding and head: all states by tp, and activations per sample by tp or sp. */
typedef struct calc_galvatron_other_memory {
    double states_mb[CALC_GALVATRON_DOUBLINGS], activation_mb[CALC_GALVATRON_DOUBLINGS];
} calc_galvatron_other_memory;

enum {
    CALC_GALVATRON_OFF,   /**< all on the only stage */
    CALC_GALVATRON_FIRST, /**< the embedding, on the first of several stages */
    CALC_GALVATRON_LAST,  /**< the head */
    CALC_GALVATRON_PLACES
};

struct calc_galvatron_profiles {
    calc_galvatron_compute layer[CALC_GALVATRON_TYPES], other;
    calc_galvatron_layer_memory memory[CALC_GALVATRON_TYPES];
    calc_galvatron_other_memory other_memory[CALC_GALVATRON_PLACES];
    double consecutive[CALC_GALVATRON_DOUBLINGS]; /**< ms/MB of an all-reduce's bus traffic */
    double strided[CALC_GALVATRON_DOUBLINGS];
    double p2p[CALC_GALVATRON_DOUBLINGS]; /**< ms/MB, by log2 of pp */
    double overlap; /**< slowdown factor of computing and messages that run at the same time */
    calc_galvatron_collective all_gather[CALC_GALVATRON_DOUBLINGS];
    calc_galvatron_collective all_to_all[CALC_GALVATRON_DOUBLINGS];
    calc_notes notes; /**< extrapolated or assumed values noted while reading */
};

/** Paths of the files: each a file, or a folder that contains the file under its name. */
typedef struct calc_galvatron_paths {
    const char *computation, *memory;
    const char *allreduce, *p2p, *overlap, *collectives;
} calc_galvatron_paths;

/** Reads the profiles that the search of a request needs. */
CALC_MUST_USE calc_status calc_galvatron_profiles_load(calc_galvatron_profiles *out,
                                                       const calc_galvatron_request *request,
                                                       const calc_galvatron_paths *paths,
                                                       calc_errors *errors);

/** Notes the extrapolations in the costs of a strategy, beyond profiles.notes.
 *  @param type  of its layers; -1: it is the strategy of embedding and head */
void calc_galvatron_cost_notes(const calc_galvatron_case *c,
                               const calc_galvatron_strategy *strategy, int type,
                               calc_notes *notes);

#endif
