/* Runs a fuzz target on the files and folders given, on its seeds, and on a fixed count of mutated
 * inputs: what fuzzing found stays found, and a new fault is likely found again.
 *
 *     fuzz_exec [--count=N] [--rng=SEED] [--first=NUMBER] [--seeds=PREFIX@PATH] PATH...
 *
 * CALC_FUZZ_COUNT and CALC_FUZZ_SEED take precedence. An input is told by its seed and its number.
 * A process of its own runs them, so that another one is left to tell of the input that ended it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "fuzz.h"

#include "mutate.h"

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

enum {
    FINDINGS = 5,          /* after so many the rest is not run */
    PROCESSOR_TIME_S = 20, /* of one input */
    TIME_S = 300           /* of one input that waits */
};

/* What both processes see. */
typedef struct board {
    uint64_t number; /* of the input that runs, from 0 */
    bool mutated;    /* else one of those that were given */
    bool leaked;
    size_t length;
    char data[];
} board;

typedef struct plan {
    const char *target;
    fuzz_seeds seeds;
    uint64_t seed, first, count;
    board *board;
} plan;

/* ---- Memory that is not freed, under the address sanitizer --------------------------------------
 */

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *))
    __attribute__((weak));

static long long held;

static void take(const volatile void *memory, size_t size)
{
    (void)memory;
    (void)size;
    held++;
}

static void release(const volatile void *memory)
{
    (void)memory;
    held--;
}

/* ---- The process that runs inputs
 * ---------------------------------------------------------------- */

static void run_once(const char *data, size_t length)
{
    /* Of its exact size, so that a byte read beyond it is noticed. */
    unsigned char *copy = malloc(length + (length == 0));
    MUST(copy);
    memcpy(copy, data, length);
    LLVMFuzzerTestOneInput(copy, length);
    free(copy);
}

static void run(board *b)
{
    const struct itimerval limit = {.it_value = {.tv_sec = PROCESSOR_TIME_S}};
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(TIME_S);
    long long before = held;
    run_once(b->data, b->length);
    if (held > before && __lsan_do_recoverable_leak_check) {
        /* What is kept on purpose is kept once. */
        before = held;
        run_once(b->data, b->length);
        if (held > before && __lsan_do_recoverable_leak_check()) {
            b->leaked = true;
            abort();
        }
    }
}

/* Those that were given, then the mutated ones, from the number of the board on. */
static void run_all(const plan *p)
{
    board *b = p->board;
    if (__sanitizer_install_malloc_and_free_hooks) {
        __sanitizer_install_malloc_and_free_hooks(take, release);
    }
    for (; !b->mutated && b->number < p->seeds.wholes; b->number++) {
        const calc_text *text = &p->seeds.seed[b->number].text;
        b->length = text->length < FUZZ_INPUT_MAX ? text->length : FUZZ_INPUT_MAX;
        memcpy(b->data, text->data, b->length);
        run(b);
    }
    if (!b->mutated) {
        b->mutated = true;
        b->number = p->first;
    }
    for (; b->number < p->first + p->count; b->number++) {
        calc_rng rng;
        calc_rng_init(&rng, p->seed, b->number);
        b->length = fuzz_mutate_seed(&p->seeds, &rng, b->data, FUZZ_INPUT_MAX);
        run(b);
    }
}

/* ---- The process that tells
 * ------------------------------------------------------------------------ */

static void tell(const plan *p, int status)
{
    const board *b = p->board;
    char path[256];
    snprintf(path, sizeof path, "%s-%s%llu-%llu.input", p->target, b->mutated ? "" : "given",
             (unsigned long long)(b->mutated ? p->seed : 0), (unsigned long long)b->number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->data, 1, b->length, file) != b->length || fclose(file) != 0) {
        perror(path);
    }
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (b->mutated) {
        fprintf(stderr, "%s, seed %llu, number %llu: ", p->target, (unsigned long long)p->seed,
                (unsigned long long)b->number);
    } else {
        fprintf(stderr, "%s, given input %llu: ", p->target, (unsigned long long)b->number);
    }
    if (signal == SIGPROF) {
        fprintf(stderr, "took more than %d s of processor time", PROCESSOR_TIME_S);
    } else if (signal == SIGALRM) {
        fprintf(stderr, "took more than %d s", TIME_S);
    } else if (b->leaked) {
        fprintf(stderr, "memory is not freed");
    } else if (signal) {
        fprintf(stderr, "ended by signal %d (%s)", signal, strsignal(signal));
    } else {
        fprintf(stderr, "ended with status %d", WEXITSTATUS(status));
    }
    fprintf(stderr, "; the input is %s, and \"%s %s\" runs it alone\n", path, p->target, path);
}

/* Whether all inputs ran to their end. */
static bool supervise(const plan *p)
{
    board *b = p->board;
    int findings = 0;
    while (findings < FINDINGS) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        MUST(child >= 0);
        if (child == 0) {
            run_all(p);
            exit(EXIT_SUCCESS);
        }
        MUST(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) {
            break;
        }
        tell(p, status);
        b->leaked = false;
        b->number++;
        findings++;
    }
    return findings == 0;
}

static uint64_t number_of(const char *text, const char *name)
{
    const char *from = getenv(name);
    return strtoull(from && *from ? from : text, NULL, 10);
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');
    const char *count = "0", *seed = "1", *first = "0";
    plan p = {.target = name ? name + 1 : argv[0]};
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--count=", 8) == 0) {
            count = argv[i] + 8;
        } else if (strncmp(argv[i], "--rng=", 6) == 0) {
            seed = argv[i] + 6;
        } else if (strncmp(argv[i], "--first=", 8) == 0) {
            first = argv[i] + 8;
        } else if (!fuzz_seeds_argument(&p.seeds, argv[i])) {
            fuzz_seeds_add_corpus(&p.seeds, argv[i]);
        }
    }
    p.count = number_of(count, "CALC_FUZZ_COUNT");
    p.seed = number_of(seed, "CALC_FUZZ_SEED");
    p.first = strtoull(first, NULL, 10);
    p.board = mmap(NULL, sizeof *p.board + FUZZ_INPUT_MAX, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(p.board != MAP_FAILED && p.seeds.wholes > 0);
    bool fine = supervise(&p);
    printf("%zu given inputs, %llu mutated ones of seed %llu\n", p.seeds.wholes,
           (unsigned long long)p.count, (unsigned long long)p.seed);
    fuzz_seeds_free(&p.seeds);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
