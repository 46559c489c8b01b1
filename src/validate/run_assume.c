#include "validate/run_assume.h"

#include <string.h>

void calc_assumptions_add(calc_assumptions *assumed, const char *text)
{
    for (int i = 0; i < assumed->count; i++) {
        if (strcmp(assumed->text[i], text) == 0) {
            return;
        }
    }
    if (assumed->count < CALC_ASSUMPTIONS_MAX) {
        assumed->text[assumed->count++] = text;
    }
}

void calc_run_assume(calc_run_map *map, const char *text)
{
    calc_assumptions_add(&map->assumed, text);
}

bool calc_run_assume_trait(calc_run_map *map, int trait, bool applies)
{
    bool has = (map->source->traits & trait) != 0;
    if (has && applies) {
        calc_run_assume(map, calc_run_source_assumption(trait));
    }
    return has;
}

bool calc_run_assume_word(calc_run_map *map, calc_run_word word, int trait, bool applies)
{
    bool said = map->words.on[word] || map->words.off[word];
    return said ? calc_run_words_say(&map->words, word, false)
                : calc_run_assume_trait(map, trait, applies);
}
