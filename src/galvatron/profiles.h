/** @file profiles.h  Galvatron's profiles: six JSON files, or calc's own figures in their place. */
#ifndef CALC_GALVATRON_PROFILES_H
#define CALC_GALVATRON_PROFILES_H

#include <stddef.h>

#include "base/notes.h"
#include "calc.h"
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

/** The files, in the order in which they may depend on one another. */
typedef enum calc_galvatron_file {
    CALC_GALVATRON_FILE_COMPUTATION,
    CALC_GALVATRON_FILE_MEMORY,
    CALC_GALVATRON_FILE_ALLREDUCE,
    CALC_GALVATRON_FILE_P2P,
    CALC_GALVATRON_FILE_OVERLAP,
    CALC_GALVATRON_FILE_COLLECTIVES,
    CALC_GALVATRON_FILE_COUNT
} calc_galvatron_file;

/** Paths of the files: each a file, or a folder that contains the file under its name. */
typedef struct calc_galvatron_paths {
    const char *of[CALC_GALVATRON_FILE_COUNT];
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

enum { CALC_GALVATRON_FILE_PATH_SIZE = 4096 };

/** The name of a file in the current release. @return out */
char *calc_galvatron_file_name(const calc_galvatron_request *request, calc_galvatron_file file,
                               char *out, size_t size);

/** Finds a file. A path that is not a folder is used as it is. In a folder the file has its current
 *  name, or a name from an earlier release.
 *  @param out  [CALC_GALVATRON_FILE_PATH_SIZE], filled
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if a folder has no such file, or CALC_ERR_RULE if it has
 *  several candidates, with an error added */
CALC_MUST_USE calc_status calc_galvatron_file_find(const calc_galvatron_request *request,
                                                   calc_galvatron_file file, const char *path,
                                                   char *out, calc_errors *errors);

/* Readers of the six files of profiles. They fill the values that the search of the request needs,
 * and note values outside the measured range. */

/** A file and the destination of its numbers. */
typedef struct calc_galvatron_reading {
    const calc_galvatron_request *request;
    calc_galvatron_profiles *out;
    const char *name; /**< name of the file in errors */
    const char *text;
    size_t length;
    calc_errors *errors;
} calc_galvatron_reading;

/** log2 of the largest degrees that the search may use. */
typedef struct calc_galvatron_needs {
    int world, pp, tp, sp;
    int ends_tp, ends_sp; /**< degrees of embedding and head */
} calc_galvatron_needs;

calc_galvatron_needs calc_galvatron_needs_of(const calc_galvatron_request *request);

/** Checks that the number of GPUs is a power of two and not too large; else adds an error. */
CALC_MUST_USE calc_status calc_galvatron_world_check(const calc_galvatron_request *request,
                                                     calc_errors *errors);

/** Reads one of the files.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_read(const calc_galvatron_reading *r,
                                              calc_galvatron_file file);

/** The same without a look at whether the numbers can be in the expected units. */
CALC_MUST_USE calc_status calc_galvatron_read_numbers(const calc_galvatron_reading *r,
                                                      calc_galvatron_file file);

/** The line with the least sum of squares through measured points, with their range of x; with bend
 *  not NULL the parabola offset + slope x + bend x^2. What the points do not determine is 0. */
calc_galvatron_line calc_galvatron_fit(const double *x, const double *y, size_t count,
                                       double *bend);

enum { CALC_GALVATRON_KEY_VALUES = 8 };

/** Matches a whole key against a pattern. "#" stands for a whole number; "*" at the end stands for
 *  one or several, as in "512_512" or "[512,512]".
 *  @param values  filled with the numbers, at most CALC_GALVATRON_KEY_VALUES
 *  @return how many numbers there are; -1 if the key does not match */
int calc_galvatron_key(const char *key, const char *pattern, int64_t *values);

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
