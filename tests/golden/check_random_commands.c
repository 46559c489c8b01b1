/* Commands on random documents: a line of words is `SET COUNT COMMAND...`, with A.json, S.json and
 * E.json in the place of a model, a machine and a layout, and F of what it writes, which is
 * answered, too. Of each command how often it ended with which status, and a number made of all
 * that it said. */
#include "in_process.h"
#include "io/json_put.h"
#include "property/random_modern.h"
#include "property/random_near.h"

enum { WORDS = 32, STATUSES = 7 };

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

static void answer_line(const char *said, FILE *out)
{
    static calc_random_layout l;
    char set[16], line[512], *words[WORDS];
    int count, prefix, ended[STATUSES] = {0};
    uint64_t digest = 0;
    calc_rng rng;
    calc_rng_init(&rng, 39, 10);
    ck_assert_int_eq(sscanf(said, "%15s %d %n", set, &count, &prefix), 2);
    for (int n = 0; n < count; n++) {
        (strcmp(set, "modern") == 0 ? calc_random_modern_make
         : strcmp(set, "near") == 0 ? calc_random_near_make
                                    : calc_random_layout_make)(&rng, &l);
        save("A.json", CALC_KIND_APP, &l.app);
        save("S.json", CALC_KIND_SYSTEM, &l.system);
        save("E.json", CALC_KIND_EXEC, &l.exec);
        snprintf(line, sizeof line, "%.*s", (int)strcspn(said + prefix, "\n"), said + prefix);
        size_t length = 0;
        for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
            words[length++] = word;
        }
        words[length] = NULL;
        remove("F");
        FILE *files[] = {tmpfile(), tmpfile(), tmpfile()}, *written;
        ended[run(length, words, NULL, files)]++;
        digest = mixed(mixed(digest, files[1]), files[2]);
        written = fopen("F", "r");
        digest = written ? mixed(digest, written) : digest;
        fclose(files[0]);
    }
    for (int status = 0; status < STATUSES; status++) {
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
                                    .cases = "golden/check_random_commands.txt",
                                    .answer = answer};
