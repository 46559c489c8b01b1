/* What the terms, the parts of memory and the coordinates of a candidate are called. */
#ifndef CALC_TESTS_TUNE_WORDS_H
#define CALC_TESTS_TUNE_WORDS_H

#include "tune/model.h"

static inline const char *tune_term_words(calc_tune_term term)
{
    static const char *const words[] = {
#define CALC_X(name, words) words,
        CALC_TUNE_TERM_LIST(CALC_X)
#undef CALC_X
    };
    return words[term];
}

static inline const char *tune_space_words(calc_tune_space space)
{
    static const char *const words[] = {
#define CALC_X(name, words) words,
        CALC_TUNE_SPACE_LIST(CALC_X)
#undef CALC_X
    };
    return words[space];
}

static inline const char *tune_coordinate_words(calc_tune_coordinate coordinate)
{
    static const char *const words[] = {
#define CALC_X(name, words) words,
        CALC_TUNE_COORDINATE_LIST(CALC_X)
#undef CALC_X
    };
    return words[coordinate];
}

#endif
