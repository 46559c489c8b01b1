#include "spec/compat.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"

static calc_compat read_ok(const char *text)
{
    calc_errors errors = {0};
    calc_compat compat = -1;
    ck_assert_msg(calc_compat_read(text, &compat, &errors) == CALC_OK, "%s", text);
    ck_assert_int_eq(errors.count, 0);
    return compat;
}

/* There and back. */
static void assert_text(calc_compat compat, const char *text)
{
    char buffer[CALC_COMPAT_TEXT];
    ck_assert_str_eq(calc_compat_text(compat, buffer), text);
    ck_assert_int_eq(read_ok(text), compat);
}

CALC_TEST(every_rule_has_a_bit_a_name_and_a_sentence)
{
    ck_assert_int_eq(CALC_COMPAT_COUNT, 14);
    for (int rule = 0; rule < CALC_COMPAT_COUNT; rule++) {
        ck_assert_ptr_nonnull(calc_compat_names[rule]);
        ck_assert_uint_gt(strlen(calc_compat_sentences[rule]), 20);
        assert_text((calc_compat)1 << rule, calc_compat_names[rule]);
        ck_assert(calc_compat_has((calc_compat)1 << rule, rule));
        ck_assert(!calc_compat_has(~((calc_compat)1 << rule), rule));
    }
    ck_assert_ptr_null(calc_compat_names[CALC_COMPAT_COUNT]);
    ck_assert_str_eq(calc_compat_names[CALC_COMPAT_BLOCK_EFFICIENCY], "block-efficiency");
}

/* The three defects are the first: 14 rules, 11 of them meant. */
CALC_TEST(sets_are_read_and_written_by_name)
{
    assert_text(CALC_COMPAT_NONE, "none");
    assert_text(CALC_COMPAT_CALCULON, "calculon");
    assert_text(CALC_COMPAT_REPAIRED, "repaired");
    ck_assert_int_eq(CALC_COMPAT_CALCULON, 0x3fff);
    ck_assert_int_eq(CALC_COMPAT_REPAIRED, 0x3ff8);
    ck_assert_int_eq(read_ok("repaired,recompute-sums,idle-message,inference-message"),
                     CALC_COMPAT_CALCULON);
}

CALC_TEST(names_are_joined_by_commas_in_any_order)
{
    calc_compat two = (calc_compat)1 << CALC_COMPAT_TILES | (calc_compat)1 << CALC_COMPAT_LAYERS;
    assert_text(two, "layers,tiles");
    ck_assert_int_eq(read_ok("tiles,layers"), two);
    ck_assert_int_eq(read_ok("tiles,layers,tiles"), two);
}

/* All but one, for each, which is not a set: the longest texts. */
CALC_TEST(every_text_fits)
{
    for (int rule = 0; rule < CALC_COMPAT_COUNT; rule++) {
        char buffer[CALC_COMPAT_TEXT];
        calc_compat others = CALC_COMPAT_CALCULON & ~((calc_compat)1 << rule);
        ck_assert_int_eq(read_ok(calc_compat_text(others, buffer)), others);
        ck_assert_uint_lt(strlen(buffer), CALC_COMPAT_TEXT);
    }
}

static const struct {
    const char *text, *word;
} wrong[] = {
    {"", ""},
    {"x", "x"},
    {"Calculon", "Calculon"},
    {"tiles,", ""},
    {",tiles", ""},
    {"tiles,,layers", ""},
    {"tiles, layers", " layers"},
    {"tile", "tile"},
    {"tiless", "tiless"},
    {"none repaired", "none repaired"},
    {"1", "1"},
    /* 63 bytes of a word are shown. */
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
};
enum { WRONG = sizeof wrong / sizeof *wrong };

CALC_TEST_LOOP(a_word_that_is_no_rule_is_named_and_nothing_is_changed, 0, WRONG)
{
    calc_errors errors = {0};
    calc_compat compat = 5;
    ck_assert_int_eq(calc_compat_read(wrong[_i].text, &compat, &errors), CALC_ERR_RANGE);
    ck_assert_int_eq(compat, 5);
    ck_assert_int_eq(errors.count, 1);
    char want[128];
    snprintf(want, sizeof want,
             "no rule of Calculon is called \"%s\": none, repaired, calculon, or some of ",
             wrong[_i].word);
    ck_assert_mem_eq(errors.item[0].text, want, strlen(want));
    size_t length = strlen(errors.item[0].text);
    const char *last = "reduce-by-block, block-efficiency";
    ck_assert(wrong[_i].word[0] == 'a' ||
              strcmp(errors.item[0].text + length - strlen(last), last) == 0);
}

CALC_TEST(none_does_not_go_with_rules)
{
    calc_errors errors = {0};
    calc_compat compat = 5;
    ck_assert_int_eq(calc_compat_read("none,calculon", &compat, &errors), CALC_ERR_RANGE);
    ck_assert_int_eq(compat, 5);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "none does not go with rules"));
}
