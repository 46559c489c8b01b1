#include "cli/explain/diff_stages.h"

#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"
#include "cli/draw/stage_words.h"

static char *blocks(const calc_exec *exec, char *text)
{
    return calc_stage_words_blocks(exec, text);
}

static char *systems(const calc_exec *exec, char *text)
{
    return calc_stage_words_chips(exec, "that of the run", text);
}

static char *recomputation(const calc_exec *exec, char *text)
{
    return calc_stage_words_recompute(exec, text);
}

static char *join_latency(const calc_exec *exec, char *text)
{
    char number[CALC_HUMAN_MAX];
    snprintf(text, CALC_STAGE_WORDS_SIZE, "%s",
             calc_human_seconds(exec->stages.join_latency_s, number));
    return text;
}

static const struct {
    const char *key;
    char *(*words)(const calc_exec *exec, char *text);
} keys[CALC_DIFF_STAGES_KEYS] = {{"stages.blocks", blocks},
                                 {"stages.system", systems},
                                 {"stages.recompute", recomputation},
                                 {"stages.join_latency", join_latency}};

const char *calc_diff_stages(const calc_exec *a, const calc_exec *b, int which, char *text[2])
{
    const calc_exec *side[2] = {a, b};
    /* Skips sides without a list; only lists on several chips have these keys. */
    bool chips = which == 1 || which == 3;
    for (int i = 0; i < 2; i++) {
        const calc_stage_list *list = &side[i]->stages;
        bool said = which != 3 || list->join_latency_s > 0;
        if (list->count == 0 || (chips && list->chips == 0) || !said) {
            snprintf(text[i], CALC_STAGE_WORDS_SIZE, "-");
        } else {
            keys[which].words(side[i], text[i]);
        }
    }
    return strcmp(text[0], text[1]) != 0 ? keys[which].key : NULL;
}
