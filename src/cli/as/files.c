#include "cli/as/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

calc_status calc_as_make_folder(const char *path, calc_errors *errors)
{
    char part[CALC_AS_PATH_SIZE];
    size_t length = strlen(path);
    struct stat info;
    int code = length < sizeof part ? 0 : ENAMETOOLONG;
    for (size_t i = 1; i <= length && code == 0; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            code = errno;
        }
    }
    if (code == 0 && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
        code = ENOTDIR;
    }
    return code == 0 ? CALC_OK
                     : calc_errors_at(errors, CALC_ERR_IO, path, 0, 0, NULL,
                                      "cannot make the folder: %s", strerror(code));
}

char *calc_as_path(const char *folder, const char *name, char path[CALC_AS_PATH_SIZE])
{
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] == '/';
    snprintf(path, CALC_AS_PATH_SIZE, "%s%s%s", folder, slash || length == 0 ? "" : "/", name);
    return path;
}

calc_status calc_as_write(const char *folder, const char *name, const char *text, size_t length,
                          calc_errors *errors)
{
    char path[CALC_AS_PATH_SIZE];
    calc_output *out;
    calc_status status = calc_output_open(&out, calc_as_path(folder, name, path), errors);
    if (status == CALC_OK) {
        calc_output_write(out, text, length);
        status = calc_output_close(out, errors);
    }
    return status;
}
