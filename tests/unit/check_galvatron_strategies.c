/* Strategies and tasks, as many and in the order as upstream has them. */
#include "galvatron/search.h"
#include "galvatron_search_case.h"

#include "frame.h"

static calc_galvatron_strategy list[4096];
static calc_galvatron_task task[4096];

static calc_galvatron_request request(void)
{
    return (calc_galvatron_request){.types = 1,
                                    .layers = {{4096, 32, 2048}},
                                    .default_dp_type = CALC_GALVATRON_ZERO2,
                                    .num_nodes = 1,
                                    .num_gpus_per_node = 8,
                                    .min_bsz = 16,
                                    .max_bsz = 16,
                                    .bsz_scale = 8,
                                    .settle_bsz = -1,
                                    .settle_chunk = -1,
                                    .disable_cp = true,
                                    .max_tp_deg = 8,
                                    .max_pp_deg = 8,
                                    .max_sp_deg = 8,
                                    .max_cp_deg = 8};
}

static int count(const calc_galvatron_request *r, bool ends)
{
    int sum = 0;
    for (int pp = 1; pp <= 8; pp *= 2) {
        sum += calc_galvatron_strategies(r, pp, ends, NULL);
    }
    return sum;
}

CALC_TEST(eight_gpus_have_fifty_and_twenty_five)
{
    calc_galvatron_request r = request();
    ck_assert_int_eq(count(&r, false), 50);
    ck_assert_int_eq(count(&r, true), 25);
    r.disable_ckpt = true;
    ck_assert_int_eq(count(&r, false), 25);
    r.disable_fsdp = true;
    ck_assert_int_eq(count(&r, true), 16);
    r.disable_embedding_lmhead_sp = true;
    ck_assert_int_eq(count(&r, true), 10);
    ck_assert_int_eq(count(&r, false), 16);
    r.disable_dp = true;
    ck_assert_int_eq(count(&r, true), 4); /* dp = 1: tp and pp fill the node */
    r.disable_tp = true;
    ck_assert_int_eq(count(&r, true), 1); /* eight stages */
}

/* Those of the whole space that do not have what is switched off, in the same order. */
CALC_TEST(a_switch_takes_away_what_it_names)
{
    enum { PP, TP, SP, CP, DP, CHECKPOINT, FSDP, ENDS_TP, ENDS_SP, SWITCHES };
    for (int off = 0; off < SWITCHES; off++) {
        for (int pp = 1; pp <= 4; pp *= 2) {
            for (int ends = 0; ends < 2; ends++) {
                calc_galvatron_request r = request();
                calc_galvatron_strategy left[256];
                r.disable_cp = false;
                int all = calc_galvatron_strategies(&r, pp, ends, list), kept = 0;
                for (int i = 0; i < all; i++) {
                    const calc_galvatron_strategy *s = &list[i];
                    const bool has[] = {s->pp > 1,
                                        s->tp > 1,
                                        s->sp > 1,
                                        s->cp > 1,
                                        s->dp > 1,
                                        s->checkpoint,
                                        s->type == CALC_GALVATRON_ZERO3,
                                        ends && s->tp > 1,
                                        ends && s->sp > 1};
                    list[kept] = *s;
                    kept += !has[off];
                }
                bool *const flag[] = {&r.disable_pp,
                                      &r.disable_tp,
                                      &r.disable_sp,
                                      &r.disable_cp,
                                      &r.disable_dp,
                                      &r.disable_ckpt,
                                      &r.disable_fsdp,
                                      &r.disable_embedding_lmhead_tp,
                                      &r.disable_embedding_lmhead_sp};
                *flag[off] = true;
                ck_assert_int_eq(calc_galvatron_strategies(&r, pp, ends, left), kept);
                for (int i = 0; i < kept; i++) {
                    char want[64], got[64];
                    galvatron_words(&list[i], want, sizeof want);
                    galvatron_words(&left[i], got, sizeof got);
                    ck_assert_str_eq(got, want);
                }
            }
        }
    }
}

CALC_TEST(they_come_in_upstream_order)
{
    calc_galvatron_request r = request();
    char text[64];
    static const char *const words[] = {"2-1-4",     "2-1-4-c",     "2-1-4f",     "2-1-4f-c",
                                        "2-2*-2-sp", "2-2*-2-c-sp", "2-2*-2f-sp", "2-2*-2f-c-sp",
                                        "2-4*-1-sp", "2-4*-1-c-sp", "2-2*-2",     "2-2*-2-c",
                                        "2-2*-2f",   "2-2*-2f-c",   "2-4*-1",     "2-4*-1-c"};
    int n = calc_galvatron_strategies(&r, 2, false, list);
    ck_assert_int_eq(n, 16);
    for (int i = 0; i < n; i++) {
        galvatron_words(&list[i], text, sizeof text);
        ck_assert_str_eq(text, words[i]);
    }
}

CALC_TEST(tasks_are_as_many_as_upstream_had)
{
    calc_galvatron_request r = request();
    int n = calc_galvatron_tasks(&r, task);
    ck_assert_int_eq(n, 74); /* case 01 */
    ck_assert_int_eq(task[0].chunks, 1);
    ck_assert_int_eq(task[0].pp, 1);
    ck_assert_int_eq(task[0].mode, CALC_GALVATRON_TP_ONLY);
    ck_assert_int_eq(task[0].buffer_tp, 1);
    r.settle_chunk = 5;
    ck_assert_int_eq(calc_galvatron_tasks(&r, NULL), 0); /* does not divide 16 */
    r.settle_chunk = 1;
    r.max_bsz = 31;
    ck_assert_int_eq(calc_galvatron_tasks(&r, task), 18); /* 16 and 24, one stage */
    ck_assert_int_eq(task[17].gbsz, 24);
}

CALC_TEST(a_task_allows_its_modes_degrees_and_batch)
{
    calc_galvatron_request r = request();
    calc_galvatron_task t = {16, 4, 1, CALC_GALVATRON_TP_ONLY, 4};
    calc_galvatron_strategy s = {.pp = 1, .tp = 4, .sp = 1, .cp = 1, .dp = 2};
    ck_assert(calc_galvatron_allows(&r, &t, &s));
    t.buffer_tp = 2;
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
    t.buffer_tp = 4;
    s = (calc_galvatron_strategy){.pp = 1, .tp = 1, .sp = 4, .cp = 1, .dp = 2};
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
    t.mode = CALC_GALVATRON_TP_WITH_SP;
    ck_assert(calc_galvatron_allows(&r, &t, &s));
    s.sp = 1;
    s.dp = 8; /* four samples */
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
    t.chunks = 2;
    ck_assert(calc_galvatron_allows(&r, &t, &s));
    t.mode = CALC_GALVATRON_SP_ONLY;
    s.tp = 2;
    s.dp = 4;
    ck_assert(!calc_galvatron_allows(&r, &t, &s));
}

CALC_TEST(ranks_have_equal_micro_batches_but_in_compat)
{
    calc_galvatron_request r = {.num_nodes = 1, .num_gpus_per_node = 8, .max_tp_deg = 8};
    const calc_galvatron_task odd = {
        .gbsz = 12, .chunks = 1, .pp = 1, .mode = CALC_GALVATRON_TP_ONLY, .buffer_tp = 8};
    const calc_galvatron_strategy eight = {.pp = 1, .tp = 1, .sp = 1, .cp = 1, .dp = 8};
    const calc_galvatron_strategy four = {.pp = 1, .tp = 2, .sp = 1, .cp = 1, .dp = 4};
    ck_assert(!calc_galvatron_allows(&r, &odd, &eight));
    ck_assert(calc_galvatron_allows(&r, &odd, &four));
    r.compat = true;
    ck_assert(calc_galvatron_allows(&r, &odd, &eight));
    ck_assert(calc_galvatron_allows(&r, &odd, &four));
}
