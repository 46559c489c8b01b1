#include "formats/run_log.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/csv_table.h"
#include "io/output.h"

/* A number that a program prints: behind a key and ":" or "=", or in a column. */
typedef struct row {
    const char *program, *key;
    const char *then; /* the number is behind this, in the object or the line that the key starts */
    calc_log_what what;
    double unit; /* in SI units */
} row;

/* Of rows for the same quantity the first that matches counts: times before rates. */
static const row rows[] = {
    {"Megatron-LM", "elapsed time per iteration (ms)", NULL, CALC_LOG_STEP_TIME, 1e-3},
    {"Megatron-LM (W&B)", "iteration-time", NULL, CALC_LOG_STEP_TIME, 1},
    {"NeMo", "train_step_timing in s", NULL, CALC_LOG_STEP_TIME, 1},
    {"Megatron Bridge", "Step Time", NULL, CALC_LOG_STEP_TIME, 1},
    {"DeepSpeed", "iter time (s)", NULL, CALC_LOG_STEP_TIME, 1},
    {"MaxText", "completed step", "seconds", CALC_LOG_STEP_TIME, 1},
    {"torchtitan (W&B)", "time_metrics/end_to_end(s)", NULL, CALC_LOG_STEP_TIME, 1},

    {"torchtitan", "tps", NULL, CALC_LOG_TOKENS_PER_S_PER_PROC, 1},
    {"torchtitan", "wps", NULL, CALC_LOG_TOKENS_PER_S_PER_PROC, 1},
    {"torchtitan (W&B)", "throughput(tps)", NULL, CALC_LOG_TOKENS_PER_S_PER_PROC, 1},
    {"LLM Foundry (W&B)", "device/tokens_per_sec", NULL, CALC_LOG_TOKENS_PER_S_PER_PROC, 1},
    {"NeMo", "tokens_per_sec_per_gpu", NULL, CALC_LOG_TOKENS_PER_S_PER_PROC, 1},
    {"DeepSpeed", "CurrSamplesPerSec", NULL, CALC_LOG_SAMPLES_PER_S, 1},

    {"vLLM or SGLang benchmark", "Mean TPOT (ms)", NULL, CALC_LOG_TPOT, 1e-3},
    {"vLLM or SGLang benchmark", "mean_tpot_ms", NULL, CALC_LOG_TPOT, 1e-3},
    {"AIPerf", "inter_token_latency", "avg", CALC_LOG_TPOT, 1e-3},
    {"vLLM or SGLang benchmark", "Mean TTFT (ms)", NULL, CALC_LOG_TTFT, 1e-3},
    {"vLLM or SGLang benchmark", "mean_ttft_ms", NULL, CALC_LOG_TTFT, 1e-3},
    {"AIPerf", "time_to_first_token", "avg", CALC_LOG_TTFT, 1e-3},
    {"vLLM or SGLang benchmark", "Output token throughput (tok/s)", NULL,
     CALC_LOG_OUTPUT_TOKENS_PER_S, 1},
    {"vLLM or SGLang benchmark", "output_throughput", NULL, CALC_LOG_OUTPUT_TOKENS_PER_S, 1},
    {"AIPerf", "output_token_throughput", "avg", CALC_LOG_OUTPUT_TOKENS_PER_S, 1},

    {"Megatron-LM", "max reserved", NULL, CALC_LOG_MEMORY, 0x1p20},
    {"torchtitan", "memory", NULL, CALC_LOG_MEMORY, 0x1p30},
    {"NeMo", "peak_memory_usage", NULL, CALC_LOG_MEMORY, 1},

    {"Megatron-LM", "global batch size", NULL, CALC_LOG_BATCH, 1},
    {"NeMo", "global_batch_size", NULL, CALC_LOG_BATCH, 1},

    {"Megatron-LM", "optimizer", NULL, CALC_LOG_OPTIMIZER, 1e-3},
    {"Megatron-LM", "all-grads-sync", NULL, CALC_LOG_GRADIENTS, 1e-3},
    {"Megatron-LM", "forward-backward", NULL, CALC_LOG_PASSES, 1e-3},
};
enum { ROWS = sizeof rows / sizeof *rows, COLUMNS = 1024, OBJECT = 512 /* bytes */ };

#define LEAST 1e-9
#define MOST 1e18

/* A number of a plausible size, maybe with commas between thousands. @return its end, or NULL */
static const char *number(const char *at, double *value)
{
    char digits[64];
    size_t length = 0, groups = 0;
    for (; length + 1 < sizeof digits && *at && strchr("0123456789.eE+-,", *at); at++) {
        bool group = *at == ',';
        if (group &&
            !(length > 0 && isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2]) &&
              isdigit((unsigned char)at[3]) && !isdigit((unsigned char)at[4]) &&
              (groups > 0 || length <= 3) && !memchr(digits, '.', length))) {
            break;
        }
        groups += group;
        if (!group) {
            digits[length++] = *at;
        }
    }
    digits[length] = '\0';
    char *end;
    *value = strtod(digits, &end);
    return end > digits && *value >= LEAST && *value <= MOST ? at - strlen(end) : NULL;
}

static bool add(calc_log_series *series, const row *r, double value)
{
    const double number = value * r->unit;
    if (!CALC_PUSH(series->value, series->count, series->capacity, &number)) {
        return false;
    }
    series->program = r->program;
    return true;
}

/* What is behind a key: the quote of JSON, dots that fill a column, ":" or "=", an opening bracket.
 * @return NULL: something else is */
static const char *behind(const char *at)
{
    at += *at == '"';
    at += strspn(at, " \t.");
    return *at == ':' || *at == '=' ? at + 1 + strspn(at + 1, " \t") : NULL;
}

/* Whether a text that begins a key begins there: it is no part of a longer one. */
static bool begins(const char *text, const char *at)
{
    return at == text || !(isalnum((unsigned char)at[-1]) || strchr("_-", at[-1]));
}

/* The values of one place. @return false if memory is short */
static bool take(calc_log_series *series, const row *r, const char *at)
{
    at = behind(at);
    if (at && r->then) {
        const char stop = *at == '{' ? '}' : '\n';
        const char *from = at, *then = NULL;
        for (; *at && *at != stop && at - from < OBJECT && !then; at++) {
            then = strncmp(at, r->then, strlen(r->then)) == 0 && begins(from, at) ? at : NULL;
        }
        at = then ? behind(then + strlen(r->then)) : NULL;
    }
    if (!at) {
        return true;
    }
    bool list = *at == '[', fine = true;
    double value;
    at += list || *at == '(';
    while (fine && (at = number(at, &value))) {
        fine = add(series, r, value);
        at = list ? at + strspn(at, ", \t\r\n") : "";
    }
    return fine;
}

/* Without what colours a terminal; bytes that are 0 are blanks. */
static void clean(calc_text *text)
{
    size_t to = 0;
    for (size_t i = 0; i < text->length; i++) {
        if (text->data[i] == '\x1b' && i + 1 < text->length && text->data[i + 1] == '[') {
            for (i += 2; i < text->length && !isalpha((unsigned char)text->data[i]); i++) {
            }
            continue;
        }
        text->data[to++] = text->data[i] ? text->data[i] : ' ';
    }
    text->data[to] = '\0';
    text->length = to;
}

/* The row of a column: its name ends with the key, as "run 7 - iteration-time" does. */
static const row *row_of(const char *title)
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t length = strlen(title), key = strlen(rows[i].key);
        if (!rows[i].then && key <= length && strcmp(title + length - key, rows[i].key) == 0 &&
            begins(title, title + length - key)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Reads a file of columns; of those of the same quantity the first. @return whether there are any
 * that are read; *fine: false if memory is short */
static bool read_columns(calc_run_log *log, const calc_text *text, const char *name, bool *fine)
{
    if (strchr("{[", *text->data) || !memchr(text->data, ',', strcspn(text->data, "\r\n"))) {
        return false;
    }
    char *cell[COLUMNS];
    const row *of[COLUMNS] = {NULL};
    bool taken[CALC_LOG_COUNT] = {false}, any = false;
    calc_csv_reader reader;
    int line;
    char *copy = strdup(text->data); /* cells are decoded in place, and it may be no such file */
    calc_csv_read_start(&reader, copy, copy ? text->length : 0, name);
    int titles = calc_csv_read_row(&reader, cell, COLUMNS, &line, NULL);
    for (int i = 0; i < titles; i++) {
        const row *r = row_of(cell[i]);
        of[i] = r && !taken[r->what] ? r : NULL;
        taken[r ? r->what : CALC_LOG_BATCH] |= r != NULL;
        any |= r != NULL;
    }
    *fine = copy != NULL;
    for (int cells = 1; *fine && any && cells > 0;) {
        cells = calc_csv_read_row(&reader, cell, COLUMNS, &line, NULL);
        for (int i = 0; *fine && i < cells && i < titles; i++) {
            double value;
            *fine =
                !of[i] || !number(cell[i], &value) || add(&log->series[of[i]->what], of[i], value);
        }
    }
    free(copy);
    return any;
}

/* Of whom a time or rate of a run is; NULL: there is none. */
static const char *program_of(const calc_run_log *log)
{
    const char *program = NULL;
    for (int i = CALC_LOG_OUTPUT_TOKENS_PER_S; i >= 0; i--) {
        program = log->series[i].count > 0 ? log->series[i].program : program;
    }
    return program;
}

calc_status calc_run_log_read(calc_run_log *log, calc_text *text, const char *name,
                              calc_errors *errors)
{
    bool fine = true;
    clean(text);
    if (text->length > 0 && !read_columns(log, text, name, &fine)) {
        for (size_t i = 0; i < ROWS && fine; i++) {
            calc_log_series *series = &log->series[rows[i].what];
            const char *program = program_of(log);
            /* "memory" means something in the lines of the program that prints it. */
            bool meant = rows[i].what <= CALC_LOG_OUTPUT_TOKENS_PER_S ||
                         (program && strcmp(rows[i].program, program) == 0);
            size_t length = strlen(rows[i].key);
            const char *at = meant && series->count == 0 ? strstr(text->data, rows[i].key) : NULL;
            for (; at && fine; at = strstr(at + length, rows[i].key)) {
                fine = !begins(text->data, at) || take(series, &rows[i], at + length);
            }
        }
    }
    if (!fine || program_of(log)) {
        return fine ? CALC_OK : calc_errors_no_memory(errors);
    }
    char programs[400] = "";
    for (size_t i = 0; i < ROWS && rows[i].what <= CALC_LOG_OUTPUT_TOKENS_PER_S; i++) {
        if (!strstr(programs, rows[i].program)) {
            calc_append(programs, sizeof programs, "%s%s", *programs ? ", " : "", rows[i].program);
        }
    }
    return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, 0, 0, programs,
                          "no time or rate of a run, as these programs print it");
}

/* Arguments whose options have another name: one that switches them off, or one that says as much.
 */
static const struct {
    const char *arguments, *option; /* NULL: of the same name */
    const char *off;                /* what is before it where it switches off */
} names[] = {{" fp8_wgrad bias_dropout_fusion bias_gelu_fusion bias_swiglu_fusion "
              "gradient_accumulation_fusion masked_softmax_fusion ",
              NULL, "no-"},
             {" tp_comm_bulk_dgrad tp_comm_bulk_wgrad tp_comm_overlap_ag tp_comm_overlap_rs "
              "tp_comm_split_ag tp_comm_split_rs ",
              NULL, "disable-"},
             {" add_bias_linear ", "bias-linear", "disable-"},
             {" add_position_embedding ", "position-embedding", "no-"},
             {" apply_rope_fusion ", "rope-fusion", "no-"},
             {" overlap_p2p_comm ", "overlap-p2p-communication", "no-"},
             {" encoder_num_layers ", "num-layers", NULL},
             {" padded_vocab_size ", "vocab-size", NULL},
             {" world_size ", "nproc-per-node", NULL}};

/* A value as a shell has it: of a list of words the words, of "AttnBackend.auto" the choice, of
 * other values themselves in quotes. */
static void put_value(calc_output *out, const char *value, size_t length)
{
    const char *dot = isupper((unsigned char)*value) ? memchr(value, '.', length) : NULL;
    length -= dot ? (size_t)(dot + 1 - value) : 0;
    value = dot ? dot + 1 : value;
    bool words = length > 2 && value[0] == '[' && strchr("'\"", value[1]);
    calc_output_text(out, words ? " " : " '");
    for (size_t i = 0; i < length; i++) {
        if (!strchr("'\"", value[i]) && !(words && strchr("[],", value[i]))) {
            calc_output_write(out, &value[i], 1);
        }
    }
    calc_output_text(out, words ? "" : "'");
}

/* The option of an argument; none where it is on as without options. */
static void put_argument(calc_output *out, const char *name, const char *value, size_t length)
{
    const char *word = CALC_TEXT(8, "%.*s", (int)length, value);
    bool on = strcmp(word, "True") == 0, off = strcmp(word, "False") == 0;
    bool said = *word && strcmp(word, "None") != 0 && !off;
    const char *option = name, *before = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (calc_is_word(names[i].arguments, name)) {
            option = names[i].option ? names[i].option : name;
            said = names[i].off ? off : said;
            before = names[i].off ? names[i].off : "";
        }
    }
    if (said) {
        calc_output_printf(out, " --%s", before);
    }
    for (; said && *option; option++) {
        calc_output_write(out, *option == '_' ? "-" : option, 1);
    }
    if (said && !on && !off) {
        put_value(out, value, length);
    }
}

/* Where words begin in a text that ends at `end`; NULL: nowhere. */
static const char *find(const char *at, const char *end, const char *words)
{
    size_t length = strlen(words);
    while (at && (size_t)(end - at) >= length && memcmp(at, words, length) != 0) {
        at = memchr(at + 1, words[0], (size_t)(end - at - 1));
    }
    return at && (size_t)(end - at) >= length ? at : NULL;
}

/* Whether a key of JSON or YAML begins there. */
static bool is_key(const char *at, const char *stop)
{
    const char *end = at;
    while (end < stop && (isalnum((unsigned char)*end) || strchr("_\"", *end))) {
        end++;
    }
    return end > at && !isdigit((unsigned char)*at) && end < stop && *end == ':' &&
           (end + 1 == stop || strchr(" \r", end[1]));
}

/* A configuration that a program prints as a document behind some words, line by line, each behind
 * what launcher and logger put before it: as far as the first key. Lines that have something else
 * there are other ranks', up to one that begins as the one before the document. */
static calc_status put_document(const calc_text *log, calc_text *document, calc_errors *errors)
{
    static const struct {
        const char *words, *opening; /* which ends the words, and the document with it closed */
    } kinds[] = {{"Running with configs: {\n", "{"}, /* torchtitan */
                 {"*** Experiment configuration ***", ""} /* NeMo, in YAML */};
    const char *last = log->data + log->length, *from = NULL, *before = NULL;
    const char *earlier = log->data, *header = NULL; /* the line before the document */
    size_t kind = 0, length = 0, tag = 0;
    for (; !from && log->length > 0 && kind < sizeof kinds / sizeof *kinds; kind++) {
        from = find(log->data, last, kinds[kind].words);
    }
    calc_output *out;
    calc_status status = from ? calc_output_open_memory(&out, document, errors) : CALC_OK;
    if (!from || status != CALC_OK) {
        return status;
    }
    const char *opening = kinds[kind - 1].opening;
    bool braces = *opening != '\0', open = true;
    for (const char *line = log->data, *stop; line < last && open; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(last - line));
        stop = stop ? stop : last;
        calc_output_text(out, line <= from && from < stop ? opening : "");
        for (const char *at = line; line > from && at < stop && !before; at++) {
            if (is_key(at, stop) && (at == line || at[-1] == ' ')) {
                before = line;
                length = (size_t)(at - line) - (braces && at > line + 1 ? 2 : 0);
                header = earlier;
                tag = strcspn(header, " \n");
                tag += header[tag] == ' ';
                tag += strcspn(header + tag, " \n");
            }
        }
        size_t size = (size_t)(stop - line);
        if (before && size >= length && memcmp(line, before, length) == 0) {
            const char *at = line + length;
            open = braces ? *at != '}'
                          : size == length || *at == ' ' || *at == '-' || is_key(at, stop);
            calc_output_write(out, at, open || braces ? (size_t)(stop - at) : 0);
        } else if (before) {
            open = size < tag || memcmp(line, header, tag) != 0;
        }
        calc_output_text(out, "\n");
        earlier = line;
    }
    return calc_output_close(out, errors);
}

calc_status calc_run_log_command(const calc_text *log, calc_text *command, calc_errors *errors)
{
    static const char begin[] = "-- arguments --", end[] = "-- end of arguments --";
    static const char vocabulary[] = "padded vocab (size: ";
    enum { NAME = 64 };
    const char *last = log->data + log->length;
    const char *from = log->length > 0 ? find(log->data, last, begin) : NULL;
    const char *to = from ? find(from, last, end) : NULL;
    calc_output *out;
    calc_status status = to ? calc_output_open_memory(&out, command, errors) : CALC_OK;
    if (!to || status != CALC_OK) {
        return status == CALC_OK ? put_document(log, command, errors) : status;
    }
    for (const char *line = log->data, *stop; line < to; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(to - line));
        stop = stop ? stop : to;
        const char *dots = find(line, stop, " ..");
        if (line > from && dots) {
            const char *name = dots, *value = dots + 1 + strspn(dots + 1, ".");
            while (name > line && dots - name < NAME - 1 && !strchr(" :\t", name[-1])) {
                name--;
            }
            value += *value == ' ';
            while (stop > value && strchr(" \r", stop[-1])) {
                stop--;
            }
            put_argument(out, CALC_TEXT(NAME, "%.*s", (int)(dots - name), name), value,
                         (size_t)(stop - value));
        }
        bool first = line <= from && from <= stop;
        calc_output_text(out, first ? "python pretrain_gpt.py \\\n" : line > from ? " \\\n" : "\n");
    }
    const char *words = find(to, last, vocabulary);
    const char *digits = words ? words + strlen(vocabulary) : last;
    calc_output_text(out, words ? "--vocab-size " : "");
    for (; digits < last && isdigit((unsigned char)*digits); digits++) {
        calc_output_write(out, digits, 1);
    }
    calc_output_text(out, "\n");
    return calc_output_close(out, errors);
}

void calc_run_log_free(calc_run_log *log)
{
    for (int i = 0; i < CALC_LOG_COUNT; i++) {
        free(log->series[i].value);
        log->series[i] = (calc_log_series){0};
    }
}

static double median_of(double *value, size_t count)
{
    CALC_SORT(value, count, calc_order_numbers);
    return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

calc_log_summary calc_log_summarize(calc_log_series *series)
{
    enum { FEW = 4 };
    const double unlike = 0.1;
    calc_log_summary s = {0};
    size_t half = series->count / 2, late = series->count - half;
    double *value = series->value;
    if (series->count >= FEW) {
        double usual = median_of(value + half, late);
        s.warm_up = 1;
        while (s.warm_up < half && fabs(value[s.warm_up] / usual - 1) >= unlike) {
            s.warm_up++;
        }
    }
    s.records = series->count - s.warm_up;
    s.median = median_of(value + s.warm_up, s.records);
    return s;
}
