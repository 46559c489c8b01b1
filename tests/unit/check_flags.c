#include "cli/as/flags.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static const char *const sizes[] = {"small", "large", NULL};

#define FLAGS(X)                                                                                   \
    X(FILE, "--yaml_path", "FILE", TEXT, .also = "--yaml_dir", .needed = true, .doc = "a")         \
    X(RATIO, "-layer_ratio", "R", NUMBER, .lo = 0, .hi = 10, .preset = "0.3", .doc = "b")          \
    X(COUNT, "--gbs", "N", WHOLE, .lo = 1, .hi = 100, .doc = "c")                                  \
    X(CHECK, "-check", "YES|NO", BOOL, .preset = "yes", .doc = "d")                                \
    X(SIZE, "--size", "SIZE", TEXT, .choices = sizes, .doc = "e")                                  \
    X(SWITCH, "--quiet", NULL, BOOL, .doc = "f")                                                   \
    X(LONE, "--shard", "0|1", TEXT, .lone = true, .doc = "g")

enum { FLAGS(CALC_FLAG_NUMBER_OF) };
static const calc_flag rows[] = {FLAGS(CALC_FLAG_ROW){0}};
static const calc_as_tool tool = {.planner = "planner", .program = "program", .flags = rows};

static const calc_as_tool with_file = {.planner = "planner", .flags = rows, .file = "FILE"};

static bool parse_for(calc_flags *flags, const calc_as_tool *of, const char *line)
{
    static char text[256];
    const char *words[16];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    return calc_flags_parse(flags, of, count, words);
}

/* Words with blanks between them. */
static bool parse(calc_flags *flags, const char *line)
{
    return parse_for(flags, &tool, line);
}

CALC_TEST(a_value_may_be_left_out_where_it_says_true)
{
    calc_flags f;
    ck_assert(parse(&f, "--yaml_path a --shard 0 --gbs 7"));
    ck_assert_str_eq(calc_flags_text(&f, FLAG_LONE), "0");
    ck_assert(parse(&f, "--yaml_path a --shard --gbs 7"));
    ck_assert_str_eq(calc_flags_text(&f, FLAG_LONE), "true");
    ck_assert_double_eq(calc_flags_number(&f, FLAG_COUNT), 7);
    ck_assert(parse(&f, "--yaml_path a --shard=0"));
    ck_assert_str_eq(calc_flags_text(&f, FLAG_LONE), "0");
    ck_assert(parse(&f, "--yaml_path a --shard"));
    ck_assert_str_eq(calc_flags_text(&f, FLAG_LONE), "true");
}

CALC_TEST(one_file_is_taken_by_programs_that_have_one)
{
    calc_flags f;
    ck_assert(parse_for(&f, &with_file, "--gbs 7 search.yaml --yaml_path a"));
    ck_assert_str_eq(f.file, "search.yaml");
    ck_assert_double_eq(calc_flags_number(&f, FLAG_COUNT), 7);
    ck_assert(parse_for(&f, &with_file, "--yaml_path a"));
    ck_assert_ptr_null(f.file);
    ck_assert(!parse_for(&f, &with_file, "--yaml_path a b c"));
    ck_assert_str_eq(f.complaint, "unexpected argument \"c\"");
    ck_assert(!parse(&f, "--yaml_path a b"));
    ck_assert_str_eq(f.complaint, "unexpected argument \"b\"");
}

CALC_TEST(values_follow_or_are_joined_and_the_last_counts)
{
    calc_flags f;
    ck_assert(parse(&f, "--yaml_path a -layer_ratio=0.5 --gbs 7 --gbs 8 --size small"));
    ck_assert_str_eq(calc_flags_text(&f, FLAG_FILE), "a");
    ck_assert_double_eq(calc_flags_number(&f, FLAG_RATIO), 0.5);
    ck_assert_double_eq(calc_flags_number(&f, FLAG_COUNT), 8);
    ck_assert_str_eq(calc_flags_text(&f, FLAG_SIZE), "small");
    ck_assert(f.given[FLAG_COUNT] && !f.given[FLAG_CHECK]);
}

CALC_TEST(what_is_not_given_is_preset_or_nothing)
{
    calc_flags f;
    ck_assert(parse(&f, "--yaml_dir b"));
    ck_assert_str_eq(calc_flags_text(&f, FLAG_FILE), "b");
    ck_assert_double_eq(calc_flags_number(&f, FLAG_RATIO), 0.3);
    ck_assert(isnan(calc_flags_number(&f, FLAG_COUNT)));
    ck_assert(calc_flags_bool(&f, FLAG_CHECK));
    ck_assert(!calc_flags_bool(&f, FLAG_SWITCH));
    ck_assert_ptr_null(calc_flags_text(&f, FLAG_SIZE));
    ck_assert(parse(&f, "--yaml_dir b --quiet"));
    ck_assert(calc_flags_bool(&f, FLAG_SWITCH));
}

CALC_TEST(truths_are_spelt_in_ten_ways)
{
    static const char *const yes[] = {"yes", "true", "t", "y", "1", "True", "YES"};
    static const char *const no[] = {"no", "false", "f", "n", "0", "False", "N"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        char line[64];
        calc_flags f;
        snprintf(line, sizeof line, "--yaml_path a -check %s", yes[i]);
        ck_assert(parse(&f, line) && calc_flags_bool(&f, FLAG_CHECK));
        snprintf(line, sizeof line, "--yaml_path a -check %s", no[i]);
        ck_assert(parse(&f, line) && !calc_flags_bool(&f, FLAG_CHECK));
    }
}

CALC_TEST(help_comes_before_what_is_missing)
{
    calc_flags f;
    ck_assert(parse(&f, "--gbs 3 -h"));
    ck_assert(f.help);
}

static void fails(const char *line, const char *complaint)
{
    calc_flags f;
    ck_assert(!parse(&f, line));
    ck_assert_str_eq(f.complaint, complaint);
}

CALC_TEST(what_is_wrong_is_said_in_one_line)
{
    fails("", "missing --yaml_path FILE");
    fails("--yaml_path a b", "unexpected argument \"b\"");
    fails("--yaml_path", "--yaml_path needs a value: FILE");
    fails("--yaml_path a -chek no", "unknown option \"-chek\", did you mean \"-check\"?");
    fails("-yaml_path a", "unknown option \"-yaml_path\", did you mean \"--yaml_path\"?");
    fails("--xyzzy a", "unknown option \"--xyzzy\"");
    fails("--yaml_path a --gbs 0", "--gbs: \"0\" is not a whole number from 1 to 100");
    fails("--yaml_path a --gbs 1.5", "--gbs: \"1.5\" is not a whole number from 1 to 100");
    fails("--yaml_path a -layer_ratio 11", "-layer_ratio: \"11\" is not a number from 0 to 10");
    fails("--yaml_path a -layer_ratio nan", "-layer_ratio: \"nan\" is not a number from 0 to 10");
    fails("--yaml_path a --size huge", "--size: \"huge\" is not small or large");
    fails("--yaml_path a -check maybe",
          "-check: \"maybe\" is not yes, true, t, y, 1, no, false, f, n or 0");
    fails("--yaml_path a --quiet=yes", "--quiet takes no value");
}
