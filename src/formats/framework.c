#include "formats/framework.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "formats/plan.h"
#include "formats/plan_layers.h"
#include "formats/plan_macros.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/stack.h"

enum { DEPTH = 16 };

/* A list under construction. */
typedef struct list {
    const char *at; /* rest of the text */
    size_t count;
    char item[CALC_PATTERN_MAX]; /* 0 or 1 */
} list;

static bool sum(list *l, int depth);

static void skip_space(list *l)
{
    l->at += strspn(l->at, " \t");
}

static bool take(list *l, char c)
{
    skip_space(l);
    if (*l->at != c) {
        return false;
    }
    l->at++;
    return true;
}

static bool number(list *l, long *out)
{
    char *end;
    skip_space(l);
    if (!isdigit((unsigned char)*l->at)) {
        return false;
    }
    *out = strtol(l->at, &end, 10);
    l->at = end;
    return true;
}

/* Reads zeros and ones, separated by commas or blanks, up to a bracket or the end. */
static bool items(list *l)
{
    long value;
    while (number(l, &value)) {
        if (value > 1 || l->count == CALC_PATTERN_MAX) {
            return false;
        }
        l->item[l->count++] = (char)value;
        (void)take(l, ',');
    }
    return true;
}

/* Reads [0, 1]*n or (sum)*n. */
static bool term(list *l, int depth)
{
    size_t start = l->count;
    long times = 1;
    bool good = take(l, '[')   ? items(l) && take(l, ']')
                : take(l, '(') ? depth < DEPTH && sum(l, depth + 1) && take(l, ')')
                               : false;
    if (!good || (take(l, '*') && !number(l, &times))) {
        return false;
    }
    size_t length = l->count - start;
    if (times > CALC_PATTERN_MAX || start + length * (size_t)times > CALC_PATTERN_MAX) {
        return false;
    }
    for (long i = 1; i < times; i++) {
        memcpy(l->item + start + (size_t)i * length, l->item + start, length);
    }
    l->count = start + length * (size_t)times;
    return true;
}

static bool sum(list *l, int depth)
{
    bool good = term(l, depth);
    while (good && take(l, '+')) {
        good = term(l, depth);
    }
    return good;
}

bool calc_pattern_of(const char *mark, size_t count, calc_pattern *out)
{
    size_t dense = 0;
    size_t every = 1;
    while (dense < count && !mark[dense]) {
        dense++;
    }
    if (dense == count) {
        return false;
    }
    while (dense + every < count && !mark[dense + every]) {
        every++;
    }
    for (size_t i = dense; i < count; i++) {
        if (mark[i] != ((i - dense) % every == 0)) {
            return false;
        }
    }
    *out = (calc_pattern){.dense = (int64_t)dense, .every = (int64_t)every};
    return true;
}

/* Reads a list, with or without brackets. */
static bool whole(list *l)
{
    skip_space(l);
    bool good = *l->at == '[' || *l->at == '(' ? sum(l, 0) : items(l);
    skip_space(l);
    return good && *l->at == '\0';
}

bool calc_pattern_read(const char *text, calc_pattern *out)
{
    list l = {.at = text};
    long every;
    if (number(&l, &every) && (skip_space(&l), *l.at == '\0')) {
        *out = (calc_pattern){.every = every};
        return every >= 1 && every <= 1000000;
    }
    l = (list){.at = text};
    return whole(&l) && calc_pattern_of(l.item, l.count, out);
}

/* Writes a list of 0 and 1: "[1, 1, 0]" or, not `plain`, as multiples "([1]*2+[0]*1)".
 * @return whether it fits into `size` bytes */
static bool calc_pattern_list_write(const char *mark, size_t count, bool plain, char *text,
                                    size_t size)
{
    size_t unit = plain ? count : 1;
    while (unit < count && (count % unit != 0 || memcmp(mark, mark + unit, count - unit) != 0)) {
        unit++;
    }
    snprintf(text, size, plain ? "[" : "(");
    for (size_t i = 0, run; i < unit; i += run) {
        run = 1;
        while (!plain && i + run < unit && mark[i + run] == mark[i]) {
            run++;
        }
        const char *glue = i == 0 ? "" : plain ? ", " : "+";
        calc_append(text, size, plain ? "%s%d" : "%s[%d]", glue, mark[i]);
        if (run > 1) {
            calc_append(text, size, "*%zu", run);
        }
    }
    calc_append(text, size, plain ? "]" : ")");
    if (unit < count) {
        calc_append(text, size, "*%zu", count / unit);
    }
    return strlen(text) + 1 < size; /* else it may have been cut off */
}

bool calc_pattern_write(calc_pattern pattern, int64_t blocks, bool plain, char *text, size_t size)
{
    int64_t rest = blocks - pattern.dense;
    if (pattern.dense == 0) {
        return (size_t)snprintf(text, size, "%lld", (long long)pattern.every) < size;
    }
    if (rest < 1) {
        return false;
    }
    if (plain || (pattern.every > 1 && rest % pattern.every != 0)) {
        char mark[CALC_PATTERN_MAX] = {0};
        for (int64_t i = 0; i < blocks && i < CALC_PATTERN_MAX; i++) {
            mark[i] = i >= pattern.dense && (i - pattern.dense) % pattern.every == 0;
        }
        return blocks <= CALC_PATTERN_MAX &&
               calc_pattern_list_write(mark, (size_t)blocks, true, text, size);
    }
    if (pattern.every > 1) {
        return (size_t)snprintf(text, size, "([0]*%lld+([1]+[0]*%lld)*%lld)",
                                (long long)pattern.dense, (long long)(pattern.every - 1),
                                (long long)(rest / pattern.every)) < size;
    }
    return (size_t)snprintf(text, size, "([0]*%lld+[1]*%lld)", (long long)pattern.dense,
                            (long long)rest) < size;
}

const calc_framework *const calc_framework_list[] = {
#define FRAMEWORK(table, name, file) &table,
    CALC_FRAMEWORKS(FRAMEWORK) NULL};
const calc_framework *const calc_framework_all[] = {CALC_FRAMEWORKS(FRAMEWORK)
                                                        CALC_FRAMEWORKS_READ(FRAMEWORK) NULL};

const calc_framework *calc_framework_find(const char *name)
{
    for (size_t i = 0; calc_framework_all[i]; i++) {
        if (strcmp(calc_framework_all[i]->name, name) == 0) {
            return calc_framework_all[i];
        }
    }
    return NULL;
}

/* Dashes and underscores in option names are equal; those before an option are left out in files.
 */
static bool same_letter(char a, char b)
{
    return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

static bool same_key(const char *a, const char *b)
{
    while (*a && same_letter(*a, *b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Whether a key matches a pattern of `length` bytes. */
static bool matches(const char *pattern, size_t length, const char *key)
{
    for (; length > 0 && *pattern != '*'; pattern++, key++, length--) {
        if (!*key || !same_letter(*pattern, *key)) {
            return false;
        }
    }
    if (length == 0) {
        return !*key;
    }
    do {
        if (matches(pattern + 1, length - 1, key)) {
            return true;
        }
    } while (*key++);
    return false;
}

/* Whether a value is the default in `length` bytes of text; without one, whether it is off. */
static bool is_preset(const char *value, const char *preset, size_t length)
{
    static const char off[] = " 0 0.0 false no off none null ";
    char text[80], *end, *mine;
    if (length == 0) {
        snprintf(text, sizeof text, " %.60s ", value);
        for (char *at = text; *at; at++) {
            *at = (char)tolower((unsigned char)*at);
        }
        return value[0] && strstr(off, text);
    }
    snprintf(text, sizeof text, "%.*s", (int)length, preset);
    double a = calc_decimal_at(text, &end), b = calc_decimal_at(value, &mine);
    char word[80]; /* without what else follows an option */
    snprintf(word, sizeof word, "%.*s", (int)strcspn(value, " "), value);
    return strcasecmp(text, value) == 0 ||
           (memchr(preset, '*', length) && matches(preset, length, word)) ||
           (end != text && !*end && mine != value && !*mine && a == b);
}

bool calc_framework_has_pools(const calc_framework *framework, const calc_exec *exec)
{
    return framework->pool[CALC_POOL_PREFILL] &&
           exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
}

enum { KEY_SIZE = 512 };

/* A key as the framework's bases name it. */
static const char *key_in_bases(const calc_framework *framework, const char *key,
                                char text[KEY_SIZE])
{
    const char *at = framework->renamed ? framework->renamed : "";
    for (size_t whole; (whole = calc_next_word(&at, " ")) > 0;) {
        size_t length = strcspn(at - whole, "=");
        if (strncmp(key, at - whole, length) == 0) {
            snprintf(text, KEY_SIZE, "%.*s%s", (int)(whole - length - 1), at - whole + length + 1,
                     key + length);
            return text;
        }
    }
    return key;
}

static const calc_setting_row *find_row(const calc_framework *framework, const char *key)
{
    char text[KEY_SIZE];
    const calc_setting_row *row = NULL, *bare = NULL; /* bare: the same without dashes before it */
    const char *plain = key + strspn(key, "-");
    for (size_t i = 0; i < framework->count; i++) {
        row = &framework->rows[i];
        for (int k = 0; k < 2; k++) {
            const char *full = k == 0 ? row->key : row->also;
            if (full && same_key(full + strspn(full, "-"), plain)) {
                if (same_key(full, key)) {
                    return row;
                }
                bare = bare ? bare : row;
            }
        }
    }
    row = bare;
    for (size_t i = 0; framework->bases && framework->bases[i] && !row; i++) {
        row = find_row(framework->bases[i], key_in_bases(framework, key, text));
    }
    return row;
}

const calc_setting_row *calc_framework_row(const calc_framework *framework, const char *key)
{
    /* Of torchrun and of the launcher of DeepSpeed. */
    static const calc_setting_row sizes[] = {
        CALC_ROW(NUMBER, NODE_PROCS, "--nproc-per-node", .launcher = true)
            CALC_ROW(NUMBER, NODES, "--nnodes", .launcher = true)
                CALC_ROW(NUMBER, NODE_PROCS, "--num-gpus", .launcher = true)
                    CALC_ROW(NUMBER, NODES, "--num-nodes", .launcher = true)};
    static const calc_framework launchers = {.rows = sizes, .count = sizeof sizes / sizeof *sizes};
    const calc_setting_row *row = find_row(framework, key);
    return row || framework->serves || key[0] != '-' ? row : find_row(&launchers, key);
}

calc_unread calc_framework_unread(const calc_framework *framework, const char *key,
                                  const char *value, const char **assumed)
{
    char text[KEY_SIZE];
    const char *dot = strrchr(key, '.');
    const char *last = dot ? dot + 1 : key + strspn(key, "-");
    const char *file =
        framework->unread ? calc_embedded_find(calc_unread_list, framework->unread)->bytes : "";
    calc_unread what = CALC_UNREAD_UNKNOWN;
    *assumed = NULL;
    for (const char *at = file; *at; at += strspn(at, " \n")) {
        bool heading = at == file || at[-1] == '\n';
        size_t whole = strcspn(at, " \n"), length = strcspn(at, " \n=");
        size_t line = heading ? strcspn(at, "\n") : 0;
        if (heading && *at != '#') {
            what = *at == 'm'   ? CALC_UNREAD_MODEL
                   : *at == 'c' ? CALC_UNREAD_COST
                                : CALC_UNREAD_HARMLESS;
            *assumed = whole < line ? at + whole + 1 : NULL;
        }
        bool dotted = memchr(at, '.', length) != NULL;
        if (!heading && matches(at, length, dotted ? key + strspn(key, "-") : last)) {
            size_t equals = length < whole;
            return is_preset(value, at + length + equals, whole - length - equals)
                       ? CALC_UNREAD_HARMLESS
                       : what;
        }
        at += heading ? line : whole;
    }
    *assumed = NULL;
    what = CALC_UNREAD_UNKNOWN;
    for (size_t i = 0; framework->bases && framework->bases[i] && what == CALC_UNREAD_UNKNOWN;
         i++) {
        what = calc_framework_unread(framework->bases[i], key_in_bases(framework, key, text), value,
                                     assumed);
    }
    return what;
}

void calc_framework_defaults(const calc_framework *framework, calc_plan *plan)
{
    for (size_t i = 0; i < framework->count; i++) {
        const calc_setting_row *row = &framework->rows[i];
        if (row->how == CALC_HOW_DEFAULT && !calc_plan_says(plan, row->member)) {
            plan->value[row->member] = row->value;
        }
    }
    for (size_t i = 0; framework->bases && framework->bases[i]; i++) {
        calc_framework_defaults(framework->bases[i], plan);
    }
}

bool calc_word_next(const calc_setting_row *row, const char **at, calc_word *word)
{
    char value[64], *end;
    calc_field_ref ref;
    if (!*at || !**at) {
        return false;
    }
    size_t whole = strcspn(*at, " "), length = strcspn(*at, " =");
    size_t from = length < whole ? length + 1 : 0;
    snprintf(value, sizeof value, "%.*s", (int)(whole - from), *at + from);
    *word = (calc_word){*at, length, calc_decimal_at(value, &end)};
    if (end == value || *end) {
        int index = calc_plan_find_field(row->member, &ref) && ref.field->choices
                        ? calc_choice_index(ref.field->choices, value)
                        : -1;
        bool set = index >= 0 && ref.field->type == CALC_TYPE_SET;
        word->value = index < 0 ? NAN : set ? (double)(1 << index) : (double)index;
    }
    *at += whole + strspn(*at + whole, " ");
    return true;
}

static bool write_set(const calc_setting_row *row, int64_t set, calc_syntax syntax, char *text)
{
    bool bracketed = syntax == CALC_SYNTAX_YAML || syntax == CALC_SYNTAX_TOML;
    calc_word word;
    snprintf(text, CALC_ROW_TEXT_SIZE, "%s", bracketed ? "[" : "");
    for (const char *at = row->words; calc_word_next(row, &at, &word);) {
        if (set & (int64_t)word.value) {
            set &= ~(int64_t)word.value; /* skips further words for the same bits */
            calc_append(text, CALC_ROW_TEXT_SIZE, "%s%.*s",
                        !text[bracketed] ? ""
                        : bracketed      ? ", "
                                         : " ",
                        (int)word.length, word.text);
        }
    }
    bool any = text[bracketed] != '\0';
    calc_append(text, CALC_ROW_TEXT_SIZE, bracketed ? "]" : "");
    return any;
}

static bool write_switch(const calc_setting_row *row, double value, calc_syntax syntax, char *text)
{
    bool on = value == row->value;
    if (syntax == CALC_SYNTAX_SHELL || row->how != CALC_HOW_SWITCH) {
        snprintf(text, CALC_ROW_TEXT_SIZE, "%s", syntax == CALC_SYNTAX_SHELL ? "" : "true");
        return on;
    }
    snprintf(text, CALC_ROW_TEXT_SIZE, "%s", on ? "true" : "false");
    return true;
}

static bool write_word(const calc_setting_row *row, double value, char *text)
{
    calc_word word;
    for (const char *at = row->words; calc_word_next(row, &at, &word);) {
        if (word.value == value) {
            snprintf(text, CALC_ROW_TEXT_SIZE, "%.*s", (int)word.length, word.text);
            return true;
        }
    }
    return false;
}

/* The list of a row whose number does not say which blocks have something; NULL: another row. */
static calc_plan_marks *marks_of(const calc_setting_row *row, calc_plan *plan)
{
    return row->how == CALC_HOW_PATTERN            ? &plan->experts
           : row->member == CALC_PLAN_LINEAR_EVERY ? &plan->linear
           : row->member == CALC_PLAN_GLOBAL_EVERY ? &plan->windows
                                                   : &plan->unrotated;
}

static bool write_marks(const calc_setting_row *row, const calc_plan *plan, calc_syntax syntax,
                        char *text)
{
    const calc_plan_marks *marks = marks_of(row, (calc_plan *)plan);
    bool shell = syntax == CALC_SYNTAX_SHELL;
    if (marks->count > 0) {
        return calc_pattern_list_write(marks->mark, (size_t)marks->count, !shell, text,
                                       CALC_ROW_TEXT_SIZE);
    }
    if (row->how == CALC_HOW_PATTERN) {
        return calc_pattern_write((calc_pattern){COUNT(DENSE_BLOCKS), COUNT(MOE_EVERY)},
                                  COUNT(BLOCKS), !shell, text, CALC_ROW_TEXT_SIZE);
    }
    calc_number_text(plan->value[row->member], 1, text);
    return true;
}

static bool write_stages(const calc_plan *plan, char *text)
{
    calc_stage_text stages = {.stages = COUNT(STAGE_COUNT),
                              .blocks = COUNT(BLOCKS),
                              .mtp_blocks = COUNT(MTP),
                              .ends = VALUE(STAGE_BLOCKS) == 2,
                              .listed = plan->blocks.count > 0};
    if (stages.listed) {
        stages.stages = plan->blocks.count;
        memcpy(stages.block, plan->blocks.number, sizeof stages.block);
    }
    return calc_stage_text_write(&stages, text, CALC_ROW_TEXT_SIZE);
}

static bool write_pair(double first, double second, calc_syntax syntax, char shell_glue, char *text)
{
    bool shell = syntax == CALC_SYNTAX_SHELL;
    snprintf(text, CALC_ROW_TEXT_SIZE, shell ? "%.0f%c%.0f" : "[%.0f%c %.0f]", first,
             shell ? shell_glue : ',', second);
    return true;
}

bool calc_row_write(const calc_setting_row *row, calc_syntax syntax, const calc_plan *plan,
                    char *text)
{
    double value = plan->value[row->member];
    if (!row->key || row->read_only || row->how == CALC_HOW_DEFAULT ||
        (row->when && !(calc_plan_get(plan, row->when, 0) > 0))) {
        return false;
    }
    if (row->how == CALC_HOW_CONSTANT) {
        snprintf(text, CALC_ROW_TEXT_SIZE, "%s", row->text);
        return true;
    }
    if (isnan(value)) {
        return false;
    }
    switch (row->how) {
    case CALC_HOW_NUMBER:
        calc_number_text(value, 1, text);
        return true;
    case CALC_HOW_FORMAT: {
        const char *mark = strchr(row->text, '#');
        char number[64];
        calc_number_text(value, 1, number);
        snprintf(text, CALC_ROW_TEXT_SIZE, "%.*s%s%s", (int)(mark - row->text), row->text, number,
                 mark + 1);
        return true;
    }
    case CALC_HOW_DECIMAL:
        calc_number_text(value, 1, text);
        strcat(text, strpbrk(text, ".e") ? "" : ".0");
        return true;
    case CALC_HOW_SWITCH:
    case CALC_HOW_IS:
        return write_switch(row, value, syntax, text);
    case CALC_HOW_WORDS:
        return write_word(row, value, text);
    case CALC_HOW_SET:
        return write_set(row, (int64_t)value, syntax, text);
    case CALC_HOW_PATTERN:
    case CALC_HOW_MARKS:
        return write_marks(row, plan, syntax, text);
    case CALC_HOW_LETTERS:
        snprintf(text, CALC_ROW_TEXT_SIZE, "%s", plan->letters);
        return true;
    case CALC_HOW_STAGES:
        return write_stages(plan, text);
    case CALC_HOW_OFFSETS: {
        const calc_plan_list offsets = calc_plan_offsets(plan);
        return calc_plan_list_write(&offsets, COUNT(PIPELINE), text);
    }
    case CALC_HOW_RECOMPUTED:
        return plan->recomputed.count > 0
                   ? calc_plan_list_write(&plan->recomputed, COUNT(PIPELINE), text)
                   : write_switch(row, value, syntax, text);
    case CALC_HOW_SIZES:
        return write_pair(value, floor(calc_plan_get(plan, CALC_PLAN_CONTEXT, value) / value),
                          syntax, ' ', text);
    default:
        return write_pair(value, 0, syntax, ',', text);
    }
}

static bool read_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    double value = calc_decimal_at(text, &end);
    /* vllm/utils, human_readable_int(): 32k, 32K */
    static const char units[] = "kmgtKMGT";
    const char *unit = *end && end > text ? strchr(units, *end) : NULL;
    if (unit) {
        size_t power = (size_t)(unit - units) % 4 + 1;
        value *= pow(unit < units + 4 ? 1000 : 1024, (double)power);
        end++;
    }
    /* "2 pretrain.py": stops at a blank, since another argument follows. */
    if (end == text || errno != 0 || !isfinite(value) || !strchr(" ,]", *end)) {
        return false;
    }
    *out = value;
    return true;
}

/* The range of the field that the member stands for; the range of a count if there is none. */
static bool number_fits(const calc_setting_row *row, double value, char *expect, size_t size)
{
    calc_field_ref ref;
    bool found = calc_plan_find_field(row->member, &ref) &&
                 (ref.field->type == CALC_TYPE_INT || ref.field->type == CALC_TYPE_REAL);
    bool whole = row->how != CALC_HOW_DECIMAL && !(found && ref.field->type == CALC_TYPE_REAL);
    if (whole && value != floor(value) && row->member != CALC_PLAN_DROPOUT) {
        snprintf(expect, size, "a whole number");
        return false;
    }
    if (found) {
        calc_field_range_text(ref.field, value, expect, size);
        return calc_field_in_range(ref.field, value);
    }
    /* Rates, choices and switches may be 0; sizes that other settings imply may not. */
    int least = row->member == CALC_PLAN_SERVE_CHUNK     ? -1
                : calc_plan_field(row->member) || !whole ? 0
                                                         : 1;
    snprintf(expect, size, "%d to 1e9", least);
    return value >= least && value <= 1e9;
}

/* @return 1 for yes or 0 for no; -1 if it is neither */
static int read_switch(const char *text)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return (int)(i % 2);
        }
    }
    return -1;
}

static bool read_on_off(const calc_setting_row *row, const char *text, calc_plan *plan,
                        char *expect, size_t size)
{
    /* A switch has no value; words after it belong to something else. */
    int on = read_switch(text);
    on = on < 0 && (row->key[0] == '-' || !text[0]) ? 1 : on;
    if (on < 0) {
        snprintf(expect, size, "true or false");
        return false;
    }
    if (on) {
        plan->value[row->member] = row->value;
    } else if (row->how == CALC_HOW_SWITCH) {
        plan->value[row->member] = 1 - row->value;
    }
    return true;
}

static void list_words(const calc_setting_row *row, char *expect, size_t size)
{
    enum { ROOM = 32 /* for a word, and for a mark that more follow */ };
    calc_word word;
    expect[0] = '\0';
    for (const char *at = row->words; calc_word_next(row, &at, &word);) {
        if (strlen(expect) + word.length + ROOM > size) {
            calc_append(expect, size, ", ...");
            return;
        }
        calc_append(expect, size, "%s%.*s",
                    !expect[0] ? ""
                    : *at      ? ", "
                               : " or ",
                    (int)word.length, word.text);
    }
}

/* Reads one word, or any number of them for a set. */
static bool read_words(const calc_setting_row *row, const char *text, calc_plan *plan, char *expect,
                       size_t size)
{
    int64_t set = 0;
    if (row->member == CALC_PLAN_LORA_MODULES && (strpbrk(text, "\\(|^$+") || strstr(text, ".*"))) {
        bool good = calc_adapters_read(row, text, &set, expect, size);
        plan->value[row->member] = good ? (double)set : plan->value[row->member];
        return good;
    }
    text = *text || row->key[0] == '-' ? text : "true"; /* an option without a value */
    do {
        text += strspn(text, " ,[]");
        size_t length = strcspn(text, " ,[]"), above = length; /* self_attn.q_proj, *q_proj */
        calc_word word;
        while (above > 0 && text[above - 1] != '.') {
            above--;
        }
        bool adapted = row->member == CALC_PLAN_LORA_MODULES;
        above = !adapted
                    ? 0
                    : above + (text[above] == '*' && text[above + 1] != '_' && above + 1 < length);
        const char *at = row->words;
        bool known = false;
        while (!known && calc_word_next(row, &at, &word)) {
            known = (word.length == length - above &&
                     strncasecmp(word.text, text + above, word.length) == 0) ||
                    (!adapted && word.length == 1 && *word.text == '*'); /* whatever else */
        }
        int on = known ? -1 : read_switch(text); /* "yes" of YAML 1.1 */
        if (on >= 0 && strcasecmp(text, on ? "true" : "false") != 0) {
            return read_words(row, on ? "true" : "false", plan, expect, size);
        }
        if (!known) {
            list_words(row, expect, size);
            return false;
        }
        if (!isnan(word.value)) {
            set |= row->how == CALC_HOW_SET ? (int64_t)word.value : 0;
            plan->value[row->member] = row->how == CALC_HOW_SET ? (double)set : word.value;
        }
        text += length;
        text += strspn(text, " ,[]");
    } while (*text && row->how == CALC_HOW_SET);
    return true;
}

/* Reads a list that no number says. */
static bool read_marks(const calc_setting_row *row, const char *text, calc_plan *plan)
{
    list l = {.at = text};
    calc_plan_marks *marks = marks_of(row, plan);
    if (!whole(&l) || l.count == 0 || (l.count == 1 && !strchr(text, '[')) ||
        l.count > CALC_MAX_STACK) {
        return false;
    }
    marks->count = (int32_t)l.count;
    memcpy(marks->mark, l.item, l.count);
    return true;
}

/* A number, or a list. */
static bool read_every(const calc_setting_row *row, const char *text, calc_plan *plan, char *expect,
                       size_t size)
{
    calc_pattern pattern;
    bool experts = row->how == CALC_HOW_PATTERN;
    marks_of(row, plan)->count = 0;
    plan->value[row->member] = 0;
    if (experts && calc_pattern_read(text, &pattern)) {
        (void)read_marks(row, text, plan); /* as many as there are blocks */
        SET(DENSE_BLOCKS, pattern.dense);
        SET(MOE_EVERY, pattern.every);
        return true;
    }
    char *end;
    long every = strtol(text, &end, 10);
    if (!experts && end > text && !*end && every > 0) {
        plan->value[row->member] = (double)every;
        return true;
    }
    snprintf(expect, size, "a number, or a list like ([0]*3+[1]*58)");
    return read_marks(row, text, plan);
}

static bool read_letters(const calc_setting_row *row, const char *text, calc_plan *plan,
                         char *expect, size_t size)
{
    bool mtp = row->member == CALC_PLAN_MTP_LETTERS;
    snprintf(expect, size,
             mtp ? "up to %d of the letters M * - E G D +"
                 : "layers as the letters M * - E G D +, with | between stages and "
                   "/ before those of multi-token prediction",
             CALC_MAX_MTP_LAYERS);
    if (!calc_plan_layers_letters(text) || (mtp && strpbrk(text, "|/")) ||
        (mtp && strlen(text) > CALC_MAX_MTP_LAYERS)) {
        return false;
    }
    strcpy(mtp ? plan->mtp_letters : plan->letters, text);
    plan->value[row->member] = 1;
    return true;
}

static bool read_stages(const char *text, calc_plan *plan, char *expect, size_t size)
{
    calc_stage_text stages;
    if (!calc_stage_text_read(text, &stages)) {
        snprintf(expect, size, "stages like Et*3|(t*4|)*14t*2L");
        return false;
    }
    SET(STAGE_BLOCKS, stages.uneven ? 3 : stages.ends ? 2 : 1);
    SET(STAGE_COUNT, stages.stages);
    plan->blocks.count = stages.listed ? (int32_t)stages.stages : 0;
    memcpy(plan->blocks.number, stages.block, sizeof stages.block);
    return true;
}

/* Reads true, false, or the number of blocks of every stage. */
static bool read_recomputed(const calc_setting_row *row, const char *text, calc_plan *plan,
                            char *expect, size_t size)
{
    if (read_switch(text) >= 0) {
        return read_on_off(row, text, plan, expect, size);
    }
    snprintf(expect, size, "true, false, or the blocks of every stage");
    if (!calc_plan_list_read(text, &plan->recomputed)) {
        return false;
    }
    for (int32_t i = 0; i < plan->recomputed.count; i++) {
        if (plan->recomputed.number[i] < 0) {
            return false;
        }
    }
    plan->value[row->member] = row->value;
    return true;
}

bool calc_row_read(const calc_setting_row *row, const char *text, calc_plan *plan, char *expect,
                   size_t size)
{
    double number;
    switch (row->how) {
    case CALC_HOW_NUMBER:
    case CALC_HOW_FACTOR:
    case CALC_HOW_DECIMAL:
    case CALC_HOW_SIZES:
    case CALC_HOW_WINDOW:
        if (!read_number(text + (*text == '[' || *text == '('), &number)) {
            snprintf(expect, size, "a number");
            return false;
        }
        if (row->unset && (number == -1 || (number == 0 && row->value > 0))) {
            return true;
        }
        bool factor = row->how == CALC_HOW_FACTOR && calc_plan_says(plan, row->member);
        number *= factor ? plan->value[row->member] : 1;
        if (!number_fits(row, number, expect, size)) {
            calc_append(expect, size, factor ? " as the product of its keys" : "");
            return false;
        }
        /* 0 is no context parallelism */
        plan->value[row->member] = row->member == CALC_PLAN_CONTEXT ? fmax(number, 1) : number;
        return true;
    case CALC_HOW_SWITCH:
    case CALC_HOW_IS:
        return read_on_off(row, text, plan, expect, size);
    case CALC_HOW_CONSTANT:
    case CALC_HOW_WORDS:
    case CALC_HOW_FILE:
    case CALC_HOW_SET:
        return !row->words || read_words(row, text, plan, expect, size);
    case CALC_HOW_PATTERN:
    case CALC_HOW_MARKS: {
        char plain[1024]; /* a string in a string keeps its quotes, which eval takes away */
        size_t length = strlen(text), quoted = *text == '\'' && length > 1 && length < sizeof plain;
        snprintf(plain, sizeof plain, "%.*s", quoted ? (int)length - 2 : 0, text + quoted);
        return read_every(row, quoted ? plain : text, plan, expect, size);
    }
    case CALC_HOW_LETTERS:
        return read_letters(row, text, plan, expect, size);
    case CALC_HOW_STAGES:
        return read_stages(text, plan, expect, size);
    case CALC_HOW_OFFSETS:
        snprintf(expect, size, "a number per stage, or a list of them per chunk");
        return strcmp(text, "0") == 0 || calc_plan_list_read(text, &plan->offsets); /* 0: none */
    case CALC_HOW_RECOMPUTED:
        return read_recomputed(row, text, plan, expect, size);
    default:
        return true;
    }
}

int calc_export_servers(const calc_framework *framework, const calc_exec *exec,
                        calc_exec server[CALC_POOL_COUNT])
{
    calc_inference *first = &server[CALC_POOL_PREFILL].inference;
    calc_inference *second = &server[CALC_POOL_DECODE].inference;
    server[0] = *exec;
    if (!calc_framework_has_pools(framework, exec)) {
        return 1;
    }
    calc_prefill_pool_of(exec, &server[CALC_POOL_PREFILL]);
    first->batch = (first->prefill_batch > 0 ? first->prefill_batch : 1) *
                   server[CALC_POOL_PREFILL].strategy.data_par;
    first->speculative_tokens = first->max_sequences = 0;
    server[CALC_POOL_DECODE] = *exec;
    second->prefill_batch = second->chunk_size = 0;
    for (int i = 0; i < CALC_POOL_COUNT; i++) {
        calc_inference *own = &server[i].inference;
        own->phase =
            i == CALC_POOL_PREFILL ? CALC_INFERENCE_PHASE_PREFILL : CALC_INFERENCE_PHASE_DECODE;
        own->prefill_procs = own->prefill_tensor_par = own->prefill_expert_par = 0;
        own->prefill_system = (calc_other_system){{0}, NULL};
    }
    return CALC_POOL_COUNT;
}
