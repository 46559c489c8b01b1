# Each is answered, and what comes after it too: deep nesting, bytes that are no text, a line that
# is too long, another one at the end of the input.
ask() { printf '%s' '"app": "gpt3-175B", "sys": "a100_80g", "exe": "3072_t4_p64_d12_mbs4_full", "stats": ["total_time"]}'; }
{
    head -c 100000 /dev/zero | tr '\0' '['
    printf '\n{"id": 1, '; ask; echo
    for _ in {1..250}; do printf '\200\377\376\001'; done
    printf '\n{"id": 2, "stats": ["total_time"]}\n{"id": 3, "stats": [\000]}\n{"id": 3\000}\n'
    head -c 34000000 /dev/zero | tr '\0' ' '
    printf '\n{"id": 4, '; ask; echo
    head -c 34000000 /dev/zero | tr '\0' 'x'
} | "$CALC" serve --stdio | sed -E 's/"message": .*("text": "[^"]*").*/\1/; s/"text": "(not UTF-8|this is not|expected).*/"text": (not a text)/'
