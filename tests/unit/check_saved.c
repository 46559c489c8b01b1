
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/draft.h"
#include "checkpoint.h"
#include "frame.h"
#include "scratch.h"
#include "sweep_case.h"

static char folder[256];
static sweep_case c;
static calc_sweep_result whole; /* what one sweep without interruption finds */

static void enter(void)
{
    calc_errors errors = {0};
    scratch_enter(folder, sizeof folder);
    sweep_case_init(&c);
    ck_assert_int_eq(calc_sweep(&c.space, &c.designs, &c.options, &whole, &errors), CALC_OK);
    ck_assert_uint_gt(whole.group[0].front.count, 3);
}

static void leave(void)
{
    calc_sweep_result_free(&whole);
    calc_space_free(&c.space);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_status sweep(const calc_saving *saving, calc_sweep_result *result, calc_errors *errors)
{
    return calc_saved_sweep(&c.space, &c.designs, &c.options, saving, result, errors);
}

static void fails(const calc_saving *saving, calc_status status, const char *printed)
{
    calc_errors errors = {0};
    calc_sweep_result result;
    char line[1200];
    ck_assert_int_eq(sweep(saving, &result, &errors), status);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_sweep_result_free(&result);
}

/* options.progress: count the calls, and stop at a certain one. */
typedef struct calls {
    int count, stop_at;
} calls;

static bool count_call(void *context, const calc_sweep_progress *progress)
{
    calls *made = context;
    ck_assert(progress->done <= progress->total);
    return ++made->count == made->stop_at;
}

static const calc_shard all = {.index = 1, .count = 1};

CALC_TEST(without_a_checkpoint_it_is_a_sweep)
{
    const calc_saving saving = {.shard = all};
    calc_errors errors = {0};
    calc_sweep_result result;
    ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
    sweep_case_same(&result, &whole);
    ck_assert_int_eq(scratch_count(), 0);
    calc_sweep_result_free(&result);
}

CALC_TEST(shards_together_find_what_one_sweep_finds)
{
    calc_sweep_result sum = {0};
    for (uint64_t i = 1; i <= 3; i++) {
        const calc_saving saving = {.path = "part", .shard = {i, 3, i - 1}};
        calc_errors errors = {0};
        calc_sweep_result result;
        calc_checkpoint part;
        ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
        ck_assert(!result.partial);
        ck_assert_uint_gt(result.counts.total, 0);
        ck_assert_uint_lt(result.counts.total, whole.counts.total);
        ck_assert_int_eq(calc_checkpoint_read(&part, "part", &errors), CALC_OK);
        ck_assert_uint_eq(part.shard.next, CALC_SHARD_DONE);
        sweep_case_same(&part.result, &result);
        if (i == 1) {
            sum = result;
        } else {
            ck_assert_int_eq(calc_sweep_merge(&c.options, &sum, &part.result), CALC_OK);
            calc_sweep_result_free(&result);
        }
        calc_checkpoint_free(&part);
    }
    sweep_case_same(&sum, &whole);
    calc_sweep_result_free(&sum);
}

CALC_TEST(a_sweep_that_was_stopped_goes_on_and_finds_the_same)
{
    int resumed = 0;
    c.options.checkpoint_s = HUGE_VAL;
    for (int stop_at = 1;; stop_at += 2) {
        c.options.threads = 1 + stop_at / 2 % 3;
        calls made = {.stop_at = stop_at};
        calc_saving saving = {.path = "part", .shard = all};
        calc_errors errors = {0};
        calc_sweep_result result;
        calc_checkpoint part;
        c.options.progress = count_call;
        c.options.progress_context = &made;
        ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
        bool stopped = result.partial;
        ck_assert_int_eq(calc_checkpoint_read(&part, "part", &errors), CALC_OK);
        ck_assert_uint_gt(part.shard.next, 0); /* what was done is saved, however soon it ended */
        sweep_case_same(&part.result, &result);
        calc_checkpoint_free(&part);
        calc_sweep_result_free(&result);
        c.options.progress = NULL;
        saving.resume = true;
        ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
        ck_assert(!result.partial);
        sweep_case_same(&result, &whole);
        calc_sweep_result_free(&result);
        if (!stopped &&
            c.options.threads == 1) { /* of several the first one may find little to do */
            break;
        }
        resumed += stopped;
    }
    ck_assert_int_gt(resumed, 3);
}

CALC_TEST(a_finished_sweep_is_not_done_again)
{
    calls made = {0};
    const calc_saving saving = {.path = "part", .resume = true, .shard = all};
    calc_errors errors = {0};
    calc_sweep_result result;
    c.options.progress = count_call;
    c.options.progress_context = &made;
    ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK); /* there is no file yet */
    ck_assert_int_gt(made.count, 3);
    calc_sweep_result_free(&result);
    made.count = 0;
    ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
    ck_assert_int_eq(made.count, 0);
    sweep_case_same(&result, &whole);
    calc_sweep_result_free(&result);
}

CALC_TEST(without_resume_an_old_checkpoint_is_replaced)
{
    const calc_saving saving = {.path = "part", .shard = all};
    calc_errors errors = {0};
    calc_sweep_result result;
    scratch_write("part", "old", 3);
    ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
    calc_sweep_result_free(&result);
    calc_checkpoint part;
    ck_assert_int_eq(calc_checkpoint_read(&part, "part", &errors), CALC_OK);
    sweep_case_same(&part.result, &whole);
    calc_checkpoint_free(&part);
}

CALC_TEST(another_sweep_or_shard_does_not_go_on)
{
    calc_saving saving = {.path = "part", .shard = {1, 2, 0}};
    calc_errors errors = {0};
    calc_sweep_result result;
    ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
    calc_sweep_result_free(&result);
    saving = (calc_saving){.path = "part", .resume = true, .shard = {2, 2, 1}};
    fails(&saving, CALC_ERR_RANGE, "part: belongs to shard 1/2, not 2/2");
    saving.shard = (calc_shard){1, 2, 0};
    c.options.top++;
    fails(&saving, CALC_ERR_RANGE,
          "part: belongs to another sweep\n"
          "  hint: inputs, space, objectives and options must be the same");
    scratch_write("part", "old", 3);
    fails(&saving, CALC_ERR_SYNTAX, "part: not a checkpoint or part of a sweep");
    scratch_is("part", "old");
}

CALC_TEST(a_checkpoint_that_cannot_be_written_costs_no_work)
{
    calls made = {0};
    const calc_saving saving = {.path = "none/part", .shard = all};
    c.options.progress = count_call;
    c.options.progress_context = &made;
    fails(&saving, CALC_ERR_IO, "none/part: cannot write: No such file or directory");
    ck_assert_int_eq(made.count, 0);
}

static int unsaved; /* calls of warn() */

static void warn(const calc_error *error)
{
    ck_assert_str_eq(error->file, "part");
    ck_assert_str_eq(error->text, "cannot write: File too large");
    unsaved++;
}

/* options.progress: from now on nothing can be written, as on a disk that is full. */
static bool fill_disk(void *context, const calc_sweep_progress *progress)
{
    (void)context;
    (void)progress;
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    return false;
}

CALC_TEST(checkpoints_that_fail_are_told_once_and_the_result_is_whole)
{
    const calc_saving saving = {.path = "part", .shard = all, .unsaved = warn};
    calc_errors errors = {0};
    calc_sweep_result result;
    char line[1200];
    c.options.progress = fill_disk;
    ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_ERR_IO);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, "part: cannot write: File too large");
    ck_assert(!result.partial);
    ck_assert_int_eq(unsaved, 1);
    sweep_case_same(&result, &whole);
    calc_sweep_result_free(&result);
}

CALC_TEST(two_processes_do_not_save_one_sweep)
{
    int ready[2];
    char byte, printed[128];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        calc_lock lock;
        long owner;
        if (calc_lock_take(&lock, "part", &owner) == 0 && write(ready[1], "x", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    calc_saving saving = {.path = "part", .shard = all};
    snprintf(printed, sizeof printed, "part: another sweep is being saved there, by process %ld",
             (long)child);
    fails(&saving, CALC_ERR_IO, printed);
    saving.resume = true;
    fails(&saving, CALC_ERR_IO, printed);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    calc_errors errors = {0};
    calc_sweep_result result;
    ck_assert_int_eq(sweep(&saving, &result, &errors), CALC_OK);
    sweep_case_same(&result, &whole);
    calc_sweep_result_free(&result);
    ck_assert_int_eq(scratch_count(), 1); /* the lock that the killed one left is gone, too */
}
