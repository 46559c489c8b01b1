#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "frame.h"
#include "scratch.h"

static char folder[256];

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* The number of a process that is gone. */
static long gone(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    return child;
}

/* A process that opens a draft of "a" or takes the lock on it, and holds it until it is killed. */
static pid_t holder(bool lock)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        calc_draft draft;
        calc_lock held;
        long owner;
        bool fine = (lock ? calc_lock_take(&held, "a", &owner) : calc_draft_open(&draft, "a")) == 0;
        if (fine && write(ready[1], "x", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void end(pid_t child)
{
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static void write_draft(const char *path)
{
    calc_draft draft;
    ck_assert_int_eq(calc_draft_open(&draft, path), 0);
    ck_assert_int_eq(write(draft.file, "new", 3), 3);
    ck_assert_int_eq(calc_draft_keep(&draft), 0);
    ck_assert_ptr_null(draft.path);
    ck_assert_ptr_null(draft.place);
}

CALC_TEST(a_draft_takes_its_place_or_is_gone)
{
    calc_draft draft;
    scratch_write("a", "old", 3);
    ck_assert_int_eq(calc_draft_open(&draft, "a"), 0);
    ck_assert_int_eq(scratch_count(), 2);
    calc_draft_drop(&draft);
    calc_draft_drop(&draft);
    scratch_is("a", "old");
    ck_assert_int_eq(scratch_count(), 1);
    write_draft("a");
    scratch_is("a", "new");
    ck_assert_int_eq(scratch_count(), 1);
}

CALC_TEST(a_link_that_waits_in_the_place_of_a_draft_is_not_followed)
{
    char name[64];
    struct stat link;
    scratch_write("victim", "old", 3);
    snprintf(name, sizeof name, "a.%ld.0.tmp", (long)getpid());
    ck_assert_int_eq(symlink("victim", name), 0);
    ck_assert_int_eq(symlink("victim", "a.tmp"), 0);
    write_draft("a");
    scratch_is("a", "new");
    scratch_is("victim", "old");
    ck_assert_int_eq(lstat("a", &link), 0);
    ck_assert(S_ISREG(link.st_mode));
}

CALC_TEST(a_link_in_the_place_is_followed)
{
    struct stat link;
    ck_assert_int_eq(mkdir("b", 0777), 0);
    scratch_write("b/c", "old", 3);
    ck_assert_int_eq(symlink("b/c", "a"), 0);
    write_draft("a");
    scratch_is("b/c", "new");
    ck_assert_int_eq(lstat("a", &link), 0);
    ck_assert(S_ISLNK(link.st_mode));
    ck_assert_int_eq(remove("b/c"), 0);
}

CALC_TEST(only_what_is_a_file_can_be_replaced)
{
    calc_draft draft;
    ck_assert_int_eq(calc_draft_open(&draft, "."), EISDIR);
    ck_assert_int_eq(calc_draft_open(&draft, "/dev/null"), EINVAL);
    ck_assert_int_eq(calc_draft_open(&draft, "none/a"), ENOENT);
    ck_assert_int_eq(symlink("nowhere", "a"), 0);
    ck_assert_int_eq(calc_draft_open(&draft, "a"), ENOENT);
    ck_assert_ptr_null(draft.path);
    ck_assert_int_eq(scratch_count(), 1);
}

CALC_TEST(a_draft_that_cannot_take_its_place_is_removed)
{
    calc_draft draft;
    ck_assert_int_eq(calc_draft_open(&draft, "a"), 0);
    ck_assert_int_eq(mkdir("a", 0777), 0);
    ck_assert_int_eq(calc_draft_keep(&draft), EISDIR);
    ck_assert_int_eq(scratch_count(), 1);
}

CALC_TEST(drafts_of_killed_writers_are_removed_by_the_next)
{
    char left[64], other[64], cut[64];
    end(holder(false));
    ck_assert_int_eq(scratch_count(), 1);
    snprintf(left, sizeof left, "a.%ld.12.tmp", gone());
    snprintf(other, sizeof other, "b.%ld.0.tmp", gone());
    snprintf(cut, sizeof cut, "a.%ld.tmp", gone());
    scratch_write(left, "half", 4);
    scratch_write(other, "half", 4);
    scratch_write(cut, "half", 4);
    scratch_write("a.1x.0.tmp", "half", 4);
    scratch_write("a.0.0.tmp", "half", 4);
    scratch_write("a.99999999999999999999.0.tmp", "half", 4);
    ck_assert_int_eq(scratch_count(), 7);
    write_draft("a");
    ck_assert_int_eq(access(left, F_OK), -1);
    ck_assert_int_eq(access(other, F_OK), 0);
    ck_assert_int_eq(access(cut, F_OK), 0);
    ck_assert_int_eq(scratch_count(), 6);
}

CALC_TEST(the_draft_of_a_writer_at_work_stays)
{
    pid_t child = holder(false);
    write_draft("a");
    ck_assert_int_eq(scratch_count(), 2);
    end(child);
    write_draft("a");
    ck_assert_int_eq(scratch_count(), 1);
}

CALC_TEST(a_lock_is_held_by_one_process_and_dies_with_it)
{
    calc_lock lock;
    long owner = 0;
    pid_t child = holder(true);
    ck_assert_int_eq(calc_lock_take(&lock, "a", &owner), EBUSY);
    ck_assert_int_eq(owner, child);
    calc_lock_release(&lock); /* nothing is held */
    ck_assert_int_eq(access("a.lock", F_OK), 0);
    end(child);
    ck_assert_int_eq(calc_lock_take(&lock, "a", &owner), 0);
    ck_assert_int_eq(access("a.lock", F_OK), 0);
    calc_lock_release(&lock);
    ck_assert_int_eq(scratch_count(), 0);
}

CALC_TEST(two_names_of_one_file_have_one_lock)
{
    calc_lock lock;
    long owner;
    scratch_write("a", "old", 3);
    ck_assert_int_eq(symlink("a", "b"), 0);
    pid_t child = holder(true);
    ck_assert_int_eq(calc_lock_take(&lock, "b", &owner), EBUSY);
    end(child);
}

CALC_TEST(a_link_is_no_lock)
{
    calc_lock lock;
    long owner;
    scratch_write("victim", "old", 3);
    ck_assert_int_eq(symlink("victim", "a.lock"), 0);
    ck_assert_int_eq(calc_lock_take(&lock, "a", &owner), 0);
    ck_assert_ptr_null(lock.path);
    calc_lock_release(&lock);
    scratch_is("victim", "old");
}
