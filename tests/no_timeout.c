/* libcheck ends a test after 4 seconds unless told otherwise, which a busy machine or a sanitizer
 * may need for any of them. What hangs is ended by CTest instead (CMakePresets.json). */
#include <stdlib.h>

__attribute__((constructor)) static void no_timeout(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "0", 1);
}
