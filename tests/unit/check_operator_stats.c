/* Statistics of each operator of a modern layout: calc_layers() of src/model/operator_stats.c. */
#include <string.h>

#include "frame.h"
#include "shipped_case.h"
#include "small_case.h"

static size_t layers_of(const shipped_case *c, calc_layer_stats out[CALC_MAX_LAYERS])
{
    size_t count =
        calc_layers(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, out, CALC_MAX_LAYERS);
    ck_assert_uint_le(count, CALC_MAX_LAYERS);
    ck_assert_uint_gt(count, 0);
    return count;
}

static const calc_layer_stats *find(const calc_layer_stats *layer, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(layer[i].name, name) == 0) {
            return &layer[i];
        }
    }
    return NULL;
}

/* The operators of a dense block come before the embedding. */
CALC_TEST(the_operators_of_a_dense_model_sum_to_its_block)
{
    for (int i = 0; i < 3; i++) {
        shipped_case c = modern_layout(i);
        calc_layer_stats layer[CALC_MAX_LAYERS];
        calc_stats s;
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
        size_t count = layers_of(&c, layer);
        size_t end = (size_t)(find(layer, count, "embedding") - layer);
        double fw_s = 0, agrad_s = 0, wgrad_s = 0, weights = 0, kept = 0, bytes = 0, link_s = 0;
        for (size_t k = 0; k < end; k++) {
            fw_s += layer[k].fw_processing_time;
            agrad_s += layer[k].agrad_processing_time;
            wgrad_s += layer[k].wgrad_processing_time;
            weights += layer[k].weight;
            kept += layer[k].activation;
            bytes += layer[k].fw_mem_accessed;
            link_s +=
                strncmp(layer[k].name, "context", 7) == 0 ? 0 : layer[k].baseblock_fw_tp_comm_time;
        }
        assert_near(fw_s, s.block_fw_time);
        assert_near(agrad_s, s.block_agrad_time);
        assert_near(wgrad_s, s.block_wgrad_time);
        assert_near(weights, s.block_weight_space);
        assert_near(kept, s.block_act_storage_space);
        assert_near(bytes, s.block_fw_mem_accessed);
        assert_near(link_s, s.baseblock_fw_tp_time);
    }
}

/* Llama 3 405B over 8 ranks: width 16,384; 128 heads of 128, 8 of them for keys and values; 8,192
 * tokens. Query, key and value: 16 + 2 heads of a rank. */
CALC_TEST(arithmetic_and_weights_are_those_of_the_model)
{
    shipped_case c = modern_layout(0);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    size_t count = layers_of(&c, layer);
    const calc_layer_stats *qkv = find(layer, count, "query key value");
    const calc_layer_stats *head = find(layer, count, "head");
    const calc_layer_stats *gather = find(layer, count, "attention gather");
    double weights = 16384.0 * (16 + 2) * 128;
    ck_assert_double_eq(qkv->weight, 2 * weights);
    ck_assert_double_eq(qkv->fw_flops, 2 * 8192 * weights);
    ck_assert_double_eq(qkv->agrad_flops, 2 * 8192 * weights);
    ck_assert_double_eq(qkv->wgrad_flops, 2 * 8192 * weights);
    ck_assert_double_eq(qkv->inputs_size, 8192.0 * 16384);
    /* ZeRO 1 over 128 replicas: gradients of 4 bytes, 12 bytes of state. */
    ck_assert_double_eq(qkv->weight_grad, 4 * weights);
    ck_assert_double_eq_tol(qkv->optimizer, 12 * weights / 128, 1);
    /* 128,256 words padded to a multiple of 128 x 8. */
    ck_assert_double_eq(head->weight, 2 * 129024.0 / 8 * 16384);
    ck_assert_double_eq(gather->baseblock_fw_tp_comm_size, 2 * 8192.0 * 16384);
    ck_assert_double_eq(gather->edgeblock_fw_tp_comm_size, 2 * 8192.0 * 16384);
    ck_assert_double_eq(gather->fw_processing_time, 0);
    ck_assert_double_gt(gather->baseblock_fw_tp_comm_time, 0);
    /* Asynchronous gradients hide nothing forward, and half of it backward. */
    ck_assert_double_eq(gather->baseblock_fw_tp_comm_time_exposed,
                        gather->baseblock_fw_tp_comm_time);
    ck_assert_double_lt(gather->baseblock_bw_tp_comm_time_exposed,
                        gather->baseblock_bw_tp_comm_time);
    ck_assert(isnan(qkv->optim_flops));
    ck_assert_double_eq(qkv->baseblock_fw_tp_comm_time_exposed, 0);
}

/* Dense blocks, then what blocks with experts have besides, embedding, head, one depth of MTP. */
CALC_TEST(shared_operators_are_listed_once)
{
    shipped_case c = modern_layout(3);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    size_t count = layers_of(&c, layer);
    for (size_t i = 0; i < count; i++) {
        ck_assert_ptr_eq(find(layer, count, layer[i].name), &layer[i]);
    }
    static const char *const order[] = {"attention norm",
                                        "key value up projection",
                                        "flash attention",
                                        "feed-forward up",
                                        "router",
                                        "shared expert up",
                                        "dispatch",
                                        "experts up",
                                        "experts down",
                                        "combine",
                                        "embedding",
                                        "head",
                                        "loss",
                                        "prediction projection"};
    const calc_layer_stats *before = NULL;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const calc_layer_stats *found = find(layer, count, order[i]);
        ck_assert_msg(found && found > before, "%s is not where it should be", order[i]);
        before = found;
    }
    ck_assert_ptr_null(find(layer, count, "attention inputs"));
}

/* 256 experts of width 2,048 over 64 ranks: 4 local ones, 3 matrices each. State is shared by the
 * 2 replicas of an expert, that of attention by 128. */
CALC_TEST(experts_are_split_and_sharded_over_their_own_group)
{
    shipped_case c = modern_layout(3);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    size_t count = layers_of(&c, layer);
    const calc_layer_stats *up = find(layer, count, "experts up");
    const calc_layer_stats *out = find(layer, count, "attention output");
    double elements = 4.0 * 7168 * 2 * 2048;
    ck_assert_double_eq(up->weight, (2 + 2) * elements); /* and its copies in float8 */
    ck_assert_double_eq(up->fw_flops, 2 * 8 * 4096.0 * 7168 * 2 * 2048);
    ck_assert_double_eq(up->optimizer, elements * (4 + 2 * 2) / 2);
    ck_assert_double_eq(out->optimizer, out->weight / 4 * (4 + 2 * 2) / 128);
    ck_assert_double_eq(up->weight_grad, elements * 4);
    /* What is sent is in float8, what comes back in bfloat16. */
    const calc_layer_stats *dispatch = find(layer, count, "dispatch");
    const calc_layer_stats *combine = find(layer, count, "combine");
    ck_assert_double_eq(dispatch->baseblock_fw_tp_comm_size, 8 * 4096.0 * 7168);
    ck_assert_double_eq(combine->baseblock_fw_tp_comm_size, 2 * 8 * 4096.0 * 7168);
}

CALC_TEST(recomputation_repeats_messages_and_drops_activations)
{
    shipped_case c = modern_layout(0);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    c.exec.strategy.recompute_modules = 0;
    size_t count = layers_of(&c, layer);
    ck_assert_double_eq(find(layer, count, "attention gather")->baseblock_recomm_size, 0);
    ck_assert(find(layer, count, "feed-forward up")->activation > 0);
    c.exec.strategy.seq_par_ag_redo = false;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    count = layers_of(&c, layer);
    const calc_layer_stats *gather = find(layer, count, "attention gather");
    ck_assert_double_eq(gather->baseblock_recomm_size, gather->baseblock_fw_tp_comm_size);
    ck_assert_double_eq(gather->edgeblock_recomm_time, gather->baseblock_fw_tp_comm_time);
    ck_assert_double_eq(find(layer, count, "feed-forward up")->activation, 0);
    ck_assert_double_eq(find(layer, count, "flash attention")->activation, 0);
    ck_assert(find(layer, count, "attention norm")->activation > 0); /* the checkpoint */
}

/* 8,192 tokens, 16,384 wide in, 2,304 of a rank out, in bfloat16; the gradient of weights is read
   and written in 4 bytes. A norm has 4 operations on 2 numbers forward, 8 on 3 backward. */
CALC_TEST(intensities_are_arithmetic_over_traffic)
{
    shipped_case c = modern_layout(0);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    c.exec.strategy.eager = false;
    size_t count = layers_of(&c, layer);
    const calc_layer_stats *qkv = find(layer, count, "query key value");
    double in = 8192.0 * 16384, out = 8192.0 * 2304, weights = 16384.0 * 2304;
    double flop = 2 * in * 2304;
    assert_near(qkv->fw_arithmetic_intensity, flop / (2 * (in + out + weights)));
    assert_near(qkv->agrad_arithmetic_intensity, flop / (2 * (in + out + weights)));
    assert_near(qkv->wgrad_arithmetic_intensity, flop / (2 * (in + out) + 8 * weights));
    const calc_layer_stats *norm = find(layer, count, "attention norm");
    assert_near(norm->fw_arithmetic_intensity, 4.0 / (2 * 2));
    assert_near(norm->agrad_arithmetic_intensity, 8.0 / (3 * 2));
    const calc_layer_stats *gather = find(layer, count, "attention gather");
    ck_assert_double_eq(gather->fw_arithmetic_intensity, 0);
    ck_assert_double_eq(gather->agrad_arithmetic_intensity, 0);
}

CALC_TEST(inference_runs_forward_only)
{
    shipped_case c = modern_layout(0);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    c.exec.training = false;
    size_t count = layers_of(&c, layer);
    for (size_t i = 0; i < count; i++) {
        const calc_layer_stats *l = &layer[i];
        ck_assert_double_eq(l->agrad_processing_time + l->wgrad_processing_time, 0);
        ck_assert_double_eq(l->agrad_flops + l->wgrad_flops + l->activation + l->optimizer, 0);
        ck_assert_double_eq(l->baseblock_bw_tp_comm_time + l->baseblock_bw_tp_comm_size, 0);
    }
}

/* Llama 3 70B on 8 ranks of 8 query heads and one key head, 128 wide; 64 requests of 4,000 tokens
   that give 500 each: a step decodes a token of those that are not prefilled, 4,250 tokens into
   their caches of float8. */
static void assert_decodes(shipped_case *c, double least)
{
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_stats stats;
    size_t count = layers_of(c, layer);
    double context = 4000 + 500 / 2.0;
    calc_run(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &stats);
    double n = stats.decode_sequences;
    ck_assert(n >= least && n <= 64);
    assert_near(find(layer, count, "query key value")->fw_flops, 2 * n * 8192 * (8 + 2) * 128);
    assert_near(find(layer, count, "decode attention")->fw_flops, 2 * n * 8 * context * 256);
    assert_near(find(layer, count, "decode attention")->fw_mem_accessed,
                n * (context + 1) * 256 + n * 8 * 256 * 2);
    assert_near(find(layer, count, "head")->fw_flops, 2 * n * 8192 * 129024 / 8);
    assert_near(find(layer, count, "logits gather")->baseblock_fw_tp_comm_size, n * 129024 * 2);
    ck_assert_ptr_null(find(layer, count, "flash attention"));
    ck_assert_ptr_null(find(layer, count, "loss"));
}

CALC_TEST(the_operators_of_serving_are_those_of_a_decoding_step)
{
    shipped_case c = load_case("llama3-70B", "h200", "llama3-70B_serving_8");
    assert_decodes(&c, 63);
    c.exec.inference.chunk_size = 0;
    assert_decodes(&c, 63);
    c.exec.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    assert_decodes(&c, 64);
    c.exec.inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
    c.exec.inference.prefill_procs = 16; /* with 8, prefill is the limit */
    assert_decodes(&c, 60);
}

/* 4,000 tokens in chunks of 1,024: three whole ones, in the mean behind 1,024 cached tokens. */
CALC_TEST(the_operators_of_prefill_are_those_of_a_chunk)
{
    shipped_case c = load_case("llama3-70B", "h200", "llama3-70B_serving_8");
    calc_layer_stats layer[CALC_MAX_LAYERS];
    c.exec.inference.phase = CALC_INFERENCE_PHASE_PREFILL;
    const double chunks[][3] = {
        {1024, 1024, 1024}, {0, 4000, 0}, {4000, 4000, 0}, {100000, 4000, 0}};
    for (int i = 0; i < 4; i++) {
        double tokens = chunks[i][1], cached = chunks[i][2];
        c.exec.inference.chunk_size = (int64_t)chunks[i][0];
        size_t count = layers_of(&c, layer);
        ck_assert_double_eq(find(layer, count, "query key value")->fw_flops,
                            2 * tokens * 8192 * (8 + 2) * 128);
        double pairs = tokens * cached + tokens * (tokens + 1) / 2;
        ck_assert_double_eq(find(layer, count, "flash attention")->fw_flops, 2 * 8 * pairs * 256);
        ck_assert_double_eq(find(layer, count, "head")->fw_flops, 2.0 * 8192 * 129024 / 8);
    }
}

/* Of dense blocks and of blocks with experts; the operators that both have once. */
CALC_TEST(the_operators_of_a_pass_sum_to_its_block)
{
    static const calc_inference_phase phases[] = {CALC_INFERENCE_PHASE_PREFILL,
                                                  CALC_INFERENCE_PHASE_DECODE};
    static const char *const layouts[][3] = {
        {"llama3-70B", "h200", "llama3-70B_serving_8"},
        {"deepseek-v3-671B", "h800", "deepseek-v3_serving_128"}};
    for (int i = 0; i < 4; i++) {
        const char *const *names = layouts[i / 2];
        shipped_case c = load_case(names[0], names[1], names[2]);
        calc_layer_stats layer[CALC_MAX_LAYERS];
        calc_stats s;
        c.app.dense_blocks = 0;
        c.exec.inference.phase = phases[i % 2];
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
        size_t count = layers_of(&c, layer);
        size_t end = (size_t)(find(layer, count, "embedding") - layer);
        double fw_s = 0, bytes = 0, link_s = 0;
        for (size_t k = 0; k < end; k++) {
            bool sent =
                strcmp(layer[k].name, "dispatch") == 0 || strcmp(layer[k].name, "combine") == 0;
            fw_s += layer[k].fw_processing_time;
            bytes += layer[k].fw_mem_accessed;
            link_s += sent ? 0 : layer[k].baseblock_fw_tp_comm_time;
        }
        assert_near(fw_s, s.block_fw_time);
        assert_near(bytes, s.block_fw_mem_accessed);
        assert_near(link_s, s.baseblock_fw_tp_time);
    }
}

CALC_TEST(no_more_rows_than_there_is_room_for)
{
    shipped_case c = modern_layout(3);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_layer_stats few[3] = {0};
    size_t count = layers_of(&c, layer);
    ck_assert_uint_eq(calc_layers(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, few, 2), count);
    ck_assert_str_eq(few[1].name, layer[1].name);
    ck_assert_ptr_null(few[2].name);
}

static double runs_of(const calc_layer_stats *layer, size_t count, const char *name)
{
    const calc_layer_stats *found = find(layer, count, name);
    ck_assert_msg(found != NULL, "%s", name);
    return found->runs;
}

/* DeepSeek-V3: 61 blocks, of which the first 3 are dense, and one of multi-token prediction, with
 * experts and a head of its own; no block of that is served. */
CALC_TEST(operators_say_how_often_the_model_runs_them)
{
    shipped_case c = modern_layout(3);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    size_t count = layers_of(&c, layer);
    ck_assert_double_eq(runs_of(layer, count, "flash attention"), 61 + 1);
    ck_assert_double_eq(runs_of(layer, count, "feed-forward up"), 3);
    ck_assert_double_eq(runs_of(layer, count, "router"), 58 + 1);
    ck_assert_double_eq(runs_of(layer, count, "embedding"), 1);
    ck_assert_double_eq(runs_of(layer, count, "head"), 2);
    ck_assert_double_eq(runs_of(layer, count, "prediction projection"), 1);
    c = load_case("deepseek-v3-671B", "h200", "deepseek-v3_serving_128");
    count = layers_of(&c, layer);
    ck_assert_double_eq(runs_of(layer, count, "decode attention"), 61);
    ck_assert_double_eq(runs_of(layer, count, "router"), 58);
    ck_assert_double_eq(runs_of(layer, count, "head"), 1);
}

/* Latent attention, experts split by tensor parallelism, context parallelism in two levels. */
CALC_TEST(the_longest_list_fits)
{
    shipped_case c = modern_layout(3);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    c.exec.strategy.tensor_par = 2;
    c.exec.strategy.expert_tensor_par = 2;
    c.exec.strategy.context_par = 4;
    c.exec.strategy.data_par = 16;
    c.exec.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
    c.exec.strategy.context_par_inner = 2;
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    size_t count = layers_of(&c, layer);
    ck_assert_uint_gt(count, 45);
    ck_assert_ptr_nonnull(find(layer, count, "context ring"));
    ck_assert_ptr_nonnull(find(layer, count, "expert gather"));
}
