#include "cli/draw/layer_words.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/stage_words.h"
#include "model/cost/state.h"
#include "spec/field.h"
#include "spec/layer_list.h"

enum { WORD = 160 };

typedef void word_of(const calc_exec *e, char word[WORD]);

static const char *type_of(const calc_exec *e)
{
    return calc_table_find(calc_table_of(CALC_KIND_EXEC), "context_par_type")
        ->choices[e->strategy.context_par_type];
}

/* ---- One strategy ---------------------------------------------------------------------------- */

static void whole(const calc_exec *e, char word[WORD])
{
    const calc_strategy *s = &e->strategy;
    int64_t zero = calc_zero_stage(s);
    char again[WORD];
    snprintf(word, WORD, "tp%lld", (long long)s->tensor_par);
    if (s->context_par > 1) {
        calc_append(word, WORD, " cp%lld %s", (long long)s->context_par, type_of(e));
    }
    if (s->expert_par > 1) {
        calc_append(word, WORD, " ep%lld", (long long)s->expert_par);
    }
    if (zero > 0) {
        calc_append(word, WORD, " zero%lld", (long long)zero);
    }
    if (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE) {
        calc_stage_words_recomputed(e, again, sizeof again);
        calc_append(word, WORD, " %s", again);
    }
}

static void number(int64_t value, char word[WORD])
{
    snprintf(word, WORD, "%lld", (long long)(value > 1 ? value : 1));
}

static void tensor(const calc_exec *e, char word[WORD])
{
    number(e->strategy.tensor_par, word);
}

static void context(const calc_exec *e, char word[WORD])
{
    number(e->strategy.context_par, word);
    if (e->strategy.context_par > 1) {
        calc_append(word, WORD, " %s", type_of(e));
    }
}

static void expert(const calc_exec *e, char word[WORD])
{
    number(e->strategy.expert_par, word);
}

static void zero(const calc_exec *e, char word[WORD])
{
    snprintf(word, WORD, "%lld", (long long)calc_zero_stage(&e->strategy));
}

static void recompute(const calc_exec *e, char word[WORD])
{
    calc_stage_words_recomputed(e, word, WORD);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static char *words(const calc_exec *exec, word_of *of, char *text)
{
    const calc_layer_list *list = &exec->layers;
    char word[WORD] = "", next[WORD];
    text[0] = '\0';
    for (int32_t i = 0; i < list->count;) {
        int blocks = 0;
        calc_exec e = calc_layer_list_exec(exec, &list->run[i].strategy);
        of(&e, word);
        do {
            blocks += list->run[i++].blocks;
            if (i < list->count) {
                e = calc_layer_list_exec(exec, &list->run[i].strategy);
                of(&e, next);
            }
        } while (i < list->count && strcmp(word, next) == 0);
        calc_append(text, CALC_LAYER_WORDS_SIZE, "%s%dx %s", text[0] ? ", " : "", blocks, word);
    }
    return text;
}

char *calc_layer_words(const calc_exec *exec, char *text)
{
    return words(exec, whole, text);
}

char *calc_layer_words_ends(const calc_exec *exec, char *text)
{
    calc_exec e = calc_layer_list_exec(exec, &exec->layers.ends);
    e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    whole(&e, text);
    return text;
}

const char *const calc_layer_words_keys[] = {"layers.tensor_par",
                                             "layers.context_par",
                                             "layers.expert_par",
                                             "layers.zero_stage",
                                             "layers.recompute",
                                             "layers.ends",
                                             NULL};

char *calc_layer_words_of(const calc_exec *exec, int key, char *text)
{
    static word_of *const of[] = {tensor, context, expert, zero, recompute};
    return key < (int)(sizeof of / sizeof *of) ? words(exec, of[key], text)
                                               : calc_layer_words_ends(exec, text);
}
