#include "formats/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

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
        return brief || (word[1] == 'O' && length == 1 && word[2]) ||
               (word[1] == '-' && isalpha((unsigned char)word[2]));
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
