#include "formats/framework.h"

#include <string.h>

#include "frame.h"

static void reads(const char *text, int64_t dense, int64_t every)
{
    calc_pattern pattern = {-1, -1};
    ck_assert_msg(calc_pattern_read(text, &pattern), "%s", text);
    ck_assert_msg(pattern.dense == dense && pattern.every == every, "%s", text);
}

static void rejects(const char *text)
{
    calc_pattern pattern;
    ck_assert_msg(!calc_pattern_read(text, &pattern), "%s", text);
}

CALC_TEST(a_number_is_a_period)
{
    reads("1", 0, 1);
    reads(" 4 ", 0, 4);
    rejects("0");
    rejects("-1");
    rejects("1.5");
    rejects("");
}

CALC_TEST(lists_and_their_sums_and_multiples_are_read)
{
    reads("[1]", 0, 1);
    reads("[0, 1, 1]", 1, 1);
    reads("0 1 1", 1, 1);
    reads("0, 0, 1, 0, 1", 2, 2);
    reads("([0]*3+[1]*58)", 3, 1);
    reads("[0]+[1]*23", 1, 1);
    reads("([1]+[0]*2)*4", 0, 3);
    reads("[0]*3+([1]+[0])*2", 3, 2);
    reads("((([0, 1])))", 1, 1);
}

CALC_TEST(what_cannot_be_said_is_rejected)
{
    rejects("[0]*4");            /* no experts at all */
    rejects("[1,0,0,1,1]");      /* no period */
    rejects("[2]");              /* neither 0 nor 1 */
    rejects("[0]*3+[1]*58)");    /* one bracket too many */
    rejects("([0]*3+[1]*58");    /* one too few */
    rejects("[0]*99999999999");  /* too long */
    rejects("[0]*4096+[1]");     /* one too many */
    rejects("__import__('os')"); /* not a list */
    reads("[0]*4095+[1]", 4095, 1);
}

CALC_TEST(deep_brackets_end)
{
    char text[256];
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    rejects(text);
}

CALC_TEST(what_is_written_is_read_back)
{
    char text[4096];
    for (int plain = 0; plain < 2; plain++) {
        for (int64_t dense = 0; dense < 5; dense++) {
            for (int64_t every = 1; every < 4; every++) {
                calc_pattern back;
                ck_assert(calc_pattern_write((calc_pattern){dense, every}, dense + 12, plain, text,
                                             sizeof text));
                ck_assert_msg(calc_pattern_read(text, &back), "%s", text);
                ck_assert_msg(back.dense == dense && back.every == every, "%s", text);
            }
        }
    }
}

CALC_TEST(the_text_is_what_frameworks_take)
{
    char text[64];
    ck_assert(calc_pattern_write((calc_pattern){3, 1}, 61, false, text, sizeof text));
    ck_assert_str_eq(text, "([0]*3+[1]*58)");
    ck_assert(calc_pattern_write((calc_pattern){1, 2}, 5, false, text, sizeof text));
    ck_assert_str_eq(text, "([0]*1+([1]+[0]*1)*2)");
    ck_assert(calc_pattern_write((calc_pattern){1, 2}, 4, false, text, sizeof text));
    ck_assert_str_eq(text, "[0, 1, 0, 1]");
    ck_assert(calc_pattern_write((calc_pattern){2, 1}, 4, true, text, sizeof text));
    ck_assert_str_eq(text, "[0, 0, 1, 1]");
    ck_assert(!calc_pattern_write((calc_pattern){2, 1}, 40, true, text, sizeof text));
    ck_assert(!calc_pattern_write((calc_pattern){4, 1}, 4, false, text, sizeof text));
}
