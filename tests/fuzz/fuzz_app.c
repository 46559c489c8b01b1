#include "fuzz.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    fuzz_document(CALC_KIND_APP, data, size);
    return 0;
}
