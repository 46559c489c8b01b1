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
static calc_systems case_systems;

static inline calc_status case_load(const char *name, calc_system *out, calc_errors *errors)
{
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", name);
    return calc_load(CALC_KIND_SYSTEM, out, path, errors);
}

static inline calc_calibration_runs case_of_runs(void)
{
    return (calc_calibration_runs){&case_runs, 1, &case_remarks, &case_systems};
}

/* Layouts of widths 1,024 to 8,192, two sources, two machines; no time is measured yet. */
static inline void case_layouts(void)
{
    static const int hidden[] = {1024, 2048, 4096, 8192};
    case_systems = (calc_systems){.load = case_load};
    for (int i = 0; i < CASE_ROWS; i++) {
        calc_runs_row *row = &case_row[i];
        bool eager = i % 3 == 0;
        *row = plain_row();
        snprintf(case_id[i], sizeof case_id[i], "%s%d", eager ? "foundry_a100_80_" : "plain_", i);
        row->id = case_id[i];
        row->hardware = i % 2 ? "A100-SXM4-40GB" : "A100-SXM4-80GB";
        row->hidden = hidden[i % 4];
        row->ffn = 4 * row->hidden;
        row->heads = row->hidden / 128;
        row->kv_heads = row->heads;
        row->layers = 16;
        row->vocab = 32000;
        row->pp = 1;
        row->tp = eager ? 1 : 1 << (i / 4 % 3);
        row->num_gpus = 8;
        row->seq = 512 << (i / 16);
        row->micro_batch = eager ? 4 : 1 + i / 4 % 4;
        row->global_batch = 96;
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
        calc_systems_entry *entry =
            (calc_systems_entry *)calc_systems_get(&case_systems, case_machine[m]);
        ck_assert_msg(entry->fine, "%s", entry->reason);
        for (int k = 0; k < count; k++) {
            calc_constant_set(calc_constant_find(name[k]), &entry->system, value[k]);
        }
    }
    ck_assert_int_eq(
        calc_results_make(&results, &case_runs, 1, &case_remarks, &case_systems, &errors), CALC_OK);
    for (int i = 0; i < CASE_ROWS; i++) {
        ck_assert_msg(isfinite(results.item[i].predicted), "%s: %s", case_id[i],
                      results.item[i].remark);
        double scatter = noise * sin(12.9898 * (i + 1)); /* of no pattern in what is fitted */
        case_row[i].measured_iteration_s = results.item[i].predicted * exp(scatter);
    }
    calc_results_free(&results);
    case_systems = (calc_systems){.load = case_load};
}

#endif
