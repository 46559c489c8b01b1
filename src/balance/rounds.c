#include "balance/rounds.h"

#include <math.h>
#include <stdbool.h>

#include "balance/problem.h"
#include "model/operators/processor.h"

/* Relative difference up to which two rounds count as equal. */
#define SAME 1e-14

enum { LOOK = 16 }; /* rounds between two checks */

/** When each stage is done with its last forward, and its last operation. */
typedef struct line {
    const double *fw_s, *bw_s;
    int stages;
    double forward_s[CALC_BALANCE_STAGES], done_s[CALC_BALANCE_STAGES];
} line;

/* Forwards of the stages from first to last; the last stages come first, since they need the round
 * before. */
static void forwards(line *l, int first, int last)
{
    for (int s = last; s >= first; s--) {
        double input_s = s > 0 ? l->forward_s[s - 1] : 0;
        l->forward_s[s] = calc_max(l->done_s[s], input_s) + l->fw_s[s];
        l->done_s[s] = l->forward_s[s];
    }
}

static void backwards(line *l)
{
    double input_s = 0;
    for (int s = l->stages - 1; s >= 0; s--) {
        input_s = calc_max(l->done_s[s], input_s) + l->bw_s[s];
        l->done_s[s] = input_s;
    }
}

/* Whether all stages are delayed by the time of the busiest one. */
static bool steady(const line *l, const line *before, double busy_s)
{
    double within_s = SAME * l->done_s[0];
    for (int s = 0; s < l->stages; s++) {
        if (fabs(l->done_s[s] - before->done_s[s] - busy_s) > within_s ||
            fabs(l->forward_s[s] - before->forward_s[s] - busy_s) > within_s) {
            return false;
        }
    }
    return true;
}

static void later(line *l, double by_s)
{
    for (int s = 0; s < l->stages; s++) {
        l->forward_s[s] += by_s;
        l->done_s[s] += by_s;
    }
}

double calc_balance_rounds_s(int stages, int64_t microbatches, const double *fw_s,
                             const double *bw_s)
{
    line l = {.stages = stages, .fw_s = fw_s, .bw_s = bw_s};
    int64_t m = microbatches;
    double busy_s = 0;
    for (int s = 0; s < stages; s++) {
        l.forward_s[s] = l.done_s[s] = 0;
        busy_s = calc_max(busy_s, fw_s[s] + bw_s[s]);
    }
    line before;
    for (int64_t i = 1 - stages; i < m; i++) {
        /* Stages with a forward in this round: 0 <= i + p-1-s < m. */
        int64_t last = i + stages - 1;
        int64_t first = last - m + 1;
        bool looks = i > 0 && i % LOOK == 0 && first < 0;
        if (looks) {
            before = l;
        }
        forwards(&l, first > 0 ? (int)first : 0, last < stages ? (int)last : stages - 1);
        if (i < 0) {
            continue;
        }
        backwards(&l);
        if (looks && steady(&l, &before, busy_s)) {
            later(&l, -(double)first * busy_s);
            i -= first;
        }
    }
    return l.done_s[0];
}
