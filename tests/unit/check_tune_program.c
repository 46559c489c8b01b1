/* Programs that measure layouts: how they are run, and how they end. */
#include "cli/tune/tune_journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 120};

enum { MOST = 8 };
static calc_tune_trial kept[MOST];
static size_t keeps;
static calc_errors errors;

static calc_status keep(void *context, const calc_tune_trial *trial, calc_errors *found)
{
    (void)context;
    (void)found;
    ck_assert_uint_lt(keeps, MOST);
    kept[keeps++] = *trial;
    return CALC_OK;
}

static calc_status run(const char *command, double timeout_s, int retries, size_t count,
                       bool *interrupted)
{
    calc_tune_program program = {.command = command, .timeout_s = timeout_s, .retries = retries};
    calc_tune_trial trial[MOST] = {0};
    sigset_t before;
    keeps = 0;
    errors = (calc_errors){0};
    sigemptyset(&program.signals);
    sigaddset(&program.signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &program.signals, &before);
    program.mask = before;
    for (size_t i = 0; i < count; i++) {
        trial[i] = (calc_tune_trial){.candidate = i, .exe = "a b", .layout = "3fa9c21e"};
    }
    calc_status status =
        calc_tune_program_run(&program, trial, count, keep, NULL, interrupted, &errors);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* One program. */
static void run_one(const char *command, double timeout_s, int retries)
{
    bool interrupted;
    ck_assert_int_eq(run(command, timeout_s, retries, 1, &interrupted), CALC_OK);
    ck_assert(!interrupted);
    ck_assert_uint_eq(keeps, 1);
}

CALC_TEST(what_a_program_prints_last_is_its_result)
{
    run_one("echo 7; echo 1.53s 61GiB; echo; echo ' '", 60, 0);
    ck_assert_double_eq(kept[0].step_s, 1.53);
    ck_assert_double_eq(kept[0].memory_bytes, 61 * 0x1p30);
    ck_assert_str_eq(kept[0].note, "");
    run_one("printf 2.5", 60, 0); /* a line without an end */
    ck_assert_double_eq(kept[0].step_s, 2.5);
    run_one("[ {exe} = 'a b' ] && echo 3", 60, 0);
    ck_assert_double_eq(kept[0].step_s, 3);
    run_one("cat; echo 4", 60, 0); /* standard input is empty */
    ck_assert_double_eq(kept[0].step_s, 4);
    run_one("head -c 300000 /dev/zero; echo; echo 5", 60, 0);
    ck_assert_double_eq(kept[0].step_s, 5);
    /* What it leaves running is not waited for. */
    char path[] = "/tmp/check_tune_program_XXXXXX";
    char command[256];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    snprintf(command, sizeof command, "sleep 600 2>/dev/null & echo $! >%s; echo 6", path);
    run_one(command, 600, 0);
    ck_assert_double_eq(kept[0].step_s, 6);
    snprintf(command, sizeof command, "kill $(cat %s); rm %s; echo 7", path, path);
    run_one(command, 60, 0);
    ck_assert_double_eq(kept[0].step_s, 7);
}

CALC_TEST(a_program_that_fails_says_why)
{
    static const struct {
        const char *command, *note;
        calc_tune_end end;
    } cases[] = {
        {"echo oom; exit 1", "", CALC_TUNE_END_OOM},
        {"echo failed", "", CALC_TUNE_END_FAILED},
        {"echo 1.5; exit 3", "exit status 3", CALC_TUNE_END_FAILED},
        {"kill -9 $$", "ended by signal 9", CALC_TUNE_END_FAILED},
        {"true", "it printed nothing", CALC_TUNE_END_FAILED},
        {"echo loss 2.3", "no time in its last line: loss 2.3", CALC_TUNE_END_FAILED},
        {"printf '\\001\\377'", "no time in its last line: \\x01\\xff", CALC_TUNE_END_FAILED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_one(cases[i].command, 60, 0);
        ck_assert_int_eq(kept[0].end, cases[i].end);
        ck_assert_str_eq(kept[0].note, cases[i].note);
        ck_assert_double_nan(kept[0].step_s);
    }
}

CALC_TEST(a_program_that_fails_is_run_again_and_counted_once)
{
    char folder[] = "/tmp/check_tune_program_XXXXXX";
    char command[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s; echo x >>tries; [ $(wc -l <tries) -lt 3 ] && exit 1; echo 1.5", folder);
    run_one(command, 60, 1);
    ck_assert_int_eq(kept[0].end, CALC_TUNE_END_FAILED);
    ck_assert_str_eq(kept[0].note, "exit status 1");
    run_one(command, 60, 1); /* its third try */
    ck_assert_int_eq(kept[0].end, CALC_TUNE_END_FINE);
    snprintf(command, sizeof command, "cd %s; echo x >>others; echo oom", folder);
    run_one(command, 60, 5);
    ck_assert_int_eq(kept[0].end, CALC_TUNE_END_OOM);
    snprintf(command, sizeof command, "wc -l <%s/others; rm -r %s", folder, folder);
    run_one(command, 60, 0);
    ck_assert_double_eq(kept[0].step_s, 1); /* oom is a result: it is not tried again */
}

CALC_TEST(a_program_that_takes_too_long_is_ended_with_what_it_started)
{
    run_one("sleep 600; echo 1", 0.2, 5);
    ck_assert_int_eq(kept[0].end, CALC_TUNE_END_FAILED);
    ck_assert_str_eq(kept[0].note, "timeout");
    run_one("yes", 0.2, 0); /* one that never stops printing */
    ck_assert_str_eq(kept[0].note, "timeout");
}

CALC_TEST(programs_run_side_by_side_in_slots_of_their_own)
{
    bool interrupted;
    /* Each waits for the other. */
    char folder[] = "/tmp/check_tune_program_XXXXXX";
    char command[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof command,
             "# {exe}\ncd %s; touch {slot}; until [ -e 0 ] && [ -e 1 ]; do sleep 0.01; done; "
             "echo 1{slot}",
             folder);
    ck_assert_int_eq(run(command, 60, 0, 2, &interrupted), CALC_OK);
    ck_assert_uint_eq(keeps, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_double_eq(kept[i].step_s, 10.0 + (double)kept[i].candidate);
    }
    snprintf(command, sizeof command, "rm -r %s; echo 1", folder);
    run_one(command, 60, 0);
}

CALC_TEST(a_command_that_is_not_there_is_an_error_and_no_measurement)
{
    bool interrupted;
    ck_assert_int_eq(run("/nowhere/launch {exe} 2>/dev/null", 60, 3, 1, &interrupted), CALC_ERR_IO);
    ck_assert_uint_eq(keeps, 0);
    ck_assert_str_eq(errors.item[0].text, "--command: the shell cannot run it: exit status 127");
}

CALC_TEST(a_signal_ends_programs_without_a_result)
{
    bool interrupted;
    char command[128];
    snprintf(command, sizeof command, "kill -USR1 %ld; sleep 600; echo 1", (long)getpid());
    ck_assert_int_eq(run(command, 60, 5, 2, &interrupted), CALC_OK);
    ck_assert(interrupted);
    ck_assert_uint_eq(keeps, 0);
}

static calc_status refuse(void *context, const calc_tune_trial *trial, calc_errors *found)
{
    (void)context;
    (void)trial;
    (void)found;
    return CALC_ERR_IO;
}

CALC_TEST(a_result_that_cannot_be_kept_ends_the_others)
{
    calc_tune_program program = {.command = "[ {slot} = 0 ] && echo 1 && exit; sleep 600",
                                 .timeout_s = 60};
    calc_tune_trial trial[2] = {{.exe = "a", .layout = "b"}, {.exe = "a", .layout = "b"}};
    bool interrupted;
    sigemptyset(&program.signals);
    sigemptyset(&program.mask);
    ck_assert_int_eq(calc_tune_program_run(&program, trial, 2, refuse, NULL, &interrupted, &errors),
                     CALC_ERR_IO);
    ck_assert(!interrupted);
}
