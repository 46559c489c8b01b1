#include "aiak/names.h"

#include <string.h>

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
