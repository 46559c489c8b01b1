#include "validate/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char calc_results_low_confidence[] =
    "low confidence: an important field is missing or doubtful";

static calc_result pair(const calc_prediction *p, calc_quantity quantity,
                        const calc_remarks *remarks)
{
    bool time = quantity == CALC_QUANTITY_STEP_TIME;
    calc_result r = {.prediction = p,
                     .quantity = quantity,
                     .measured = time ? p->map.step_s : p->map.memory_bytes,
                     .predicted = time ? p->step_s : p->memory_bytes,
                     .remark = ""};
    r.error = r.predicted / r.measured - 1;
    const calc_remark *remark =
        calc_remarks_find(remarks, p->map.row->id, calc_quantity_word(quantity));
    if (isnan(r.predicted)) {
        r.use = CALC_USE_UNPREDICTED;
        r.remark = p->reason;
    } else if (calc_runs_is_oom(p->map.row)) {
        r.use = CALC_USE_UNSCORED;
        r.remark = "ran out of memory";
    } else if (strcmp(p->map.row->confidence, "low") == 0) {
        r.use = CALC_USE_UNSCORED;
        r.remark = remark ? remark->remark : calc_results_low_confidence;
    } else if (remark) {
        bool unscored = strcmp(remark->use, "unscored") == 0;
        r.use = unscored ? CALC_USE_UNSCORED : CALC_USE_SCORED;
        r.remark = remark->remark;
    } else {
        r.remark = p->misfit;
    }
    return r;
}

/* The measurements of one run; at least one result. @return how many */
static size_t pair_all(const calc_prediction *p, const calc_remarks *remarks, calc_result *out)
{
    size_t count = 0;
    bool memory = !isnan(p->map.memory_bytes);
    if (!isnan(p->map.step_s) || !memory) {
        out[count++] = pair(p, CALC_QUANTITY_STEP_TIME, remarks);
    }
    if (memory) {
        out[count++] = pair(p, CALC_QUANTITY_MEMORY, remarks);
    }
    return count;
}

calc_status calc_results_make(calc_results *out, const calc_runs *runs, size_t files,
                              const calc_remarks *remarks, calc_systems *systems,
                              calc_errors *errors)
{
    size_t total = 0;
    for (size_t f = 0; f < files; f++) {
        total += runs[f].count;
    }
    *out = (calc_results){.prediction = calloc(total + 1, sizeof *out->prediction),
                          .item = calloc(CALC_QUANTITY_COUNT * total + 1, sizeof *out->item)};
    if (!out->prediction || !out->item) {
        calc_results_free(out);
        return calc_errors_no_memory(errors);
    }
    for (size_t f = 0; f < files; f++) {
        for (size_t i = 0; i < runs[f].count; i++) {
            calc_prediction *p = &out->prediction[out->predictions++];
            calc_predict(p, &runs[f].row[i], systems);
            out->count += pair_all(p, remarks, &out->item[out->count]);
        }
    }
    return calc_errors_status(errors, systems->failed);
}

void calc_results_free(calc_results *results)
{
    free(results->prediction);
    free(results->serving);
    free(results->item);
    *results = (calc_results){0};
}

size_t calc_results_count(const calc_results *results, calc_use use)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        count += results->item[i].use == use;
    }
    return count;
}

const char *const calc_quantity_words[] = {
#define CALC_X(name, word, unit) word,
    CALC_QUANTITY_LIST(CALC_X)
#undef CALC_X
        NULL};

const char *calc_quantity_word(calc_quantity quantity)
{
    return calc_quantity_words[quantity];
}

const char *calc_use_word(calc_use use)
{
    static const char *const words[] = {
#define CALC_X(name, word) word,
        CALC_USE_LIST(CALC_X)
#undef CALC_X
    };
    return words[use];
}
