/** @file chooser.h  Which layout to measure next: the methods, behind one interface. */
#ifndef CALC_TUNE_CHOOSER_H
#define CALC_TUNE_CHOOSER_H

#include "calc.h"

/** Methods: X(NAME, word). Those after MATCHING do not use the posterior. */
#define CALC_TUNE_CHOOSER_LIST(X)                                                                  \
    X(THOMPSON, "thompson")       /* most often among the best of a draw of the posterior */       \
    X(IMPROVEMENT, "improvement") /* largest expected improvement */                               \
    X(MATCHING, "matching")       /* a draw's best: probability matching, as MindSpeed does */     \
    X(ORDER, "order")             /* best predicted first */                                       \
    X(RANDOM, "random")           /* any */                                                        \
    X(SOBOL, "sobol")             /* nearest to a Sobol sequence over the space */                 \
    X(ANNEALING, "annealing")     /* simulated annealing from neighbour to neighbour */            \
    X(TPE, "tpe") /* densities of the better and the other measured ones (Bergstra et al. 2011) */ \
    X(HALVING, "halving") /* random ones, of a part of the space that is halved and halved */

typedef enum calc_tune_chooser {
#define CALC_X(name, word) CALC_TUNE_CHOOSER_##name,
    CALC_TUNE_CHOOSER_LIST(CALC_X)
#undef CALC_X
        CALC_TUNE_CHOOSERS
} calc_tune_chooser;

/** Words of the choosers, NULL at the end. */
extern const char *const calc_tune_chooser_words[];

#endif
