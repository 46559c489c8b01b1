#include "galvatron/profiles.h"

#include "base/buffer.h"
#include "base/error.h"
#include "io/json_numbers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static bool parse_sequence(const calc_galvatron_request *request, const char *key, memory_row *row)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    int count = calc_galvatron_key(key, "*", values);
    row->sequence = count >= 1 ? values[0] : 0;
    row->right = row->section >= LAYERS
                     ? count == 1 && values[0] == request->layers[row->section - LAYERS].seq_len
                     : calc_galvatron_is_sequences(request, values, count);
    return row->sequence > 0;
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
    if (!parse_sequence(request, key[1], row)) {
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

static const char *section_name(int section, bool sp, char *name)
{
    name[0] = '\0';
    if (section < LAYERS) {
        calc_append(name, SECTION_NAME, "%s", places[section]);
    } else {
        calc_append(name, SECTION_NAME, "layertype_%d", section - LAYERS);
    }
    return calc_append(name, SECTION_NAME, sp ? "_sp" : "");
}

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
    char name[SECTION_NAME], sequence[96], number[24] = "";
    int64_t longest = profiled(l, like->section, true);
    section_name(like->section, l->sp, name);
    if (longest == 0) {
        l->status = calc_galvatron_file_error(
            l->reading, CALC_ERR_FIELD,
            "profile the memory of this model, with the sequence_parallel of the request",
            "no section %s", name);
        return;
    }
    if (like->sequence) {
        sequence[0] = '\0';
        calc_append(sequence, sizeof sequence, "%" PRId64, like->sequence);
    } else if (like->section >= LAYERS) {
        sequence[0] = '\0';
        calc_append(sequence, sizeof sequence, "%" PRId64,
                    l->reading->request->layers[like->section - LAYERS].seq_len);
    } else {
        calc_galvatron_sequences_text(l->reading->request, sequence, sizeof sequence);
    }
    if (like->field != PARAMETERS && like->degree != CHECKPOINT) {
        calc_append(number, sizeof number, ".%" PRId64, like->degree);
    }
    memory_row any = {.section = like->section,
                      .field = like->section >= LAYERS ? PARAMETERS : STATES,
                      .degree = like->section >= LAYERS ? CHECKPOINT : 1,
                      .sequence = like->sequence};
    char hint[160] = "";
    if (!find(l, &any)) {
        calc_append(hint, sizeof hint,
                    "sequences up to %" PRId64 " are there; memory_profile_mode sequence scales "
                    "the longest",
                    longest);
    } else {
        calc_append(hint, sizeof hint,
                    "profile that degree, or search fewer: max_tp_deg, max_sp_deg");
    }
    l->status = calc_galvatron_file_error(
        l->reading, CALC_ERR_FIELD, hint, "no %s.%s.%s%s, in MB", name, sequence,
        fields[like->section >= LAYERS][like->field],
        like->field == ACTIVATIONS && like->degree == CHECKPOINT ? ".checkpoint" : number);
}

/* The sequence length whose figure is used: the shortest profiled one for parameters, the longest
 * for all else; 0: the request's. */
static int64_t sequence_for(const memory_lookup *l, int section, memory_field field)
{
    return l->reading->request->memory_profile_mode == CALC_GALVATRON_MEMORY_STATIC
               ? 0
               : profiled(l, section, field != PARAMETERS);
}

static double value_of(memory_lookup *l, int section, memory_field field, int64_t degree)
{
    const calc_galvatron_request *request = l->reading->request;
    memory_row like = {.section = section, .field = field, .degree = degree};
    like.sequence = sequence_for(l, section, field);
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

static void read_layer(memory_lookup *l, int type)
{
    const calc_galvatron_request *request = l->reading->request;
    calc_galvatron_needs needs = calc_galvatron_needs_of(request);
    calc_galvatron_layer_memory *out = &l->reading->out->memory[type];
    int most = needs.tp > needs.sp ? needs.tp : needs.sp;
    out->parameter_mb = value_of(l, LAYERS + type, PARAMETERS, CHECKPOINT);
    for (int k = 0; k <= most; k++) {
        out->activation_mb[k] = value_of(l, LAYERS + type, ACTIVATIONS, (int64_t)1 << k);
    }
    out->checkpoint_mb =
        request->disable_ckpt ? 0 : value_of(l, LAYERS + type, ACTIVATIONS, CHECKPOINT);
}

/* With several stages, a group can have at most half of the ranks. */
static void read_other(memory_lookup *l, int place)
{
    calc_galvatron_needs needs = calc_galvatron_needs_of(l->reading->request);
    calc_galvatron_other_memory *out = &l->reading->out->other_memory[place];
    int widest = place == CALC_GALVATRON_OFF ? needs.world : needs.world - 1;
    for (int k = 0; k <= widest; k++) {
        if (k <= needs.ends_tp) {
            out->states_mb[k] = value_of(l, place, STATES, (int64_t)1 << k);
        }
        if (k <= needs.ends_tp || k <= needs.ends_sp) {
            out->activation_mb[k] = value_of(l, place, ACTIVATIONS, (int64_t)1 << k);
        }
    }
}

static void note_scaled(const memory_lookup *l)
{
    int64_t at = l->reading->request->layers[0].seq_len;
    int64_t longest = profiled(l, LAYERS, true), shortest = profiled(l, LAYERS, false);
    if (at > longest || at < shortest) {
        calc_notes_add(&l->reading->out->notes,
                       "sequence %" PRId64 " is %.3g times the longest profiled (%" PRId64
                       "): activations are scaled",
                       at, (double)at / (double)longest, longest);
    }
}

static calc_status check_mode(const calc_galvatron_reading *r)
{
    if (r->request->memory_profile_mode == CALC_GALVATRON_MEMORY_SEQUENCE &&
        (!r->request->sequence_parallel || r->request->types > 1)) {
        return calc_errors_add(
            r->errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, "say memory_profile_mode static",
            "memory_profile_mode sequence needs sequence_parallel and one type of layers, found %s",
            r->request->types > 1 ? "several types" : "sequence_parallel off");
    }
    return CALC_OK;
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
    for (int type = 0; type < r->request->types; type++) {
        read_layer(&l, type);
    }
    bool stages = calc_galvatron_needs_of(r->request).pp > 0;
    for (int place = 0; place < (stages ? CALC_GALVATRON_PLACES : 1); place++) {
        read_other(&l, place);
    }
    if (l.status == CALC_OK && r->request->memory_profile_mode == CALC_GALVATRON_MEMORY_SEQUENCE) {
        note_scaled(&l);
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
    calc_status status = check_mode(r);
    if (status == CALC_OK) {
        status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    }
    status = status == CALC_OK ? use_rows(r, &rows) : status;
    free(rows.item);
    return status;
}
