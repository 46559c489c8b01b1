#include "formats/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "formats/framework.h"
#include "formats/read.h"

calc_setting *calc_settings_add(calc_settings *settings, const char *key, size_t key_length)
{
    if (settings->count == CALC_SETTINGS_MAX) {
        return NULL;
    }
    calc_setting *item =
        calc_grown(settings->item, settings->count, &settings->capacity, sizeof *item);
    if (!item) {
        return NULL;
    }
    settings->item = item;
    calc_setting setting = {.key = calloc(key_length + 1, 1), .value = calloc(1, 1)};
    if (!setting.key || !setting.value) {
        free(setting.key);
        free(setting.value);
        return NULL;
    }
    memcpy(setting.key, key, key_length);
    settings->item[settings->count] = setting;
    return &settings->item[settings->count++];
}

bool calc_setting_append(calc_setting *setting, const char *text, size_t length)
{
    size_t before = setting->length;
    size_t glue = before > 0;
    if (length == 0 || before + length > CALC_SETTING_MAX) {
        return true;
    }
    char *value = realloc(setting->value, before + glue + length + 1);
    if (!value) {
        return false;
    }
    setting->value = value;
    if (glue) {
        value[before] = ' ';
    }
    memcpy(value + before + glue, text, length);
    value[before + glue + length] = '\0';
    setting->length = before + glue + length;
    return true;
}

calc_setting *calc_settings_put(calc_settings *settings, const char *key, const char *value)
{
    calc_setting *item = calc_settings_add(settings, key, strlen(key));
    return item && calc_setting_append(item, value, strlen(value)) ? item : NULL;
}

void calc_settings_compare(const calc_settings *from, const calc_settings *to,
                           void (*tell)(void *context, const char *key, const char *a,
                                        const char *b),
                           void *context)
{
    for (size_t i = 0; i < from->count; i++) {
        const calc_setting *mine = &from->item[i];
        const calc_setting *other = calc_settings_last(to, mine->key);
        if (!other || strcmp(mine->value, other->value) != 0) {
            tell(context, mine->key, mine->value, other ? other->value : NULL);
        }
    }
    for (size_t i = 0; i < to->count; i++) {
        if (!calc_settings_last(from, to->item[i].key)) {
            tell(context, to->item[i].key, NULL, to->item[i].value);
        }
    }
}

const calc_setting *calc_settings_last(const calc_settings *settings, const char *key)
{
    for (size_t i = settings->count; i > 0; i--) {
        if (strcmp(settings->item[i - 1].key, key) == 0) {
            return &settings->item[i - 1];
        }
    }
    return NULL;
}

bool calc_settings_have(const calc_settings *settings, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < settings->count; i++) {
        const char *found = settings->item[i].key;
        if (strncmp(found, key, length) == 0 && (!found[length] || found[length] == '.')) {
            return true;
        }
    }
    return false;
}

void calc_settings_drop(calc_settings *settings)
{
    size_t kept = 0;
    for (size_t i = 0; i < settings->count; i++) {
        calc_setting *setting = &settings->item[i];
        if (setting->key[0]) {
            settings->item[kept++] = *setting;
        } else {
            free(setting->key);
            free(setting->value);
        }
    }
    settings->count = kept;
}

void calc_settings_free(calc_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        free(settings->item[i].key);
        free(settings->item[i].value);
    }
    for (size_t i = 0; i < settings->files; i++) {
        free(settings->file[i]);
    }
    free(settings->item);
    free(settings->command);
    *settings = (calc_settings){0};
}

/* Also the short forms of parallel sizes, -tp and the like, and of what is compiled, -O0; flags of
 * a shell are none. */
bool calc_settings_is_option(const char *word)
{
    const char *dot = NULL;
    if (word[0] == '-') {
        size_t length = strcspn(word + 1, "=.0123456789");
        bool brief = calc_word_in("tp pp dp ep cp cc", word + 1, length);
        return brief || (word[1] == 'O' && length == 1) ||
               (word[1] == '-' &&
                (isalpha((unsigned char)word[2]) || (word[2] && strchr("{$", word[2]))));
    }
    word += strspn(word, "+~"); /* Hydra: the key is new, or removed */
    for (; isalnum((unsigned char)*word) || *word == '_' || *word == '.'; word++) {
        dot = *word == '.' ? word : dot;
    }
    return dot && word > dot + 1 && *word == '=';
}

bool calc_settings_is_file(const char *path, size_t length)
{
    static const char *const ends[] = {".yaml", ".yml", ".toml"};
    bool is = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        is = is || (length > end && memcmp(path + length - end, ends[i], end) == 0);
    }
    return is;
}

bool calc_word_serves(const char *word)
{
    size_t length = strlen(word);
    return length >= 5 && strcmp(word + length - 5, "serve") == 0 &&
           (length == 5 || word[length - 6] == '-');
}

bool calc_word_is_image(const char *word)
{
    const char *slash = strrchr(word, '/');
    bool image = isalnum((unsigned char)*word) && slash && strchr(slash, ':') && !strchr(word, '=');
    bool any = false;
    for (size_t i = 0; calc_framework_all[i] && image && !any; i++) {
        const calc_framework *f = calc_framework_all[i];
        any = f->serves && (strstr(word, f->name) || (f->program && strstr(word, f->program)));
    }
    return any;
}

bool calc_settings_take(calc_settings *settings, const char *word, bool starts, int argument,
                        int line, int column)
{
    calc_setting *last = settings->count > 0 ? &settings->item[settings->count - 1] : NULL;
    /* The name of a configuration, which programs have without an option. */
    bool named = (starts || last->length > 0) && calc_settings_is_file(word, strlen(word)) &&
                 !strpbrk(word, "=:$");
    bool sets =
        last && !strchr("-$", last->key[0]) && isalpha((unsigned char)*word) && strchr(word, '=');
    bool server = calc_word_is_image(word), serving = calc_word_serves(word) || server;
    long release[3] = {0};
    int parts = 0; /* of a tag as v0.5.3-cu126 */
    const char *tag = server ? strrchr(word, ':') + 1 : "";
    for (tag += *tag == 'v'; parts < 3 && isdigit((unsigned char)*tag); parts++) {
        char *end;
        release[parts] = strtol(tag, &end, 10);
        tag = end + (*end == '.');
    }
    if (parts >= 2 && release[0] < 1000 && release[1] < 1000 && release[2] < 1000) {
        if (!calc_settings_put(
                settings, "image",
                CALC_TEXT(32, "%ld", (release[0] * 1000 + release[1]) * 1000 + release[2]))) {
            return false;
        }
        last = starts ? NULL : &settings->item[settings->count - 2]; /* the list may have moved */
    }
    if (serving && last && calc_word_serves(last->key) && !strchr(last->value, '/')) {
        last->value[last->length = 0] = '\0'; /* trtllm-serve serve, IMAGE vllm serve */
        return true;
    }
    if (!calc_settings_is_option(word) && !named && !sets && !(starts && serving) && !server) {
        return starts || calc_setting_append(last, word, strlen(word));
    }
    word = server ? "serve" : word + (serving ? strlen(word) - 5 : strspn(word, "+~"));
    size_t length = named ? 0 : strcspn(word, "=");
    calc_setting *setting = calc_settings_add(settings, named ? "file" : word, named ? 4 : length);
    if (!setting) {
        return false;
    }
    setting->argument = argument;
    setting->line = line;
    setting->column = column;
    const char *value = word + length + (word[length] == '=');
    return calc_setting_append(setting, value, strlen(value));
}

calc_status calc_settings_from_words(calc_settings *settings, const char *const *word, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!calc_settings_take(settings, word[i], settings->count == 0, (int)i + 1, 0, 0)) {
            return CALC_ERR_NOMEM;
        }
    }
    return CALC_OK;
}

bool calc_settings_of_commands(calc_settings *settings, const calc_script_group *group,
                               size_t groups)
{
    settings->command = calloc(groups + 1, sizeof *settings->command);
    if (!settings->command) {
        return false;
    }
    settings->commands = groups;
    for (size_t i = 0; i < settings->commands; i++) {
        uint64_t has = UINT64_C(1) << i, before = 0;
        char *mine = settings->command[i].words;
        settings->command[i] = group[i].command;
        while (has != before && !group[i].name) {
            before = has;
            for (size_t k = 0; k < settings->commands; k++) {
                has |= has >> k & 1 ? group[k].lists : 0;
            }
        }
        for (size_t k = 0; k < settings->commands && !group[i].name; k++) {
            const char *words = group[k].command.words;
            if (k != i && has >> k & 1 && words[0]) { /* a list that begins with the program */
                calc_append(mine, sizeof settings->command[i].words, "%s%s", mine[0] ? " " : "",
                            words);
            }
        }
        for (size_t k = 0; k < settings->count && !group[i].name; k++) {
            calc_setting *setting = &settings->item[k];
            setting->commands |= has & setting->list ? UINT64_C(1) << i : 0;
        }
    }
    return true;
}
