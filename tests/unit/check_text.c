#include "scratch.h"

#include "frame.h"
#include "io/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

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

static void fails_with(const char *path, calc_status status, const char *printed)
{
    calc_text text;
    calc_errors errors = {0};
    char line[512];
    ck_assert_int_eq(calc_text_read(&text, path, &errors), status);
    ck_assert_ptr_null(text.data);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(all_bytes_are_read)
{
    calc_text text;
    scratch_write("a", "x\0y\n", 4);
    ck_assert_int_eq(calc_text_read(&text, "a", NULL), CALC_OK);
    ck_assert_uint_eq(text.length, 4);
    ck_assert_mem_eq(text.data, "x\0y\n", 5);
    calc_text_free(&text);
    calc_text_free(&text);
    ck_assert_ptr_null(text.data);
}

CALC_TEST(an_empty_file_is_an_empty_text)
{
    calc_text text;
    scratch_write("a", "", 0);
    ck_assert_int_eq(calc_text_read(&text, "a", NULL), CALC_OK);
    ck_assert_uint_eq(text.length, 0);
    ck_assert_str_eq(text.data, "");
    calc_text_free(&text);
}

CALC_TEST(sizes_around_the_first_buffer_are_read)
{
    enum { MOST = (1 << 16) + 2 };
    static char bytes[MOST];
    for (size_t i = 0; i < MOST; i++) {
        bytes[i] = (char)('a' + i % 26);
    }
    for (size_t size = MOST - 5; size <= MOST; size++) {
        calc_text text;
        scratch_write("a", bytes, size);
        ck_assert_int_eq(calc_text_read(&text, "a", NULL), CALC_OK);
        ck_assert_uint_eq(text.length, size);
        ck_assert_mem_eq(text.data, bytes, size);
        ck_assert_int_eq(text.data[size], '\0');
        calc_text_free(&text);
    }
}

CALC_TEST(compressed_files_are_decompressed)
{
    calc_text text;
    gzFile file = gzopen("a.gz", "wb");
    ck_assert_int_eq(gzputs(file, "hello"), 5);
    ck_assert_int_eq(gzclose(file), Z_OK);
    ck_assert_int_eq(calc_text_read(&text, "a.gz", NULL), CALC_OK);
    ck_assert_str_eq(text.data, "hello");
    calc_text_free(&text);
}

CALC_TEST(broken_compression_is_an_error)
{
    gzFile file = gzopen("whole.gz", "wb");
    for (int i = 0; i < 1000; i++) {
        gzprintf(file, "%d", i * i);
    }
    ck_assert_int_eq(gzclose(file), Z_OK);
    calc_text whole;
    ck_assert_int_eq(rename("whole.gz", "whole"), 0);
    ck_assert_int_eq(calc_text_read(&whole, "whole", NULL), CALC_OK);
    scratch_write("cut.gz", whole.data, whole.length / 2);
    fails_with("cut.gz", CALC_ERR_SYNTAX, "cut.gz: the compressed data is broken");
    whole.data[whole.length / 2] ^= 0x55;
    scratch_write("bad.gz", whole.data, whole.length);
    fails_with("bad.gz", CALC_ERR_SYNTAX, "bad.gz: the compressed data is broken");
    calc_text_free(&whole);
}

CALC_TEST(what_cannot_be_read_is_named)
{
    scratch_write("file", "x", 1);
    fails_with("missing", CALC_ERR_NOT_FOUND, "missing: no such file");
    fails_with("file/x", CALC_ERR_NOT_FOUND, "file/x: no such file");
    fails_with("", CALC_ERR_NOT_FOUND, "no such file");
    fails_with(".", CALC_ERR_NOT_FOUND, ".: is a folder, not a file");
}

CALC_TEST(a_file_without_permission_is_named)
{
    scratch_write("secret", "x", 1);
    ck_assert_int_eq(chmod("secret", 0), 0);
    if (access("secret", R_OK) != 0) { /* root may read everything */
        fails_with("secret", CALC_ERR_IO, "secret: Permission denied");
    }
}

CALC_TEST(a_file_beyond_the_limit_is_refused)
{
    int file = open("large", O_WRONLY | O_CREAT, 0600);
    ck_assert_int_eq(ftruncate(file, CALC_TEXT_MAX + 1), 0);
    ck_assert_int_eq(close(file), 0);
    fails_with("large", CALC_ERR_SYNTAX, "large: the file is larger than 64 MiB");
    calc_text text;
    ck_assert_int_eq(truncate("large", CALC_TEXT_MAX), 0);
    ck_assert_int_eq(calc_text_read(&text, "large", NULL), CALC_OK);
    ck_assert_uint_eq(text.length, CALC_TEXT_MAX);
    calc_text_free(&text);
}

CALC_TEST(a_dash_is_standard_input)
{
    calc_text text;
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert_int_eq(write(pipes[1], "abc", 3), 3);
    ck_assert_int_eq(close(pipes[1]), 0);
    ck_assert_int_eq(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
    ck_assert_int_eq(calc_text_read(&text, "-", NULL), CALC_OK);
    ck_assert_str_eq(text.data, "abc");
    calc_text_free(&text);
    ck_assert_int_eq(close(STDIN_FILENO), 0);
    fails_with("-", CALC_ERR_IO, "<stdin>: Bad file descriptor");
}
