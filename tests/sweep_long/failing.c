/* Preloaded: allocation number $FAIL_AT of a process fails, and all after it with $FAIL_ALL. With
 * $FAIL_COUNT their number is written to that file at the end. Likewise operation $FAIL_IO_AT on
 * files, how $FAIL_IO says: by a number of errno; "short", writing half; "kill", writing half and
 * dying. $FAIL_IO_COUNT gets their number. Standard streams never fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long made, operations;
static long fail_at, fail_io_at;
static const char *fail_io;
static bool all;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_AT");
    all = getenv("FAIL_ALL") != NULL;
    made = 0;
    fail_at = text ? atol(text) : 0;
    text = getenv("FAIL_IO_AT");
    fail_io_at = text ? atol(text) : 0;
    fail_io = getenv("FAIL_IO");
}

static void tell(const char *variable, long count)
{
    const char *path = getenv(variable);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", count);
        fclose(file);
    }
}

__attribute__((destructor)) static void end(void)
{
    long count = made;
    long done = operations;
    fail_at = fail_io_at = 0;
    tell("FAIL_COUNT", count);
    tell("FAIL_IO_COUNT", done);
}

static bool fails(void)
{
    long number = atomic_fetch_add(&made, 1) + 1;
    bool failed = fail_at > 0 && (number == fail_at || (all && number > fail_at));
    if (failed) {
        errno = ENOMEM;
    }
    return failed;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

/* Whether this operation fails, by errno. "short" is for write() alone: others succeed. */
static bool io_fails(void)
{
    long number = atomic_fetch_add(&operations, 1) + 1;
    bool failed = fail_io_at > 0 && (number == fail_io_at || (all && number > fail_io_at));
    if (failed && strcmp(fail_io, "short") != 0 && strcmp(fail_io, "kill") != 0) {
        errno = atoi(fail_io);
    } else if (failed) {
        errno = 0;
    }
    return failed;
}

static int io_result(int result)
{
    if (errno == 0 && strcmp(fail_io, "kill") == 0) {
        kill(getpid(), SIGKILL);
    }
    return errno == 0 ? result : -1;
}

ssize_t write(int file, const void *bytes, size_t length)
{
    if (file <= STDERR_FILENO || !io_fails()) {
        return syscall(SYS_write, file, bytes, length);
    }
    if (errno != 0) {
        return -1;
    }
    ssize_t written = syscall(SYS_write, file, bytes, length > 1 ? length / 2 : length);
    return io_result(0) == 0 ? written : -1;
}

int fsync(int file)
{
    return io_fails() && io_result(0) != 0 ? -1 : (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to)
{
    return io_fails() && io_result(0) != 0 ? -1 : (int)syscall(SYS_rename, from, to);
}

int close(int file)
{
    bool failed = file > STDERR_FILENO && io_fails();
    int code = failed ? io_result(0) : 0;
    int why = errno;
    int result = (int)syscall(SYS_close, file); /* the kernel closes it whatever it answers */
    errno = code != 0 ? why : errno;
    return code != 0 ? code : result;
}

/* The C library writes a stream without calling write() above. */
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file)
{
    size_t (*next)(const void *, size_t, size_t, FILE *) = dlsym(RTLD_NEXT, "fwrite");
    if (fileno(file) <= STDERR_FILENO || !io_fails()) {
        return next(bytes, size, count, file);
    }
    bool half = errno != 0 || strcmp(fail_io, "kill") == 0;
    int why = errno;
    size_t written = next(bytes, size, half ? count / 2 : count, file);
    errno = why;
    return io_result(0) == 0 ? written : count / 2;
}

int fclose(FILE *file)
{
    int (*next)(FILE *) = dlsym(RTLD_NEXT, "fclose");
    bool failed = fileno(file) > STDERR_FILENO && io_fails();
    int code = failed ? io_result(0) : 0;
    int why = errno;
    int result = next(file);
    errno = code != 0 ? why : errno;
    return code != 0 ? EOF : result;
}
