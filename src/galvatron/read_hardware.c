#include "galvatron/reading.h"

#include "galvatron/cost_terms.h"
#include "io/json_numbers.h"

#include <math.h>
#include <string.h>

enum { POINTS = 8 /* least number for a line */ };

/* ---- Bandwidths ------------------------------------------------------------------------------ */

/* Bandwidths in MB/ms by log2 of ranks; 0: not in the file. */
typedef struct bandwidths {
    double consecutive[CALC_GALVATRON_DOUBLINGS];
    double strided[CALC_GALVATRON_DOUBLINGS];
    double either[CALC_GALVATRON_DOUBLINGS]; /* same value for both in the file */
} bandwidth_table;

/* The place of a number of ranks; NULL: the search does not use that number. */
static double *place(double *table, int64_t ranks)
{
    int k = calc_galvatron_doublings(ranks);
    return k < CALC_GALVATRON_DOUBLINGS && ranks == (int64_t)1 << k ? &table[k] : NULL;
}

static calc_json_number_use use_size(double **out, double *table, int64_t ranks)
{
    *out = place(table, ranks);
    return *out ? CALC_JSON_NUMBER_TAKEN : CALC_JSON_NUMBER_IGNORED;
}

static calc_json_number_use allreduce_place(bandwidth_table *table, const char *key, double **out)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    if (strncmp(key, "allreduce_size_", 15) != 0) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    if (calc_galvatron_key(key, "allreduce_size_#", values) == 1) {
        return use_size(out, table->either, values[0]);
    }
    if (calc_galvatron_key(key, "allreduce_size_#_consec_#", values) != 2 || values[1] > 1) {
        return CALC_JSON_NUMBER_REFUSED;
    }
    return use_size(out, values[1] ? table->consecutive : table->strided, values[0]);
}

static calc_json_number_use use_allreduce(void *context, const char *const *key, int depth)
{
    double *out;
    (void)depth;
    return allreduce_place(context, key[0], &out);
}

static bool take_allreduce(void *context, const char *const *key, int depth, double value)
{
    double *out;
    (void)depth;
    if (allreduce_place(context, key[0], &out) == CALC_JSON_NUMBER_TAKEN) {
        *out = value;
    }
    return true;
}

static calc_status no_size(const calc_galvatron_reading *r, const char *what, int ranks,
                           const char *rest)
{
    return calc_galvatron_file_error(r, CALC_ERR_FIELD,
                                     "profile the machine with as many nodes and GPUs, or search "
                                     "fewer",
                                     "no %s%d%s", what, ranks, rest);
}

calc_status calc_galvatron_read_allreduce(const calc_galvatron_reading *r)
{
    bandwidth_table table = {0};
    const calc_json_numbers reader = {
        .context = &table,
        .use = use_allreduce,
        .take = take_allreduce,
        .above = true,
        .keys = "keys are allreduce_size_<n>_consec_<0 or 1>, or allreduce_size_<n>; in MB/ms"};
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    int world = calc_galvatron_needs_of(r->request).world;
    for (int k = 1; k <= world && status == CALC_OK; k++) {
        double near = table.consecutive[k] > 0 ? table.consecutive[k] : table.either[k];
        double far = k == world ? near : table.strided[k] > 0 ? table.strided[k] : table.either[k];
        if (near == 0 || far == 0) {
            return no_size(r, "allreduce_size_", 1 << k, near == 0 ? "_consec_1" : "_consec_0");
        }
        r->out->consecutive[k] = 1 / near;
        r->out->strided[k] = 1 / far;
    }
    return status;
}

static calc_json_number_use use_p2p(void *context, const char *const *key, int depth)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    double *out;
    (void)depth;
    if (strncmp(key[0], "pp_size_", 8) != 0) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    return calc_galvatron_key(key[0], "pp_size_#", values) == 1 ? use_size(&out, context, values[0])
                                                                : CALC_JSON_NUMBER_REFUSED;
}

static bool take_p2p(void *context, const char *const *key, int depth, double value)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    (void)depth;
    (void)calc_galvatron_key(key[0], "pp_size_#", values);
    *place(context, values[0]) = value;
    return true;
}

calc_status calc_galvatron_read_p2p(const calc_galvatron_reading *r)
{
    double table[CALC_GALVATRON_DOUBLINGS] = {0};
    const calc_json_numbers reader = {.context = table,
                                      .use = use_p2p,
                                      .take = take_p2p,
                                      .above = true,
                                      .keys = "keys are pp_size_<n>, in MB/ms"};
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    for (int k = 1; k <= calc_galvatron_needs_of(r->request).pp && status == CALC_OK; k++) {
        if (table[k] == 0) {
            return no_size(r, "pp_size_", 1 << k, "");
        }
        r->out->p2p[k] = 1 / table[k];
    }
    return status;
}

/* ---- Overlap --------------------------------------------------------------------------------- */

static calc_json_number_use use_overlap(void *context, const char *const *key, int depth)
{
    (void)context;
    (void)depth;
    return strcmp(key[0], "overlap_coe") == 0 ? CALC_JSON_NUMBER_TAKEN : CALC_JSON_NUMBER_IGNORED;
}

static bool take_overlap(void *context, const char *const *key, int depth, double value)
{
    (void)key;
    (void)depth;
    *(double *)context = value;
    return true;
}

calc_status calc_galvatron_read_overlap(const calc_galvatron_reading *r)
{
    r->out->overlap = 0;
    const calc_json_numbers reader = {
        .context = &r->out->overlap, .use = use_overlap, .take = take_overlap, .least = 1};
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    if (status == CALC_OK && r->out->overlap == 0) {
        return calc_galvatron_file_error(
            r, CALC_ERR_FIELD, "1 says that computing and messages do not slow each other down",
            "no overlap_coe");
    }
    return status;
}

/* ---- Times of collectives -------------------------------------------------------------------- */

/* @return the table and the size that a key belongs to */
static calc_json_number_use collective_place(calc_galvatron_profiles *out, const char *key,
                                             calc_galvatron_collective **table, double *mb)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    bool gather = calc_galvatron_key(key, "allreduce_size_#_#MB_time", values) == 2;
    if (!gather && calc_galvatron_key(key, "all2all_size_#_#MB_time", values) != 2) {
        bool meant =
            strncmp(key, "allreduce_size_", 15) == 0 || strncmp(key, "all2all_size_", 13) == 0;
        return meant ? CALC_JSON_NUMBER_REFUSED : CALC_JSON_NUMBER_IGNORED;
    }
    int k = calc_galvatron_doublings(values[0]);
    if (k >= CALC_GALVATRON_DOUBLINGS || values[0] != (int64_t)1 << k || values[1] == 0) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    *table = gather ? &out->all_gather[k] : &out->all_to_all[k];
    *mb = (double)values[1];
    return (*table)->count < CALC_GALVATRON_POINTS ? CALC_JSON_NUMBER_TAKEN
                                                   : CALC_JSON_NUMBER_REFUSED;
}

static calc_json_number_use use_collective(void *context, const char *const *key, int depth)
{
    calc_galvatron_collective *table;
    double mb;
    (void)depth;
    return collective_place(context, key[0], &table, &mb);
}

/* An all-gather takes half of an all-reduce. */
static bool take_collective(void *context, const char *const *key, int depth, double value)
{
    calc_galvatron_profiles *out = context;
    calc_galvatron_collective *table;
    double mb;
    (void)depth;
    if (collective_place(out, key[0], &table, &mb) == CALC_JSON_NUMBER_TAKEN) {
        bool gather = key[0][3] == 'r';
        table->mb[table->count] = mb;
        table->ms[table->count++] = gather ? value * 0.5 : value;
    }
    return true;
}

/* The smallest message of the search: one sample of the smallest layer. */
static double least_mb(const calc_galvatron_request *request)
{
    double least = INFINITY;
    for (int type = 0; type < request->types; type++) {
        least = fmin(least, calc_galvatron_message_mb(request, 1, type));
    }
    return least;
}

static calc_status fit(const calc_galvatron_reading *r, calc_galvatron_collective *table,
                       const char *what, int ranks)
{
    if (table->count < POINTS) {
        return calc_galvatron_file_error(r, CALC_ERR_FIELD,
                                         "profile the machine with as many nodes and GPUs, or "
                                         "search fewer",
                                         "%d of %s%d_<M>MB_time, expected at least %d",
                                         table->count, what, ranks, POINTS);
    }
    calc_galvatron_collective_fit(table);
    double least = least_mb(r->request);
    double ms = calc_galvatron_collective_ms(table, least);
    if (ms <= 0) {
        return calc_galvatron_file_error(r, CALC_ERR_RANGE, "look for an outlier",
                                         "the line of %s%d_<M>MB_time is %g ms at %g MB, expected "
                                         "more than 0",
                                         what, ranks, ms, least);
    }
    return CALC_OK;
}

calc_status calc_galvatron_read_collectives(const calc_galvatron_reading *r)
{
    const calc_json_numbers reader = {.context = r->out,
                                      .use = use_collective,
                                      .take = take_collective,
                                      .above = true,
                                      .keys = "keys are allreduce_size_<n>_<M>MB_time and "
                                              "all2all_size_<n>_<M>MB_time, at most 64 M each"};
    calc_galvatron_needs needs = calc_galvatron_needs_of(r->request);
    memset(r->out->all_gather, 0, sizeof r->out->all_gather);
    memset(r->out->all_to_all, 0, sizeof r->out->all_to_all);
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    for (int k = 1; k <= needs.tp && status == CALC_OK; k++) {
        status = fit(r, &r->out->all_gather[k], "allreduce_size_", 1 << k);
    }
    for (int k = 1; k <= needs.sp && status == CALC_OK; k++) {
        status = fit(r, &r->out->all_to_all[k], "all2all_size_", 1 << k);
    }
    return status;
}
