/* All ways to put the stages of a layout on chips, against a count of the sequences of chips. */
#include "plan/planner_place.h"

#include <string.h>

#include "frame.h"
#include "small_case.h"

enum { MOST = 4096 };

typedef struct seen {
    int count, stop_after;
    calc_planner_place place[MOST];
} seen;

static calc_planner_chip chip[4];
static calc_planner planner = {.chip = chip};
static seen got;

static bool see(void *context, const calc_planner_place *place)
{
    seen *s = context;
    ck_assert_int_lt(s->count, MOST);
    s->place[s->count++] = *place;
    return s->count != s->stop_after;
}

/* 8 processors to a stage. */
static bool walk(int chips, int stages)
{
    calc_exec e = {.num_procs = (int64_t)8 * stages, .pipeline_par = stages};
    planner.chips = chips;
    got.count = 0;
    return calc_planner_places(&planner, &e, see, &got);
}

static void caps(int64_t a, int64_t b, int64_t c)
{
    chip[0].most_procs = a;
    chip[1].most_procs = b;
    chip[2].most_procs = c;
}

static bool same_place(const calc_planner_place *a, const calc_planner_place *b)
{
    size_t size = (size_t)a->kinds * sizeof *a->chip;
    return a->kinds == b->kinds && memcmp(a->chip, b->chip, size) == 0 &&
           memcmp(a->stages, b->stages, size) == 0;
}

/* Sequences of a chip per stage, in which the stages of a chip are beside each other, in order if
 * that is asked for, and no chip has more than there is. */
static int sequences(int chips, int stages, bool *among_got)
{
    int all = 1;
    int count = 0;
    for (int i = 0; i < stages; i++) {
        all *= chips;
    }
    *among_got = true;
    for (int code = 0; code < all; code++) {
        calc_planner_place p = {0};
        int64_t procs[4] = {0};
        bool good = true;
        for (int i = 0, rest = code; i < stages; i++, rest /= chips) {
            int on = rest % chips;
            procs[on] += 8;
            good = good && procs[on] <= chip[on].most_procs;
            if (p.kinds > 0 && p.chip[p.kinds - 1] == on) {
                p.stages[p.kinds - 1]++;
                continue;
            }
            bool back = p.kinds > 0 && on < p.chip[p.kinds - 1];
            good = good && procs[on] == 8 && !(planner.keep_order && back);
            if (!good || p.kinds == CALC_MAX_CHIPS) {
                break;
            }
            p.chip[p.kinds] = on;
            p.stages[p.kinds++] = 1;
        }
        bool found = false;
        for (int i = 0; good && i < got.count; i++) {
            found = found || same_place(&p, &got.place[i]);
        }
        *among_got = *among_got && (!good || found);
        count += good;
    }
    return count;
}

static void check(int chips, int stages)
{
    bool among;
    ck_assert(walk(chips, stages));
    ck_assert_int_eq(got.count, sequences(chips, stages, &among));
    ck_assert(among);
    for (int i = 0; i < got.count; i++) {
        for (int k = 0; k < i; k++) {
            ck_assert(!same_place(&got.place[i], &got.place[k]));
        }
    }
}

CALC_TEST(every_placement_is_there_once)
{
    for (int keep = 0; keep < 2; keep++) {
        planner.keep_order = keep > 0;
        for (int chips = 1; chips <= 3; chips++) {
            for (int stages = 1; stages <= 6; stages++) {
                caps(INT64_MAX, INT64_MAX, INT64_MAX);
                check(chips, stages);
                caps(16, INT64_MAX, 8); /* two stages, any, one */
                check(chips, stages);
                caps(24, 23, 7); /* three, two, none */
                check(chips, stages);
            }
        }
    }
}

/* A: 5 stages; AB: 4 splits; and the other way round. */
CALC_TEST(two_chips_stand_in_both_orders_unless_the_order_is_kept)
{
    caps(INT64_MAX, INT64_MAX, 0);
    planner.keep_order = false;
    ck_assert(walk(2, 5));
    ck_assert_int_eq(got.count, 2 + 2 * 4);
    planner.keep_order = true;
    ck_assert(walk(2, 5));
    ck_assert_int_eq(got.count, 2 + 4);
}

CALC_TEST(there_is_none_where_processors_are_too_few)
{
    caps(16, 16, 0);
    planner.keep_order = false;
    ck_assert(walk(2, 5));
    ck_assert_int_eq(got.count, 0);
    ck_assert(walk(2, 4));
    ck_assert_int_eq(got.count, 2);
}

CALC_TEST(the_visitor_ends_the_walk)
{
    caps(INT64_MAX, INT64_MAX, INT64_MAX);
    got.stop_after = 3;
    ck_assert(!walk(3, 4));
    ck_assert_int_eq(got.count, 3);
    got.stop_after = 0;
}

CALC_TEST(layouts_are_those_of_the_chips_that_there_are)
{
    static calc_planner_layouts l;
    calc_app app = small_app();
    calc_exec e = small_exec(1, 4, 2);
    planner = (calc_planner){.app = &app, .chip = chip, .chips = 2};
    chip[0].system = chip[1].system = chip[2].system = small_system();
    chip[1].system.chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s = 0;
    l.chip[2].full = &l.of_none[3];
    ck_assert(calc_planner_layouts_of(&planner, &e, &l));
    ck_assert(l.legal[0] && !l.legal[1] && !l.legal[2]);
    ck_assert_ptr_eq(l.chip[0].full, &l.of_none[0]);
    ck_assert_ptr_eq(l.chip[2].full, &l.of_none[3]);
    planner.recompute = true;
    ck_assert(calc_planner_layouts_of(&planner, &e, &l));
    ck_assert_ptr_eq(l.chip[0].full, &l.of_full[0]);
    planner.chips = 1;
    chip[0].system = chip[1].system;
    ck_assert(!calc_planner_layouts_of(&planner, &e, &l));
}
