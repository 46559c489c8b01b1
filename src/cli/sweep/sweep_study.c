#include "cli/sweep/sweep_study.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/sweep/sweep_opts.h"
#include "cli/sweep/sweep_read.h"
#include "session/study_load.h"

/* Who reads the documents of a study. */
typedef struct reading {
    const calc_inputs *read; /* what was read already; NULL: names are loaded */
    calc_input pool;         /* of a prefill pool */
} reading;

static calc_status add(calc_sweep_study *study, const calc_input *input, calc_kind kind,
                       const void *object, calc_errors *errors)
{
    char remark[CALC_REMARK_SIZE];
    calc_designs_builder *b = &study->builder;
    calc_status status = kind == CALC_KIND_APP ? calc_designs_add_app(b, input->name, object)
                                               : calc_designs_add_system(b, input->name, object);
    return status == CALC_OK
               ? calc_sweep_read_note(study, input->name, &input->text,
                                      calc_input_remark(input, kind, object, remark), errors)
               : calc_errors_no_memory(errors);
}

static calc_status add_document(void *context, calc_sweep_study *study, calc_kind kind,
                                const char *name, calc_errors *errors)
{
    const calc_inputs *read = ((const reading *)context)->read;
    union {
        calc_app app;
        calc_system system;
    } object;
    if (read) {
        bool app = kind == CALC_KIND_APP;
        return add(study, &read->input[kind], kind,
                   app ? (const void *)&read->app : (const void *)&read->system, errors);
    }
    calc_input input = {0};
    calc_status status = calc_input_load(&input, kind, &object, name, errors);
    status = status == CALC_OK ? add(study, &input, kind, &object, errors) : status;
    calc_text_free(&input.text);
    return status;
}

static const char *load_pool(void *context, const char *name, calc_system *system,
                             calc_errors *errors)
{
    calc_input *pool = &((reading *)context)->pool;
    return calc_input_load(pool, CALC_KIND_SYSTEM, system, name, errors) == CALC_OK ? pool->name
                                                                                    : NULL;
}

static calc_status load_file(calc_sweep_study *study, calc_space_entries *file, const char *space,
                             calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_status status = calc_find(CALC_KIND_EXEC, space, path, errors);
    char name[256];
    status = status == CALC_OK ? calc_space_load(file, path, errors) : status;
    return status == CALC_OK ? calc_sweep_read_note(study, calc_find_name(path, name, sizeof name),
                                                    &file->text, "", errors)
                             : status;
}

calc_status calc_sweep_study_load(calc_sweep_study *study, const calc_args *args,
                                  const calc_inputs *read, calc_errors *errors)
{
    const char *const *argument = args->argument;
    size_t count = args->argument_count;
    const char *space = count == 1 ? argument[0] : count > 2 ? argument[2] : NULL;
    reading documents = {.read = read, .pool = {.text = {0}}};
    calc_study_source source = {.app = read || count == 0 ? "gpt3-175B"
                                       : count > 1        ? argument[0]
                                                          : NULL,
                                .system = read || count == 0 ? "h100_80g_nvl8"
                                          : count > 1        ? argument[1]
                                                             : NULL,
                                .standard = !read && count == 0,
                                .document = add_document,
                                .prefill = load_pool,
                                .context = &documents,
                                .find = calc_find_document};
    calc_space_option *use = calloc(args->use_count + 1, sizeof *use);
    if (!use) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < args->use_count; i++) {
        use[i] = (calc_space_option){calc_sweep_opts[args->use[i].opt].name, args->use[i].value};
    }
    source.use = use;
    source.uses = args->use_count;
    calc_status status = space ? load_file(study, &source.file, space, errors) : CALC_OK;
    status = status == CALC_OK ? calc_study_load(study, &source, errors) : status;
    calc_space_entries_free(&source.file);
    calc_text_free(&documents.pool.text);
    free(use);
    return status;
}
