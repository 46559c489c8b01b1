#include "taylor/profiles.h"

#include <math.h>
#include <stdlib.h>

#define COUNT_COLUMN(text, member)                                                                 \
    {                                                                                              \
        .name = (text), CALC_CSV_MEMBER(calc_taylor_profile, member), .lo = 1, .hi = 1e6           \
    }
#define RATIO_COLUMN(text, other, member)                                                          \
    {                                                                                              \
        .name = (text), .also = (other), CALC_CSV_MEMBER(calc_taylor_profile, member), .lo = 0,    \
        .hi = 1e6, .flags = CALC_CSV_OPTIONAL | CALC_CSV_BLANK                                     \
    }

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_taylor_profile, line)},
                                          COUNT_COLUMN("dp", data),
                                          COUNT_COLUMN("tp", tensor),
                                          COUNT_COLUMN("pp", pipeline),
                                          COUNT_COLUMN("ep", expert),
                                          RATIO_COLUMN("dmratio", NULL, dense),
                                          RATIO_COLUMN("bfratio", NULL, backward),
                                          RATIO_COLUMN("re_grow_ration", "re_grow_ratio", again),
                                          RATIO_COLUMN("hratio", NULL, head),
                                          RATIO_COLUMN("moe_bw", NULL, layer_ms)};

static const calc_csv_table table = CALC_CSV_TABLE(
    columns, calc_taylor_profile,
    "the first row names the columns: "
    "dp,tp,pp,ep,dmratio,bfratio,re_grow_ration,hratio,moe_bw, the last in milliseconds");

calc_status calc_taylor_profiles_read(calc_csv_rows *out, const char *path, calc_errors *errors)
{
    return calc_csv_table_read(out, &table, path, errors);
}

calc_status calc_taylor_profiles_parse(calc_csv_rows *out, calc_text text, const char *name,
                                       calc_errors *errors)
{
    return calc_csv_table_parse(out, &table, text, name, errors);
}

void calc_taylor_profiles_free(calc_csv_rows *rows)
{
    free(rows->item);
    calc_text_free(&rows->text);
    *rows = (calc_csv_rows){0};
}

calc_taylor_ratios calc_taylor_ratios_preset(void)
{
    return (calc_taylor_ratios){
        .dense = 0.3, .backward = 2, .again = 1, .head = 1.5, .layer_ms = NAN};
}

static double said_or(double value, double absent)
{
    return isnan(value) ? absent : value;
}

bool calc_taylor_profiles_find(const calc_csv_rows *rows, const calc_taylor_candidate *c,
                               calc_taylor_ratios *out)
{
    const calc_taylor_profile *profile = rows->item;
    *out = calc_taylor_ratios_preset();
    for (size_t i = rows->count; i > 0; i--) {
        const calc_taylor_profile *p = &profile[i - 1];
        if (p->data == c->layout.data && p->tensor == c->layout.tensor &&
            p->pipeline == c->layout.pipeline && p->expert == c->expert) {
            *out = (calc_taylor_ratios){.dense = said_or(p->dense, out->dense),
                                        .backward = said_or(p->backward, out->backward),
                                        .again = said_or(p->again, out->again),
                                        .head = said_or(p->head, out->head),
                                        .layer_ms = p->layer_ms};
            return true;
        }
    }
    return false;
}
