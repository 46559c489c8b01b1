#include "galvatron/files.h"

#include "base/buffer.h"
#include "base/error.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
