#include "scratch.h"

#include "frame.h"
#include "io/output.h"
#include "io/text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

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

static calc_output *opened(const char *path)
{
    calc_output *out = NULL;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open(&out, path, &errors), CALC_OK);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(errors.count, 0);
    return out;
}

static void cannot_open(const char *path, const char *printed)
{
    calc_output *out;
    calc_errors errors = {0};
    char line[512];
    ck_assert_int_eq(calc_output_open(&out, path, &errors), CALC_ERR_IO);
    ck_assert_ptr_null(out);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    /* Whoever writes all the same is told when it is closed. */
    errors = (calc_errors){0};
    out = calc_output_to(path);
    calc_output_printf(out, "%d", 1);
    ck_assert_int_eq(errors.count, 0);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_ERR_IO);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(lstat(path, &status), 0);
    return status.st_mode;
}

CALC_TEST(json_in_markup_has_no_less_than)
{
    calc_output *out = opened("a");
    calc_output_text(out, "<a>");
    calc_output_in_markup(out, true);
    calc_output_text(out, "<\"x<<y</\"");
    calc_output_printf(out, "%s", "");
    calc_output_write(out, "<b", 1);
    calc_output_in_markup(out, false);
    calc_output_text(out, "</a>\n");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("a", "<a>\\u003c\"x\\u003c\\u003cy\\u003c/\"\\u003c</a>\n");
}

/* Where standard input is closed a file has its descriptor, 0. */
CALC_TEST(any_descriptor_may_be_written)
{
    close(STDIN_FILENO);
    calc_output *out = opened("a");
    calc_output_text(out, "one");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("a", "one");
}

CALC_TEST(a_file_appears_when_it_is_closed)
{
    calc_output *out = opened("a");
    calc_output_text(out, "one ");
    calc_output_write(out, "two\0", 3);
    calc_output_printf(out, " %d\n", 3);
    ck_assert_int_eq(access("a", F_OK), -1);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("a", "one two 3\n");
    ck_assert_int_eq(scratch_count(), 1);
}

CALC_TEST(a_new_file_obeys_the_umask)
{
    mode_t before = umask(027);
    ck_assert_int_eq(calc_output_close(opened("a"), NULL), CALC_OK);
    umask(before);
    ck_assert_uint_eq(mode_of("a") & 0777, 0640);
}

CALC_TEST(an_old_file_is_replaced_and_keeps_its_mode)
{
    scratch_write("a", "old", 3);
    ck_assert_int_eq(chmod("a", 0604), 0);
    calc_output *out = opened("a");
    calc_output_text(out, "new");
    scratch_is("a", "old");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("a", "new");
    ck_assert_uint_eq(mode_of("a") & 0777, 0604);
}

CALC_TEST(a_discarded_file_leaves_the_old_one)
{
    scratch_write("a", "old", 3);
    calc_output *out = opened("a");
    calc_output_text(out, "new");
    ck_assert_int_eq(scratch_count(), 2);
    calc_output_discard(out);
    scratch_is("a", "old");
    ck_assert_int_eq(scratch_count(), 1);
    calc_output_discard(NULL);
    ck_assert_int_eq(calc_output_close(NULL, NULL), CALC_OK);
}

CALC_TEST(two_writers_of_one_name_do_not_mix)
{
    calc_output *first = opened("a");
    calc_output *second = opened("a");
    calc_output_text(first, "first");
    calc_output_text(second, "second");
    ck_assert_int_eq(calc_output_close(first, NULL), CALC_OK);
    scratch_is("a", "first");
    ck_assert_int_eq(calc_output_close(second, NULL), CALC_OK);
    scratch_is("a", "second");
    ck_assert_int_eq(scratch_count(), 1);
}

CALC_TEST(a_symbolic_link_stays_one)
{
    scratch_write("a", "old", 3);
    ck_assert_int_eq(symlink("a", "link"), 0);
    calc_output *out = opened("link");
    calc_output_text(out, "new");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert(S_ISLNK(mode_of("link")));
    scratch_is("a", "new");
}

CALC_TEST(names_ending_in_gz_are_compressed)
{
    calc_output *out = opened("a.gz");
    for (int i = 0; i < 1000; i++) {
        calc_output_text(out, "0123456789");
    }
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    struct stat status;
    ck_assert_int_eq(stat("a.gz", &status), 0);
    ck_assert_int_lt((int)status.st_size, 500);
    calc_text text;
    ck_assert_int_eq(calc_text_read(&text, "a.gz", NULL), CALC_OK);
    ck_assert_uint_eq(text.length, 10000);
    ck_assert_mem_eq(text.data + 9990, "0123456789", 10);
    calc_text_free(&text);
}

CALC_TEST(long_formatted_text_is_whole)
{
    char word[3000];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    calc_output *out = opened("a");
    calc_output_printf(out, "%s", word);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("a", word);
    word[1024] = '\0';
    out = opened("a");
    calc_output_printf(out, "%s", word);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("a", word);
}

CALC_TEST(devices_and_pipes_are_written_in_place)
{
    ck_assert_int_eq(calc_output_close(opened("/dev/null"), NULL), CALC_OK);
    ck_assert(S_ISCHR(mode_of("/dev/null")));
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    calc_output *out = opened("fifo");
    calc_output_text(out, "abc");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    char bytes[4] = "";
    ck_assert_int_eq(read(reader, bytes, 3), 3);
    ck_assert_str_eq(bytes, "abc");
    ck_assert(S_ISFIFO(mode_of("fifo")));
    ck_assert_int_eq(close(reader), 0);
}

CALC_TEST(what_cannot_be_opened_is_named)
{
    cannot_open(".", ".: cannot write: Is a directory");
    cannot_open("none/a", "none/a: cannot write: No such file or directory");
    ck_assert_int_eq(symlink("none", "dangling"), 0);
    cannot_open("dangling", "dangling: cannot write: No such file or directory");
    scratch_write("read-only", "x", 1);
    ck_assert_int_eq(chmod("read-only", 0400), 0);
    if (access("read-only", W_OK) != 0) { /* root may write everything */
        cannot_open("read-only", "read-only: cannot write: Permission denied");
    }
}

CALC_TEST(a_full_disk_is_reported_when_closed)
{
    calc_errors errors = {0};
    char line[512];
    calc_output *out = opened("/dev/full");
    calc_output_text(out, "abc");
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_ERR_IO);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, "/dev/full: cannot write: No space left on device");
}

CALC_TEST(a_folder_that_vanished_is_reported_when_closed)
{
    ck_assert_int_eq(mkdir("sub", 0700), 0);
    calc_output *out = opened("sub/a");
    ck_assert_int_eq(rename("sub", "moved"), 0);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_ERR_IO);
    char leftover[64];
    snprintf(leftover, sizeof leftover, "moved/a.%ld.0.tmp", (long)getpid());
    ck_assert_int_eq(remove(leftover), 0);
}

CALC_TEST(standard_output_is_flushed_and_stays_open)
{
    int saved = dup(STDOUT_FILENO);
    int file = open("out", O_WRONLY | O_CREAT, 0600);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    printf("a");
    calc_output *out = opened("-");
    calc_output_text(out, "b");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("out", "ab");
    out = opened("/dev/stdout");
    calc_output_text(out, "c");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("out", "abc");
    dup2(saved, STDOUT_FILENO);
    close(file);
}

CALC_TEST(a_closed_reader_of_standard_output_is_reported)
{
    signal(SIGPIPE, SIG_IGN);
    calc_errors errors = {0};
    char line[512];
    int pipes[2];
    int saved = dup(STDOUT_FILENO);
    ck_assert_int_eq(pipe(pipes), 0);
    fflush(stdout);
    dup2(pipes[1], STDOUT_FILENO);
    close(pipes[0]);
    close(pipes[1]);
    calc_output *out = opened("-");
    calc_output_text(out, "b");
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_ERR_IO);
    dup2(saved, STDOUT_FILENO);
    clearerr(stdout);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, "<stdout>: cannot write: Broken pipe");
}

CALC_TEST(what_is_taken_from_memory_is_what_was_written_since)
{
    calc_output *out;
    size_t length = 1;
    ck_assert_int_eq(calc_output_open_memory(&out, NULL, NULL), CALC_OK);
    ck_assert_ptr_null(calc_output_take(out, &length));
    ck_assert_uint_eq(length, 0);
    for (size_t size = 1; size < 100000; size = 3 * size + 1) {
        for (size_t i = 0; i < size; i++) {
            calc_output_write(out, &"ab"[i % 2], 1);
        }
        calc_output_printf(out, "%zu", size);
        char end[32];
        const char *text = calc_output_take(out, &length);
        snprintf(end, sizeof end, "%zu", size);
        ck_assert_uint_eq(length, size + strlen(end));
        for (size_t i = 0; i < size; i++) {
            ck_assert_int_eq(text[i], "ab"[i % 2]);
        }
        ck_assert_mem_eq(text + size, end, strlen(end));
    }
    calc_output_discard(out);
}

/* Pieces of all sizes around that of the buffer. */
CALC_TEST(pieces_of_any_size_stay_in_order)
{
    static char piece[200000];
    static const size_t size[] = {1, 65535, 65536, 1, 0, 65537, 200000, 7, 65534, 65535, 3};
    const char *const name[] = {"a", "a.gz"};
    memset(piece, 'x', sizeof piece);
    for (int n = 0; n < 2; n++) {
        calc_output *out = opened(name[n]);
        size_t total = 0;
        for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
            calc_output_printf(out, "%c", (char)('a' + i));
            calc_output_write(out, piece, size[i]);
            total += size[i] + 1;
        }
        ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
        calc_text text = {0};
        ck_assert_int_eq(calc_text_read(&text, name[n], NULL), CALC_OK);
        ck_assert_uint_eq(text.length, total);
        for (size_t i = 0, at = 0; i < sizeof size / sizeof *size; at += size[i] + 1, i++) {
            ck_assert_int_eq(text.data[at], (int)('a' + i));
        }
        calc_text_free(&text);
    }
}

CALC_TEST(memory_holds_what_was_written)
{
    calc_output *out;
    calc_text text;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_output_text(out, "one");
    calc_output_printf(out, " %d", 2);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_str_eq(text.data, "one 2");
    ck_assert_uint_eq(text.length, 5);
    calc_text_free(&text);
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_uint_eq(text.length, 0);
    calc_text_free(&text);
    ck_assert_int_eq(scratch_count(), 0);
}
