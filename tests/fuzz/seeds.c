#include "fuzz.h"

#include "base/buffer.h"
#include "mutate.h"

#include <dirent.h>
#include <sys/stat.h>

enum { PATH_SIZE = 1024 };

/* How the files of an argument are taken. */
typedef struct manner {
    const char *prefix;
    size_t length; /* of the prefix */
    bool whole;
    size_t most;       /* bytes of a file */
    const char *topic; /* of the cases of a file that are taken; NULL: the file is one */
} manner;

static void add(fuzz_seeds *seeds, const manner *how, const char *data, size_t length)
{
    fuzz_seed *list = calc_grown(seeds->seed, seeds->count, &seeds->capacity, sizeof *list);
    MUST(list);
    seeds->seed = list;
    calc_text text = {malloc(how->length + length + 1), how->length + length};
    MUST(text.data);
    memcpy(text.data, how->prefix, how->length);
    memcpy(text.data + how->length, data, length);
    text.data[text.length] = '\0';
    list[seeds->count++] = (fuzz_seed){text, how->whole};
    if (how->whole) { /* these come first */
        fuzz_seed part = list[seeds->wholes];
        list[seeds->wholes++] = list[seeds->count - 1];
        list[seeds->count - 1] = seeds->wholes < seeds->count ? part : list[seeds->count - 1];
    }
}

static size_t line_end(const char *data, size_t length, size_t at)
{
    const char *newline = at < length ? memchr(data + at, '\n', length - at) : NULL;
    return newline ? (size_t)(newline - data) + 1 : length;
}

/* A long table gives its first line with a few others, from several places. */
static void add_rows(fuzz_seeds *seeds, const manner *how, const char *data, size_t length)
{
    enum { PLACES = 16, ROWS = 3 };
    size_t head = line_end(data, length, 0);
    for (size_t place = 0; place < PLACES; place++) {
        size_t from = line_end(data, length, head + (length - head) / PLACES * place);
        size_t to = from;
        for (int i = 0; i < ROWS; i++) {
            to = line_end(data, length, to);
        }
        if (head + to - from <= FUZZ_SEED_MAX) {
            char *text = malloc(head + to - from + 1);
            MUST(text);
            memcpy(text, data, head);
            memcpy(text + head, data + from, to - from);
            add(seeds, how, text, head + to - from);
            free(text);
        }
    }
}

/* The JSON that a script has in quotes, and the files that it writes by "<<WORD". */
static void add_documents(fuzz_seeds *seeds, const manner *how, const calc_text *script)
{
    for (const char *from = script->data; (from = strstr(from, "'{"));) {
        const char *end = strchr(++from, '\'');
        if (end) {
            add(seeds, how, from, (size_t)(end - from));
        }
    }
    const char *at = script->data;
    while ((at = strstr(at, "<<"))) {
        char word[32] = "\n";
        at += 2;
        at += *at == '-';
        at += *at == '\'' || *at == '"';
        size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const char *from = strchr(at, '\n');
        if (length == 0 || length > sizeof word - 2 || !from) {
            continue;
        }
        memcpy(word + 1, at, length);
        const char *end = strstr(from, word);
        if (end && end - from <= FUZZ_SEED_MAX) {
            add(seeds, how, from + 1, (size_t)(end - from));
        }
    }
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* The cases of a topic in a file of golden/commands.h, each without what it printed. */
static void add_cases(fuzz_seeds *seeds, const manner *how, char *text)
{
    bool mine = false;
    char *to = text; /* of the case so far, which is shorter than what is read */
    for (char *at = text, *next; *at; at = next) {
        next = at + strcspn(at, "\n");
        next += *next == '\n';
        bool begins = strncmp(at, "= ", 2) == 0;
        size_t topic = strlen(how->topic);
        if (mine && *at != '>' && *at != '%' && !begins) {
            memmove(to, at, (size_t)(next - at));
            to += next - at;
        }
        if (mine && (begins || !*next) && to - text <= (ptrdiff_t)how->most) {
            calc_text one = {strndup(text, (size_t)(to - text)), (size_t)(to - text)};
            add(seeds, how, one.data, one.length);
            add_documents(seeds, how, &one);
            free(one.data);
        }
        if (begins) {
            mine = strncmp(at + 2, how->topic, topic) == 0 && at[2 + topic] == ':';
            to = text;
        }
    }
}

static void add_file(fuzz_seeds *seeds, const manner *how, const char *path)
{
    calc_text text = {0};
    MUST(calc_text_read(&text, path, NULL) == CALC_OK);
    if (how->topic) {
        add_cases(seeds, how, text.data);
    } else if (text.length <= how->most) {
        add(seeds, how, text.data, text.length);
    } else if (ends_in(path, ".csv") || ends_in(path, ".csv.gz")) {
        add_rows(seeds, how, text.data, text.length);
    }
    if (ends_in(path, ".sh")) {
        add_documents(seeds, how, &text);
    }
    calc_text_free(&text);
}

/* In the order of their names, the same everywhere. */
static void add_path(fuzz_seeds *seeds, const manner *how, const char *path)
{
    struct stat status;
    struct dirent **entries;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        add_file(seeds, how, path);
        return;
    }
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        fprintf(stderr, "%s: no such file or folder\n", path);
        abort();
    }
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && !ends_in(name, ".md")) {
            char inside[PATH_SIZE];
            snprintf(inside, sizeof inside, "%s/%s", path, name);
            add_path(seeds, how, inside);
        }
        free(entries[i]);
    }
    free(entries);
}

bool fuzz_seeds_argument(fuzz_seeds *seeds, const char *argument)
{
    static const char whole[] = "--seeds=", parts[] = "--parts=";
    if (strncmp(argument, parts, strlen(parts)) == 0) {
        add_path(seeds, &(manner){.prefix = "", .most = FUZZ_SEED_MAX}, argument + strlen(parts));
        return true;
    }
    const char *at = strchr(argument, '@');
    if (strncmp(argument, whole, strlen(whole)) != 0 || !at) {
        return false;
    }
    const char *prefix = argument + strlen(whole);
    seeds->prefix = (size_t)(at - prefix);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", at + 1);
    char *topic = strchr(path, '=');
    if (topic) {
        *topic++ = '\0';
    }
    add_path(seeds, &(manner){prefix, seeds->prefix, true, FUZZ_SEED_MAX, topic}, path);
    return true;
}

void fuzz_seeds_add_corpus(fuzz_seeds *seeds, const char *path)
{
    add_path(seeds, &(manner){.prefix = "", .whole = true, .most = FUZZ_INPUT_MAX}, path);
}

void fuzz_seeds_free(fuzz_seeds *seeds)
{
    for (size_t i = 0; i < seeds->count; i++) {
        calc_text_free(&seeds->seed[i].text);
    }
    free(seeds->seed);
    *seeds = (fuzz_seeds){0};
}
