#include "spec/alias.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "spec/field.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *word, *choice;
} choices[] = {{"mla", "multi_latent"}, {"groupquery", "grouped_query"},
               {"fp4", "float4"},       {"fp8", "float8"},
               {"fp16", "float16"},     {"bf16", "bfloat16"},
               {"fp32", "float32"}};

const calc_field *calc_alias_find(const calc_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        for (const char *const *also = table->rows[i].also; *also; also++) {
            if (strcmp(*also, key) == 0) {
                return &table->rows[i];
            }
        }
    }
    return NULL;
}

const char *calc_alias_head(const char *word)
{
    static const struct {
        const char *head, *path;
    } heads[] = {{"procs", "num_procs"},
                 {"il", "pipeline_interleaving"},
                 {"schedule", "pipeline_schedule"},
                 {"balance", "pipeline_balance"},
                 {"modules", "recompute_modules"},
                 {"comm", "tensor_par_comm_type"},
                 {"requests", "inference.batch"},
                 {"chunk", "inference.chunk_size"},
                 {"prefill", "inference.prefill_procs"}};
    for (size_t i = 0; i < COUNT(heads); i++) {
        if (strcmp(heads[i].head, word) == 0) {
            return heads[i].path;
        }
    }
    return word;
}

const char *calc_alias_choice(const char *word)
{
    for (size_t i = 0; i < COUNT(choices); i++) {
        if (strcmp(choices[i].word, word) == 0) {
            return choices[i].choice;
        }
    }
    return NULL;
}

const char *calc_alias_of_choice(const char *choice)
{
    for (size_t i = 0; i < COUNT(choices); i++) {
        if (strcmp(choices[i].choice, choice) == 0) {
            return choices[i].word;
        }
    }
    return NULL;
}

enum { PATH_SIZE = 128 };

/* The best so far. */
typedef struct nearest {
    const char *word;
    int distance;
    char path[PATH_SIZE];
} nearest;

/* What is inside the same object is told apart by the rest of its name. Where nothing is near, the
 * name alone of a member of another object is. */
static void consider(nearest *best, const char *path)
{
    size_t same = 0;
    for (size_t i = 0; path[i] && path[i] == best->word[i]; i++) {
        same = path[i] == '.' ? i + 1 : same;
    }
    const char *const one[] = {path + same, NULL}, *dot = strrchr(path, '.');
    bool near = calc_nearest(best->word + same, one);
    if (near || (dot && strcmp(dot + 1, best->word) == 0)) {
        int distance = near ? calc_edit_distance(best->word + same, path + same) : INT_MAX - 1;
        if (distance < best->distance) {
            best->distance = distance;
            snprintf(best->path, sizeof best->path, "%s", path);
        }
    }
}

/* Consider all fields of a table that are no notes; `path` is extended and restored. */
static void consider_table(nearest *best, const calc_table *table, char path[PATH_SIZE])
{
    const unsigned list = CALC_STAGES | CALC_LAYERS | CALC_STACK | CALC_SOFTWARE;
    size_t used = strlen(path);
    size_t room = PATH_SIZE - used;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        int copies = field->type == CALC_TYPE_OBJECT ? 1
                     : field->type == CALC_TYPE_LIST ? CALC_MAX_NETWORKS
                                                     : 0;
        if (!field->table && (field->type != CALC_TYPE_NOTE || field->flags & list)) {
            const char *dot = strrchr(best->word, '.'), *last = dot ? dot + 1 : best->word;
            snprintf(path + used, room, "%s", field->key);
            consider(best, path);
            if (calc_alias_find(table, last) == field) { /* whose number may be another */
                best->distance = 0;
                snprintf(best->path, sizeof best->path, "%s", path);
            }
        }
        for (int k = 0; field->type == CALC_TYPE_MAP ? field->choices[k] != NULL : k < copies;
             k++) {
            if (field->type == CALC_TYPE_MAP) {
                snprintf(path + used, room, "%s.%s.", field->key, field->choices[k]);
            } else if (copies > 1) {
                snprintf(path + used, room, "%s[%d].", field->key, k);
            } else {
                snprintf(path + used, room, "%s.", field->key);
            }
            consider_table(best, field->table, path);
        }
    }
    path[used] = '\0';
}

void calc_alias_hint(calc_kind only, const char *path, const char *const *others, char *hint,
                     size_t size)
{
    static const calc_kind kinds[] = {CALC_KIND_EXEC, CALC_KIND_APP, CALC_KIND_SYSTEM};
    nearest best = {.word = path, .distance = INT_MAX};
    char at[PATH_SIZE] = "";
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const calc_table *table = calc_table_of(kinds[i]);
        if (only == CALC_KIND_NONE || only == kinds[i]) {
            consider_table(&best, table, at);
        }
    }
    for (; others && *others; others++) {
        consider(&best, *others);
    }
    hint[0] = '\0';
    if (best.path[0]) {
        snprintf(hint, size, "did you mean \"%s%s%s\"?", calc_kind_name(only),
                 only == CALC_KIND_NONE ? "" : ".", best.path);
    }
}
