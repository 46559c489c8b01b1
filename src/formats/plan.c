#include "formats/framework.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/plan_layers.h"
#include "formats/plan_macros.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/stage_list.h"
#include "spec/value_text.h"

static const struct {
    const char *field, *meaning;
    double absent;
} members[CALC_PLAN_COUNT] = {
#define CALC_PLAN(name, field, absent, meaning) {field, meaning, absent},
#include "formats/plan.fields.h"
};

const char *calc_plan_field(calc_plan_member member)
{
    return members[member].field;
}

bool calc_plan_find_field(calc_plan_member member, calc_field_ref *ref)
{
    const char *path = calc_plan_field(member);
    if (!path) {
        return false;
    }
    const calc_kind kind = *path == 'e' ? CALC_KIND_EXEC : CALC_KIND_APP;
    const calc_table *table = *path == 'j'   ? calc_job_table()
                              : *path == 'p' ? calc_part_table()
                                             : calc_table_of(kind);
    return calc_field_find_in(table, kind, strchr(path, '.') + 1, ref) == CALC_OK;
}

const char *calc_plan_meaning(calc_plan_member member)
{
    return members[member].meaning;
}

double calc_plan_value(const calc_plan *plan, calc_plan_member member)
{
    return calc_plan_get(plan, member, members[member].absent);
}

void calc_plan_clear(calc_plan *plan)
{
    for (size_t i = 0; i < CALC_PLAN_COUNT; i++) {
        plan->value[i] = NAN;
    }
    plan->blocks.count = plan->offsets.count = plan->recomputed.count = 0;
    plan->experts.count = plan->linear.count = plan->windows.count = plan->unrotated.count = 0;
    plan->letters[0] = plan->mtp_letters[0] = '\0';
    for (size_t i = 0; i < sizeof plan->note / sizeof *plan->note; i++) {
        plan->note[i] = NULL;
    }
}

void calc_plan_note(calc_plan *plan, const char *text)
{
    for (size_t i = 0; i < sizeof plan->note / sizeof *plan->note; i++) {
        if (!plan->note[i]) {
            plan->note[i] = text;
            return;
        }
    }
}

/* Adapters; no framework is told of another part of the weights. */
static void set_trained(calc_plan *plan, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    const int64_t query = 1 << CALC_LORA_MODULES_Q_PROJ;
    const int64_t apart = query | 1 << CALC_LORA_MODULES_K_PROJ | 1 << CALC_LORA_MODULES_V_PROJ |
                          1 << CALC_LORA_MODULES_GATE_PROJ | 1 << CALC_LORA_MODULES_UP_PROJ;
    int64_t modules = s->lora_modules;
    if (s->lora_rank == 0) {
        return;
    }
    if (s->attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT && modules & query) {
        modules = (modules & ~query) | CALC_PLAN_LATENT_QUERY;
    }
    SET(LORA_CLASS, s->dora         ? CALC_PLAN_LORA_DORA
                    : s->lora_fused ? CALC_PLAN_LORA_TOGETHER
                                    : CALC_PLAN_LORA_EACH);
    if (COUNT(LORA_CLASS) == CALC_PLAN_LORA_EACH) {
        modules = (modules & ~apart) | (modules & apart) << CALC_PLAN_LORA_APART;
    }
    SET(LORA_RANK, s->lora_rank);
    SET(LORA_MODULES, modules);
    SET(LORA_DROPOUT, s->lora_dropout ? 0.1 : 0);
    SET(LORA_EXPERTS,
        WHERE(s->lora_experts != CALC_LORA_EXPERTS_NONE && !s->dora, s->lora_experts));
}

/* Models that a framework knows by name, in the order of the words of its table. Other models share
 * hidden size and blocks with them: Llama 2 and Qwen 2 with Llama 3. */
static const calc_plan_model model[] = {{"llama3-8B", 4096, 32, 14336, 128256, false},
                                        {"llama3-70B", 8192, 80, 28672, 128256, false},
                                        {"llama3-405B", 16384, 126, 53248, 128256, false},
                                        {"deepseek-v2-lite", 2048, 27, 10944, 102400, true},
                                        {"deepseek-v2-236B", 5120, 60, 12288, 102400, true},
                                        {"deepseek-v3-671B", 7168, 61, 18432, 129280, true}};

const calc_plan_model *calc_plan_model_of(const calc_plan *plan)
{
    return SAYS(MODEL) ? &model[COUNT(MODEL)] : NULL;
}

const calc_plan_model *calc_plan_model_like(const calc_app *a)
{
    const calc_plan_model *like = NULL;
    bool alike = a->stack.layers == 0 && a->index_heads == 0; /* blocks of attention alone */
    for (size_t i = 0; i < sizeof model / sizeof *model && alike; i++) {
        if (a->hidden == model[i].hidden && a->num_blocks == model[i].blocks &&
            a->feedforward == model[i].feedforward &&
            (a->vocab_size == 0 || a->vocab_size == model[i].vocab) &&
            (a->num_experts > 0) == model[i].experts) {
            like = &model[i];
        }
    }
    return like;
}

/* What takes more than an expression in the rows. */
static void set_rest(calc_plan *plan, const calc_app *a, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    int64_t units = a->num_blocks + (e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS ? 2 : 0);
    int64_t chunks = e->pipeline_par * e->pipeline_interleaving;
    int64_t own = units / chunks;
    SET(CHUNK_BLOCKS, WHERE(e->pipeline_interleaving > 1 && units % chunks == 0, own));
    double blocks = s->offload_share * (double)a->num_blocks;
    SET(OFFLOAD_BLOCKS,
        WHERE(SAYS(OFFLOAD_SHARE) && s->activations_offload && blocks == floor(blocks), blocks));
    bool narrow = s->weight_datatype == s->master_datatype &&
                  s->weight_datatype == s->optimizer_moment_datatype &&
                  s->weight_datatype == s->grad_datatype;
    SET(STATE, WHERE(narrow || s->weight_datatype == CALC_FORMAT_FLOAT32, s->weight_datatype));
    enum { ATTENTION = 1, ROUTER = 2 };
    bool router = a->num_experts > 0, attention = s->cuda_graph > CALC_GRAPHED_ROUTER || !router;
    SET(GRAPHED, WHERE(COUNT(GRAPHS) == 2, attention * ATTENTION + router * ROUTER));
    const calc_plan_model *like = calc_plan_model_like(a);
    SET(MODEL, WHERE(like, like - model));
}

static const calc_stage_run as_exec = {
    1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};

static bool recomputes_nothing(const calc_exec *e)
{
    return e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE;
}

/* A place with all values explicit. */
static bool complete(const calc_exec *exec, int64_t even, int64_t copies, calc_stage_run *place)
{
    calc_exec e = calc_stage_list_exec(exec, place);
    int64_t blocks = place->blocks == CALC_STAGE_AS_EXEC ? even * copies : place->blocks;
    bool own = place->recompute_blocks != CALC_STAGE_AS_EXEC;
    int64_t chunks = own ? copies : exec->pipeline_interleaving;
    int64_t again = e.recompute_blocks;
    bool all = recomputes_nothing(&e) || again == 0 || (own && again >= blocks);
    place->recompute = (int16_t)e.strategy.activation_recompute;
    place->modules = (int16_t)e.strategy.recompute_modules;
    place->blocks = (int16_t)(blocks / copies);
    bool whole = blocks % copies == 0 && (all || again % chunks == 0);
    again = all ? place->blocks : again / chunks;
    again = again < place->blocks ? again : place->blocks;
    place->recompute_blocks = recomputes_nothing(&e) ? 0 : (int16_t)again;
    return whole;
}

int64_t calc_plan_places(const calc_app *app, const calc_exec *exec, calc_stage_run *out)
{
    int64_t stages = exec->pipeline_par;
    int64_t all = stages * exec->pipeline_interleaving;
    int64_t count = calc_stage_list_expand(&exec->stages, out);
    bool even = all > 0 && app->num_blocks % all == 0;
    if (all < 1 || all > CALC_MAX_PLACES || (count > 0 && count != stages && count != all)) {
        return 0;
    }
    if (count == 0) {
        even = even && exec->pipeline_balance == CALC_PIPELINE_BALANCE_BLOCKS &&
               exec->first_stage_blocks == 0 && exec->last_stage_blocks == 0;
        /* Where embedding and head count as one block each and all places hold equally many. */
        int64_t units = app->num_blocks + 2;
        bool ends = exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS && units % all == 0;
        for (; count < all; count++) {
            int64_t own = units / all - (count == 0) - (count == all - 1);
            out[count] = as_exec;
            out[count].blocks = (int16_t)(ends ? own : CALC_STAGE_AS_EXEC);
        }
    }
    int64_t copies = all / count;
    for (int64_t i = 0; i < count; i++) {
        bool spread = out[i].blocks == CALC_STAGE_AS_EXEC;
        if ((spread && !even) || !complete(exec, app->num_blocks / all, copies, &out[i])) {
            return 0;
        }
    }
    for (int64_t i = count; i < all; i++) {
        out[i] = out[i - count];
    }
    return all;
}

static bool is_all(const calc_stage_run *p)
{
    return p->recompute_blocks == p->blocks;
}

static bool same_blocks(const calc_stage_run *place, int64_t count)
{
    bool same = true;
    for (int64_t i = 1; i < count; i++) {
        same = same && place[i].blocks == place[0].blocks;
    }
    return same;
}

static int16_t most_recomputed(const calc_stage_run *place, int64_t count)
{
    int16_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        most = place[i].recompute_blocks > most ? place[i].recompute_blocks : most;
    }
    return most;
}

/* Whether all chunks recompute alike: all their blocks, or the same number, or all blocks where a
 * chunk has fewer. */
static bool same_recomputation(const calc_stage_run *place, int64_t count)
{
    int16_t most = most_recomputed(place, count);
    bool same = true;
    for (int64_t i = 0; i < count; i++) {
        const calc_stage_run *p = &place[i];
        same = same && p->recompute == place[0].recompute && p->modules == place[0].modules &&
               (is_all(p) || p->recompute_blocks == most);
    }
    return same;
}

void calc_plan_stages_resolve(const calc_app *app, calc_exec *exec)
{
    calc_stage_run place[CALC_MAX_PLACES];
    if (exec->stages.count == 0) {
        return;
    }
    int64_t count = calc_plan_places(app, exec, place);
    if (count == 0) {
        return;
    }
    bool blocks = same_blocks(place, count);
    bool recomputation = same_recomputation(place, count);
    if (recomputation) {
        bool all = true;
        for (int64_t i = 0; i < count; i++) {
            all = all && is_all(&place[i]);
        }
        bool none = place[0].recompute == CALC_ACTIVATION_RECOMPUTE_NONE;
        exec->strategy.activation_recompute = (calc_activation_recompute)place[0].recompute;
        exec->strategy.recompute_modules = place[0].modules;
        exec->recompute_blocks =
            all || none ? 0 : most_recomputed(place, count) * exec->pipeline_interleaving;
    }
    for (int64_t i = 0; i < count; i++) {
        place[i].blocks = blocks ? CALC_STAGE_AS_EXEC : place[i].blocks;
        if (recomputation) {
            place[i].recompute = CALC_STAGE_AS_EXEC;
            place[i].recompute_blocks = CALC_STAGE_AS_EXEC;
            place[i].modules = 0;
        }
    }
    if (blocks && recomputation && exec->stages.chips == 0) {
        exec->stages = (calc_stage_list){0};
    } else {
        calc_stage_list whole = exec->stages;
        if (calc_stage_list_pack(place, count, &whole)) {
            exec->stages = whole;
        }
    }
}

/* Number of recomputed first blocks of each chunk, the only form that a list of numbers can
 * express. */
static bool set_recomputed(calc_plan *plan, const calc_stage_run *place, int64_t count)
{
    bool some = false;
    for (int64_t i = 0; i < count; i++) {
        bool full = place[i].recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
        if (!full && place[i].recompute != CALC_ACTIVATION_RECOMPUTE_NONE) {
            return false;
        }
        some = some || (full && !is_all(&place[i]));
        plan->recomputed.number[i] = place[i].recompute_blocks;
    }
    plan->recomputed.count = some || !same_recomputation(place, count) ? (int32_t)count : 0;
    return true;
}

/* Adds the list to a plan that is otherwise finished. Both are resolved. */
static void calc_plan_stages_from(calc_plan *plan, const calc_app *app, const calc_exec *exec)
{
    calc_stage_run place[CALC_MAX_PLACES];
    bool listed = exec->stages.count > 0;
    if (!listed && exec->recompute_blocks == 0) {
        return;
    }
    int64_t count = calc_plan_places(app, exec, place);
    bool told = set_recomputed(plan, place, count);
    if (plan->recomputed.count > 0) {
        SET(RECOMPUTE, 2);
    } else if (!told && !same_recomputation(place, count)) {
        SET(RECOMPUTE, 0);
    }
    if (count == 0 || !listed || same_blocks(place, count)) {
        return;
    }
    SET(STAGE_BLOCKS, 3);
    SET(STAGE_COUNT, count);
    SET(CHUNK_BLOCKS, NAN);
    SET(EVEN_CHUNKS, NAN);
    plan->blocks.count = (int32_t)count;
    for (int64_t i = 0; i < count; i++) {
        plan->blocks.number[i] = place[i].blocks;
    }
}

void calc_plan_from(calc_plan *plan, const calc_app *app, const calc_exec *exec, int64_t node_procs)
{
    calc_app a = *app;
    calc_exec e = *exec;
    calc_plan_resolve(&a, &e);
    calc_plan_clear(plan);
    const calc_strategy *s = &e.strategy;
    const bool latent = s->attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT;
    const bool full = s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    const bool experts = a.num_experts > 0;
    const int64_t nodes = e.num_procs / calc_gcd(e.num_procs, node_procs);
    const int64_t microbatches = e.batch_size / s->data_par / e.microbatch_size;
    const int64_t shards = s->zero_stage > 0 ? s->fsdp_par : 1;
    const int64_t instances = s->data_par * s->context_par / shards;
#define CALC_PLAN(...)
#define CALC_PLAN_OF(name, of, ...) SET(name, of);
#define CALC_PLAN_ABOVE(name, of, field, absent, ...) SET(name, WHERE((double)(of) > (absent), of));
#include "formats/plan.fields.h"
    set_trained(plan, &e);
    set_rest(plan, &a, &e);
    calc_plan_split(plan, &e);
    calc_plan_serve(plan, &a, &e);
    calc_plan_stages_from(plan, &a, &e);
    calc_plan_layers_from(plan, &a, &e);
}

/* Blocks from offsets; prediction blocks count in the last chunk. */
static calc_status apply_offsets(const calc_plan *plan, int64_t blocks, int64_t all,
                                 calc_stage_run *place, calc_errors *errors)
{
    int64_t whole = blocks + COUNT(MTP);
    int64_t sum = 0;
    bool fit = all <= CALC_MAX_PLACES && all % plan->offsets.count == 0;
    for (int64_t i = 0; fit && i < all; i++) {
        int64_t mine = whole / all + plan->offsets.number[i % plan->offsets.count];
        sum += mine;
        mine -= i == all - 1 ? COUNT(MTP) : 0;
        fit = mine > 0;
        place[i].blocks = (int16_t)mine;
    }
    if (fit && sum == whole) {
        return CALC_OK;
    }
    return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                           "a number per stage, or per chunk and stage; with what an even split "
                           "leaves of the blocks for their sum",
                           "the offsets do not spread %lld blocks over %lld stages and chunks",
                           (long long)whole, (long long)all);
}

calc_status calc_plan_stages_apply(const calc_plan *plan, const calc_app *app, calc_exec *exec,
                                   calc_errors *errors)
{
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t all = exec->pipeline_par * exec->pipeline_interleaving;
    bool again = plan->recomputed.count > 0 && all <= CALC_MAX_PLACES;
    for (int64_t i = 0; i < CALC_MAX_PLACES; i++) {
        place[i] = as_exec;
    }
    if (plan->blocks.count == 0 && plan->offsets.count == 0 && !again) {
        return CALC_OK;
    }
    if (plan->offsets.count > 0 && app->num_blocks > 0) {
        calc_status status = apply_offsets(plan, app->num_blocks, all, place, errors);
        if (status != CALC_OK) {
            return status;
        }
    } else if (plan->blocks.count == all && all <= CALC_MAX_PLACES) {
        for (int64_t i = 0; i < all; i++) {
            place[i].blocks = plan->blocks.number[i];
        }
    }
    if (again && all % plan->recomputed.count != 0) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                               "a number per stage, or per chunk and stage",
                               "blocks that recompute are given for %d of %lld stages and chunks",
                               plan->recomputed.count, (long long)all);
    }
    for (int64_t i = 0; again && i < all; i++) {
        int16_t number = plan->recomputed.number[i % plan->recomputed.count];
        place[i].recompute =
            (int16_t)(number > 0 ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE);
        place[i].recompute_blocks = number;
    }
    if (all <= CALC_MAX_PLACES && !calc_stage_list_pack(place, all, &exec->stages)) {
        exec->stages = (calc_stage_list){0};
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "more than %d runs of equal stages", CALC_MAX_STAGE_RUNS);
    }
    calc_plan_stages_resolve(app, exec);
    return CALC_OK;
}

/* What is said of places. */
enum { BLOCKS, RECOMPUTATION, SYSTEM };
typedef struct said {
    int what;
    const calc_exec *exec;
    const calc_stage_run *place;
} said;

static int64_t word_of(const void *context, int64_t i, char word[CALC_JOINED_WORD])
{
    const said *s = context;
    const calc_stage_run *place = &s->place[i];
    const calc_field *row = calc_table_find(calc_table_of(CALC_KIND_EXEC), "activation_recompute");
    if (s->what == BLOCKS) {
        snprintf(word, CALC_JOINED_WORD, "%d", place->blocks);
    } else if (s->what == SYSTEM) {
        snprintf(word, CALC_JOINED_WORD, "%s",
                 place->chip > 0 ? s->exec->stages.name[place->chip - 1] : "that of the run");
    } else {
        bool some = !is_all(place) && place->recompute_blocks > 0;
        snprintf(word, CALC_JOINED_WORD, some ? "%s of %d" : "%s", row->choices[place->recompute],
                 place->recompute_blocks);
    }
    return 1;
}

void calc_plan_stages_lost(const calc_app *app, const calc_exec *exec, const calc_exec *back,
                           calc_tell_lost *tell, void *context)
{
    static const char *const fields[] = {"stages.blocks", "stages.recompute_blocks"};
    calc_stage_run mine[CALC_MAX_PLACES], other[CALC_MAX_PLACES];
    char text[512];
    if (exec->stages.count == 0 && back->stages.count == 0) {
        return;
    }
    int64_t count = calc_plan_places(app, exec, mine);
    bool same_count =
        count > 0 && back->pipeline_par > 0 && calc_plan_places(app, back, other) == count;
    for (int what = BLOCKS; what <= RECOMPUTATION; what++) {
        bool whole = what == RECOMPUTATION && same_recomputation(mine, count);
        bool lost = !same_count && !whole;
        for (int64_t i = 0; i < count && same_count && !lost; i++) {
            const calc_stage_run *a = &mine[i], *b = &other[i];
            lost = what == BLOCKS ? a->blocks != b->blocks
                                  : a->recompute != b->recompute || a->modules != b->modules ||
                                        a->recompute_blocks != b->recompute_blocks;
        }
        if (lost) {
            const said places = {what, exec, mine};
            calc_join_words(text, sizeof text, count, word_of, &places, what == BLOCKS ? "x" : "x ",
                            2);
            tell(context, fields[what], text, true);
        }
    }
    if (exec->stages.chips > 0) {
        const said places = {SYSTEM, exec, mine};
        tell(context, "stages.system",
             calc_join_words(text, sizeof text, count, word_of, &places, "x ", 2), false);
    }
}

calc_plan_list calc_plan_offsets(const calc_plan *plan)
{
    calc_plan_list offsets = plan->blocks;
    int64_t all = offsets.count, predictions = COUNT(MTP);
    for (int64_t i = 0; i < all; i++) {
        offsets.number[i] = (int16_t)(offsets.number[i] + (i == all - 1 ? predictions : 0) -
                                      (COUNT(BLOCKS) + predictions) / all);
    }
    return offsets;
}

bool calc_plan_list_write(const calc_plan_list *list, int64_t stages, char *text)
{
    bool several = list->count > stages;
    snprintf(text, CALC_ROW_TEXT_SIZE, "%s", several ? "[" : "");
    for (int64_t i = 0; i < list->count; i++) {
        calc_append(text, CALC_ROW_TEXT_SIZE, "%s%s%d%s", i > 0 ? ", " : "",
                    i % stages == 0 ? "[" : "", list->number[i],
                    i % stages == stages - 1 ? "]" : "");
    }
    calc_append(text, CALC_ROW_TEXT_SIZE, several ? "]" : "");
    return list->count > 0;
}

bool calc_plan_list_read(const char *text, calc_plan_list *list)
{
    enum { MOST = 10000 };
    calc_plan_list found = {0};
    for (text += strspn(text, " ,[]"); *text; text += strspn(text, " ,[]")) {
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || !strchr(" ,[]", *end) || labs(number) > MOST ||
            found.count == CALC_MAX_PLACES) {
            return false;
        }
        found.number[found.count++] = (int16_t)number;
        text = end;
    }
    *list = found;
    return found.count > 0;
}
