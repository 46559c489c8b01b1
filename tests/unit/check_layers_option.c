/* Parts of options against what calc_each_stage() and calc_run() say of layouts that have them
 * everywhere; lines of exposed time against what they are lines of. */
#include "plan/layers_list.h"

#include "frame.h"
#include "layers_plan_case.h"
#include "spec/layer_list.h"

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

static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    for (int i = 0; i < c->options; i++) {
        check_option(l, c, i);
    }
}

CALC_TEST(parts_of_a_layout_add_up_to_its_stages)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(stages_seen, 500);
}

CALC_TEST(lines_are_nowhere_above_what_is_exposed_and_meet_it_in_their_range)
{
    calc_rng rng;
    int hidden = 0;
    calc_rng_init(&rng, 14, 1);
    for (int i = 0; i < 20000; i++) {
        calc_layers_common c = {.contention = 0.3 * calc_rng_real(&rng), .last_share = 0.03};
        c.terms.window_share = 0.1 + 0.87 * calc_rng_real(&rng);
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
        ck_assert(longer || p.reduce_s <= room_s / 0.97 + 1e-12);
    }
    ck_assert_int_gt(hidden, 1000);
}
