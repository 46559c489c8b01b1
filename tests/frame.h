/** @file frame.h  What a test program is made of: tests that add themselves. frame.c has main(),
 *  which runs them in the order of the file, each in a process of its own. */
#ifndef CALC_TEST_FRAME_H
#define CALC_TEST_FRAME_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>

/** CALC_TEST(what_must_hold) { ... } */
#define CALC_TEST(name) CALC_TEST_AS(name, 0, 0, 1)

/** A test for each _i from from to to - 1. The range is evaluated before main(). */
#define CALC_TEST_LOOP(name, from, to) CALC_TEST_AS(name, 0, from, to)

/** A test that must end by a signal. */
#define CALC_TEST_SIGNAL(name, signal) CALC_TEST_AS(name, signal, 0, 1)

#define CALC_TEST_AS(name, signal, from, to)                                                       \
    static void name(int);                                                                         \
    __attribute__((constructor)) static void calc_test_add_##name(void)                            \
    {                                                                                              \
        static calc_test test = {{#name, name, __FILE__, __LINE__}, signal, 0, 0, NULL};           \
        calc_test_add(&test, from, to);                                                            \
    }                                                                                              \
    static void name(int _i __attribute__((unused)))

typedef struct calc_test {
    TTest test;
    int signal; /**< 0: it must return */
    int from, to;
    struct calc_test *next;
} calc_test;

void calc_test_add(calc_test *test, int from, int to);

/** How the tests of a program run. In a file of cases a line "= NAME" begins a test, a line that
 *  begins with "%" is a remark, lines that begin with ">" are the answer to the lines before them.
 *  <0D> is a byte there, and <100*x> a hundred times x. CALC_UPDATE=1 writes the answers. */
typedef struct calc_test_frame {
    void (*setup)(void), (*teardown)(void); /**< before and after each test, in its process */
    void (*setup_once)(void), (*teardown_once)(void); /**< before and after all, in their parent */
    double timeout_s;                                 /**< 0: CTest ends what hangs */
    bool in_one_process; /**< tests see what the ones before them have left */
    bool drawn;          /**< tests are of a kind, and slow builds run some of them (CALC_SAMPLE) */
    const char *needs;   /**< a program; without it nothing runs, and the status is 77 */
    const char *cases;   /**< a file in tests/ whose tests are text; NULL: there is none */
    /** Answers what a test of that file says: some lines, and '\0'. Tests see a process each. */
    void (*answer)(const char *said, FILE *out);
} calc_test_frame;

/** A program defines it where anything in it is not 0. */
extern const calc_test_frame calc_tests;

#endif
