/* Whether two documents say the same. */
#include "spec/field.h"

#include "frame.h"
#include "random_struct.h"
#include "small_case.h"

static const calc_table *table;
static calc_system a, b;

static void enter(void)
{
    table = calc_table_of(CALC_KIND_SYSTEM);
    a = b = small_system();
}

const calc_test_frame calc_tests = {.setup = enter};

static void assert_differs(const char *text)
{
    calc_app app = {0};
    calc_exec exec = {0};
    b = a;
    ck_assert_msg(calc_same(table, &a, &b), "%s", text);
    ck_assert_msg(calc_set(&app, &b, &exec, text, NULL, NULL) == CALC_OK, "%s", text);
    ck_assert_msg(!calc_same(table, &a, &b), "%s", text);
    ck_assert_msg(!calc_same(table, &b, &a), "%s", text);
}

CALC_TEST(a_value_of_any_type_makes_a_difference)
{
    static const char *const set[] = {"sys.mem1.GiB=3",
                                      "sys.networks[1].bandwidth=3",
                                      "sys.networks[0].size=7",
                                      "sys.networks[0].must_be_filled=true",
                                      "sys.networks[0].ops.all_reduce=[3, -1]",
                                      "sys.matrix.float16.tflops=3",
                                      "sys.processing_mode=no_overlap",
                                      "sys.serving.matrix.memory_efficiency=0.5",
                                      "sys.watts=3"};
    a.chip.mem1.efficiency = flat_curve(0.5);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        assert_differs(set[i]);
    }
    b = a;
    b.chip.mem1.efficiency.efficiency[0] = 0.25;
    ck_assert(!calc_same(table, &a, &b));
    b.chip.mem1.efficiency.count++;
    ck_assert(!calc_same(table, &a, &b));
    b = a;
    b.networks_count--;
    ck_assert(!calc_same(table, &a, &b));
    ck_assert(!calc_same(table, &b, &a));
}

/* What a document does not say does not count: steps and networks beyond those in use. */
CALC_TEST(what_is_not_in_use_makes_none)
{
    b.chip.mem1.efficiency.threshold[b.chip.mem1.efficiency.count] = 7;
    b.networks[b.networks_count].latency_s = 7;
    ck_assert(calc_same(table, &a, &b));
}

CALC_TEST(random_structs_are_their_copies_and_no_others)
{
    calc_rng rng;
    calc_rng_init(&rng, 1, 1);
    for (int i = 0; i < 50; i++) {
        random_table(&rng, table, (char *)&a);
        b = a;
        ck_assert(calc_same(table, &a, &b));
        random_table(&rng, table, (char *)&b);
        ck_assert(!calc_same(table, &a, &b));
        calc_exec e, f;
        random_table(&rng, calc_table_of(CALC_KIND_EXEC), (char *)&e);
        f = e;
        ck_assert(calc_same(calc_table_of(CALC_KIND_EXEC), &e, &f));
        snprintf(f.inference.prefill_system.name, sizeof f.inference.prefill_system.name, "other");
        ck_assert(!calc_same(calc_table_of(CALC_KIND_EXEC), &e, &f));
    }
}
