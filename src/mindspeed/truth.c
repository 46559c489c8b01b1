#include "mindspeed/truth.h"

#include <math.h>

#include "mindspeed/parts.h"

void calc_mindspeed_truth_start(calc_mindspeed_truth *truth, const calc_mindspeed_job *job,
                                const calc_app *app, const calc_system *system, double sd,
                                uint64_t seed)
{
    const calc_mindspeed_sampling sampling = {1, seed, CALC_PROCESS_JOINT, sd};
    calc_mindspeed_operators_start(&truth->operators, job, app, system, NULL, &sampling);
}

void calc_mindspeed_truth_free(calc_mindspeed_truth *truth)
{
    calc_mindspeed_operators_free(&truth->operators);
}

double calc_mindspeed_truth_s(calc_mindspeed_truth *truth, const calc_mindspeed_layout *layout)
{
    double step_s;
    calc_status status = calc_mindspeed_compose(layout, &truth->operators, NULL, &step_s, 1);
    return status == CALC_OK ? step_s : INFINITY;
}

size_t calc_mindspeed_truth_kernels(calc_mindspeed_truth *truth,
                                    const calc_mindspeed_layout *layout, calc_mindspeed_kernel *out)
{
    calc_layout l;
    calc_mindspeed_parts parts;
    calc_layout_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, &l);
    if (calc_mindspeed_parts_of(&parts, layout, &l, &truth->operators) != CALC_OK) {
        return 0;
    }
    for (size_t i = 0; i < parts.count; i++) {
        const calc_mindspeed_part *part = &parts.item[i];
        double alone_s = calc_mindspeed_operators_alone_s(&truth->operators, &part->shape);
        out[i] = (calc_mindspeed_kernel){part->shape, alone_s * fmax(1e-3, 1 + part->errors[0])};
    }
    return parts.count;
}
