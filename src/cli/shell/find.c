#include "cli/shell/find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "formats/hf.h"
#include "formats/read.h"
#include "formats/settings.h"
#include "io/space_load.h"
#include "spec/serving_engine.h"

static const struct {
    const char *folder, *text, *text_with_article;
} kinds[] = {[CALC_KIND_APP] = {"models", "model", "a model"},
             [CALC_KIND_SYSTEM] = {"systems", "system", "a system"},
             [CALC_KIND_EXEC] = {"executions", "execution", "an execution"}};

const char *calc_find_kind_text(calc_kind kind)
{
    return kinds[kind].text_with_article;
}

/* Length of a file name without .json or .json.gz; 0 if it has neither. */
static size_t stem_length(const char *name)
{
    static const char *const endings[] = {".json", ".json.gz"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            return length - ending;
        }
    }
    return 0;
}

char *calc_find_name(const char *path, char *buffer, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = stem_length(name);
    if (strcmp(path, "-") == 0) {
        name = "stdin";
    }
    snprintf(buffer, size, "%.*s", (int)(length > 0 ? length : strlen(name)), name);
    return buffer;
}

static void add_entry(calc_find_list *list, const char *path, const char *folder, int place)
{
    list->entry = calc_longer(list->entry, list->count + 1, sizeof *list->entry);
    char file[256], name[600];
    calc_find_name(path, file, sizeof file);
    snprintf(name, sizeof name, "%s%s%s", folder, *folder ? "/" : "", file);
    calc_find_entry *entry = &list->entry[list->count++];
    *entry =
        (calc_find_entry){calc_make(1, strlen(path) + 1), calc_make(1, strlen(name) + 1), place};
    strcpy(entry->path, path);
    strcpy(entry->name, name);
}

/* Add the documents of a directory and, at the top level, of the directories in it. */
static void add_directory(calc_find_list *list, const char *directory, const char *folder,
                          int place)
{
    DIR *stream = opendir(directory);
    if (!stream && errno == ENOMEM) {
        calc_end_without_memory();
    }
    struct dirent *item;
    while (stream && (item = readdir(stream))) {
        char path[CALC_FIND_PATH_MAX];
        struct stat info;
        int length = snprintf(path, sizeof path, "%s/%s", directory, item->d_name);
        if (item->d_name[0] == '.' || length >= (int)sizeof path || stat(path, &info) != 0) {
            continue;
        }
        if (S_ISDIR(info.st_mode) && !*folder) {
            add_directory(list, path, item->d_name, place);
        } else if (!S_ISDIR(info.st_mode) && stem_length(item->d_name) > 0) {
            add_entry(list, path, folder, place);
        }
    }
    if (stream) {
        closedir(stream);
    }
}

static int compare_entries(const void *a, const void *b)
{
    const calc_find_entry *left = a;
    const calc_find_entry *right = b;
    int order = (left->place > right->place) - (left->place < right->place);
    return order ? order : strcmp(left->name, right->name);
}

/* ../share/calc beside the command. @return false if its place is not known */
static bool data_beside_command(char path[CALC_FIND_PATH_MAX])
{
    static const char data[] = "/share/calc";
    ssize_t length = readlink("/proc/self/exe", path, CALC_FIND_PATH_MAX - sizeof data);
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        *(slash ? slash : path) = '\0';
    }
    strcat(path, data);
    return true;
}

/* The data directories: those of CALC_PATH, then the one beside the command. */
typedef struct places {
    const char *rest; /* of CALC_PATH; start with getenv() */
    bool ended;
} places;

static bool next_place(places *p, char place[CALC_FIND_PATH_MAX])
{
    while (p->rest && *p->rest) {
        size_t length = strcspn(p->rest, ":");
        snprintf(place, CALC_FIND_PATH_MAX, "%.*s", (int)length, p->rest);
        p->rest += length + (p->rest[length] == ':');
        if (length > 0) {
            return true;
        }
    }
    bool last = !p->ended && data_beside_command(place);
    p->ended = true;
    return last;
}

calc_find_list calc_find_names(calc_kind kind)
{
    calc_find_list list = {0};
    places all = {.rest = getenv("CALC_PATH")};
    char place[CALC_FIND_PATH_MAX], directory[CALC_FIND_PATH_MAX];
    for (int index = 0; next_place(&all, place); index++) {
        snprintf(directory, sizeof directory, "%.*s/%s", CALC_FIND_PATH_MAX - 32, place,
                 kinds[kind].folder);
        calc_append(list.places, sizeof list.places, "%s%s", index > 0 ? ", " : "", directory);
        add_directory(&list, directory, "", index);
    }
    if (list.count > 0) {
        CALC_SORT(list.entry, list.count, compare_entries);
    }
    return list;
}

calc_status calc_find_data(const char *file, char *path, calc_errors *errors)
{
    places all = {.rest = getenv("CALC_PATH")};
    char place[CALC_FIND_PATH_MAX];
    while (next_place(&all, place)) {
        /* A tree of sources has its measured runs among its tests. */
        for (int tests = 0; tests < 2; tests++) {
            if (snprintf(path, CALC_FIND_PATH_MAX, "%s/%s%s", place, tests ? "tests/" : "", file) <
                    CALC_FIND_PATH_MAX &&
                access(path, F_OK) == 0) {
                return CALC_OK;
            }
        }
    }
    return calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL,
                           "CALC_PATH adds directories", "no file %.60s in the data directories",
                           file);
}

void calc_find_free(calc_find_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->entry[i].path);
        free(list->entry[i].name);
    }
    free(list->entry);
    *list = (calc_find_list){0};
}

static const struct {
    const char *folder, *noun;
} asides[] = {
#define ASIDE(name, folder, noun) {folder, noun},
    CALC_FIND_ASIDE_LIST(ASIDE)
#undef ASIDE
};

calc_find_aside calc_find_aside_of(const char *name)
{
    int aside = CALC_FIND_ASIDE_COUNT - 1;
    while (strncmp(name, asides[aside].folder, strlen(asides[aside].folder)) != 0) {
        aside--; /* every name begins with the empty folder of executions */
    }
    return (calc_find_aside)aside;
}

const char *calc_find_aside_name(const char *name)
{
    return name + strlen(asides[calc_find_aside_of(name)].folder);
}

/* The entry of that name in the first directory that has one. "folder/name" is found under both
 * names, the full one first, but what lies beside executions is not. *rival is another entry that
 * matches equally well. */
static const calc_find_entry *look_up(const calc_find_list *list, const char *name,
                                      const calc_find_entry **rival)
{
    const calc_find_entry *found = NULL;
    *rival = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const calc_find_entry *entry = &list->entry[i];
        bool whole = strcmp(entry->name, name) == 0;
        const char *slash = calc_find_aside_of(entry->name) == CALC_FIND_ASIDE_NONE
                                ? strchr(entry->name, '/')
                                : NULL;
        if (found && entry->place != found->place) {
            continue;
        }
        if (whole) {
            *rival = NULL;
            return entry;
        }
        if (slash && strcmp(slash + 1, name) == 0) {
            *(found ? rival : &found) = entry;
        }
    }
    return found;
}

/* Its letters and digits, letters as small ones, and what parts two numbers: H100-SXM and h100_sxm
 * are one name. */
static void plain(const char *name, char text[64])
{
    size_t length = 0;
    for (size_t i = 0; name[i] && length < 63; i++) {
        bool parts =
            i > 0 && isdigit((unsigned char)name[i - 1]) && isdigit((unsigned char)name[i + 1]);
        if (isalnum((unsigned char)name[i])) {
            text[length++] = (char)tolower((unsigned char)name[i]);
        } else if (parts) {
            text[length++] = '-';
        }
    }
    text[length] = '\0';
}

/* Whether a word at the end of a name says how a model was trained, tuned or stored, or when, and
 * not which it is. */
static bool is_ending(const char *word, size_t length)
{
    static const char *const words[] = {"instruct", "base",     "chat",      "it",      "pt",
                                        "hf",       "thinking", "reasoning", "preview", "dynamic",
                                        "kv",       "block",    "unsloth"};
    size_t v = word[0] == 'v' && memchr(word, '.', length); /* v0.1, but deepseek-v3 */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0) {
            return true;
        }
    }
    size_t digits = strspn(word + v, v ? "0123456789." : "0123456789");
    bool context = digits > 0 && digits + 1 == length && word[digits] == 'k'; /* 128k */
    return context || ((v || length == 4) && digits >= length - v) ||
           calc_hf_is_format(word, length);
}

/* Whether it is a number of parameters: 30B, A3B, 8x7B. */
static bool is_size(const char *word, size_t length)
{
    size_t active = tolower((unsigned char)word[0]) == 'a';
    size_t digits = strspn(word + active, "0123456789.x");
    return digits > 0 && active + digits + 1 == length &&
           strchr("bmtBMT", word[length - 1]) != NULL;
}

/* Whether it is the number of those that a token takes: A3B. */
static bool is_active(const char *word, size_t length)
{
    return tolower((unsigned char)word[0]) == 'a' && is_size(word, length);
}

/* The name as letters and digits, without words at its end that are such. @param ends  NULL: with
 * all */
static void bare_name(const char *name, bool ends(const char *, size_t), char text[64])
{
    char *cut = CALC_TEXT(256, "%s", name);
    for (char *at = cut + strlen(cut); at > cut; at--) {
        if (*at == '-' || *at == '_') {
            if (!ends || !ends(at + 1, strlen(at + 1))) {
                break;
            }
            *at = '\0';
        }
    }
    plain(cut, text);
}

/* Whether a file has such a name among its other names. @param ends  as for bare_name() */
static bool says(const char *path, bool ends(const char *, size_t), const char *sought)
{
    calc_text text = {0};
    calc_settings settings = {0};
    calc_errors ignored = {0};
    bool found = false;
    if (calc_is_yes(calc_text_read(&text, path, &ignored)) &&
        calc_is_yes(calc_settings_from_text(&settings, CALC_SYNTAX_JSON, text.data, text.length, "",
                                            &ignored))) {
        for (size_t i = 0; i < settings.count && !found; i++) {
            char name[128], own[64];
            int read = 0;
            for (const char *at = strcmp(settings.item[i].key, "names") ? ""
                                                                        : settings.item[i].value;
                 !found && sscanf(at, "%127s%n", name, &read) == 1; at += read) {
                bare_name(name, ends, own);
                found = strcmp(own, sought) == 0;
            }
        }
    }
    calc_settings_free(&settings);
    calc_text_free(&text);
    return found;
}

/* The one model that a hub's name means, "Qwen/Qwen3-30B-A3B-Instruct-2507": by its name, with or
 * without active parameters; behind an owner, who says all sizes that there are, by its name
 * without sizes; or by the names that its file says a hub has it under. A name may begin with its
 * owner's. NULL: none, or several. */
static const calc_find_entry *look_up_hub(const calc_find_list *list, const char *name)
{
    const char *slash = strrchr(name, '/'), *own = slash ? slash + 1 : name;
    size_t first = strcspn(own, "-");
    const char *const begins[] = {
        own, slash && own[first] && strncasecmp(name, own, first) == 0 ? own + first + 1 : own};
    for (int way = 0; way < 6; way++) {
        const calc_find_entry *found = NULL;
        char sought[64], other[64];
        if (!slash && (way == 2 || way == 3)) {
            continue;
        }
        bare_name(begins[way % 2], is_ending, sought);
        for (size_t i = 0; i < list->count; i++) {
            const calc_find_entry *entry = &list->entry[i];
            if (way < 2) {
                plain(entry->name, other);
            } else {
                bare_name(entry->name, is_size, other);
            }
            bool same = way < 4 ? strcmp(other, sought) == 0 : says(entry->path, is_ending, sought);
            if (way < 2 && !same) {
                bare_name(entry->name, is_active, other);
                same = strcmp(other, sought) == 0;
            }
            if (same && found && entry->place == found->place) {
                return NULL;
            }
            found = same && !found ? entry : found;
        }
        if (found) {
            return found;
        }
    }
    return NULL;
}

/* The one machine that a name means: by its name as letters and digits, or by the other names that
 * its file says. NULL: none, or several. */
static const calc_find_entry *look_up_machine(const calc_find_list *list, const char *name)
{
    const calc_find_entry *found = NULL;
    char sought[64], other[64];
    plain(name, sought);
    for (size_t i = 0; i < list->count; i++) {
        const calc_find_entry *entry = &list->entry[i];
        plain(entry->name, other);
        if (strcmp(other, sought) == 0 || says(entry->path, NULL, sought)) {
            if (found && found->place == entry->place) {
                return NULL;
            }
            found = found ? found : entry;
        }
    }
    return found;
}

/* The engine that stands for a release without a file, or for a program without a release: as
 * calc_serving_engines_meant() has it, of this month. NULL: none. */
static const calc_find_entry *look_up_release(const calc_find_list *list, const char *name)
{
    calc_serving_engines engines = {calc_make(list->count, sizeof *engines.item), 0};
    const calc_find_entry *found = NULL;
    const char *reason;
    for (size_t i = 0; i < list->count; i++) {
        calc_serving_engine *engine = &engines.item[engines.count];
        calc_text text = {0};
        calc_errors ignored = {0};
        if (calc_find_aside_of(list->entry[i].name) == CALC_FIND_ASIDE_ENGINE &&
            calc_is_yes(calc_text_read(&text, list->entry[i].path, &ignored))) {
            calc_serving_engine_put(engine, calc_find_aside_name(list->entry[i].name));
            engines.count += calc_is_yes(
                calc_engine_parse(engine, text.data, text.length, list->entry[i].path, &ignored));
        }
        calc_text_free(&text);
    }
    calc_serving_engines_sort(&engines);
    const calc_serving_engine *meant = calc_serving_engines_meant(
        &engines, calc_find_aside_name(name), INT_MAX, CALC_PLATFORM_ANY, &reason);
    for (size_t i = 0; meant && i < list->count && !found; i++) {
        bool same = calc_find_aside_of(list->entry[i].name) == CALC_FIND_ASIDE_ENGINE &&
                    strcmp(calc_find_aside_name(list->entry[i].name), meant->name) == 0;
        found = same ? &list->entry[i] : NULL;
    }
    free(engines.item);
    return found;
}

/* How a name is like the one that was looked for; the first kind of likeness that a few names have
 * counts. */
typedef enum likeness {
    BEGINS,       /* with it: h100 */
    CONTAINS,     /* it: 4090, 910c */
    MISSPELT,     /* in letters: another number, or letter behind it, is another machine or model */
    SAME_NUMBER,  /* behind the same letters: beside a10g there is an a10, not an a100 */
    SAME_LETTERS, /* only: rtx3080, b100 */
    SAME_DIGITS,  /* only, of machines alone: a6000, t4 */
    LIKENESSES
} likeness;

static size_t letters(const char *name)
{
    return strcspn(name, "0123456789");
}

static bool has_same_digits(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    for (;; a++, b++) {
        a += strcspn(a, digits);
        b += strcspn(b, digits);
        if (!*a || *a != *b) {
            return *a == *b;
        }
    }
}

/* How much a name is like the one that was looked for; 0: not at all. */
static size_t likeness_of(likeness kind, const char *name, const char *other)
{
    enum { LEAST = 3 }; /* letters and digits of a part; letters for each that may be wrong */
    size_t length = strlen(name), own = letters(name), most = 0, common = 0;
    size_t number = own + strspn(name + own, "0123456789"), also = letters(other);
    while (name[common] && name[common] == other[common]) {
        common++;
    }
    switch (kind) {
    case BEGINS:
        return common == length;
    case CONTAINS:
        return length >= LEAST && strstr(other, name);
    case SAME_DIGITS:
        return name[own] && has_same_digits(name, other) ? 1 + (own == also) : 0;
    case SAME_NUMBER:
        return number > own && common >= number && !isdigit((unsigned char)other[number]) ? common
                                                                                          : 0;
    case MISSPELT: {
        size_t distance = (size_t)calc_edit_distance(name, other);
        for (size_t i = 0; i < length; i++) {
            most += isalpha((unsigned char)name[i]) != 0;
        }
        most /= LEAST;
        also += strspn(other + also, "0123456789");
        return has_same_digits(name, other) && name[number] == other[also] && distance <= most
                   ? most + 1 - distance
                   : 0;
    }
    default:
        return common >= also && (also > 1 || strspn(other + also, "0123456789") == number - own)
                   ? common
                   : 0;
    }
}

/* "did you mean "a", "b" or "c"?" with a few names that are like this one; "" if there are none. */
static void like_it(calc_kind of, const calc_find_list *list, const char *name, char *hint,
                    size_t size)
{
    enum { MOST = 5 };
    char sought[64], other[64];
    const char *found[MOST];
    size_t count = 0;
    likeness kind = BEGINS;
    calc_find_aside aside = calc_find_aside_of(name);
    name = calc_find_aside_name(name);
    plain(name, sought);
    for (;
         kind < (of == CALC_KIND_SYSTEM ? LIKENESSES : SAME_DIGITS) && (count == 0 || count > MOST);
         kind++) {
        size_t best = 1;
        count = 0;
        for (size_t i = 0; i < list->count; i++) {
            const char *slash = strchr(list->entry[i].name, '/');
            const char *own = slash && !strchr(name, '/') ? slash + 1 : list->entry[i].name;
            /* of another kind, or in another directory */
            bool again = calc_find_aside_of(list->entry[i].name) != aside;
            for (size_t k = 0; k < count && k < MOST; k++) {
                again = again || strcmp(found[k], own) == 0;
            }
            plain(own, other);
            size_t alike = again ? 0 : likeness_of(kind, sought, other);
            count = alike > best ? 0 : count;
            if (alike >= best) {
                best = alike;
                found[count < MOST ? count : MOST - 1] = own;
                count++;
            }
        }
    }
    hint[0] = '\0';
    bool beside = kind > SAME_NUMBER; /* another one of its family: the loop is one behind */
    for (size_t i = 0; i < count && count <= MOST; i++) {
        calc_append(hint, size, "%s\"%s\"",
                    i + 1 == count && i > 0 ? " or "
                    : i > 0                 ? ", "
                    : !beside               ? "did you mean "
                    : count > 1             ? "there are "
                                            : "there is ",
                    found[i]);
    }
    calc_append(hint, size, count > 0 && count <= MOST && !beside ? "?" : "");
}

/* The kind other than `kind` that has a document of that name; CALC_KIND_NONE if none has. */
static calc_kind kind_of_name(calc_kind kind, const char *name)
{
    for (calc_kind other = CALC_KIND_APP; other <= CALC_KIND_EXEC; other++) {
        calc_find_list list = calc_find_names(other);
        const calc_find_entry *rival;
        bool found = other != kind && look_up(&list, name, &rival);
        calc_find_free(&list);
        if (found) {
            return other;
        }
    }
    return CALC_KIND_NONE;
}

static calc_status not_found(calc_kind kind, const char *name, const calc_find_list *list,
                             calc_errors *errors)
{
    char hint[256];
    calc_kind other = kind_of_name(kind, name);
    calc_find_aside aside = calc_find_aside_of(name);
    bool lies_aside = aside != CALC_FIND_ASIDE_NONE;
    const char *noun = asides[aside].noun;
    if (other != CALC_KIND_NONE) {
        snprintf(hint, sizeof hint, "it is %s: %s", calc_find_kind_text(other), CALC_FIND_ORDER);
    } else if (like_it(kind, list, name, hint, sizeof hint), !hint[0]) {
        snprintf(hint, sizeof hint, "`calc show names %s` lists all; CALC_PATH adds directories",
                 lies_aside ? noun : calc_kind_name(kind));
    }
    return calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL, hint,
                           "no %s named \"%.60s\" (looked in %.220s)",
                           lies_aside ? noun : kinds[kind].text, calc_find_aside_name(name),
                           list->places);
}

/* Fill path from the data directories. @param hub  the name may be one of a hub
 *  @param told  do not say which document the name is taken as */
static calc_status find_name(calc_kind kind, const char *name, char *path, bool required, bool hub,
                             bool told, calc_errors *errors)
{
    calc_find_list list = calc_find_names(kind);
    calc_status status = CALC_OK;
    const calc_find_entry *rival;
    const calc_find_entry *found = look_up(&list, name, &rival);
    if (!found && hub && (found = look_up_hub(&list, name))) {
        calc_checkpoint_formats formats = {0};
        char text[CALC_HF_FORMATS_TEXT];
        (void)calc_hf_name_formats(name, &formats, text);
        calc_say("%s: taken as the model %s, %s\n", name, found->name, text);
    } else if (!found && required && kind == CALC_KIND_SYSTEM &&
               (found = look_up_machine(&list, name))) {
        calc_say("%s: taken as the machine %s\n", name, found->name);
    } else if (!found && calc_find_aside_of(name) == CALC_FIND_ASIDE_ENGINE) {
        found = look_up_release(&list, name);
        if (found && !told &&
            !calc_serving_engine_same_name(calc_find_aside_name(name),
                                           calc_find_aside_name(found->name))) {
            calc_say("%s: taken as the engine %s, the latest up to it that was measured\n",
                     calc_find_aside_name(name), calc_find_aside_name(found->name));
        }
    }
    if (found && rival) {
        status = calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                                 CALC_TEXT(256, "write \"%s\" or \"%s\"", found->name, rival->name),
                                 "more than one %s is named \"%.60s\"", kinds[kind].text, name);
    } else if (found) {
        snprintf(path, CALC_FIND_PATH_MAX, "%s", found->path);
    } else if (required) {
        status = not_found(kind, name, &list, errors);
    }
    calc_find_free(&list);
    return status;
}

bool calc_find_is_path(const char *argument)
{
    return strchr(argument, '/') || stem_length(argument) > 0 || strcmp(argument, "-") == 0;
}

static calc_status find(calc_kind kind, const char *argument, char *path, bool told,
                        calc_errors *errors)
{
    snprintf(path, CALC_FIND_PATH_MAX, "%s", argument);
    if (!calc_find_is_path(argument)) {
        struct stat info;
        bool script = kind == CALC_KIND_APP && stat(argument, &info) == 0 && S_ISREG(info.st_mode);
        return find_name(kind, argument, path, !script, kind == CALC_KIND_APP && !script, told,
                         errors);
    }
    if (strchr(argument, '/') && access(argument, F_OK) != 0) {
        char name[CALC_FIND_PATH_MAX];
        size_t length = stem_length(argument);
        snprintf(name, sizeof name, "%.*s", (int)(length ? length : strlen(argument)), argument);
        bool hub = kind == CALC_KIND_APP && length == 0 &&
                   strchr(name, '/') == strrchr(name, '/') && !strchr("./", name[0]);
        return find_name(kind, name, path, hub || calc_find_aside_of(name) != CALC_FIND_ASIDE_NONE,
                         hub, told, errors);
    }
    return CALC_OK;
}

calc_status calc_find(calc_kind kind, const char *argument, char *path, calc_errors *errors)
{
    return find(kind, argument, path, false, errors);
}

calc_status calc_find_document(void *context, calc_kind kind, const char *name, char *path,
                               size_t size, calc_errors *errors)
{
    char found[CALC_FIND_PATH_MAX];
    calc_status status = kind == CALC_KIND_NONE ? calc_find_data(name, found, errors)
                                                : find(kind, name, found, context != NULL, errors);
    if (status == CALC_OK) {
        snprintf(path, size, "%s", found);
    }
    return status;
}

const calc_residuals *calc_known_runs_try(calc_residuals *out)
{
    calc_errors errors = {0};
    bool known = calc_is_yes(calc_residuals_known(out, calc_find_document, NULL, &errors));
    if (!known) {
        calc_say("calc: %s: what fits and which layouts tie is judged without measured runs\n",
                 errors.item[0].text);
    }
    return known ? out : NULL;
}
