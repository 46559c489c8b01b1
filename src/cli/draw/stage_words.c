#include "cli/draw/stage_words.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "model/cost/state.h"
#include "spec/field.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"
#include "spec/value_text.h"

enum { WORD = 160 };

typedef void word_of(const calc_exec *exec, const calc_stage_run *run, const char *name,
                     char word[WORD]);

/* The word of every run, equal neighbours joined. */
static char *words(const calc_exec *exec, word_of *of, const char *name, const char *times,
                   char *text)
{
    const calc_stage_list *list = &exec->stages;
    char word[WORD] = "", next[WORD];
    text[0] = '\0';
    for (int32_t i = 0; i < list->count;) {
        int places = 0;
        of(exec, &list->run[i], name, word);
        do {
            places += list->run[i++].places;
            if (i < list->count) {
                of(exec, &list->run[i], name, next);
            }
        } while (i < list->count && strcmp(word, next) == 0);
        calc_append(text, CALC_STAGE_WORDS_SIZE, "%s", text[0] ? ", " : "");
        if (places > 1) {
            calc_append(text, CALC_STAGE_WORDS_SIZE, "%d%s", places, times);
        }
        calc_append(text, CALC_STAGE_WORDS_SIZE, "%s", word);
    }
    return text;
}

static void blocks_word(const calc_exec *exec, const calc_stage_run *run, const char *name,
                        char word[WORD])
{
    (void)exec;
    (void)name;
    snprintf(word, WORD, "%d", run->blocks);
}

char *calc_stage_words_blocks(const calc_exec *exec, char *text)
{
    if (exec->stages.run[0].blocks == CALC_STAGE_AS_EXEC) {
        snprintf(text, CALC_STAGE_WORDS_SIZE, "spread evenly");
        return text;
    }
    return words(exec, blocks_word, "", "x", text);
}

static const char *chip_name(const calc_exec *exec, int chip, const char *name)
{
    return chip > 0 ? exec->stages.name[chip - 1] : name;
}

static void chip_word(const calc_exec *exec, const calc_stage_run *run, const char *name,
                      char word[WORD])
{
    snprintf(word, WORD, "%.100s", chip_name(exec, run->chip, name));
}

char *calc_stage_words_chips(const calc_exec *exec, const char *name, char *text)
{
    return words(exec, chip_word, name, "x ", text);
}

char *calc_stage_words_machine(const calc_exec *exec, const char *name, char *text)
{
    const calc_stage_list *list = &exec->stages;
    int64_t all = calc_stage_list_places(list);
    char number[CALC_HUMAN_MAX];
    text[0] = '\0';
    for (int32_t i = 0; i < list->count; i++) {
        const char *mine = chip_name(exec, list->run[i].chip, name);
        int64_t places = 0;
        bool before = false;
        for (int32_t k = 0; k < list->count; k++) {
            bool same = strcmp(chip_name(exec, list->run[k].chip, name), mine) == 0;
            before = before || (same && k < i);
            places += same ? list->run[k].places : 0;
        }
        if (!before) {
            int64_t procs = exec->num_procs * places / all;
            calc_append(text, CALC_STAGE_WORDS_SIZE, "%s%s x %.100s", i > 0 ? " and " : "",
                        calc_human_integer((double)procs, number), mine);
        }
    }
    return text;
}

void calc_stage_words_recomputed(const calc_exec *e, char *word, size_t size)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    char set[CALC_CHOICE_SET_SIZE];
    const char *kind =
        calc_table_find(table, "activation_recompute")->choices[e->strategy.activation_recompute];
    snprintf(word, size, "%s", kind);
    if (e->strategy.recompute_modules != 0) {
        snprintf(word, size, "%.100s",
                 calc_choice_set_text(calc_table_find(table, "recompute_modules")->choices,
                                      e->strategy.recompute_modules, set));
    }
}

static void recompute_word(const calc_exec *exec, const calc_stage_run *run, const char *name,
                           char word[WORD])
{
    calc_exec e = calc_stage_list_exec(exec, run);
    (void)name;
    calc_stage_words_recomputed(&e, word, WORD);
    if (e.recompute_blocks > 0) {
        calc_append(word, WORD, " of %lld", (long long)e.recompute_blocks);
    }
}

char *calc_stage_words_recompute(const calc_exec *exec, char *text)
{
    return words(exec, recompute_word, "", "x ", text);
}

typedef void layer_word_of(const calc_exec *e, char word[WORD]);

static const char *type_of(const calc_exec *e)
{
    return calc_table_find(calc_table_of(CALC_KIND_EXEC), "context_par_type")
        ->choices[e->strategy.context_par_type];
}

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

static char *list_words(const calc_exec *exec, layer_word_of *of, char *text)
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
    return list_words(exec, whole, text);
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
    static layer_word_of *const of[] = {tensor, context, expert, zero, recompute};
    return key < (int)(sizeof of / sizeof *of) ? list_words(exec, of[key], text)
                                               : calc_layer_words_ends(exec, text);
}
