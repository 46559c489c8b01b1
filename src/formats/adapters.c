/* Matrices with adapters as PEFT names them: names of modules, which may leave out what stands
 * before them; or one regular expression of whole names. Source: peft/tuners/tuners_utils.py,
 * check_target_module_exists. */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "formats/framework.h"

enum { EXPRESSION = 512, NAME = 128 };

/* Python's expression as one of POSIX. @return whether that can say it */
static bool translate(const char *at, const char *end, char text[EXPRESSION])
{
    static const char *const other[][2] = {{"(?:", "("}, {"\\d", "[0-9]"}, {"*?", "*"},
                                           {"+?", "+"},  {"\\/", "/"},     {"\\-", "-"}};
    text[0] = '\0';
    while (at < end) {
        size_t i = 0, count = sizeof other / sizeof *other;
        while (i < count && strncmp(at, other[i][0], strlen(other[i][0])) != 0) {
            i++;
        }
        /* What is left: no counts, which may take all memory. */
        bool plain = strncmp(at, "(?", 2) != 0 && *at != '{' &&
                     (*at != '\\' || strchr(".()[]|*+?^$\\", at[1]));
        if ((i == count && !plain) || strlen(text) + 8 > EXPRESSION) {
            return false;
        }
        size_t length = i < count ? strlen(other[i][0]) : *at == '\\' ? 2 : 1;
        calc_append(text, EXPRESSION, "%.*s", i < count ? 8 : (int)length,
                    i < count ? other[i][1] : at);
        at += length;
    }
    return true;
}

/* @param before  what the expression stands in. @return whether it is one */
static bool compile(regex_t *regex, const char *before, const char *at, const char *end,
                    const char *behind)
{
    char text[EXPRESSION], whole[EXPRESSION + 8];
    snprintf(whole, sizeof whole, "%s%s%s", before, translate(at, end, text) ? text : "(", behind);
    return regcomp(regex, whole, REG_EXTENDED | REG_NOSUB) == 0;
}

/* Whether the module of a word is meant in all of some layers, in none, or (-1) in some alone. */
static int is_meant(const regex_t *regex, const regex_t *without, const calc_word *word)
{
    static const char *const models[] = {"model.", "model.language_model.", "language_model.model.",
                                         "base_model.model.model."};
    static const char *const of_mlp[] = {"mlp.", "mlp.experts.0.", "mlp.shared_expert.", NULL};
    static const char *const of_mixer[] = {"linear_attn.", "mixer.", "mamba.", NULL};
    static const char *const of_attention[] = {"self_attn.", "attn.", "attention.", NULL};
    static const int layers[] = {0, 1, 2, 3, 11, 31};
    enum { LAYERS = sizeof layers / sizeof *layers };
    const int64_t bits = (int64_t)word->value;
    const int64_t mlp = 1 << CALC_LORA_MODULES_GATE_PROJ | 1 << CALC_LORA_MODULES_UP_PROJ |
                        1 << CALC_LORA_MODULES_DOWN_PROJ;
    const int64_t mixer = 1 << CALC_LORA_MODULES_IN_PROJ | 1 << CALC_LORA_MODULES_OUT_PROJ;
    const bool head = bits & 1 << CALC_LORA_MODULES_HEAD;
    const char *const *above = bits & mlp ? of_mlp : bits & mixer ? of_mixer : of_attention;
    int most = 0;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        for (size_t a = 0; above[a]; a++) {
            int found = 0;
            for (int i = 0; i < LAYERS; i++) {
                const char *name = CALC_TEXT(NAME, "%slayers.%d.%s%.*s", models[m], layers[i],
                                             above[a], (int)word->length, word->text);
                const char *tried = head ? strrchr(name, '.') + 1 : name;
                found += regexec(regex, tried, 0, NULL, 0) == 0 &&
                         (!without || regexec(without, tried, 0, NULL, 0) != 0);
            }
            most = found > most ? found : most;
        }
    }
    return most == LAYERS ? 1 : most > 0 ? -1 : 0;
}

bool calc_adapters_read(const calc_setting_row *row, const char *text, int64_t *set, char *expect,
                        size_t size)
{
    const char *at = text + (*text == '^'), *end = text + strlen(text), *close = at;
    regex_t regex, without;
    bool except = strncmp(at, "(?!", 3) == 0; /* names do not begin so */
    int depth = 0, open = 0;
    do {
        depth += except ? (*close == '(') - (*close == ')') : 0;
        close += except;
    } while (depth > 0 && close < end);
    bool some = !except || compile(&without, "^(", at + 3, close - 1, ")");
    bool good = some && compile(&regex, "^(", close, end, ")$");
    calc_word word;
    *set = 0;
    for (const char *words = row->words; good && calc_word_next(row, &words, &word);) {
        int meant = word.value > 0 ? is_meant(&regex, except ? &without : NULL, &word) : 0;
        *set |= meant ? (int64_t)word.value : 0;
        open += meant < 0;
    }
    if (some && except) {
        regfree(&without);
    }
    if (good) {
        regfree(&regex);
    }
    snprintf(expect, size,
             "names, or an expression of linear modules in all layers, which looks "
             "ahead at its beginning alone");
    return good && !open && *set;
}
