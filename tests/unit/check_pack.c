#include "pack.h"

#include <stdlib.h>

#include "frame.h"
#include "serving_case.h"

/* A result with one layout that serves. */
static calc_found found_of(void)
{
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_SERVE, 8, 2, 4, 64);
    exec.inference.kv_datatype = CALC_FORMAT_FLOAT8;
    exec.inference.prefix_hit = 0.3;
    exec.inference.wide_attention = CALC_WIDE_ATTENTION_ALL;
    exec.inference.traits.host_s = 0.001;
    exec.inference.traits.cache_share = 0.5;
    exec.inference.traits.overlapped = true;
    calc_found found = calc_found_of(3, &exec);
    found.objective[0] = 0.5;
    found.objective[1] = -2;
    return found;
}

CALC_TEST(what_is_served_survives_packing)
{
    calc_found found = found_of();
    calc_sweep_group group = {.front = {.item = &found, .count = 1}};
    const calc_sweep_result result = {.group = &group, .groups_count = 1};
    calc_pack out = {0};
    calc_sweep_result back;
    calc_pack_result(&out, &result);
    ck_assert(!out.failed);
    calc_unpack in = {.at = out.data, .end = out.data + out.size};
    ck_assert_int_eq(calc_unpack_result(&in, &back), CALC_OK);
    ck_assert_ptr_eq(in.at, in.end);
    ck_assert_uint_eq(back.group[0].front.count, 1);
    const calc_found *got = &back.group[0].front.item[0];
    ck_assert_uint_eq(got->design, 3);
    const calc_exec a = calc_found_exec(got);
    const calc_exec b = calc_found_exec(&found);
    ck_assert_int_eq(calc_axis_compare(&a, &b), 0);
    ck_assert_mem_eq(&a.inference, &b.inference, sizeof a.inference);
    free(back.group[0].front.item);
    free(back.group);
    free(out.data);
}

CALC_TEST(bytes_that_end_early_make_no_sense)
{
    calc_found found = found_of();
    calc_sweep_group group = {.front = {.item = &found, .count = 1}};
    const calc_sweep_result result = {.group = &group, .groups_count = 1};
    calc_pack out = {0};
    calc_pack_result(&out, &result);
    for (size_t size = 0; size < out.size; size += 8) {
        calc_sweep_result back;
        calc_unpack in = {.at = out.data, .end = out.data + size};
        ck_assert_int_eq(calc_unpack_result(&in, &back), CALC_ERR_SYNTAX);
        for (size_t g = 0; g < back.groups_count; g++) {
            calc_front_free(&back.group[g].front);
            calc_front_free(&back.group[g].top);
        }
        free(back.group);
    }
    free(out.data);
}
