/** @file date.h  The date of creation that files state. */
#ifndef CALC_CLI_SHELL_DATE_H
#define CALC_CLI_SHELL_DATE_H

enum { CALC_DATE_SIZE = 32 };

/** The given text; without one, today, or the day of SOURCE_DATE_EPOCH, for reproducible output:
 *  "2026-11-21".
 *  @param given  NULL: none
 *  @param out    filled, CALC_DATE_SIZE bytes */
void calc_date_of(const char *given, char *out);

#endif
