#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "galvatron/profiles.h"
#include "io/json_numbers.h"

/* A number of a file. */
typedef struct row {
    int what; /* of computation the type of layers, or OTHER; of memory the section; else the key */
    bool sp;  /* of memory: profiled with sequence parallelism */
    int field;    /* of memory */
    int64_t size; /* batch; degree of tp or sp, or CHECKPOINT; ranks */
    int64_t at;   /* sequence length, the first of several; MB of a message */
    bool right;   /* sequence lengths are the request's */
    double number;
} number_row;

/* The numbers of a file, in its order. */
typedef struct rows {
    const calc_galvatron_reading *reading;
    calc_galvatron_file file;
    number_row *item;
    size_t count, capacity;
    /* Of a search among those of memory. */
    bool with_sp;
    calc_status status;
} number_rows;

/* ---- Keys ------------------------------------------------------------------------------------ */

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

/* Whether the numbers of a "*" are the sequence lengths of all types of layers. */
static bool is_sequences(const calc_galvatron_request *request, const int64_t *values, int count)
{
    for (int type = 0; type < count && type < request->types; type++) {
        if (values[type] != request->layers[type].seq_len) {
            return false;
        }
    }
    return count == request->types;
}

enum {
    LAYER_KEY,
    OTHER_KEY,
    EITHER_KEY, /* neighbours or not */
    CONSECUTIVE_KEY,
    P2P_KEY,
    OVERLAP_KEY,
    GATHER_KEY,
    ALL_TO_ALL_KEY,
    KEYS,
    OTHER = -1 /* embedding and head */
};

/* Keys of all files but those of memory, whose numbers are in objects. */
static const struct {
    calc_galvatron_file file;
    const char *key;
} patterns[KEYS] = {
    [LAYER_KEY] = {CALC_GALVATRON_FILE_COMPUTATION, "layertype_#_bsz#_seq#"},
    [OTHER_KEY] = {CALC_GALVATRON_FILE_COMPUTATION, "layertype_other_bsz#_seq*"},
    [EITHER_KEY] = {CALC_GALVATRON_FILE_ALLREDUCE, "allreduce_size_#"},
    [CONSECUTIVE_KEY] = {CALC_GALVATRON_FILE_ALLREDUCE, "allreduce_size_#_consec_#"},
    [P2P_KEY] = {CALC_GALVATRON_FILE_P2P, "pp_size_#"},
    [OVERLAP_KEY] = {CALC_GALVATRON_FILE_OVERLAP, "overlap_coe"},
    [GATHER_KEY] = {CALC_GALVATRON_FILE_COLLECTIVES, "allreduce_size_#_#MB_time"},
    [ALL_TO_ALL_KEY] = {CALC_GALVATRON_FILE_COLLECTIVES, "all2all_size_#_#MB_time"}};

/* What a key with these numbers says of its own. */
static calc_json_number_use parse_key(const number_rows *rows, int key, const int64_t *v, int count,
                                      number_row *row)
{
    const calc_galvatron_request *request = rows->reading->request;
    *row = (number_row){.what = key, .size = v[0], .at = v[1]};
    if (key == LAYER_KEY) {
        bool known = v[0] < request->types;
        row->what = known ? (int)v[0] : CALC_GALVATRON_TYPES;
        row->size = v[1];
        row->at = v[2];
        row->right = known && v[2] == request->layers[v[0]].seq_len;
    } else if (key == OTHER_KEY) {
        row->what = OTHER;
        row->right = is_sequences(request, &v[1], count - 1);
    } else if (key != OVERLAP_KEY) {
        int k = calc_galvatron_doublings(v[0]);
        bool used = k < CALC_GALVATRON_DOUBLINGS && v[0] == (int64_t)1 << k;
        int alike = 0; /* sizes of messages */
        for (size_t i = 0; i < rows->count && key >= GATHER_KEY; i++) {
            alike += rows->item[i].what == key && rows->item[i].size == v[0];
        }
        return key == CONSECUTIVE_KEY && v[1] > 1          ? CALC_JSON_NUMBER_REFUSED
               : !used || (key >= GATHER_KEY && v[1] == 0) ? CALC_JSON_NUMBER_IGNORED
               : alike == CALC_GALVATRON_POINTS            ? CALC_JSON_NUMBER_REFUSED
                                                           : CALC_JSON_NUMBER_TAKEN;
    }
    return key == OVERLAP_KEY || (row->size > 0 && row->at > 0) ? CALC_JSON_NUMBER_TAKEN
                                                                : CALC_JSON_NUMBER_REFUSED;
}

/* Keys that begin like one of the file and go on in another way are wrong. */
static calc_json_number_use parse(const number_rows *rows, const char *key, number_row *row)
{
    calc_json_number_use use = CALC_JSON_NUMBER_IGNORED;
    for (int i = 0; i < KEYS; i++) {
        int64_t values[CALC_GALVATRON_KEY_VALUES] = {0};
        const char *pattern = patterns[i].key;
        size_t begin = strcspn(pattern, "#");
        if (patterns[i].file != rows->file) {
            continue;
        }
        int count = calc_galvatron_key(key, pattern, values);
        if (count >= 0) {
            return parse_key(rows, i, values, count, row);
        }
        use = pattern[begin] && strncmp(key, pattern, begin) == 0 ? CALC_JSON_NUMBER_REFUSED : use;
    }
    return use;
}

/* Sections: embedding and head by place, then layers by type. */
enum { LAYERS = CALC_GALVATRON_PLACES, CHECKPOINT = 0, SECTION_NAME = 64 };
typedef enum field { PARAMETERS, ACTIVATIONS, STATES, FIELDS } memory_field;

static const char *const places[] = {"other_memory_pp_off", "other_memory_pp_on_first",
                                     "other_memory_pp_on_last"};
/* Fields of places and of layers; the activations and states are by degree. */
static const char *const fields[2][FIELDS] = {{"", "activation", "model_states"},
                                              {"parameter_size", "tp_activation_per_bsz_dict", ""}};

/* @return whether it names a section of requested layers or of the rest */
static bool parse_section(const calc_galvatron_request *request, const char *key, number_row *row)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    row->sp = calc_galvatron_key(key, "layertype_#_sp", values) == 1;
    if (row->sp || calc_galvatron_key(key, "layertype_#", values) == 1) {
        row->what = LAYERS + (values[0] < request->types ? (int)values[0] : 0);
        return values[0] < request->types;
    }
    for (int place = 0; place < CALC_GALVATRON_PLACES; place++) {
        size_t length = strlen(places[place]);
        if (strncmp(key, places[place], length) == 0) {
            row->what = place;
            row->sp = strcmp(key + length, "_sp") == 0;
            return row->sp || !key[length];
        }
    }
    return false;
}

/* A key of memory: <section>[_sp].<sequence>.<field>[.<degree>], in MB. */
static calc_json_number_use parse_memory(const calc_galvatron_request *request,
                                         const char *const *key, int depth, number_row *row)
{
    if (!parse_section(request, key[0], row)) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    if (depth == 1) {
        return CALC_JSON_NUMBER_INSIDE;
    }
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    int count = calc_galvatron_key(key[1], "*", values);
    row->at = count >= 1 ? values[0] : 0;
    row->right = row->what >= LAYERS
                     ? count == 1 && values[0] == request->layers[row->what - LAYERS].seq_len
                     : is_sequences(request, values, count);
    if (row->at <= 0) {
        return CALC_JSON_NUMBER_REFUSED;
    }
    if (depth == 2) {
        return CALC_JSON_NUMBER_INSIDE;
    }
    bool layer = row->what >= LAYERS;
    row->field = *key[2] ? PARAMETERS : FIELDS;
    while (row->field < FIELDS && strcmp(fields[layer][row->field], key[2]) != 0) {
        row->field++;
    }
    if (depth == 3) {
        return row->field == FIELDS       ? CALC_JSON_NUMBER_IGNORED
               : row->field == PARAMETERS ? CALC_JSON_NUMBER_TAKEN
                                          : CALC_JSON_NUMBER_INSIDE;
    }
    row->size = CHECKPOINT;
    return strcmp(key[3], "checkpoint") == 0 ||
                   (calc_galvatron_key(key[3], "#", &row->size) == 1 && row->size > 0)
               ? CALC_JSON_NUMBER_TAKEN
               : CALC_JSON_NUMBER_REFUSED;
}

static calc_json_number_use take(void *context, const char *const *key, int depth,
                                 const double *value)
{
    number_rows *rows = context;
    number_row row = {0};
    calc_json_number_use use = rows->file == CALC_GALVATRON_FILE_MEMORY
                                   ? parse_memory(rows->reading->request, key, depth, &row)
                                   : parse(rows, key[0], &row);
    if (value) {
        row.number = *value;
        CALC_ADD(rows->item, rows->count, rows->capacity, &row);
    }
    return use;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The longest or the shortest profiled sequence of a section; 0: there is none. */
static int64_t profiled(const number_rows *l, int section, bool longest)
{
    int64_t found = 0;
    for (size_t i = 0; i < l->count; i++) {
        const number_row *row = &l->item[i];
        if (row->what == section && row->sp == l->with_sp &&
            (found == 0 || (longest ? row->at > found : row->at < found))) {
            found = row->at;
        }
    }
    return found;
}

/* @param sequence  0: the sequence of the request */
static const number_row *find(const number_rows *l, const number_row *like)
{
    for (size_t i = 0; i < l->count; i++) {
        const number_row *row = &l->item[i];
        if (row->what == like->what && row->sp == l->with_sp && row->field == like->field &&
            row->size == like->size && (like->at ? row->at == like->at : row->right)) {
            return row;
        }
    }
    return NULL;
}

static void missing(number_rows *l, const number_row *like)
{
    char own[SECTION_NAME], name[SECTION_NAME + 4], sequence[96] = "", number[24] = "";
    int64_t longest = profiled(l, like->what, true);
    snprintf(own, sizeof own, "layertype_%d", like->what - LAYERS);
    snprintf(name, sizeof name, "%s%s", like->what < LAYERS ? places[like->what] : own,
             l->with_sp ? "_sp" : "");
    if (longest == 0) {
        l->status = calc_errors_at(
            l->reading->errors, CALC_ERR_FIELD, l->reading->name, 0, 0,
            "profile the memory of this model, with the sequence_parallel of the request",
            "no section %s", name);
        return;
    }
    if (like->at || like->what >= LAYERS) {
        snprintf(sequence, sizeof sequence, "%jd",
                 like->at ? like->at : l->reading->request->layers[like->what - LAYERS].seq_len);
    } else {
        for (int type = 0; type < l->reading->request->types; type++) {
            calc_append(sequence, sizeof sequence, "%s%jd", type ? "_" : "",
                        l->reading->request->layers[type].seq_len);
        }
    }
    if (like->field != PARAMETERS && like->size != CHECKPOINT) {
        calc_append(number, sizeof number, ".%jd", like->size);
    }
    number_row any = {.what = like->what,
                      .field = like->what >= LAYERS ? PARAMETERS : STATES,
                      .size = like->what >= LAYERS ? CHECKPOINT : 1,
                      .at = like->at};
    char hint[160] = "profile that degree, or search fewer: max_tp_deg, max_sp_deg";
    if (!find(l, &any)) {
        snprintf(hint, sizeof hint,
                 "sequences up to %jd are there; memory_profile_mode sequence scales the "
                 "longest",
                 longest);
    }
    l->status = calc_errors_at(
        l->reading->errors, CALC_ERR_FIELD, l->reading->name, 0, 0, hint, "no %s.%s.%s%s, in MB",
        name, sequence, fields[like->what >= LAYERS][like->field],
        like->field == ACTIVATIONS && like->size == CHECKPOINT ? ".checkpoint" : number);
}

static double value_of(number_rows *l, int section, memory_field field, int64_t degree)
{
    const calc_galvatron_request *request = l->reading->request;
    number_row like = {.what = section, .field = (int)field, .size = degree};
    /* The sequence length whose figure is used: the shortest profiled one for parameters, the
     * longest for all else; 0: the request's. */
    like.at = l->reading->request->memory_profile_mode == CALC_GALVATRON_MEMORY_STATIC
                  ? 0
                  : profiled(l, section, field != PARAMETERS);
    const number_row *row = l->status == CALC_OK ? find(l, &like) : NULL;
    if (!row) {
        if (l->status == CALC_OK) {
            missing(l, &like);
        }
        return 0;
    }
    bool scaled = like.at && field == ACTIVATIONS;
    return scaled ? row->number / (double)like.at * (double)request->layers[0].seq_len
                  : row->number;
}

static calc_status use_memory(number_rows *rows)
{
    const calc_galvatron_reading *r = rows->reading;
    rows->with_sp = r->request->sequence_parallel;
    if (rows->with_sp && profiled(rows, LAYERS, true) == 0) {
        rows->with_sp = false;
        if (profiled(rows, LAYERS, true) && r->request->dialect == CALC_GALVATRON_PADDLE) {
            /* the port's files do not have these sections */
        } else if (profiled(rows, LAYERS, true)) {
            calc_notes_add(&r->out->notes,
                           "%s has no sections _sp: memory is of those without"
                           ", whatever they were profiled with",
                           r->name);
        } else {
            rows->with_sp = true;
        }
    }
    const calc_galvatron_needs needs = calc_galvatron_needs_of(r->request);
    for (int type = 0; type < r->request->types; type++) {
        calc_galvatron_layer_memory *out = &r->out->memory[type];
        int most = needs.tp > needs.sp ? needs.tp : needs.sp;
        out->parameter_mb = value_of(rows, LAYERS + type, PARAMETERS, CHECKPOINT);
        for (int k = 0; k <= most; k++) {
            out->activation_mb[k] = value_of(rows, LAYERS + type, ACTIVATIONS, (int64_t)1 << k);
        }
        out->checkpoint_mb =
            r->request->disable_ckpt ? 0 : value_of(rows, LAYERS + type, ACTIVATIONS, CHECKPOINT);
    }
    for (int place = 0; place < (needs.pp > 0 ? CALC_GALVATRON_PLACES : 1); place++) {
        /* With several stages, a group can have at most half of the ranks. */
        calc_galvatron_other_memory *out = &r->out->other_memory[place];
        int widest = place == CALC_GALVATRON_OFF ? needs.world : needs.world - 1;
        for (int k = 0; k <= widest; k++) {
            if (k <= needs.ends_tp) {
                out->states_mb[k] = value_of(rows, place, STATES, (int64_t)1 << k);
            }
            if (k <= needs.ends_tp || k <= needs.ends_sp) {
                out->activation_mb[k] = value_of(rows, place, ACTIVATIONS, (int64_t)1 << k);
            }
        }
    }
    if (rows->status == CALC_OK &&
        r->request->memory_profile_mode == CALC_GALVATRON_MEMORY_SEQUENCE) {
        int64_t at = r->request->layers[0].seq_len;
        int64_t longest = profiled(rows, LAYERS, true), shortest = profiled(rows, LAYERS, false);
        if (at > longest || at < shortest) {
            calc_notes_add(
                &r->out->notes,
                "sequence %jd is %.3g times the longest profiled (%jd): activations are scaled", at,
                (double)at / (double)longest, longest);
        }
    }
    return rows->status;
}

/* ---- Computation ----------------------------------------------------------------------------- */

enum { BATCHES = 8 /* least for a line */ };

/* The subject of a line, in words of the file. */
typedef struct subject {
    const number_rows *rows;
    int type;
    char name[32]; /* layertype_0 */
    int64_t sequence;
} compute_subject;

/* Finds the first row of a type, with the right sequence length if `right`; NULL: none. */
static const number_row *first(const number_rows *rows, int type, bool right)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->item[i].what == type && (rows->item[i].right || !right)) {
            return &rows->item[i];
        }
    }
    return NULL;
}

/* Finds a row by upstream's numbering: the rows of all types, one type after the other. */
static const number_row *counted(const number_rows *rows, int number)
{
    for (int type = 0; type <= CALC_GALVATRON_TYPES; type++) {
        for (size_t i = 0; i < rows->count; i++) {
            if (rows->item[i].what == type && number-- == 0) {
                return &rows->item[i];
            }
        }
    }
    return NULL;
}

static calc_status use_static(const compute_subject *s, calc_galvatron_compute *out)
{
    const calc_galvatron_reading *r = s->rows->reading;
    const number_row *row = NULL;
    if (r->request->compat) {
        row = s->type == OTHER ? first(s->rows, OTHER, false) : counted(s->rows, s->type);
    } else {
        row = first(s->rows, s->type, true);
        row = row ? row : first(s->rows, s->type, false);
    }
    if (!row) {
        return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0,
                              "time_profile_mode static takes the first of them",
                              "no %s_bsz<B>_seq%jd: forward time of a sample, in ms", s->name,
                              s->sequence);
    }
    if (!row->right) {
        calc_notes_add(&r->out->notes,
                       "%s was profiled at sequence %jd: time_profile_mode static uses"
                       " that time for sequence %jd as it is",
                       s->name, row->at, s->sequence);
    }
    *out = (calc_galvatron_compute){.line = {.offset = row->number}};
    return CALC_OK;
}

/* The points of a subject: those with the right sequence length, or those of batch 1. */
static size_t points_of(const compute_subject *s, bool batch, double *x, double *y)
{
    size_t count = 0;
    for (size_t i = 0; i < s->rows->count; i++) {
        const number_row *row = &s->rows->item[i];
        if (row->what == s->type && (batch ? row->right : row->size == 1)) {
            x[count] = batch ? (double)row->size : (double)row->at;
            y[count++] = batch ? row->number * (double)row->size : row->number;
        }
    }
    return count;
}

static calc_status not_positive(const compute_subject *s, double ms, double samples)
{
    return calc_errors_at(
        s->rows->reading->errors, CALC_ERR_RANGE, s->rows->reading->name, 0, 0,
        "profile more batches or sequences, or look for an outlier",
        "the fit of %s is %g ms at sequence %jd and batch %g, expected more than 0", s->name, ms,
        s->sequence, samples);
}

/* Fits a line over batches. It must be positive from one sample on all ranks to the whole batch. */
static calc_status use_batch(const compute_subject *s, double *x, double *y,
                             calc_galvatron_compute *out)
{
    const calc_galvatron_request *request = s->rows->reading->request;
    size_t count = points_of(s, true, x, y);
    if (count < BATCHES) {
        return calc_errors_at(
            s->rows->reading->errors, CALC_ERR_FIELD, s->rows->reading->name, 0, 0,
            "profile more batches, or say time_profile_mode static",
            "%zu of %s_bsz<B>_seq%jd, expected at least %d: time_profile_mode batch fits a "
            "line over batches",
            count, s->name, s->sequence, BATCHES);
    }
    *out = (calc_galvatron_compute){.batch = true, .line = calc_galvatron_fit(x, y, count, NULL)};
    calc_galvatron_needs needs = calc_galvatron_needs_of(request);
    double least = 1.0 / (1 << (needs.tp > needs.sp ? needs.tp : needs.sp));
    double most = request->settle_bsz > 0 ? (double)request->settle_bsz : (double)request->max_bsz;
    for (int end = 0; end < 2; end++) {
        double samples = end ? fmax(1, most) : least;
        double ms = calc_galvatron_compute_ms(out, samples);
        if (s->type == OTHER ? ms < 0 : ms <= 0) {
            return not_positive(s, ms, samples);
        }
    }
    return CALC_OK;
}

/* Fits over sequence lengths: a parabola for layers, because attention grows with the square, and a
 * line for the rest. */
static calc_status use_sequence(const compute_subject *s, double *x, double *y,
                                calc_galvatron_compute *out)
{
    size_t count = points_of(s, false, x, y);
    int degree = s->type == OTHER ? 1 : 2;
    double bend = 0, at = (double)s->sequence;
    if (count <= (size_t)degree) {
        return calc_errors_at(
            s->rows->reading->errors, CALC_ERR_FIELD, s->rows->reading->name, 0, 0,
            "profile more sequences, or say time_profile_mode batch or static",
            "%zu of %s_bsz1_seq<S>, expected at least %d: time_profile_mode sequence fits a %s "
            "over "
            "sequences",
            count, s->name, degree + 1, degree == 1 ? "line" : "parabola");
    }
    calc_galvatron_line line = calc_galvatron_fit(x, y, count, degree == 2 ? &bend : NULL);
    *out =
        (calc_galvatron_compute){.line = {.offset = (bend * at + line.slope) * at + line.offset}};
    if (s->type == OTHER ? out->line.offset < 0 : out->line.offset <= 0) {
        return not_positive(s, out->line.offset, 1);
    }
    if (at > line.most || at < line.least) {
        calc_notes_add(&s->rows->reading->out->notes,
                       "sequence %jd is %.3g times the %s profiled (%.0f): times of "
                       "%s follow the %s",
                       s->sequence, at / (at > line.most ? line.most : line.least),
                       at > line.most ? "longest" : "shortest",
                       at > line.most ? line.most : line.least, s->name,
                       degree == 1 ? "line" : "parabola");
    }
    return CALC_OK;
}

static calc_status use_computation(number_rows *rows)
{
    const calc_galvatron_reading *r = rows->reading;
    double *x = calc_make(2 * rows->count, sizeof *x);
    double *y = x + rows->count;
    calc_status status = CALC_OK;
    for (int type = OTHER; type < r->request->types && status == CALC_OK; type++) {
        calc_galvatron_compute *out = type == OTHER ? &r->out->other : &r->out->layer[type];
        compute_subject s = {.rows = rows,
                             .type = type,
                             .sequence = r->request->layers[type == OTHER ? 0 : type].seq_len};
        if (type == OTHER) {
            calc_append(s.name, sizeof s.name, "layertype_other");
        } else {
            calc_append(s.name, sizeof s.name, "layertype_%d", type);
        }
        switch (r->request->time_profile_mode) {
        case CALC_GALVATRON_TIME_BATCH:
            status = use_batch(&s, x, y, out);
            break;
        case CALC_GALVATRON_TIME_SEQUENCE:
            status = use_sequence(&s, x, y, out);
            break;
        default:
            status = use_static(&s, out);
            break;
        }
    }
    free(x);
    return status;
}

/* ---- Networks -------------------------------------------------------------------------------- */

/* Limits beyond any processor's speed, any network's bandwidth, and any layer's size relative to 12
 * times the square of its width. A number beyond them is in another unit. */
static const double MOST_FLOP_PER_S = 2e16;
static const double MOST_MB_PER_MS = 1e5;
#define LEAST 1e-9 /* of what is divided by */
static const double LEAST_SQUARES = 0.25, MOST_SQUARES = 3000;

enum { POINTS = 8 /* least number for a line */ };

/* The number of a key with these sizes, the last of several; 0: none. */
static double number_at(const number_rows *rows, int key, int k, int64_t at)
{
    double number = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const number_row *row = &rows->item[i];
        bool it = row->what == key && row->size == (int64_t)1 << k && row->at == at;
        number = it ? row->number : number;
    }
    return number;
}

static calc_status no_size(const calc_galvatron_reading *r, const char *what, int ranks,
                           const char *rest)
{
    return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0,
                          "profile the machine with as many nodes and GPUs, or search "
                          "fewer",
                          "no %s%d%s", what, ranks, rest);
}

static calc_status use_allreduce(number_rows *rows)
{
    const calc_galvatron_reading *r = rows->reading;
    int world = calc_galvatron_needs_of(r->request).world;
    for (int k = 1; k <= world; k++) {
        double mb_per_ms[2]; /* of ranks with others between them, and of neighbours */
        for (int64_t near = 0; near < 2; near++) {
            double own = number_at(rows, CONSECUTIVE_KEY, k, near);
            mb_per_ms[near] = own > 0 ? own : number_at(rows, EITHER_KEY, k, 0);
        }
        mb_per_ms[0] = k == world ? mb_per_ms[1] : mb_per_ms[0];
        if (mb_per_ms[0] == 0 || mb_per_ms[1] == 0) {
            return no_size(r, "allreduce_size_", 1 << k,
                           mb_per_ms[1] == 0 ? "_consec_1" : "_consec_0");
        }
        r->out->consecutive[k] = 1 / mb_per_ms[1];
        r->out->strided[k] = 1 / mb_per_ms[0];
    }
    return CALC_OK;
}

static calc_status use_p2p(number_rows *rows)
{
    const calc_galvatron_reading *r = rows->reading;
    for (int k = 1; k <= calc_galvatron_needs_of(r->request).pp; k++) {
        double mb_per_ms = number_at(rows, P2P_KEY, k, 0);
        if (mb_per_ms == 0) {
            return no_size(r, "pp_size_", 1 << k, "");
        }
        r->out->p2p[k] = 1 / mb_per_ms;
    }
    return CALC_OK;
}

static calc_status use_overlap(number_rows *rows)
{
    if (rows->count == 0) {
        return calc_errors_at(rows->reading->errors, CALC_ERR_FIELD, rows->reading->name, 0, 0,
                              "1 says that computing and messages do not slow each other down",
                              "no overlap_coe");
    }
    rows->reading->out->overlap = rows->item[rows->count - 1].number;
    return CALC_OK;
}

static calc_status fit(const calc_galvatron_reading *r, calc_galvatron_collective *table,
                       const char *what, int ranks)
{
    if (table->count < POINTS) {
        return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0,
                              "profile the machine with as many nodes and GPUs, or "
                              "search fewer",
                              "%d of %s%d_<M>MB_time, expected at least %d", table->count, what,
                              ranks, POINTS);
    }
    table->line = calc_galvatron_fit(table->mb, table->ms, (size_t)table->count, NULL);
    double least = INFINITY; /* message of the search: one sample of the smallest layer */
    for (int type = 0; type < r->request->types; type++) {
        least = fmin(least, calc_galvatron_message_mb(r->request, 1, type));
    }
    double ms = calc_galvatron_collective_ms(table, least);
    if (ms <= 0) {
        return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, 0, 0, "look for an outlier",
                              "the line of %s%d_<M>MB_time is %g ms at %g MB, expected "
                              "more than 0",
                              what, ranks, ms, least);
    }
    return CALC_OK;
}

static calc_status use_collectives(number_rows *rows)
{
    const calc_galvatron_reading *r = rows->reading;
    calc_galvatron_needs needs = calc_galvatron_needs_of(r->request);
    calc_status status = CALC_OK;
    memset(r->out->all_gather, 0, sizeof r->out->all_gather);
    memset(r->out->all_to_all, 0, sizeof r->out->all_to_all);
    for (size_t i = 0; i < rows->count; i++) {
        const number_row *row = &rows->item[i];
        bool gather = row->what == GATHER_KEY;
        calc_galvatron_collective *table = &(
            gather ? r->out->all_gather : r->out->all_to_all)[calc_galvatron_doublings(row->size)];
        table->mb[table->count] = (double)row->at;
        /* An all-gather takes half of an all-reduce. */
        table->ms[table->count++] = gather ? row->number * 0.5 : row->number;
    }
    for (int k = 1; k <= needs.tp && status == CALC_OK; k++) {
        status = fit(r, &r->out->all_gather[k], "allreduce_size_", 1 << k);
    }
    for (int k = 1; k <= needs.sp && status == CALC_OK; k++) {
        status = fit(r, &r->out->all_to_all[k], "all2all_size_", 1 << k);
    }
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

calc_status calc_galvatron_read_numbers(const calc_galvatron_reading *r, calc_galvatron_file file)
{
    static const struct {
        double least;
        const char *keys;
        calc_status (*use)(number_rows *rows);
    } kinds[CALC_GALVATRON_FILE_COUNT] = {
        {0, "keys are layertype_<i>_bsz<B>_seq<S> and layertype_other_bsz<B>_seq<S>",
         use_computation},
        {0, "below a section are sequences; below a table degrees of tp, or checkpoint",
         use_memory},
        {LEAST, "keys are allreduce_size_<n>_consec_<0 or 1>, or allreduce_size_<n>; in MB/ms",
         use_allreduce},
        {LEAST, "keys are pp_size_<n>, in MB/ms", use_p2p},
        {1, NULL, use_overlap},
        {LEAST,
         "keys are allreduce_size_<n>_<M>MB_time and all2all_size_<n>_<M>MB_time, at most 64 M "
         "each",
         use_collectives}};
    number_rows rows = {.reading = r, .file = file};
    const calc_json_numbers reader = {
        .context = &rows, .take = take, .least = kinds[file].least, .keys = kinds[file].keys};
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    status = status ? status : kinds[file].use(&rows);
    free(rows.item);
    return status;
}

enum { SAMPLES = 64 /* samples in the checked time, so that an offset has little weight */ };

static calc_status check_memory(const calc_galvatron_reading *r, int type)
{
    double width = (double)r->request->layers[type].hidden_size;
    double mb = r->out->memory[type].parameter_mb;
    double squares = mb * 1048576 / 4 / (width * width);
    if (squares >= LEAST_SQUARES && squares <= MOST_SQUARES) {
        return CALC_OK;
    }
    return calc_errors_at(
        r->errors, CALC_ERR_RANGE, r->name, 0, 0,
        "it is in MB of 2^20 bytes, of parameters in float32",
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
    return calc_errors_at(
        r->errors, CALC_ERR_RANGE, r->name, 0, 0, "it is in milliseconds, of one sample",
        "layertype_%d: %.6g ms for %jd tokens of width %.0f, expected at least %.6g", type, ms,
        layers->seq_len, width, flop / MOST_FLOP_PER_S * 1e3);
}

static calc_status check_rate(const calc_galvatron_reading *r, const char *what, double mb_per_ms)
{
    return mb_per_ms <= MOST_MB_PER_MS ? CALC_OK
                                       : calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, 0, 0,
                                                        "it is in MB in a millisecond",
                                                        "%s: %.6g MB/ms, expected at most %g", what,
                                                        mb_per_ms, MOST_MB_PER_MS);
}

static calc_status check_times(const calc_galvatron_reading *r, const char *what,
                               const calc_galvatron_collective *c)
{
    for (int i = 0; i < c->count; i++) {
        if (c->mb[i] > MOST_MB_PER_MS * c->ms[i]) {
            return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, 0, 0, "it is in milliseconds",
                                  "%s of %g MB: %.6g ms, expected at least %g", what, c->mb[i],
                                  c->ms[i], c->mb[i] / MOST_MB_PER_MS);
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
    calc_status status = calc_galvatron_read_numbers(r, file);
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
