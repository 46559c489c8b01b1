#include "fuzz_answer.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    const void *document = fuzz_document(CALC_KIND_SYSTEM, data, size);
    if (document) {
        fuzz_answer(NULL, document, NULL);
    }
    return 0;
}
