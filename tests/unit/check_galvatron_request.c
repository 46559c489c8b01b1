/* What there is to search for. */
#include "galvatron/request.h"

#include "frame.h"
#include "small_case.h"

static char why[256];

static calc_galvatron_request llama(void)
{
    calc_galvatron_request r = calc_galvatron_request_default();
    r.types = 1;
    r.layers[0] = (calc_galvatron_layers){4096, 32, 2048};
    return r;
}

static bool good(const calc_galvatron_request *r)
{
    why[0] = '\0';
    return calc_galvatron_request_check(r, why, sizeof why);
}

static void refuses(const calc_galvatron_request *r, const char *expected)
{
    ck_assert(!good(r));
    ck_assert_str_eq(why, expected);
}

CALC_TEST(a_model_has_layers)
{
    calc_galvatron_request r = llama();
    ck_assert(good(&r));
    r.layers[0].seq_len = 0;
    refuses(&r, "seq_length is missing: the model has none to search for");
    r = llama();
    r.types = 2;
    r.layers[0].layer_num = 512;
    r.layers[1] = r.layers[0];
    ck_assert(good(&r));
    r.layers[1].layer_num = 513;
    refuses(&r, "num_layers: 1025 are more than 1024, which are searched at most");
    r.types = 0;
    refuses(&r, "num_layers is missing: the model has none to search for");
}

CALC_TEST(gpus_are_a_power_of_two)
{
    calc_galvatron_request r = llama();
    r.num_nodes = 8192;
    ck_assert(good(&r));
    r.num_nodes = 16384;
    refuses(&r,
            "num_nodes * num_gpus_per_node: 131072 GPUs are not a power of two from 1 to 65536");
    r.num_nodes = 3;
    refuses(&r, "num_nodes * num_gpus_per_node: 24 GPUs are not a power of two from 1 to 65536");
}

CALC_TEST(there_is_a_batch)
{
    calc_galvatron_request r = llama();
    r.bsz_scale = 16;
    refuses(
        &r,
        "max_bsz: 8 is below the first batch, 16, the larger of min_bsz and bsz_scale (bsz_step): "
        "raise it, or give settle_bsz");
    r.settle_bsz = 4;
    ck_assert(good(&r));
    r.settle_bsz = -1;
    r.bsz_scale = 1;
    r.min_bsz = 1;
    r.max_bsz = 10000;
    ck_assert(good(&r));
    r.max_bsz = 10001;
    refuses(&r, "max_bsz: 10001 batches up to 10001 are too many to search: raise bsz_scale, or "
                "give settle_bsz");
    r.settle_bsz = 4;
    r.settle_chunk = 4;
    ck_assert(good(&r));
    r.settle_chunk = 3;
    refuses(&r, "settle_chunk: 3 does not divide settle_bsz, 4");
}

CALC_TEST(options_that_contradict_are_refused)
{
    calc_galvatron_request r = llama();
    r.sequence_parallel = false;
    refuses(&r, "disable_tp: without sequence_parallel there are no costs of tensor parallelism: "
                "set disable_tp 1, or sequence_parallel");
    r.max_tp_deg = 1;
    ck_assert(good(&r));
    r.memory_profile_mode = CALC_GALVATRON_MEMORY_SEQUENCE;
    refuses(&r, "memory_profile_mode: sequence needs sequence_parallel and one type of layers");
    r = llama();
    r.memory_profile_mode = CALC_GALVATRON_MEMORY_SEQUENCE;
    ck_assert(good(&r));
    r.memory_constraint = 23.5;
    ck_assert(good(&r));
    r.compat = true;
    refuses(&r, "memory_constraint: 23.5 GB are not whole, as --compat needs them to be");
}
