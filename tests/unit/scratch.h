/* A scratch folder, and files written and read as bytes. */
#ifndef CALC_TESTS_SCRATCH_H
#define CALC_TESTS_SCRATCH_H

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A new empty folder, current from now on. */
static inline void scratch_enter(char *folder, size_t size)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, size, "%s/calc-check-XXXXXX", parent ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

/* Entries of the current folder. */
static inline int scratch_count(void)
{
    int count = 0;
    DIR *dir = opendir(".");
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}

/* Remove the files in the scratch folder, and itself. */
static inline void scratch_leave(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            ck_assert_int_eq(remove(entry->d_name), 0);
        }
    }
    closedir(dir);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* In its place if it is there: file systems flush a file that is emptied and written anew, and
 * tests that damage one a thousand times would wait for the disk. */
static inline void scratch_write(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "r+b");
    file = file ? file : fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fflush(file), 0);
    ck_assert_int_eq(ftruncate(fileno(file), (off_t)length), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static inline void scratch_is(const char *path, const char *expected)
{
    char bytes[8192];
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing", path);
    size_t length = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[length] = '\0';
    ck_assert_str_eq(bytes, expected);
}

#endif
