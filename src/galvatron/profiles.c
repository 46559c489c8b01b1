#include "galvatron/profiles.h"

#include "base/error.h"
#include "galvatron/files.h"
#include "galvatron/reading.h"
#include "io/text.h"

#include <stdio.h>
#include <string.h>

/* ---- Files ----------------------------------------------------------------------------------- */

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
