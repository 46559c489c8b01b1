#include "spec/stage_list.h"

#include <string.h>

#include "spec/rules.h"

int64_t calc_stage_list_places(const calc_stage_list *list)
{
    int64_t places = 0;
    for (int32_t i = 0; i < list->count; i++) {
        places += list->run[i].places;
    }
    return places;
}

int64_t calc_stage_list_expand(const calc_stage_list *list, calc_stage_run *out)
{
    int64_t count = 0;
    for (int32_t i = 0; i < list->count; i++) {
        for (int n = 0; n < list->run[i].places && count < CALC_MAX_PLACES; n++) {
            out[count] = list->run[i];
            out[count++].places = 1;
        }
    }
    return count;
}

bool calc_stage_list_alike(const calc_stage_run *a, const calc_stage_run *b)
{
    return a->blocks == b->blocks && a->recompute_blocks == b->recompute_blocks &&
           a->recompute == b->recompute && a->chip == b->chip && a->modules == b->modules;
}

bool calc_stage_list_pack(const calc_stage_run *run, int64_t count, calc_stage_list *list)
{
    list->count = 0;
    for (int64_t i = 0; i < count; i++) {
        calc_stage_run *last = &list->run[list->count > 0 ? list->count - 1 : 0];
        if (list->count > 0 && calc_stage_list_alike(last, &run[i])) {
            last->places = (int16_t)(last->places + run[i].places);
        } else if (list->count == CALC_MAX_STAGE_RUNS) {
            return false;
        } else {
            list->run[list->count++] = run[i];
        }
    }
    return true;
}

int calc_stage_list_chip(calc_stage_list *list, const char *name)
{
    for (int32_t i = 0; i < list->chips; i++) {
        if (strcmp(list->name[i], name) == 0) {
            return i + 1;
        }
    }
    if (list->chips == CALC_MAX_CHIPS || strlen(name) >= sizeof list->name[0]) {
        return -1;
    }
    memcpy(list->name[list->chips], name, strlen(name) + 1);
    return ++list->chips;
}

calc_exec calc_stage_list_exec(const calc_exec *exec, const calc_stage_run *run)
{
    calc_exec e = *exec;
    calc_strategy *s = &e.strategy;
    e.stages = (calc_stage_list){0};
    if (run->recompute != CALC_STAGE_AS_EXEC) {
        s->activation_recompute = (calc_activation_recompute)run->recompute;
        s->recompute_modules = run->modules;
    }
    if (run->recompute_blocks != CALC_STAGE_AS_EXEC) {
        e.recompute_blocks = run->recompute_blocks;
    }
    if (run->recompute_blocks == 0) {
        s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    }
    if (s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
        s->recompute_modules = 0;
        e.recompute_blocks = 0;
    }
    s->seq_par_ag_redo = s->seq_par_ag_redo && !calc_recomputes_block(s);
    return e;
}

int64_t calc_stage_list_fewest(const calc_app *app, const calc_exec *exec)
{
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t places = calc_stage_list_expand(&exec->stages, place);
    int64_t fewest = app->num_blocks;
    if (exec->stages.run[0].blocks == CALC_STAGE_AS_EXEC) {
        return fewest / exec->pipeline_par;
    }
    for (int64_t stage = 0; stage < exec->pipeline_par; stage++) {
        int64_t blocks = 0;
        for (int64_t i = stage; i < places; i += exec->pipeline_par) {
            blocks += place[i].blocks;
        }
        fewest = blocks < fewest ? blocks : fewest;
    }
    return fewest;
}

calc_exec calc_stage_list_part(const calc_exec *exec, int chip)
{
    calc_exec part = *exec;
    int64_t all = calc_stage_list_places(&exec->stages);
    int64_t mine = 0;
    for (int32_t i = 0; i < exec->stages.count; i++) {
        mine += exec->stages.run[i].chip == chip ? exec->stages.run[i].places : 0;
    }
    part.pipeline_par = all > 0 ? exec->pipeline_par * mine / all : 0;
    part.num_procs = exec->num_procs / exec->pipeline_par * part.pipeline_par;
    return part;
}

int calc_stage_list_only(const calc_stage_list *list)
{
    const calc_stage_run *run = &list->run[0];
    calc_stage_run bare = {.blocks = CALC_STAGE_AS_EXEC,
                           .recompute_blocks = CALC_STAGE_AS_EXEC,
                           .recompute = CALC_STAGE_AS_EXEC,
                           .chip = run->chip};
    return list->count == 1 && calc_stage_list_alike(run, &bare) ? run->chip : 0;
}

const calc_system *calc_stage_list_system(const calc_system *system, const calc_exec *exec,
                                          const calc_stage_run *run)
{
    return run->chip == 0 ? system : exec->stages.system[run->chip - 1];
}
