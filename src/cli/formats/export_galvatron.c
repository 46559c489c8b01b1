#include "cli/formats/export_galvatron.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/shell/complain.h"
#include "galvatron/layout.h"
#include "galvatron/synthesis.h"

typedef struct files {
    calc_output *out[CALC_GALVATRON_FILE_COUNT];
    char path[CALC_GALVATRON_FILE_COUNT][CALC_GALVATRON_FILE_PATH_SIZE];
} profile_files;

static calc_status open_files(profile_files *files, const calc_galvatron_request *request,
                              const char *folder, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int file = 0; file < CALC_GALVATRON_FILE_COUNT && status == CALC_OK; file++) {
        char name[256];
        calc_galvatron_file_name(request, (calc_galvatron_file)file, name, sizeof name);
        int length = snprintf(files->path[file], sizeof files->path[file], "%s/%s", folder, name);
        if (length >= (int)sizeof files->path[file]) {
            return calc_errors_at(errors, CALC_ERR_IO, folder, 0, 0, NULL, "the name is too long");
        }
        status = calc_output_open(&files->out[file], files->path[file], errors);
    }
    return status;
}

/* Closes all files, or removes those already closed if one fails. */
static calc_status close_files(profile_files *files, calc_status status, calc_errors *errors)
{
    int closed = 0;
    for (int file = 0; file < CALC_GALVATRON_FILE_COUNT; file++) {
        status = calc_output_end(files->out[file], status, errors);
        closed += status == CALC_OK;
    }
    for (int file = 0; file < closed && status != CALC_OK; file++) {
        unlink(files->path[file]);
    }
    return status;
}

calc_status calc_export_profile(const calc_app *app, const calc_system *system,
                                const calc_galvatron_request *request, const char *folder,
                                calc_errors *errors)
{
    profile_files files = {0};
    const calc_galvatron_synthesis synthesis = {.app = app, .system = system, .request = request};
    calc_status status = calc_galvatron_synthesis_check(&synthesis, errors);
    if (status != CALC_OK) {
        return status;
    }
    bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST) {
        return calc_errors_at(errors, CALC_ERR_IO, folder, 0, 0, NULL, "%s", strerror(errno));
    }
    status = open_files(&files, request, folder, errors);
    for (int file = 0; file < CALC_GALVATRON_FILE_COUNT && status == CALC_OK; file++) {
        calc_galvatron_synthesis_write(&synthesis, (calc_galvatron_file)file, files.out[file]);
    }
    status = close_files(&files, status, errors);
    if (made && status != CALC_OK) {
        rmdir(folder);
    }
    return status;
}

calc_status calc_export_strategies(const calc_app *app, const calc_exec *exec, const char *path,
                                   bool *refused, calc_errors *errors)
{
    calc_galvatron_layout *layout = malloc(sizeof *layout);
    calc_errors reasons = {0};
    if (!layout) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = CALC_OK;
    calc_output *out;
    *refused = calc_galvatron_layout_from(layout, app, exec, &reasons) != CALC_OK;
    if (*refused) {
        calc_say("%s\n", reasons.item[0].text);
    } else {
        status = calc_output_open(&out, path, errors);
    }
    if (status == CALC_OK && !*refused) {
        int64_t multiple = calc_galvatron_layout_multiple(layout);
        if (layout->gbsz % multiple != 0) {
            calc_say(CALC_GALVATRON_MULTIPLE "\n", (long long)layout->gbsz, (long long)multiple);
        }
        calc_galvatron_layout_write(layout, out);
        status = calc_output_close(out, errors);
    }
    free(layout);
    return status;
}
