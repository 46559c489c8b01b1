#include "calibrate/constant.h"

#include <math.h>
#include <string.h>

#define LOG CALC_CONSTANT_LOG
#define LOGIT CALC_CONSTANT_LOGIT

/* The last two columns are the range beyond which no machine is known. Efficiencies are shares of a
 * data sheet's peak, which nothing sustains; a stream of copies reaches 0.8 to 0.95 of memory, a
 * large multiplication 0.4 to 0.9 of its engine, a large message 0.5 to 0.95 of its network.
 * Launches of kernels take microseconds; Python's work for a block, up to some tens of
 * milliseconds. Shares that overlap may be anything. Kernels cannot read and write less than once
 * (eager_traffic, ...).
 */
/* clang-format off */
static const calc_constant constants[] = {
    {"matrix.bfloat16",
     {"matrix.float16.gflops_efficiency", "matrix.bfloat16.gflops_efficiency", "matrix.float32.gflops_efficiency"}, "", LOG, 0.1, false, 0.7, 0.2, 0.97},
    {"matrix.float8", {"matrix.float8.gflops_efficiency"}, "", LOG, 0.1, false, 0.6, 0.15, 0.97},
    {"matrix.float4", {"matrix.float4.gflops_efficiency"}, "", LOG, 0.3, false, 0.5, 0.1, 0.97},
    {"block_scaled_efficiency", {"block_scaled_efficiency"}, "", LOG, 0.05, false, 0.95, 0.5, 1},
    {"sustained", {"sustained"}, "", LOG, 0.15, true, 1, 0.5, 1.5},
    {"mem1.efficiency", {"mem1.MB_efficiency"}, "", LOGIT, 0.6, false, 0.8, 0.3, 0.98},
    {"launch", {"launch.matrix", "launch.vector"}, "s", LOG, 0.5, false, 5e-6, 5e-7, 5e-5},
    {"host.block", {"host.block"}, "s", LOG, 0.5, false, 2.2e-3, 0.0001, 0.03},
    {"host.moe_block", {"host.moe_block"}, "s", LOG, 0.5, false, 3e-3, 0.0001, 0.05},
    {"host.expert", {"host.expert"}, "s", LOG, 0.5, false, 4e-4, 1e-5, 0.005},
    {"host.tensor_par_growth", {"host.tensor_par_growth"}, "", LOG, 0.6, false, 0.3, 0.01, 2},
    {"attention.fw_efficiency", {"attention.fw_efficiency"}, "", LOG, 0.2, false, 0.6, 0.1, 1},
    {"attention.bw_efficiency", {"attention.bw_efficiency"}, "", LOG, 0.2, false, 0.5, 0.1, 1},
    {"attention.generic_efficiency", {"attention.generic_efficiency"}, "", LOG, 0.25, false, 0.75, 0.1, 1},
    {"attention.unfused_efficiency", {"attention.unfused_efficiency"}, "", LOG, 0.3, false, 0.4, 0.05, 1},
    {"attention.softmax_size", {"attention.softmax_size"}, "", LOG, 0.7, false, 40, 4, 400},
    {"attention.launch", {"attention.launch"}, "s", LOG, 0.5, false, 30e-6, 1e-6, 0.001},
    {"networks[0].efficiency", {"networks[0].efficiency"}, "", LOGIT, 0.6, false, 0.75, 0.2, 0.98},
    {"networks[0].latency", {"networks[0].latency"}, "s", LOG, 0.5, false, 20e-6, 5e-7, 0.0005},
    {"networks[1].efficiency", {"networks[1].efficiency"}, "", LOGIT, 0.6, false, 0.8, 0.2, 0.98},
    {"networks[1].latency_log2", {"networks[1].latency_log2"}, "s", LOG, 0.5, false, 30e-6, 1e-6, 0.0005},
    {"networks[0].all_to_all", {"networks[0].op_parameters.all_to_all.efficiency"}, "", LOGIT, 0.6, false, 0.6, 0.1, 0.98},
    {"networks[1].all_to_all", {"networks[1].op_parameters.all_to_all.efficiency"}, "", LOGIT, 0.6, false, 0.6, 0.1, 0.98},
    {"overlap.tensor_par_fused", {"overlap.tensor_par_fused"}, "", LOGIT, 0.8, false, 0.7, 0, 1},
    {"overlap.tensor_par_async", {"overlap.tensor_par_async"}, "", LOGIT, 0.8, false, 0.5, 0, 1},
    {"overlap.data_par", {"overlap.data_par"}, "", LOGIT, 0.8, false, 0.7, 0, 1},
    {"overlap.expert_par", {"overlap.expert_par"}, "", LOGIT, 0.8, false, 0.6, 0, 1},
    {"overlap.contention", {"overlap.contention"}, "", LOG, 0.6, false, 0.2, 0.01, 1},
    {"optimizer_efficiency", {"optimizer_efficiency"}, "", LOGIT, 0.6, false, 0.6, 0.1, 1},
    {"step_overhead", {"step_overhead"}, "s", LOG, 0.8, false, 0.01, 0.0001, 1},
    {"straggler_growth", {"straggler_growth"}, "", LOG, 0.7, false, 0.005, 0.0001, 0.1},
    {"eager_traffic", {"eager_traffic"}, "", LOG, 0.3, false, 1.8, 1, 6},
    {"quantize_bytes", {"quantize_bytes"}, "bytes", LOG, 0.5, false, 4, 1, 32},
    {"permute_efficiency", {"permute_efficiency"}, "", LOGIT, 0.6, false, 0.4, 0.05, 1},
    {"grouped.efficiency", {"grouped.efficiency"}, "", LOG, 0.2, false, 0.9, 0.3, 1.5},
    {"expert_activation_traffic", {"expert_activation_traffic"}, "", LOG, 0.4, false, 6, 1, 40},
};
/* clang-format on */

enum { CONSTANTS = sizeof constants / sizeof *constants };

/* Better known values of a family, or of one machine. */
static const struct {
    const char *name, *of;
    double start;
} starts[] = {
    {"matrix.bfloat16", "A100", 0.82},
    {"mem1.efficiency", "A100", 0.72},
    {"attention.fw_efficiency", "A100", 0.64},
    {"attention.bw_efficiency", "A100", 0.49},
    {"networks[0].efficiency", "A100", 0.72},
    {"networks[0].latency", "A100", 30e-6},
    {"launch", "A100", 6e-6},
    {"networks[1].efficiency", "vtrain_a100", 0.64},
    {"networks[1].all_to_all", "vtrain_a100", 0.48},
    {"sustained", "h100_sxm_500w", 0.85},
    {"sustained", "b300", 1.05},
    {"sustained", "gb200_nvl72", 1.04},
    {"sustained", "gb300_nvl72", 1.12},
    {"matrix.float4", "b300", 0.333},
    {"matrix.float4", "gb300_nvl72", 0.333},
    {"matrix.bfloat16", "Blackwell", 0.65},
    {"matrix.float8", "Blackwell", 0.61},
    {"matrix.bfloat16", "H100", 0.75},
    {"attention.generic_efficiency", "A100", 0.7},
    {"attention.generic_efficiency", "H100", 0.55},
    {"matrix.float8", "H100", 0.69},
    {"mem1.efficiency", "Blackwell", 0.666},
    {"attention.fw_efficiency", "Blackwell", 0.54},
    {"attention.bw_efficiency", "Blackwell", 0.42},
    {"networks[0].efficiency", "Blackwell", 0.67},
    {"launch", "Blackwell", 6e-6},
    {"matrix.bfloat16", "b200_180g", 0.511},
    {"attention.fw_efficiency", "b200_180g", 0.524},
    {"attention.bw_efficiency", "b200_180g", 0.412},
    {"grouped.efficiency", "b200_180g", 1.11},
    {"attention.fw_efficiency", "910B", 0.45},
    {"attention.bw_efficiency", "910B", 0.4},
    {"attention.launch", "910B", 100e-6},
    {"networks[0].efficiency", "910B", 0.6},
    {"networks[0].latency", "910B", 40e-6},
};

const calc_constant *calc_constant_at(size_t index)
{
    return index < CONSTANTS ? &constants[index] : NULL;
}

const calc_constant *calc_constant_find(const char *name)
{
    for (size_t i = 0; i < CONSTANTS; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            return &constants[i];
        }
    }
    return NULL;
}

double calc_constant_start(const calc_constant *constant, const char *family, const char *machine)
{
    double start = constant->start;
    bool of_machine = false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        bool machine_is = machine && strcmp(starts[i].of, machine) == 0;
        bool family_is = family && strcmp(starts[i].of, family) == 0;
        if (strcmp(starts[i].name, constant->name) == 0 &&
            (machine_is || (family_is && !of_machine))) {
            start = starts[i].start;
            of_machine = machine_is;
        }
    }
    return start;
}

/* ---- In a system ----------------------------------------------------------------------------- */

/* Where a path leads: one number, or a curve. Both NULL: nowhere. */
typedef struct place {
    double *number;
    calc_curve *curve;
} place;

static place place_of(const char *path, calc_system *system)
{
    calc_field_ref ref;
    if (calc_field_find(CALC_KIND_SYSTEM, path, &ref) != CALC_OK) {
        return (place){0};
    }
    void *member = (char *)system + ref.offset;
    place at = {0};
    if (ref.field->type == CALC_TYPE_CURVE) {
        at.curve = member;
    } else {
        at.number = member;
    }
    return at;
}

static double get(const char *path, calc_system *system)
{
    place at = place_of(path, system);
    return at.number ? *at.number : at.curve && at.curve->count > 0 ? at.curve->efficiency[0] : 0;
}

double calc_constant_get(const calc_constant *constant, const calc_system *system)
{
    calc_system copy = *system;
    double value = 0;
    for (int i = 0; i < CALC_CONSTANT_PATHS && constant->path[i] && value <= 0; i++) {
        value = get(constant->path[i], &copy);
    }
    return value;
}

static void set(place at, double value)
{
    if (at.number) {
        *at.number = value;
        return;
    }
    if (!at.curve) {
        return; /* the path names nothing in this system */
    }
    double factor = value / at.curve->efficiency[0];
    for (int64_t i = 0; i < at.curve->count; i++) {
        double scaled = i == 0 ? value : at.curve->efficiency[i] * factor;
        at.curve->efficiency[i] = scaled < 1 ? scaled : 1;
    }
}

void calc_constant_set(const calc_constant *constant, calc_system *system, double value)
{
    for (int i = 0; i < CALC_CONSTANT_PATHS && constant->path[i]; i++) {
        if (get(constant->path[i], system) > 0) {
            set(place_of(constant->path[i], system), value);
        }
    }
}

/* ---- Without limits -------------------------------------------------------------------------- */

double calc_constant_to_free(const calc_constant *constant, double value)
{
    return constant->scale == CALC_CONSTANT_LOG ? log(value) : log(value / (1 - value));
}

/* Largest value the field may have. */
static double largest(const calc_constant *constant)
{
    calc_field_ref ref;
    if (calc_field_find(CALC_KIND_SYSTEM, constant->path[0], &ref) != CALC_OK) {
        return INFINITY;
    }
    return ref.field->type == CALC_TYPE_CURVE ? 1 : ref.field->hi;
}

double calc_constant_from_free(const calc_constant *constant, double number)
{
    return constant->scale == CALC_CONSTANT_LOG ? fmin(exp(number), largest(constant))
                                                : 1 / (1 + exp(-number));
}
