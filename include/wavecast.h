/* The C interface of Wavecast: JSON or YAML in, JSON out.
 *
 * Build the library with `cargo build --release -p wavecast-c`; link libwavecast_c.so or .a of
 * target/release. examples/c/rank.c is a program that uses it.
 *
 * All texts are UTF-8 and end with a zero byte. Texts and kernels that a function hands out belong to the
 * caller, who gives them back with wavecast_free and wavecast_kernel_free. Functions may be called from any
 * thread, and one kernel may be asked about by several threads at once; wavecast_kernel_free must be the last
 * call for its kernel. No function exits, prints or keeps a pointer that it was given. A process that fork() made
 * may use the kernels of its parent; it works in the thread that calls, while its parent works on all processors.
 */
#ifndef WAVECAST_H
#define WAVECAST_H

#ifdef __cplusplus
extern "C" {
#endif

/* There is a result. */
#define WAVECAST_OK 0
/* There is none; the text handed out is an error document (`wavecast schema error`). */
#define WAVECAST_ERROR 2

/* Kernels that were read from one text. */
typedef struct wavecast_kernel wavecast_kernel;

/* The version of the library. The text is the library's own. */
const char *wavecast_version(void);

/* Reads a kernel document (YAML or JSON, several documents too). With WAVECAST_OK, *kernel is a kernel and
 * *error is null; with WAVECAST_ERROR, *kernel is null and *error an error document that names every mistake
 * with its line and column. */
int wavecast_parse(const char *text, wavecast_kernel **kernel, char **error);

/* Ranks the launches of a kernel, best first. `device` is an id, an alias or the path of a device file, null
 * for the default. `options` is a JSON object as the key `options` of `wavecast schema request`, for example
 * {"block": [[256, 1, 1], [16, 2, 32]], "top": 3}, or null. *result is a ranking (`wavecast schema ranking`; an
 * array if the text held several kernels) or an error document. */
int wavecast_rank(const wavecast_kernel *kernel, const char *device, const char *options, char **result);

/* Everything about one launch: options {"block": [16, 2, 32], "fold": [1, 1, 2]}; the first launch of the
 * document if none is given. *result is a prediction (`wavecast schema prediction`) or an error document. */
int wavecast_predict(const wavecast_kernel *kernel, const char *device, const char *options, char **result);

/* Why one launch is as fast as it is: options as for wavecast_predict, and {"near": true} to compare it with
 * launches that are one step away only. *result is as `wavecast schema explanation` says. */
int wavecast_explain(const wavecast_kernel *kernel, const char *device, const char *options, char **result);

/* A series over something that varies: options {"vary": {"NX": "256..1024 step 64"}}. *result is as
 * `wavecast schema sweep` says. */
int wavecast_sweep(const wavecast_kernel *kernel, const char *device, const char *options, char **result);

/* What was understood of a kernel. `device` may be null. *result is as `wavecast schema check` says. */
int wavecast_check(const wavecast_kernel *kernel, const char *device, const char *options, char **result);

/* Gives back a text; null is allowed. */
void wavecast_free(char *text);

/* Gives back a kernel; null is allowed. */
void wavecast_kernel_free(wavecast_kernel *kernel);

#ifdef __cplusplus
}
#endif

#endif
