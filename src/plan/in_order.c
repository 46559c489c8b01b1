#include "plan/in_order.h"

#include <pthread.h>

#include "parallel.h"

typedef struct pieces {
    bool (*begin)(void *context, size_t at);
    void (*work)(void *context, size_t at);
    void (*settle)(void *context, size_t at);
    void *context;
    pthread_mutex_t lock;   /* of begin, of settle and of what follows */
    pthread_cond_t is_done; /* a piece */
    bool ended, done[CALC_IN_ORDER];
    size_t begun, settled;
} pieces;

/* Settle the first piece that is not. @return whether it is done */
static bool settle_first(pieces *p)
{
    size_t at = p->settled % CALC_IN_ORDER;
    bool done = p->done[at];
    if (done) {
        p->settle(p->context, at);
        p->settled++;
    }
    return done;
}

static void follow(void *context, size_t thread)
{
    pieces *p = context;
    (void)thread;
    pthread_mutex_lock(&p->lock);
    while (!p->ended) {
        size_t at = p->begun % CALC_IN_ORDER;
        if (p->begun - p->settled == CALC_IN_ORDER) {
            if (!settle_first(p)) {
                pthread_cond_wait(&p->is_done, &p->lock);
            }
        } else if (p->begin(p->context, at)) {
            p->begun++;
            p->done[at] = false;
            pthread_mutex_unlock(&p->lock);
            p->work(p->context, at);
            pthread_mutex_lock(&p->lock);
            p->done[at] = true;
            pthread_cond_broadcast(&p->is_done);
        } else {
            p->ended = true;
        }
    }
    pthread_cond_broadcast(&p->is_done);
    pthread_mutex_unlock(&p->lock);
}

void calc_in_order(int threads, bool (*begin)(void *context, size_t at),
                   void (*work)(void *context, size_t at), void (*settle)(void *context, size_t at),
                   void *context)
{
    pieces p = {.begin = begin, .work = work, .settle = settle, .context = context};
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.is_done, NULL);
    calc_parallel_for(threads, CALC_IN_ORDER, follow, &p);
    while (p.settled < p.begun && settle_first(&p)) {
    }
    pthread_cond_destroy(&p.is_done);
    pthread_mutex_destroy(&p.lock);
}
