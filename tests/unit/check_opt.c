/* The words of a command line: src/cli/shell/opt.c. */

#include "cli/shell/opt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/as/flags.h"
#include "cli/as/taylor.h"
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

/* Words between blanks, of the command that the first one names: "plain" with APP and REST,
 * "several" with FILEs, "chosen" with a choice. unit/check_opt.txt. */
static void answer(const char *said, FILE *out)
{
    const struct {
        const char *name;
        const calc_arg *rows;
    } forms[] = {{"plain", rows}, {"several", repeated}, {"chosen", chosen}};
    calc_command other = {.name = "test", .opts = opts};
    char line[256], *word[32];
    size_t count = 0, cursor = 0;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(said, "\n"), said);
    char *form = strtok(line, " ");
    while ((word[count] = strtok(NULL, " "))) {
        count++;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        other.args = strcmp(form, forms[i].name) == 0 ? forms[i].rows : other.args;
    }
    calc_args args;
    if (calc_opt_parse(&args, &other, count, word) != CALC_EXIT_OK) {
        fprintf(out, "%s\n", args.complaint);
    } else if (args.help) {
        fputs("help\n", out);
    } else {
        for (size_t i = 0; i < args.argument_count; i++) {
            fprintf(out, "%s ", args.argument[i]);
        }
        for (const char *value; (value = calc_opt_next(&args, OPT_SET, &cursor));) {
            fprintf(out, "set=%s%s ", value, calc_opt_is_stdout(&args, OPT_SET) ? " (stdout)" : "");
        }
        const char *value = calc_opt_value(&args, OPT_SET);
        fprintf(out, "color=%s%s; the last set: %s\n", calc_opt_value(&args, OPT_COLOR),
                calc_opt_value(&args, OPT_FLAG) ? " layers" : "", value ? value : "none");
        ck_assert(!calc_opt_is_stdout(&args, OPT_COLOR) && !calc_opt_is_stdout(&args, OPT_FLAG));
    }
    calc_opt_free(&args);
}

const calc_test_frame calc_tests = {.cases = "unit/check_opt.txt", .answer = answer};

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

/* All commands, those of other planners too; NULL behind the last. */
static const calc_command *command_at(size_t i)
{
    static const calc_command *const theirs[] = {
        &calc_as_taylor_nd, &calc_as_taylor_rank,      &calc_as_taylor_balance, &calc_as_aiak,
        &calc_as_galvatron, &calc_as_galvatron_paddle, &calc_as_mindspeed,      NULL};
    size_t own = 0;
    while (calc_command_list[own]) {
        own++;
    }
    return i < own ? calc_command_list[i] : theirs[i - own];
}

/* Whether the command takes a text as the number of an option; what it says of it else. */
static bool takes(const calc_command *of, const calc_opt *opt, const char *text)
{
    calc_args args;
    char name[64], refused[128];
    snprintf(name, sizeof name, "%s%s", opt->name[0] == '-' ? "" : "--", opt->name);
    snprintf(refused, sizeof refused, "%s: \"%s\" is not a ", name, text);
    (void)!calc_opt_parse(&args, of, 2, WORDS(name, (char *)text));
    bool fine = strncmp(args.complaint, refused, strlen(refused)) != 0;
    ck_assert_msg(fine || strstr(args.complaint, opt->kind == CALC_OPT_WHOLE ? "whole" : " from "),
                  "%s", args.complaint);
    ck_assert_msg(!fine || strstr(args.complaint, name) == NULL ||
                      strncmp(args.complaint, "missing", 7) == 0,
                  "%s", args.complaint);
    calc_opt_free(&args);
    return fine;
}

CALC_TEST(every_number_of_every_command_is_read_alike)
{
    static const char *const no_number[] = {"x",   "3x",  " 3",  "3 ",    "+3",  "0x3",  "0x1p3",
                                            "nan", "inf", "-",   "--3",   "3,4", "1e",   "e1",
                                            ".",   "1-1", "3\n", "1e999", "٣",   "1e1.5"};
    static const char *const not_whole[] = {"1.5", "1.0", "1e3", "1.", ".5"};
    size_t found = 0, count = sizeof no_number / sizeof *no_number;
    for (size_t c = 0; command_at(c); c++) {
        const calc_command *of = command_at(c);
        for (const calc_opt *opt = of->opts; opt->name; opt++) {
            bool whole = opt->kind == CALC_OPT_WHOLE;
            char text[32];
            if (!whole && opt->kind != CALC_OPT_NUMBER) {
                continue;
            }
            found++;
            for (size_t i = 0; i < count; i++) {
                ck_assert_msg(!takes(of, opt, no_number[i]), "%s %s", opt->name, no_number[i]);
            }
            for (size_t i = 0; whole && i < sizeof not_whole / sizeof *not_whole; i++) {
                ck_assert_msg(!takes(of, opt, not_whole[i]), "%s %s", opt->name, not_whole[i]);
            }
            const double edge[] = {opt->lo, opt->hi};
            for (size_t i = 0; i < 2; i++) {
                double beyond = whole ? (i ? 1 : -1) : (i ? 0.5 : -0.5) * fmax(edge[i], 1);
                snprintf(text, sizeof text, "%.*f", whole ? 0 : 6, edge[i]);
                ck_assert_msg(takes(of, opt, text), "%s %s", opt->name, text);
                snprintf(text, sizeof text, "%.*f", whole ? 0 : 6, edge[i] + beyond);
                ck_assert_msg(!takes(of, opt, text), "%s %s", opt->name, text);
            }
            ck_assert_msg(!opt->preset || takes(of, opt, opt->preset), "%s", opt->name);
            ck_assert_msg(takes(of, opt, "-0") == (opt->lo < 0), "%s", opt->name);
        }
    }
    ck_assert_uint_gt(found, 60);
}

/* One or several processors or sequences. */
static const char *value_of(const calc_opt *opt)
{
    const char *value = opt->value ? opt->value : "none";
    bool amount = strcmp(value, "MAX") == 0 || strcmp(value, "VALUES") == 0;
    return amount ? "N" : value;
}

/* Names of options that take another kind of value elsewhere: "--rows N" and "--rows NAME". */
CALC_TEST(a_name_of_an_option_has_one_meaning)
{
    size_t rows_found = 0, names = 0, two = 0;
    for (size_t c = 0; calc_command_list[c]; c++) {
        for (const calc_opt *opt = calc_command_list[c]->opts; opt->name; opt++) {
            bool known = false;
            for (size_t b = 0; b <= c; b++) {
                for (const calc_opt *o = calc_command_list[b]->opts; o->name && o != opt; o++) {
                    bool same = strcmp(o->name, opt->name) == 0;
                    known = known || same;
                    two += same && strcmp(value_of(o), value_of(opt)) != 0;
                    ck_assert_msg(!same || strcmp(value_of(o), value_of(opt)) == 0,
                                  "--%s %s of %s, %s of %s", o->name, value_of(o),
                                  calc_command_list[b]->name, value_of(opt),
                                  calc_command_list[c]->name);
                }
            }
            rows_found += !opt->unlisted;
            names += !known && !opt->unlisted;
        }
    }
    ck_assert_uint_eq(two, 0);
    ck_assert_msg(names <= 110 && rows_found <= 190, "%zu names, %zu rows", names, rows_found);
}

CALC_TEST(names_of_before_stand_for_those_of_today)
{
    static const char *const shown[] = {"band", "parts", NULL};
    static const calc_opt renamed[] = {{.name = "worst", .value = "N", .was = "rows"},
                                       {.name = "show",
                                        .value = "LIST",
                                        .choices = shown,
                                        .list = true,
                                        .repeated = true,
                                        .was = "bands=band breakdown=parts"},
                                       {0}};
    static const calc_command of = {.name = "test", .args = &rows[2], .opts = renamed};
    calc_args args;
    ck_assert_int_eq(calc_opt_parse(&args, &of, 4, WORDS("--rows", "3", "--breakdown", "--bands")),
                     CALC_EXIT_OK);
    ck_assert_str_eq(calc_opt_value(&args, 0), "3");
    ck_assert(calc_opt_lists(&args, 1, "band") && calc_opt_lists(&args, 1, "parts"));
    ck_assert(!calc_opt_lists(&args, 1, "par"));
    calc_opt_free(&args);
    ck_assert_int_eq(calc_opt_parse(&args, &of, 1, WORDS("--show=parts,band")), CALC_EXIT_OK);
    ck_assert(calc_opt_lists(&args, 1, "band") && calc_opt_lists(&args, 1, "parts"));
    calc_opt_free(&args);
    ck_assert_int_eq(calc_opt_parse(&args, &of, 1, WORDS("--bands=3")), CALC_EXIT_USAGE);
    ck_assert_str_eq(args.complaint, "--bands takes no value");
    calc_opt_free(&args);
    const char *instead;
    ck_assert_ptr_eq(calc_command_find("trace", &instead), &calc_cmd_run);
    ck_assert_str_eq(instead, "--trace=-");
    ck_assert_ptr_eq(calc_command_find("names", &instead), &calc_cmd_names);
    ck_assert_ptr_null(instead);
    ck_assert_str_eq(calc_command_list[CALC_COMMANDS_SHOWN]->name, "show names");
}

/* ---- Command lines of other programs --------------------------------------------------------- */

static const char *const sizes[] = {"small", "large", NULL};

#define FLAGS(X)                                                                                   \
    X(FILE, "--yaml_path", "FILE", .also = "--yaml_dir", .needed = true, .doc = "a")               \
    X(RATIO, "-layer_ratio", "R", CALC_OPT_IS_NUMBER(0, 10), .preset = "0.3", .doc = "b")          \
    X(COUNT, "--gbs", "N", CALC_OPT_IS_WHOLE(1, 100), .doc = "c")                                  \
    X(CHECK, "-check", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "yes", .doc = "d")               \
    X(SIZE, "--size", "SIZE", .choices = sizes, .doc = "e")                                        \
    X(SWITCH, "--quiet", NULL, .kind = CALC_OPT_BOOL, .doc = "f")                                  \
    X(LONE, "--shard", "0|1", .lone = true, .doc = "g")

enum { FLAGS(CALC_OPT_NUMBER) };
static const calc_opt flags[] = {FLAGS(CALC_OPT_ROW){0}};
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
    ck_assert_str_eq(calc_opt_value(&f, OPT_LONE), "0");
    ck_assert(parse(&f, "--yaml_path a --shard --gbs 7"));
    ck_assert_str_eq(calc_opt_value(&f, OPT_LONE), "true");
    ck_assert_double_eq(calc_opt_real(&f, OPT_COUNT), 7);
    ck_assert(parse(&f, "--yaml_path a --shard=0"));
    ck_assert_str_eq(calc_opt_value(&f, OPT_LONE), "0");
    ck_assert(parse(&f, "--yaml_path a --shard"));
    ck_assert_str_eq(calc_opt_value(&f, OPT_LONE), "true");
    calc_opt_free(&f);
}

CALC_TEST(one_file_is_taken_by_programs_that_have_one)
{
    calc_args f = {0};
    ck_assert(parse_for(&f, &with_file, "--gbs 7 search.yaml --yaml_path a"));
    ck_assert_str_eq(f.argument[0], "search.yaml");
    ck_assert_double_eq(calc_opt_real(&f, OPT_COUNT), 7);
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
    ck_assert_str_eq(calc_opt_value(&f, OPT_FILE), "a");
    ck_assert_double_eq(calc_opt_real(&f, OPT_RATIO), 0.5);
    ck_assert_double_eq(calc_opt_real(&f, OPT_COUNT), 8);
    ck_assert_str_eq(calc_opt_value(&f, OPT_SIZE), "small");
    ck_assert(calc_opt_given(&f, OPT_COUNT) && !calc_opt_given(&f, OPT_CHECK));
    calc_opt_free(&f);
}

CALC_TEST(what_is_not_given_is_preset_or_nothing)
{
    calc_args f = {0};
    ck_assert(parse(&f, "--yaml_dir b"));
    ck_assert_str_eq(calc_opt_value(&f, OPT_FILE), "b");
    ck_assert_double_eq(calc_opt_real(&f, OPT_RATIO), 0.3);
    ck_assert_double_eq(calc_opt_real(&f, OPT_COUNT), 0);
    ck_assert(calc_opt_truth(&f, OPT_CHECK));
    ck_assert(!calc_opt_truth(&f, OPT_SWITCH));
    ck_assert_ptr_null(calc_opt_value(&f, OPT_SIZE));
    ck_assert(parse(&f, "--yaml_dir b --quiet"));
    ck_assert(calc_opt_truth(&f, OPT_SWITCH));
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
        ck_assert(parse(&f, line) && calc_opt_truth(&f, OPT_CHECK));
        snprintf(line, sizeof line, "--yaml_path a -check %s", no[i]);
        ck_assert(parse(&f, line) && !calc_opt_truth(&f, OPT_CHECK));
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
    fails("--yaml_path a --gbs 0", "--gbs: \"0\" is not a whole number from 1 to 100");
    fails("--yaml_path a --gbs 1.5", "--gbs: \"1.5\" is not a whole number from 1 to 100");
    fails("--yaml_path a -layer_ratio 11", "-layer_ratio: \"11\" is not a number from 0 to 10");
    fails("--yaml_path a -layer_ratio nan", "-layer_ratio: \"nan\" is not a number from 0 to 10");
    fails("--yaml_path a --size huge", "--size: \"huge\" is not small or large");
    fails("--yaml_path a -check maybe",
          "-check: \"maybe\" is not yes, true, t, y, 1, no, false, f, n or 0");
    fails("--yaml_path a --quiet=yes", "--quiet takes no value");
}
