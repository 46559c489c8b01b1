#include "galvatron/profiles.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "galvatron/arguments.h"
#include "io/text.h"

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
        "%jd nodes of %jd GPUs are %jd, expected a power of two up to %d", request->num_nodes,
        request->num_gpus_per_node, world, 1 << (CALC_GALVATRON_DOUBLINGS - 1));
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

/* Derives times of collectives from bandwidths of all-reduces, without latency, if there is no file
 * of measured times. */
static void collectives_from_bandwidth(const calc_galvatron_request *request,
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
        calc_append(out, size, "_%jdnodes_%jdgpus_per_node", request->num_nodes,
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
        snprintf(pattern, sizeof pattern, "%s_%s_*hidden%jd_head*.json", files[file].stem,
                 calc_galvatron_precision_words[request->mixed_precision],
                 request->layers[0].hidden_size);
        snprintf(end, sizeof end, "*_seqlen%jd.json", request->layers[0].seq_len);
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
        collectives_from_bandwidth(request, out);
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
