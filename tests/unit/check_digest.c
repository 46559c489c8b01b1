#include "cli/shell/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

/* Published by NIST with FIPS 180-4; lengths around the end of a block by sha256sum. */
CALC_TEST(digests_are_the_published_ones)
{
    static const struct {
        size_t count; /* of the letter a; 0: the text */
        const char *text, *digest;
    } known[] = {
        {0, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {0, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {0, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {1000000, NULL, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        {55, NULL, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, NULL, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {63, NULL, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, NULL, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    };
    char text[CALC_DIGEST_TEXT];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = known[i].count > 0 ? known[i].count : strlen(known[i].text);
        char *bytes = malloc(length + 1);
        ck_assert_ptr_nonnull(bytes);
        memset(bytes, 'a', length);
        if (known[i].text) {
            memcpy(bytes, known[i].text, length);
        }
        ck_assert_str_eq(calc_digest_text(bytes, length, text), known[i].digest);
        free(bytes);
    }
}
