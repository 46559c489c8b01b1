#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "galvatron/profiles.h"
#include "io/json_numbers.h"

/* Sections: embedding and head by place, then layers by type. */
enum { LAYERS = CALC_GALVATRON_PLACES, CHECKPOINT = 0, SECTION_NAME = 64 };
typedef enum field { PARAMETERS, ACTIVATIONS, STATES } memory_field;

static const char *const places[] = {"other_memory_pp_off", "other_memory_pp_on_first",
                                     "other_memory_pp_on_last"};

/* A number: <section>[_sp].<sequence>.<field>[.<degree>], in MB. */
typedef struct row {
    int section;
    bool sp, right; /* profiled with sequence parallelism; sequence lengths equal the request's */
    int64_t sequence;
    memory_field field;
    int64_t degree; /* CHECKPOINT, or degree of tp or sp */
    double mb;
} memory_row;

typedef struct rows {
    const calc_galvatron_request *request;
    memory_row *item;
    size_t count, capacity;
} memory_rows;

/* @return whether it names a section of requested layers or of the rest */
static bool parse_section(const calc_galvatron_request *request, const char *key, memory_row *row)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    row->sp = calc_galvatron_key(key, "layertype_#_sp", values) == 1;
    if (row->sp || calc_galvatron_key(key, "layertype_#", values) == 1) {
        row->section = LAYERS + (values[0] < request->types ? (int)values[0] : 0);
        return values[0] < request->types;
    }
    for (int place = 0; place < CALC_GALVATRON_PLACES; place++) {
        size_t length = strlen(places[place]);
        if (strncmp(key, places[place], length) == 0) {
            row->section = place;
            row->sp = strcmp(key + length, "_sp") == 0;
            return row->sp || !key[length];
        }
    }
    return false;
}

/* @return 0: no such field; 1: a number; 2: numbers by degree */
static int parse_field(const char *key, memory_row *row)
{
    bool layer = row->section >= LAYERS;
    if (layer && strcmp(key, "parameter_size") == 0) {
        row->field = PARAMETERS;
        return 1;
    }
    if (strcmp(key, layer ? "tp_activation_per_bsz_dict" : "activation") == 0) {
        row->field = ACTIVATIONS;
        return 2;
    }
    row->field = STATES;
    return !layer && strcmp(key, "model_states") == 0 ? 2 : 0;
}

static bool parse_degree(const char *key, memory_row *row)
{
    row->degree = CHECKPOINT;
    return strcmp(key, "checkpoint") == 0 ||
           (calc_galvatron_key(key, "#", &row->degree) == 1 && row->degree > 0);
}

static calc_json_number_use parse(const calc_galvatron_request *request, const char *const *key,
                                  int depth, memory_row *row)
{
    if (!parse_section(request, key[0], row)) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    if (depth == 1) {
        return CALC_JSON_NUMBER_INSIDE;
    }
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    int count = calc_galvatron_key(key[1], "*", values);
    row->sequence = count >= 1 ? values[0] : 0;
    row->right = row->section >= LAYERS
                     ? count == 1 && values[0] == request->layers[row->section - LAYERS].seq_len
                     : calc_galvatron_is_sequences(request, values, count);
    if (row->sequence <= 0) {
        return CALC_JSON_NUMBER_REFUSED;
    }
    if (depth == 2) {
        return CALC_JSON_NUMBER_INSIDE;
    }
    int field = parse_field(key[2], row);
    if (depth == 3) {
        return field == 1   ? CALC_JSON_NUMBER_TAKEN
               : field == 2 ? CALC_JSON_NUMBER_INSIDE
                            : CALC_JSON_NUMBER_IGNORED;
    }
    return parse_degree(key[3], row) ? CALC_JSON_NUMBER_TAKEN : CALC_JSON_NUMBER_REFUSED;
}

static calc_json_number_use take(void *context, const char *const *key, int depth,
                                 const double *value)
{
    memory_rows *rows = context;
    memory_row row = {0};
    calc_json_number_use use = parse(rows->request, key, depth, &row);
    if (value) {
        row.mb = *value;
        if (!CALC_PUSH(rows->item, rows->count, rows->capacity, &row)) {
            return CALC_JSON_NUMBER_NO_ROOM;
        }
    }
    return use;
}

/* A look-up and its options. */
typedef struct lookup {
    const calc_galvatron_reading *reading;
    const memory_rows *rows;
    bool sp;
    calc_status status;
} memory_lookup;

/* The longest or the shortest profiled sequence of a section; 0: there is none. */
static int64_t profiled(const memory_lookup *l, int section, bool longest)
{
    int64_t found = 0;
    for (size_t i = 0; i < l->rows->count; i++) {
        const memory_row *row = &l->rows->item[i];
        if (row->section == section && row->sp == l->sp &&
            (found == 0 || (longest ? row->sequence > found : row->sequence < found))) {
            found = row->sequence;
        }
    }
    return found;
}

/* @param sequence  0: the sequence of the request */
static const memory_row *find(const memory_lookup *l, const memory_row *like)
{
    for (size_t i = 0; i < l->rows->count; i++) {
        const memory_row *row = &l->rows->item[i];
        if (row->section == like->section && row->sp == l->sp && row->field == like->field &&
            row->degree == like->degree &&
            (like->sequence ? row->sequence == like->sequence : row->right)) {
            return row;
        }
    }
    return NULL;
}

static void missing(memory_lookup *l, const memory_row *like)
{
    static const char *const fields[2][3] = {
        {"parameter_size", "activation", "model_states"},
        {"parameter_size", "tp_activation_per_bsz_dict", "model_states"}};
    char own[SECTION_NAME], name[SECTION_NAME + 4], sequence[96] = "", number[24] = "";
    int64_t longest = profiled(l, like->section, true);
    snprintf(own, sizeof own, "layertype_%d", like->section - LAYERS);
    snprintf(name, sizeof name, "%s%s", like->section < LAYERS ? places[like->section] : own,
             l->sp ? "_sp" : "");
    if (longest == 0) {
        l->status = calc_galvatron_file_error(
            l->reading, CALC_ERR_FIELD,
            "profile the memory of this model, with the sequence_parallel of the request",
            "no section %s", name);
        return;
    }
    if (like->sequence || like->section >= LAYERS) {
        snprintf(sequence, sizeof sequence, "%" PRId64,
                 like->sequence ? like->sequence
                                : l->reading->request->layers[like->section - LAYERS].seq_len);
    } else {
        for (int type = 0; type < l->reading->request->types; type++) {
            calc_append(sequence, sizeof sequence, "%s%" PRId64, type ? "_" : "",
                        l->reading->request->layers[type].seq_len);
        }
    }
    if (like->field != PARAMETERS && like->degree != CHECKPOINT) {
        calc_append(number, sizeof number, ".%" PRId64, like->degree);
    }
    memory_row any = {.section = like->section,
                      .field = like->section >= LAYERS ? PARAMETERS : STATES,
                      .degree = like->section >= LAYERS ? CHECKPOINT : 1,
                      .sequence = like->sequence};
    char hint[160] = "profile that degree, or search fewer: max_tp_deg, max_sp_deg";
    if (!find(l, &any)) {
        snprintf(hint, sizeof hint,
                 "sequences up to %" PRId64 " are there; memory_profile_mode sequence scales the "
                 "longest",
                 longest);
    }
    l->status = calc_galvatron_file_error(
        l->reading, CALC_ERR_FIELD, hint, "no %s.%s.%s%s, in MB", name, sequence,
        fields[like->section >= LAYERS][like->field],
        like->field == ACTIVATIONS && like->degree == CHECKPOINT ? ".checkpoint" : number);
}

static double value_of(memory_lookup *l, int section, memory_field field, int64_t degree)
{
    const calc_galvatron_request *request = l->reading->request;
    memory_row like = {.section = section, .field = field, .degree = degree};
    /* The sequence length whose figure is used: the shortest profiled one for parameters, the
     * longest for all else; 0: the request's. */
    like.sequence = l->reading->request->memory_profile_mode == CALC_GALVATRON_MEMORY_STATIC
                        ? 0
                        : profiled(l, section, field != PARAMETERS);
    const memory_row *row = l->status == CALC_OK ? find(l, &like) : NULL;
    if (!row) {
        if (l->status == CALC_OK) {
            missing(l, &like);
        }
        return 0;
    }
    bool scaled = like.sequence && field == ACTIVATIONS;
    return scaled ? row->mb / (double)like.sequence * (double)request->layers[0].seq_len : row->mb;
}

static calc_status use_rows(const calc_galvatron_reading *r, const memory_rows *rows)
{
    memory_lookup l = {.reading = r, .rows = rows, .sp = r->request->sequence_parallel};
    if (l.sp && profiled(&l, LAYERS, true) == 0) {
        l.sp = false;
        if (profiled(&l, LAYERS, true) && r->request->dialect == CALC_GALVATRON_PADDLE) {
            /* the port's files do not have these sections */
        } else if (profiled(&l, LAYERS, true)) {
            calc_notes_add(&r->out->notes,
                           "%s has no sections _sp: memory is of those without"
                           ", whatever they were profiled with",
                           r->name);
        } else {
            l.sp = true;
        }
    }
    const calc_galvatron_needs needs = calc_galvatron_needs_of(r->request);
    for (int type = 0; type < r->request->types; type++) {
        calc_galvatron_layer_memory *out = &r->out->memory[type];
        int most = needs.tp > needs.sp ? needs.tp : needs.sp;
        out->parameter_mb = value_of(&l, LAYERS + type, PARAMETERS, CHECKPOINT);
        for (int k = 0; k <= most; k++) {
            out->activation_mb[k] = value_of(&l, LAYERS + type, ACTIVATIONS, (int64_t)1 << k);
        }
        out->checkpoint_mb =
            r->request->disable_ckpt ? 0 : value_of(&l, LAYERS + type, ACTIVATIONS, CHECKPOINT);
    }
    for (int place = 0; place < (needs.pp > 0 ? CALC_GALVATRON_PLACES : 1); place++) {
        /* With several stages, a group can have at most half of the ranks. */
        calc_galvatron_other_memory *out = &r->out->other_memory[place];
        int widest = place == CALC_GALVATRON_OFF ? needs.world : needs.world - 1;
        for (int k = 0; k <= widest; k++) {
            if (k <= needs.ends_tp) {
                out->states_mb[k] = value_of(&l, place, STATES, (int64_t)1 << k);
            }
            if (k <= needs.ends_tp || k <= needs.ends_sp) {
                out->activation_mb[k] = value_of(&l, place, ACTIVATIONS, (int64_t)1 << k);
            }
        }
    }
    if (l.status == CALC_OK && r->request->memory_profile_mode == CALC_GALVATRON_MEMORY_SEQUENCE) {
        int64_t at = r->request->layers[0].seq_len;
        int64_t longest = profiled(&l, LAYERS, true), shortest = profiled(&l, LAYERS, false);
        if (at > longest || at < shortest) {
            calc_notes_add(&r->out->notes,
                           "sequence %" PRId64 " is %.3g times the longest profiled (%" PRId64
                           "): activations are scaled",
                           at, (double)at / (double)longest, longest);
        }
    }
    return l.status;
}

calc_status calc_galvatron_read_memory(const calc_galvatron_reading *r)
{
    memory_rows rows = {.request = r->request};
    const calc_json_numbers reader = {
        .context = &rows,
        .take = take,
        .least = 0,
        .keys = "below a section are sequences; below a table degrees of tp, or checkpoint"};
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    status = status ? status : use_rows(r, &rows);
    free(rows.item);
    return status;
}

static int limited(bool disabled, int64_t most, int world)
{
    int degree = disabled ? 0 : most < 0 ? world : calc_galvatron_doublings(most);
    return degree < world ? degree : world;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

calc_galvatron_needs calc_galvatron_needs_of(const calc_galvatron_request *request)
{
    int world = calc_galvatron_doublings(calc_galvatron_world(request));
    calc_galvatron_needs needs = {.world = world};
    needs.pp = least(limited(request->disable_pp, request->max_pp_deg, world),
                     calc_galvatron_doublings(calc_galvatron_layer_count(request)));
    needs.tp = limited(request->disable_tp, request->max_tp_deg, world);
    needs.sp = limited(request->disable_sp, request->max_sp_deg, world);
    needs.ends_tp = request->disable_embedding_lmhead_tp ? 0 : needs.tp;
    needs.ends_sp = request->disable_embedding_lmhead_sp ? 0 : needs.sp;
    return needs;
}

calc_status calc_galvatron_world_check(const calc_galvatron_request *request, calc_errors *errors)
{
    int64_t world = calc_galvatron_world(request);
    int k = calc_galvatron_doublings(world);
    if (world == (int64_t)1 << k && k < CALC_GALVATRON_DOUBLINGS) {
        return CALC_OK;
    }
    return calc_errors_add(
        errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, "degrees are powers of two, and use all GPUs",
        "%" PRId64 " nodes of %" PRId64 " GPUs are %" PRId64 ", expected a power of two up to %d",
        request->num_nodes, request->num_gpus_per_node, world, 1 << (CALC_GALVATRON_DOUBLINGS - 1));
}

calc_status calc_galvatron_file_error(const calc_galvatron_reading *r, calc_status status,
                                      const char *hint, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return calc_errors_at(r->errors, status, r->name, 0, 0, hint, "%s", text);
}

enum { DIGITS = 12 /* most digits of a number */ };

/* Reads a number at *text and advances *text past it. */
static bool number(const char **text, int64_t *out)
{
    size_t digits = strspn(*text, "0123456789");
    *out = 0;
    for (size_t i = 0; i < digits && digits <= DIGITS; i++) {
        *out = *out * 10 + ((*text)[i] - '0');
    }
    *text += digits;
    return digits >= 1 && digits <= DIGITS;
}

/* Reads numbers up to the end of the text, from index `count` on. */
static int list(const char *text, int64_t *values, int count)
{
    bool bracket = *text == '[';
    text += bracket;
    for (;;) {
        if (count == CALC_GALVATRON_KEY_VALUES || !number(&text, &values[count++])) {
            return -1;
        }
        if (*text != (bracket ? ',' : '_')) {
            break;
        }
        text++;
        text += bracket && *text == ' ';
    }
    return strcmp(text, bracket ? "]" : "") == 0 ? count : -1;
}

int calc_galvatron_key(const char *key, const char *pattern, int64_t *values)
{
    int count = 0;
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            return list(key, values, count);
        }
        if (*pattern == '#') {
            if (count == CALC_GALVATRON_KEY_VALUES || !number(&key, &values[count++])) {
                return -1;
            }
        } else if (*key++ != *pattern) {
            return -1;
        }
    }
    return *key ? -1 : count;
}

bool calc_galvatron_is_sequences(const calc_galvatron_request *request, const int64_t *values,
                                 int count)
{
    for (int type = 0; type < count && type < request->types; type++) {
        if (values[type] != request->layers[type].seq_len) {
            return false;
        }
    }
    return count == request->types;
}

/* Limits beyond any processor's speed, any network's bandwidth, and any layer's size relative to 12
 * times the square of its width. A number beyond them is in another unit. */
static const double MOST_FLOP_PER_S = 2e16;
static const double MOST_MB_PER_MS = 1e5, LEAST = 1e-9 /* of what is divided by */;
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
        status = status ? status : check_rate(r, "allreduce_size", 1 / p->strided[k]);
    } else if (file == CALC_GALVATRON_FILE_P2P) {
        status = p->p2p[k] > 0 ? check_rate(r, "pp_size", 1 / p->p2p[k]) : CALC_OK;
    } else if (file == CALC_GALVATRON_FILE_COLLECTIVES) {
        status = check_times(r, "half of allreduce_size", &p->all_gather[k]);
        status = status ? status : check_times(r, "all2all_size", &p->all_to_all[k]);
    }
    return status;
}

calc_status calc_galvatron_read(const calc_galvatron_reading *r, calc_galvatron_file file)
{
    static calc_status (*const readers[CALC_GALVATRON_FILE_COUNT])(
        const calc_galvatron_reading *) = {
        calc_galvatron_read_compute, calc_galvatron_read_memory,  calc_galvatron_read_allreduce,
        calc_galvatron_read_p2p,     calc_galvatron_read_overlap, calc_galvatron_read_collectives};
    calc_status status = readers[file](r);
    /* Whether the numbers can be in the expected units: no processor is a thousand times faster
     * than existing ones, and no layer is a thousand times larger than its width implies. */
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

/* About the mean of x the line is orthogonal to the constant, and the curve, u^2 without its line
 * and mean, to both, so that each coefficient is a quotient of two sums (Forsythe 1957, DOI
 * 10.1137/0105007). */
calc_galvatron_line calc_galvatron_fit(const double *x, const double *y, size_t count, double *bend)
{
    calc_galvatron_line line = {.least = INFINITY};
    double centre = 0, squares = 0, cubes = 0, products = 0, curves = 0, bent = 0;
    for (size_t i = 0; i < count; i++) {
        centre += x[i] / (double)count;
        line.offset += y[i] / (double)count;
        line.least = fmin(line.least, x[i]);
        line.most = fmax(line.most, x[i]);
    }
    for (size_t i = 0; i < count; i++) {
        double u = x[i] - centre;
        squares += u * u;
        cubes += u * u * u;
        products += u * y[i];
    }
    line.slope = squares > 0 ? products / squares : 0;
    line.offset -= line.slope * centre;
    if (bend) {
        double skew = squares > 0 ? cubes / squares : 0;
        for (size_t i = 0; i < count; i++) {
            double u = x[i] - centre, curve = u * (u - skew) - squares / (double)count;
            curves += curve * curve;
            bent += curve * y[i];
        }
        *bend = curves > 1e-20 * squares * squares ? bent / curves : 0;
        line.offset += *bend * (centre * (centre + skew) - squares / (double)count);
        line.slope -= *bend * (2 * centre + skew);
    }
    return line;
}

void calc_galvatron_collectives_from_bandwidth(const calc_galvatron_request *request,
                                               calc_galvatron_profiles *out)
{
    calc_galvatron_needs needs = calc_galvatron_needs_of(request);
    memset(out->all_gather, 0, sizeof out->all_gather);
    memset(out->all_to_all, 0, sizeof out->all_to_all);
    for (int k = 1; k <= needs.world; k++) {
        double ranks = (double)((int64_t)1 << k);
        double ms_per_mb = (ranks - 1) / ranks * out->consecutive[k];
        out->all_gather[k].line.slope = ms_per_mb; /* half of an all-reduce: once around */
        out->all_to_all[k].line.slope = ms_per_mb;
    }
}

enum { POINTS = 8 /* least number for a line */ };

/* Bandwidths in MB/ms by log2 of ranks; 0: not in the file. */
typedef struct bandwidths {
    double consecutive[CALC_GALVATRON_DOUBLINGS], strided[CALC_GALVATRON_DOUBLINGS];
    double either[CALC_GALVATRON_DOUBLINGS]; /* same value for both in the file */
} bandwidth_table;

/* The place of a number of ranks, if the search uses that number. */
static calc_json_number_use take_size(double *table, int64_t ranks, const double *value)
{
    int k = calc_galvatron_doublings(ranks);
    if (k >= CALC_GALVATRON_DOUBLINGS || ranks != (int64_t)1 << k) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    table[k] = value ? *value : table[k];
    return CALC_JSON_NUMBER_TAKEN;
}

static calc_json_number_use take_allreduce(void *context, const char *const *key, int depth,
                                           const double *value)
{
    bandwidth_table *table = context;
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    (void)depth;
    if (strncmp(key[0], "allreduce_size_", 15) != 0) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    if (calc_galvatron_key(key[0], "allreduce_size_#", values) == 1) {
        return take_size(table->either, values[0], value);
    }
    if (calc_galvatron_key(key[0], "allreduce_size_#_consec_#", values) != 2 || values[1] > 1) {
        return CALC_JSON_NUMBER_REFUSED;
    }
    return take_size(values[1] ? table->consecutive : table->strided, values[0], value);
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
        .take = take_allreduce,
        .least = LEAST,
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

static calc_json_number_use take_p2p(void *context, const char *const *key, int depth,
                                     const double *value)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    (void)depth;
    if (strncmp(key[0], "pp_size_", 8) != 0) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    return calc_galvatron_key(key[0], "pp_size_#", values) == 1
               ? take_size(context, values[0], value)
               : CALC_JSON_NUMBER_REFUSED;
}

calc_status calc_galvatron_read_p2p(const calc_galvatron_reading *r)
{
    double table[CALC_GALVATRON_DOUBLINGS] = {0};
    const calc_json_numbers reader = {.context = table,
                                      .take = take_p2p,
                                      .least = LEAST,
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

static calc_json_number_use take_overlap(void *context, const char *const *key, int depth,
                                         const double *value)
{
    double *overlap = context;
    (void)depth;
    *overlap = value ? *value : *overlap;
    return strcmp(key[0], "overlap_coe") == 0 ? CALC_JSON_NUMBER_TAKEN : CALC_JSON_NUMBER_IGNORED;
}

calc_status calc_galvatron_read_overlap(const calc_galvatron_reading *r)
{
    r->out->overlap = 0;
    const calc_json_numbers reader = {
        .context = &r->out->overlap, .take = take_overlap, .least = 1};
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    if (status == CALC_OK && r->out->overlap == 0) {
        return calc_galvatron_file_error(
            r, CALC_ERR_FIELD, "1 says that computing and messages do not slow each other down",
            "no overlap_coe");
    }
    return status;
}

static calc_json_number_use take_collective(void *context, const char *const *key, int depth,
                                            const double *value)
{
    calc_galvatron_profiles *out = context;
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    bool gather = calc_galvatron_key(key[0], "allreduce_size_#_#MB_time", values) == 2;
    (void)depth;
    if (!gather && calc_galvatron_key(key[0], "all2all_size_#_#MB_time", values) != 2) {
        bool meant = strncmp(key[0], "allreduce_size_", 15) == 0 ||
                     strncmp(key[0], "all2all_size_", 13) == 0;
        return meant ? CALC_JSON_NUMBER_REFUSED : CALC_JSON_NUMBER_IGNORED;
    }
    int k = calc_galvatron_doublings(values[0]);
    if (k >= CALC_GALVATRON_DOUBLINGS || values[0] != (int64_t)1 << k || values[1] == 0) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    calc_galvatron_collective *table = gather ? &out->all_gather[k] : &out->all_to_all[k];
    if (table->count == CALC_GALVATRON_POINTS) {
        return CALC_JSON_NUMBER_REFUSED;
    }
    if (value) {
        table->mb[table->count] = (double)values[1];
        /* An all-gather takes half of an all-reduce. */
        table->ms[table->count++] = gather ? *value * 0.5 : *value;
    }
    return CALC_JSON_NUMBER_TAKEN;
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
    table->line = calc_galvatron_fit(table->mb, table->ms, (size_t)table->count, NULL);
    double least = INFINITY; /* message of the search: one sample of the smallest layer */
    for (int type = 0; type < r->request->types; type++) {
        least = fmin(least, calc_galvatron_message_mb(r->request, 1, type));
    }
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
                                      .take = take_collective,
                                      .least = LEAST,
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
