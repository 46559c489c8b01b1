#include "galvatron/profiles.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "galvatron/cost_terms.h"
#include "galvatron/reading.h"
#include "io/text.h"

enum { NAME = 256 };

/* Beginnings of the names. */
static const char *const stems[] = {"computation_profiling", "memory_profiling",
                                    "allreduce_bandwidth",   "p2p_bandwidth",
                                    "overlap_coefficient",   "sp_time"};

static const char *const hints[] = {
    "Galvatron's model profiler writes it; calc export --to galvatron-profile does without a GPU",
    "Galvatron's model profiler writes it; calc export --to galvatron-profile does without a GPU",
    "Galvatron's hardware profiler writes it; calc export --to galvatron-profile does without",
    "Galvatron's hardware profiler writes it; calc export --to galvatron-profile does without",
    "Galvatron's hardware profiler writes it: {\"overlap_coe\": 1.1}",
    "Galvatron's hardware profiler writes it"};

const char *calc_galvatron_precision_name(calc_galvatron_precision precision)
{
    static const char *const names[] = {"fp32", "fp16", "bf16"};
    return names[precision];
}

static bool of_model(calc_galvatron_file file)
{
    return file == CALC_GALVATRON_FILE_COMPUTATION || file == CALC_GALVATRON_FILE_MEMORY;
}

/* @param end  "_all.json", or ".json" of earlier releases */
static char *name_of(const calc_galvatron_request *request, calc_galvatron_file file,
                     const char *end, char *out, size_t size)
{
    out[0] = '\0';
    calc_append(out, size, "%s", stems[file]);
    if (of_model(file)) {
        return calc_append(out, size, "_%s_%s%s",
                           calc_galvatron_precision_name(request->mixed_precision), request->model,
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

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Whether it is a name from 2024 and 2025: ..._hidden<H>_head<A>[_seqlen<S>].json. */
static bool is_early(const calc_galvatron_request *request, calc_galvatron_file file,
                     const char *name)
{
    char begin[NAME] = "", hidden[NAME] = "", end[NAME] = "";
    calc_append(begin, sizeof begin, "%s_%s_", stems[file],
                calc_galvatron_precision_name(request->mixed_precision));
    calc_append(hidden, sizeof hidden, "hidden%" PRId64 "_head", request->layers[0].hidden_size);
    calc_append(end, sizeof end, "_seqlen%" PRId64 ".json", request->layers[0].seq_len);
    return strncmp(name, begin, strlen(begin)) == 0 && strstr(name, hidden) &&
           ends_with(name, ".json") && (!strstr(name, "_seqlen") || ends_with(name, end));
}

/* Finds early names in a folder. @return how many; *one is the first in alphabetical order */
static int find_early(const calc_galvatron_request *request, calc_galvatron_file file,
                      const char *folder, char one[NAME], char two[NAME])
{
    DIR *stream = opendir(folder);
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        if (is_early(request, file, entry->d_name)) {
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
        return calc_errors_at(errors, CALC_ERR_NOT_FOUND, path, 0, 0, hints[file], "has no %s",
                              name);
    }
    exists(path, one, out);
    return CALC_OK;
}

/* In the order in which the files may depend on one another. */
static const struct {
    size_t path;
    const char *option;
} files[CALC_GALVATRON_FILE_COUNT] = {
    {offsetof(calc_galvatron_paths, computation), "time_profiling_path"},
    {offsetof(calc_galvatron_paths, memory), "memory_profiling_path"},
    {offsetof(calc_galvatron_paths, allreduce), "allreduce_bandwidth_config_path"},
    {offsetof(calc_galvatron_paths, p2p), "p2p_bandwidth_config_path"},
    {offsetof(calc_galvatron_paths, overlap), "overlap_coe_path"},
    {offsetof(calc_galvatron_paths, collectives), "sp_time_path"}};

/* Times of collectives may be derived from bandwidths. */
static bool is_left_out(const calc_galvatron_request *request, calc_galvatron_file file,
                        const char *path)
{
    char found[CALC_GALVATRON_FILE_PATH_SIZE];
    calc_errors ignored = {0};
    return file == CALC_GALVATRON_FILE_COLLECTIVES &&
           (!path || !path[0] ||
            calc_galvatron_file_find(request, file, path, found, &ignored) != CALC_OK);
}

static calc_status read_file(calc_galvatron_profiles *out, const calc_galvatron_request *request,
                             const calc_galvatron_paths *paths, calc_galvatron_file file,
                             calc_errors *errors)
{
    const char *path;
    char found[CALC_GALVATRON_FILE_PATH_SIZE], name[256];
    memcpy(&path, (const char *)paths + files[file].path, sizeof path);
    calc_galvatron_file_name(request, file, name, sizeof name);
    if (is_left_out(request, file, path)) {
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
    status = status == CALC_OK ? calc_text_read(&text, found, errors) : status;
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
        status = status == CALC_OK ? read : status;
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
    double samples = (double)calc_galvatron_local_batch(c, s) / calc_galvatron_tpsp(s);
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
