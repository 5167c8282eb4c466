/* A process that is forked off one that works answers as its parent does, and never waits for threads that it has
 * not. Exit code 1 if anything does not hold; a child that hangs is ended by its alarm. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wavecast.h"

#define SECONDS 60
#define FORKS 20

static int failures = 0;
static atomic_bool done = false;

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
    " \"launch\": {\"block\": {\"x\": \"1..128\"}, \"registers\": 16}}";

static char *ranked(wavecast_kernel *kernel) {
    char *text = NULL;
    if (wavecast_rank(kernel, "a100", NULL, &text) != WAVECAST_OK) fprintf(stderr, "%s\n", text);
    return text;
}

/* What a child process does: ranks with the kernel of its parent and with one of its own. */
static int in_child(wavecast_kernel *kernel, const char *expected) {
    alarm(SECONDS);
    char *inherited = ranked(kernel), *fresh = NULL;
    wavecast_kernel *own = NULL;
    if (wavecast_parse(COPY, &own, NULL) == WAVECAST_OK) fresh = ranked(own);
    return inherited == NULL || fresh == NULL || strcmp(inherited, expected) != 0 || strcmp(fresh, expected) != 0;
}

static void fork_and_compare(wavecast_kernel *kernel, const char *expected) {
    fflush(NULL);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        /* A child of a child is a process of its own again. */
        pid_t grandchild = fork();
        int status = in_child(kernel, expected);
        if (grandchild == 0) _exit(status);
        int of_grandchild = 1;
        if (grandchild > 0) waitpid(grandchild, &of_grandchild, 0);
        _exit(status || of_grandchild != 0);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) fprintf(stderr, "the child was ended by signal %d\n", WTERMSIG(status));
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *rank_on(void *kernel) {
    while (!atomic_load(&done)) wavecast_free(ranked(kernel));
    return NULL;
}

int main(void) {
    wavecast_kernel *kernel = NULL;
    EXPECT(wavecast_parse(COPY, &kernel, NULL) == WAVECAST_OK);
    char *expected = ranked(kernel);
    EXPECT(expected != NULL && strstr(expected, "\"feasible\":128") != NULL);
    if (failures) return 1;

    /* After work that started threads. */
    fork_and_compare(kernel, expected);

    /* While other threads work, which may hold any lock at the moment of the fork. */
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, rank_on, kernel);
    for (int i = 0; i < FORKS && !failures; i++) fork_and_compare(kernel, expected);
    atomic_store(&done, true);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);

    /* The parent goes on as before. */
    char *again = ranked(kernel);
    EXPECT(again != NULL && strcmp(again, expected) == 0);
    wavecast_free(again);
    wavecast_free(expected);
    wavecast_kernel_free(kernel);
    if (!failures) puts("forked processes answer as their parents do");
    return failures != 0;
}
