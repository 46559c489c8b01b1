#include "formats/plan_layers.h"

#include <stddef.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/export.h"
#include "formats/framework.h"
#include "formats/plan.h"
#include "formats/plan_macros.h"
#include "spec/field.h"
#include "spec/stack.h"

/* Whether a member of calc_part, by its offset, says something about a part of this type. A sweep
 * asks this of every member for every layout: comparing names took most of its time. */
static bool uses(const calc_part *part, size_t member)
{
#define AT(name) offsetof(calc_part, name)
    static const size_t experts[] = {
        AT(num_experts),  AT(experts_per_token), AT(expert_feedforward), AT(shared_feedforward),
        AT(router_bias),  AT(shared_gate),       AT(expert_latent),      AT(expert_latent_norm),
        AT(zero_experts), AT(router_scale)};
    bool act = member == AT(ffn_type), width = member == AT(feedforward);
    bool linear = member >= AT(linear_key_heads), routed = false; /* the last rows */
    for (size_t i = 0; i < sizeof experts / sizeof *experts; i++) {
        routed = routed || member == experts[i];
    }
    switch (part->type) {
    case CALC_PART_TYPE_MLP:
        return act || width;
    case CALC_PART_TYPE_MOE:
        return act || routed;
    case CALC_PART_TYPE_ATTENTION:
    case CALC_PART_TYPE_COMPRESSED:
        return !act && !width && !linear && !routed &&
               !(part->kv_lora_rank > 0 && (member == AT(attn_size) || member == AT(kv_heads)));
    default:
        return linear;
    }
#undef AT
}

static bool is_used(const calc_stack *s, int part)
{
    for (int i = 0; i < s->kinds; i++) {
        const calc_layer_kind *k = &s->kind[i];
        if (k->count > 0 && (k->mixer[0] == part || k->mixer[1] == part || k->ffn[0] == part ||
                             k->ffn[1] == part)) {
            return true;
        }
    }
    return false;
}

const calc_part *calc_plan_layers_part(const calc_stack *s, calc_part_type type)
{
    const calc_part *found = NULL;
    bool plain = false;
    for (int i = 0; i < s->parts && !plain; i++) {
        const calc_part *p = &s->part[i];
        if (p->type == type && is_used(s, i)) {
            plain = p->window_size == 0 && !p->index_shared &&
                    p->position_type != CALC_POSITION_TYPE_NONE;
            found = plain || !found ? p : found;
        }
    }
    return found;
}

static void represent(calc_app *app, const calc_part *part)
{
#define CALC_FIELD(name, kind, arg, ...)
#define CALC_PART_FIELD(name, kind, arg, ...)                                                      \
    {offsetof(calc_part, name), offsetof(calc_app, name), sizeof app->name},
    static const struct {
        uint16_t from, to, size;
    } members[] = {
#include "calc/app.fields.h"
    };
#undef CALC_FIELD
#undef CALC_PART_FIELD
    for (size_t i = 0; i < sizeof members / sizeof *members && part; i++) {
        if (uses(part, members[i].from)) {
            memcpy((char *)app + members[i].to, (const char *)part + members[i].from,
                   members[i].size);
        }
    }
}

void calc_plan_layers_represent(calc_app *app)
{
    const calc_stack *s = &app->stack;
    const calc_part *experts = calc_plan_layers_part(s, CALC_PART_TYPE_MOE);
    if (s->layers == 0) {
        return;
    }
    app->num_experts = 0;
    represent(app, experts);
    represent(app, calc_plan_layers_part(s, CALC_PART_TYPE_MLP));
    represent(app, calc_plan_layers_part(s, CALC_PART_TYPE_ATTENTION));
    app->window_size = 0;
    for (int i = 0; i < s->parts; i++) {
        const calc_part *p = &s->part[i];
        bool wider = p->type == CALC_PART_TYPE_ATTENTION && p->window_size > app->window_size;
        app->window_size = wider ? p->window_size : app->window_size;
    }
}

static const calc_layer_kind *kind_at(const calc_stack *s, int32_t layer)
{
    return &s->kind[s->layer[layer]];
}

bool calc_plan_layers_are_blocks(const calc_stack *s)
{
    for (int32_t i = 0; i < s->layers; i++) {
        const calc_layer_kind *k = kind_at(s, i);
        calc_part_type mixer = k->mixer[0] >= 0 ? s->part[k->mixer[0]].type : CALC_PART_TYPE_MLP;
        if ((mixer != CALC_PART_TYPE_ATTENTION && mixer != CALC_PART_TYPE_GATED_DELTA) ||
            k->mixer[1] >= 0 || k->ffn[0] < 0 || k->ffn[1] >= 0) {
            return false;
        }
    }
    return s->mtp == 0 || (s->mtp == 1 && s->mtp_layer[0] == s->layer[s->layers - 1]);
}

/* arguments.py: validate_model_config_args_from_heterogeneous_config() */
bool calc_plan_layers_are_sized(const calc_app *a)
{
    const calc_stack *s = &a->stack;
    const calc_part *mlp = calc_plan_layers_part(s, CALC_PART_TYPE_MLP);
    int attention = -1;
    bool sized = false;
    for (int i = 0; i < s->kinds; i++) {
        const calc_layer_kind *k = &s->kind[i];
        const calc_part *mixer = k->mixer[0] >= 0 ? &s->part[k->mixer[0]] : NULL;
        const calc_part *ffn = k->ffn[0] >= 0 ? &s->part[k->ffn[0]] : NULL;
        if (k->count == 0) {
            continue;
        }
        if (k->mixer[1] >= 0 || k->ffn[1] >= 0 || (ffn && ffn->type != CALC_PART_TYPE_MLP) ||
            (mixer && (mixer->type != CALC_PART_TYPE_ATTENTION || mixer->kv_lora_rank > 0 ||
                       (attention >= 0 && attention != k->mixer[0])))) {
            return false;
        }
        attention = mixer ? k->mixer[0] : attention;
        sized = sized || (ffn && ffn->feedforward != mlp->feedforward);
    }
    return sized && s->mtp == 0 && a->ffn_type == CALC_FFN_TYPE_SWIGLU &&
           a->norm_type == CALC_NORM_TYPE_RMS && a->position_type == CALC_POSITION_TYPE_ROPE;
}

static char letter_of(const calc_part *p)
{
    switch (p->type) {
    case CALC_PART_TYPE_MAMBA2:
        return 'M';
    case CALC_PART_TYPE_GATED_DELTA:
        return 'G';
    case CALC_PART_TYPE_ATTENTION:
        return p->kv_lora_rank == 0 ? '*' : p->index_heads > 0 ? 'D' : '+';
    case CALC_PART_TYPE_MLP:
        return '-';
    case CALC_PART_TYPE_MOE:
        return 'E';
    default:
        return '\0';
    }
}

/* Writes a letter for each part of a layer at *end, which moves on.
 * @return false: one has none, or two stand side by side */
static bool add_letters(const calc_stack *s, int kind, char **end)
{
    const calc_layer_kind *k = &s->kind[kind];
    bool fine = k->mixer[1] < 0 && k->ffn[1] < 0;
    for (int i = 0; i < 2; i++) {
        int part = i == 0 ? k->mixer[0] : k->ffn[0];
        if (part >= 0) {
            **end = letter_of(&s->part[part]);
            fine = fine && **end;
            ++*end;
        }
    }
    return fine;
}

/* Which blocks have something: every so many one (`nth` is its mark), or all marks.
 * @return 0: the marks say it */
static int64_t period_of(const calc_plan_marks *marks, int nth)
{
    for (int32_t every = 2; every <= marks->count; every++) {
        bool same = true;
        for (int32_t i = 0; i < marks->count && same; i++) {
            same = marks->mark[i] == ((i + 1) % every == 0 ? nth : !nth);
        }
        if (same) {
            return every;
        }
    }
    return 0;
}

static bool is_all(const calc_plan_marks *marks, int mark)
{
    for (int32_t i = 0; i < marks->count; i++) {
        if (marks->mark[i] != mark) {
            return false;
        }
    }
    return true;
}

/* Whether a layer takes the keys that an earlier one chose (Megatron-LM,
 * experimental_attention_variant/dsa.py). */
static bool is_shared(int64_t layer, int64_t every, int64_t offset)
{
    int64_t first = offset > 1 ? offset : 1, behind = layer + 1 - first;
    return (behind > 0 ? behind : 0) % every != 0;
}

static void set_index(calc_plan *plan, const calc_app *a)
{
    const calc_stack *s = &a->stack;
    SET(VARIANT, 2);
    SET(INDEX_HEADS, a->index_heads);
    SET(INDEX_SIZE, a->index_size);
    SET(INDEX_TOPK, a->index_topk);
    for (int64_t every = 1; every <= s->layers && calc_plan_layers_are_blocks(s); every++) {
        for (int64_t offset = 0; offset <= every; offset++) {
            bool same = true;
            for (int32_t i = 0; i < s->layers && same; i++) {
                const int8_t *mixer = kind_at(s, i)->mixer;
                same = s->part[mixer[0]].index_shared == is_shared(i, every, offset);
            }
            if (same && every > 1) {
                SET(INDEX_EVERY, every);
                SET(INDEX_OFFSET, offset);
            }
            if (same) {
                return;
            }
        }
    }
}

static void set_delta(calc_plan *plan, const calc_part *p)
{
    if (p) {
        SET(KEY_HEADS, p->linear_key_heads);
        SET(KEY_SIZE, p->linear_key_size);
        SET(VALUE_HEADS, p->linear_value_heads);
        SET(VALUE_SIZE, p->linear_value_size);
        SET(CONV, p->linear_conv);
    }
}

/* One list per property of a block. */
static void set_marks(calc_plan *plan, const calc_app *a)
{
    const calc_stack *s = &a->stack;
    calc_plan_marks *const all[] = {&plan->experts, &plan->linear, &plan->windows,
                                    &plan->unrotated};
    calc_pattern pattern;
    for (int32_t i = 0; i < s->layers; i++) {
        const calc_layer_kind *k = kind_at(s, i);
        const calc_part *mixer = k->mixer[0] >= 0 ? &s->part[k->mixer[0]] : NULL;
        bool attends = mixer && mixer->type == CALC_PART_TYPE_ATTENTION;
        plan->experts.mark[i] = k->ffn[0] >= 0 && s->part[k->ffn[0]].type == CALC_PART_TYPE_MOE;
        plan->linear.mark[i] = mixer && mixer->type == CALC_PART_TYPE_GATED_DELTA;
        plan->windows.mark[i] = !attends || mixer->window_size > 0;
        plan->unrotated.mark[i] = attends && mixer->position_type == CALC_POSITION_TYPE_NONE;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i]->count = s->layers;
    }
    if (calc_pattern_of(plan->experts.mark, (size_t)s->layers, &pattern)) {
        SET(DENSE_BLOCKS, pattern.dense);
        SET(MOE_EVERY, pattern.every);
        plan->experts.count = 0;
    }
    if (is_all(&plan->linear, 0)) {
        plan->linear.count = 0;
    } else {
        SET(VARIANT, 1);
        set_delta(plan, calc_plan_layers_part(s, CALC_PART_TYPE_GATED_DELTA));
        SET(LINEAR_EVERY, period_of(&plan->linear, 0));
    }
    if (a->window_size == 0 || is_all(&plan->windows, 1)) {
        plan->windows.count = 0;
    } else {
        SET(GLOBAL_EVERY, period_of(&plan->windows, 0));
    }
    if (is_all(&plan->unrotated, 0) || a->position_type == CALC_POSITION_TYPE_NONE) {
        plan->unrotated.count = 0;
    } else {
        SET(UNROTATED, period_of(&plan->unrotated, 1));
    }
    plan->linear.count = YES(LINEAR_EVERY) ? 0 : plan->linear.count;
    plan->windows.count = YES(GLOBAL_EVERY) ? 0 : plan->windows.count;
    plan->unrotated.count = YES(UNROTATED) ? 0 : plan->unrotated.count;
}

/* Blocks of every chunk along the model, 0 where it cannot be said. @return how many chunks */
static int64_t chunks_of(const calc_app *a, const calc_exec *e, int64_t block[CALC_MAX_PLACES])
{
    calc_stage_run place[CALC_MAX_PLACES];
    calc_stage_text even = {.stages = e->pipeline_par * e->pipeline_interleaving,
                            .blocks = a->num_blocks,
                            .ends = e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS};
    bool spread = e->stages.count == 0 && e->first_stage_blocks == 0 && e->last_stage_blocks == 0 &&
                  e->pipeline_balance != CALC_PIPELINE_BALANCE_FREE &&
                  even.stages <= CALC_MAX_PLACES;
    int64_t count = spread ? even.stages : calc_plan_places(a, e, place);
    for (int64_t i = 0; i < count; i++) {
        block[i] = spread ? calc_stage_text_blocks(&even, i) : place[i].blocks;
    }
    return count;
}

/* A letter per part, and the ends of stages among them.
 * @return whether every part has one */
static bool set_letters(calc_plan *plan, const calc_app *a, const calc_exec *e)
{
    /* What the letters say, or hybrid models are not told (Megatron-LM, arguments.py). */
    static const calc_plan_member without[] = {
        CALC_PLAN_CHUNKS,       CALC_PLAN_EVEN_CHUNKS, CALC_PLAN_CHUNK_BLOCKS,
        CALC_PLAN_FIRST_BLOCKS, CALC_PLAN_LAST_BLOCKS, CALC_PLAN_STAGE_BLOCKS,
        CALC_PLAN_EVEN_ENDS,    CALC_PLAN_EVEN_HEAD,   CALC_PLAN_DENSE_BLOCKS};
    const calc_stack *s = &a->stack;
    char text[CALC_PLAN_LETTERS_SIZE] = "", mtp[2 * CALC_MAX_MTP_LAYERS + 1] = "";
    char *to = text, *to_mtp = mtp;
    int64_t block[CALC_MAX_PLACES] = {0}, chunks = chunks_of(a, e, block), at = 0, end = block[0];
    bool fine = true;
    for (int32_t i = 0; i < s->layers && fine; i++) {
        for (; at + 1 < chunks && i == end; end += block[at]) {
            *to++ = '|';
            at++;
        }
        fine = add_letters(s, s->layer[i], &to);
    }
    for (int32_t i = 0; i < (s->mtp > 0 ? s->mtp : 1) && fine; i++) {
        fine = add_letters(s, s->mtp > 0 ? s->mtp_layer[i] : s->layer[s->layers - 1], &to_mtp);
    }
    if (!fine) {
        return false;
    }
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        plan->value[without[i]] = NAN;
    }
    SET(BLOCKS, (int64_t)(to - text) - at);
    SET(LETTERS, 1);
    for (int64_t i = 0; i < a->mtp_blocks; i++) {
        calc_append(text, sizeof text, "/%s", mtp);
    }
    memcpy(plan->letters, text, sizeof text);
    set_delta(plan, calc_plan_layers_part(s, CALC_PART_TYPE_GATED_DELTA));
    const calc_part *mamba = calc_plan_layers_part(s, CALC_PART_TYPE_MAMBA2);
    if (mamba) {
        SET(STATE_GROUPS, mamba->linear_key_heads);
        SET(STATE_SIZE, mamba->linear_key_size);
        SET(STATE_HEADS, mamba->linear_value_heads);
        SET(STATE_HEAD_SIZE, mamba->linear_value_size);
    }
    return true;
}

void calc_plan_layers_from(calc_plan *plan, const calc_app *a, const calc_exec *e)
{
    bool sized = calc_plan_layers_are_sized(a);
    bool letters = a->stack.layers > 0 && !sized && !calc_plan_layers_are_blocks(&a->stack) &&
                   set_letters(plan, a, e);
    if (sized) {
        SET(SIZED_LAYERS, 1);
    } else if (a->stack.layers > 0 && !letters) {
        set_marks(plan, a);
    }
    if (a->index_heads > 0 && a->kv_lora_rank > 0 && COUNT(VARIANT) != 1) {
        set_index(plan, a);
        plan->value[CALC_PLAN_VARIANT] = letters ? NAN : plan->value[CALC_PLAN_VARIANT];
    }
}

bool calc_plan_layers_letters(const char *text)
{
    size_t layers = strspn(text, "M*-EGD+|"), mtp = 0;
    const char *at = text + layers;
    bool alike = true;
    for (const char *first = at; *at == '/'; at += 1 + mtp) {
        mtp = strspn(at + 1, "M*-EGD+");
        alike = alike && strncmp(first, at, 1 + mtp) == 0 && mtp <= CALC_MAX_MTP_LAYERS;
    }
    return layers > 0 && layers <= 2 * CALC_MAX_STACK && alike && *at == '\0' &&
           strlen(text) < CALC_PLAN_LETTERS_SIZE;
}

calc_status calc_plan_layers_join(calc_plan *plan, calc_errors *errors)
{
    calc_plan_list *stages = &plan->blocks;
    int64_t layers = 0, depths = 0;
    if (!SAYS(LETTERS)) {
        return CALC_OK;
    }
    stages->count = 1;
    stages->number[0] = 0;
    for (const char *at = plan->letters; *at; at++) {
        depths += *at == '/' && at[1] && at[1] != '/';
        if (*at == '|' && depths == 0 && stages->count < CALC_MAX_PLACES) {
            stages->number[stages->count++] = 0;
        } else if (*at != '/' && *at != '|' && depths == 0) {
            stages->number[stages->count - 1]++;
            layers++;
        }
    }
    if (SAYS(BLOCKS) && COUNT(BLOCKS) != layers) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                               "say the same, or leave the number out",
                               "the pattern has %lld layers, their number says %lld",
                               (long long)layers, (long long)COUNT(BLOCKS));
    }
    SET(BLOCKS, layers);
    if (stages->count > 1) {
        SET(STAGE_COUNT, stages->count);
        SET(STAGE_BLOCKS, 3);
    }
    for (int ends = 1; ends >= 0 && stages->count > 1; ends--) {
        calc_stage_text even = {.stages = stages->count, .blocks = layers, .ends = ends == 1};
        bool same = true;
        for (int32_t i = 0; i < stages->count; i++) {
            same = same && stages->number[i] == calc_stage_text_blocks(&even, i);
        }
        if (same) {
            SET(STAGE_BLOCKS, 1 + ends);
        }
    }
    stages->count = stages->count > 1 ? stages->count : 0;
    if (depths > COUNT(MTP)) {
        SET(MTP, depths);
    }
    if (strpbrk(plan->letters, "+D")) {
        SET(LATENT, 1);
    }
    return CALC_OK;
}

/* A part of a model, new where there is none of this name. Fewer are asked for than there can be.
 */
static calc_part *part_named(calc_app *app, const char *name, calc_part_type type)
{
    const char *why;
    for (int i = 0; i < app->stack.parts; i++) {
        if (strcmp(app->stack.part[i].name, name) == 0) {
            return &app->stack.part[i];
        }
    }
    return calc_stack_declare(app, name, type, &why);
}

static int8_t index_of(const calc_app *app, const calc_part *part)
{
    return (int8_t)(part - app->stack.part);
}

static void apply_delta(const calc_plan *plan, calc_part *p)
{
    p->linear_key_heads = COUNT(KEY_HEADS);
    p->linear_key_size = COUNT(KEY_SIZE);
    p->linear_value_heads = COUNT(VALUE_HEADS);
    p->linear_value_size = COUNT(VALUE_SIZE);
    p->linear_conv = COUNT(CONV);
}

static calc_part *part_of_letter(const calc_plan *plan, calc_app *app, char letter)
{
    static const struct {
        char letter;
        const char *name;
        calc_part_type type;
    } parts[] = {{'M', "M", CALC_PART_TYPE_MAMBA2},
                 {'G', "G", CALC_PART_TYPE_GATED_DELTA},
                 {'*', "*", CALC_PART_TYPE_ATTENTION},
                 {'D', "D", CALC_PART_TYPE_ATTENTION},
                 {'-', "-", CALC_PART_TYPE_MLP},
                 {'E', "E", CALC_PART_TYPE_MOE},
                 {'+', "attention", CALC_PART_TYPE_ATTENTION}};
    size_t i = 0;
    while (i + 1 < sizeof parts / sizeof *parts && parts[i].letter != letter) {
        i++;
    }
    calc_part *p = part_named(app, parts[i].name, parts[i].type);
    if (letter == 'M') {
        int64_t width = COUNT(STATE_HEAD_SIZE);
        p->linear_key_heads = COUNT(STATE_GROUPS);
        p->linear_key_size = COUNT(STATE_SIZE);
        p->linear_value_size = width;
        p->linear_value_heads = COUNT_OR(STATE_HEADS, width > 0 ? 2 * app->hidden / width : 0);
        p->linear_conv = 4; /* megatron/core/ssm/mamba_mixer.py: d_conv */
    } else if (letter == 'G') {
        apply_delta(plan, p);
    } else if (letter == 'D') {
        p->index_heads = COUNT(INDEX_HEADS);
        p->index_size = COUNT(INDEX_SIZE);
        p->index_topk = COUNT(INDEX_TOPK);
    }
    return p;
}

/* The kind of layer that a letter is. There are fewer letters than kinds of layers. */
static int kind_of_letter(const calc_plan *plan, calc_app *app, char letter)
{
    const calc_part *p = part_of_letter(plan, app, letter);
    const int8_t own[2] = {index_of(app, p), -1}, none[2] = {-1, -1};
    bool mixes = calc_part_mixes(p->type);
    return calc_stack_kind(&app->stack, mixes ? own : none, mixes ? none : own);
}

static void apply_letters(const calc_plan *plan, calc_app *app)
{
    const char *at = plan->letters, *mtp = strchr(plan->letters, '/');
    for (; *at && *at != '/'; at++) {
        if (*at != '|') {
            calc_stack_append(&app->stack, kind_of_letter(plan, app, *at), 1);
        }
    }
    mtp = mtp ? mtp + 1 : SAYS(MTP_LETTERS) ? plan->mtp_letters : "";
    for (; *mtp && *mtp != '/' && app->stack.mtp < CALC_MAX_MTP_LAYERS; mtp++) {
        app->stack.mtp_layer[app->stack.mtp++] = (uint8_t)kind_of_letter(plan, app, *mtp);
    }
}

static bool mark_at(const calc_plan_marks *marks, int32_t layer)
{
    return layer < marks->count && marks->mark[layer];
}

/* The mixer of a block. */
static calc_part *mixer_at(const calc_plan *plan, calc_app *app, int64_t window, int32_t layer)
{
    int64_t period = COUNT(GLOBAL_EVERY), bare = COUNT(UNROTATED), linear = COUNT(LINEAR_EVERY);
    int64_t nth = layer + 1;
    bool sparse = COUNT(VARIANT) == 2, local = window > 0, unrotated, delta, shared;
    delta = COUNT(VARIANT) == 1 && (linear > 0 ? nth % linear != 0 : mark_at(&plan->linear, layer));
    local = local && (plan->windows.count > 0 ? mark_at(&plan->windows, layer)
                                              : period == 0 || nth % period != 0);
    unrotated = bare > 0 ? nth % bare == 0 : mark_at(&plan->unrotated, layer);
    shared = sparse && is_shared(layer, COUNT(INDEX_EVERY), COUNT(INDEX_OFFSET));
    if (delta) {
        calc_part *p = part_named(app, "gdn", CALC_PART_TYPE_GATED_DELTA);
        apply_delta(plan, p);
        return p;
    }
    const char *base = sparse ? "dsa" : local || unrotated ? "" : "attention";
    const char *name = CALC_TEXT(32, "%s%s%s%s", base, local ? "local" : "",
                                 unrotated ? "nope" : "", shared ? "_shared" : "");
    calc_part *p = part_named(app, name, CALC_PART_TYPE_ATTENTION);
    p->window_size = local ? window : 0;
    p->position_type = unrotated ? CALC_POSITION_TYPE_NONE : p->position_type;
    p->index_shared = shared;
    return p;
}

static void apply_marks(const calc_plan *plan, calc_app *app)
{
    int64_t blocks = app->num_blocks, dense = app->dense_blocks, window = app->window_size;
    int64_t every = app->moe_every > 1 ? app->moe_every : 1;
    app->window_size = app->global_every = app->dense_blocks = app->moe_every = 0;
    for (int32_t i = 0; i < blocks; i++) {
        bool experts = plan->experts.count > 0 ? mark_at(&plan->experts, i)
                                               : i >= dense && (i - dense) % every == 0;
        experts = experts && app->num_experts > 0;
        const calc_part *mixer = mixer_at(plan, app, window, i);
        const calc_part *ffn = part_named(app, experts ? "moe" : "mlp",
                                          experts ? CALC_PART_TYPE_MOE : CALC_PART_TYPE_MLP);
        const int8_t first[2] = {index_of(app, mixer), -1}, second[2] = {index_of(app, ffn), -1};
        calc_stack_append(&app->stack, calc_stack_kind(&app->stack, first, second), 1);
    }
}

static calc_status check_lists(const calc_plan *plan, const calc_app *app, calc_errors *errors)
{
    const struct {
        const calc_plan_marks *marks;
        const char *what;
    } lists[] = {{&plan->experts, "experts"},
                 {&plan->linear, "the gated delta rule"},
                 {&plan->windows, "windows"},
                 {&plan->unrotated, "no positions"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lists[i].marks->count > 0 && app->num_blocks > 0 &&
            lists[i].marks->count != app->num_blocks) {
            return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                                   "the list has a 0 or a 1 for every layer",
                                   "the list of layers with %s has %d, the model %lld",
                                   lists[i].what, (int)lists[i].marks->count,
                                   (long long)app->num_blocks);
        }
    }
    return CALC_OK;
}

calc_status calc_plan_layers_apply(const calc_plan *plan, calc_app *app, calc_errors *errors)
{
    bool letters = YES(LETTERS), sparse = COUNT(VARIANT) == 2;
    app->output_gate = (calc_output_gate)COUNT(OUTPUT_GATE);
    app->attention_sinks = YES(SINKS);
    app->qkv_bias = YES(QKV_BIAS);
    app->shared_gate = YES(SHARED_GATE) && app->num_experts > 0;
    app->expert_latent = app->num_experts > 0 ? COUNT(EXPERT_LATENT) : 0;
    app->mtp_shared = YES(MTP_SHARED);
    if (sparse && !letters) {
        app->index_heads = COUNT(INDEX_HEADS);
        app->index_size = COUNT(INDEX_SIZE);
        app->index_topk = COUNT(INDEX_TOPK);
    }
    if (YES(HYBRID_MODEL) && !letters) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                               "write the pattern that Megatron-LM prints at its start",
                               "a hybrid model needs its layers, --hybrid-layer-pattern: calc does "
                               "not spread shares of them");
    }
    bool marks = (plan->experts.count > 0 && !SAYS(MOE_EVERY)) || plan->windows.count > 0 ||
                 plan->unrotated.count > 0 || YES(UNROTATED) || COUNT(VARIANT) == 1 ||
                 (sparse && COUNT(INDEX_EVERY) > 1);
    calc_status status = check_lists(plan, app, errors);
    if (status != CALC_OK || (!letters && !marks)) {
        return status;
    }
    if (app->num_blocks > CALC_MAX_STACK || app->num_blocks < 1) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "%lld layers that differ: expected 1 to %d",
                               (long long)app->num_blocks, CALC_MAX_STACK);
    }
    if (letters) {
        app->dense_blocks = app->moe_every = app->global_every = 0;
        apply_letters(plan, app);
    } else if (status == CALC_OK) {
        apply_marks(plan, app);
    }
    return status;
}

/* A place in the layers of a model, or of a depth of its multi-token prediction. */
typedef struct cursor {
    const calc_app *app;
    bool mtp;
    int64_t layer;
    int slot;       /* of the layer: two mixers, two feed-forward parts */
    calc_part flat; /* of a model that does not list its layers */
} cursor;

/* The next part and, if it stands beside the one before, true; NULL at the end. */
static const calc_part *next(cursor *c, bool *beside)
{
    const calc_app *a = c->app;
    const calc_stack *s = &a->stack;
    bool listed = s->layers > 0;
    int64_t count = !c->mtp ? a->num_blocks : listed && s->mtp > 0 ? s->mtp : 1;
    for (; c->layer < count; c->layer++, c->slot = 0) {
        int64_t layer = c->mtp && !(listed && s->mtp > 0) ? a->num_blocks - 1 : c->layer;
        const calc_layer_kind *k = !listed                ? NULL
                                   : c->mtp && s->mtp > 0 ? &s->kind[s->mtp_layer[layer]]
                                                          : kind_at(s, (int32_t)layer);
        while (c->slot < 4) {
            int slot = c->slot++;
            *beside = slot % 2 == 1;
            int part = !k ? -1 : slot < 2 ? k->mixer[slot] : k->ffn[slot - 2];
            if (part >= 0) {
                return &s->part[part];
            }
            if (!listed && slot % 2 == 0) {
                bool experts = a->num_experts > 0 && layer >= a->dense_blocks &&
                               (layer - a->dense_blocks) % a->moe_every == 0;
                c->flat = calc_part_of(a, slot == 0 ? CALC_PART_TYPE_ATTENTION
                                          : experts ? CALC_PART_TYPE_MOE
                                                    : CALC_PART_TYPE_MLP);
                bool global = a->global_every > 0 && (layer + 1) % a->global_every == 0;
                c->flat.window_size = global ? 0 : a->window_size;
                return &c->flat;
            }
        }
    }
    return NULL;
}

/* Reports the fields in which a part differs from the one that takes its place. */
static size_t part_lost(const calc_part *part, const calc_part *back, const char *elsewhere,
                        calc_tell_lost *tell, void *context, bool told[])
{
    const calc_table *table = calc_part_table();
    size_t count = 0;
    for (size_t i = 1; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        double mine = calc_member_number(field, (const char *)part + field->offset);
        double other = calc_member_number(field, (const char *)back + field->offset);
        if (mine != other && uses(part, field->offset) && !told[i] &&
            !calc_is_word(elsewhere, field->key)) {
            char text[CALC_VALUE_TEXT];
            tell(context, CALC_TEXT(128, "parts.%s.%s", part->name, field->key),
                 calc_value_text(field, (const char *)part + field->offset, text), true);
            told[i] = true;
            count++;
        }
    }
    return count;
}

enum { MOST_FIELDS = 128 };

static size_t sequence_lost(const calc_app *app, const calc_app *back, const char *elsewhere,
                            bool mtp, calc_tell_lost *tell, void *context)
{
    cursor mine = {.app = app, .mtp = mtp}, other = {.app = back, .mtp = mtp};
    bool told[CALC_MAX_PARTS + 1][MOST_FIELDS] = {{false}};
    bool compared[CALC_MAX_PARTS][CALC_MAX_PARTS] = {{false}};
    size_t count = 0;
    for (;;) {
        bool beside = false, beside_back = false;
        const calc_part *p = next(&mine, &beside), *q = next(&other, &beside_back);
        if (!p && !q) {
            return count;
        }
        if (!p || !q || p->type != q->type || beside != beside_back) {
            char text[CALC_STACK_TEXT];
            const calc_stack *s = &app->stack;
            const char *at = p ? p->name : "their number";
            if (p && s->layers > 0 && !mtp) {
                at = calc_stack_kind_text(s, s->layer[mine.layer], text, sizeof text);
            }
            tell(context, mtp ? "mtp_layers" : "layers", at, true);
            return count + 1;
        }
        size_t part = p == &mine.flat ? CALC_MAX_PARTS : (size_t)(p - app->stack.part);
        bool both = p != &mine.flat && q != &other.flat;
        bool *known = both ? &compared[part][q - back->stack.part] : NULL;
        if (!known || !*known) {
            count += part_lost(p, q, elsewhere, tell, context, told[part]);
        }
        if (known) {
            *known = true;
        }
    }
}

void calc_plan_layers_lost(const calc_app *app, const calc_app *back, const char *elsewhere,
                           calc_tell_lost *tell, void *context)
{
    if (app->stack.layers == 0 && back->stack.layers == 0) {
        return;
    }
    size_t count = sequence_lost(app, back, elsewhere, false, tell, context);
    if (count == 0 && app->mtp_blocks > 0) {
        count = sequence_lost(app, back, elsewhere, true, tell, context);
    }
    if (count == 0 && app->num_blocks != back->num_blocks) {
        const char *text = CALC_TEXT(96, "%lld: there they are %lld layers of one part each",
                                     (long long)app->num_blocks, (long long)back->num_blocks);
        tell(context, "num_blocks", text, false);
    }
}
