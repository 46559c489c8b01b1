#include "spec/stage_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

enum { LETTERS_MAX = 16384 };

int64_t calc_stage_text_blocks(const calc_stage_text *s, int64_t stage)
{
    if (s->listed) {
        return s->block[stage];
    }
    int64_t all = s->blocks + (s->ends ? 2 : 0);
    int64_t mine = all / s->stages + (stage < all % s->stages);
    return mine - (s->ends && stage == 0) - (s->ends && stage == s->stages - 1);
}

static void put_blocks(char *text, size_t size, int64_t blocks)
{
    calc_append(text, size, blocks < 1 ? "" : "t");
    if (blocks > 1) {
        calc_append(text, size, "*%lld", (long long)blocks);
    }
}

bool calc_stage_text_write(const calc_stage_text *s, char *text, size_t size)
{
    bool fits = true;
    text[0] = '\0';
    for (int64_t stage = 0, same = 1; stage < s->stages; stage += same) {
        int64_t blocks = calc_stage_text_blocks(s, stage);
        bool last = stage == s->stages - 1;
        bool end = stage == 0 || last;
        for (same = 1; !end && stage + same < s->stages - 1; same++) {
            if (calc_stage_text_blocks(s, stage + same) != blocks) {
                break;
            }
        }
        fits = fits && blocks >= 0;
        calc_append(text, size, "%s%s", stage == 0 ? "E" : "", same > 1 ? "(" : "");
        put_blocks(text, size, blocks);
        for (int64_t i = 0; last && i < s->mtp_blocks; i++) {
            calc_append(text, size, "m");
        }
        calc_append(text, size, last ? "L" : "|");
        if (same > 1) {
            calc_append(text, size, ")*%lld", (long long)same);
        }
    }
    return fits && strlen(text) + 1 < size;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Letters and bars with all multiples written out. */
typedef struct letters {
    char item[LETTERS_MAX];
    size_t count;
} letters;

/* The number after a '*' at `*at`, which then points behind it; 1 if there is none, 0 if it is
 * wrong. */
static long times_at(const char **at)
{
    if (**at != '*') {
        return 1;
    }
    char *end;
    long times = strtol(*at + 1, &end, 10);
    bool number = (*at)[1] >= '0' && (*at)[1] <= '9' && times > 0 && times < LETTERS_MAX;
    *at = end;
    return number ? times : 0;
}

/* Append `text` up to `end`, in which letters may be multiplied, and groups if `groups`. */
static bool expand(letters *l, const char *text, const char *end, bool groups)
{
    while (text < end) {
        const char *close = groups && *text == '(' ? memchr(text, ')', (size_t)(end - text)) : NULL;
        const char *unit = text + (close != NULL);
        const char *unit_end = close ? close : text + 1;
        text = close ? close + 1 : unit_end;
        if (*unit == ',' && !close) {
            continue;
        }
        if (!close && !strchr("Etm|L", *unit)) {
            return false;
        }
        for (long times = times_at(&text), i = 0; i < times || times == 0; i++) {
            if (times == 0 || (close && !expand(l, unit, unit_end, false))) {
                return false;
            }
            if (!close) {
                if (l->count == LETTERS_MAX) {
                    return false;
                }
                l->item[l->count++] = *unit;
            }
        }
    }
    return true;
}

/* The blocks of every stage. @return whether every stage between the first (embedding) and the last
 * (head) has a block, and there is room for all */
static bool list_blocks(const letters *l, calc_stage_text *s)
{
    int64_t stage = 0, blocks = 0;
    bool some = s->stages <= CALC_MAX_PLACES;
    for (size_t i = 1; some && i < l->count; i++) {
        blocks += l->item[i] == 't';
        if (l->item[i] == '|' || l->item[i] == 'L') {
            bool end = stage == 0 || stage == s->stages - 1;
            s->block[stage++] = (int16_t)blocks;
            some = (blocks > 0 || end) && blocks <= INT16_MAX;
            blocks = 0;
        }
    }
    return some;
}

bool calc_stage_text_read(const char *text, calc_stage_text *out)
{
    letters l = {.count = 0};
    calc_stage_text s = {.stages = 1};
    bool apart = false; /* predictions are on a stage before the loss */
    if (!expand(&l, text, text + strlen(text), true) || l.count < 2 || l.item[0] != 'E' ||
        l.item[l.count - 1] != 'L') {
        return false;
    }
    for (size_t i = 1; i + 1 < l.count; i++) {
        char letter = l.item[i];
        if (letter == 'E' || letter == 'L' || (letter == 't' && s.mtp_blocks > 0)) {
            return false;
        }
        apart |= letter == '|' && s.mtp_blocks > 0;
        s.stages += letter == '|';
        s.blocks += letter == 't';
        s.mtp_blocks += letter == 'm';
    }
    for (int ends = 0; ends < 2; ends++) {
        int64_t stage = 0, blocks = 0;
        bool even = !apart;
        s.ends = ends == 1;
        for (size_t i = 1; i < l.count; i++) {
            blocks += l.item[i] == 't';
            if (l.item[i] == '|' || l.item[i] == 'L') {
                even = even && blocks == calc_stage_text_blocks(&s, stage++);
                blocks = 0;
            }
        }
        if (even) {
            s.listed = list_blocks(&l, &s);
            *out = s;
            return true;
        }
    }
    s.uneven = true;
    s.ends = false;
    s.listed = !apart && list_blocks(&l, &s);
    *out = s;
    return true;
}
