#include "validate/serving_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { QUANTITIES = 5 /* of a run at most */ };

static calc_result pair(const calc_serving_prediction *p, calc_quantity quantity, double measured,
                        double predicted, const calc_remarks *remarks)
{
    calc_result r = {.serving = p,
                     .quantity = quantity,
                     .measured = measured,
                     .predicted = predicted,
                     .error = predicted / measured - 1};
    const calc_remark *remark =
        calc_remarks_find(remarks, p->map.row->id, calc_quantity_word(quantity));
    bool low = strcmp(p->map.row->confidence, "low") == 0;
    if (!isfinite(r.error)) {
        r.use = CALC_USE_UNPREDICTED;
        r.remark = *p->reason ? p->reason : "nothing of this kind is predicted";
    } else if (low || (remark && strcmp(remark->use, "unscored") == 0)) {
        r.use = CALC_USE_UNSCORED;
        r.remark = remark ? remark->remark : calc_results_low_confidence;
    } else {
        r.use = *p->misfit ? CALC_USE_REFUSED : CALC_USE_SCORED;
        r.remark = *p->misfit ? p->misfit : remark ? remark->remark : "";
    }
    return r;
}

/* The measurements of one run; at least one result. @return how many */
static size_t pair_all(const calc_serving_prediction *p, const calc_remarks *remarks,
                       calc_result *out)
{
    const calc_serving_map *map = &p->map;
    const struct {
        calc_quantity quantity;
        double measured, predicted;
    } found[] = {{CALC_QUANTITY_TPOT, map->tpot_s, p->tpot_s},
                 {CALC_QUANTITY_TTFT, map->ttft_s, p->ttft_s},
                 {CALC_QUANTITY_E2E, map->e2e_s, p->e2e_s},
                 {CALC_QUANTITY_OUTPUT_RATE, map->output_tokens_per_s, p->output_tokens_per_s}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        if (found[i].measured > 0) {
            out[count++] =
                pair(p, found[i].quantity, found[i].measured, found[i].predicted, remarks);
        }
    }
    if (count == 0) {
        out[count++] = pair(p, CALC_QUANTITY_TPOT, (double)NAN, (double)NAN, remarks);
    }
    return count;
}

/* Whether two runs are of one sweep: alike but for their requests, of one day and source. */
static bool is_sweep(const calc_serving_map *a, const calc_serving_map *b)
{
    return calc_serving_map_alike(a, b) && strcmp(a->row->software, b->row->software) == 0 &&
           strcmp(a->row->published, b->row->published) == 0 &&
           strcmp(a->row->source, b->row->source) == 0;
}

static bool has_shape(const calc_result *r)
{
    return r->use == CALC_USE_SCORED && r->quantity == CALC_QUANTITY_TPOT &&
           (r->serving->map.kind == CALC_SERVING_KIND_CLOSED_LOOP ||
            r->serving->map.kind == CALC_SERVING_KIND_DISAGGREGATED);
}

/* The result of its sweep with the fewest requests, the first of equals. */
static const calc_result *first_of(const calc_results *results, size_t count, const calc_result *r)
{
    const calc_result *first = r;
    for (size_t i = 0; i < count; i++) {
        const calc_result *other = &results->item[i];
        double fewest = first->serving->map.requests;
        double requests = has_shape(other) ? other->serving->map.requests : fewest + 1;
        if ((requests < fewest || (requests == fewest && other < first)) &&
            is_sweep(&r->serving->map, &other->serving->map)) {
            first = other;
        }
    }
    return first;
}

static void add_shapes(calc_results *results, const calc_remarks *remarks)
{
    size_t count = results->count;
    for (size_t i = 0; i < count; i++) {
        const calc_result *r = &results->item[i];
        const calc_result *first = has_shape(r) ? first_of(results, count, r) : r;
        if (first->serving->map.requests < r->serving->map.requests) {
            results->item[results->count++] =
                pair(r->serving, CALC_QUANTITY_TPOT_SHAPE, r->measured / first->measured,
                     r->predicted / first->predicted, remarks);
        }
    }
}

calc_status calc_serving_results_make(calc_results *out, const calc_serving_rows *rows,
                                      size_t files, const calc_remarks *remarks,
                                      calc_serving_apps *apps, calc_systems *systems,
                                      calc_errors *errors)
{
    size_t total = 0;
    for (size_t f = 0; f < files; f++) {
        total += rows[f].count;
    }
    *out = (calc_results){.serving = calloc(total + 1, sizeof *out->serving),
                          .item = calloc(QUANTITIES * total + 1, sizeof *out->item)};
    if (!out->serving || !out->item) {
        calc_results_free(out);
        return calc_errors_no_memory(errors);
    }
    for (size_t f = 0; f < files; f++) {
        for (size_t i = 0; i < rows[f].count; i++) {
            calc_serving_prediction *p = &out->serving[out->servings++];
            calc_serving_predict(p, &rows[f].row[i], apps, systems);
            out->count += pair_all(p, remarks, &out->item[out->count]);
        }
    }
    add_shapes(out, remarks);
    return calc_errors_status(errors, systems->failed ? systems->failed : apps->failed);
}
