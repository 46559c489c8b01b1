/* The words of a command line: src/cli/shell/opt.c. */

#include "cli/shell/opt.h"
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
    static const char *const wrong[] = {"", "x", "3x", "-1", "11", "2.5", "nan"};
    double number = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(!calc_opt_number(wrong[i], true, 0, 10, &number), "%s", wrong[i]);
    }
    ck_assert_double_eq(number, 7);
    ck_assert(calc_opt_number("10", true, 0, 10, &number) && number == 10);
    ck_assert(calc_opt_number("2.5", false, 0, 10, &number) && number == 2.5);
}
