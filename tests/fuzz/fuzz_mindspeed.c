/* What MindSpeed's planner reads: the first byte says whether a launch script follows, or a file of
 * measurements, and of which generation. Any bytes behind it either fail with errors, or give a job
 * whose configurations need a finite amount of memory, or measurements that are none below 0.
 */
#include "formats/read.h"
#include "fuzz.h"
#include "mindspeed/arguments.h"
#include "mindspeed/memory.h"

#include <math.h>

enum { SMALL = 64 /* devices and layers of a space that is soon listed */ };

static void use_job(const calc_mindspeed_job *job, calc_mindspeed_generation generation)
{
    calc_mindspeed_space space;
    MUST(job->layers > 0 && job->heads > 0 && job->groups > 0 && job->head > 0);
    MUST(calc_mindspeed_devices(job) > 0);
    if (calc_mindspeed_devices(job) > SMALL || job->layers > SMALL || job->batch > 8 * SMALL) {
        return;
    }
    calc_mindspeed_space_list(job, generation, &space);
    for (size_t i = 0; i < space.count; i++) {
        calc_mindspeed_memory m = calc_mindspeed_memory_of(job, &space.config[i]);
        MUST(isfinite(m.peak_bytes) && m.peak_bytes > 0);
    }
    calc_mindspeed_space_free(&space);
}

static void read_script(const char *text, size_t length, calc_mindspeed_generation generation)
{
    static calc_mindspeed_arguments arguments;
    calc_settings settings = {0};
    calc_errors errors = {0};
    MUST(calc_settings_from_script(&settings, text, length, NULL) == CALC_OK);
    calc_status status =
        calc_mindspeed_arguments_read(&arguments, &settings, generation, "input", &errors);
    if (status == CALC_OK) {
        MUST(errors.count == 0);
        use_job(&arguments.job, generation);
    } else {
        MUST(errors.count > 0);
    }
    calc_settings_free(&settings);
}

static void read_modules(const char *text, size_t length, calc_mindspeed_generation generation)
{
    calc_mindspeed_profile profile;
    calc_errors errors = {0};
    calc_status status =
        calc_mindspeed_modules_parse(&profile, generation, text, length, "input", &errors);
    if (status != CALC_OK) {
        MUST(errors.count > 0);
    } else {
        MUST(errors.count == 0 && !(profile.step_s < 0) && !(profile.layer_gib < 0));
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    calc_mindspeed_generation generation = data[0] & 1 ? CALC_MINDSPEED_GEN1 : CALC_MINDSPEED_GEN2;
    if (data[0] & 2) {
        read_modules((const char *)data + 1, size - 1, generation);
    } else {
        read_script((const char *)data + 1, size - 1, generation);
    }
    return 0;
}
