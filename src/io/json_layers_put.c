#include <stdio.h>
#include <string.h>

#include "io/json_layers.h"
#include "io/json_runs.h"
#include "spec/field.h"
#include "spec/layer_list.h"

static int value_of(const calc_layer_run *run, calc_layer_key k)
{
    const calc_layer_strategy *s = &run->strategy;
    switch (k) {
    case CALC_LAYER_KEY_blocks:
        return run->blocks;
    case CALC_LAYER_KEY_tensor_par:
        return s->tensor_par;
    case CALC_LAYER_KEY_context_par:
        return s->context_par;
    case CALC_LAYER_KEY_expert_par:
        return s->expert_par;
    case CALC_LAYER_KEY_zero_stage:
        return s->zero_stage;
    case CALC_LAYER_KEY_context_par_type:
        return s->context_par_type;
    case CALC_LAYER_KEY_activation_recompute:
        return s->recompute;
    case CALC_LAYER_KEY_recompute_modules:
        return s->modules != 0 ? s->modules : CALC_LAYER_AS_EXEC;
    case CALC_LAYER_KEY_COUNT:
        break;
    }
    return CALC_LAYER_AS_EXEC;
}

/* @return whether the text is a word */
static bool run_text(const calc_layer_run *run, calc_layer_key k, char text[CALC_CHOICE_SET_SIZE])
{
    int value = value_of(run, k);
    if (value == CALC_LAYER_AS_EXEC) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "null");
        return false;
    }
    if (k < CALC_LAYER_KEY_context_par_type) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "%d", value);
        return false;
    }
    if (k == CALC_LAYER_KEY_context_par_type) {
        const calc_table *exec = calc_table_of(CALC_KIND_EXEC);
        snprintf(text, CALC_CHOICE_SET_SIZE, "%s",
                 calc_table_find(exec, "context_par_type")->choices[value]);
    } else if (k == CALC_LAYER_KEY_activation_recompute) {
        calc_json_runs_recompute_text(value, text);
    } else {
        calc_json_runs_modules_text((unsigned)value, text);
    }
    return true;
}

static bool key_text(const void *list, int64_t i, int k, char text[CALC_CHOICE_SET_SIZE])
{
    return run_text(&((const calc_layer_list *)list)->run[i], (calc_layer_key)k, text);
}

static int64_t once(const void *list, int64_t i)
{
    (void)list;
    (void)i;
    return 1;
}

static void put_ends(calc_put *put, const calc_layer_list *list)
{
    const calc_layer_run ends = {CALC_LAYER_AS_EXEC, list->ends};
    char text[CALC_CHOICE_SET_SIZE];
    if (calc_layer_list_alike(&list->ends, &calc_layer_as_exec)) {
        return;
    }
    calc_put_object(put, CALC_LAYER_ENDS, CALC_PUT_LINE);
    for (int k = 0; k < CALC_LAYER_KEY_COUNT; k++) {
        bool word = run_text(&ends, (calc_layer_key)k, text);
        if (strcmp(text, "null") != 0) {
            calc_json_runs_put(put, calc_layer_key_names[k], text, word, 1, false);
        }
    }
    calc_put_close(put);
}

void calc_json_layers_put(calc_put *put, const char *name, const calc_layer_list *list)
{
    const calc_json_runs runs = {list, list->count, key_text, once};
    char text[CALC_CHOICE_SET_SIZE];
    calc_put_object(put, name, CALC_PUT_LINE);
    for (int k = 0; k < CALC_LAYER_KEY_COUNT; k++) {
        bool same = calc_json_runs_agree(&runs, k);
        key_text(list, 0, k, text);
        if (same && k != CALC_LAYER_KEY_blocks && strcmp(text, "null") != 0) {
            calc_json_runs_put_all(put, calc_layer_key_names[k], &runs, k);
        } else if (!same || k == CALC_LAYER_KEY_blocks) {
            calc_json_runs_put_each(put, calc_layer_key_names[k], &runs, k);
        }
    }
    put_ends(put, list);
    calc_put_close(put);
}
