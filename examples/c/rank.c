/* Ranks the launches of a kernel file from C, without a GPU:
 *
 *     cargo build --release -p wavecast-c
 *     cc -Iinclude examples/c/rank.c -o rank target/release/libwavecast_c.so -Wl,-rpath,$PWD/target/release
 *     ./rank kernels/star3d25.yaml a100
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wavecast.h"

/* The text of a file, or null. */
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    char *text = NULL;
    size_t length = 0;
    for (size_t room = 4096;; room *= 2) {
        char *more = realloc(text, room + 1);
        if (more == NULL) break;
        text = more;
        length += fread(text + length, 1, room - length, file);
        if (length < room) break;
    }
    fclose(file);
    if (text != NULL) text[length] = '\0';
    return text;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s KERNEL.yaml DEVICE\n", argv[0]);
        return 2;
    }
    char *text = read_file(argv[1]);
    if (text == NULL) {
        fprintf(stderr, "cannot read %s\n", argv[1]);
        return 2;
    }
    wavecast_kernel *kernel = NULL;
    char *answer = NULL;
    int code = wavecast_parse(text, &kernel, &answer);
    free(text);
    if (code == WAVECAST_OK) code = wavecast_rank(kernel, argv[2], "{\"top\": 3}", &answer);
    /* A program would parse it with the JSON library that it has. */
    fprintf(code == WAVECAST_OK ? stdout : stderr, "%s\n", answer);
    wavecast_free(answer);
    wavecast_kernel_free(kernel);
    return code;
}
