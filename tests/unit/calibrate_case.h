/** @file calibrate_case.h  Measured runs that are none: 48 layouts of dense models on two machines,
 *  their times predicted by the model under constants that the test knows. */
#ifndef CALC_TESTS_CALIBRATE_CASE_H
#define CALC_TESTS_CALIBRATE_CASE_H

#include "calibrate/calibration.h"
#include "run_case.h"

#include <check.h>
#include <stdio.h>

enum { CASE_ROWS = 48, CASE_MACHINES = 2 };

static const char *const case_machine[CASE_MACHINES] = {"a100_sxm_80g", "a100_sxm_40g"};
static char case_id[CASE_ROWS][32];
static calc_runs_row case_row[CASE_ROWS];
static calc_runs case_runs = {.row = case_row, .count = CASE_ROWS};
static calc_remarks case_remarks;
static calc_documents case_systems;

static inline calc_status case_load(calc_kind kind, const char *name, void *out,
                                    calc_errors *errors)
{
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", name);
    return calc_load(kind, out, path, errors);
}

/* The shipped starts. */
static inline const calc_constant_starts *case_starts(void)
{
    static calc_constant_starts starts;
    calc_errors errors = {0};
    if (starts.count == 0) {
        ck_assert_int_eq(calc_constant_starts_read(
                             &starts, CALC_DATA_DIR_SOURCE "/tests/measured/starts.csv", &errors),
                         CALC_OK);
    }
    return &starts;
}

static inline calc_measured_runs case_of_runs(void)
{
    return (calc_measured_runs){
        .runs = &case_runs, .files = 1, .remarks = &case_remarks, .systems = &case_systems};
}

static inline calc_status case_results(calc_results *out, calc_errors *errors)
{
    const calc_measured_runs of = case_of_runs();
    return calc_results_make(out, &of, errors);
}

/* Layouts of widths 1,024 to 8,192, two sources, two machines; no time is measured yet. */
static inline void case_layouts(void)
{
    static const int hidden[] = {1024, 2048, 4096, 8192};
    case_systems = (calc_documents){CALC_KIND_SYSTEM, .load = case_load};
    for (int i = 0; i < CASE_ROWS; i++) {
        calc_runs_row *row = &case_row[i];
        bool eager = i % 3 == 0;
        *row = plain_row();
        snprintf(case_id[i], sizeof case_id[i], "%s%d", eager ? "eager_" : "plain_", i);
        row->id = case_id[i];
        row->source = eager ? "foundry_a100_80" : "other";
        row->publisher = eager ? "foundry" : "other";
        row->sys = case_machine[i % 2];
        calc_app *app = &row->document->app;
        app->hidden = hidden[i % 4];
        app->feedforward = 4 * app->hidden;
        app->attn_heads = app->kv_heads = app->hidden / 128;
        app->num_blocks = 16;
        app->vocab_size = 32000;
        app->seq_size = 512 << (i / 16);
        calc_exec *exec = &row->document->exec;
        calc_strategy *s = &exec->strategy;
        exec->num_procs = 8;
        exec->pipeline_par = 1;
        exec->batch_size = 96;
        exec->microbatch_size = eager ? 4 : 1 + i / 4 % 4;
        s->tensor_par = eager ? 1 : 1 << (i / 4 % 3);
        s->data_par = 8 / s->tensor_par;
        s->attention_type = CALC_ATTENTION_TYPE_MULTIHEAD;
        s->tensor_par_overlap =
            s->tensor_par > 1 ? CALC_TENSOR_PAR_OVERLAP_ASYNC : CALC_TENSOR_PAR_OVERLAP_NONE;
        if (eager) {
            s->eager = true;
            s->attention_kernel = CALC_ATTENTION_KERNEL_GENERIC;
            s->fused_cross_entropy = false;
            s->data_par_overlap = false;
            s->param_gather_overlap = CALC_CHOICE_FALSE;
            s->framework_mem = 1 << CALC_FRAMEWORK_MEM_LOSS_COPIES;
        }
    }
}

/* Measure what the model says under the constants NAME = value of all machines, times a factor
 * that scatters by `noise`. */
static inline void case_measure(const char *const *name, const double *value, int count,
                                double noise)
{
    calc_results results = {0};
    calc_errors errors = {0};
    for (int m = 0; m < CASE_MACHINES; m++) {
        calc_document *entry = (calc_document *)calc_documents_get(&case_systems, case_machine[m]);
        ck_assert_msg(entry->fine, "%s", entry->reason);
        for (int k = 0; k < count; k++) {
            calc_constant_set(calc_constant_find(name[k]), &entry->system, value[k]);
        }
    }
    ck_assert_int_eq(case_results(&results, &errors), CALC_OK);
    for (int i = 0; i < CASE_ROWS; i++) {
        ck_assert_msg(isfinite(results.item[i].predicted), "%s: %s", case_id[i],
                      results.item[i].remark);
        double scatter = noise * sin(12.9898 * (i + 1)); /* of no pattern in what is fitted */
        case_row[i].measured_s = results.item[i].predicted * exp(scatter);
    }
    calc_results_free(&results);
    case_systems = (calc_documents){CALC_KIND_SYSTEM, .load = case_load};
}

#endif
