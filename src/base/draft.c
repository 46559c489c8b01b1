#include "base/draft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Locks ----------------------------------------------------------------------------------- */

/* @return 0, or errno: EAGAIN or EACCES if another process has it */
static int lock_file(int file, int command, struct flock *lock)
{
    *lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, command, lock) == 0 ? 0 : errno;
}

/* Whether the file is still the one of that name: its owner removes it when it is done. */
static bool is_at(int file, const char *path)
{
    struct stat own, named;
    return fstat(file, &own) == 0 && lstat(path, &named) == 0 && own.st_dev == named.st_dev &&
           own.st_ino == named.st_ino;
}

int calc_lock_take(calc_lock *out, const char *path, long *owner)
{
    char *real = realpath(path, NULL);
    const char *place = real ? real : path;
    size_t size = strlen(place) + sizeof ".lock";
    *out = (calc_lock){.path = malloc(size), .file = -1};
    int code = out->path ? 0 : ENOMEM;
    while (code == 0) {
        struct flock lock;
        snprintf(out->path, size, "%s.lock", place);
        out->file = open(out->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (out->file < 0) {
            break;
        }
        code = lock_file(out->file, F_SETLK, &lock);
        if (code == EAGAIN || code == EACCES) {
            *owner = lock_file(out->file, F_GETLK, &lock) == 0 ? (long)lock.l_pid : 0;
            code = EBUSY;
        } else if (code != 0 || is_at(out->file, out->path)) {
            break;
        }
        close(out->file);
    }
    free(real);
    if (code == EBUSY || code == ENOMEM || out->file < 0) {
        free(out->path);
        *out = (calc_lock){0};
        return code;
    }
    return 0;
}

void calc_lock_release(calc_lock *lock)
{
    if (lock->path) {
        unlink(lock->path); /* before the lock ends: afterwards it may be another's */
        close(lock->file);
    }
    free(lock->path);
    *lock = (calc_lock){0};
}

/* ---- Drafts ---------------------------------------------------------------------------------- */

/* The folder of a file, with its slash at the end. NULL if memory is short */
static char *folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    return slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup("./");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The process in "NAME.123.0.tmp", a draft of the file `name`; 0 if it is none. */
static long writer_of(const char *draft, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(draft, name, length) != 0 || draft[length] != '.' || !is_digit(draft[length + 1])) {
        return 0;
    }
    char *end;
    errno = 0;
    long process = strtol(draft + length + 1, &end, 10);
    bool numbered = errno == 0 && *end == '.' && is_digit(end[1]);
    return numbered && strcmp(end + 1 + strspn(end + 1, "0123456789"), ".tmp") == 0 ? process : 0;
}

/* Remove drafts of processes that are gone. A process on another machine, or of another container,
 * may only seem to be: such a draft is locked. */
static void remove_leftovers(const char *folder, const char *name)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        long process = writer_of(entry->d_name, name);
        if (process <= 0 || (pid_t)process != process || kill((pid_t)process, 0) == 0 ||
            errno != ESRCH) {
            continue;
        }
        struct flock lock;
        int file =
            openat(dirfd(entries), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0 && lock_file(file, F_SETLK, &lock) == 0) {
            unlinkat(dirfd(entries), entry->d_name, 0);
        }
        if (file >= 0) {
            close(file);
        }
    }
    if (entries) {
        closedir(entries);
    }
}

/* Create a new file beside the place. Not mkstemp(): the kernel applies the umask here, which a
 * library cannot read without changing it for all threads. @return 0 or errno */
static int create(calc_draft *draft)
{
    const char *name;
    char *folder = folder_of(draft->place, &name);
    size_t size = strlen(draft->place) + 48;
    draft->path = malloc(size);
    int code = folder && draft->path ? EEXIST : ENOMEM;
    if (code == EEXIST) {
        remove_leftovers(folder, name);
    }
    for (int i = 0; i < 1000 && code == EEXIST; i++) {
        struct flock lock;
        snprintf(draft->path, size, "%s.%ld.%d.tmp", draft->place, (long)getpid(), i);
        draft->file = open(draft->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        code = draft->file < 0 ? errno : 0;
        if (code == 0) { /* what cannot be locked is a draft nevertheless */
            lock_file(draft->file, F_SETLK, &lock);
        }
    }
    free(folder);
    return code;
}

int calc_draft_open(calc_draft *out, const char *path)
{
    struct stat old;
    *out = (calc_draft){.file = -1};
    bool is_new = stat(path, &old) != 0;
    int code = 0;
    if (is_new && (errno != ENOENT || lstat(path, &old) == 0)) {
        return errno; /* also a symbolic link that leads nowhere */
    }
    if (!is_new && !S_ISREG(old.st_mode)) { /* rename() would replace a device */
        return S_ISDIR(old.st_mode) ? EISDIR : EINVAL;
    }
    if (!is_new && access(path, W_OK) != 0) { /* rename() ignores the permissions of a file */
        return errno;
    }
    errno = ENOMEM;
    out->place = is_new ? strdup(path) : realpath(path, NULL);
    code = out->place ? create(out) : errno;
    if (code != 0) {
        free(out->path);
        free(out->place);
        *out = (calc_draft){.file = -1};
    } else if (!is_new) {
        fchmod(out->file, old.st_mode & 07777);
    }
    return code;
}

/* Some file systems cannot do it, and say so by EINVAL. @return 0 or errno */
static int sync_file(int file)
{
    return fsync(file) == 0 || errno == EINVAL ? 0 : errno;
}

/* Let the new name survive a loss of power, too. */
static int sync_folder(const char *path)
{
    const char *name;
    char *folder = folder_of(path, &name);
    int file = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int code = file >= 0 ? sync_file(file) : 0; /* one may write to a folder that one cannot read */
    if (file >= 0) {
        close(file);
    }
    free(folder);
    return code;
}

int calc_draft_keep(calc_draft *draft)
{
    int code = sync_file(draft->file);
    if (close(draft->file) != 0 && code == 0) {
        code = errno;
    }
    draft->file = -1;
    if (code == 0 && rename(draft->path, draft->place) != 0) {
        code = errno;
    }
    if (code == 0) {
        free(draft->path);
        draft->path = NULL;
        code = sync_folder(draft->place);
    }
    calc_draft_drop(draft);
    return code;
}

void calc_draft_drop(calc_draft *draft)
{
    if (draft->path && draft->file >= 0) {
        close(draft->file);
    }
    if (draft->path) {
        unlink(draft->path);
    }
    free(draft->path);
    free(draft->place);
    *draft = (calc_draft){.file = -1};
}
