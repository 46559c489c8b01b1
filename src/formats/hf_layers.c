/* Which parts the layers of a configuration have. Each list of layers, or period of them, changes
 * what an earlier one said; what remains is said by the short form of a model where it can, or else
 * as parts and a list. */
#include "formats/hf_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/utf8.h"
#include "spec/stack.h"

/* What a layer can have. Layers of SAME keep what they have. */
typedef enum what {
    SAME,
    NONE,
    FULL,
    LOCAL,
    CHUNKED,
    LINEAR,
    RATIO,       /* compressed; the number is its ratio */
    SPARSE,      /* blocks of keys that an indexer chose; other layers have none */
    REUSED,      /* keys that an earlier layer chose */
    FULL_TAKEN,  /* keys and values of an earlier layer */
    LOCAL_TAKEN, /* so, in a window */
    BOTH_MIXERS, /* attention and a linear mixer side by side */
    MLP,
    MOE,
    HASHED,  /* experts by a table of words, without a bias of the router */
    BOTH_FFN /* a dense layer beside experts */
} what;

/* A layer. The numbers are those in which parts of a sort differ: key and value heads, or the ratio
 * of compression; the width of a dense layer; 0: the model's. */
typedef struct layer {
    what mixer, ffn;
    int64_t mixer_number, ffn_number;
} layer;

typedef struct plan {
    const calc_hf_said *said;
    calc_app *app;
    calc_errors *errors;
    int64_t count;
    layer layer[CALC_MAX_STACK];
    struct {
        what what;
        int64_t number;
        int8_t index;
    } part[CALC_MAX_PARTS]; /* declared */
    int parts;
    int64_t local_heads; /* query heads of windows, where a list says those of each layer */
    layer beyond; /* the layer behind the last, of multi-token prediction; {SAME}: not listed */
} plan;

static calc_status wrong(const plan *p, calc_hf_member member, calc_status status, const char *text)
{
    const calc_setting *at = p->said->setting[member];
    return calc_errors_at(p->errors, status, p->said->hf->name, at ? at->line : 0,
                          at ? at->column : 0, NULL, "%.60s: %s", at ? at->key : "layers", text);
}

/* A number that may be a word or a list instead: then 0. */
static int64_t number_of(const calc_setting *setting)
{
    return setting ? strtoll(setting->value, NULL, 10) : 0;
}

/* What a word of a list of layers means. */
static const struct {
    calc_hf_member list;
    const char *word; /* or several */
    what mixer, ffn;
} words[] = {
    {CALC_HF_LAYER_TYPES, "full_attention attention deepseek_sparse_attention global hybrid", FULL,
     SAME},
    {CALC_HF_LAYER_TYPES, "sliding_attention local hybrid_sliding", LOCAL, SAME},
    {CALC_HF_LAYER_TYPES, "chunked_attention", CHUNKED, SAME},
    {CALC_HF_LAYER_TYPES, "compressed_sparse_attention heavily_compressed_attention", RATIO, SAME},
    {CALC_HF_LAYER_TYPES, "minimax_m3_sparse", SPARSE, SAME},
    {CALC_HF_LAYER_TYPES, "linear_attention mamba conv", LINEAR, SAME},
    {CALC_HF_BLOCK_TYPES, "mamba", LINEAR, NONE},
    {CALC_HF_BLOCK_TYPES, "attention", FULL, NONE},
    {CALC_HF_BLOCK_TYPES, "mlp", NONE, MLP},
    {CALC_HF_BLOCK_TYPES, "moe", NONE, MOE},
    {CALC_HF_HYBRID, "M", LINEAR, NONE},
    {CALC_HF_HYBRID, "*", FULL, NONE},
    {CALC_HF_HYBRID, "-", NONE, MLP},
    {CALC_HF_HYBRID, "E", NONE, MOE},
    {CALC_HF_LINEAR_LIST, "0 lightning-attn", LINEAR, SAME},
    {CALC_HF_LINEAR_LIST, "1 minicpm4", FULL, SAME},
    {CALC_HF_LOCAL_LIST, "0", FULL, SAME},
    {CALC_HF_LOCAL_LIST, "1", LOCAL, SAME},
    {CALC_HF_SPARSE_LIST, "0", FULL, SAME},
    {CALC_HF_SPARSE_LIST, "1", SPARSE, SAME},
    {CALC_HF_ROPE_LIST, "0", FULL, SAME},
    {CALC_HF_ROPE_LIST, "1", SAME, SAME},
    {CALC_HF_MOE_EVERY, "0 false", SAME, MLP},
    {CALC_HF_MOE_EVERY, "1 true", SAME, MOE},
    {CALC_HF_FFN_TYPES, "dense", SAME, MLP},
    {CALC_HF_FFN_TYPES, "sparse moe", SAME, MOE},
    {CALC_HF_FFN_TYPES, "hash_moe", SAME, HASHED},
    {CALC_HF_INDEX_TYPES, "full", SAME, SAME},
    {CALC_HF_INDEX_TYPES, "shared", REUSED, SAME}};
enum { WORDS = sizeof words / sizeof *words };

/* Passes over the next item of a list, or letter of a pattern. @return its length; 0 at the end */
static size_t next(const char **at, bool letters)
{
    bool letter = letters && *(*at += strspn(*at, ", "));
    *at += letter;
    return letter ? 1 : calc_next_word(at, ", ");
}

static void set(layer *l, what mixer, what ffn)
{
    l->mixer = mixer == SAME ? l->mixer : mixer;
    l->ffn = ffn == SAME ? l->ffn : ffn;
}

/* The meaning of an item in lists of a member.
 * @return index of words[]; -1: none, with an error */
static int meaning_of(plan *p, calc_hf_member at, calc_hf_member list, const char *item,
                      size_t length)
{
    char text[600];
    snprintf(text, sizeof text, "found \"%s\", expected one of", calc_utf8_shown(item, length));
    for (int i = 0; i < WORDS; i++) {
        bool own = words[i].list == list;
        if (own && calc_word_in(words[i].word, item, length)) {
            return i;
        }
        calc_append(text, sizeof text, "%s%s", own ? " " : "", own ? words[i].word : "");
    }
    (void)wrong(p, at, CALC_ERR_RANGE, text);
    return -1;
}

/* Whether the number of items is that of the layers; layers of multi-token prediction may follow.
 */
static calc_status check_length(plan *p, calc_hf_member member, int64_t items)
{
    int64_t most = p->count + (p->app->mtp_blocks > 0 ? p->app->mtp_blocks : 1);
    if (items == p->count || (items > p->count && items <= most && member == CALC_HF_RATIOS) ||
        (items > p->count && items <= p->count + p->app->mtp_blocks)) {
        return CALC_OK;
    }
    const calc_setting *layers = p->said->setting[CALC_HF_LAYERS];
    return wrong(p, member, CALC_ERR_RULE,
                 CALC_TEXT(160, "%lld layers, but %.60s is %lld", (long long)items,
                           layers ? layers->key : "the number of layers", (long long)p->count));
}

/* A list with a word per layer. */
static calc_status take_list(plan *p, calc_hf_member member)
{
    const calc_hf_said *s = p->said;
    const char *at = s->setting[member] ? s->setting[member]->value : "";
    bool letters = member == CALC_HF_HYBRID;
    int64_t items = 0;
    for (size_t length; (length = next(&at, letters)) > 0;) {
        int word = meaning_of(p, member, member, at - length, length);
        if (word < 0) {
            return CALC_ERR_RANGE;
        }
        if (items < p->count) {
            set(&p->layer[items], words[word].mixer, words[word].ffn);
        }
        if (items < p->count && words[word].mixer == RATIO) {
            p->layer[items].mixer_number =
                at[-(ptrdiff_t)length] == 'c' ? COUNT(CSA_RATE) : COUNT(HCA_RATE);
        }
        items++;
    }
    return s->setting[member] ? check_length(p, member, items) : CALC_OK;
}

/* A list with numbers of layers, the first of which is `first`. */
static calc_status take_numbers(plan *p, calc_hf_member member, int64_t first, what mixer, what ffn)
{
    const calc_setting *setting = p->said->setting[member];
    const char *at = setting ? setting->value : "";
    for (size_t length; (length = next(&at, false)) > 0;) {
        char *end;
        long long number = strtoll(at - length, &end, 10);
        if (end != at || number < first || number - first >= p->count) {
            return wrong(p, member, CALC_ERR_RANGE,
                         CALC_TEXT(160, "found \"%.*s\", expected layers from %lld to %lld",
                                   (int)(length < 40 ? length : 40), at - length, (long long)first,
                                   (long long)(first + p->count - 1)));
        }
        set(&p->layer[number - first], mixer, ffn);
    }
    return CALC_OK;
}

/* Every so many layers, the first of them after `offset`. */
static void take_period(plan *p, int64_t every, int64_t offset, what mixer, what ffn)
{
    for (int64_t i = 0; i < p->count && every > 0; i++) {
        if (i % every == offset) {
            set(&p->layer[i], mixer, ffn);
        }
    }
}

/* Nemotron's blocks by search: heads that share a key, and the width as a multiple of 2/3 of twice
 * the model's, in steps of 256. Either part may be absent. */
static calc_status take_configs(plan *p)
{
    static const char configs[] = "block_configs.";
    const calc_hf_said *s = p->said;
    int64_t last = -1;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < s->hf->settings->count && status == CALC_OK; i++) {
        const calc_setting *setting = &s->hf->settings->item[i];
        char *key;
        if (strncmp(setting->key, configs, strlen(configs)) != 0) {
            continue;
        }
        last = strtoll(setting->key + strlen(configs), &key, 10);
        double number = strtod(setting->value, NULL);
        bool yes = strcasecmp(setting->value, "true") == 0;
        if (last >= p->count) {
            continue;
        }
        layer *l = &p->layer[last];
        if (strcmp(key, ".attention.n_heads_in_group") == 0 && number >= 1) {
            l->mixer_number = COUNT(HEADS) / (int64_t)number;
        } else if (strcmp(key, ".ffn.ffn_mult") == 0 && number > 0) {
            l->ffn_number =
                (int64_t)ceil(floor(2 * (double)COUNT(HIDDEN) * number / 3) / 256) * 256;
        } else if (strcmp(key, ".attention.no_op") == 0) {
            set(l, yes ? NONE : SAME, SAME);
        } else if (strcmp(key, ".ffn.no_op") == 0) {
            set(l, SAME, yes ? NONE : SAME);
        } else if (yes || number > 0) {
            return calc_errors_at(
                p->errors, CALC_ERR_UNSUPPORTED, s->hf->name, setting->line, setting->column, NULL,
                "%.80s: changes the layer, and calc does not read it", setting->key);
        }
    }
    if (last >= 0 && last + 1 != p->count) {
        status = calc_errors_at(p->errors, CALC_ERR_RULE, s->hf->name, 0, 0, NULL,
                                "block_configs: %lld layers, but num_hidden_layers is %lld",
                                (long long)(last + 1), (long long)p->count);
    }
    return status;
}

int64_t calc_hf_listed(const calc_hf_said *s)
{
    static const calc_hf_member lists[] = {CALC_HF_HYBRID, CALC_HF_BLOCK_TYPES,
                                           CALC_HF_LAYER_TYPES};
    int64_t items = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && items == 0; i++) {
        const char *at = s->setting[lists[i]] ? s->setting[lists[i]]->value : "";
        while (next(&at, i == 0) > 0) {
            items++;
        }
    }
    return items;
}

static calc_status take_ratios(plan *p)
{
    const calc_setting *setting = p->said->setting[CALC_HF_RATIOS];
    const char *at = setting ? setting->value : "";
    int64_t items = 0;
    for (size_t length; (length = next(&at, false)) > 0;) {
        layer *l = items < p->count ? &p->layer[items] : &p->beyond;
        l->mixer = RATIO;
        l->ffn = l == &p->beyond ? MOE : l->ffn;
        l->mixer_number = strtoll(at - length, NULL, 10);
        items++;
    }
    return setting ? check_length(p, CALC_HF_RATIOS, items) : CALC_OK;
}

/* A list with the heads of each layer. Query heads differ between windows and other layers at most.
 */
static calc_status take_heads(plan *p, calc_hf_member member)
{
    const calc_setting *setting = p->said->setting[member];
    const char *at = setting ? setting->value : "";
    int64_t items = 0, full = 0;
    for (size_t length; (length = next(&at, false)) > 0; items++) {
        int64_t heads = strtoll(at - length, NULL, 10);
        layer *l = &p->layer[items < p->count ? items : 0];
        if (heads < 1) {
            return wrong(p, member, CALC_ERR_RANGE, "expected a number of heads for each layer");
        }
        if (member == CALC_HF_KV_LIST) {
            l->mixer_number = heads != p->app->kv_heads ? heads : 0;
            continue;
        }
        int64_t *known = l->mixer == LOCAL ? &p->local_heads : &full;
        if (*known > 0 && *known != heads) {
            return wrong(p, member, CALC_ERR_UNSUPPORTED, "layers of one kind differ");
        }
        *known = heads;
    }
    p->app->attn_heads = full > 0 ? full : p->app->attn_heads;
    return setting ? check_length(p, member, items) : CALC_OK;
}

static calc_status take_mixers(plan *p)
{
    const calc_hf_said *s = p->said;
    calc_status status = CALC_OK;
    bool windowed = p->app->window_size > 0;
    int64_t pattern = COUNT(PATTERN);
    for (int64_t i = 0; i < p->count; i++) {
        p->layer[i].mixer =
            s->family->windowless && windowed && i < COUNT(WINDOW_AFTER) ? FULL
            : s->family->beside                                          ? BOTH_MIXERS
            : SAYS(CHUNK) && COUNT(CHUNK) > 0                            ? CHUNKED
            : windowed                                                   ? LOCAL
            : s->family->alone || SAYS(FULL_EVERY) || SAYS(FULL_LAYERS) || SAYS(ATTN_PERIOD)
                ? LINEAR
                : FULL;
    }
    take_period(p, pattern > 1 ? pattern : 0, pattern - 1, FULL, SAME);
    take_period(p, COUNT(FULL_EVERY), COUNT(FULL_EVERY) - 1, FULL, SAME);
    take_period(p, COUNT(ATTN_PERIOD), COUNT(ATTN_OFFSET), FULL, SAME);
    if (SAYS(CHUNK)) {
        int64_t every = (int64_t)GET(ROPE_EVERY, 4);
        take_period(p, SAYS(ROPE_LIST) ? 0 : every, every - 1, FULL, SAME);
    }
    static const calc_hf_member lists[] = {CALC_HF_LAYER_TYPES, CALC_HF_LINEAR_LIST,
                                           CALC_HF_LOCAL_LIST, CALC_HF_SPARSE_LIST};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == CALC_OK; i++) {
        status = s->family->beside ? CALC_OK : take_list(p, lists[i]);
    }
    if (status == CALC_OK && SAYS(CHUNK) && !SAYS(LAYER_TYPES)) {
        status = take_list(p, CALC_HF_ROPE_LIST);
    }
    take_period(p, SAYS(LOCAL_LAYERS), 0, FULL, SAME);
    status = status == CALC_OK ? take_numbers(p, CALC_HF_LOCAL_LAYERS, 0, LOCAL, SAME) : status;
    status = status == CALC_OK ? take_numbers(p, CALC_HF_FULL_LAYERS, 0, FULL, SAME) : status;
    status = status == CALC_OK ? take_numbers(p, CALC_HF_LINEAR_FROM_1, 1, LINEAR, SAME) : status;
    status = status == CALC_OK ? take_numbers(p, CALC_HF_FULL_FROM_1, 1, FULL, SAME) : status;
    for (int64_t i = 0; i < p->count && SAYS(O_GROUPS); i++) {
        p->layer[i].mixer = p->layer[i].mixer == LOCAL ? RATIO : p->layer[i].mixer;
        p->beyond = (layer){RATIO, MOE, 0, 0};
    }
    status = status == CALC_OK ? take_ratios(p) : status;
    status = status == CALC_OK ? take_list(p, CALC_HF_INDEX_TYPES) : status;
    status = status == CALC_OK ? take_heads(p, CALC_HF_HEADS_LIST) : status;
    status = status == CALC_OK ? take_heads(p, CALC_HF_KV_LIST) : status;
    if (COUNT(INDEX_EVERY) > 1 && !SAYS(INDEX_TYPES)) {
        for (int64_t i = COUNT(INDEX_SKIP); i < p->count; i++) {
            bool chooses = (i + 1 - COUNT(INDEX_SKIP)) % COUNT(INDEX_EVERY) == 0;
            p->layer[i].mixer = chooses ? p->layer[i].mixer : REUSED;
        }
    }
    for (int64_t i = 0; i < p->count && YES(CROSS_LAYER) && COUNT(CROSS_EVERY) > 1; i++) {
        p->layer[i].mixer = i % COUNT(CROSS_EVERY) > 0 ? FULL_TAKEN : p->layer[i].mixer;
    }
    for (int64_t i = p->count - COUNT(SHARED_KV); i < p->count && status == CALC_OK; i++) {
        if (i >= 0) {
            p->layer[i].mixer = p->layer[i].mixer == LOCAL ? LOCAL_TAKEN : FULL_TAKEN;
            p->layer[i].ffn_number = YES(TAKERS_WIDE) ? 2 * p->app->feedforward : 0;
        }
    }
    return status;
}

static calc_status take_feed_forward(plan *p)
{
    const calc_hf_said *s = p->said;
    const calc_setting *every = s->setting[CALC_HF_MOE_EVERY];
    bool experts = p->app->num_experts > 0;
    int64_t dense = COUNT(DENSE_FIRST) > 0 ? COUNT(DENSE_FIRST) : 0; /* -1 is none */
    calc_status status = CALC_OK;
    for (int64_t i = 0; i < p->count; i++) {
        p->layer[i].ffn = s->family->alone ? NONE
                          : experts && !SAYS(EXPERT_PERIOD) && !SAYS(MOE_LIST)
                              ? YES(BESIDE) ? BOTH_FFN : MOE
                              : MLP;
    }
    if (!experts) {
        return CALC_OK;
    }
    if (every && strchr(every->value, ' ')) {
        status = take_list(p, CALC_HF_MOE_EVERY);
    } else if (number_of(every) > 1) {
        for (int64_t i = 0; i < p->count; i++) {
            p->layer[i].ffn = (i + 1 - dense) % number_of(every) == 0 ? MOE : MLP;
        }
    }
    for (int64_t i = 0; i < p->count && i < COUNT(HASHED); i++) {
        p->layer[i].ffn = HASHED;
    }
    take_period(p, COUNT(EXPERT_PERIOD), COUNT(EXPERT_OFFSET), SAME, MOE);
    status = status == CALC_OK ? take_numbers(p, CALC_HF_MOE_LIST, 0, SAME, MOE) : status;
    status = status == CALC_OK ? take_list(p, CALC_HF_FFN_TYPES) : status;
    for (int64_t i = 0; i < p->count; i++) {
        bool behind = GET(MOE_LAST, -1) >= 0 && i > COUNT(MOE_LAST);
        p->layer[i].ffn = i < dense || behind ? MLP : p->layer[i].ffn;
    }
    return status == CALC_OK ? take_numbers(p, CALC_HF_DENSE_LAYERS, 0, SAME, MLP) : status;
}

/* Whether dense_blocks, moe_every, window_size and global_every say the layers; they are set. */
static bool say_short(plan *p, calc_app *a)
{
    const calc_hf_said *s = p->said;
    int64_t dense = 0, every = 0, full = 0, local = 0, mlps = 0, last = -1;
    char marks[CALC_MAX_STACK]; /* of layers with experts */
    for (int64_t i = 0; i < p->count; i++) {
        const layer *l = &p->layer[i];
        if ((l->mixer != FULL && l->mixer != LOCAL) || (l->ffn != MLP && l->ffn != MOE) ||
            l->mixer_number > 0 || l->ffn_number > 0) {
            return false;
        }
        full = l->mixer == FULL && full == 0 ? i + 1 : full;
        local += l->mixer == LOCAL;
        mlps += l->ffn == MLP;
        last = l->ffn == MOE ? i : last;
        marks[i] = l->ffn == MOE;
    }
    bool differ = SAYS(GLOBAL_SIZE) || SAYS(GLOBAL_KV) || SAYS(LOCAL_HEADS) || SAYS(LOCAL_KV) ||
                  SAYS(LOCAL_SIZE) || YES(LOCAL_SINKS) || p->local_heads > 0;
    if (s->family->twin || (differ && local > 0 && full > 0)) {
        return false;
    }
    for (int64_t i = 0; i < p->count && local > 0 && full > 0; i++) {
        if ((p->layer[i].mixer == FULL) != ((i + 1) % full == 0)) {
            return false;
        }
    }
    if (a->num_experts > 0 && mlps > 0) {
        calc_pattern of = {.dense = p->count, .every = 1};
        bool regular = last < 0 || calc_pattern_of(marks, (size_t)p->count, &of);
        every = of.every;
        dense = of.dense + 1 - every; /* experts are the last of a period */
        if (!regular || dense < 0 || (every > 1 && of.dense == last)) {
            return false;
        }
    }
    a->dense_blocks = dense;
    a->moe_every = every > 1 ? every : 0;
    a->window_size = local > 0 ? a->window_size : 0;
    a->global_every = local > 0 ? full : 0;
    return true;
}

/* The linear mixer of a configuration, by the keys that it has. */
static void set_linear(const calc_hf_said *s, const calc_app *a, calc_part *part)
{
    if (part->type == CALC_PART_TYPE_KIMI_DELTA) {
        part->linear_value_heads = (int64_t)GET(KDA_HEADS, a->attn_heads);
        part->linear_value_size = (int64_t)GET(KDA_SIZE, GET(HEAD_SIZE, a->attn_size));
        part->linear_conv = COUNT(KDA_CONV);
        part->linear_rank = YES(KDA_WHOLE_GATE) || YES(KDA_WHOLE) ? 0 : part->linear_value_size;
        part->linear_whole_decay = YES(KDA_WHOLE);
    } else if (part->type == CALC_PART_TYPE_GATED_DELTA) {
        part->linear_key_heads = COUNT(LINEAR_KEYS);
        part->linear_key_size = COUNT(LINEAR_KEY_SIZE);
        part->linear_value_heads = COUNT(LINEAR_VALUES);
        part->linear_value_size = COUNT(LINEAR_VALUE_SIZE);
        part->linear_conv = (int64_t)GET(LINEAR_CONV, 4);
    } else if (part->type == CALC_PART_TYPE_MAMBA2) {
        int64_t width = SAYS(SSM_WIDTH) ? COUNT(SSM_WIDTH) : COUNT(SSM_EXPAND) * a->hidden;
        part->linear_value_heads = COUNT(SSM_HEADS);
        part->linear_value_size = COUNT(SSM_SIZE) > 0 ? COUNT(SSM_SIZE) : width / COUNT(SSM_HEADS);
        part->linear_key_heads = (int64_t)GET(SSM_GROUPS, 1);
        part->linear_key_size = COUNT(SSM_STATE);
        part->linear_conv = (int64_t)GET(SSM_CONV, 4);
        part->linear_chunk = COUNT(SSM_CHUNK);
        part->linear_norm = SAYS(SSM_NORM) && !YES(SSM_NORM) ? CALC_CHOICE_FALSE : CALC_CHOICE_AUTO;
    } else if (part->type == CALC_PART_TYPE_MAMBA1) {
        const calc_setting *rank = s->setting[CALC_HF_SSM_RANK];
        part->linear_value_size = (int64_t)GET(SSM_EXPAND, 2) * a->hidden;
        part->linear_key_size = COUNT(SSM_STATE);
        part->linear_conv = (int64_t)GET(SSM_CONV, 4);
        part->linear_rank = number_of(rank) > 0 ? number_of(rank) : (a->hidden + 15) / 16;
        part->linear_norm = s->family->ssm_norm ? CALC_CHOICE_TRUE : CALC_CHOICE_AUTO;
    } else if (part->type == CALC_PART_TYPE_LIGHTNING) {
        part->linear_value_heads = (int64_t)GET(LIGHTNING_HEADS, a->attn_heads);
        part->linear_value_size = (int64_t)GET(LIGHTNING_SIZE, GET(HEAD_SIZE, a->attn_size));
    } else {
        part->linear_conv = COUNT(CONV);
    }
}

/* Its name; type is CALC_PART_TYPE_COUNT if no key says what it is. */
static const char *linear_name(const calc_hf_said *s, calc_part_type *type)
{
    const struct {
        bool is;
        calc_part_type type;
        const char *name;
    } sorts[] = {{SAYS(KDA_CONV), CALC_PART_TYPE_KIMI_DELTA, "kda"},
                 {SAYS(LINEAR_VALUES), CALC_PART_TYPE_GATED_DELTA, "gdn"},
                 {COUNT(SSM_HEADS) > 0, CALC_PART_TYPE_MAMBA2, "mamba"},
                 {SAYS(CONV), CALC_PART_TYPE_SHORT_CONV, "conv"},
                 {SAYS(LINEAR_LIST) || s->family->lightning, CALC_PART_TYPE_LIGHTNING, "lightning"},
                 {SAYS(SSM_STATE), CALC_PART_TYPE_MAMBA1, "mamba"}};
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        if (sorts[i].is) {
            *type = sorts[i].type;
            return sorts[i].name;
        }
    }
    *type = CALC_PART_TYPE_COUNT;
    return "";
}

static void set_part(const plan *p, what sort, int64_t number, calc_part *part)
{
    const calc_hf_said *s = p->said;
    const calc_app *a = p->app;
    bool local = sort == LOCAL || sort == LOCAL_TAKEN || sort == RATIO;
    part->window_size = local ? COUNT(WINDOW) : 0;
    part->chunk_size = sort == CHUNKED ? COUNT(CHUNK) : 0;
    part->index_shared = sort == REUSED;
    part->kv_shared = sort == FULL_TAKEN || sort == LOCAL_TAKEN;
    if (sort == HASHED) {
        part->router_bias = false;
    } else if (sort == MLP) {
        part->feedforward = number > 0 ? number : part->feedforward;
    } else if (sort == LINEAR) {
        set_linear(s, a, part);
    } else if (sort == RATIO) {
        part->q_lora_rank = COUNT(Q_LORA);
        part->compress_ratio = number;
        part->output_groups = COUNT(O_GROUPS);
        part->output_lora_rank = COUNT(O_LORA);
        bool indexed = number > 0 && number <= 16; /* longer spans are few enough to see all */
        part->index_heads = indexed ? COUNT(INDEX_HEADS) : 0;
        part->index_size = indexed ? COUNT(INDEX_SIZE) : 0;
        part->index_topk = indexed ? COUNT(INDEX_TOPK) : 0;
    } else if (sort == SPARSE) {
        part->index_heads = COUNT(INDEX_HEADS);
        part->index_size = COUNT(INDEX_SIZE);
        part->index_block = COUNT(INDEX_BLOCK);
        part->index_topk = COUNT(INDEX_BLOCKS) * part->index_block;
    } else if (number > 0) {
        part->kv_heads = number;
    } else if (local) {
        part->attn_heads =
            p->local_heads > 0 ? p->local_heads : (int64_t)GET(LOCAL_HEADS, part->attn_heads);
        part->kv_heads = (int64_t)GET(LOCAL_KV, part->kv_heads);
        part->attn_size = (int64_t)GET(LOCAL_SIZE, part->attn_size);
        part->v_head_size = (int64_t)GET(LOCAL_V, part->v_head_size);
        part->attention_sinks = part->attention_sinks || YES(LOCAL_SINKS);
    } else if (sort == FULL || sort == FULL_TAKEN) {
        part->attn_size = (int64_t)GET(GLOBAL_SIZE, part->attn_size);
        part->kv_heads = (int64_t)GET(GLOBAL_KV, part->kv_heads);
        part->k_eq_v = YES(K_EQ_V);
    }
}

/* The part of a sort, declared if it differs from the model.
 * @return its index; -1: there are too many, with an error */
static int part_of(plan *p, what sort, int64_t number)
{
    static const struct {
        calc_part_type type;
        const char *name;
    } sorts[] = {[FULL] = {CALC_PART_TYPE_ATTENTION, "attention"},
                 [LOCAL] = {CALC_PART_TYPE_ATTENTION, "local"},
                 [CHUNKED] = {CALC_PART_TYPE_ATTENTION, "chunked"},
                 [RATIO] = {CALC_PART_TYPE_COMPRESSED, "compressed"},
                 [SPARSE] = {CALC_PART_TYPE_ATTENTION, "sparse"},
                 [REUSED] = {CALC_PART_TYPE_ATTENTION, "reused"},
                 [FULL_TAKEN] = {CALC_PART_TYPE_ATTENTION, "shared"},
                 [LOCAL_TAKEN] = {CALC_PART_TYPE_ATTENTION, "local_shared"},
                 [MLP] = {CALC_PART_TYPE_MLP, "mlp"},
                 [MOE] = {CALC_PART_TYPE_MOE, "moe"},
                 [HASHED] = {CALC_PART_TYPE_MOE, "hashed"}};
    for (int i = 0; i < p->parts; i++) {
        if (p->part[i].what == sort && p->part[i].number == number) {
            return p->part[i].index;
        }
    }
    const char *why = NULL;
    calc_part_type type = sort == LINEAR ? CALC_PART_TYPE_COUNT : sorts[sort].type;
    const char *base = sort == LINEAR ? linear_name(p->said, &type) : sorts[sort].name;
    const char *name = number > 0 || sort == RATIO ? CALC_TEXT(sizeof((calc_part *)0)->name,
                                                               "%s_%lld", base, (long long)number)
                                                   : base;
    calc_part *part =
        type < CALC_PART_TYPE_COUNT ? calc_stack_declare(p->app, name, type, &why) : NULL;
    if (!part) {
        (void)calc_errors_at(p->errors, CALC_ERR_UNSUPPORTED, p->said->hf->name, 0, 0, NULL, "%s",
                             why ? why
                                 : "some layers are not attention, and no key says what they are");
        return -1;
    }
    set_part(p, sort, number, part);
    int index = p->app->stack.parts - 1;
    p->part[p->parts].what = sort;
    p->part[p->parts].number = number;
    p->part[p->parts++].index = (int8_t)index;
    return index;
}

/* The kind of a layer; -1 with an error. */
static int kind_of(plan *p, const layer *l)
{
    bool two_mixers = l->mixer == BOTH_MIXERS, two_ffn = l->ffn == BOTH_FFN;
    const what sorts[] = {two_mixers ? LINEAR : l->mixer, two_mixers ? FULL : NONE,
                          two_ffn ? MLP : l->ffn, two_ffn ? MOE : NONE};
    int8_t index[4] = {-1, -1, -1, -1};
    for (int i = 0; i < 4; i++) {
        if (sorts[i] != NONE) {
            index[i] = (int8_t)part_of(p, sorts[i], i < 2 ? l->mixer_number : l->ffn_number);
            if (index[i] < 0) {
                return -1;
            }
        }
    }
    int kind = calc_stack_kind(&p->app->stack, index, index + 2);
    if (kind < 0) {
        (void)calc_errors_at(p->errors, CALC_ERR_UNSUPPORTED, p->said->hf->name, 0, 0, NULL,
                             "more than %d kinds of layers", CALC_MAX_LAYER_KINDS);
    }
    return kind;
}

/* The layers of a depth of multi-token prediction, where the file lists them. */
static calc_status say_prediction(plan *p)
{
    const calc_hf_said *s = p->said;
    bool letters = SAYS(MTP_HYBRID);
    calc_hf_member member = letters ? CALC_HF_MTP_HYBRID : CALC_HF_MTP_TYPES;
    const char *at = s->setting[member] ? s->setting[member]->value : "";
    calc_stack *stack = &p->app->stack;
    if (p->beyond.mixer != SAME && p->app->mtp_blocks > 0) {
        int kind = kind_of(p, &p->beyond);
        if (kind < 0) {
            return CALC_ERR_UNSUPPORTED;
        }
        stack->mtp_layer[stack->mtp++] = (uint8_t)kind;
    }
    for (size_t length; p->app->mtp_blocks > 0 && (length = next(&at, letters)) > 0;) {
        int word = meaning_of(p, member, letters ? CALC_HF_HYBRID : CALC_HF_BLOCK_TYPES,
                              at - length, length);
        if (word >= 0 && stack->mtp == CALC_MAX_MTP_LAYERS) {
            return wrong(p, member, CALC_ERR_UNSUPPORTED, "too many layers");
        }
        int kind = word < 0 ? -1 : kind_of(p, &(layer){words[word].mixer, words[word].ffn, 0, 0});
        if (kind < 0) {
            return CALC_ERR_RANGE;
        }
        stack->mtp_layer[stack->mtp++] = (uint8_t)kind;
    }
    return CALC_OK;
}

calc_status calc_hf_layers(const calc_hf_said *s, calc_app *app, calc_errors *errors)
{
    plan *p = calloc(1, sizeof *p);
    if (!p) {
        return CALC_ERR_NOMEM;
    }
    *p = (plan){.said = s, .app = app, .errors = errors, .count = app->num_blocks};
    bool fits = p->count * (s->family->twin ? 2 : 1) <= CALC_MAX_STACK;
    p->count = fits ? p->count : CALC_MAX_STACK;
    calc_status status = take_mixers(p);
    status = status == CALC_OK ? take_feed_forward(p) : status;
    status = status == CALC_OK ? take_list(p, CALC_HF_BLOCK_TYPES) : status;
    status = status == CALC_OK ? take_list(p, CALC_HF_HYBRID) : status;
    status = status == CALC_OK ? take_configs(p) : status;
    if (status != CALC_OK || say_short(p, app)) {
        free(p);
        return status;
    }
    app->window_size = 0;
    if (!fits) {
        status =
            wrong(p, CALC_HF_LAYERS, CALC_ERR_UNSUPPORTED, "layers that differ are at most 512");
    }
    for (int64_t i = 0; i < p->count && status == CALC_OK; i++) {
        layer l = p->layer[i];
        if (s->family->twin) { /* two blocks of today; experts beside the first dense layer */
            l.ffn = BOTH_FFN;
        }
        int halves = s->family->twin ? 2 : 1;
        for (int half = 0; half < halves && status == CALC_OK; half++) {
            l.ffn = half == 1 ? MLP : l.ffn;
            int kind = kind_of(p, &l);
            status = kind < 0 ? CALC_ERR_UNSUPPORTED : CALC_OK;
            if (status == CALC_OK) {
                calc_stack_append(&app->stack, kind, 1);
            }
        }
    }
    app->num_blocks = app->stack.layers;
    status = status == CALC_OK ? say_prediction(p) : status;
    free(p);
    return status;
}
