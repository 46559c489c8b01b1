#include "galvatron/profiles.h"

#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "galvatron/arguments.h"
#include "io/json_numbers.h"
#include "io/text.h"

enum { OTHER = -1, BATCHES = 8 /* least for a line */ };

/* layertype_<type>_bsz<batch>_seq<sequence>: milliseconds of a sample. */
typedef struct row {
    int type; /* OTHER: embedding and head */
    int64_t batch, sequence;
    bool right; /* its sequence is the request's */
    double ms;
} compute_row;

typedef struct rows {
    const calc_galvatron_request *request;
    compute_row *item;
    size_t count, capacity;
} compute_rows;

/* @return whether the key is one of a row */
static bool parse(const calc_galvatron_request *request, const char *key, compute_row *row)
{
    int64_t values[CALC_GALVATRON_KEY_VALUES];
    if (calc_galvatron_key(key, "layertype_#_bsz#_seq#", values) == 3) {
        bool known = values[0] < request->types;
        *row = (compute_row){.type = known ? (int)values[0] : CALC_GALVATRON_TYPES,
                             .batch = values[1],
                             .sequence = values[2],
                             .right = known && values[2] == request->layers[values[0]].seq_len};
        return values[1] > 0 && values[2] > 0;
    }
    int count = calc_galvatron_key(key, "layertype_other_bsz#_seq*", values);
    *row = (compute_row){.type = OTHER, .batch = values[0], .sequence = values[1]};
    if (count < 2 || values[0] <= 0 || values[1] <= 0) {
        return false;
    }
    row->right = calc_galvatron_is_sequences(request, &values[1], count - 1);
    return true;
}

static calc_json_number_use take(void *context, const char *const *key, int depth,
                                 const double *value)
{
    compute_rows *rows = context;
    compute_row row;
    (void)depth;
    if (strncmp(key[0], "layertype_", 10) != 0) {
        return CALC_JSON_NUMBER_IGNORED;
    }
    if (!parse(rows->request, key[0], &row)) {
        return CALC_JSON_NUMBER_REFUSED;
    }
    if (value) {
        row.ms = *value;
        if (!CALC_PUSH(rows->item, rows->count, rows->capacity, &row)) {
            return CALC_JSON_NUMBER_NO_ROOM;
        }
    }
    return CALC_JSON_NUMBER_TAKEN;
}

/* The subject of a line, in words of the file. */
typedef struct subject {
    const calc_galvatron_reading *reading;
    const compute_rows *rows;
    int type;
    char name[32]; /* layertype_0 */
    int64_t sequence;
} compute_subject;

/* Finds the first row of a type, with the right sequence length if `right`; NULL: none. */
static const compute_row *first(const compute_rows *rows, int type, bool right)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->item[i].type == type && (rows->item[i].right || !right)) {
            return &rows->item[i];
        }
    }
    return NULL;
}

/* Finds a row by upstream's numbering: the rows of all types, one type after the other. */
static const compute_row *counted(const compute_rows *rows, int number)
{
    for (int type = 0; type <= CALC_GALVATRON_TYPES; type++) {
        for (size_t i = 0; i < rows->count; i++) {
            if (rows->item[i].type == type && number-- == 0) {
                return &rows->item[i];
            }
        }
    }
    return NULL;
}

static calc_status use_static(const compute_subject *s, calc_galvatron_compute *out)
{
    const calc_galvatron_reading *r = s->reading;
    const compute_row *row = NULL;
    if (r->request->compat) {
        row = s->type == OTHER ? first(s->rows, OTHER, false) : counted(s->rows, s->type);
    } else {
        row = first(s->rows, s->type, true);
        row = row ? row : first(s->rows, s->type, false);
    }
    if (!row) {
        return calc_galvatron_file_error(
            r, CALC_ERR_FIELD, "time_profile_mode static takes the first of them",
            "no %s_bsz<B>_seq%" PRId64 ": forward time of a sample, in ms", s->name, s->sequence);
    }
    if (!row->right) {
        calc_notes_add(&r->out->notes,
                       "%s was profiled at sequence %" PRId64 ": time_profile_mode static uses"
                       " that time for sequence %" PRId64 " as it is",
                       s->name, row->sequence, s->sequence);
    }
    *out = (calc_galvatron_compute){.line = {.offset = row->ms}};
    return CALC_OK;
}

/* The points of a subject: those with the right sequence length, or those of batch 1. */
static size_t points_of(const compute_subject *s, bool batch, double *x, double *y)
{
    size_t count = 0;
    for (size_t i = 0; i < s->rows->count; i++) {
        const compute_row *row = &s->rows->item[i];
        if (row->type == s->type && (batch ? row->right : row->batch == 1)) {
            x[count] = batch ? (double)row->batch : (double)row->sequence;
            y[count++] = batch ? row->ms * (double)row->batch : row->ms;
        }
    }
    return count;
}

static calc_status not_positive(const compute_subject *s, double ms, double samples)
{
    return calc_galvatron_file_error(
        s->reading, CALC_ERR_RANGE, "profile more batches or sequences, or look for an outlier",
        "the fit of %s is %g ms at sequence %" PRId64 " and batch %g, expected more than 0",
        s->name, ms, s->sequence, samples);
}

/* Fits a line over batches. It must be positive from one sample on all ranks to the whole batch. */
static calc_status use_batch(const compute_subject *s, double *x, double *y,
                             calc_galvatron_compute *out)
{
    const calc_galvatron_request *request = s->reading->request;
    size_t count = points_of(s, true, x, y);
    if (count < BATCHES) {
        return calc_galvatron_file_error(
            s->reading, CALC_ERR_FIELD, "profile more batches, or say time_profile_mode static",
            "%zu of %s_bsz<B>_seq%" PRId64 ", expected at least %d: time_profile_mode batch fits a "
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
        return calc_galvatron_file_error(
            s->reading, CALC_ERR_FIELD,
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
        calc_notes_add(&s->reading->out->notes,
                       "sequence %" PRId64 " is %.3g times the %s profiled (%.0f): times of "
                       "%s follow the %s",
                       s->sequence, at / (at > line.most ? line.most : line.least),
                       at > line.most ? "longest" : "shortest",
                       at > line.most ? line.most : line.least, s->name,
                       degree == 1 ? "line" : "parabola");
    }
    return CALC_OK;
}

static calc_status use_rows(const calc_galvatron_reading *r, const compute_rows *rows, double *x,
                            double *y)
{
    calc_status status = CALC_OK;
    for (int type = OTHER; type < r->request->types && status == CALC_OK; type++) {
        calc_galvatron_compute *out = type == OTHER ? &r->out->other : &r->out->layer[type];
        compute_subject s = {.reading = r,
                             .rows = rows,
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
    return status;
}

calc_status calc_galvatron_read_compute(const calc_galvatron_reading *r)
{
    compute_rows rows = {.request = r->request};
    const calc_json_numbers reader = {.context = &rows,
                                      .take = take,
                                      .least = 0,
                                      .keys = "keys are layertype_<i>_bsz<B>_seq<S> and "
                                              "layertype_other_bsz<B>_seq<S>"};
    calc_status status = calc_json_numbers_parse(&reader, r->text, r->length, r->name, r->errors);
    if (status == CALC_OK) {
        double *points = calloc(2 * rows.count + 1, sizeof *points);
        status = points ? use_rows(r, &rows, points, points + rows.count)
                        : calc_errors_no_memory(r->errors);
        free(points);
    }
    free(rows.item);
    return status;
}

enum { NAME = 256 };

#define MODEL_PROFILER                                                                             \
    "Galvatron's model profiler writes it; calc export --to galvatron-profile does without a GPU"
#define HARDWARE_PROFILER "Galvatron's hardware profiler writes it"

/* Each file: how its name begins, the option that says where it is, who writes it. */
static const struct {
    const char *stem, *option, *hint;
} files[CALC_GALVATRON_FILE_COUNT] = {
    {"computation_profiling", "time_profiling_path", MODEL_PROFILER},
    {"memory_profiling", "memory_profiling_path", MODEL_PROFILER},
    {"allreduce_bandwidth", "allreduce_bandwidth_config_path",
     HARDWARE_PROFILER "; calc export --to galvatron-profile does without"},
    {"p2p_bandwidth", "p2p_bandwidth_config_path",
     HARDWARE_PROFILER "; calc export --to galvatron-profile does without"},
    {"overlap_coefficient", "overlap_coe_path", HARDWARE_PROFILER ": {\"overlap_coe\": 1.1}"},
    {"sp_time", "sp_time_path", HARDWARE_PROFILER}};

static bool of_model(calc_galvatron_file file)
{
    return file == CALC_GALVATRON_FILE_COMPUTATION || file == CALC_GALVATRON_FILE_MEMORY;
}

/* @param end  "_all.json", or ".json" of earlier releases */
static char *name_of(const calc_galvatron_request *request, calc_galvatron_file file,
                     const char *end, char *out, size_t size)
{
    out[0] = '\0';
    calc_append(out, size, "%s", files[file].stem);
    if (of_model(file)) {
        return calc_append(out, size, "_%s_%s%s",
                           calc_galvatron_precision_words[request->mixed_precision], request->model,
                           end);
    }
    if (file != CALC_GALVATRON_FILE_OVERLAP) {
        calc_append(out, size, "_%" PRId64 "nodes_%" PRId64 "gpus_per_node", request->num_nodes,
                    request->num_gpus_per_node);
    }
    return calc_append(out, size, ".json");
}

char *calc_galvatron_file_name(const calc_galvatron_request *request, calc_galvatron_file file,
                               char *out, size_t size)
{
    return name_of(request, file, "_all.json", out, size);
}

static bool exists(const char *folder, const char *name, char *out)
{
    struct stat found;
    out[0] = '\0';
    calc_append(out, CALC_GALVATRON_FILE_PATH_SIZE, "%s/%s", folder, name);
    return stat(out, &found) == 0;
}

/* Finds early names in a folder. @return how many; *one is the first in alphabetical order */
static int find_early(const calc_galvatron_request *request, calc_galvatron_file file,
                      const char *folder, char one[NAME], char two[NAME])
{
    DIR *stream = opendir(folder);
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        /* Whether it is a name from 2024 and 2025: ..._hidden<H>_head<A>[_seqlen<S>].json. */
        char pattern[NAME], end[NAME];
        snprintf(pattern, sizeof pattern, "%s_%s_*hidden%" PRId64 "_head*.json", files[file].stem,
                 calc_galvatron_precision_words[request->mixed_precision],
                 request->layers[0].hidden_size);
        snprintf(end, sizeof end, "*_seqlen%" PRId64 ".json", request->layers[0].seq_len);
        if (fnmatch(pattern, entry->d_name, 0) == 0 &&
            (!strstr(entry->d_name, "_seqlen") || fnmatch(end, entry->d_name, 0) == 0)) {
            char *into = count == 0 || strcmp(entry->d_name, one) < 0 ? one : two;
            if (into == one) {
                memcpy(two, one, NAME);
            }
            snprintf(into, NAME, "%s", entry->d_name);
            count++;
        }
    }
    if (stream) {
        closedir(stream);
    }
    return count;
}

calc_status calc_galvatron_file_find(const calc_galvatron_request *request,
                                     calc_galvatron_file file, const char *path, char *out,
                                     calc_errors *errors)
{
    struct stat found;
    char name[NAME], one[NAME] = "", two[NAME] = "";
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)) {
        snprintf(out, CALC_GALVATRON_FILE_PATH_SIZE, "%s", path);
        return CALC_OK;
    }
    if (exists(path, calc_galvatron_file_name(request, file, name, sizeof name), out) ||
        exists(path, name_of(request, file, ".json", one, sizeof one), out)) {
        return CALC_OK;
    }
    int count = of_model(file) ? find_early(request, file, path, one, two) : 0;
    if (count > 1) {
        return calc_errors_at(errors, CALC_ERR_RULE, path, 0, 0, "name the file, not the folder",
                              "has no %s, but both %s and %s", name, one, two);
    }
    if (count == 0) {
        return calc_errors_at(errors, CALC_ERR_NOT_FOUND, path, 0, 0, files[file].hint, "has no %s",
                              name);
    }
    exists(path, one, out);
    return CALC_OK;
}

static calc_status read_file(calc_galvatron_profiles *out, const calc_galvatron_request *request,
                             const calc_galvatron_paths *paths, calc_galvatron_file file,
                             calc_errors *errors)
{
    const char *path = paths->of[file];
    char found[CALC_GALVATRON_FILE_PATH_SIZE], name[256];
    calc_errors ignored = {0};
    calc_galvatron_file_name(request, file, name, sizeof name);
    if (file == CALC_GALVATRON_FILE_COLLECTIVES &&
        (!path || !path[0] ||
         calc_galvatron_file_find(request, file, path, found, &ignored) != CALC_OK)) {
        calc_galvatron_collectives_from_bandwidth(request, out);
        calc_notes_add(&out->notes,
                       "no %s: times of collectives follow from the bandwidth of all-reduces, "
                       "without latency",
                       name);
        return CALC_OK;
    }
    if (!path || !path[0]) {
        return calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL,
                               "say the file, or the folder that has it", "no %s: where is %s?",
                               files[file].option, name);
    }
    calc_text text = {0};
    calc_status status = calc_galvatron_file_find(request, file, path, found, errors);
    status = status ? status : calc_text_read(&text, found, errors);
    if (status == CALC_OK) {
        const calc_galvatron_reading reading = {.request = request,
                                                .out = out,
                                                .name = found,
                                                .text = text.data,
                                                .length = text.length,
                                                .errors = errors};
        status = calc_galvatron_read(&reading, file);
    }
    calc_text_free(&text);
    return status;
}

calc_status calc_galvatron_profiles_load(calc_galvatron_profiles *out,
                                         const calc_galvatron_request *request,
                                         const calc_galvatron_paths *paths, calc_errors *errors)
{
    memset(out, 0, sizeof *out);
    calc_status status = calc_galvatron_world_check(request, errors);
    if (status != CALC_OK) {
        return status;
    }
    for (int file = 0; file < CALC_GALVATRON_FILE_COUNT; file++) {
        calc_status read = read_file(out, request, paths, (calc_galvatron_file)file, errors);
        status = status ? status : read;
    }
    return status;
}

/* Notes a number of samples outside the fitted range. */
static void note_batch(const calc_galvatron_compute *compute, const char *name, double samples,
                       calc_notes *notes)
{
    const calc_galvatron_line *line = &compute->line;
    if (compute->batch && (samples < line->least || samples > line->most)) {
        calc_notes_add(notes,
                       "a batch of %g is %s profiled (%g): the line over batches is used for "
                       "%s",
                       samples, samples < line->least ? "below the least" : "above the largest",
                       samples < line->least ? line->least : line->most, name);
    }
}

/* Notes a message outside the measured sizes. */
static void note_message(const calc_galvatron_collective *collective, const char *name, int ranks,
                         double mb, calc_notes *notes)
{
    const calc_galvatron_line *line = &collective->line;
    if (collective->count && (mb < line->least || mb > line->most)) {
        calc_notes_add(notes, "%s of %g MB over %d GPUs is %s measured (%g MB): the line is used",
                       name, mb, ranks, mb < line->least ? "below the least" : "above the largest",
                       mb < line->least ? line->least : line->most);
    }
}

static void note_messages(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int type,
                          calc_notes *notes)
{
    const calc_galvatron_profiles *p = c->profiles;
    double mb =
        calc_galvatron_message_mb(c->request, (double)calc_galvatron_local_batch(c, s), type);
    if (s->tp > 1) {
        note_message(&p->all_gather[calc_galvatron_doublings(s->tp)], "an all-gather", s->tp, mb,
                     notes);
    }
    if (s->sp > 1) {
        note_message(&p->all_to_all[calc_galvatron_doublings(s->sp)], "an all-to-all", s->sp, mb,
                     notes);
    }
}

void calc_galvatron_cost_notes(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                               int type, calc_notes *notes)
{
    double samples = (double)calc_galvatron_local_batch(c, s) / calc_galvatron_degree(s);
    if (type >= 0) {
        note_batch(&c->profiles->layer[type], "layers", samples, notes);
        note_messages(c, s, type, notes);
        return;
    }
    note_batch(&c->profiles->other, "embedding and head", samples / s->cp, notes);
    if (s->tp > 1) { /* Ulysses sends nothing here */
        note_messages(c, s, 0, notes);
        note_messages(c, s, c->request->types - 1, notes);
    }
}
