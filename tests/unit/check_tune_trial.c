/* Layouts that are tried: commands for them, and what these print. */
#include "cli/tune/tune_journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

CALC_TEST(places_in_a_command_are_words_for_the_shell)
{
    static const struct {
        const char *command, *exe, *text;
    } cases[] = {
        {"run {exe}", "tune/3fa9c21e.json", "run tune/3fa9c21e.json"},
        {"run --on {slot} '{layout}'", "x", "run --on 2 '3fa9c21e'"},
        {"run {exe}{exe}", "a b", "run 'a b''a b'"},
        {"run {exe}", "it's", "run 'it'\\''s'"},
        {"run {exe}", "$(rm)", "run '$(rm)'"},
        {"run {exe}", "", "run ''"},
        {"awk '{print}' {} ${x} {exe", "x", "awk '{print}' {} ${x} {exe"},
        {"", "x", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const calc_tune_trial trial = {.exe = cases[i].exe, .layout = "3fa9c21e"};
        char *text = calc_tune_trial_command(cases[i].command, &trial, 2);
        ck_assert_ptr_nonnull(text);
        ck_assert_str_eq(text, cases[i].text);
        free(text);
    }
    ck_assert(calc_tune_trial_names_layout("a {exe}"));
    ck_assert(calc_tune_trial_names_layout("a {layout}"));
    ck_assert(!calc_tune_trial_names_layout("a {slot} {EXE}"));
}

CALC_TEST(the_last_line_is_a_time_with_or_without_memory_or_an_end)
{
    static const struct {
        const char *line;
        calc_tune_end end;
        double step_s, gib; /* 0: none */
    } good[] = {
        {"1.53", CALC_TUNE_END_FINE, 1.53, 0},
        {"  1.53s  ", CALC_TUNE_END_FINE, 1.53, 0},
        {"1530 ms", CALC_TUNE_END_FINE, 1.53, 0},
        {"1.53 61.25GiB", CALC_TUNE_END_FINE, 1.53, 61.25},
        {"1.53 s, 61.25 GiB\r", CALC_TUNE_END_FINE, 1.53, 61.25},
        {"1.53,61.25", CALC_TUNE_END_FINE, 1.53, 61.25},
        {"oom", CALC_TUNE_END_OOM, 0, 0},
        {" failed ", CALC_TUNE_END_FAILED, 0, 0},
    };
    static const char *const bad[] = {
        "",    "ok",  "done",  "-1",        "0",          "1.5 2 3", "1.5 2s",        "61GiB",
        "nan", "inf", "oom 1", "step 1.53", "1.53 sec x", "1.5 -2",  "out of memory", "1.53kg"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        calc_tune_trial t = {0};
        ck_assert_msg(calc_tune_trial_read(good[i].line, &t), "%s", good[i].line);
        ck_assert_int_eq(t.end, good[i].end);
        ck_assert(good[i].step_s > 0 ? t.step_s == good[i].step_s : isnan(t.step_s));
        ck_assert(good[i].gib > 0 ? t.memory_bytes == good[i].gib * 0x1p30 : isnan(t.memory_bytes));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        calc_tune_trial t = {.step_s = 7, .note = "as before"};
        ck_assert_msg(!calc_tune_trial_read(bad[i], &t), "%s", bad[i]);
        ck_assert_double_eq(t.step_s, 7);
        ck_assert_str_eq(t.note, "as before");
    }
}
