/** @file mindspeed_case.h  Configurations of LLaMA 7B on one node of eight 910B, as executions. */
#ifndef CALC_TESTS_MINDSPEED_CASE_H
#define CALC_TESTS_MINDSPEED_CASE_H

#include "mindspeed/compose.h"
#include "shipped_case.h"

#include <math.h>
#include <string.h>

static const calc_mindspeed_job llama_job = {.layers = 32,
                                             .hidden = 4096,
                                             .ffn = 11008,
                                             .heads = 32,
                                             .groups = 32,
                                             .head = 128,
                                             .seq = 8192,
                                             .batch = 64,
                                             .vocab = 32000,
                                             .nodes = 1,
                                             .per_node = 8,
                                             .target_nodes = 1,
                                             .swiglu = true,
                                             .untied = true,
                                             .distributed_optimizer = true};

static inline bool parse_exec(const calc_mindspeed_config *c, const char *more, calc_exec *exec)
{
    static const char *const types[] = {"ring", "ulysses", "hierarchical"};
    char text[2048];
    calc_errors errors = {0};
    int type = c->up == 1 ? 0 : c->cp == 1 ? 1 : 2;
    int length = snprintf(
        text, sizeof text,
        "{\"num_procs\": %d, \"tensor_par\": %d, \"pipeline_par\": %d, \"data_par\": %d, "
        "\"context_par\": %d, \"context_par_type\": \"%s\", \"context_par_inner\": %d, "
        "\"microbatch_size\": %d, \"pipeline_interleaving\": %d, \"batch_size\": 64, "
        "\"tensor_par_net\": 0, \"pipeline_par_net\": 0, \"data_par_net\": 0, "
        "\"datatype\": \"bfloat16\", \"fused_activation\": true, \"attention_type\": "
        "\"multihead\", \"flash_attention\": true, \"optimizer_sharding\": %s, "
        "\"tensor_par_comm_type\": \"%s\", \"tensor_par_overlap\": \"none\", "
        "\"seq_par_ag_redo\": false, \"data_par_overlap\": false, \"weight_offload\": false, "
        "\"activations_offload\": false, \"optimizer_offload\": false, \"training\": true, "
        "\"rank_order\": \"tp-cp-ep-dp-pp\", \"seq_size\": 8192, \"memory_model\": \"megatron\", "
        "\"activation_recompute\": \"none\"%s}",
        c->pp * c->tp * c->dp * c->cp * c->up, c->tp, c->pp, c->dp, c->cp * c->up, types[type],
        type == 2 ? c->up : 0, c->mbs, c->vpp, c->dp * c->cp * c->up > 1 ? "true" : "false",
        c->tp > 1 ? "rs_ag" : "ar", more);
    bool good = calc_parse(CALC_KIND_EXEC, exec, text, (size_t)length, "exec", &errors) == CALC_OK;
    ck_assert_msg(good, "%s", errors.item[0].text);
    return good;
}

typedef struct llama_case {
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_mindspeed_layout layout;
} llama_case;

/* Compute-bound kernels in a roofline: a rate is then all there is to a time. */
static inline void open_llama(llama_case *l, const calc_mindspeed_config *config, const char *more)
{
    calc_errors errors = {0};
    load_shipped(CALC_KIND_APP, &l->app, "models", "llama-7B");
    load_shipped(CALC_KIND_SYSTEM, &l->system, "systems", "ascend_910b");
    l->system.chip.processing_mode = CALC_PROCESSING_MODE_ROOFLINE;
    l->system.chip.launch.matrix_s = 0;
    l->system.chip.host.block_s = 0;
    parse_exec(config, more, &l->exec);
    ck_assert_msg(calc_check(&l->app, &l->system, &l->exec, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    l->layout = (calc_mindspeed_layout){&l->app, &l->system, &l->exec};
}

static inline double calc_says_s(const llama_case *l)
{
    calc_stats stats;
    calc_run(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, &stats);
    ck_assert(isfinite(stats.total_time));
    return stats.total_time;
}

/* pp, tp, dp, cp, up, mbs, vpp, ep */
static const calc_mindspeed_config llama_configs[] = {
    {1, 8, 1, 1, 1, 1, 1, 0}, {1, 2, 4, 1, 1, 2, 1, 0}, {2, 4, 1, 1, 1, 1, 1, 0},
    {4, 2, 1, 1, 1, 1, 2, 0}, {1, 2, 1, 4, 1, 1, 1, 0}, {1, 1, 2, 1, 4, 1, 1, 0},
    {1, 2, 1, 2, 2, 1, 1, 0}};
enum { LLAMA_CONFIGS = sizeof llama_configs / sizeof *llama_configs };

#endif
