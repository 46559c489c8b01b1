/* A measured run to start from. */
#ifndef CALC_TESTS_RUN_CASE_H
#define CALC_TESTS_RUN_CASE_H

#include "validate/results.h"

#include <math.h>

/* A dense model on 16 A100 in two stages, which took 10 s; its documents are of a few that take
 * turns. */
static inline calc_runs_row plain_row(void)
{
    static calc_run_documents pool[64];
    static int taken;
    calc_run_documents *d = &pool[taken++ % (int)(sizeof pool / sizeof *pool)];
    calc_runs_row row = {0};
#define BLANK_TEXT(name) row.name = "";
#define BLANK_NUMBER(name) row.name = (double)NAN;
#define BLANK_COUNT BLANK_NUMBER
#define CALC_X(type, name, ...) BLANK_##type(name)
    CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
#undef BLANK_TEXT
#undef BLANK_NUMBER
#undef BLANK_COUNT
    *d = (calc_run_documents){
        .app = {.hidden = 4096,
                .feedforward = 14336,
                .seq_size = 8192,
                .attn_heads = 32,
                .attn_size = 128,
                .kv_heads = 8,
                .num_blocks = 32,
                .vocab_size = 128256,
                .ffn_type = CALC_FFN_TYPE_SWIGLU,
                .norm_type = CALC_NORM_TYPE_RMS,
                .position_type = CALC_POSITION_TYPE_ROPE,
                .bias = CALC_CHOICE_FALSE,
                .dropout = CALC_CHOICE_FALSE,
                .tied_embeddings = CALC_CHOICE_FALSE,
                .causal = true},
        .exec = {.num_procs = 16,
                 .pipeline_par = 2,
                 .pipeline_interleaving = 1,
                 .batch_size = 64,
                 .microbatch_size = 1,
                 .training = true,
                 .rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP,
                 .strategy = {.tensor_par = 2,
                              .data_par = 4,
                              .context_par = 1,
                              .expert_par = 1,
                              .expert_tensor_par = 1,
                              .context_par_net = -1,
                              .expert_par_net = -1,
                              .expert_tensor_par_net = -1,
                              .expert_data_par_net = -1,
                              .datatype = CALC_DATATYPE_BFLOAT16,
                              .fused_activation = true,
                              .attention_type = CALC_ATTENTION_TYPE_GROUPED_QUERY,
                              .tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG,
                              .tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_ASYNC,
                              .data_par_overlap = true,
                              .param_gather_overlap = CALC_CHOICE_TRUE,
                              .flash_attention = true,
                              .memory_model = CALC_MEMORY_MODEL_MEGATRON,
                              .grad_datatype = CALC_FORMAT_FLOAT32,
                              .grad_reduce_datatype = CALC_FORMAT_FLOAT32,
                              .fused_cross_entropy = true}},
        .by_fields = true};
    row.document = d;
    row.id = "plain";
    row.source = "other";
    row.publisher = "other";
    row.sys = "a100_sxm_80g";
    row.family = "A100";
    row.model = "some-model";
    row.measured_s = 10;
    row.confidence = "high";
    return row;
}

#endif
