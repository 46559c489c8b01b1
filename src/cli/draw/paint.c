#include "cli/draw/paint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool locale_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < 3 && !(locale && *locale); i++) {
        locale = getenv(variables[i]);
    }
    const char *charset = locale ? strchr(locale, '.') : NULL;
    return charset &&
           (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}

static bool wants_color(const char *when)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (strcmp(when, "auto") != 0) {
        return strcmp(when, "always") == 0;
    }
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

calc_paint calc_paint_stdout(const char *when)
{
    return (calc_paint){.color = wants_color(when), .utf8 = locale_is_utf8()};
}

/* COLUMNS if it is a number above 0, else 0. */
static long columns_wanted(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    long columns = text ? strtol(text, &end, 10) : 0;
    return columns > 0 && *end == '\0' ? columns : 0;
}

int calc_paint_columns(void)
{
    enum { USUAL = 80 };
    struct winsize size;
    long columns = columns_wanted();
    if (columns == 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col;
    }
    columns = columns > 0 ? columns : USUAL;
    return columns > CALC_PAINT_MAX_COLUMNS ? CALC_PAINT_MAX_COLUMNS : (int)columns;
}

void calc_paint_text(calc_output *out, const calc_paint *paint, const char *color, const char *text)
{
    if (paint->color) {
        calc_output_raw(out, "\033[", 2);
        calc_output_raw(out, color, strlen(color));
        calc_output_raw(out, "m", 1);
    }
    calc_output_text(out, text);
    if (paint->color) {
        calc_output_raw(out, "\033[0m", 4);
    }
}

void calc_paint_bar(calc_output *out, const calc_paint *paint, const char *color, double fraction,
                    int width)
{
    enum { MAX = 64, BYTES = 3 };
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int steps = paint->utf8 ? 8 : 2;
    fraction = fraction > 1 ? 1 : fraction;
    int length = fraction > 0 ? (int)lround(fraction * width * steps) : 0;
    if (fraction > 0 && length == 0) {
        length = 1;
    }
    char text[MAX * BYTES + 1];
    char *end = text;
    int column = 0;
    for (; column < length / steps; column++) {
        end = stpcpy(end, paint->utf8 ? "█" : "#");
    }
    if (length % steps > 0) {
        end = stpcpy(end, paint->utf8 ? eighths[length % steps] : "-");
        column++;
    }
    for (; column < width; column++) {
        *end++ = ' ';
    }
    *end = '\0';
    calc_paint_text(out, paint, color, text);
}
