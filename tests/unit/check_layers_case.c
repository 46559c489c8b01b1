/* Options of candidates: what is dropped is covered by what is not; groups; room. */
#include "plan/layers_list.h"

#include "frame.h"
#include "layers_plan_case.h"
#include "model/stages/reshard.h"
#include "spec/layer_list.h"

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
