#include "shard.h"

#include "base/error.h"

/* Read up to 7 digits and move behind them. @return 0 if there are none */
static uint64_t read_number(const char **text)
{
    uint64_t number = 0;
    for (int i = 0; i < 7 && **text >= '0' && **text <= '9'; i++) {
        number = 10 * number + (uint64_t)(*(*text)++ - '0');
    }
    return number;
}

calc_status calc_shard_parse(calc_shard *out, const char *text, calc_errors *errors)
{
    const char *at = text;
    uint64_t index = read_number(&at);
    uint64_t count = 0;
    if (*at == '/') {
        at++;
        count = read_number(&at);
    }
    if (*at != '\0' || index < 1 || index > count || count > 1000000) {
        return calc_errors_add(
            errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, "the second of four shards is 2/4",
            "\"%s\" is not a shard: i/n with i from 1 to n, n at most 1000000", text);
    }
    *out = (calc_shard){.index = index, .count = count, .next = index - 1};
    return CALC_OK;
}

uint64_t calc_shard_after(const calc_shard *shard, uint64_t chunk)
{
    uint64_t first = shard->index - 1;
    if (chunk < first) {
        return first;
    }
    uint64_t rounds = (chunk - first) / shard->count + 1;
    return rounds > (CALC_SHARD_DONE - first) / shard->count ? CALC_SHARD_DONE
                                                             : first + rounds * shard->count;
}

uint64_t calc_shard_take(void *shard)
{
    calc_shard *s = shard;
    uint64_t chunk = s->next;
    s->next = calc_shard_after(s, chunk);
    return chunk;
}
