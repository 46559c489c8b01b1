/* The words of a command line: src/cli/shell/opt.c. */

#include "cli/shell/opt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/as/flags.h"
#include "frame.h"

enum { OPT_SET, OPT_COLOR, OPT_FLAG };

static const char *const when[] = {"auto", "always", "never", NULL};
static const calc_opt opts[] = {
    [OPT_SET] = {.name = "set", .value = "F=V", .repeated = true, .doc = "set"},
    [OPT_COLOR] = {.name = "color", .value = "WHEN", .choices = when, .preset = "auto", .doc = ""},
    [OPT_FLAG] = {.name = "layers", .doc = "flag"},
    {0}};
static const calc_arg rows[] = {
    {.name = "APP", .doc = "app"}, {.name = "REST", .optional = true, .doc = "rest"}, {0}};
static const calc_arg repeated[] = {{.name = "FILE", .repeated = true, .doc = "files"}, {0}};
static const calc_arg chosen[] = {{.name = "WHEN", .choices = when, .doc = "when"}, {0}};
static const calc_command command = {.name = "test", .args = rows, .opts = opts};

/* Parse the words (NULL at the end) of a command with other arguments. */
static calc_exit parse_with(calc_args *args, const calc_arg *rows_of, char *const *words)
{
    static calc_command other; /* args keeps a pointer to it */
    size_t count = 0;
    while (words[count]) {
        count++;
    }
    other = command;
    other.args = rows_of;
    return calc_opt_parse(args, &other, count, words);
}

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

static void assert_complaint(const calc_arg *rows_of, char *const *words, const char *complaint)
{
    calc_args args;
    ck_assert_int_eq(parse_with(&args, rows_of, words), CALC_EXIT_USAGE);
    ck_assert_str_eq(args.complaint, complaint);
    calc_opt_free(&args);
}

CALC_TEST(options_and_arguments_may_be_mixed)
{
    calc_args args;
    size_t cursor = 0;
    ck_assert_int_eq(
        parse_with(&args, rows,
                   WORDS("--set", "a=1", "x", "--layers", "--set=b=2", "y", "--color", "never")),
        CALC_EXIT_OK);
    ck_assert_uint_eq(args.argument_count, 2);
    ck_assert_str_eq(args.argument[0], "x");
    ck_assert_str_eq(args.argument[1], "y");
    ck_assert_str_eq(calc_opt_next(&args, OPT_SET, &cursor), "a=1");
    ck_assert_str_eq(calc_opt_next(&args, OPT_SET, &cursor), "b=2");
    ck_assert_ptr_null(calc_opt_next(&args, OPT_SET, &cursor));
    ck_assert_str_eq(calc_opt_value(&args, OPT_COLOR), "never");
    ck_assert_ptr_nonnull(calc_opt_value(&args, OPT_FLAG));
    calc_opt_free(&args);
}

CALC_TEST(what_is_not_given_has_its_preset)
{
    calc_args args;
    ck_assert_int_eq(parse_with(&args, rows, WORDS("x")), CALC_EXIT_OK);
    ck_assert_str_eq(calc_opt_value(&args, OPT_COLOR), "auto");
    ck_assert_ptr_null(calc_opt_value(&args, OPT_SET));
    ck_assert_ptr_null(calc_opt_value(&args, OPT_FLAG));
    calc_opt_free(&args);
}

CALC_TEST(the_last_value_counts)
{
    calc_args args;
    ck_assert_int_eq(parse_with(&args, rows, WORDS("x", "--color=never", "--color", "always")),
                     CALC_EXIT_OK);
    ck_assert_str_eq(calc_opt_value(&args, OPT_COLOR), "always");
    calc_opt_free(&args);
}

CALC_TEST(two_dashes_end_the_options)
{
    calc_args args;
    ck_assert_int_eq(parse_with(&args, rows, WORDS("--layers", "--", "--set", "--")), CALC_EXIT_OK);
    ck_assert_uint_eq(args.argument_count, 2);
    ck_assert_str_eq(args.argument[0], "--set");
    ck_assert_str_eq(args.argument[1], "--");
    calc_opt_free(&args);
}

CALC_TEST(one_dash_is_an_argument_and_a_value)
{
    calc_args args;
    ck_assert_int_eq(parse_with(&args, rows, WORDS("-", "--set", "-")), CALC_EXIT_OK);
    ck_assert_str_eq(args.argument[0], "-");
    ck_assert(calc_opt_is_stdout(&args, OPT_SET));
    ck_assert(!calc_opt_is_stdout(&args, OPT_COLOR));
    ck_assert(!calc_opt_is_stdout(&args, OPT_FLAG));
    calc_opt_free(&args);
}

CALC_TEST(an_option_takes_the_next_word_whatever_it_is)
{
    calc_args args;
    ck_assert_int_eq(parse_with(&args, rows, WORDS("x", "--set", "--layers")), CALC_EXIT_OK);
    ck_assert_str_eq(calc_opt_value(&args, OPT_SET), "--layers");
    ck_assert_ptr_null(calc_opt_value(&args, OPT_FLAG));
    calc_opt_free(&args);
}

CALC_TEST(help_needs_nothing_else)
{
    calc_args args;
    ck_assert_int_eq(parse_with(&args, rows, WORDS("-h")), CALC_EXIT_OK);
    ck_assert(args.help);
    calc_opt_free(&args);
    ck_assert_int_eq(parse_with(&args, rows, WORDS("a", "b", "c", "--help", "--zzz")),
                     CALC_EXIT_OK);
    ck_assert(args.help);
    calc_opt_free(&args);
}

CALC_TEST(wrong_options_are_named)
{
    assert_complaint(rows, WORDS("x", "--colour=never"),
                     "unknown option \"--colour\", did you mean \"--color\"?");
    assert_complaint(rows, WORDS("x", "--hepl"),
                     "unknown option \"--hepl\", did you mean \"--help\"?");
    assert_complaint(rows, WORDS("x", "--se"), "unknown option \"--se\", did you mean \"--set\"?");
    assert_complaint(rows, WORDS("x", "--unheard-of"), "unknown option \"--unheard-of\"");
    assert_complaint(rows, WORDS("x", "-v"), "unknown option \"-v\"");
    assert_complaint(rows, WORDS("x", "--=1"), "unknown option \"--\"");
    assert_complaint(rows, WORDS("x", "--set"), "--set needs a value: F=V");
    assert_complaint(rows, WORDS("x", "--layers=yes"), "--layers takes no value");
    assert_complaint(rows, WORDS("x", "--color", "blue"),
                     "--color: \"blue\" is not auto, always or never");
    assert_complaint(rows, WORDS("x", "--color=blue"),
                     "--color: \"blue\" is not auto, always or never");
}

CALC_TEST(arguments_are_counted)
{
    calc_args args;
    assert_complaint(rows, WORDS(NULL), "missing APP");
    assert_complaint(rows, WORDS("x", "y", "z"), "unexpected argument \"z\"");
    assert_complaint(repeated, WORDS("--layers"), "missing FILE");
    ck_assert_int_eq(parse_with(&args, repeated, WORDS("x", "y", "z")), CALC_EXIT_OK);
    ck_assert_uint_eq(args.argument_count, 3);
    calc_opt_free(&args);
}

CALC_TEST(arguments_may_be_limited_to_choices)
{
    calc_args args;
    assert_complaint(chosen, WORDS("blue"), "WHEN: \"blue\" is not auto, always or never");
    ck_assert_int_eq(parse_with(&args, chosen, WORDS("never")), CALC_EXIT_OK);
    calc_opt_free(&args);
}

CALC_TEST(numbers_are_whole_texts_in_their_range)
{
    static const char *const wrong[] = {"",    "x",  "3x", "-1",  "11", "2.5",
                                        "nan", " 3", "3 ", "0x3", "+3", "inf"};
    double number = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(!calc_opt_number(wrong[i], true, 0, 10, &number), "%s", wrong[i]);
    }
    ck_assert_double_eq(number, 7);
    ck_assert(calc_opt_number("10", true, 0, 10, &number) && number == 10);
    ck_assert(calc_opt_number("2.5", false, 0, 10, &number) && number == 2.5);
}

/* ---- Command lines of other programs --------------------------------------------------------- */

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
static const calc_opt flags[] = {FLAGS(CALC_FLAG_ROW){0}};
static const calc_command tool = {
    .name = "as planner program", .theirs = "program.py", .args = &rows[2], .opts = flags};
static const calc_arg file[] = {{.name = "FILE", .optional = true}, {0}};
static const calc_command with_file = {
    .name = "as planner", .theirs = "program.py", .args = file, .opts = flags};

/* Words with blanks between them. */
static bool parse_for(calc_args *args, const calc_command *of, const char *line)
{
    static char text[256];
    char *words[16];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    calc_opt_free(args);
    return calc_opt_parse(args, of, count, words) == CALC_EXIT_OK;
}

static bool parse(calc_args *args, const char *line)
{
    return parse_for(args, &tool, line);
}

CALC_TEST(a_value_may_be_left_out_where_it_says_true)
{
    calc_args f = {0};
    ck_assert(parse(&f, "--yaml_path a --shard 0 --gbs 7"));
    ck_assert_str_eq(calc_opt_value(&f, FLAG_LONE), "0");
    ck_assert(parse(&f, "--yaml_path a --shard --gbs 7"));
    ck_assert_str_eq(calc_opt_value(&f, FLAG_LONE), "true");
    ck_assert_double_eq(calc_opt_real(&f, FLAG_COUNT), 7);
    ck_assert(parse(&f, "--yaml_path a --shard=0"));
    ck_assert_str_eq(calc_opt_value(&f, FLAG_LONE), "0");
    ck_assert(parse(&f, "--yaml_path a --shard"));
    ck_assert_str_eq(calc_opt_value(&f, FLAG_LONE), "true");
    calc_opt_free(&f);
}

CALC_TEST(one_file_is_taken_by_programs_that_have_one)
{
    calc_args f = {0};
    ck_assert(parse_for(&f, &with_file, "--gbs 7 search.yaml --yaml_path a"));
    ck_assert_str_eq(f.argument[0], "search.yaml");
    ck_assert_double_eq(calc_opt_real(&f, FLAG_COUNT), 7);
    ck_assert(parse_for(&f, &with_file, "--yaml_path a"));
    ck_assert_ptr_null(f.argument[0]);
    ck_assert(!parse_for(&f, &with_file, "--yaml_path a b c"));
    ck_assert_str_eq(f.complaint, "unexpected argument \"c\"");
    ck_assert(!parse(&f, "--yaml_path a b"));
    ck_assert_str_eq(f.complaint, "unexpected argument \"b\"");
    calc_opt_free(&f);
}

CALC_TEST(values_follow_or_are_joined_and_the_last_counts)
{
    calc_args f = {0};
    ck_assert(parse(&f, "--yaml_path a -layer_ratio=0.5 --gbs 7 --gbs 8 --size small"));
    ck_assert_str_eq(calc_opt_value(&f, FLAG_FILE), "a");
    ck_assert_double_eq(calc_opt_real(&f, FLAG_RATIO), 0.5);
    ck_assert_double_eq(calc_opt_real(&f, FLAG_COUNT), 8);
    ck_assert_str_eq(calc_opt_value(&f, FLAG_SIZE), "small");
    ck_assert(calc_opt_given(&f, FLAG_COUNT) && !calc_opt_given(&f, FLAG_CHECK));
    calc_opt_free(&f);
}

CALC_TEST(what_is_not_given_is_preset_or_nothing)
{
    calc_args f = {0};
    ck_assert(parse(&f, "--yaml_dir b"));
    ck_assert_str_eq(calc_opt_value(&f, FLAG_FILE), "b");
    ck_assert_double_eq(calc_opt_real(&f, FLAG_RATIO), 0.3);
    ck_assert(isnan(calc_opt_real(&f, FLAG_COUNT)));
    ck_assert(calc_opt_truth(&f, FLAG_CHECK));
    ck_assert(!calc_opt_truth(&f, FLAG_SWITCH));
    ck_assert_ptr_null(calc_opt_value(&f, FLAG_SIZE));
    ck_assert(parse(&f, "--yaml_dir b --quiet"));
    ck_assert(calc_opt_truth(&f, FLAG_SWITCH));
    calc_opt_free(&f);
}

CALC_TEST(truths_are_spelt_in_ten_ways)
{
    static const char *const yes[] = {"yes", "true", "t", "y", "1", "True", "YES"};
    static const char *const no[] = {"no", "false", "f", "n", "0", "False", "N"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        char line[64];
        calc_args f = {0};
        snprintf(line, sizeof line, "--yaml_path a -check %s", yes[i]);
        ck_assert(parse(&f, line) && calc_opt_truth(&f, FLAG_CHECK));
        snprintf(line, sizeof line, "--yaml_path a -check %s", no[i]);
        ck_assert(parse(&f, line) && !calc_opt_truth(&f, FLAG_CHECK));
        calc_opt_free(&f);
    }
}

CALC_TEST(help_comes_before_what_is_missing)
{
    calc_args f = {0};
    ck_assert(parse(&f, "--gbs 3 -h"));
    ck_assert(f.help);
    calc_opt_free(&f);
}

static void fails(const char *line, const char *complaint)
{
    calc_args f = {0};
    ck_assert(!parse(&f, line));
    ck_assert_str_eq(f.complaint, complaint);
    calc_opt_free(&f);
}

CALC_TEST(what_is_wrong_is_said_in_one_line)
{
    fails("", "missing --yaml_path FILE");
    fails("--yaml_path a b", "unexpected argument \"b\"");
    fails("--yaml_path", "--yaml_path needs a value: FILE");
    fails("--yaml_path a -chek no", "unknown option \"-chek\", did you mean \"-check\"?");
    fails("-yaml_path a", "unknown option \"-yaml_path\", did you mean \"--yaml_path\"?");
    fails("--xyzzy a", "unknown option \"--xyzzy\"");
    fails("--yaml_path a --gbs 0", "--gbs: expected a whole number from 1 to 100, found \"0\"");
    fails("--yaml_path a --gbs 1.5", "--gbs: expected a whole number from 1 to 100, found \"1.5\"");
    fails("--yaml_path a -layer_ratio 11",
          "-layer_ratio: expected a number from 0 to 10, found \"11\"");
    fails("--yaml_path a -layer_ratio nan",
          "-layer_ratio: expected a number from 0 to 10, found \"nan\"");
    fails("--yaml_path a --size huge", "--size: \"huge\" is not small or large");
    fails("--yaml_path a -check maybe",
          "-check: \"maybe\" is not yes, true, t, y, 1, no, false, f, n or 0");
    fails("--yaml_path a --quiet=yes", "--quiet takes no value");
}
