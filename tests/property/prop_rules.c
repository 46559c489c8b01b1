/* Laws of Calculon's rules (words.h, CALC_COMPAT_LIST) on random layouts of its kind: any of them
   alone or beside others gives a step, and a rule that has no object on a layout changes nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "random_layout.h"
#include "spec/compat.h"

enum { LAYOUTS = 200 };

static calc_random_layout layout;
static uint64_t number; /* of it */

static void draw(uint64_t i)
{
    calc_rng rng;
    calc_rng_init(&rng, 20221, i);
    calc_random_layout_make(&rng, &layout);
    number = i;
}

static calc_stats run(calc_compat compat)
{
    calc_stats s;
    calc_verdict verdict = calc_run(&layout.app, &layout.system, &layout.exec, compat, &s);
    if (verdict != s.verdict) {
        ck_abort_msg("layout %llu: two verdicts", (unsigned long long)number);
    }
    return s;
}

static void must(bool holds, calc_compat compat, const char *what, double value)
{
    char rules[CALC_COMPAT_TEXT];
    if (!holds) {
        ck_abort_msg("layout %llu with %s: %s is %.17g", (unsigned long long)number,
                     calc_compat_text(compat, rules), what, value);
    }
}

static double sum_of_times(const calc_stats *s)
{
    return s->fw_time + s->bw_time + s->recompute_time + s->recomm_exposed_time +
           s->tp_comm_exposed_time + s->cp_comm_exposed_time + s->ep_comm_exposed_time +
           s->pp_comm_exposed_time + s->dp_comm_exposed_time + s->fw_offload_exposed_time +
           s->bw_offload_exposed_time + s->head_time + s->host_time + s->bubble_time +
           s->optim_step_time + s->straggler_time + s->overhead_time;
}

/* Interleaving and offload of random layouts fit even stages: others may have too few blocks. */
static void must_be_a_step(calc_compat compat)
{
    calc_stats s = run(compat);
    bool even = calc_compat_has(compat, CALC_COMPAT_EVEN_STAGES);
    bool fits = s.verdict == CALC_VERDICT_OK || (!even && s.verdict == CALC_VERDICT_OFFLOAD_BLOCKS);
    if (!even && s.verdict == CALC_VERDICT_INTERLEAVING) {
        must(isnan(s.total_time), compat, "total_time", s.total_time);
        return;
    }
    must(fits, compat, "verdict", s.verdict);
    must(isfinite(s.total_time) && s.total_time > 0, compat, "total_time", s.total_time);
    must(fabs(sum_of_times(&s) / s.total_time - 1) < 1e-9, compat, "sum / total_time - 1",
         sum_of_times(&s) / s.total_time - 1);
    const double times[] = {s.fw_time,
                            s.bw_time,
                            s.recompute_time,
                            s.tp_comm_link_time,
                            s.pp_comm_link_time,
                            s.dp_comm_link_time,
                            s.optim_step_time,
                            s.proc_mem_tier1_cap_req,
                            s.proc_mem_tier2_cap_req};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        must(isfinite(times[i]) && times[i] >= 0, compat, "a time or a memory", times[i]);
    }
}

CALC_TEST(every_rule_every_pair_and_all_of_them_give_a_step)
{
    for (uint64_t i = 0; i < LAYOUTS; i++) {
        draw(i);
        must_be_a_step(CALC_COMPAT_NONE);
        must_be_a_step(CALC_COMPAT_REPAIRED);
        must_be_a_step(CALC_COMPAT_CALCULON);
        for (int a = 0; a < CALC_COMPAT_COUNT; a++) {
            for (int b = a; b < CALC_COMPAT_COUNT; b++) {
                must_be_a_step((calc_compat)1 << a | (calc_compat)1 << b);
            }
            must_be_a_step(CALC_COMPAT_CALCULON & ~((calc_compat)1 << a));
        }
    }
}

/* ---- Rules without an object ----------------------------------------------------------------- */

/* Whether a rule has nothing to say of the time and the memory of this layout. */
static bool no_object(int rule)
{
    const calc_exec *e = &layout.exec;
    bool recomputes = e->strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE ||
                      e->strategy.seq_par_ag_redo;
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    bool scattered = e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    switch (rule) {
    case CALC_COMPAT_RECOMPUTE_SUMS:
        return !recomputes || !e->training;
    case CALC_COMPAT_IDLE_MESSAGE:
        return e->pipeline_par > 1;
    case CALC_COMPAT_INFERENCE_MESSAGE:
        return e->training;
    case CALC_COMPAT_TILES:
        return e->strategy.tensor_par == 1 ||
               e->strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_NONE;
    case CALC_COMPAT_REDUCTION_FLOP:
        return e->strategy.tensor_par == 1 ||
               layout.system.networks[e->strategy.tensor_par_net].processor_usage > 0;
    case CALC_COMPAT_MEAN_IN_FLIGHT:
        return e->pipeline_par == 1;
    case CALC_COMPAT_WHOLE_CHECKPOINTS:
        return !full || !scattered || e->strategy.tensor_par == 1;
    case CALC_COMPAT_OPTIMIZER_ROOFLINE:
        return !e->training;
    case CALC_COMPAT_OFFLOAD_EACH:
        return !e->strategy.weight_offload && !e->strategy.activations_offload &&
               !e->strategy.optimizer_offload;
    case CALC_COMPAT_REDUCE_BY_BLOCK:
        return e->strategy.data_par == 1 || !e->training;
    case CALC_COMPAT_BLOCK_EFFICIENCY:
        return true;
    default:
        return false;
    }
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Times, memory and what they follow from: all but efficiencies and required bandwidths. */
static bool compared(const char *key)
{
    return !strstr(key, "efficiency") && !strstr(key, "_req") && !strstr(key, "useful_flops") &&
           !strstr(key, "block_optim");
}

CALC_TEST(a_rule_without_an_object_changes_nothing_to_the_bit)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    int tried[CALC_COMPAT_COUNT] = {0};
    for (uint64_t i = 0; i < LAYOUTS; i++) {
        draw(i);
        for (int rule = 0; rule < CALC_COMPAT_COUNT; rule++) {
            calc_compat one = (calc_compat)1 << rule;
            if (!no_object(rule)) {
                continue;
            }
            tried[rule]++;
            calc_stats with = run(CALC_COMPAT_CALCULON);
            calc_stats without = run(CALC_COMPAT_CALCULON & ~one);
            for (size_t row = 0; row < table->count; row++) {
                const calc_field *field = &table->rows[row];
                calc_field_ref ref = {CALC_KIND_STATS, field, field->offset};
                double a = calc_field_number(&ref, &with);
                double b = calc_field_number(&ref, &without);
                if (compared(field->key) && !same(a, b) && !(isnan(a) && isnan(b))) {
                    ck_abort_msg("layout %llu: %s changes %s from %.17g to %.17g",
                                 (unsigned long long)i, calc_compat_names[rule], field->key, b, a);
                }
            }
        }
    }
    for (int rule = 0; rule < CALC_COMPAT_COUNT; rule++) {
        bool always = rule == CALC_COMPAT_LAYERS || rule == CALC_COMPAT_EVEN_STAGES ||
                      rule == CALC_COMPAT_BLOCK_MEMORY;
        ck_assert_msg(always ? tried[rule] == 0 : tried[rule] > 20, "%s: %d",
                      calc_compat_names[rule], tried[rule]);
    }
}

/* Beside no other rule it is put together in another order, and is the same but for that. */
CALC_TEST(alone_a_rule_without_an_object_changes_no_time_either)
{
    for (uint64_t i = 0; i < LAYOUTS; i++) {
        draw(i);
        calc_stats none = run(CALC_COMPAT_NONE);
        for (int rule = 0; rule < CALC_COMPAT_COUNT; rule++) {
            calc_compat one = (calc_compat)1 << rule;
            if (!no_object(rule) || none.verdict != CALC_VERDICT_OK) {
                continue;
            }
            calc_stats s = run(one);
            must(fabs(s.total_time / none.total_time - 1) < 1e-12, one, "total_time / none - 1",
                 s.total_time / none.total_time - 1);
            must(fabs(s.proc_mem_tier1_cap_req / none.proc_mem_tier1_cap_req - 1) < 1e-12, one,
                 "tier 1 / none - 1", s.proc_mem_tier1_cap_req / none.proc_mem_tier1_cap_req - 1);
        }
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Field by field: what lies between fields is nobody's. */
static void must_be_the_same(uint64_t i, const calc_stats *a, const calc_stats *b)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    ck_assert_int_eq(a->verdict, b->verdict);
    for (size_t row = 0; row < table->count; row++) {
        calc_field_ref ref = {CALC_KIND_STATS, &table->rows[row], table->rows[row].offset};
        double x = calc_field_number(&ref, a);
        double y = calc_field_number(&ref, b);
        ck_assert_msg(same(x, y) || (isnan(x) && isnan(y)), "layout %llu: %s is %.17g and %.17g",
                      (unsigned long long)i, table->rows[row].key, x, y);
    }
}

/* However they are written down. */
CALC_TEST(the_rules_together_are_calculon_in_any_order)
{
    calc_rng rng;
    calc_rng_init(&rng, 20222, 0);
    for (uint64_t i = 0; i < LAYOUTS; i++) {
        int order[CALC_COMPAT_COUNT];
        char text[2 * CALC_COMPAT_TEXT] = "";
        calc_compat compat;
        for (int k = 0; k < CALC_COMPAT_COUNT; k++) {
            int at = (int)calc_rng_below(&rng, (uint32_t)k + 1);
            order[k] = order[at];
            order[at] = k;
        }
        for (int k = 0; k < CALC_COMPAT_COUNT; k++) {
            strcat(strcat(text, k > 0 ? "," : ""), calc_compat_names[order[k]]);
        }
        ck_assert_int_eq(calc_compat_read(text, &compat, NULL), CALC_OK);
        draw(i);
        calc_stats a = run(compat), b = run(CALC_COMPAT_CALCULON);
        must_be_the_same(i, &a, &b);
    }
}
