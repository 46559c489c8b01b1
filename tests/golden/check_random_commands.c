/* Commands on random documents: a line of words is `SET COUNT COMMAND...`, with A.json, S.json and
 * E.json in the place of a model, a machine and a layout of a set ("none": there are none), and F
 * of what it writes, which is answered, too. Of `{a|b|}` one is taken, of `{4..512}` a whole
 * number, of `{0.1~3}` any, as often a small as a large one. Round brackets are braces that
 * are printed, and a last word `<TEXT` is standard input, with \n for new lines. `rows:N:PATH` is a
 * table of so many rows of another, some of whose cells are those of other rows; `lines:PATH` a
 * text some of whose lines are others. Behind ` ; ` stands a command on what the one before
 * printed, OUT; `COLUMNS=N` before one is the width of the terminal. Of each line how often its
 * last command ended with which status, and a number made of all that was said. */
#include <math.h>
#include <zlib.h>

#include "in_process.h"
#include "io/json_put.h"
#include "property/random_modern.h"
#include "property/random_near.h"

enum { WORDS = 64, STATUSES = 7, LINE = 4096, MOST_BYTES = 1 << 23 };

static void save(const char *path, calc_kind kind, const void *object)
{
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, path, NULL), CALC_OK);
    calc_json_save(out, kind, object, 0);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
}

/* With what a file says. Numbers have six digits: the last ones are the C library's. */
static uint64_t mixed(uint64_t digest, FILE *file)
{
    char *text = NULL, digits[32];
    size_t size = 0;
    rewind(file);
    if (getdelim(&text, &size, '\0', file) < 0) {
        text[0] = '\0';
    }
    fclose(file);
    replace(text, folder, "HERE");
    for (char *at = text, *end; *at; at = end) {
        bool digit = *at >= '0' && *at <= '9';
        bool starts = (at == text || at[-1] == '\n') && *at != '{'; /* not a whole answer */
        size_t line = starts ? strcspn(at, "\n") : 0;
        const char *about = starts ? strstr(at, "of memory, about") : NULL;
        bool timed = starts && (is_timed(at, line) || (about && about < at + line));
        bool spent = strncmp(at, "\"elapsed_s\"", 11) == 0;
        if (timed || spent || strncmp(at, " (looked in ", 12) == 0) { /* of this machine */
            end = at + strcspn(at, timed ? "\n" : spent ? "}\n" : ")\n");
            end += *end != '\0';
            continue;
        }
        end = at + (digit ? strspn(at, "0123456789.e+-") : 1);
        size_t length = (size_t)(end - at);
        if (digit && memchr(at, '.', length)) {
            snprintf(digits, sizeof digits, "%.6g", strtod(at, &end));
            at = digits;
            length = strlen(digits);
        }
        for (size_t i = 0; i < length; i++) {
            digest = (digest ^ (unsigned char)at[i]) * 1099511628211U;
        }
    }
    free(text);
    return digest;
}

/* A whole file, also one that is packed. */
static char *whole(const char *path)
{
    char *text = malloc(MOST_BYTES);
    gzFile file = gzopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    int length = gzread(file, text, MOST_BYTES - 1);
    gzclose(file);
    ck_assert_int_ge(length, 0);
    ck_assert_int_lt(length, MOST_BYTES - 1);
    text[length] = '\0';
    return text;
}

/* The lines of a text, which are freed together. */
typedef struct lines {
    char *text;
    const char *at[16384];
    int count;
} lines;

static void split(const char *path, lines *l)
{
    l->text = whole(path);
    l->count = 0;
    for (const char *at = l->text; *at; at += *at == '\n') {
        ck_assert_int_lt(l->count, 16384);
        l->at[l->count++] = at;
        at += strcspn(at, "\n");
    }
}

/* @return cell n of a row, with its length */
static const char *cell_of(const char *row, int n, int *length)
{
    for (;; row += *length + 1, n--) {
        bool quoted = false;
        for (*length = 0; row[*length] != '\n' && (quoted || row[*length] != ','); ++*length) {
            quoted ^= row[*length] == '"';
        }
        if (n == 0 || row[*length] == '\n') {
            return row;
        }
    }
}

static void write_rows(calc_rng *rng, const lines *l, int rows, FILE *out)
{
    static const char *const odd[] = {"", "", "", "0", "-1", "1", "2.5", "1e9", "word", "true"};
    uint32_t count = (uint32_t)l->count - 1, columns = 1;
    uint32_t at = calc_rng_below(rng, count), step = 1 + calc_rng_below(rng, 7);
    for (const char *c = l->text; *c != '\n'; c++) {
        columns += *c == ',';
    }
    fprintf(out, "%.*s", (int)(l->at[1] - l->text), l->text);
    uint32_t odd_row = calc_rng_below(rng, 3 * (uint32_t)rows), word = calc_rng_below(rng, 10);
    for (uint32_t row = 0; row < (uint32_t)rows; row++, at = (at + step) % count) {
        uint32_t changed = calc_rng_below(rng, (row == odd_row ? 1 : 6) * columns);
        uint32_t other = calc_rng_below(rng, count);
        for (uint32_t c = 0; c < columns; c++) {
            int length;
            bool differs = c == changed || c + 7 == changed;
            const char *cell = cell_of(l->at[1 + (differs ? other : at)], (int)c, &length);
            if (c == changed && row == odd_row) {
                fputs(odd[word], out);
            } else {
                fprintf(out, "%.*s", length, cell);
            }
            fputc(c + 1 < columns ? ',' : '\n', out);
        }
    }
}

/* A line more, less or in another place, or another number in it. */
static void write_lines(calc_rng *rng, const lines *l, FILE *out)
{
    enum { OMIT, TWICE, OTHER, NUMBER, KINDS };
    static const char *const numbers[] = {"0", "1", "2", "3", "8", "64", "4096", "0.5"};
    uint32_t changes = 1 + calc_rng_below(rng, 3), at[3], from[3], kind[3];
    for (uint32_t i = 0; i < changes; i++) {
        at[i] = calc_rng_below(rng, (uint32_t)l->count);
        from[i] = calc_rng_below(rng, (uint32_t)l->count);
        kind[i] = calc_rng_below(rng, KINDS);
    }
    for (int n = 0; n < l->count; n++) {
        const char *line = l->at[n], *number = NULL;
        int times = 1;
        for (uint32_t i = 0; i < changes; i++) {
            if ((int)at[i] == n) {
                times = kind[i] == OMIT ? 0 : kind[i] == TWICE ? 2 : 1;
                line = kind[i] == OTHER ? l->at[from[i]] : line;
                number = kind[i] == NUMBER ? numbers[from[i] % 8] : NULL;
            }
        }
        size_t length = strcspn(line, "\n"), before = strcspn(line, "0123456789\n");
        for (; times > 0; times--) {
            if (number && before < length) {
                size_t behind = before + strspn(line + before, "0123456789.");
                fprintf(out, "%.*s%s%.*s\n", (int)before, line, number, (int)(length - behind),
                        line + behind);
            } else {
                fprintf(out, "%.*s\n", (int)length, line);
            }
        }
    }
}

/* `rows:N:PATH` and `lines:PATH`: the name of what is made of them. */
static char *made_of(calc_rng *rng, char *word)
{
    static lines l;
    char *path = strrchr(word, ':') + 1;
    char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *packed = strstr(name, ".gz");
    split(path, &l);
    if (packed) {
        *packed = '\0';
    }
    FILE *out = fopen(name, "w");
    ck_assert_ptr_nonnull(out);
    if (word[0] == 'r') {
        write_rows(rng, &l, atoi(word + 5), out);
    } else if (l.count > 0) {
        write_lines(rng, &l, out);
    }
    fclose(out);
    free(l.text);
    return name;
}

/* The innermost braces first. */
static void choose(calc_rng *rng, char *line)
{
    for (char *open; (open = strrchr(line, '{')) != NULL;) {
        char *close = strchr(open, '}'), text[LINE], rest[LINE], *at = open + 1, *to;
        uint32_t count = 1;
        *close = '\0';
        strcpy(rest, close + 1);
        for (const char *c = at; *c; c++) {
            count += *c == '|';
        }
        for (uint32_t n = calc_rng_below(rng, count); n > 0; n--) {
            at += strcspn(at, "|") + 1;
        }
        at[strcspn(at, "|")] = '\0';
        strcpy(text, at);
        bool whole_number = (to = strstr(at, "..")) != NULL;
        if (whole_number || (to = strchr(at, '~')) != NULL) {
            double low = strtod(at, NULL), high = strtod(to + 1 + whole_number, NULL);
            snprintf(text, sizeof text, whole_number ? "%.0f" : "%.3g",
                     low * pow(high / low, calc_rng_real(rng)));
        }
        strcat(strcpy(open, text), rest);
    }
}

static void copy(FILE *from, FILE *to)
{
    rewind(from);
    for (int c; (c = fgetc(from)) != EOF;) {
        fputc(c, to);
    }
}

/* A command of a line, ended by NULL. @return its status */
static int run_words(calc_rng *rng, size_t count, char **words, uint64_t *digest)
{
    char *made[WORDS];
    for (size_t i = 0; i < count; i++) {
        replace(words[i], "(", "{");
        replace(words[i], ")", "}");
        made[i] = strncmp(words[i], "rows:", 5) == 0 || strncmp(words[i], "lines:", 6) == 0
                      ? made_of(rng, words[i])
                      : words[i];
    }
    FILE *files[] = {tmpfile(), tmpfile(), tmpfile()};
    if (made[count - 1][0] == '<') {
        put_lines(made[--count] + 1, files[0]);
    }
    made[count] = NULL;
    remove("F");
    bool wide = strncmp(made[0], "COLUMNS=", 8) == 0;
    if (wide) {
        setenv("COLUMNS", made[0] + 8, 1);
    } else {
        unsetenv("COLUMNS");
    }
    int status = run(count - wide, made + wide, NULL, files);
    FILE *out = fopen("OUT", "w"), *written = fopen("F", "r");
    copy(files[1], out);
    fclose(out);
    if (getenv("CALC_SAID")) { /* where the number is not the one that is known */
        for (size_t i = 0; i < count; i++) {
            fprintf(stderr, "%s ", made[i]);
        }
        fprintf(stderr, "%d\n", status);
        copy(files[1], stderr);
        copy(files[2], stderr);
    }
    *digest = mixed(mixed(*digest, files[1]), files[2]);
    *digest = written ? mixed(*digest, written) : *digest;
    fclose(files[0]);
    return status;
}

static void answer_line(const char *said, FILE *out)
{
    static calc_random_layout l;
    char set[16], line[LINE], *words[WORDS];
    int count, prefix, status = 0, ended[STATUSES] = {0};
    uint64_t digest = 0;
    calc_rng rng;
    calc_rng_init(&rng, 39, 10);
    ck_assert_int_eq(sscanf(said, "%15s %d %n", set, &count, &prefix), 2);
    for (int n = 0; n < count; n++) {
        if (strcmp(set, "none") != 0) {
            (strcmp(set, "modern") == 0 ? calc_random_modern_make
             : strcmp(set, "near") == 0 ? calc_random_near_make
                                        : calc_random_layout_make)(&rng, &l);
            save("A.json", CALC_KIND_APP, &l.app);
            save("S.json", CALC_KIND_SYSTEM, &l.system);
            save("E.json", CALC_KIND_EXEC, &l.exec);
        }
        snprintf(line, sizeof line, "%.*s", (int)strcspn(said + prefix, "\n"), said + prefix);
        choose(&rng, line);
        size_t length = 0;
        for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
            if (strcmp(word, ";") != 0) {
                words[length++] = word;
                ck_assert_uint_lt(length, WORDS);
            } else {
                run_words(&rng, length, words, &digest);
                length = 0;
            }
        }
        status = run_words(&rng, length, words, &digest);
        ended[status]++;
    }
    for (status = 0; status < STATUSES; status++) {
        if (ended[status] > 0) {
            fprintf(out, "%d: %d, ", status, ended[status]);
        }
    }
    fprintf(out, "%016llx\n", (unsigned long long)digest);
}

static void answer(const char *said, FILE *out)
{
    for (; *said; said += strcspn(said, "\n") + 1) {
        answer_line(said, out);
    }
}

const calc_test_frame calc_tests = {.setup = enter,
                                    .teardown = leave,
                                    .timeout_s = 300,
                                    .drawn = true,
                                    .cases = "golden/check_random_commands.txt",
                                    .answer = answer};
