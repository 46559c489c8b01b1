/* Layers that differ, to and from Megatron's options. What is expected is written by hand from the
 * checks and comments of Megatron-LM core_v0.19.0 (arguments.py, hybrid_layer_allocation.py,
 * transformer_config.py); layers are compared by texts that are made here. */
#include "formats/plan_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/rng.h"
#include "formats/export.h"
#include "formats/import.h"
#include "frame.h"
#include "spec/stack.h"

enum { ROOM = 16384 };

/* Of a model: what all have, then its own. */
#define MODEL(own)                                                                                 \
    "{\"hidden\": 1024, \"feedforward\": 4096, \"seq_size\": 4096, \"attn_heads\": 16, "           \
    "\"attn_size\": 64, \"kv_heads\": 4, \"structure_type\": \"llama\", \"causal\": true, "        \
    "\"vocab_size\": 32000, " own "}"
#define EXPERTS                                                                                    \
    "\"num_experts\": 64, \"experts_per_token\": 4, \"expert_feedforward\": 512, "                 \
    "\"shared_feedforward\": 512, "
#define LATENT                                                                                     \
    "\"q_lora_rank\": 256, \"kv_lora_rank\": 128, \"qk_nope_size\": 64, \"qk_rope_size\": 32, "    \
    "\"v_size\": 64, "
#define GDN                                                                                        \
    "\"gdn\": {\"type\": \"gated_delta\", \"key_heads\": 8, \"key_size\": 96, "                    \
    "\"value_heads\": 16, \"value_size\": 80, \"conv\": 3}"
#define MAMBA                                                                                      \
    "\"M\": {\"type\": \"mamba2\", \"key_heads\": 4, \"key_size\": 96, "                           \
    "\"value_heads\": 32, \"value_size\": 48, \"conv\": 4}"

static void model_of(const char *json, calc_app *app)
{
    calc_errors errors = {0};
    memset(app, 0, sizeof *app);
    ck_assert_msg(calc_parse(CALC_KIND_APP, app, json, strlen(json), "model", &errors) == CALC_OK,
                  "%s", errors.item[0].text);
}

static calc_exec layout(int64_t tensor, int64_t stages, int64_t chunks)
{
    calc_exec e = {.num_procs = tensor * stages * 4,
                   .pipeline_par = stages,
                   .pipeline_interleaving = chunks,
                   .batch_size = 256,
                   .microbatch_size = 1,
                   .training = true,
                   .strategy = {.tensor_par = tensor,
                                .data_par = 4,
                                .datatype = CALC_DATATYPE_BFLOAT16,
                                .flash_attention = true,
                                .fused_activation = true,
                                .pipeline_par_overlap = chunks > 1,
                                .tensor_par_comm_type = tensor > 1 ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG
                                                                   : CALC_TENSOR_PAR_COMM_TYPE_AR,
                                .dispatch_type = CALC_DISPATCH_TYPE_ALL_TO_ALL}};
    return e;
}

/* ---- Options --------------------------------------------------------------------------------- */

static void options_of(const calc_framework *f, const char *json, const calc_exec *e, char *text)
{
    calc_app app;
    calc_settings settings = {0};
    model_of(json, &app);
    ck_assert_int_eq(calc_export(f, &app, e, 8, &settings, NULL), CALC_OK);
    text[0] = '\0';
    for (size_t i = 0; i < settings.count; i++) {
        calc_append(text, ROOM, " %s %s", settings.item[i].key, settings.item[i].value);
    }
    calc_append(text, ROOM, " ");
    calc_settings_free(&settings);
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "%s is not in%s", part, text);
}

CALC_TEST(blocks_become_lists)
{
    char text[ROOM];
    calc_exec e = layout(1, 1, 1);
    options_of(&calc_framework_megatron,
               MODEL(EXPERTS "\"num_blocks\": 12, \"parts\": {" GDN ", \"full\": {\"type\": "
                             "\"attention\", \"output_gate\": \"channel\"}}, "
                             "\"layers\": \"3x(3xgdn+moe full+moe)\""),
               &e, text);
    has(text, " --num-layers 12 ");
    has(text, " --experimental-attention-variant gated_delta_net ");
    has(text, " --linear-attention-freq 4 ");
    has(text, " --linear-num-key-heads 8 --linear-key-head-dim 96 --linear-num-value-heads 16 "
              "--linear-value-head-dim 80 --linear-conv-kernel-dim 3 ");
    has(text, " --attention-output-gate ");
    has(text, " --moe-layer-freq 1 ");
    options_of(&calc_framework_megatron,
               MODEL(EXPERTS
                     "\"num_blocks\": 6, \"parts\": {" GDN "}, "
                     "\"layers\": \"gdn+mlp attention+moe gdn+moe gdn+mlp 2xattention+moe\""),
               &e, text);
    has(text, " --linear-attention-freq ([1]+[0]+[1]*2+[0]*2) ");
    has(text, " --moe-layer-freq ([0]+[1]*2)*2 ");
    options_of(&calc_framework_bridge,
               MODEL("\"num_blocks\": 6, \"parts\": {\"local\": {\"type\": \"attention\", "
                     "\"window_size\": 512}, \"nope\": {\"type\": \"attention\", "
                     "\"position_type\": \"none\"}}, \"layers\": \"2xlocal+mlp nope+mlp "
                     "attention+mlp local+mlp nope+mlp\""),
               &e, text);
    has(text, " model.window_size [512, 0] ");
    has(text, " model.window_attn_skip_freq [1, 1, 0, 0, 1, 0] ");
    has(text, " model.no_rope_freq 3 ");
}

/* A recipe's model has such a norm, which a switch that is off would take away. */
CALC_TEST(a_recipe_keeps_the_norm_that_its_switch_cannot_say)
{
    char text[ROOM];
    calc_exec e = layout(1, 1, 1);
    options_of(&calc_framework_bridge, MODEL("\"num_blocks\": 2, \"qk_norm_whole\": true"), &e,
               text);
    ck_assert_ptr_eq(strstr(text, "qk_layernorm"), NULL);
    options_of(&calc_framework_bridge, MODEL("\"num_blocks\": 2"), &e, text);
    has(text, " model.qk_layernorm false ");
}

/* The indexer is of the layers 1, 2, 5 and 9: max(layer - 1, 0) % 4 is 0 with an offset of 1. */
CALC_TEST(sparse_attention_shares_its_keys)
{
    char text[ROOM];
    calc_exec e = layout(1, 1, 1);
    const char *model = MODEL(
        LATENT "\"num_blocks\": 10, \"parts\": {\"dsa\": {\"type\": \"attention\", "
               "\"index_heads\": 32, \"index_size\": 96, \"index_topk\": 1024}, "
               "\"taken\": {\"type\": \"attention\", \"index_heads\": 32, \"index_size\": 96, "
               "\"index_topk\": 1024, \"index_shared\": true}}, "
               "\"layers\": \"dsa+mlp 3xtaken+mlp dsa+mlp 3xtaken+mlp dsa+mlp taken+mlp\"");
    options_of(&calc_framework_megatron, model, &e, text);
    has(text, " --experimental-attention-variant dsa ");
    has(text, " --dsa-indexer-n-heads 32 --dsa-indexer-head-dim 96 --dsa-indexer-topk 1024 "
              "--dsa-indexer-topk-freq 4 --dsa-indexer-skip-topk-offset 0 ");
    e = layout(1, 2, 1);
    options_of(&calc_framework_megatron, model, &e, text);
    has(text, " --dsa-indexer-topk-freq 4 ");
}

CALC_TEST(parts_become_letters_with_stages_among_them)
{
    const char *model =
        MODEL(EXPERTS "\"num_blocks\": 8, \"expert_latent\": 256, \"parts\": {" MAMBA
                      ", \"*\": {\"type\": \"attention\"}, \"-\": {\"type\": "
                      "\"mlp\"}, \"E\": {\"type\": \"moe\"}}, \"layers\": "
                      "\"MEM*ME-E\", \"mtp_blocks\": 2, \"mtp_layers\": \"*E\", "
                      "\"mtp_shared\": true");
    char text[ROOM];
    calc_exec e = layout(1, 1, 1);
    options_of(&calc_framework_megatron, model, &e, text);
    has(text, " --num-layers 8 ");
    has(text, " --hybrid-layer-pattern MEM*ME-E/*E/*E ");
    has(text,
        " --mamba-num-groups 4 --mamba-state-dim 96 --mamba-num-heads 32 --mamba-head-dim 48 ");
    has(text, " --moe-latent-size 256 ");
    has(text, " --mtp-num-layers 2 --mtp-use-repeated-layer ");
    e = layout(1, 2, 2);
    options_of(&calc_framework_megatron, model, &e, text);
    has(text, " --hybrid-layer-pattern ME|M*|ME|-E/*E/*E ");
    ck_assert_ptr_null(strstr(text, "virtual"));
    e = layout(1, 2, 1);
    e.pipeline_balance = CALC_PIPELINE_BALANCE_ENDS;
    e.pipeline_par = 3; /* 4, 3 and 3, less embedding and head */
    e.num_procs = 12;
    options_of(&calc_framework_bridge, model, &e, text);
    has(text, " model.hybrid_layer_pattern MEM|*ME|-E/*E/*E ");
    /* Two parts of a block are two layers; without a list for them multi-token prediction has
     * those of the last. */
    e = layout(1, 2, 1);
    options_of(&calc_framework_megatron,
               MODEL(EXPERTS "\"num_blocks\": 4, \"parts\": {" MAMBA "}, \"layers\": "
                             "\"M+mlp attention+moe M+moe attention+moe\", \"mtp_blocks\": 1"),
               &e, text);
    has(text, " --num-layers 8 ");
    has(text, " --hybrid-layer-pattern M-*E|ME*E/*E ");
}

/* ---- Both ways ------------------------------------------------------------------------------- */

/* All parts of all layers in turn, by what makes them. */
static void parts_of(const calc_app *a, char *text)
{
    const calc_stack *s = &a->stack;
    text[0] = '\0';
    for (int32_t i = 0; i < a->num_blocks; i++) {
        bool listed = s->layers > 0;
        const calc_layer_kind *k = listed ? &s->kind[s->layer[i]] : NULL;
        bool experts = !listed && a->num_experts > 0 && i >= a->dense_blocks &&
                       (a->moe_every < 2 || (i - a->dense_blocks) % a->moe_every == 0);
        const calc_part flat[2] = {
            calc_part_of(a, CALC_PART_TYPE_ATTENTION),
            calc_part_of(a, experts ? CALC_PART_TYPE_MOE : CALC_PART_TYPE_MLP)};
        for (int slot = 0; slot < 2; slot++) {
            int part = !listed ? -1 : slot == 0 ? k->mixer[0] : k->ffn[0];
            const calc_part *p = !listed ? &flat[slot] : part >= 0 ? &s->part[part] : NULL;
            bool open = p && !listed && a->global_every > 0 && (i + 1) % a->global_every == 0;
            if (!p) {
                continue;
            }
            switch (p->type) {
            case CALC_PART_TYPE_ATTENTION:
                calc_append(text, ROOM, "a%d,%d,%d,%d,%d ", open ? 0 : (int)p->window_size,
                            p->position_type == CALC_POSITION_TYPE_NONE, (int)p->kv_lora_rank,
                            (int)p->index_heads, p->index_shared);
                break;
            case CALC_PART_TYPE_MLP:
            case CALC_PART_TYPE_MOE:
                calc_append(text, ROOM, "%s%d ", p->type == CALC_PART_TYPE_MLP ? "f" : "e",
                            p->type == CALC_PART_TYPE_MLP ? (int)p->feedforward
                                                          : (int)p->num_experts);
                break;
            default:
                calc_append(text, ROOM, "l%d:%d,%d,%d,%d,%d ", (int)p->type,
                            (int)p->linear_key_heads, (int)p->linear_key_size,
                            (int)p->linear_value_heads, (int)p->linear_value_size,
                            (int)p->linear_conv);
            }
        }
    }
}

static void make_part(calc_rng *rng, calc_app *app, calc_part *p)
{
    switch (p->type) {
    case CALC_PART_TYPE_ATTENTION:
        p->window_size = calc_rng_below(rng, 2) ? 512 : 0;
        p->position_type =
            calc_rng_below(rng, 3) == 0 ? CALC_POSITION_TYPE_NONE : CALC_POSITION_TYPE_AUTO;
        break;
    case CALC_PART_TYPE_MAMBA2:
    case CALC_PART_TYPE_GATED_DELTA:
        p->linear_key_heads = 1 + calc_rng_below(rng, 8);
        p->linear_key_size = 64 + calc_rng_below(rng, 64);
        p->linear_value_heads = p->linear_key_heads * (1 + calc_rng_below(rng, 4));
        p->linear_value_size = 64 + calc_rng_below(rng, 64);
        p->linear_conv = 4;
        break;
    default:
        break;
    }
    (void)app;
}

static void make_model(calc_rng *rng, calc_app *app)
{
    static const calc_part_type mixers[] = {CALC_PART_TYPE_ATTENTION, CALC_PART_TYPE_ATTENTION,
                                            CALC_PART_TYPE_GATED_DELTA, CALC_PART_TYPE_MAMBA2};
    const char *why;
    int8_t part[6];
    model_of(MODEL(EXPERTS "\"num_blocks\": 4"), app);
    bool mamba = calc_rng_below(rng, 2), alone = mamba && calc_rng_below(rng, 2);
    for (int i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        calc_part_type type = i < 4 ? mixers[i] : i == 4 ? CALC_PART_TYPE_MLP : CALC_PART_TYPE_MOE;
        make_part(rng, app, calc_stack_declare(app, name, type, &why));
        part[i] = (int8_t)i;
    }
    app->num_blocks = 1 + calc_rng_below(rng, 40);
    int64_t period = 1 + calc_rng_below(rng, 6);
    for (int64_t i = 0; i < app->num_blocks; i++) {
        uint32_t draw = calc_rng_below(rng, mamba ? 4 : 3);
        bool repeats = i >= period && calc_rng_below(rng, 8) > 0;
        int kind = repeats ? app->stack.layer[i - period] : -1;
        if (kind < 0) {
            int8_t ffn = part[4 + calc_rng_below(rng, 2)];
            bool first = !alone || calc_rng_below(rng, 2);
            const int8_t a[2] = {first ? part[draw] : -1, -1};
            const int8_t b[2] = {alone && first ? -1 : ffn, -1};
            kind = calc_stack_kind(&app->stack, a, b);
        }
        ck_assert(calc_stack_append(&app->stack, kind, 1));
    }
}

static void count_reasons(void *context, const char *reason)
{
    ck_assert(reason[0]);
    ++*(size_t *)context;
}

/* What is not refused comes back: the same parts in the same order. */
CALC_TEST(layers_come_back)
{
    static char before[ROOM], after[ROOM];
    size_t same = 0, refused = 0;
    for (uint64_t i = 0; i < 600; i++) {
        calc_rng rng;
        calc_app app, back;
        calc_exec exec = layout(1, 1, 1), exec_back;
        calc_settings settings = {0};
        size_t reasons = 0;
        calc_rng_init(&rng, 20261126, i);
        make_model(&rng, &app);
        const calc_framework *f = i % 2 ? &calc_framework_megatron : &calc_framework_bridge;
        size_t told;
        ck_assert_int_eq(calc_export_refused(f, &app, &exec, count_reasons, &reasons, &told),
                         CALC_OK);
        if (told > 0) {
            refused++;
            continue;
        }
        ck_assert_int_eq(calc_export(f, &app, &exec, 8, &settings, NULL), CALC_OK);
        const calc_import import = {
            .framework = f, .settings = &settings, .model = true, .procs = exec.num_procs};
        calc_errors errors = {0};
        ck_assert_msg(calc_import_run(&import, &back, &exec_back, &errors) == CALC_OK, "%s",
                      errors.item[0].text);
        parts_of(&app, before);
        parts_of(&back, after);
        ck_assert_str_eq(before, after);
        calc_settings_free(&settings);
        same++;
    }
    /* A window and missing positions are of one kind each, so many are refused. */
    ck_assert_uint_ge(same, 150);
    ck_assert_uint_ge(refused, 50);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

typedef struct reasons {
    char text[ROOM];
} reasons;

static void add_reason(void *context, const char *reason)
{
    calc_append(((reasons *)context)->text, ROOM, "%s\n", reason);
}

static void refuses(const calc_framework *f, const char *json, calc_exec e, const char *expected)
{
    calc_app app;
    reasons r = {""};
    model_of(json, &app);
    size_t told;
    ck_assert_int_eq(calc_export_refused(f, &app, &e, add_reason, &r, &told), CALC_OK);
    ck_assert_str_eq(r.text, expected);
}

CALC_TEST(a_part_without_a_setting_is_named)
{
    calc_exec e = layout(1, 1, 1);
#define OF(parts, layers)                                                                          \
    MODEL("\"num_blocks\": 2, \"parts\": {" parts "}, \"layers\": \"" layers "\"")
    refuses(&calc_framework_megatron,
            OF("\"chunked\": {\"type\": \"attention\", \"chunk_size\": 256}",
               "chunked+mlp attention+mlp"),
            e, "it has no setting for parts.chunked.chunk_size = 256\n");
    /* Megatron-LM reads widths from the model's own file. */
#define WIDE                                                                                       \
    OF("\"wide\": {\"type\": \"mlp\", \"feedforward\": 8192}", "attention+mlp attention+wide")
    refuses(&calc_framework_bridge, WIDE, e,
            "it has no setting for parts.mlp.feedforward = 4096\n");
    refuses(&calc_framework_megatron, WIDE, e, "");
    refuses(&calc_framework_megatron,
            OF("\"e\": {\"type\": \"moe\", \"num_experts\": 8, \"experts_per_token\": 2, "
               "\"router_scale\": true}",
               "attention+e attention+e"),
            e, "it has no setting for parts.e.router_scale = true\n");
    refuses(&calc_framework_megatron, OF(MAMBA, "M&attention+mlp attention+mlp"), e,
            "it has no setting for layers = M&attention+mlp\n");
    refuses(
        &calc_framework_megatron,
        OF("\"csa\": {\"type\": \"compressed\", \"compress_ratio\": 4}", "csa+mlp attention+mlp"),
        e, "it has no setting for layers = csa+mlp\n");
    refuses(&calc_framework_megatron,
            MODEL("\"num_blocks\": 2, \"residual_type\": \"hyper\", \"residual_streams\": 4"), e,
            "it has no setting for residual_type = hyper\n"
            "it has no setting for residual_streams = 4\n");
    refuses(&calc_framework_mindspeed, OF(GDN, "gdn+mlp attention+mlp"), e,
            "it has no setting for layers = gdn+mlp\n");
    refuses(&calc_framework_nemo, OF(GDN, "attention+mlp gdn+mlp"), e,
            "it has no setting for layers = gdn+mlp\n");
    refuses(&calc_framework_mindformers, OF(MAMBA, "attention+mlp M"), e,
            "it has no setting for layers = M\n");
    /* The same layers in other words are no reason. */
    refuses(&calc_framework_megatron, OF("\"x\": {\"type\": \"attention\"}", "x+mlp attention+mlp"),
            e, "");
    refuses(&calc_framework_mindspeed,
            OF("\"x\": {\"type\": \"attention\"}", "x+mlp attention+mlp"), e, "");
}

CALC_TEST(what_megatron_asserts_is_refused)
{
    refuses(&calc_framework_megatron, OF(GDN, "gdn+mlp attention+mlp"), layout(16, 1, 1),
            "kv_heads is not a multiple of tensor_par\n"
            "heads of gated_delta (key_heads, value_heads) are not multiples of "
            "tensor_par * context_par\n");
    refuses(&calc_framework_megatron, OF(MAMBA, "M attention+mlp"), layout(8, 1, 1),
            "kv_heads is not a multiple of tensor_par\n"
            "groups of mamba2 (groups) are not a multiple of tensor_par, or heads "
            "(heads) of tensor_par * context_par\n");
    refuses(&calc_framework_megatron, OF(MAMBA, "M attention+mlp"), layout(4, 1, 1), "");
    refuses(&calc_framework_bridge,
            MODEL("\"num_blocks\": 4, \"parts\": {" MAMBA "}, \"layers\": \"M mlp attention mlp\""),
            layout(1, 2, 2),
            "layers of one part each (HybridModelProvider) exclude pipeline_interleaving\n");
}
