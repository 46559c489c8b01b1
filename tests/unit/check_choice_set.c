#include "spec/value_text.h"

#include <string.h>

#include "frame.h"

static const char *const choices[] = {"core_attn", "layernorm", "mlp", NULL};

CALC_TEST(texts_are_in_the_order_of_the_choices)
{
    static const char *const texts[] = {
        "",    "core_attn",     "layernorm",     "core_attn+layernorm",
        "mlp", "core_attn+mlp", "layernorm+mlp", "core_attn+layernorm+mlp"};
    for (int64_t set = 0; set < 8; set++) {
        char text[CALC_CHOICE_SET_SIZE];
        char bad[CALC_CHOICE_SET_SIZE];
        int64_t read = -1;
        ck_assert_ptr_eq(calc_choice_set_text(choices, set, text), text);
        ck_assert_str_eq(text, texts[set]);
        ck_assert(calc_choice_set_parse(choices, text, &read, bad));
        ck_assert_int_eq(read, set);
    }
}

CALC_TEST(any_order_is_read_and_none_is_the_empty_set)
{
    char bad[CALC_CHOICE_SET_SIZE];
    int64_t set = -1;
    ck_assert(calc_choice_set_parse(choices, "mlp+core_attn+mlp", &set, bad));
    ck_assert_int_eq(set, 5);
    ck_assert(calc_choice_set_parse(choices, "mlp,core_attn", &set, bad));
    ck_assert_int_eq(set, 5);
    ck_assert(calc_choice_set_parse(choices, "none", &set, bad));
    ck_assert_int_eq(set, 0);
}

static void refuse(const char *text, const char *bad)
{
    char word[CALC_CHOICE_SET_SIZE];
    int64_t set = 77;
    ck_assert(!calc_choice_set_parse(choices, text, &set, word));
    ck_assert_int_eq(set, 77);
    ck_assert_str_eq(word, bad);
}

CALC_TEST(the_first_word_that_is_no_choice_is_told)
{
    refuse("mpl", "mpl");
    refuse("mlp+mpl+x", "mpl");
    refuse("mlp+", "");
    refuse("+mlp", "");
    refuse("mlp+none", "none");
    refuse("mlp,,core_attn", "");
    refuse(" mlp", " mlp");
}

CALC_TEST(a_long_word_is_cut_and_a_long_text_is_not)
{
    char text[2 * CALC_CHOICE_SET_SIZE];
    char cut[CALC_CHOICE_SET_SIZE];
    char bad[CALC_CHOICE_SET_SIZE];
    int64_t set;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    memset(cut, 'x', sizeof cut);
    cut[sizeof cut - 1] = '\0';
    refuse(text, cut);
    text[0] = '\0';
    while (strlen(text) + 5 < sizeof text) {
        strcat(text, *text ? "+mlp" : "mlp");
    }
    ck_assert_uint_gt(strlen(text), CALC_CHOICE_SET_SIZE);
    ck_assert(calc_choice_set_parse(choices, text, &set, bad));
    ck_assert_int_eq(set, 4);
}
