/* A run of serving to start from. */
#ifndef CALC_TESTS_SERVING_RUN_CASE_H
#define CALC_TESTS_SERVING_RUN_CASE_H

#include "validate/results.h"

#include <math.h>
#include <stdio.h>

/* Llama 3 70B in 8 bits on four H200, 16 requests in flight. */
static inline calc_serving_row serving_row(void)
{
    calc_serving_row row = {0};
#define BLANK_TEXT(name) row.name = "";
#define BLANK_NUMBER(name) row.name = (double)NAN;
#define BLANK_NEEDED_TEXT BLANK_TEXT
#define BLANK_NEEDED_NUMBER BLANK_NUMBER
#define CALC_X(type, name, ...) BLANK_##type(name)
    CALC_SERVING_COLUMN_LIST(CALC_X)
#undef CALC_X
#undef BLANK_TEXT
#undef BLANK_NUMBER
#undef BLANK_NEEDED_TEXT
#undef BLANK_NEEDED_NUMBER
    row.id = "plain";
    row.source = "somebody";
    row.published = "2025-10-29";
    row.software = "vllm 0.11.0";
    row.app = "llama3-70B";
    row.sys = "h200";
    row.num_gpus = 4;
    row.weight_dtype = "fp8";
    row.tp = 4;
    row.isl = 1000;
    row.osl = 500;
    row.concurrency_or_batch = 16;
    row.tpot_or_itl_ms = 12;
    row.ttft_ms = 100;
    row.confidence = "high";
    return row;
}

/* Models and machines that calc ships. */
static inline calc_status load_document(calc_kind kind, const char *name, void *out,
                                        calc_errors *errors)
{
    char path[256];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s/%.64s.json",
             kind == CALC_KIND_APP ? "models" : "systems", name);
    return calc_load(kind, out, path, errors);
}

#endif
