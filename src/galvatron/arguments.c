#include "galvatron/arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "io/utf8.h"
#include "spec/field.h"

/* In the order of the enums in request.h. */
const char *const calc_galvatron_dp_words[] = {"ddp", "zero2", NULL};
const char *const calc_galvatron_schedule_words[] = {"gpipe", "pipedream_flush", NULL};
const char *const calc_galvatron_precision_words[] = {"fp32", "fp16", "bf16", NULL};
const char *const calc_galvatron_time_words[] = {"static", "batch", "sequence", NULL};
const char *const calc_galvatron_memory_words[] = {"static", "sequence", NULL};

#define CALC_ARGUMENT(in, key, kind_, where, ...)                                                  \
    {.block = #in,                                                                                 \
     .name = #key,                                                                                 \
     .kind = CALC_GALVATRON_TAKES_##kind_,                                                         \
     .offset = offsetof(calc_galvatron_arguments, where),                                          \
     __VA_ARGS__},
const calc_galvatron_argument calc_galvatron_argument_rows[] = {
#include "galvatron/arguments.fields.h"
    {.name = NULL}};
#undef CALC_ARGUMENT

void calc_galvatron_arguments_start(calc_galvatron_arguments *out)
{
    memset(out, 0, sizeof *out);
    out->request = calc_galvatron_request_default();
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool refuse(const char *value, const char *expected, char *why, size_t size)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    snprintf(why, size, "expected %s, found \"%s\"", expected,
             calc_utf8_show(shown, value, strlen(value)));
    return false;
}

/* Reads a number from .lo to .hi that ends at the end of the text or at one of `ends`. */
static bool number(const calc_galvatron_argument *row, const char **at, const char *ends,
                   double *out)
{
    char *end;
    double value = strtod(*at, &end);
    bool any = row->kind == CALC_GALVATRON_TAKES_LIMIT && value == -1;
    bool whole = row->kind == CALC_GALVATRON_TAKES_REAL || value == floor(value);
    if (end == *at || (*end && !strchr(ends, *end)) || !whole ||
        !(any || (value >= row->lo && value <= row->hi))) {
        return false;
    }
    *at = end;
    *out = value;
    return true;
}

static bool set_number(const calc_galvatron_argument *row, const char *value, void *member,
                       char *why, size_t size)
{
    char expected[96];
    const char *at = value;
    double found;
    if (!number(row, &at, "", &found)) {
        snprintf(expected, sizeof expected, "%s from %.10g to %.10g%s",
                 row->kind == CALC_GALVATRON_TAKES_REAL ? "a number" : "a whole number", row->lo,
                 row->hi, row->kind == CALC_GALVATRON_TAKES_LIMIT ? ", or -1" : "");
        return refuse(value, expected, why, size);
    }
    if (row->kind == CALC_GALVATRON_TAKES_REAL) {
        *(double *)member = found;
    } else {
        *(int64_t *)member = (int64_t)found;
    }
    return true;
}

static bool set_layers(const calc_galvatron_argument *row, const char *value,
                       calc_galvatron_sizes *sizes, char *why, size_t size)
{
    const char *at = value;
    double found;
    sizes->count = 0;
    while (sizes->count < CALC_GALVATRON_TYPES && number(row, &at, ", ", &found)) {
        sizes->of[sizes->count++] = (int64_t)found;
        if (!*at) {
            return true;
        }
        at += 1 + strspn(at + 1, " ");
    }
    char expected[128];
    snprintf(expected, sizeof expected,
             "a whole number from %.10g to %.10g, or up to %d of them with commas between", row->lo,
             row->hi, CALC_GALVATRON_TYPES);
    return refuse(value, expected, why, size);
}

static bool set_truth(const char *value, bool *member, char *why, size_t size)
{
    bool yes = strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0;
    if (!yes && strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0) {
        return refuse(value, "0, 1, true or false", why, size);
    }
    *member = yes;
    return true;
}

static bool set_word(const calc_galvatron_argument *row, const char *value, void *member, char *why,
                     size_t size)
{
    int index = calc_choice_index(row->choices, value);
    if (index < 0) {
        char expected[128] = "";
        return refuse(value, calc_append_choices(expected, sizeof expected, row->choices), why,
                      size);
    }
    memcpy(member, &index, sizeof index); /* an enum */
    return true;
}

bool calc_galvatron_arguments_set(calc_galvatron_arguments *out, const calc_galvatron_argument *row,
                                  const char *value, char *why, size_t size)
{
    char *member = (char *)out + row->offset;
    switch (row->kind) {
    case CALC_GALVATRON_TAKES_COUNT:
    case CALC_GALVATRON_TAKES_LIMIT:
    case CALC_GALVATRON_TAKES_REAL:
        return set_number(row, value, member, why, size);
    case CALC_GALVATRON_TAKES_TRUTH:
        return set_truth(value, (bool *)member, why, size);
    case CALC_GALVATRON_TAKES_WORD:
        return set_word(row, value, member, why, size);
    case CALC_GALVATRON_TAKES_LAYERS:
        return set_layers(row, value, (calc_galvatron_sizes *)member, why, size);
    case CALC_GALVATRON_TAKES_TEXT:
        if (!*value || strlen(value) >= CALC_GALVATRON_PATH_SIZE) {
            return refuse(value, "a name or a path", why, size);
        }
        strcpy(member, value);
        return true;
    case CALC_GALVATRON_TAKES_UNUSED:
        if (strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0) {
            calc_append(member, sizeof out->unused, "%s%s", *member ? ", " : "", row->name);
        }
        return true;
    }
    return true;
}

/* ---- Together -------------------------------------------------------------------------------- */

/* The size of a type. A single value applies to all types. */
static int64_t size_of(const calc_galvatron_sizes *sizes, int type)
{
    return sizes->count == 1 ? sizes->of[0] : sizes->of[type];
}

static bool finish_layers(calc_galvatron_arguments *a, char *why, size_t size)
{
    const calc_galvatron_sizes *said[] = {&a->num_layers, &a->hidden_size, &a->seq_length};
    int types = 1;
    for (int i = 0; i < 3; i++) {
        types = said[i]->count > types ? said[i]->count : types;
    }
    for (int i = 0; i < 3; i++) {
        if (said[i]->count > 1 && said[i]->count != types) {
            snprintf(why, size,
                     "num_layers, hidden_size, seq_length: %d values beside %d of another",
                     said[i]->count, types);
            return false;
        }
    }
    a->request.types = types;
    for (int i = 0; i < types; i++) {
        a->request.layers[i] = (calc_galvatron_layers){.hidden_size = size_of(&a->hidden_size, i),
                                                       .layer_num = size_of(&a->num_layers, i),
                                                       .seq_len = size_of(&a->seq_length, i)};
    }
    return true;
}

static bool finish_name(calc_galvatron_arguments *a, char *why, size_t size)
{
    const char *slash = strrchr(a->hf_model_name_or_path, '/');
    const char *name = *a->model_size ? a->model_size
                       : slash        ? slash + 1
                                      : a->hf_model_name_or_path;
    if (!*name || strlen(name) >= sizeof a->request.model || strchr(name, '/')) {
        snprintf(why, size,
                 *name ? "model_size: at most %zu bytes, without a slash"
                       : "model_size is missing: it names the profiles",
                 sizeof a->request.model - 1);
        return false;
    }
    strcpy(a->request.model, name);
    return true;
}

bool calc_galvatron_arguments_finish(calc_galvatron_arguments *out, char *why, size_t size)
{
    return finish_name(out, why, size) && finish_layers(out, why, size) &&
           calc_galvatron_request_check(&out->request, why, size);
}

calc_galvatron_paths calc_galvatron_arguments_paths(const calc_galvatron_arguments *arguments)
{
    static const char *const looked[] = {
        [CALC_GALVATRON_FILE_COMPUTATION] = "configs",
        [CALC_GALVATRON_FILE_MEMORY] = "configs",
        [CALC_GALVATRON_FILE_ALLREDUCE] = "../../profile_hardware/hardware_configs",
        [CALC_GALVATRON_FILE_P2P] = "../../profile_hardware/hardware_configs",
        [CALC_GALVATRON_FILE_OVERLAP] = "../../profile_hardware/hardware_configs",
        [CALC_GALVATRON_FILE_COLLECTIVES] = "../../profile_hardware/hardware_configs"};
    const char *path[CALC_GALVATRON_FILE_COUNT];
    for (int i = 0; i < CALC_GALVATRON_FILE_COUNT; i++) {
        path[i] = *arguments->path[i] ? arguments->path[i] : looked[i];
    }
    return (calc_galvatron_paths){
        path[CALC_GALVATRON_FILE_COMPUTATION], path[CALC_GALVATRON_FILE_MEMORY],
        path[CALC_GALVATRON_FILE_ALLREDUCE],   path[CALC_GALVATRON_FILE_P2P],
        path[CALC_GALVATRON_FILE_OVERLAP],     path[CALC_GALVATRON_FILE_COLLECTIVES]};
}
