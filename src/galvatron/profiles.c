#include "galvatron/profiles.h"

#include "galvatron/cost_terms.h"
#include "galvatron/files.h"
#include "galvatron/reading.h"
#include "io/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- What is needed -------------------------------------------------------------------------- */

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

/* ---- Files ----------------------------------------------------------------------------------- */

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

/* In the order in which one may need another. */
static const struct {
    size_t path;
    const char *option;
    calc_status (*read)(const calc_galvatron_reading *r);
} readers[CALC_GALVATRON_FILE_COUNT] = {
    {offsetof(calc_galvatron_paths, computation), "time_profiling_path",
     calc_galvatron_read_compute},
    {offsetof(calc_galvatron_paths, memory), "memory_profiling_path", calc_galvatron_read_memory},
    {offsetof(calc_galvatron_paths, allreduce), "allreduce_bandwidth_config_path",
     calc_galvatron_read_allreduce},
    {offsetof(calc_galvatron_paths, p2p), "p2p_bandwidth_config_path", calc_galvatron_read_p2p},
    {offsetof(calc_galvatron_paths, overlap), "overlap_coe_path", calc_galvatron_read_overlap},
    {offsetof(calc_galvatron_paths, collectives), "sp_time_path", calc_galvatron_read_collectives}};

calc_status calc_galvatron_read(const calc_galvatron_reading *r, calc_galvatron_file file)
{
    return readers[file].read(r);
}

/* Times of collectives may be made up. */
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
    memcpy(&path, (const char *)paths + readers[file].path, sizeof path);
    calc_galvatron_file_name(request, file, name, sizeof name);
    if (is_left_out(request, file, path)) {
        calc_galvatron_collectives_from_bandwidth(request, out);
        calc_galvatron_note(&out->notes,
                            "no %s: times of collectives follow from the bandwidth of all-reduces, "
                            "without latency",
                            name);
        return CALC_OK;
    }
    if (!path || !path[0]) {
        return calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL,
                               "say the file, or the folder that has it", "no %s: where is %s?",
                               readers[file].option, name);
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
