/* A published run to start from, and results made from numbers alone. */
#ifndef CALC_TESTS_RUN_CASE_H
#define CALC_TESTS_RUN_CASE_H

#include "validate/results.h"

#include <math.h>

/* Every cell blank. */
static inline calc_runs_row blank_row(void)
{
    calc_runs_row row = {0};
#define BLANK_TEXT(name) row.name = "";
#define BLANK_NUMBER(name) row.name = (double)NAN;
#define CALC_X(type, name) BLANK_##type(name)
    CALC_RUNS_COLUMN_LIST(CALC_X)
    CALC_RUNS_OWN_LIST(CALC_X)
#undef CALC_X
#undef BLANK_TEXT
#undef BLANK_NUMBER
    return row;
}

/* A dense model on 16 A100 in two stages; its source is not known. */
static inline calc_runs_row plain_row(void)
{
    calc_runs_row row = blank_row();
    row.id = "plain";
    row.hardware = "A100-SXM4-80GB";
    row.model = "some-model";
    row.model_notes = "RMSNorm, SwiGLU, RoPE, untied embeddings, no bias";
    row.num_gpus = 16;
    row.layers = 32;
    row.hidden = 4096;
    row.ffn = 14336;
    row.heads = 32;
    row.kv_heads = 8;
    row.vocab = 128256;
    row.seq = 8192;
    row.dtype = "bf16";
    row.global_batch = 64;
    row.micro_batch = 1;
    row.tp = 2;
    row.pp = 2;
    row.vpp = "1";
    row.recompute = "none";
    row.flash_attention = 1;
    row.measured_iteration_s = 10;
    row.confidence = "high";
    return row;
}

#endif
