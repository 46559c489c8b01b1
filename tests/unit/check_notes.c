#include "base/notes.h"

#include "base/error.h"
#include "frame.h"

CALC_TEST(each_is_said_once)
{
    calc_notes notes = {0};
    for (int i = 0; i < 60; i++) {
        calc_notes_add(&notes, "note %d", i / 2);
    }
    ck_assert_int_eq(notes.count, CALC_NOTES);
    ck_assert_str_eq(notes.text[1], "note 1");
    ck_assert_int_eq(notes.dropped, 60 - 2 * CALC_NOTES);
}

CALC_TEST(errors_in_one_line)
{
    calc_notes notes = {0};
    calc_errors errors = {0};
    calc_errors_at(&errors, CALC_ERR_TYPE, "a.json", 3, 4, "look there", "what is %s", "wrong");
    calc_notes_take(&notes, &errors);
    ck_assert_int_eq(errors.count, 0);
    ck_assert_int_eq(notes.count, 1);
    ck_assert_str_eq(notes.text[0], "a.json:3:4: what is wrong");
}
