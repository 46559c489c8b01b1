#include "model/serve/step_times.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

double calc_step_times_round(double x)
{
    const double bits = 128;
    int exponent;
    if (x <= 64) {
        return round(x);
    }
    double mantissa = frexp(x, &exponent);
    return round(ldexp(round(mantissa * bits) / bits, exponent));
}

static size_t place_of(const uint64_t word[CALC_PASS_MEMO_WORDS])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < CALC_PASS_MEMO_WORDS; i++) {
        hash = calc_hash_word(hash, word[i]);
    }
    return (size_t)(hash >> 32) % CALC_STEP_TIMES;
}

const calc_step_time *calc_step_times_of(calc_step_times *times,
                                         const calc_inference_pass_work *work)
{
    calc_inference_pass_work w = *work;
    w.sequences = calc_step_times_round(w.sequences);
    w.context = calc_step_times_round(w.context);
    w.chunk = calc_step_times_round(w.chunk);
    w.cached = calc_step_times_round(w.cached);
    uint64_t word[CALC_PASS_MEMO_WORDS];
    memcpy(word, &w, sizeof word);
    calc_step_time *t = &times->time[place_of(word)];
    if (!t->known || memcmp(t->word, word, sizeof word) != 0) {
        calc_inference_pass pass;
        calc_inference_pass_of(times->model, &w, &pass);
        *t = (calc_step_time){
            .known = true, .latency_s = pass.latency_s, .slow_s = pass.slow.total_s};
        memcpy(t->word, word, sizeof word);
    }
    return t;
}
