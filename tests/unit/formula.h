/** @file formula.h  Tests that are text: a case, what is set in it, and what its numbers are, as
 *  formulas. Lines of a test:
 *
 *      set zero_stage=2 sys.grouped.wgrad_bytes=5
 *          sets fields by the names that they have in files
 *      let pairs = A * T * T
 *          keeps a number under a name; max(a, b) and pow(a, b) are functions
 *      kept_bytes == 2 * T * H, launches.fw > 1
 *          compares: == to the bit, ~ but for the order of sums, and != < > <= >=; a == b == c is
 *          two. (frame.h repeats what follows "< 3*": say it the other way round.)
 *
 *  All others begin with a word of the program, and a % begins a remark. What does not hold ends
 *  the test, with both numbers. The answer to it is how many comparisons there were. */
#ifndef CALC_TEST_FORMULA_H
#define CALC_TEST_FORMULA_H

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "frame.h"
#include "small_case.h"

/** What a program knows beside. It defines these. */
typedef struct formula_language {
    calc_app *app; /**< what is set */
    calc_system *system;
    calc_exec *exec;
    /** Does what a line says, if its first word is one of the program's. */
    bool (*says)(const char *word, const char *rest);
    /** The operator that names stand for from now on, as [flash attention]. */
    void (*choose)(const char *name);
    bool (*value)(const char *name, double *out);
} formula_language;

extern const formula_language formulas;

typedef struct formula_name {
    char name[32];
    double value;
} formula_name;

static formula_name formula_let[64];
static size_t formula_lets, formula_checks;
static const char *formula_at, *formula_line;

#define formula_fail(...)                                                                          \
    do {                                                                                           \
        printf("%s\n", formula_line);                                                              \
        ck_abort_msg(__VA_ARGS__);                                                                 \
    } while (0)

static double formula_sum(void);

static bool formula_next(const char *what)
{
    formula_at += strspn(formula_at, " ");
    size_t length = strlen(what);
    bool is = strncmp(formula_at, what, length) == 0;
    formula_at += is ? length : 0;
    return is;
}

static double formula_named(const char *name)
{
    double value;
    for (size_t i = formula_lets; i-- > 0;) {
        if (strcmp(formula_let[i].name, name) == 0) {
            return formula_let[i].value;
        }
    }
    if (!formulas.value(name, &value)) {
        formula_fail("no number is called %s", name);
    }
    return value;
}

static double formula_factor(void)
{
    char name[64];
    if (formula_next("-")) {
        return -formula_factor();
    }
    if (formula_next("(")) {
        double inner = formula_sum();
        ck_assert_msg(formula_next(")"), "%s: no ) at %s", formula_line, formula_at);
        return inner;
    }
    if (formula_next("[")) {
        size_t length = strcspn(formula_at, "]");
        snprintf(name, sizeof name, "%.*s", (int)length, formula_at);
        formula_at += length + 1;
        formulas.choose(name);
        return formula_factor();
    }
    if (isdigit(*formula_at)) {
        char *end;
        double number = strtod(formula_at, &end);
        formula_at = end;
        return number;
    }
    size_t length = 0;
    while (isalnum(formula_at[length]) ||
           (formula_at[length] && strchr("_.", formula_at[length]))) {
        length++;
    }
    ck_assert_msg(length > 0, "%s: no number at %s", formula_line, formula_at);
    snprintf(name, sizeof name, "%.*s", (int)length, formula_at);
    formula_at += length;
    if (formula_at[0] != '(') {
        return formula_named(name);
    }
    formula_at++;
    double a = formula_sum(), b = formula_next(",") ? formula_sum() : NAN;
    ck_assert_msg(formula_next(")"), "%s: no ) at %s", formula_line, formula_at);
    ck_assert_msg(strcmp(name, "max") == 0 || strcmp(name, "pow") == 0, "no function is %s", name);
    return name[0] == 'm' ? fmax(a, b) : pow(a, b);
}

static double formula_product(void)
{
    double value = formula_factor();
    for (;;) {
        if (formula_next("*")) {
            value *= formula_factor();
        } else if (formula_next("/")) {
            value /= formula_factor();
        } else {
            return value;
        }
    }
}

static double formula_sum(void)
{
    double value = formula_product();
    for (;;) {
        if (formula_next("+")) {
            value += formula_product();
        } else if (formula_next("-")) {
            value -= formula_product();
        } else {
            return value;
        }
    }
}

static bool formula_holds(const char *how, double a, double b)
{
    return how[0] == '~'                    ? near(a, b)
           : how[0] == '='                  ? a == b
           : how[0] == '!'                  ? a != b
           : how[0] == '<' && how[1] == '=' ? a <= b
           : how[0] == '<'                  ? a < b
           : how[1] == '='                  ? a >= b
                                            : a > b;
}

/** Comparisons between commas. */
static void formula_compare(void)
{
    static const char *const hows[] = {"==", "~", "!=", "<=", ">=", "<", ">"};
    do {
        double left = formula_sum();
        size_t before = formula_checks;
        for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
            if (formula_next(hows[i])) {
                double right = formula_sum();
                if (!formula_holds(hows[i], left, right)) {
                    formula_fail("%.17g %s %.17g does not hold before '%s'", left, hows[i], right,
                                 formula_at);
                }
                formula_checks++;
                left = right;
                i = (size_t)-1;
            }
        }
        ck_assert_msg(formula_checks > before, "%s: nothing is compared", formula_line);
    } while (formula_next(","));
    ck_assert_msg(!formula_at[0], "%s: what is %s?", formula_line, formula_at);
}

static inline double formula_number(const char *text)
{
    formula_at = text;
    return formula_sum();
}

static void formula_set(char *rest)
{
    for (char *word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
        calc_errors errors = {0};
        if (calc_set(formulas.app, formulas.system, formulas.exec, word, NULL, &errors) !=
            CALC_OK) {
            formula_fail("%s: %s", word, errors.item[0].text);
        }
    }
    formulas.says("set", rest);
}

/** The answer to a test: calc_test_frame.answer. */
static inline void formula_answer(const char *said, FILE *out)
{
    char *text = strdup(said), *rest;
    formula_lets = formula_checks = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char word[32] = "";
        int used = 0;
        line[strcspn(line, "%")] = '\0';
        for (size_t end = strlen(line); end > 0 && line[end - 1] == ' ';) {
            line[--end] = '\0';
        }
        formula_line = line;
        sscanf(line, "%31[a-z_] %n", word, &used);
        if (!line[0]) {
            continue;
        }
        if (strcmp(word, "set") == 0) {
            formula_set(line + used);
        } else if (strcmp(word, "let") == 0) {
            formula_name *let = &formula_let[formula_lets];
            ck_assert_uint_lt(formula_lets, sizeof formula_let / sizeof *formula_let);
            ck_assert_int_eq(sscanf(line + used, "%31[A-Za-z_0-9] = %n", let->name, &used), 1);
            let->value = formula_number(strchr(line, '=') + 2);
            ck_assert_msg(!formula_at[0], "%s: what is %s?", line, formula_at);
            formula_lets++;
        } else if (!formulas.says(word, line + used)) {
            formula_at = line;
            formula_compare();
        }
    }
    fprintf(out, "%zu hold\n", formula_checks);
    free(text);
}

#endif
