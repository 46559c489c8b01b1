#include "galvatron/reading.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "galvatron/cost_terms.h"

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

calc_status calc_galvatron_read(const calc_galvatron_reading *r, calc_galvatron_file file)
{
    static calc_status (*const readers[CALC_GALVATRON_FILE_COUNT])(
        const calc_galvatron_reading *) = {
        calc_galvatron_read_compute, calc_galvatron_read_memory,  calc_galvatron_read_allreduce,
        calc_galvatron_read_p2p,     calc_galvatron_read_overlap, calc_galvatron_read_collectives};
    calc_status status = readers[file](r);
    return status == CALC_OK ? calc_galvatron_units_check(r, file) : status;
}
