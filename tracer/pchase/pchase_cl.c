// Runs the pointer chase of pchase.cl and writes logs for `wavecast cache-probe`. See README.md.
//
//   cc -O2 -o pchase_cl pchase_cl.c -lOpenCL
//   ./pchase_cl --n 3080 --stride 8 > log.csv
//   ./pchase_cl --sizes 1024 --mhz 1380 > sizes.csv

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

#include "order.h"

#define CHECK(call)                                                                                              \
    do {                                                                                                         \
        cl_int error_ = (call);                                                                                  \
        if (error_ != CL_SUCCESS) {                                                                              \
            fprintf(stderr, "pchase_cl: %s: OpenCL error %d\n", #call, error_);                                  \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

typedef struct {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    int clock;
} Device;

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "pchase_cl: cannot read %s: run it in its folder, or give --kernel PATH\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = (char *)calloc((size_t)size + 1, 1);
    if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "pchase_cl: cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static Device open_device(const char *path) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    char name[256] = "", extensions[8192] = "", options[64];
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    clGetDeviceInfo(device, CL_DEVICE_VENDOR, sizeof name, name, NULL);
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL);
    Device d;
    d.clock = strstr(extensions, "cl_khr_kernel_clock") ? 1 : strstr(name, "NVIDIA") ? 2 : 0;
    d.context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    d.queue = clCreateCommandQueue(d.context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    CHECK(error);
    char *text = read_file(path);
    const char *source = text;
    d.program = clCreateProgramWithSource(d.context, 1, &source, NULL, &error);
    CHECK(error);
    snprintf(options, sizeof options, "-DCLOCK=%d", d.clock);
    if (clBuildProgram(d.program, 1, &device, options, NULL, NULL) != CL_SUCCESS) {
        char log[16384] = "";
        clGetProgramBuildInfo(d.program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "pchase_cl: %s does not compile:\n%s\n", path, log);
        exit(1);
    }
    free(text);
    return d;
}

static cl_mem buffer(Device d, size_t bytes, const void *data) {
    cl_int error;
    cl_mem made = clCreateBuffer(d.context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    CHECK(error);
    if (data != NULL) {
        CHECK(clEnqueueWriteBuffer(d.queue, made, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
    }
    return made;
}

static cl_kernel kernel_of(Device d, const char *name) {
    cl_int error;
    cl_kernel kernel = clCreateKernel(d.program, name, &error);
    CHECK(error);
    return kernel;
}

static void log_chase(Device d, uint32_t n, int64_t stride, uint32_t rounds, int cold, enum order order) {
    uint32_t *next = (uint32_t *)calloc(n, sizeof *next), start = 0;
    uint32_t round = next ? order_link(next, n, stride, order, 1, &start) : 0;
    if (round == 0) {
        fprintf(stderr, "pchase_cl: no array of %u elements with stride %lld\n", n, (long long)stride);
        exit(2);
    }
    uint32_t loads = round * rounds, warm = cold ? 0 : 2 * round;
    cl_mem array = buffer(d, n * sizeof *next, next);
    cl_mem index = buffer(d, loads * sizeof *next, NULL), cycles = buffer(d, loads * sizeof *next, NULL);
    cl_kernel kernel = kernel_of(d, "chase");
    CHECK(clSetKernelArg(kernel, 0, sizeof array, &array));
    CHECK(clSetKernelArg(kernel, 1, sizeof start, &start));
    CHECK(clSetKernelArg(kernel, 2, sizeof warm, &warm));
    CHECK(clSetKernelArg(kernel, 3, sizeof loads, &loads));
    CHECK(clSetKernelArg(kernel, 4, sizeof index, &index));
    CHECK(clSetKernelArg(kernel, 5, sizeof cycles, &cycles));
    size_t one = 1;
    CHECK(clEnqueueNDRangeKernel(d.queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    uint32_t *seen = (uint32_t *)calloc(loads, sizeof *seen), *took = (uint32_t *)calloc(loads, sizeof *took);
    if (seen == NULL || took == NULL) {
        exit(1);
    }
    CHECK(clEnqueueReadBuffer(d.queue, index, CL_TRUE, 0, loads * sizeof *seen, seen, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(d.queue, cycles, CL_TRUE, 0, loads * sizeof *took, took, 0, NULL, NULL));
    printf("# run n=%u s=%lld element=4 cold=%d order=%s\n", n, (long long)stride, cold,
           order_name(order));
    for (uint32_t i = 0; i < loads; i++) {
        printf("%u,%u\n", seen[i], took[i]);
    }
    if (d.clock == 0) {
        fprintf(stderr, "pchase_cl: this device has no clock for kernels, all times are 0; use --sizes\n");
    }
    clReleaseMemObject(array);
    clReleaseMemObject(index);
    clReleaseMemObject(cycles);
    clReleaseKernel(kernel);
    free(next);
    free(seen);
    free(took);
}

// Latency over size, up to so many KiB, in a random order of 128-byte lines; needs no clock in the kernel.
static void log_sizes(Device d, uint32_t most_kib, double mhz) {
    printf("bytes,cycles\n");
    for (double kib = 1; kib <= most_kib; kib = kib * 1.1 > kib + 1 ? kib * 1.1 : kib + 1) {
        uint32_t n = (uint32_t)kib * 256, start = 0;
        uint32_t *next = (uint32_t *)calloc(n, sizeof *next);
        uint32_t round = next ? order_link(next, n, 32, ORDER_SHUFFLED, 7, &start) : 0;
        uint32_t loads = round < 20000 ? 20000 : 2 * round;
        cl_mem array = buffer(d, n * sizeof *next, next), last = buffer(d, sizeof start, NULL);
        cl_kernel kernel = kernel_of(d, "run");
        cl_ulong from = 0, to = 0;
        size_t one = 1;
        for (int warm = 1; warm >= 0; warm--) {
            cl_event event;
            CHECK(clSetKernelArg(kernel, 0, sizeof array, &array));
            CHECK(clSetKernelArg(kernel, 1, sizeof start, &start));
            CHECK(clSetKernelArg(kernel, 2, sizeof loads, &loads));
            CHECK(clSetKernelArg(kernel, 3, sizeof last, &last));
            CHECK(clEnqueueNDRangeKernel(d.queue, kernel, 1, NULL, &one, &one, 0, NULL, &event));
            CHECK(clWaitForEvents(1, &event));
            CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL));
            CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL));
            clReleaseEvent(event);
        }
        printf("%u,%.2f\n", n * 4, (double)(to - from) * mhz / 1000.0 / loads);
        clReleaseMemObject(array);
        clReleaseMemObject(last);
        clReleaseKernel(kernel);
        free(next);
    }
}

int main(int count, char **words) {
    const char *path = "pchase.cl";
    uint32_t n = 4096, rounds = 10, sizes = 0;
    int64_t stride = 1;
    int cold = 0;
    enum order order = ORDER_STRIDE;
    double mhz = 1000;
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        int takes = 1;
        if (strcmp(words[i], "--n") == 0) {
            n = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(words[i], "--stride") == 0) {
            stride = strtoll(value, NULL, 10);
        } else if (strcmp(words[i], "--rounds") == 0) {
            rounds = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(words[i], "--sizes") == 0) {
            sizes = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(words[i], "--mhz") == 0) {
            mhz = strtod(value, NULL);
        } else if (strcmp(words[i], "--kernel") == 0) {
            path = value;
        } else if (strcmp(words[i], "--cold") == 0) {
            cold = 1, takes = 0;
        } else if (strcmp(words[i], "--shuffled") == 0) {
            order = ORDER_SHUFFLED, takes = 0;
        } else if (strcmp(words[i], "--scattered") == 0) {
            order = ORDER_SCATTERED, takes = 0;
        } else {
            fprintf(stderr, "usage: pchase_cl [--n ELEMENTS] [--stride ELEMENTS] [--rounds N] [--cold] "
                            "[--shuffled | --scattered]\n"
                            "               | --sizes KIB [--mhz CLOCK]  [--kernel pchase.cl]\n");
            return 2;
        }
        i += takes;
    }
    Device d = open_device(path);
    if (sizes > 0) {
        log_sizes(d, sizes, mhz);
    } else {
        log_chase(d, n, stride, cold ? 1 : rounds, cold, order);
    }
    return 0;
}
