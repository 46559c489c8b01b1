#include "mindspeed/evidence.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "mindspeed/exec.h"
#include "mindspeed/modules.h"

static bool exec_of(const void *context, const calc_mindspeed_config *config, calc_app *app,
                    calc_exec *exec)
{
    const calc_mindspeed_evidence *e = context;
    calc_errors ignored = {0};
    return calc_mindspeed_exec_of(&e->study->arguments->plan, config, app, exec, &ignored) ==
           CALC_OK;
}

/* Profiles that calc_mindspeed_evidence_time() has read. */
static bool modules_of(const void *context, const calc_mindspeed_config *config,
                       calc_mindspeed_module_times *out)
{
    const calc_mindspeed_evidence *e = context;
    (void)config;
    *out = e->modules;
    return e->has_modules;
}

calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                          const calc_mindspeed_study *study,
                                          const calc_mindspeed_sampling *sampling,
                                          calc_errors *errors)
{
    const calc_mindspeed_arguments *a = study->arguments;
    *out = (calc_mindspeed_evidence){.study = study};
    calc_status status = calc_mindspeed_folder_read(&out->folder, study->profiles, errors);
    if (status != CALC_OK) {
        return status;
    }
    const calc_mindspeed_cache *cache = out->folder.cache.count > 0 ? &out->folder.cache : NULL;
    calc_mindspeed_operators_start(&out->operators, &a->job, &a->app, study->system, cache,
                                   sampling);
    out->started = true;
    out->judge = (calc_mindspeed_judge){.job = &a->job,
                                        .system = study->system,
                                        .exec = exec_of,
                                        .exec_context = out,
                                        .operators = &out->operators,
                                        .comm = &out->folder.comm,
                                        .modules = modules_of,
                                        .modules_context = out};
    if (out->folder.kernels.count == 0) {
        calc_notes_add(&out->notes, "%s has no kernels: operators are calc's", study->profiles);
    }
    if (out->folder.comm.count == 0) {
        calc_notes_add(&out->notes, "%s has no comm_prof.csv: collectives are calc's",
                       study->profiles);
    }
    status = calc_mindspeed_operators_learn(&out->operators, out->folder.kernels.item,
                                            out->folder.kernels.count, errors);
    return status ? status : calc_mindspeed_operators_fit(&out->operators, errors);
}

/* @return true if the configuration has no profile or a valid one */
static bool read_modules(calc_mindspeed_evidence *e, const calc_mindspeed_config *config)
{
    const calc_mindspeed_study *s = e->study;
    calc_mindspeed_profile p;
    calc_errors errors = {0};
    e->has_modules = false;
    if (s->generation != CALC_MINDSPEED_GEN2) {
        return true;
    }
    calc_status status = calc_mindspeed_modules_read(&p, s->profiles, &s->arguments->job,
                                                     s->generation, config, &errors);
    if (status == CALC_OK) {
        e->modules = (calc_mindspeed_module_times){
            .embedding_s = p.time_s[CALC_MINDSPEED_EMBEDDING],
            .layer_s = p.time_s[CALC_MINDSPEED_LAYER],
            .norm_s = p.time_s[CALC_MINDSPEED_FINAL_NORM],
            .head_s = p.time_s[CALC_MINDSPEED_OUTPUT],
            .loss_s = p.time_s[CALC_MINDSPEED_LOSS],
            .backward = p.forward_s > 0 ? p.backward_s / p.forward_s : 2};
        e->has_modules = true;
        e->profiled++;
    }
    calc_notes_take(&e->notes, &errors);
    return status == CALC_OK || status == CALC_ERR_NOT_FOUND;
}

bool calc_mindspeed_evidence_time(void *evidence, const calc_mindspeed_config *config,
                                  double *samples_s, size_t count)
{
    calc_mindspeed_evidence *e = evidence;
    return read_modules(e, config) && calc_mindspeed_time(&e->judge, config, samples_s, count);
}

void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence)
{
    if (evidence->started) {
        calc_mindspeed_operators_free(&evidence->operators);
    }
    calc_mindspeed_folder_free(&evidence->folder);
}

enum { PATH_SIZE = 4096, DEPTH = 5, MOST_FILES = 4096 };

typedef char path_text[PATH_SIZE];

/* Paths of kernel_details.csv. */
typedef struct found {
    path_text *item;
    size_t count, capacity;
} found;

static bool joined(path_text out, const char *folder, const char *name)
{
    return snprintf(out, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* @return false if out of memory */
static bool keep(found *f, const char *path)
{
    path_text *list = calc_grown(f->item, f->count, &f->capacity, sizeof *list);
    if (!list) {
        return false;
    }
    f->item = list;
    snprintf(f->item[f->count++], PATH_SIZE, "%s", path);
    return true;
}

/* Visits folders by depth, upper ones first. @return false if out of memory */
static bool search(found *details, const char *root)
{
    found folders = {0};
    size_t end = 0;
    bool good = keep(&folders, root);
    for (size_t at = 0, depth = 0; good && at < folders.count && depth <= DEPTH; depth++) {
        for (end = folders.count; good && at < end; at++) {
            path_text path, folder;
            snprintf(folder, sizeof folder, "%s", folders.item[at]);
            DIR *stream = opendir(folder);
            for (struct dirent *entry; good && stream && (entry = readdir(stream));) {
                if (entry->d_name[0] == '.' || !joined(path, folder, entry->d_name) ||
                    folders.count + details->count > MOST_FILES) {
                    continue;
                }
                good = is_folder(path) ? keep(&folders, path)
                                       : strcmp(entry->d_name, "kernel_details.csv") != 0 ||
                                             keep(details, path);
            }
            if (stream) {
                closedir(stream);
            }
        }
    }
    free(folders.item);
    return good;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Appends the kernels of a file. */
static calc_status add_details(calc_mindspeed_folder *out, const char *path, calc_errors *errors)
{
    calc_mindspeed_kernels more = {0}, *all = &out->kernels;
    calc_status status = calc_mindspeed_kernels_read(&more, path, errors);
    if (status == CALC_OK && more.count > 0) {
        calc_mindspeed_timed *list = realloc(all->item, (all->count + more.count) * sizeof *list);
        if (list) {
            memcpy(list + all->count, more.item, more.count * sizeof *list);
            all->item = list;
            all->count += more.count;
        } else {
            status = calc_errors_no_memory(errors);
        }
    }
    all->others += more.others;
    all->brief += more.brief;
    all->odd += more.odd;
    out->details++;
    calc_mindspeed_kernels_free(&more);
    return status;
}

calc_status calc_mindspeed_folder_read(calc_mindspeed_folder *out, const char *path,
                                       calc_errors *errors)
{
    path_text file;
    found details = {0};
    *out = (calc_mindspeed_folder){0};
    if (!is_folder(path)) {
        return calc_errors_at(errors, CALC_ERR_NOT_FOUND, path, 0, 0, NULL, "no such folder");
    }
    calc_status status = CALC_OK;
    if (joined(file, path, "comm_prof.csv") && is_file(file)) {
        status = calc_mindspeed_comm_read(&out->comm, file, errors);
    }
    if (status == CALC_OK && joined(file, path, "operator_cache.csv") && is_file(file)) {
        status = calc_mindspeed_cache_read(&out->cache, file, errors);
    }
    if (status == CALC_OK && !search(&details, path)) {
        status = calc_errors_no_memory(errors);
    }
    if (details.count > 1) {
        qsort(details.item, details.count, sizeof *details.item, compare);
    }
    for (size_t i = 0; i < details.count && status == CALC_OK; i++) {
        status = add_details(out, details.item[i], errors);
    }
    free(details.item);
    return status;
}

void calc_mindspeed_folder_free(calc_mindspeed_folder *folder)
{
    calc_mindspeed_kernels_free(&folder->kernels);
    calc_mindspeed_cache_free(&folder->cache);
    calc_mindspeed_comm_free(&folder->comm);
}
