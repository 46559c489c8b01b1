#include "cli/tune/tune_trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tune/tune_rows.h"

enum { LINE_SIZE = 4096, WORDS = 4 };

/* ---- The command ----------------------------------------------------------------------------- */

enum { PLACE_EXE, PLACE_LAYOUT, PLACE_SLOT, PLACES };
static const char *const place[PLACES] = {"{exe}", "{layout}", "{slot}"};

bool calc_tune_trial_names_layout(const char *command)
{
    return strstr(command, place[PLACE_EXE]) || strstr(command, place[PLACE_LAYOUT]);
}

/* A text that the shell takes for one word. @return room for it: 4 bytes for each and 3 more */
static void quote(char *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+=:,@%";
    if (*text && text[strspn(text, plain)] == '\0') {
        strcpy(out, text);
        return;
    }
    *out++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            strcpy(out, "'\\''");
            out += 4;
        } else {
            *out++ = *text;
        }
    }
    strcpy(out, "'");
}

char *calc_tune_trial_command(const char *command, const calc_tune_trial *trial, size_t slot)
{
    char number[32];
    snprintf(number, sizeof number, "%zu", slot);
    const char *const value[PLACES] = {trial->exe, trial->layout, number};
    size_t size = strlen(command) + 1;
    size_t longest = 4 * (strlen(trial->exe) + strlen(trial->layout) + sizeof number) + 3;
    for (const char *at = strchr(command, '{'); at; at = strchr(at + 1, '{')) {
        size += longest;
    }
    char *text = malloc(size);
    char *out = text;
    while (text && *command) {
        int which = 0;
        while (which < PLACES && strncmp(command, place[which], strlen(place[which])) != 0) {
            which++;
        }
        if (which == PLACES) {
            *out++ = *command++;
            continue;
        }
        quote(out, value[which]);
        out += strlen(out);
        command += strlen(place[which]);
    }
    if (text) {
        *out = '\0';
    }
    return text;
}

/* ---- What a program prints ------------------------------------------------------------------- */

/* Words of a line; a unit that stands alone belongs to the number before it.
 * @return how many; more than WORDS: too many */
static size_t split(char *line, char word[WORDS][64])
{
    size_t count = 0;
    char *rest = NULL;
    for (char *w = strtok_r(line, " \t\r,", &rest); w; w = strtok_r(NULL, " \t\r,", &rest)) {
        bool letter = (*w >= 'a' && *w <= 'z') || (*w >= 'A' && *w <= 'Z');
        if (count > 0 && letter) {
            size_t used = strlen(word[count - 1]);
            snprintf(word[count - 1] + used, sizeof word[0] - used, "%s", w);
        } else if (count == WORDS) {
            return WORDS + 1;
        } else {
            snprintf(word[count++], sizeof word[0], "%s", w);
        }
    }
    return count;
}

bool calc_tune_trial_read(const char *line, calc_tune_trial *trial)
{
    char text[LINE_SIZE];
    char word[WORDS][64];
    double step_s = (double)NAN;
    double memory_bytes = (double)NAN;
    calc_tune_end end;
    snprintf(text, sizeof text, "%s", line);
    size_t count = split(text, word);
    if (count == 0 || count > 2) {
        return false;
    }
    if (count == 1 && calc_tune_rows_end(word[0], &end) && end != CALC_TUNE_END_FINE) {
        trial->end = end;
        trial->step_s = trial->memory_bytes = (double)NAN;
        return true;
    }
    if (calc_tune_rows_time(word[0], &step_s) ||
        (count == 2 && calc_tune_rows_memory(word[1], &memory_bytes))) {
        return false;
    }
    trial->end = CALC_TUNE_END_FINE;
    trial->step_s = step_s;
    trial->memory_bytes = memory_bytes;
    return true;
}
