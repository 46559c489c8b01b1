/* main() of every test program. */
#include "frame.h"
#include "sampled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A weak definition would not do: clang takes the value of a constant from it. */
extern const calc_test_frame calc_tests __attribute__((weak));

static calc_test *first;

void __wrap__mark_point(const char *file, int line);

/* Check notes where a test is at every comparison that holds, by a write() to a file: a third of
 * the processor time of unit and property tests. A debugger or a sanitizer tells where one crashed.
 */
void __wrap__mark_point(const char *file, int line)
{
    (void)file;
    (void)line;
}

/* Compilers may call the constructors of a file in any order. */
void calc_test_add(calc_test *test, int from, int to)
{
    calc_test **at = &first;
    while (*at && (*at)->test.line < test->test.line) {
        at = &(*at)->next;
    }
    test->from = from;
    test->to = to;
    test->next = *at;
    *at = test;
}

/* ---- Tests that are text --------------------------------------------------------------------- */

static const calc_test_frame *frame;
static char *cases; /* the whole file */

static const char *line_after(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

/* What was said, with its bytes <0D> and repetitions <100*x>. */
static char *expand(const char *said)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    for (; *said; said++) {
        unsigned byte;
        int count, used = 0;
        if (sscanf(said, "<%d*%n", &count, &used) == 1 && used > 0) {
            size_t unit = strcspn(said + used, ">");
            while (count-- > 0) {
                fwrite(said + used, 1, unit, file);
            }
            said += (size_t)used + unit;
        } else if (sscanf(said, "<%2X>%n", &byte, &used) == 1 && used == 4) {
            fputc((int)byte, file);
            said += 3;
        } else {
            fputc(*said, file);
        }
    }
    fclose(file);
    return text;
}

static void answer(char *said, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    char *expanded = expand(said);
    frame->answer(expanded, memory);
    free(expanded);
    fclose(memory);
    for (const char *at = text, *next; *at; at = next) {
        next = line_after(at);
        fprintf(out, *at == '\n' ? ">%.*s" : "> %.*s", (int)(next - at), at);
    }
    fputs(!text[0] ? ">\n" : text[strlen(text) - 1] != '\n' ? "\n" : "", out);
    free(text);
    said[0] = '\0';
}

/* The lines of a test with the answers that they get. */
static char *answered(const char *from, const char *to)
{
    char *said = calloc(1, (size_t)(to - from) + 1);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (const char *at = from, *next; at < to; at = next) {
        next = line_after(at);
        if (*at != '>') {
            fprintf(out, "%.*s", (int)(next - at), at);
            strncat(said, at, at == from || *at == '%' ? 0 : (size_t)(next - at));
        } else if (said[0]) {
            answer(said, out);
        }
    }
    if (said[strspn(said, "\n")]) { /* it has none in the file */
        answer(said, out);
    }
    fclose(out);
    free(said);
    return text;
}

/* The end of the test that begins here: the next line "= NAME", or the end of the file. */
static const char *end_of(const char *test)
{
    const char *end = strstr(test, "\n= ");
    return end ? end + 1 : test + strlen(test);
}

static FILE *update; /* the same with the answers of today; NULL: they are checked */
static char update_path[512];

static void run_case(int at)
{
    const char *want = cases + at, *end = end_of(want);
    char *text = answered(want, end);
    const char *got = text;
    int line = 1;
    for (const char *c = cases; c < want; c++) {
        line += *c == '\n';
    }
    for (; want < end && !update; line++) {
        const char *next = line_after(want), *after = line_after(got);
        size_t length = (size_t)(next - want);
        ck_assert_msg((size_t)(after - got) == length && memcmp(want, got, length) == 0,
                      "%s:%d: expected\n%.*sfound\n%.*s", frame->cases, line, (int)length, want,
                      (int)(after - got), got);
        want = next;
        got = after;
    }
    ck_assert(update ? fputs(text, update) >= 0 : got[0] == '\0');
    free(text);
}

/* Reads the file, and adds its tests. */
static bool add_cases(void)
{
    char path[512];
    snprintf(path, sizeof path, CALC_TEST_DATA "/%s", frame->cases);
    FILE *file = fopen(path, "r");
    size_t size = 0;
    if (!file || getdelim(&cases, &size, '\0', file) < 0 || strncmp(cases, "= ", 2) != 0) {
        return false;
    }
    fclose(file);
    int line = 1;
    for (const char *at = cases, *next; *at; at = next) {
        calc_test *test = calloc(1, sizeof *test);
        char *name = strndup(at + 2, strcspn(at + 2, "\n"));
        test->test = (TTest){name, run_case, frame->cases, line};
        calc_test_add(test, (int)(at - cases), (int)(at - cases) + 1);
        for (next = end_of(at); at < next; at++) {
            line += *at == '\n';
        }
    }
    snprintf(update_path, sizeof update_path, CALC_TEST_DATA "/%s.new", frame->cases);
    update = getenv("CALC_UPDATE") ? fopen(update_path, "w") : NULL;
    return true;
}

/* The answers of today take the place of the file, unless a test had none. */
static void put_cases(bool all)
{
    char path[512];
    snprintf(path, sizeof path, CALC_TEST_DATA "/%s", frame->cases);
    if (update && (fclose(update) != 0 || !all || rename(update_path, path) != 0)) {
        remove(update_path);
    }
}

int main(int count, char **argument)
{
    (void)count;
    const char *slash = strrchr(argument[0], '/');
    const char *name = slash ? slash + 1 : argument[0];
    static const calc_test_frame plain;
    frame = &calc_tests ? &calc_tests : &plain;
    char ask[64];
    snprintf(ask, sizeof ask, "command -v %s > /dev/null", frame->needs ? frame->needs : "");
    if (frame->needs && system(ask) != 0) {
        printf("skipped: %s is not installed\n", frame->needs);
        return 77;
    }
    if (frame->cases && !add_cases()) {
        printf("%s cannot be read\n", frame->cases);
        return EXIT_FAILURE;
    }
    TCase *tests = tcase_create(name);
    /* Check's own limit is 4 seconds, which any test may need on a busy machine. */
    tcase_set_timeout(tests, frame->timeout_s);
    tcase_add_checked_fixture(tests, frame->setup, frame->teardown);
    tcase_add_unchecked_fixture(tests, frame->setup_once, frame->teardown_once);
    /* The name of the one that runs; all are written. */
    const char *only = update ? NULL : getenv("CALC_TEST");
    /* All in the preset release, one of two in dev, of three with sanitizers, of six in quick. */
    int number = 0, every = frame->drawn && !update && !only ? sample_step() / 4 : 1;
    for (const calc_test *t = first; t; t = t->next, number++) {
        if (only ? strcmp(only, t->test.name) == 0 : every < 2 || number % every == 0) {
            _tcase_add_test(tests, &t->test, t->signal, 0, t->from, t->to);
        }
    }
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    if (frame->in_one_process || update) {
        srunner_set_fork_status(runner, CK_NOFORK);
    }
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    put_cases(failed == 0);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
