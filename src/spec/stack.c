#include "spec/stack.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"

enum { NAME_SIZE = sizeof((calc_part *)0)->name };

/* ---- Parts ----------------------------------------------------------------------------------- */

calc_part calc_part_of(const calc_app *app, calc_part_type type)
{
    calc_part p = {.type = type};
    snprintf(p.name, sizeof p.name, "%s", calc_part_type_names[type]);
#define CALC_FIELD(name, kind, arg, ...)
#define CALC_PART_FIELD(name, kind, arg, ...) p.name = app->name;
#include "calc/app.fields.h"
#undef CALC_FIELD
#undef CALC_PART_FIELD
    return p;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    const char *digits = name + strspn(name, "0123456789");
    bool fine = length > 0 && length < NAME_SIZE && !(digits > name && *digits == 'x');
    for (size_t i = 0; i < length && fine; i++) {
        fine = isalnum((unsigned char)name[i]) || strchr("-_.*", name[i]);
    }
    return fine;
}

static int part_named(const calc_stack *s, const char *name)
{
    for (int i = 0; i < s->parts; i++) {
        if (strcmp(s->part[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

calc_part *calc_stack_declare(calc_app *app, const char *name, calc_part_type type,
                              const char **why)
{
    calc_stack *s = &app->stack;
    *why = !is_name(name) ? "a name has at most 23 letters, digits and -_.*, not as 3x at its start"
           : part_named(s, name) >= 0   ? "another part has this name"
           : s->parts == CALC_MAX_PARTS ? "a model has at most 16 parts"
                                        : NULL;
    if (*why) {
        return NULL;
    }
    calc_part *p = &s->part[s->parts++];
    *p = calc_part_of(app, type);
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

void calc_stack_follow(const calc_app *before, calc_app *app)
{
    for (int i = 0; i < app->stack.parts; i++) {
        calc_part *p = &app->stack.part[i];
#define CALC_FIELD(name, kind, arg, ...)
#define CALC_PART_FIELD(name, kind, arg, ...)                                                      \
    p->name = p->name == before->name ? app->name : p->name;
#include "calc/app.fields.h"
#undef CALC_FIELD
#undef CALC_PART_FIELD
    }
}

bool calc_stack_part_same(const calc_part *a, const calc_part *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->type == b->type;
#define CALC_FIELD(name, kind, arg, ...)
#define CALC_PART_FIELD(name, kind, arg, ...) same = same && a->name == b->name;
#include "calc/app.fields.h"
#undef CALC_FIELD
#define CALC_FIELD CALC_PART_FIELD
#include "calc/part.fields.h"
#undef CALC_FIELD
#undef CALC_PART_FIELD
    return same;
}

bool calc_stack_same(const calc_stack *a, const calc_stack *b)
{
    bool same = a->layers == b->layers && a->parts == b->parts && a->kinds == b->kinds &&
                a->mtp == b->mtp &&
                memcmp(a->layer, b->layer, (size_t)a->layers * sizeof *a->layer) == 0 &&
                memcmp(a->mtp_layer, b->mtp_layer, (size_t)a->mtp * sizeof *a->mtp_layer) == 0;
    for (int i = 0; i < a->parts && same; i++) {
        same = calc_stack_part_same(&a->part[i], &b->part[i]);
    }
    for (int i = 0; i < a->kinds && same; i++) {
        same = memcmp(&a->kind[i], &b->kind[i], sizeof a->kind[i]) == 0;
    }
    return same;
}

/* ---- Kinds of layers ------------------------------------------------------------------------- */

int calc_stack_kind(calc_stack *s, const int8_t mixer[2], const int8_t ffn[2])
{
    for (int i = 0; i < s->kinds; i++) {
        const calc_layer_kind *k = &s->kind[i];
        if (k->mixer[0] == mixer[0] && k->mixer[1] == mixer[1] && k->ffn[0] == ffn[0] &&
            k->ffn[1] == ffn[1]) {
            return i;
        }
    }
    if (s->kinds == CALC_MAX_LAYER_KINDS) {
        return -1;
    }
    s->kind[s->kinds] = (calc_layer_kind){{mixer[0], mixer[1]}, {ffn[0], ffn[1]}, 0};
    return s->kinds++;
}

bool calc_stack_append(calc_stack *s, int kind, int64_t count)
{
    if (count > CALC_MAX_STACK - s->layers) {
        return false;
    }
    memset(s->layer + s->layers, kind, (size_t)count);
    s->layers += (int32_t)count;
    s->kind[kind].count = (int16_t)(s->kind[kind].count + count);
    return true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct reader {
    const calc_app *app;
    calc_stack *stack;
    const char *text, *at;
    bool mtp;
    int32_t count; /* layers so far */
    uint8_t *layer;
    int32_t most;
    int depth;
    calc_stack_fault *fault;
} reader;

static bool fail(reader *r, const char *at, const char *hint, const char *format, ...)
    CALC_PRINTF(4, 5);

static bool fail(reader *r, const char *at, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->fault->text, sizeof r->fault->text, format, args);
    va_end(args);
    r->fault->at = (size_t)(at - r->text);
    snprintf(r->fault->hint, sizeof r->fault->hint, "%s", hint ? hint : "");
    return false;
}

/* The part of a name; a part named as a type is there without declaration. */
static int find_part(reader *r, const char *name, size_t length)
{
    char word[NAME_SIZE];
    snprintf(word, sizeof word, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE - 1), name);
    calc_stack *s = r->stack;
    int part = length < NAME_SIZE ? part_named(s, word) : -1;
    for (int type = 0; part < 0 && type < CALC_PART_TYPE_COUNT; type++) {
        if (strcmp(calc_part_type_names[type], word) == 0 && s->parts < CALC_MAX_PARTS) {
            s->part[s->parts] = calc_part_of(r->app, (calc_part_type)type);
            part = s->parts++;
        }
    }
    if (part < 0) {
        const char *names[CALC_MAX_PARTS + CALC_PART_TYPE_COUNT + 1];
        size_t count = 0;
        for (int i = 0; i < s->parts; i++) {
            names[count++] = s->part[i].name;
        }
        for (int type = 0; type < CALC_PART_TYPE_COUNT; type++) {
            names[count++] = calc_part_type_names[type];
        }
        names[count] = NULL;
        const char *near = calc_nearest(word, names);
        fail(r, name, near ? CALC_DID_YOU_MEAN(near) : "declare it in \"parts\"",
             "there is no part \"%s\"", is_name(word) ? word : "...");
    }
    return part;
}

static bool append(reader *r, int kind)
{
    if (r->count == r->most) {
        return fail(r, r->at, NULL, "more than %d layers", (int)r->most);
    }
    r->layer[r->count++] = (uint8_t)kind;
    return true;
}

static bool append_kind(reader *r, const char *at, const int8_t mixer[2], const int8_t ffn[2])
{
    int kind = calc_stack_kind(r->stack, mixer, ffn);
    return kind < 0 ? fail(r, at, NULL, "more than %d kinds of layers", CALC_MAX_LAYER_KINDS)
                    : append(r, kind);
}

/* One layer: up to two mixers, up to two feed-forward parts. */
static bool read_layer(reader *r)
{
    const char *start = r->at;
    int8_t part[2][2] = {{-1, -1}, {-1, -1}};
    int used[2] = {0, 0};
    bool behind = false; /* a feed-forward part was read */
    for (bool beside = false;; r->at++) {
        size_t length = strcspn(r->at, " \t\n+&()");
        const char *name = r->at;
        if (length == 0) {
            return fail(r, name, "for example attention+mlp", "expected the name of a part");
        }
        int index = find_part(r, name, length);
        if (index < 0) {
            return false;
        }
        bool mixes = calc_part_mixes(r->stack->part[index].type);
        int side = mixes ? 0 : 1;
        if ((mixes && behind) || used[side] == 2 || (used[side] == 1 && !beside) ||
            (beside && used[side] == 0)) {
            return fail(r, name,
                        "& stands between two mixers or two feed-forward parts, + between "
                        "a mixer and what follows; a blank ends a layer",
                        "a layer has a mixer, then a feed-forward part, not \"%.*s\" here",
                        (int)length, name);
        }
        part[side][used[side]++] = (int8_t)index;
        behind = behind || !mixes;
        r->at += length;
        beside = *r->at == '&';
        if (*r->at != '+' && *r->at != '&') {
            return append_kind(r, start, part[0], part[1]);
        }
    }
}

static bool read_items(reader *r);

/* "12x", and what it repeats. */
static bool read_item(reader *r)
{
    const char *start = r->at;
    char *end = NULL;
    long times = isdigit((unsigned char)*start) ? strtol(start, &end, 10) : 0;
    bool repeats = end && *end == 'x';
    if (repeats && (times < 1 || times > r->most)) {
        return fail(r, start, NULL, "repeats 1 to %d times", (int)r->most);
    }
    r->at = repeats ? end + 1 : start;
    int32_t first = r->count;
    bool group = *r->at == '(';
    r->at += group;
    if (!(group ? read_items(r) : read_layer(r))) {
        return false;
    }
    if (group && *r->at != ')') {
        return fail(r, start, NULL, "a bracket is not closed");
    }
    r->at += group;
    int32_t length = r->count - first;
    for (long i = 1; repeats && i < times; i++) {
        for (int32_t k = 0; k < length; k++) {
            if (!append(r, r->layer[first + k])) {
                return false;
            }
        }
    }
    return true;
}

static bool read_items(reader *r)
{
    if (++r->depth > 8) {
        return fail(r, r->at, NULL, "more than 8 brackets in one another");
    }
    for (;;) {
        r->at += strspn(r->at, " \t\n");
        if (*r->at == '\0' || *r->at == ')') {
            r->depth--;
            return true;
        }
        if (!read_item(r)) {
            return false;
        }
    }
}

static bool read_letters(reader *r)
{
    for (; *r->at; r->at++) {
        const int8_t none[2] = {-1, -1};
        const int8_t part[2] = {(int8_t)part_named(r->stack, (char[]){*r->at, '\0'}), -1};
        bool mixes = calc_part_mixes(r->stack->part[part[0]].type);
        if (!append_kind(r, r->at, mixes ? part : none, mixes ? none : part)) {
            return false;
        }
    }
    return true;
}

bool calc_stack_read(calc_app *app, const char *pattern, bool mtp, calc_stack_fault *fault)
{
    calc_stack s = app->stack;
    reader r = {.app = app,
                .stack = &s,
                .text = pattern,
                .at = pattern,
                .mtp = mtp,
                .layer = mtp ? s.mtp_layer : s.layer,
                .most = mtp ? CALC_MAX_MTP_LAYERS : CALC_MAX_STACK,
                .fault = fault};
    const char *cut = strpbrk(pattern, "|/");
    if (cut) {
        return fail(&r, cut,
                    *cut == '|' ? "the layout says where stages end: \"stages\""
                                : "say those of multi-token prediction in \"mtp_layers\"",
                    "\"%c\" is not part of a pattern", *cut);
    }
    bool lettered = pattern[0] != '\0' && pattern[1] != '\0'; /* every character names a part */
    for (const char *at = pattern; *at && lettered; at++) {
        lettered = part_named(&s, (char[]){*at, '\0'}) >= 0;
    }
    if (!(lettered ? read_letters(&r) : read_items(&r))) {
        return false;
    }
    if (*r.at == ')') {
        return fail(&r, r.at, NULL, "a bracket is closed that was not opened");
    }
    if (r.count == 0) {
        return fail(&r, r.at, "for example 3xattention+mlp 58xattention+moe", "no layers");
    }
    if (mtp) {
        s.mtp = r.count;
    } else {
        s.layers = r.count;
        for (int i = 0; i < s.kinds; i++) {
            s.kind[i].count = 0;
        }
        for (int32_t i = 0; i < s.layers; i++) {
            s.kind[s.layer[i]].count++;
        }
    }
    app->stack = s;
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void add_names(const calc_stack *s, const int8_t part[2], char *buffer, size_t size)
{
    for (int i = 0; i < 2 && part[i] >= 0; i++) {
        calc_append(buffer, size, "%s%s", i > 0 ? "&" : "", s->part[part[i]].name);
    }
}

char *calc_stack_kind_text(const calc_stack *s, int kind, char *buffer, size_t size)
{
    const calc_layer_kind *k = &s->kind[kind];
    buffer[0] = '\0';
    add_names(s, k->mixer, buffer, size);
    calc_append(buffer, size, "%s", k->mixer[0] >= 0 && k->ffn[0] >= 0 ? "+" : "");
    add_names(s, k->ffn, buffer, size);
    return buffer;
}

/* How often the first `unit` layers follow each other. */
static int32_t repeats_of(const uint8_t *layer, int32_t count, int32_t unit)
{
    int32_t times = 1;
    while ((times + 1) * unit <= count &&
           memcmp(layer, layer + times * unit, (size_t)unit * sizeof *layer) == 0) {
        times++;
    }
    return times;
}

/* Writes what repeats most first; inside of it the same again. */
static void add_layers(const calc_stack *s, const uint8_t *layer, int32_t count, char *buffer,
                       size_t size)
{
    for (int32_t i = 0; i < count;) {
        int32_t unit = 1;
        int32_t times = repeats_of(layer + i, count - i, 1);
        for (int32_t u = 2; 2 * u <= count - i; u++) {
            int32_t n = repeats_of(layer + i, count - i, u);
            if (n > 1 && n * u > times * unit) {
                unit = u;
                times = n;
            }
        }
        calc_append(buffer, size, "%s", i > 0 ? " " : "");
        if (times > 1) {
            calc_append(buffer, size, "%dx%s", (int)times, unit > 1 ? "(" : "");
        }
        if (unit > 1) {
            add_layers(s, layer + i, unit, buffer, size);
            calc_append(buffer, size, ")");
        } else {
            char name[2 * 2 * NAME_SIZE];
            calc_append(buffer, size, "%s", calc_stack_kind_text(s, layer[i], name, sizeof name));
        }
        i += times * unit;
    }
}

char *calc_stack_text(const calc_stack *s, bool mtp, char *buffer, size_t size)
{
    const uint8_t *layer = mtp ? s->mtp_layer : s->layer;
    int32_t count = mtp ? s->mtp : s->layers;
    bool letters = true;
    for (int i = 0; i < s->kinds && letters; i++) {
        const calc_layer_kind *k = &s->kind[i];
        int alone = k->ffn[0] < 0 ? k->mixer[0] : k->mixer[0] < 0 ? k->ffn[0] : -1;
        letters = alone >= 0 && k->mixer[1] < 0 && k->ffn[1] < 0 && !s->part[alone].name[1];
    }
    buffer[0] = '\0';
    if (letters && count > 1) {
        for (int32_t i = 0; i < count; i++) {
            char name[2 * 2 * NAME_SIZE];
            calc_append(buffer, size, "%s", calc_stack_kind_text(s, layer[i], name, sizeof name));
        }
        return buffer;
    }
    add_layers(s, layer, count, buffer, size);
    return buffer;
}

/* ---- Operators ------------------------------------------------------------------------------- */

enum {
    PART_OPERATORS = 24,    /* of a mixer or of experts with everything they may have, */
    ADAPTER_OPERATORS = 16, /* and of adapters beside its matrices; */
    DENSE_OPERATORS = 6,    /* of a dense feed-forward part, */
    DENSE_ADAPTERS = 8,     /* and its adapters; */
    BESIDE_OPERATORS = 8    /* norms, residual and streams of a sub-layer */
};

static int operators_of(const calc_stack *s, const int8_t part[2], bool adapted)
{
    int sum = part[0] < 0 ? 0 : BESIDE_OPERATORS;
    for (int i = 0; i < 2 && part[i] >= 0; i++) {
        bool dense = s->part[part[i]].type == CALC_PART_TYPE_MLP;
        sum += dense ? DENSE_OPERATORS : PART_OPERATORS;
        sum += !adapted ? 0 : dense ? DENSE_ADAPTERS : ADAPTER_OPERATORS;
    }
    return sum;
}

static bool same_parts(const int8_t a[2], const int8_t b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

bool calc_stack_kind_has_experts(const calc_stack *stack, int kind)
{
    const calc_layer_kind *k = &stack->kind[kind];
    return (k->ffn[0] >= 0 && stack->part[k->ffn[0]].type == CALC_PART_TYPE_MOE) ||
           (k->ffn[1] >= 0 && stack->part[k->ffn[1]].type == CALC_PART_TYPE_MOE);
}

int calc_stack_most_operators(const calc_stack *s, bool adapted)
{
    int block[2] = {1, 1};
    int predicted = PART_OPERATORS;
    for (int i = 0; i < s->kinds; i++) {
        const calc_layer_kind *k = &s->kind[i];
        bool experts = calc_stack_kind_has_experts(s, i), mixer = true, ffn = true;
        for (int before = 0; before < i && k->count > 0; before++) {
            const calc_layer_kind *other = &s->kind[before];
            bool alike = other->count > 0 && calc_stack_kind_has_experts(s, before) == experts;
            mixer = mixer && !(alike && same_parts(other->mixer, k->mixer));
            ffn = ffn && !(alike && same_parts(other->ffn, k->ffn));
        }
        block[experts] += k->count > 0 && mixer ? operators_of(s, k->mixer, adapted) : 0;
        block[experts] += k->count > 0 && ffn ? operators_of(s, k->ffn, adapted) : 0;
    }
    for (int i = 0; i < s->mtp; i++) {
        const calc_layer_kind *k = &s->kind[s->mtp_layer[i]];
        predicted += operators_of(s, k->mixer, adapted) + operators_of(s, k->ffn, adapted);
    }
    int most = block[0] > block[1] ? block[0] : block[1];
    return most > predicted ? most : predicted;
}

enum { LETTERS_MAX = 16384 };

int64_t calc_stage_text_blocks(const calc_stage_text *s, int64_t stage)
{
    if (s->listed) {
        return s->block[stage];
    }
    int64_t all = s->blocks + (s->ends ? 2 : 0);
    int64_t mine = all / s->stages + (stage < all % s->stages);
    return mine - (s->ends && stage == 0) - (s->ends && stage == s->stages - 1);
}

bool calc_stage_text_write(const calc_stage_text *s, char *text, size_t size)
{
    bool fits = true;
    text[0] = '\0';
    for (int64_t stage = 0, same = 1; stage < s->stages; stage += same) {
        int64_t blocks = calc_stage_text_blocks(s, stage);
        bool last = stage == s->stages - 1;
        bool end = stage == 0 || last;
        for (same = 1; !end && stage + same < s->stages - 1; same++) {
            if (calc_stage_text_blocks(s, stage + same) != blocks) {
                break;
            }
        }
        fits = fits && blocks >= 0;
        calc_append(text, size, "%s%s", stage == 0 ? "E" : "", same > 1 ? "(" : "");
        calc_append(text, size, blocks < 1 ? "" : "t");
        if (blocks > 1) {
            calc_append(text, size, "*%lld", (long long)blocks);
        }
        for (int64_t i = 0; last && i < s->mtp_blocks; i++) {
            calc_append(text, size, "m");
        }
        calc_append(text, size, last ? "L" : "|");
        if (same > 1) {
            calc_append(text, size, ")*%lld", (long long)same);
        }
    }
    return fits && strlen(text) + 1 < size;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Letters and bars with all multiples written out. */
typedef struct letters {
    char item[LETTERS_MAX];
    size_t count;
} letters;

/* The number after a '*' at `*at`, which then points behind it; 1 if there is none, 0 if it is
 * wrong. */
static long times_at(const char **at)
{
    if (**at != '*') {
        return 1;
    }
    char *end;
    long times = strtol(*at + 1, &end, 10);
    bool number = (*at)[1] >= '0' && (*at)[1] <= '9' && times > 0 && times < LETTERS_MAX;
    *at = end;
    return number ? times : 0;
}

/* Append `text` up to `end`, in which letters may be multiplied, and groups if `groups`. */
static bool expand(letters *l, const char *text, const char *end, bool groups)
{
    while (text < end) {
        const char *close = groups && *text == '(' ? memchr(text, ')', (size_t)(end - text)) : NULL;
        const char *unit = text + (close != NULL);
        const char *unit_end = close ? close : text + 1;
        text = close ? close + 1 : unit_end;
        if (*unit == ',' && !close) {
            continue;
        }
        if (!close && !strchr("Etm|L", *unit)) {
            return false;
        }
        for (long times = times_at(&text), i = 0; i < times || times == 0; i++) {
            if (times == 0 || (close && !expand(l, unit, unit_end, false))) {
                return false;
            }
            if (!close) {
                if (l->count == LETTERS_MAX) {
                    return false;
                }
                l->item[l->count++] = *unit;
            }
        }
    }
    return true;
}

/* The blocks of every stage. @return whether every stage between the first (embedding) and the last
 * (head) has a block, and there is room for all */
static bool list_blocks(const letters *l, calc_stage_text *s)
{
    int64_t stage = 0, blocks = 0;
    bool some = s->stages <= CALC_MAX_PLACES;
    for (size_t i = 1; some && i < l->count; i++) {
        blocks += l->item[i] == 't';
        if (l->item[i] == '|' || l->item[i] == 'L') {
            bool end = stage == 0 || stage == s->stages - 1;
            s->block[stage++] = (int16_t)blocks;
            some = (blocks > 0 || end) && blocks <= INT16_MAX;
            blocks = 0;
        }
    }
    return some;
}

bool calc_stage_text_read(const char *text, calc_stage_text *out)
{
    letters l = {.count = 0};
    calc_stage_text s = {.stages = 1};
    bool apart = false; /* predictions are on a stage before the loss */
    if (!expand(&l, text, text + strlen(text), true) || l.count < 2 || l.item[0] != 'E' ||
        l.item[l.count - 1] != 'L') {
        return false;
    }
    for (size_t i = 1; i + 1 < l.count; i++) {
        char letter = l.item[i];
        if (letter == 'E' || letter == 'L' || (letter == 't' && s.mtp_blocks > 0)) {
            return false;
        }
        apart |= letter == '|' && s.mtp_blocks > 0;
        s.stages += letter == '|';
        s.blocks += letter == 't';
        s.mtp_blocks += letter == 'm';
    }
    for (int ends = 0; ends < 2; ends++) {
        int64_t stage = 0, blocks = 0;
        bool even = !apart;
        s.ends = ends == 1;
        for (size_t i = 1; i < l.count; i++) {
            blocks += l.item[i] == 't';
            if (l.item[i] == '|' || l.item[i] == 'L') {
                even = even && blocks == calc_stage_text_blocks(&s, stage++);
                blocks = 0;
            }
        }
        if (even) {
            s.listed = list_blocks(&l, &s);
            *out = s;
            return true;
        }
    }
    s.uneven = true;
    s.ends = false;
    s.listed = !apart && list_blocks(&l, &s);
    *out = s;
    return true;
}
