#include "mindspeed/modules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/json_numbers.h"
#include "io/text.h"

enum { PATH_SIZE = 4096 };

static const char *const modules[] = {"embedding",    "0",    "final_layernorm",
                                      "output_layer", "loss", NULL};

/* The meaning of a number in a file: a key, or a key in a module. */
typedef struct place {
    const char *key;
    size_t offset; /* in the profile; for modules, the place of the first one */
    bool in_module;
    double scale; /* factor to seconds or GiB */
} place;

#define PLACE(member) offsetof(calc_mindspeed_profile, member)
static const place first[] = {{"step_time", PLACE(step_s), false, 1},
                              {"transformer_act_mem", PLACE(layer_gib), false, 1}};
static const place second[] = {{"step_time", PLACE(step_s), false, 1e-3},
                               {"forward_step_time", PLACE(forward_s), false, 1e-3},
                               {"backward_step_time", PLACE(backward_s), false, 1e-3},
                               {"time", PLACE(time_s), true, 1e-3},
                               {"memory", PLACE(memory_gib), true, 1},
                               {"max_memory", PLACE(most_gib), true, 1}};

typedef struct reading {
    calc_mindspeed_profile *out;
    const place *places;
    size_t count;
} reading;

static int module_of(const char *key)
{
    for (int i = 0; modules[i]; i++) {
        if (strcmp(modules[i], key) == 0) {
            return i;
        }
    }
    return -1;
}

static double *number_of(calc_mindspeed_profile *p, const place *at, int module)
{
    return (double *)(void *)((char *)p + at->offset) + (at->in_module ? module : 0);
}

/* The place of a number; NULL: it is not read. */
static const place *find(const reading *r, const char *const *key, int depth)
{
    for (size_t i = 0; i < r->count; i++) {
        const place *at = &r->places[i];
        if (depth == 1 + at->in_module && strcmp(key[depth - 1], at->key) == 0 &&
            (!at->in_module || module_of(key[0]) >= 0)) {
            return at;
        }
    }
    return NULL;
}

static calc_json_number_use take(void *context, const char *const *key, int depth,
                                 const double *value)
{
    const reading *r = context;
    if (depth == 1 && r->places == second && module_of(key[0]) >= 0) {
        return CALC_JSON_NUMBER_INSIDE;
    }
    const place *at = find(r, key, depth);
    if (at && value) {
        *number_of(r->out, at, depth == 2 ? module_of(key[0]) : 0) = *value * at->scale;
    }
    return at ? CALC_JSON_NUMBER_TAKEN : CALC_JSON_NUMBER_IGNORED;
}

/* Requires everything that the second generation writes, or either number of the first. */
static calc_status complete(const reading *r, const char *name, calc_errors *errors)
{
    const calc_mindspeed_profile *p = r->out;
    if (r->places == first) {
        return isnan(p->step_s) && isnan(p->layer_gib)
                   ? calc_errors_at(errors, CALC_ERR_FIELD, name, 0, 0, NULL,
                                    "neither step_time nor transformer_act_mem is there")
                   : CALC_OK;
    }
    for (size_t i = 0; i < r->count; i++) {
        const place *at = &r->places[i];
        for (int m = 0; m < (at->in_module ? CALC_MINDSPEED_MODULES : 1); m++) {
            if (isnan(*number_of(r->out, at, m))) {
                return calc_errors_at(errors, CALC_ERR_FIELD, name, 0, 0, NULL, "missing %s%s%s",
                                      at->in_module ? modules[m] : "", at->in_module ? "/" : "",
                                      at->key);
            }
        }
    }
    return CALC_OK;
}

static void clear(calc_mindspeed_profile *p)
{
    p->step_s = p->layer_gib = p->forward_s = p->backward_s = NAN;
    for (int i = 0; i < CALC_MINDSPEED_MODULES; i++) {
        p->time_s[i] = p->memory_gib[i] = p->most_gib[i] = NAN;
    }
}

calc_status calc_mindspeed_modules_parse(calc_mindspeed_profile *out,
                                         calc_mindspeed_generation generation, const char *text,
                                         size_t length, const char *name, calc_errors *errors)
{
    bool old = generation == CALC_MINDSPEED_GEN1;
    reading r = {out, old ? first : second,
                 old ? sizeof first / sizeof *first : sizeof second / sizeof *second};
    const calc_json_numbers reader = {.context = &r, .take = take};
    clear(out);
    calc_status status = calc_json_numbers_parse(&reader, text, length, name, errors);
    return status ? status : complete(&r, name, errors);
}

calc_mindspeed_config calc_mindspeed_modules_crop(const calc_mindspeed_job *job,
                                                  calc_mindspeed_generation generation,
                                                  const calc_mindspeed_config *config)
{
    calc_mindspeed_config crop = *config;
    if (generation == CALC_MINDSPEED_GEN2) {
        int ranks = config->tp * config->cp * config->up;
        crop.pp = crop.vpp = 1;
        crop.dp = job->nodes * job->per_node / ranks;
    }
    return crop;
}

/* @return CALC_ERR_NOT_FOUND without an error if the file does not exist */
static calc_status read_named(calc_mindspeed_profile *out, const char *folder,
                              const calc_mindspeed_config *config,
                              calc_mindspeed_generation generation, const char *node,
                              calc_errors *errors)
{
    char path[PATH_SIZE], name[CALC_MINDSPEED_NAME];
    calc_text text = {0};
    calc_errors own = {0};
    calc_mindspeed_config_name(config, generation, name);
    int length = snprintf(path, sizeof path, "%s/%s%s_MODULE.json", folder, name, node);
    if (length >= (int)sizeof path) {
        return calc_errors_at(errors, CALC_ERR_IO, folder, 0, 0, NULL, "the name is too long");
    }
    calc_status status = calc_text_read(&text, path, &own);
    if (status == CALC_OK) {
        status =
            calc_mindspeed_modules_parse(out, generation, text.data, text.length, path, errors);
    } else if (status != CALC_ERR_NOT_FOUND && errors->count < CALC_MAX_ERRORS) {
        errors->item[errors->count++] = own.item[0];
    }
    calc_text_free(&text);
    return status;
}

calc_status calc_mindspeed_modules_read(calc_mindspeed_profile *out, const char *folder,
                                        const calc_mindspeed_job *job,
                                        calc_mindspeed_generation generation,
                                        const calc_mindspeed_config *config, calc_errors *errors)
{
    static const char *const nodes[] = {"_node0", ""};
    const calc_mindspeed_config runs[] = {*config,
                                          calc_mindspeed_modules_crop(job, generation, config)};
    calc_status status = CALC_ERR_NOT_FOUND;
    clear(out);
    for (int i = 0; i < 4 && status == CALC_ERR_NOT_FOUND; i++) {
        status = read_named(out, folder, &runs[i / 2], generation, nodes[i % 2], errors);
    }
    return status;
}
