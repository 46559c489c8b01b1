/* Locks of the only thread. */
#ifndef CALC_WASM_PTHREAD_H
#define CALC_WASM_PTHREAD_H

typedef int pthread_mutex_t;

static inline int pthread_mutex_init(pthread_mutex_t *lock, const void *attributes)
{
    (void)attributes;
    return *lock = 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *lock)
{
    return *lock = 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    return *lock = 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *lock)
{
    return *lock = 0;
}

#endif
