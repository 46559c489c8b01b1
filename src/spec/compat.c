#include "spec/compat.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "spec/field.h"
#include "spec/value_text.h"

#define NAME(name, text, sentence) text,
#define SENTENCE(name, text, sentence) sentence,
const char *const calc_compat_names[] = {CALC_COMPAT_LIST(NAME) NULL};
const char *const calc_compat_words[] = {"none", "repaired", "calculon",
                                         CALC_COMPAT_LIST(NAME) NULL};
const char *const calc_compat_sentences[] = {CALC_COMPAT_LIST(SENTENCE) NULL};

/* Sets of rules that have a name. */
static const struct {
    const char *name;
    calc_compat compat;
} sets[] = {{"none", CALC_COMPAT_NONE},
            {"repaired", CALC_COMPAT_REPAIRED},
            {"calculon", CALC_COMPAT_CALCULON}};
enum { SETS = sizeof sets / sizeof *sets };

calc_status calc_compat_read(const char *text, calc_compat *out, calc_errors *errors)
{
    int64_t words = 0;
    char word[CALC_CHOICE_SET_SIZE] = "";
    if (!*text || !calc_choice_set_parse(calc_compat_words, text, &words, word)) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "no rule of Calculon is called \"%.63s\": none, repaired, "
                               "calculon, or some of %s",
                               word, CALC_CHOICES(calc_compat_names));
    }
    if (words & 1 && words != 1) {
        return calc_errors_at(errors, CALC_ERR_RANGE, "--compat", 0, 0, NULL,
                              "none does not go with rules of Calculon: %.200s", text);
    }
    *out = words >> SETS;
    for (int i = 0; i < SETS; i++) {
        *out |= words >> i & 1 ? sets[i].compat : CALC_COMPAT_NONE;
    }
    return CALC_OK;
}

char *calc_compat_text(calc_compat compat, char buffer[CALC_COMPAT_TEXT])
{
    size_t used = 0;
    for (int i = 0; i < SETS; i++) {
        if (compat == sets[i].compat) {
            return strcpy(buffer, sets[i].name);
        }
    }
    for (int rule = 0; rule < CALC_COMPAT_COUNT; rule++) {
        if (calc_compat_has(compat, rule)) {
            used += (size_t)snprintf(buffer + used, CALC_COMPAT_TEXT - used, "%s%s",
                                     used > 0 ? "," : "", calc_compat_names[rule]);
        }
    }
    return buffer;
}
