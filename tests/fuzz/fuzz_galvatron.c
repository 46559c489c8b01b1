/* Profiles of Galvatron: the first byte says which of the files, in which mode. Any bytes behind it
 * either fail with errors, or give figures with which the cost model stays finite.
 */
#include "fuzz.h"
#include "galvatron/profiles.h"

#include <math.h>

static const calc_galvatron_profiles preset = {
    .other = {.line = {.offset = 1}},
    .layer = {{.line = {.offset = 1}}, {.line = {.offset = 1}}},
    .overlap = 1,
};

static calc_galvatron_request request_of(unsigned char mode)
{
    return (calc_galvatron_request){.model = "m",
                                    .types = mode & 1 ? 2 : 1,
                                    .layers = {{64, 4, 512}, {64, 4, 512}},
                                    .mixed_precision = CALC_GALVATRON_BF16,
                                    .sequence_parallel = mode & 2,
                                    .num_nodes = 1,
                                    .num_gpus_per_node = 4,
                                    .max_bsz = 8,
                                    .settle_bsz = -1,
                                    .max_tp_deg = 2,
                                    .max_sp_deg = 2,
                                    .max_pp_deg = 2,
                                    .time_profile_mode = (calc_galvatron_time_mode)(mode / 4 % 3),
                                    .memory_profile_mode = mode & 16
                                                               ? CALC_GALVATRON_MEMORY_SEQUENCE
                                                               : CALC_GALVATRON_MEMORY_STATIC,
                                    .debug_costmodel_coe = 1};
}

static void use(const calc_galvatron_request *request, const calc_galvatron_profiles *profiles)
{
    const calc_galvatron_case c = {
        .request = request, .profiles = profiles, .gbsz = 8, .chunks = 2};
    const calc_galvatron_strategy some[] = {{1, 1, 1, 1, 4, CALC_GALVATRON_ZERO3, true},
                                            {2, 2, 1, 1, 1, CALC_GALVATRON_DDP, false},
                                            {2, 1, 2, 1, 1, CALC_GALVATRON_DDP, true}};
    for (int i = 0; i < 3; i++) {
        calc_galvatron_layer_cost cost = calc_galvatron_layer_cost_of(&c, &some[i], 0);
        calc_galvatron_ends_cost ends = calc_galvatron_ends_cost_of(&c, &some[i], 0);
        calc_notes notes = {0};
        MUST(isfinite(cost.sync_s) && isfinite(cost.nosync_s) && isfinite(ends.sync_s));
        MUST(cost.nosync_s >= 0);
        MUST(isfinite(calc_galvatron_layer_mb(&c, &some[i], 0, 0)) && ends.mb >= 0);
        calc_galvatron_cost_notes(&c, &some[i], 0, &notes);
        calc_galvatron_cost_notes(&c, &some[i], -1, &notes);
        MUST(notes.count <= CALC_NOTES);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static calc_galvatron_profiles profiles;
    calc_errors errors = {0};
    if (size < 2) {
        return 0;
    }
    const calc_galvatron_request request = request_of(data[1]);
    profiles = preset;
    const calc_galvatron_reading reading = {.request = &request,
                                            .out = &profiles,
                                            .name = "input",
                                            .text = (const char *)data + 2,
                                            .length = size - 2,
                                            .errors = &errors};
    calc_status status =
        calc_galvatron_read(&reading, (calc_galvatron_file)(data[0] % CALC_GALVATRON_FILE_COUNT));
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    } else {
        MUST(errors.count == 0);
        use(&request, &profiles);
    }
    return 0;
}
