#include "tune/chooser.h"

#include <stddef.h>

const char *const calc_tune_chooser_words[] = {
#define CALC_X(name, word) word,
    CALC_TUNE_CHOOSER_LIST(CALC_X)
#undef CALC_X
        NULL};
