/* What the interface promises, tried from C. Prints what does not hold; exit code 1 if anything does not. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "wavecast.h"

static int failures = 0;

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                        \
        }                                                                      \
    } while (0)

static const char *COPY =
    "{\"wavecast\": 1, \"kernel\": \"copy\", \"fields\": {\"a\": {\"dtype\": \"f64\", \"size\": 4096}, \"b\": {\"like\": \"a\"}},"
    " \"domain\": {\"x\": 4096}, \"loads\": [\"a[x]\"], \"stores\": [\"b[x]\"],"
    " \"launch\": {\"block\": [[64], [256], [2048]], \"registers\": 16}}";

static void *ask(void *kernel) {
    for (int i = 0; i < 50; i++) {
        char *result = NULL;
        EXPECT(wavecast_predict(kernel, "v100", "{\"block\": [128]}", &result) == WAVECAST_OK);
        EXPECT(strstr(result, "\"block\":[128,1,1]") != NULL);
        wavecast_free(result);
    }
    return NULL;
}

int main(void) {
    wavecast_kernel *kernel = NULL;
    char *text = NULL;
    EXPECT(strchr(wavecast_version(), '.') != NULL);

    EXPECT(wavecast_parse(COPY, &kernel, &text) == WAVECAST_OK);
    EXPECT(kernel != NULL && text == NULL);
    EXPECT(wavecast_rank(kernel, "a100", NULL, &text) == WAVECAST_OK);
    EXPECT(strncmp(text, "{\"schema\":\"wavecast/ranking/1\"", 30) == 0);
    EXPECT(strstr(text, "\"feasible\":2") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_explain(kernel, "a100", "{\"near\": true}", &text) == WAVECAST_OK);
    EXPECT(strncmp(text, "{\"schema\":\"wavecast/explanation/1\"", 34) == 0);
    wavecast_free(text);
    EXPECT(wavecast_sweep(kernel, "a100", "{\"vary\": {\"block\": \"64,128\"}}", &text) == WAVECAST_OK);
    EXPECT(strstr(text, "\"summary\":{\"points\":2,\"feasible\":2}") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_sweep(kernel, "a100", NULL, &text) == WAVECAST_ERROR);
    EXPECT(strstr(text, "options.vary") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_check(kernel, NULL, NULL, &text) == WAVECAST_OK);
    EXPECT(strstr(text, "wavecast/check/1") != NULL);
    wavecast_free(text);

    /* Mistakes are error documents, whatever they are. */
    EXPECT(wavecast_predict(kernel, "a100", "{\"block\": [2048]}", &text) == WAVECAST_ERROR);
    EXPECT(strstr(text, "threads-per-block") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_rank(kernel, "a1000", NULL, &text) == WAVECAST_ERROR);
    EXPECT(strstr(text, "unknown-device") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_rank(kernel, "a100", "{\"blok\": 1", &text) == WAVECAST_ERROR);
    EXPECT(strstr(text, "not JSON") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_rank(kernel, "a100", "[]", &text) == WAVECAST_ERROR);
    EXPECT(strstr(text, "expected an object") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_rank(kernel, "\xff", NULL, &text) == WAVECAST_ERROR);
    EXPECT(strstr(text, "UTF-8") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_rank(NULL, "a100", NULL, &text) == WAVECAST_ERROR);
    EXPECT(strstr(text, "is null") != NULL);
    wavecast_free(text);

    wavecast_kernel *none = kernel;
    EXPECT(wavecast_parse("wavecast: 1\nkernel: x\nload: []\n", &none, &text) == WAVECAST_ERROR);
    EXPECT(none == NULL && strstr(text, "did you mean `loads`?") != NULL && strstr(text, "\"line\":3") != NULL);
    wavecast_free(text);
    EXPECT(wavecast_parse(NULL, &none, &text) == WAVECAST_ERROR);
    wavecast_free(text);

    /* Places for results that nobody wants may be null, and so may what is given back. */
    EXPECT(wavecast_parse(COPY, NULL, NULL) == WAVECAST_OK);
    EXPECT(wavecast_rank(kernel, NULL, NULL, NULL) == WAVECAST_OK);
    wavecast_free(NULL);
    wavecast_kernel_free(NULL);

    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, ask, kernel);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    wavecast_kernel_free(kernel);
    if (failures == 0) puts("the C interface does what it promises");
    return failures != 0;
}
