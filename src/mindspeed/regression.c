#include "mindspeed/regression.h"

#include <math.h>

#include "gauss/normal.h"

#define GIB 1073741824.0
/* Buffers of the runtime and of collectives, the same for every configuration. */
#define RUNTIME_BYTES (4 * GIB)

enum { T = CALC_MINDSPEED_TERMS };

void calc_mindspeed_regression_terms(const calc_mindspeed_config *c, double term[T])
{
    double ranks = (double)c->tp * c->cp * c->up;
    term[0] = 1;
    term[1] = c->mbs / ranks;
    term[2] = c->mbs / (ranks * c->cp);
    term[3] = (double)c->mbs / ((double)c->cp * c->up);
}

/* Solves the normal equations. With a few rows and four well-scaled terms no significant digits are
 * lost, and the choice of rows ensures that they can be solved. */
bool calc_mindspeed_regression_fit(calc_mindspeed_regression *out,
                                   const calc_mindspeed_measured *measured, size_t count)
{
    double normal[T * T] = {0};
    size_t good = 0;
    *out = (calc_mindspeed_regression){0};
    for (size_t i = 0; i < count; i++) {
        double term[T];
        if (!isfinite(measured[i].layer_gib)) {
            continue;
        }
        calc_mindspeed_regression_terms(&measured[i].config, term);
        for (int j = 0; j < T; j++) {
            for (int k = 0; k < T; k++) {
                normal[j * T + k] += term[j] * term[k];
            }
            out->theta[j] += term[j] * measured[i].layer_gib;
        }
        good++;
    }
    if (good < T || !calc_gauss_factor(normal, T)) {
        return false;
    }
    calc_gauss_solve(normal, T, out->theta);
    return true;
}

double calc_mindspeed_regression_layer_gib(const calc_mindspeed_regression *regression,
                                           const calc_mindspeed_config *config)
{
    double term[T];
    double sum = 0;
    calc_mindspeed_regression_terms(config, term);
    for (int i = 0; i < T; i++) {
        sum += regression->theta[i] * term[i];
    }
    return sum;
}

double calc_mindspeed_regression_peak_bytes(const calc_mindspeed_job *job,
                                            const calc_mindspeed_config *config, double layer_gib)
{
    double h = job->hidden;
    double layers = (double)job->layers / config->pp;
    double wide = job->swiglu ? 2.0 * job->ffn : job->ffn;
    double parameters = (4 * h * h + 2 * h * wide) / config->tp * layers;
    double weights = 2 * parameters;
    double grads = weights;
    double optimizer = (job->reuse_fp32 ? 12 : 16) * parameters;
    double batch = fmax(layer_gib, 0) * GIB * layers;
    double forward = weights + optimizer + batch * config->pp;
    return fmax(forward, forward + grads - batch) + RUNTIME_BYTES;
}
