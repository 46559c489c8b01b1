/* The spaces of MindSpeed's planner. */
#include "mindspeed/arguments.h"

#include "frame.h"
#include "mindspeed_jobs.h"

static size_t count(const calc_mindspeed_job *job, calc_mindspeed_generation generation)
{
    calc_mindspeed_space space;
    calc_mindspeed_space_list(job, generation, &space);
    size_t found = space.count;
    calc_mindspeed_space_free(&space);
    return found;
}

/* Counts that were derived from the planner's rules in another language. */
CALC_TEST(as_many_as_the_planner_has)
{
    calc_mindspeed_job job = mindspeed_7b();
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN1), 294);
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 36);
    job.seq = 8192;
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 72);
    job = mindspeed_65b();
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN1), 955);
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 96);
    job = mindspeed_experts();
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 116);
}

CALC_TEST(sequences_whole)
{
    calc_mindspeed_job job = mindspeed_65b();
    calc_mindspeed_space space;
    int whole = 0;
    calc_mindspeed_space_list(&job, CALC_MINDSPEED_GEN1, &space);
    for (size_t i = 0; i < space.count; i++) {
        whole += space.config[i].cp * space.config[i].up == 1;
    }
    calc_mindspeed_space_free(&space);
    ck_assert_int_eq(whole, 119);
}

static bool lawful(const calc_mindspeed_job *job, calc_mindspeed_generation generation,
                   const calc_mindspeed_config *c)
{
    bool second = generation == CALC_MINDSPEED_GEN2;
    int each = job->batch / c->dp;
    bool sizes = c->pp * c->tp * c->dp * c->cp * c->up == calc_mindspeed_devices(job) &&
                 job->layers % (c->pp * c->vpp) == 0 && job->batch % (c->dp * c->mbs) == 0;
    bool heads =
        job->heads % (c->tp * (second && c->up == 1 ? 1 : c->up)) == 0 && c->tp <= job->per_node;
    bool tokens = !second || c->cp * c->up == 1 || job->seq / (c->cp * c->up) >= 4096;
    bool chunks = c->vpp == 1 || (second && c->pp > 2 && each / c->mbs % c->pp == 0);
    bool experts = !second || job->experts == 0
                       ? c->ep == 0
                       : c->ep > 0 && job->experts % c->ep == 0 && c->dp % c->ep == 0;
    return sizes && heads && tokens && chunks && experts && (!second || c->mbs <= 2);
}

static bool same(const calc_mindspeed_config *a, const calc_mindspeed_config *b)
{
    return a->pp == b->pp && a->tp == b->tp && a->dp == b->dp && a->cp == b->cp && a->up == b->up &&
           a->mbs == b->mbs && a->vpp == b->vpp && a->ep == b->ep;
}

CALC_TEST(all_are_lawful_and_none_is_there_twice)
{
    const calc_mindspeed_job jobs[] = {mindspeed_7b(), mindspeed_65b(), mindspeed_experts()};
    for (int i = 0; i < 6; i++) {
        calc_mindspeed_generation generation = i % 2 ? CALC_MINDSPEED_GEN2 : CALC_MINDSPEED_GEN1;
        calc_mindspeed_space space;
        calc_mindspeed_space_list(&jobs[i / 2], generation, &space);
        for (size_t j = 0; j < space.count; j++) {
            ck_assert(lawful(&jobs[i / 2], generation, &space.config[j]));
            size_t k = 0;
            while (k < j && !same(&space.config[j], &space.config[k])) {
                k++;
            }
            ck_assert_uint_eq(k, j);
        }
        calc_mindspeed_space_free(&space);
    }
}

/* 3 devices a node, 12 in all; 7 layers, so one stage; 6 heads. */
CALC_TEST(sizes_that_are_no_powers_of_two)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.layers = 7;
    job.heads = job.groups = 6;
    job.per_node = 3;
    job.nodes = job.target_nodes = 4;
    job.batch = 12;
    calc_mindspeed_space space;
    calc_mindspeed_space_list(&job, CALC_MINDSPEED_GEN2, &space);
    /* tp 1: 12 replicas of one sequence; tp 2: 6 replicas of two, in one or two micro-batches. */
    ck_assert_uint_eq(space.count, 3);
    ck_assert_int_eq(space.config[0].dp, 12);
    ck_assert_int_eq(space.config[2].tp, 2);
    ck_assert_int_eq(space.config[2].mbs, 2);
    calc_mindspeed_space_free(&space);
    job.batch =
        5; /* neither 12, 6, 4, 3 nor 2 divide it, and sequences are too short to be split */
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 0);
}

/* Planning for 32 devices with 8 at hand: as with 32. */
CALC_TEST(more_devices_than_there_are)
{
    calc_mindspeed_job job = mindspeed_65b();
    job.nodes = 1;
    ck_assert_uint_eq(count(&job, CALC_MINDSPEED_GEN2), 96);
}
