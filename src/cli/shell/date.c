#include "cli/shell/date.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void calc_date_of(const char *given, char *out)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm parts;
    if (given) {
        snprintf(out, CALC_DATE_SIZE, "%s", given);
    } else if (gmtime_r(&now, &parts)) {
        strftime(out, CALC_DATE_SIZE, "%Y-%m-%d", &parts);
    }
}
