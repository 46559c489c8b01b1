#include "calibrate/evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "validate/run_dates.h"

/* CRC-32 (ISO 3309), the usual way to deal names into folds that stay the same everywhere. */
static uint32_t checksum(const char *text)
{
    uint32_t sum = UINT32_MAX;
    for (; *text; text++) {
        sum ^= (unsigned char)*text;
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xEDB88320) : 0);
        }
    }
    return ~sum;
}

static bool is_one_source(const calc_evidence *evidence)
{
    bool one = true;
    for (size_t i = 0; i < evidence->count; i++) {
        one = one && evidence->row[i].result->prediction->map.source ==
                         evidence->row[0].result->prediction->map.source;
    }
    return one;
}

static int64_t width_of(const calc_evidence_row *row)
{
    return row->result->prediction->map.app.hidden;
}

static bool is_one_width(const calc_evidence *evidence)
{
    bool one = true;
    for (size_t i = 0; i < evidence->count; i++) {
        one = one && width_of(&evidence->row[i]) == width_of(&evidence->row[0]);
    }
    return one;
}

int calc_evidence_fold(const char *text, int folds)
{
    return (int)(checksum(text) % (uint32_t)folds);
}

int calc_evidence_width_fold(int64_t hidden, int64_t depth)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRId64 "_%" PRId64, hidden, depth);
    return calc_evidence_fold(text, CALC_EVIDENCE_WIDTH_FOLDS);
}

/* Folds by width, or by depth if all runs have the same width. */
static void assign_folds_by_width(calc_evidence *evidence)
{
    bool deep = is_one_width(evidence);
    for (size_t i = 0; i < evidence->count; i++) {
        const calc_app *app = &evidence->row[i].result->prediction->map.app;
        evidence->row[i].width_fold =
            calc_evidence_width_fold(app->hidden, deep ? app->num_blocks : 0);
    }
    evidence->width_folds = CALC_EVIDENCE_WIDTH_FOLDS;
}

/* Folds by publisher; within a single one by tensor parallelism. */
static void assign_folds_by_source(calc_evidence *evidence)
{
    bool one = is_one_source(evidence);
    for (size_t i = 0; i < evidence->count; i++) {
        calc_evidence_row *row = &evidence->row[i];
        row->source_fold = -1;
        for (size_t j = 0; j < i && row->source_fold < 0; j++) {
            const calc_evidence_row *other = &evidence->row[j];
            bool alike =
                one ? other->result->prediction->map.exec.strategy.tensor_par ==
                          row->result->prediction->map.exec.strategy.tensor_par
                    : other->publisher_length == row->publisher_length &&
                          strncmp(other->publisher, row->publisher, row->publisher_length) == 0;
            row->source_fold = alike ? other->source_fold : -1;
        }
        row->source_fold = row->source_fold < 0 ? evidence->source_folds++ : row->source_fold;
    }
}

calc_status calc_evidence_make(calc_evidence *out, const calc_results *results,
                               const char *const *machine, size_t machines, calc_errors *errors)
{
    *out = (calc_evidence){.row = calloc(results->count + 1, sizeof *out->row)};
    if (!out->row) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->use != CALC_USE_SCORED || r->quantity != CALC_QUANTITY_STEP_TIME) {
            continue;
        }
        size_t m = 0;
        while (m < machines && strcmp(machine[m], r->prediction->map.machine->system) != 0) {
            m++;
        }
        if (m < machines) {
            calc_evidence_row *row = &out->row[out->count++];
            *row = (calc_evidence_row){
                .result = r, .index = i, .machine = m, .log_measured = log(r->measured)};
            row->publisher =
                calc_run_source_publisher(r->prediction->map.source, &row->publisher_length);
        }
    }
    assign_folds_by_width(out);
    assign_folds_by_source(out);
    return CALC_OK;
}

void calc_evidence_free(calc_evidence *evidence)
{
    free(evidence->row);
    *evidence = (calc_evidence){0};
}

bool calc_evidence_is_of(const calc_result *result, const char *const *names)
{
    const char *source = result->prediction->map.source->name;
    size_t word = strcspn(source, "_");
    size_t length;
    const char *publisher = calc_run_source_publisher(result->prediction->map.source, &length);
    for (; names && *names; names++) {
        size_t named = strlen(*names);
        bool alike = (named == word && strncmp(source, *names, word) == 0) ||
                     (named == length && strncmp(publisher, *names, length) == 0);
        bool since = calc_run_is_month(*names) &&
                     strcmp(calc_run_published(result->prediction->map.row), *names) >= 0;
        if (alike || since || strcmp(source, *names) == 0) {
            return true;
        }
    }
    return false;
}

double calc_evidence_predict_s(const calc_evidence_row *row, const calc_system *system)
{
    const calc_run_map *map = &row->result->prediction->map;
    calc_system own;
    calc_stats stats;
    calc_verdict verdict = calc_run(&map->app, calc_run_map_system(map, system, &own), &map->exec,
                                    CALC_COMPAT_NONE, &stats);
    bool fine = verdict == CALC_VERDICT_OK || verdict == CALC_VERDICT_MEM1_CAPACITY ||
                verdict == CALC_VERDICT_MEM2_CAPACITY;
    return fine ? stats.total_time : (double)NAN;
}
