#include "rl/lengths.h"

#include <math.h>

#include "gauss/normal.h"

/* E[min(X, cap)^power] of a log-normal X. */
static double moment(double log_mean, double deviation, double cap, int power)
{
    double shift = power * deviation * deviation;
    double whole = exp(power * (log_mean + shift / 2));
    if (isinf(cap)) {
        return whole;
    }
    double below = calc_normal_below((log(cap) - log_mean - shift) / deviation);
    double above = 1 - calc_normal_below((log(cap) - log_mean) / deviation);
    return whole * below + pow(cap, power) * above;
}

static double mean_of(const calc_rl_lengths *l)
{
    double cut = moment(l->log_mean, l->log_deviation, l->cap, 1);
    return l->at_cap > 0 ? (1 - l->at_cap) * cut + l->at_cap * l->cap : cut;
}

calc_rl_lengths calc_rl_lengths_of(const calc_job_response *response)
{
    enum { HALVINGS = 100 };
    calc_rl_lengths l = {.mean = response->mean,
                         .log_deviation = sqrt(log1p(response->cv * response->cv)),
                         .cap = response->cap > 0 ? (double)response->cap : INFINITY,
                         .at_cap = response->share_at_cap};
    if (l.log_deviation == 0) { /* all that do not reach the cap are equally long */
        double rest = l.at_cap > 0 ? l.mean - l.at_cap * l.cap : l.mean;
        l.log_mean = log(fmax(1, rest / (1 - l.at_cap)));
    }
    double low = log(response->mean) - 60, high = log(response->mean) + 60;
    for (int i = 0; i < HALVINGS && l.log_deviation > 0; i++) {
        l.log_mean = (low + high) / 2;
        *(mean_of(&l) < l.mean ? &low : &high) = l.log_mean;
    }
    return l;
}

double calc_rl_lengths_quantile(const calc_rl_lengths *l, double share)
{
    if (l->at_cap > 0 && share >= 1 - l->at_cap) {
        return l->cap;
    }
    if (l->log_deviation == 0) {
        return l->at_cap > 0 ? exp(l->log_mean) : l->mean;
    }
    double normal = calc_normal_quantile(share / (1 - l->at_cap));
    return fmin(l->cap, fmax(1, exp(l->log_mean + l->log_deviation * normal)));
}

double calc_rl_lengths_longest(const calc_rl_lengths *l, double count)
{
    return calc_rl_lengths_quantile(l, exp(-0.57721566 / fmax(1, count)));
}

double calc_rl_lengths_attended(const calc_rl_lengths *l, double prompt)
{
    if (l->log_deviation == 0 && l->at_cap == 0) {
        return prompt + l->mean;
    }
    double square = l->log_deviation == 0 ? exp(2 * l->log_mean)
                                          : moment(l->log_mean, l->log_deviation, l->cap, 2);
    square = l->at_cap > 0 ? (1 - l->at_cap) * square + l->at_cap * l->cap * l->cap : square;
    return (prompt * prompt + 2 * prompt * l->mean + square) / (prompt + l->mean);
}

void calc_rl_lengths_sample(const calc_rl_lengths *l, double *out, size_t count)
{
    double sum = 0, capped = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = calc_rl_lengths_quantile(l, ((double)i + 0.5) / (double)count);
        *(out[i] < l->cap ? &sum : &capped) += out[i];
    }
    double scale = fmax(0, l->mean * (double)count - capped) / sum;
    for (size_t i = 0; i < count && sum > 0; i++) {
        out[i] = out[i] < l->cap ? fmin(l->cap, out[i] * scale) : out[i];
    }
}
