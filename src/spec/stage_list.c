#include "spec/stage_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/schedule.h"

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

/* Whether two runs have the same blocks and recomputation, wherever they are and however long. */
static bool calc_stage_list_alike(const calc_stage_run *a, const calc_stage_run *b)
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

bool calc_stage_list_own(const calc_exec *exec, const calc_system *system, calc_exec *own)
{
    calc_stage_list *list = &own->stages;
    *own = *exec;
    bool some = list->count == 0;
    for (int32_t i = 0; i < list->count; i++) {
        int16_t *chip = &list->run[i].chip;
        *chip = *chip > 0 && list->system[*chip - 1] == system ? 0 : *chip;
        some = some || *chip == 0;
    }
    if (own->inference.prefill_system.system == system) {
        own->inference.prefill_system = (calc_other_system){{0}, NULL};
    }
    return some;
}

enum { RECIPES = 16 /* pairs of a system and a recomputation: CALC_MAX_RECIPES of the model */ };

typedef struct rules {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_errors *errors;
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t places;
} rules;

#define BROKEN(r, hint, ...)                                                                       \
    calc_errors_add((r)->errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/stages", hint, __VA_ARGS__)
#define RULE(broken, ...) CALC_RULE(broken, BROKEN(__VA_ARGS__))

/* Whether there is an entry per stage, or per stage and chunk. */
static bool check_places(rules *r)
{
    const calc_exec *e = r->exec;
    int64_t all = e->pipeline_par * e->pipeline_interleaving;
    bool room = all <= CALC_MAX_PLACES;
    if (!room) {
        BROKEN(r, "leave the list out, or lower pipeline_par or pipeline_interleaving",
               "stages are listed for at most %d stages and chunks, not %lld", CALC_MAX_PLACES,
               (long long)all);
    } else if (r->places != e->pipeline_par && r->places != all) {
        BROKEN(r,
               all > e->pipeline_par
                   ? CALC_TEXT(96, "or %lld: a chunk each, along the model", (long long)all)
                   : "",
               "%lld stages are listed, but pipeline_par = %lld", (long long)r->places,
               (long long)e->pipeline_par);
        room = false;
    }
    return room;
}

static void check_beside(rules *r)
{
    const calc_exec *e = r->exec;
    bool listed = r->place[0].blocks != CALC_STAGE_AS_EXEC;
    RULE(e->inference.phase != CALC_INFERENCE_PHASE_NONE, r, "leave the list out",
         "stages are listed for training, not for serving");
    RULE(calc_schedule_traits_of(e->pipeline_schedule).both_ends, r,
         "use \"1f1b\", \"gpipe\", \"zb_h1\" or \"zb_h2\"",
         "with pipeline_schedule \"%s\" a stage has both ends of the model: its stages are "
         "not listed",
         calc_pipeline_schedule_names[e->pipeline_schedule]);
    RULE(e->pipeline_balance != CALC_PIPELINE_BALANCE_BLOCKS || e->first_stage_blocks > 0 ||
             e->last_stage_blocks > 0,
         r, "leave pipeline_balance, first_stage_blocks and last_stage_blocks out",
         listed ? "the blocks of every stage are listed already"
                : "stages that are listed without blocks have them evenly");
}

static void check_blocks(rules *r)
{
    const calc_exec *e = r->exec;
    int64_t sum = 0;
    int64_t given = 0;
    int64_t chunks = r->places == e->pipeline_par ? e->pipeline_interleaving : 1;
    for (int64_t i = 0; i < r->places; i++) {
        int blocks = r->place[i].blocks;
        bool end = (i == 0 || i == r->places - 1) && r->app->vocab_size > 0;
        if (blocks == 0 && !end) {
            BROKEN(r, "only the first and the last may, with the embedding or the head alone",
                   "stage %lld of the list has no blocks", (long long)i);
            return;
        }
        given += blocks != CALC_STAGE_AS_EXEC;
        sum += blocks != CALC_STAGE_AS_EXEC ? blocks : 0;
        if (blocks > 0 && blocks % chunks != 0) {
            BROKEN(r, "give a multiple, or list every chunk along the model",
                   "the %d blocks of stage %lld do not split over its %lld chunks", blocks,
                   (long long)i, (long long)chunks);
            return;
        }
    }
    if (given > 0 && given < r->places) {
        BROKEN(r, "give all, or none for an even split", "blocks of %lld stages of %lld are given",
               (long long)given, (long long)r->places);
    } else if (given > 0 && sum != r->app->num_blocks) {
        BROKEN(r,
               CALC_TEXT(64, "%lld blocks %s", (long long)llabs(sum - r->app->num_blocks),
                         sum > r->app->num_blocks ? "too many" : "are missing"),
               "the blocks of the stages are %lld together, the model has %lld", (long long)sum,
               (long long)r->app->num_blocks);
    } else if (given == 0 && r->places > 0 && r->app->num_blocks % (r->places * chunks) != 0) {
        BROKEN(r, "give their blocks", "%lld blocks do not split evenly over %lld stages%s",
               (long long)r->app->num_blocks, (long long)r->places,
               chunks > 1 ? CALC_TEXT(32, " of %lld chunks", (long long)chunks) : "");
    }
}

static void check_recompute(rules *r)
{
    for (int64_t i = 0; i < r->places; i++) {
        const calc_stage_run *p = &r->place[i];
        int kind = p->recompute != CALC_STAGE_AS_EXEC ? p->recompute
                                                      : (int)r->exec->strategy.activation_recompute;
        if (p->recompute_blocks > 0 && kind == CALC_ACTIVATION_RECOMPUTE_NONE) {
            BROKEN(r, "give activation_recompute, of the stages or of all",
                   "stage %lld has recompute_blocks %d, but its activation_recompute is none",
                   (long long)i, p->recompute_blocks);
            return;
        }
        if (p->modules != 0 && p->recompute == CALC_STAGE_AS_EXEC) {
            BROKEN(r, "give its activation_recompute, too: \"modules\"",
                   "stage %lld has recompute_modules of its own", (long long)i);
            return;
        }
    }
}

/* A rank is on one processor and recomputes one way. */
static void check_chunks(rules *r)
{
    const calc_stage_run *first[CALC_MAX_PLACES] = {NULL}; /* that recomputes, by stage */
    for (int64_t i = 0; i < r->places; i++) {
        int64_t stage = i % r->exec->pipeline_par;
        const calc_stage_run *p = &r->place[i];
        if (p->chip != r->place[stage].chip) {
            BROKEN(r, "chunks of a stage are on the same processors",
                   "chunks of stage %lld are on different systems", (long long)stage);
            return;
        }
        calc_exec mine = calc_stage_list_exec(r->exec, p);
        if (mine.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
            continue;
        }
        first[stage] = first[stage] ? first[stage] : p;
        calc_exec other = calc_stage_list_exec(r->exec, first[stage]);
        if (mine.strategy.activation_recompute != other.strategy.activation_recompute ||
            mine.strategy.recompute_modules != other.strategy.recompute_modules) {
            BROKEN(r, "let them differ in recompute_blocks only",
                   "chunks of stage %lld recompute in different ways", (long long)stage);
            return;
        }
    }
}

/* The rules of a layout whose stages are all like one run. */
static void check_run(rules *r, const calc_stage_run *run, const calc_exec *exec)
{
    const calc_system *system = calc_stage_list_system(r->system, r->exec, run);
    const char *name = run->chip > 0 ? r->exec->stages.name[run->chip - 1] : "";
    calc_errors found = {0};
    if (!system) {
        calc_errors_add(r->errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/stages",
                        "put it into calc_exec.stages.system", "system \"%.31s\" was not given",
                        name);
    } else if (calc_check(r->app, system, exec, &found) != CALC_OK) {
        const calc_error *e = &found.item[0];
        BROKEN(r, e->hint, "stages%s%s: %s: %.200s", *name ? " on " : "", name,
               *e->pointer ? e->pointer + 1 : "", e->text);
    }
}

static void check_recipes(rules *r)
{
    calc_exec seen[RECIPES];
    int chip[RECIPES];
    int count = 0;
    for (int32_t i = 0; i < r->exec->stages.count; i++) {
        const calc_stage_run *run = &r->exec->stages.run[i];
        calc_exec mine = calc_stage_list_exec(r->exec, run);
        int k = 0;
        while (k < count &&
               (chip[k] != run->chip ||
                seen[k].strategy.activation_recompute != mine.strategy.activation_recompute ||
                seen[k].strategy.recompute_modules != mine.strategy.recompute_modules)) {
            k++;
        }
        if (k == RECIPES) {
            BROKEN(r, "let stages agree in activation_recompute and recompute_modules",
                   "more than %d pairs of a system and what is recomputed", RECIPES);
            return;
        }
        if (k == count) {
            chip[count] = run->chip;
            seen[count++] = mine;
            check_run(r, run, &mine);
        }
    }
}

void calc_rules_stages(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors)
{
    rules r = {.app = app, .system = system, .exec = exec, .errors = errors};
    if (exec->stages.count == 0) {
        return;
    }
    int only = calc_stage_list_only(&exec->stages);
    const calc_system *own = only > 0 ? exec->stages.system[only - 1] : NULL;
    if (own && !calc_same(calc_table_of(CALC_KIND_SYSTEM), own, system)) {
        const char *name = exec->stages.name[only - 1];
        BROKEN(&r, CALC_TEXT(96, "give %s as SYS, or --set stages=null", name),
               "this is a layout for %s, and the system of the run is another one", name);
        return;
    }
    r.places = calc_stage_list_expand(&exec->stages, r.place);
    int before = errors->count;
    if (check_places(&r)) {
        check_beside(&r);
        check_blocks(&r);
        check_recompute(&r);
    }
    if (errors->count == before) {
        check_chunks(&r);
        check_recipes(&r);
    }
}
