/* main() of every test program. */
#include "frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A weak definition would not do: clang takes the value of a constant from it. */
extern const calc_test_frame calc_tests __attribute__((weak));

static calc_test *first;

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

int main(int count, char **argument)
{
    (void)count;
    const char *slash = strrchr(argument[0], '/');
    const char *name = slash ? slash + 1 : argument[0];
    static const calc_test_frame plain;
    const calc_test_frame *frame = &calc_tests ? &calc_tests : &plain;
    char ask[64];
    snprintf(ask, sizeof ask, "command -v %s > /dev/null", frame->needs ? frame->needs : "");
    if (frame->needs && system(ask) != 0) {
        printf("skipped: %s is not installed\n", frame->needs);
        return 77;
    }
    TCase *tests = tcase_create(name);
    /* Check's own limit is 4 seconds, which any test may need on a busy machine. */
    tcase_set_timeout(tests, frame->timeout_s);
    tcase_add_checked_fixture(tests, frame->setup, frame->teardown);
    tcase_add_unchecked_fixture(tests, frame->setup_once, frame->teardown_once);
    for (const calc_test *t = first; t; t = t->next) {
        _tcase_add_test(tests, &t->test, t->signal, 0, t->from, t->to);
    }
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    if (frame->in_one_process) {
        srunner_set_fork_status(runner, CK_NOFORK);
    }
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
