#include "mindspeed/flags.h"

#include <stdlib.h>
#include <string.h>

/* ---- Flags that are not Megatron's, or not read as Megatron reads them ----------------------- */

/* Settings that the planner decides. */
static const char *const decided[] = {"--tensor-model-parallel-size",
                                      "--pipeline-model-parallel-size",
                                      "--context-parallel-size",
                                      "--context-parallel-algo",
                                      "--ulysses-degree-in-cp",
                                      "--expert-model-parallel-size",
                                      "--num-layers-per-virtual-pipeline-stage",
                                      "--num-virtual-stages-per-pipeline-rank",
                                      "--data-parallel-size",
                                      "--micro-batch-size",
                                      "--sequence-parallel",
                                      NULL};

/* The planner's own flags without effect here, and the addresses of a cluster's nodes. */
static const char *const silent[] = {"--auto-parallel",
                                     "--master-addr",
                                     "--master-port",
                                     "--node-rank",
                                     "--work-dir",
                                     "--profile-memory",
                                     "--prof-file",
                                     "--profile-operator",
                                     "--distributed-backend",
                                     NULL};

/* Flags of the third generation, which is another program. */
static const char *const later[] = {"--auto-settings",           "--auto-settings-type",
                                    "--auto-settings-ranks",     "--auto-settings-work-dir",
                                    "--auto-settings-log-level", NULL};

/* Flags that are read here and not with Megatron's. */
static const char *const ours[] = {"--nnodes",
                                   "--target-nnodes",
                                   "--search-algo",
                                   "--reuse-fp32-param",
                                   "--recompute-activation-function",
                                   "--swap-attention",
                                   NULL};

/* Aliases. */
static const char *const renamed[][2] = {
    {"--nodes", "--nnodes"},
    {"--padded-vocab-size", "--vocab-size"},
    {"--enable-recompute-activation-function", "--recompute-activation-function"}};

static bool is_one_of(const char *key, const char *const *list)
{
    while (*list && strcmp(*list, key) != 0) {
        list++;
    }
    return *list;
}

/* ---- Order of settings ----------------------------------------------------------------------- */

static void drop(calc_settings *s, size_t at)
{
    free(s->item[at].key);
    free(s->item[at].value);
    s->count--;
    memmove(&s->item[at], &s->item[at + 1], (s->count - at) * sizeof *s->item);
}

static bool rename_key(calc_setting *setting)
{
    setting->argument = 0; /* it counts picked words and means nothing to a user */
    for (size_t i = 0; setting->key[i]; i++) {
        setting->key[i] = setting->key[i] == '_' ? '-' : setting->key[i];
    }
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (strcmp(setting->key, renamed[i][0]) == 0) {
            size_t size = strlen(renamed[i][1]) + 1;
            char *key = realloc(setting->key, size);
            if (!key) {
                return false;
            }
            memcpy(key, renamed[i][1], size);
            setting->key = key;
        }
    }
    return true;
}

static bool is_precision(const char *key)
{
    return strcmp(key, "--fp16") == 0 || strcmp(key, "--bf16") == 0;
}

/* Whether a setting of a script is overridden on the command line. */
static bool gives_way(const calc_settings *s, size_t at)
{
    for (size_t i = at + 1; i < s->count && s->item[at].line > 0; i++) {
        if (s->item[i].line == 0 &&
            (strcmp(s->item[i].key, s->item[at].key) == 0 ||
             (is_precision(s->item[i].key) && is_precision(s->item[at].key)))) {
            return true;
        }
    }
    return false;
}

bool calc_mindspeed_flags_order(calc_settings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!rename_key(&s->item[i])) {
            return false;
        }
    }
    for (size_t i = s->count; i-- > 0;) {
        if (is_one_of(s->item[i].key, decided) || gives_way(s, i)) {
            drop(s, i);
        }
    }
    return true;
}

const calc_setting *calc_mindspeed_flags_last(const calc_settings *s, const char *key)
{
    for (size_t i = s->count; i-- > 0;) {
        if (strcmp(s->item[i].key, key) == 0) {
            return &s->item[i];
        }
    }
    return NULL;
}

bool calc_mindspeed_flags_known(const char *key)
{
    return is_one_of(key, silent) || is_one_of(key, ours);
}

const calc_setting *calc_mindspeed_flags_later(const calc_settings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (is_one_of(s->item[i].key, later)) {
            return &s->item[i];
        }
    }
    return NULL;
}
