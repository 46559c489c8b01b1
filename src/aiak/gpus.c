#include "aiak/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

enum { MOST_DIGITS = 9 };

static void list_chips(char *text, size_t size)
{
    for (const calc_aiak_name *chip = calc_aiak_chips; chip->name; chip++) {
        calc_append(text, size, "%s%s",
                    chip == calc_aiak_chips ? ""
                    : chip[1].name          ? ", "
                                            : " or ",
                    chip->name);
    }
}

/* Reads a number of at least 1, or -1. */
static bool read_most(const char *text, size_t length, int64_t *out)
{
    size_t digits = strspn(text, "0123456789");
    if (length == 2 && strncmp(text, "-1", 2) == 0) {
        *out = CALC_AIAK_UNLIMITED;
        return true;
    }
    *out = strtoll(text, NULL, 10);
    return digits == length && length > 0 && length <= MOST_DIGITS && *out > 0;
}

static bool read_one(const char *text, size_t length, calc_aiak_gpus *out, char *complaint,
                     size_t size)
{
    char name[32], list[128] = "";
    size_t named = strcspn(text, ":,");
    snprintf(name, sizeof name, "%.*s", (int)named, text);
    calc_aiak_gpu gpu = {calc_aiak_find(calc_aiak_chips, name), CALC_AIAK_UNLIMITED};
    if (!gpu.chip) {
        list_chips(list, sizeof list);
        snprintf(complaint, size, "\"%s\" is no chip: %s", name, list);
        return false;
    }
    if (named < length && !read_most(text + named + 1, length - named - 1, &gpu.most)) {
        snprintf(complaint, size, "\"%.*s\" is no number of %s: 1 or more, or -1 for any",
                 (int)(length - named - 1), text + named + 1, name);
        return false;
    }
    for (int i = 0; i < out->count; i++) {
        if (out->of[i].chip == gpu.chip) {
            snprintf(complaint, size, "%s is named twice", name);
            return false;
        }
    }
    out->of[out->count++] = gpu;
    return true;
}

bool calc_aiak_gpus_parse(const char *text, calc_aiak_gpus *out, char *complaint, size_t size)
{
    *out = (calc_aiak_gpus){.count = 0};
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!read_one(text, length, out, complaint, size)) {
            return false;
        }
        if (!text[length]) {
            return true;
        }
        text += length + 1;
    }
}

bool calc_aiak_gpus_suffice(const calc_aiak_gpus *gpus, int64_t count, char *complaint, size_t size)
{
    int64_t all = 0;
    for (int i = 0; i < gpus->count; i++) {
        if (gpus->of[i].most == CALC_AIAK_UNLIMITED) {
            return true;
        }
        all += gpus->of[i].most;
    }
    if (all < count) {
        snprintf(complaint, size, "%lld processors at most, fewer than %lld", (long long)all,
                 (long long)count);
    }
    return all >= count;
}

const calc_aiak_name calc_aiak_models[] = {{"llama-7b", "llama-7B"},
                                           {"llama-65b", "llama-65B"},
                                           {"llama-175b", "llama-175B"},
                                           {"llama-540b", "llama-540B"},
                                           {"llama-1800b", "llama-1800B"},
                                           {"llama2-7b", "llama2-7B"},
                                           {"llama2-13b", "llama2-13B"},
                                           {"llama2-70b", "llama2-70B"},
                                           {"llama2-35b", "llama2-35B"},
                                           {"glm-130b", "glm-130B"},
                                           {"glm-67b", "glm-67B"},
                                           {"galactica-6.7b", "galactica-6.7B"},
                                           {"galactica-30b", "galactica-30B"},
                                           {"galactica-120b", "galactica-120B"},
                                           {0}};

const calc_aiak_name calc_aiak_chips[] = {{"a800", "a800"},
                                          {"h800", "h800"},
                                          {"h100", "h100_sxm"},
                                          {"kunlun3", "kunlun3"},
                                          {"ascend_910b", "ascend_910b"},
                                          {0}};

const calc_aiak_name *calc_aiak_find(const calc_aiak_name *list, const char *name)
{
    while (list->name && strcmp(list->name, name) != 0) {
        list++;
    }
    return list->name ? list : NULL;
}
