#include "model/serve/queue.h"

#include <math.h>
#include <stdbool.h>

double calc_queue_open(double servers, double rate, double service, double variation)
{
    double used = rate * service / servers;
    if (!(used < 1)) {
        return NAN;
    }
    double busy = pow(used, sqrt(2 * (servers + 1)) - 1);
    return service * busy / (servers * (1 - used)) * (1 + variation) / 2;
}

double calc_queue_balance(double (*surplus)(void *context, double at), void *context, double high,
                          double below, double above)
{
    enum { TRIES = 60 };
    const double near = 1e-12; /* of the place */
    double low = 0;
    double at = high;
    int side = 0;
    for (int i = 0; i < TRIES && above > near * high; i++) {
        at = high - above * (high - low) / (above - below);
        double value = surplus(context, at);
        if (fabs(value) <= near * at) {
            break;
        }
        if (value > 0) {
            high = at;
            above = value;
            below /= side > 0 ? 2 : 1;
            side = 1;
        } else {
            low = at;
            below = value;
            above /= side < 0 ? 2 : 1;
            side = -1;
        }
    }
    return at;
}

/* exp(x^2) erfc(x) */
static double scaled_erfc(double x)
{
    const double pi = 3.141592653589793;
    const double large = 6;
    if (x > large) {
        double y = 1 / (2 * x * x);
        return (1 - y * (1 - 3 * y)) / (x * sqrt(pi));
    }
    return exp(x * x) * erfc(x);
}

/* A loop in units of its service. */
typedef struct loop {
    double population, away;
} loop;

/* How much longer a wait is than the one that it leads to: rounds with it have so many requests. */
static double too_long(void *context, double wait)
{
    const loop *l = context;
    const double pi = 3.141592653589793;
    const double full = 6; /* deviations beyond a full server: no such wait is stable */
    double used = l->population / (l->away + 1 + wait);
    double idle = (1 - used) * sqrt(l->population / 2);
    double others = used * (l->population - 1) / l->population;
    double scale = others * sqrt(pi * l->population / 8);
    return wait - scale * scaled_erfc(fmax(idle, -full));
}

double calc_queue_closed(double population, double away, double apart, double service)
{
    loop l = {population, away / service};
    double least = fmax(0, population - l.away - 1); /* the server is never more than busy */
    double short_by = apart > 0 ? too_long(&l, least) : 0;
    if (short_by >= 0) {
        return least * service;
    }
    /* Of the others all may be before. */
    double most = least + population;
    double wait = calc_queue_balance(too_long, &l, most, short_by - most, too_long(&l, most));
    double unlike = 2 * apart / service / sqrt(population);
    return service * fmax(least, wait * (1 - exp(-unlike)));
}

/* A queue is empty for a share `empty` of the time, and still after t with exp(-rate t) of that.
 * The integral up to `longest` of 1 - (1 - empty exp(-rate t))^(queues - 1), that one of the others
 * is. */
static double until_all(double queues, double rate, double longest, double empty)
{
    double now = 1 - empty;
    double then = 1 - empty * exp(-rate * longest);
    double all_now = 1;
    double all_then = 1;
    double sum = 0;
    for (int k = 1; k < queues; k++) {
        all_now *= now;
        all_then *= then;
        sum += (all_then - all_now) / (k * rate);
    }
    return sum;
}

double calc_queue_gather(double queues, double rate, double longest)
{
    enum { TRIES = 6 };
    double held = until_all(queues, rate, longest, 1);
    for (int i = 0; i < TRIES; i++) {
        held = (held + until_all(queues, rate, longest, 1 / (1 + rate * held))) / 2;
    }
    return held;
}

/* Integral of ceil(x) from 0. */
static double pieces_up_to(double x)
{
    double whole = floor(x);
    return whole * (whole + 1) / 2 + (x - whole) * (whole + 1);
}

double calc_queue_pieces(double mean, double spread)
{
    double least = mean * (1 - spread);
    double most = mean * (1 + spread);
    /* A spread that rounding takes away is none. */
    return most > least ? (pieces_up_to(most) - pieces_up_to(least)) / (most - least) : ceil(mean);
}

/* Of the arrivals after so many rounds. */
static double width_after(double rounds, double served, double round, double spread)
{
    double apart = 2 * spread * round;
    return fmin(round, sqrt(served * served + rounds * apart * apart));
}

size_t calc_queue_waves(double served, double round, double spread, double rounds,
                        calc_queue_wave out[CALC_QUEUE_WAVES])
{
    if (!(rounds > 0)) {
        out[0] = (calc_queue_wave){1, round};
        return 1;
    }
    size_t count = 0;
    double left = rounds;
    double width = 0;
    while (left > 0) {
        bool last = left <= 1 || count + 1 == CALC_QUEUE_WAVES || width >= round ||
                    (count > 0 && spread == 0);
        out[count++] = (calc_queue_wave){(last ? left : 1) / rounds, width};
        left = last ? 0 : left - 1;
        width = width_after((double)count, served, round, spread);
    }
    return count;
}

/* Of services that began long ago and run at the same time, in units of one: how much later the
 * last of them ends than they do in the mean. What is left of a service of 1 - spread .. 1 + spread
 * is (1 + spread^2 / 3) / 2 in the mean; more than x > 1 - spread of it with the probability (1 +
 * spread - x)^2 / (4 spread). */
double calc_queue_drain(double slots, double served, double round, double spread, double rounds)
{
    double width = rounds > 0 ? width_after(rounds, served, round, spread) / round : 0;
    const double pi = 3.141592653589793;
    double all = pi / (slots + 0.75); /* (Gamma(slots + 1) / Gamma(slots + 1.5))^2 pi */
    double last = spread > all / 4 ? 1 + spread - sqrt(all * spread) : 1 - 1 / (slots + 1);
    double after = fmax(0, last - (1 + spread * spread / 3) / 2);
    return rounds > 0 ? width * after / rounds : 0;
}

double calc_queue_mean(const calc_queue_times *times, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += times[i].share * ((times[i].least + times[i].most) / 2 + times[i].tail);
    }
    return sum;
}

double calc_queue_quantile(const calc_queue_times *times, size_t count, double quantile)
{
    enum { HALVINGS = 50 };
    if (count == 1) {
        /* The uniform and the exponential term, both at their quantile. */
        const calc_queue_times *t = times;
        double above = 1 - quantile;
        double later =
            t->tail_share > above ? t->tail / t->tail_share * log(t->tail_share / above) : 0;
        return t->least + quantile * (t->most - t->least) + later;
    }
    double low = 0;
    double high = 0;
    for (size_t i = 0; i < count; i++) {
        high = fmax(high, times[i].most + 2 * times[i].tail);
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        double share = 0; /* within this time */
        for (size_t k = 0; k < count; k++) {
            const calc_queue_times *t = &times[k];
            double most = t->most + 2 * t->tail;
            double part =
                most > t->least ? (middle - t->least) / (most - t->least) : middle >= most;
            share += t->share * fmin(1, fmax(0, part));
        }
        *(share >= quantile ? &high : &low) = middle;
    }
    return high;
}
