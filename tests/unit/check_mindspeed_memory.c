/* MindSpeed's own model of memory, beside sums made by hand. */
#include "mindspeed/memory.h"

#include "frame.h"
#include "mindspeed_jobs.h"
#include "small_case.h"

#define MIB 1048576.0
#define GIB 1073741824.0

/* 7 billion parameters, tp 8. A layer has 4 x 4096^2 of attention, 3 x 4096 x 11008 of feed-forward
 * and 4 x 4096 of norms, 202,391,552; 32 of them, 2 x 4096 of the last norm and twice
 * 32,000 x 4096 of embedding and head are 6,738,681,856, and an eighth of that is on each device.
 */
CALC_TEST(weights_of_a_dense_model)
{
    calc_mindspeed_job job = mindspeed_7b();
    const calc_mindspeed_config c = {1, 8, 1, 1, 1, 1, 1, 0};
    calc_mindspeed_memory m = calc_mindspeed_memory_of(&job, &c);
    assert_near(m.parameters, 6738681856.0 / 8);
    assert_near(m.weight_bytes, 2 * 842335232.0);
    assert_near(m.grad_bytes, 2 * 842335232.0);
    assert_near(m.optimizer_bytes, 16 * 842335232.0);
    /* Tokens 2048: a row of 2 x 2048 / 8 x 4096 bytes is 2 MiB. Two norms 4, QKV 6, attention 2,
     * projection 2, the last of the feed-forward 2: 16 MiB; its first 2 x 2048 x 22016 / 8 bytes,
     * and half of that after the gate. Over 32 layers of one micro-batch. */
    double layer = 16 * MIB + 1.5 * (2.0 * 2048 * 22016 / 8);
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer);
    assert_near(m.activation_bytes, 32 * layer);
    assert_near(m.peak_bytes, 20 * 842335232.0 + 32 * layer + 4.5 * GIB);
    job.untied = false; /* one table of 32,000 x 4096 less */
    assert_near(calc_mindspeed_memory_of(&job, &c).parameters, 6738681856.0 / 8 - 16384000);
    job.vocab = 0;
    assert_near(calc_mindspeed_memory_of(&job, &c).parameters, 6738681856.0 / 8 - 2 * 16384000);
}

/* Of four stages the first has 8 layers, the embedding, and a quarter of the last norm; chunks of 4
 * layers are kept 4 x 2 + 4 - 1 = 11 times, instead of 8 layers 4 times. */
CALC_TEST(stages_and_chunks)
{
    calc_mindspeed_job job = mindspeed_7b();
    const calc_mindspeed_config even = {4, 1, 2, 1, 1, 2, 1, 0};
    const calc_mindspeed_config chunks = {4, 1, 2, 1, 1, 2, 2, 0};
    calc_mindspeed_memory m = calc_mindspeed_memory_of(&job, &chunks);
    assert_near(m.parameters, 8 * 202391552.0 + 2048 + 131072000);
    double layer = calc_mindspeed_memory_layer_bytes(&job, &chunks);
    assert_near(layer, 256 * MIB + 1.5 * (2.0 * 2048 * 2 * 22016)); /* 2 sequences, tp 1 */
    assert_near(m.activation_bytes, 44 * layer);
    assert_near(calc_mindspeed_memory_of(&job, &even).activation_bytes, 32 * layer);
    job.full_recompute = true;
    ck_assert_double_eq(calc_mindspeed_memory_of(&job, &chunks).activation_bytes, 0);
}

/* The table, in bytes of a parameter on one of two replicas. */
CALC_TEST(the_state_of_a_parameter)
{
    static const struct {
        bool fp16, reuse, sharded;
        double weight, grad, optimizer;
    } rows[] = {{true, true, true, 2, 2, 4 + 8 / 2},  {true, false, true, 2, 2, 8 + 8 / 2},
                {true, true, false, 2, 2, 12},        {true, false, false, 2, 2, 16},
                {false, true, true, 0, 4, 4 + 8 / 2}, {false, false, true, 2, 4, 4 + 8 / 2},
                {false, true, false, 0, 4, 12},       {false, false, false, 2, 4, 12}};
    const calc_mindspeed_config c = {1, 4, 2, 1, 1, 1, 1, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        calc_mindspeed_job job = mindspeed_7b();
        job.fp16 = rows[i].fp16;
        job.reuse_fp32 = rows[i].reuse;
        job.distributed_optimizer = rows[i].sharded;
        calc_mindspeed_memory m = calc_mindspeed_memory_of(&job, &c);
        assert_near(m.weight_bytes, rows[i].weight * m.parameters);
        assert_near(m.grad_bytes, rows[i].grad * m.parameters);
        assert_near(m.optimizer_bytes, rows[i].optimizer * m.parameters);
    }
}

/* 8192 tokens over a ring of 2 and Ulysses of 2 are 2048; tp 2: a row is 8 MiB, a head-wise one of
 * 16 of 32 heads 8 MiB, of 4 of 8 groups 2 MiB. Two norms 16; QKV 8 + 2 x 2; attention 8, and 4
 * times that for Ulysses; the ring's mask 4; projection 8. Of two experts a token, ep 1: 4096
 * tokens meet weights of 2 x 14336 / 2, half of it after the gate, and leave 16 MiB; sent and
 * received 4096 rows of 8192 bytes, 32 MiB each. */
CALC_TEST(split_sequences_and_experts)
{
    calc_mindspeed_job job = mindspeed_experts();
    job.seq = 8192;
    const calc_mindspeed_config c = {2, 2, 1, 2, 2, 1, 1, 1};
    double attention = (12 + 40 + 4 + 8) * MIB;
    double wide = 2.0 * 4096 * 14336;
    double experts = 1.5 * wide + 16 * MIB + 64 * MIB;
    double layer = 16 * MIB + attention + experts;
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer);
    job.swap_attention = true;
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer - attention);
    job.recompute_activation_function = true;
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c), layer - attention - wide / 2);
    job.swiglu = false; /* one matrix in, half as wide; nothing kept behind the function */
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c),
                layer - attention - experts + wide / 2 + 80 * MIB);
    job.recompute_activation_function = false; /* kept behind it, as wide as before it */
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &c),
                layer - attention - experts + wide + 80 * MIB);
}

/* A layer: 2 x 4096^2 x (1 + 8/32) of attention, 8 experts of 3 x 4096 x 14336, norms. Experts over
 * four ranks have a quarter each, all else is whole; then ep times the tokens meet 1/ep of them. */
CALC_TEST(experts_over_ranks)
{
    calc_mindspeed_job job = mindspeed_experts();
    const calc_mindspeed_config one = {1, 2, 8, 1, 1, 1, 1, 1};
    const calc_mindspeed_config four = {1, 2, 8, 1, 1, 1, 1, 4};
    double rest = 32 * (2 * 16777216 * 1.25 + 16384) + 8192 + 2 * 131072000.0;
    double experts = 32 * 8 * 3 * 4096 * 14336.0;
    assert_near(calc_mindspeed_memory_of(&job, &one).parameters, (rest + experts) / 2);
    assert_near(calc_mindspeed_memory_of(&job, &four).parameters, rest / 2 + experts / 8);
    assert_near(calc_mindspeed_memory_layer_bytes(&job, &four),
                calc_mindspeed_memory_layer_bytes(&job, &one));
}
