/* Candidates against all layouts of a space. */
#include "plan/layers_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cli/plan/plan_task.h"
#include "frame.h"
#include "layers_plan_case.h"
#include "model/stages/placed.h"
#include "plan/layers_join.h"
#include "plan/layers_stage.h"
#include "shipped_case.h"
#include "spec/layer_list.h"
#include "units.h"

static layers_plan listed;
static calc_layers_list list;
static size_t layouts;
static double best_s;

/* Every layout is one of a candidate's: its base with a strategy that it has. */
static bool is_of(const calc_layers_candidate *c, const calc_exec *e)
{
    const calc_layer_strategy s = calc_layers_strategy_of(e);
    bool has = false;
    for (size_t i = 0; i < c->strategies; i++) {
        has = has || calc_layer_list_alike(&c->strategy[i], &s);
    }
    return has && c->base.strategy.cuda_graph == e->strategy.cuda_graph &&
           c->base.strategy.expert_par_overlap == e->strategy.expert_par_overlap &&
           c->base.pipeline_par == e->pipeline_par &&
           c->base.pipeline_interleaving == e->pipeline_interleaving &&
           calc_layer_list_sequences(&c->base) == calc_layer_list_sequences(e);
}

static void visit_row(void *context, const calc_worker_place *place)
{
    (void)context;
    for (uint64_t i = place->first; i < place->worker->counts.total; i++) {
        calc_exec e;
        calc_stats stats;
        int found = 0;
        if (calc_worker_decode(place, i - place->first, &e) != CALC_VERDICT_OK) {
            continue;
        }
        for (size_t k = 0; k < list.count; k++) {
            found += is_of(&list.candidate[k], &e);
        }
        layouts++;
        ck_assert(found == 1 || e.pipeline_balance != CALC_PIPELINE_BALANCE_BLOCKS);
        if (calc_run(&listed.app, &listed.chip.system, &e, CALC_COMPAT_NONE, &stats) ==
            CALC_VERDICT_OK) {
            best_s = fmin(best_s, stats.total_time);
        }
    }
}

CALC_TEST(every_layout_belongs_to_one_candidate_and_the_quickest_is_known)
{
    calc_sweep_counts counts;
    layers_plan_init(&listed, "deepseek-v2-lite", "h100_sxm", 6, 8, 16);
    layers_plan_ready(&listed);
    ck_assert_int_eq(calc_layers_list_make(&listed.planner, &list), CALC_OK);
    best_s = INFINITY;
    ck_assert_int_eq(calc_units_walk(&listed.space, &listed.planner.design, CALC_COMPAT_NONE,
                                     visit_row, NULL, &counts),
                     CALC_OK);
    double uniform_s = INFINITY;
    for (size_t i = 0; i < list.count; i++) {
        uniform_s = fmin(uniform_s, list.candidate[i].uniform_s);
    }
    ck_assert_uint_eq(list.layouts, layouts);
    ck_assert_uint_gt(layouts, 100);
    ck_assert_double_eq(uniform_s, best_s);
    calc_layers_list_free(&list);
    layers_plan_free(&listed);
}

/* What somebody gave several values is not mixed up. */
CALC_TEST(other_axes_tell_candidates_apart)
{
    static const int64_t both[] = {false, true};
    size_t count[2];
    for (int i = 0; i < 2; i++) {
        layers_plan_init(&listed, "llama3.2-1B", "h100_sxm", 8, 4, 8);
        layers_plan_axis(&listed, CALC_AXIS_fused_activation, both, 1 + (size_t)i);
        layers_plan_ready(&listed);
        ck_assert_int_eq(calc_layers_list_make(&listed.planner, &list), CALC_OK);
        count[i] = list.count;
        calc_layers_list_free(&list);
        layers_plan_free(&listed);
    }
    ck_assert_uint_gt(count[0], 5);
    ck_assert_uint_eq(count[1], 2 * count[0]);
}

CALC_TEST(a_strategy_says_what_a_layout_has)
{
    calc_exec e = {.strategy = {.tensor_par = 4,
                                .optimizer_sharding = true,
                                .activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL}};
    calc_layer_strategy s = calc_layers_strategy_of(&e);
    ck_assert_int_eq(s.tensor_par, 4);
    ck_assert_int_eq(s.context_par, 1);
    ck_assert_int_eq(s.expert_par, 1);
    ck_assert_int_eq(s.zero_stage, 1);
    ck_assert_int_eq(s.recompute, CALC_ACTIVATION_RECOMPUTE_FULL);
    e.strategy.zero_stage = 3;
    ck_assert_int_eq(calc_layers_strategy_of(&e).zero_stage, 3);
}

/* Options of candidates: what is dropped is covered by what is not; groups; room. */

static bool covers(const calc_layers_part *a, const calc_layers_part *b)
{
    return a->micro_s <= b->micro_s && a->held_bytes <= b->held_bytes &&
           a->flight_bytes <= b->flight_bytes && a->working_bytes <= b->working_bytes &&
           a->passing_bytes <= b->passing_bytes && a->reduce_s <= b->reduce_s &&
           a->gather_s <= b->gather_s && a->optimizer_s <= b->optimizer_s;
}

static int dropped, kept, groups;

static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < c->options && c->common.layers[kind] > 0; i++) {
            bool covered = false;
            for (int k = 0; k < c->options; k++) {
                covered = covered || (k != i && c->option[k].layers[kind] &&
                                      c->option[k].group == c->option[i].group &&
                                      covers(&c->option[k].part[kind], &c->option[i].part[kind]));
            }
            ck_assert(c->option[i].layers[kind] || covered);
            dropped += !c->option[i].layers[kind];
            kept += c->option[i].layers[kind];
        }
        ck_assert(c->common.layers[kind] > 0 || !c->option[0].layers[kind]);
    }
    for (int i = 0; i < c->options; i++) {
        calc_errors errors = {0};
        const calc_exec a = calc_layer_list_exec(&c->candidate->base, &c->option[i].strategy);
        ck_assert_int_eq(calc_check(&l->app, &l->chip.system, &a, &errors), CALC_OK);
        for (int k = 0; k < c->options; k++) {
            const calc_exec b = calc_layer_list_exec(&c->candidate->base, &c->option[k].strategy);
            calc_reshard r = calc_reshard_of(&l->app, &l->chip.system, &a, &b);
            int at = c->option[i].group * c->groups + c->option[k].group;
            ck_assert_double_eq_tol(c->switch_s[at], r.fw_s + r.bw_s, 1e-15);
            ck_assert_double_le(c->detour_s[at], c->switch_s[at]);
        }
    }
    groups += c->groups > 1;
}

CALC_TEST(options_that_are_dropped_are_covered_and_groups_cost_what_rearranging_does)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(dropped, 50);
    ck_assert_int_gt(kept, 200);
    ck_assert_int_gt(groups, 20);
}

static void check_room(const layers_plan *l, const calc_layers_case *c)
{
    static const int layers[2] = {0, 1};
    int last = (int)c->common.stages - 1;
    int ends = layers_plan_ends(c);
    (void)l;
    for (int stage = 0; stage <= last; stage++) {
        calc_layers_part x = calc_layers_ends_of(c, ends, stage);
        ck_assert_int_eq(x.held_bytes > 0, stage == 0 || stage == last);
        ck_assert_double_le(calc_layers_room_bytes(c, ends, stage, layers),
                            c->common.capacity_bytes - x.held_bytes);
    }
    ck_assert(calc_layers_is_first(0) && calc_layers_is_last(c, last));
    ck_assert_int_eq(calc_layers_is_last(c, 0), last == 0);
}

CALC_TEST(ends_are_on_the_first_and_the_last_stage)
{
    ck_assert_int_gt(layers_plan_samples(check_room), 50);
}

/* Parts of options against what calc_each_stage() and calc_run() say of layouts that have them
 * everywhere; lines of exposed time against what they are lines of. */

static int stages_seen;

/* A stage's part of a layout with an option everywhere. */
static calc_layers_part sum_of(const calc_layers_case *c, int option, int stage, double blocks[2])
{
    calc_layers_part sum = calc_layers_ends_of(c, option, stage);
    for (int kind = 0; kind < 2; kind++) {
        calc_layers_part_add(&sum, &c->option[option].part[kind], blocks[kind]);
    }
    return sum;
}

static void check_option(const layers_plan *l, const calc_layers_case *c, int option)
{
    calc_exec e = calc_layer_list_exec(&c->candidate->base, &c->option[option].strategy);
    calc_stage_stats stage[64];
    calc_stats stats;
    size_t count = calc_each_stage(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, stage, 64);
    double exposed_s = 0;
    double optimizer_s = 0;
    double dense = c->common.layers[0];
    calc_run(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, &stats);
    for (size_t i = 0; i < count && !isnan(stats.total_time); i++) {
        double blocks[2] = {fmin(dense, stage[i].blocks), 0};
        blocks[1] = stage[i].blocks - blocks[0];
        dense -= blocks[0];
        calc_layers_part sum = sum_of(c, option, (int)i, blocks);
        double pass_s = stage[i].fw_time + stage[i].bw_time;
        ck_assert_double_eq_tol(sum.micro_s, pass_s, 1e-9 * pass_s);
        ck_assert_double_eq_tol(sum.fw_s, stage[i].fw_time, 1e-9 * pass_s);
        double held = sum.held_bytes + sum.flight_bytes * calc_layers_in_flight(&c->common, (int)i);
        double most = held + sum.working_bytes + sum.passing_bytes + c->common.reserved_bytes;
        double framework = c->option[option].framework_head_bytes;
        for (int k = 0; k < 2; k++) {
            framework = fmax(framework, c->option[option].framework_bytes[1][k]);
        }
        /* What is whole for a while is of the mean block, with its share of the ends. */
        ck_assert_double_le(stage[i].mem_tier1, 1.25 * (most + framework));
        ck_assert_double_ge(stage[i].mem_tier1, held);
        exposed_s = fmax(exposed_s, calc_layers_exposed_s(&c->common, &sum));
        optimizer_s = fmax(optimizer_s, sum.optimizer_s);
        stages_seen++;
    }
    if (!isnan(stats.total_time)) {
        ck_assert_double_eq_tol(optimizer_s, stats.optim_step_time, 1e-9 * stats.total_time);
        /* Sharded weights come and go within passes; latencies are left out. */
        bool beside = e.strategy.zero_stage < 3;
        double said_s = beside ? stats.dp_comm_exposed_time : exposed_s;
        ck_assert_double_eq_tol(exposed_s, said_s, 0.03 * stats.total_time);
    }
}

static void option_check_case(const layers_plan *l, const calc_layers_case *c)
{
    for (int i = 0; i < c->options; i++) {
        check_option(l, c, i);
    }
}

CALC_TEST(parts_of_a_layout_add_up_to_its_stages)
{
    layers_plan_samples(option_check_case);
    ck_assert_int_gt(stages_seen, 500);
}

CALC_TEST(lines_are_nowhere_above_what_is_exposed_and_meet_it_in_their_range)
{
    calc_rng rng;
    int hidden = 0;
    calc_rng_init(&rng, 14, 1);
    for (int i = 0; i < 20000; i++) {
        calc_layers_common c = {.contention = 0.3 * calc_rng_real(&rng), .last_share = 0.03};
        c.terms.window_share = i % 5 ? 0.1 + 0.87 * calc_rng_real(&rng) : 1 - c.last_share;
        double room_s = i % 7 ? calc_rng_real(&rng) : 0;
        calc_layers_part p = {.reduce_s = 2 * calc_rng_real(&rng), .reduce_room_s = room_s};
        double exposed_s = calc_layers_exposed_s(&c, &p);
        bool longer = calc_layers_is_longer(&c, p.reduce_s, room_s);
        double window_s = room_s / c.terms.window_share;
        for (int k = 0; k <= 4; k++) {
            ck_assert_double_le(calc_layers_exposed_line_s(&c, p.reduce_s, room_s, k / 4.0),
                                exposed_s + 1e-12);
        }
        if (!longer && p.reduce_s <= window_s) {
            hidden++;
            ck_assert_double_eq_tol(calc_layers_exposed_line_s(&c, p.reduce_s, room_s, 0),
                                    exposed_s, 1e-12);
        }
        if (longer && i % 5 == 0) {
            ck_assert_double_eq_tol(calc_layers_exposed_line_s(&c, p.reduce_s, room_s, 1),
                                    exposed_s, 1e-12);
        }
        ck_assert(longer || p.reduce_s <= room_s / 0.97 + 1e-12);
    }
    ck_assert_int_gt(hidden, 1000);
}

/* Bounds of candidates against the lists that are found of them, and against the steps of layouts
 * whose layers are all alike. */

static int found, infeasible, alike;

static void bound_check_case(const layers_plan *l, const calc_layers_case *c)
{
    double any_s = calc_layers_bound_s(c, -1);
    size_t stages = (size_t)c->common.stages;
    double *spare = calloc(stages, sizeof *spare);
    double least_s = INFINITY;
    (void)l;
    for (int ends = 0; ends < c->options; ends++) {
        if (!c->option[ends].ends) {
            continue;
        }
        const calc_layers_want want = {ends, -1, spare, INFINITY};
        calc_layers_answer a;
        double bound_s = calc_layers_bound_s(c, ends);
        calc_status status = calc_layers_join(c, &want, &a);
        least_s = fmin(least_s, bound_s);
        ck_assert_double_ge(bound_s, any_s * (1 - 1e-9));
        if (status == CALC_OK) {
            found++;
            ck_assert_double_le(bound_s, a.planned_s * (1 + 1e-9));
            ck_assert_double_le(bound_s, a.bound_s * (1 + 1e-6));
        } else if (!isfinite(bound_s)) {
            infeasible++;
        }
        calc_layers_answer_free(&a);
    }
    ck_assert(any_s <= least_s * (1 + 1e-9));
    if (isfinite(c->candidate->uniform_s) &&
        c->candidate->uniform.pipeline_balance == CALC_PIPELINE_BALANCE_BLOCKS) {
        alike++;
        ck_assert_double_le(any_s, c->candidate->uniform_s * (1 + 2e-3));
    }
    free(spare);
}

CALC_TEST(no_list_is_below_its_bound)
{
    layers_plan_samples(bound_check_case);
    ck_assert_int_gt(found, 100);
    ck_assert_int_gt(infeasible, 10);
    ck_assert_int_gt(alike, 20);
}

static int allowed;

/* What a stage may take grows with the step. */
static void check_allowed(const layers_plan *l, const calc_layers_case *c)
{
    const calc_layers_floor f = calc_layers_floor_of(c, -1);
    (void)l;
    ck_assert_double_gt(f.through_s, 0);
    ck_assert_double_le(f.stage_s, f.through_s);
    for (int stage = 0; stage < (int)c->common.stages; stage++) {
        for (double s = f.through_s; s < 100 * f.through_s; s *= 3) {
            allowed++;
            ck_assert_double_lt(calc_layers_allowed_s(c, &f, stage, s),
                                calc_layers_allowed_s(c, &f, stage, 1.01 * s));
            ck_assert_double_le(c->micro_weight * calc_layers_allowed_s(c, &f, stage, s), s);
        }
    }
}

CALC_TEST(stages_are_allowed_more_in_a_longer_step)
{
    layers_plan_samples(check_allowed);
    ck_assert_int_gt(allowed, 100);
}

/* Levels of what options need together, against all sets of options. */

enum { OPTIONS = 7 };

/* What a set of options needs. */
static calc_layers_peak most_of(const calc_layers_peak *peak, unsigned set)
{
    calc_layers_peak most = {0, 0};
    for (int i = 0; i < OPTIONS; i++) {
        if (set >> i & 1) {
            most.working_bytes = fmax(most.working_bytes, peak[i].working_bytes);
            most.passing_bytes = fmax(most.passing_bytes, peak[i].passing_bytes);
        }
    }
    return most;
}

CALC_TEST(what_a_set_of_options_needs_is_a_level_and_a_level_is_what_one_needs)
{
    calc_rng rng;
    calc_rng_init(&rng, 14, 2);
    for (int round = 0; round < 300; round++) {
        calc_layers_peak peak[OPTIONS], level[CALC_LAYERS_LEVELS];
        bool seen[CALC_LAYERS_LEVELS] = {false};
        for (int i = 0; i < OPTIONS; i++) {
            peak[i] = (calc_layers_peak){1 + calc_rng_below(&rng, 5), calc_rng_below(&rng, 4)};
        }
        int count = calc_layers_levels(peak, OPTIONS, level);
        for (unsigned set = 1; set < 1U << OPTIONS; set++) {
            const calc_layers_peak most = most_of(peak, set);
            int at = 0;
            while (at < count && (level[at].working_bytes != most.working_bytes ||
                                  level[at].passing_bytes != most.passing_bytes)) {
                at++;
            }
            ck_assert_int_lt(at, count);
            seen[at] = true;
        }
        for (int i = 0; i < count; i++) {
            ck_assert(seen[i]);
        }
        ck_assert(calc_layers_is_below(most_of(peak, ~0U), level[count - 1]));
    }
}

/* Of many amounts the largest of each bin: nothing needs more than the last level. */
CALC_TEST(many_amounts_share_levels)
{
    enum { MANY = 500 };
    static calc_layers_peak peak[MANY];
    static calc_layers_peak level[CALC_LAYERS_LEVELS];
    for (int i = 0; i < MANY; i++) {
        peak[i] = (calc_layers_peak){1 + i, 2 * i};
    }
    int count = calc_layers_levels(peak, MANY, level);
    ck_assert_int_le(count, CALC_LAYERS_LEVELS);
    ck_assert_double_eq(level[count - 1].working_bytes, MANY);
    ck_assert_double_eq(level[count - 1].passing_bytes, 2 * (MANY - 1));
    for (int i = 0; i < MANY; i++) {
        int at = 0;
        while (at < count && !calc_layers_is_below(peak[i], level[at])) {
            at++;
        }
        ck_assert_int_lt(at, count);
    }
}

CALC_TEST(ends_need_what_they_need_in_any_case)
{
    const calc_layers_peak ends = {3, 5};
    const calc_layers_part part = {.working_bytes = 4, .passing_bytes = 1};
    const calc_layers_peak both = calc_layers_peak_of(ends, &part);
    ck_assert_double_eq(both.working_bytes, 4);
    ck_assert_double_eq(both.passing_bytes, 5);
    ck_assert(calc_layers_is_below(both, both));
    ck_assert(calc_layers_is_below(ends, both));
    ck_assert(!calc_layers_is_below(both, ends));
}

/* Runs of layers as JSON, beside the stages that have them: src/cli/plan/plan_table.c. */

static shipped_case c;
static calc_text json;

static void set(const char *assignment)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_set(&c.app, &c.system, &c.exec, assignment, NULL, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

/* 80 blocks on four stages. */
static void setup(void)
{
    c = load_case("llama3-70B", "h100_sxm", "llama3-70B_512");
    set("tensor_par_overlap=none");
    set("seq_par_ag_redo=false");
    set("pipeline_interleaving=1");
}

static void leave(void)
{
    calc_text_free(&json);
}

const calc_test_frame calc_tests = {.setup = setup, .teardown = leave};

static void write_runs(void)
{
    calc_plan_task *t = calloc(1, sizeof *t);
    calc_output *out;
    ck_assert_ptr_nonnull(t);
    t->app = c.app;
    t->chips = 1;
    t->chip[0].system = c.system;
    ck_assert_int_eq(calc_output_open_memory(&out, &json, NULL), CALC_OK);
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_layers_runs_put(&put, t, &c.exec);
    calc_put_end(&put);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    free(t);
}

/* The sum of a member over all runs and the ends. */
static double runs_sum_of(const char *key)
{
    char text[64];
    double sum = 0;
    snprintf(text, sizeof text, "\"%s\": ", key);
    for (const char *at = json.data; (at = strstr(at, text)); at += strlen(text)) {
        sum += strtod(at + strlen(text), NULL);
    }
    return sum;
}

/* What its chunks rearrange between them. */
static double rearranged_s(void)
{
    calc_placed *p = calloc(1, sizeof *p);
    double sum_s = 0;
    ck_assert_ptr_nonnull(p);
    calc_placed_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, p);
    for (int64_t i = 0; i < p->stages * p->chunks; i++) {
        sum_s += p->chunk[i].reshard.fw_s + p->chunk[i].reshard.bw_s;
    }
    free(p);
    return sum_s;
}

CALC_TEST(rearranging_is_that_of_the_stages)
{
    set("layers={\"blocks\": [20, 30, 30], \"tensor_par\": [8, 4, 2], \"zero_stage\": [1, 3, 2], "
        "\"ends\": {\"tensor_par\": 8}}");
    write_runs();
    ck_assert_double_eq(runs_sum_of("blocks"), 80);
    ck_assert_double_eq(runs_sum_of("zero_stage"), 1 + 3 + 2 + 1);
    ck_assert_double_gt(rearranged_s(), 0);
    ck_assert_double_eq_tol(runs_sum_of("rearranging_time"), rearranged_s(), 1e-15);
}

CALC_TEST(without_a_list_all_layers_are_one_run)
{
    write_runs();
    ck_assert_double_eq(runs_sum_of("blocks"), 80);
    ck_assert_double_eq(runs_sum_of("tensor_par"), 2 * (double)c.exec.strategy.tensor_par);
    ck_assert_double_eq(runs_sum_of("rearranging_time"), 0);
}
