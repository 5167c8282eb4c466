// Runs one of the three kernels beside this file and checks what it computed:
//   crawford matmul N BLOCK        N x N elements, BLOCK x BLOCK threads
//   crawford transpose N BLOCK
//   crawford stencil NX,NY,NZ BLOCK    blocks of BLOCK x 1 x 1 threads
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, long code) {
  fprintf(stderr, "crawford: %s failed with %ld\n", what, code);
  exit(1);
}

static void must(cl_int code, const char *what) {
  if (code != CL_SUCCESS)
    fail(what, code);
}

static char *source_of(const char *kernel) {
  char path[256];
  snprintf(path, sizeof path, "%s.cl", kernel);
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "crawford: cannot read %s; run this in the folder of the kernels\n", path);
    exit(1);
  }
  static char text[65536];
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  return text;
}

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;

// Without optimisation the accesses are those of the source, in its order.
static void build(const char *name) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  must(clGetPlatformIDs(1, &platform, NULL), "finding a platform");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "finding a device");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  must(code, "making a context");
  queue = clCreateCommandQueue(context, device, 0, &code);
  must(code, "making a queue");
  const char *text = source_of(name);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  must(code, "reading the kernel");
  must(clBuildProgram(program, 1, &device, "-cl-opt-disable", NULL, NULL), "compiling the kernel");
  kernel = clCreateKernel(program, name, &code);
  must(code, "finding the kernel");
}

static cl_mem buffer(const float *from, size_t count) {
  cl_int code;
  cl_mem made = clCreateBuffer(context, from ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE,
                               count * sizeof(float), (void *)from, &code);
  must(code, "making a buffer");
  return made;
}

static void argument(cl_uint number, size_t size, const void *value) {
  must(clSetKernelArg(kernel, number, size, value), "setting an argument");
}

static void run(const size_t *threads, const size_t *block, cl_mem from, float *to, size_t count) {
  must(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, threads, block, 0, NULL, NULL), "running the kernel");
  must(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, count * sizeof(float), to, 0, NULL, NULL), "reading back");
}

static float *values(size_t count) {
  float *made = malloc(count * sizeof(float));
  if (!made)
    fail("allocating memory", (long)count);
  // Small integers: sums are exact in any order.
  for (size_t i = 0; i < count; i++)
    made[i] = (float)(i * 7 % 13) - 6;
  return made;
}

static size_t up(size_t n, size_t block) { return (n + block - 1) / block * block; }

static size_t wrong;

static void compare(float found, float expected, size_t at) {
  if (fabsf(found - expected) > 1e-4f && wrong++ == 0)
    fprintf(stderr, "crawford: element %zu is %g, not %g\n", at, found, expected);
}

static void matmul(int n, size_t block) {
  size_t count = (size_t)n * n;
  float *a = values(count), *b = values(count), *c = values(count);
  cl_mem device_a = buffer(a, count), device_b = buffer(b, count), device_c = buffer(NULL, count);
  argument(0, sizeof device_a, &device_a);
  argument(1, sizeof device_b, &device_b);
  argument(2, sizeof device_c, &device_c);
  argument(3, sizeof n, &n);
  run((size_t[3]){n, n, 1}, (size_t[3]){block, block, 1}, device_c, c, count);
  for (int row = 0; row < n; row++)
    for (int column = 0; column < n; column++) {
      float sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
      compare(c[row * n + column], sum, row * n + column);
    }
}

static void transpose(int n, size_t block) {
  size_t count = (size_t)n * n;
  float *in = values(count), *out = values(count);
  cl_mem device_in = buffer(in, count), device_out = buffer(NULL, count);
  argument(0, sizeof device_in, &device_in);
  argument(1, sizeof device_out, &device_out);
  argument(2, sizeof n, &n);
  run((size_t[3]){n, n, 1}, (size_t[3]){block, block, 1}, device_out, out, count);
  for (size_t at = 0; at < count; at++)
    compare(out[at], in[at % n * n + at / n], at);
}

static void stencil(int nx, int ny, int nz, size_t block) {
  size_t count = (size_t)nx * ny * nz, plane = (size_t)nx * ny;
  float *old = values(count), *new = values(count);
  const float c0 = 0.5f, c1 = 0.25f;
  cl_mem device_old = buffer(old, count), device_new = buffer(NULL, count);
  argument(0, sizeof device_old, &device_old);
  argument(1, sizeof device_new, &device_new);
  argument(2, sizeof nx, &nx);
  argument(3, sizeof ny, &ny);
  argument(4, sizeof c0, &c0);
  argument(5, sizeof c1, &c1);
  run((size_t[3]){up(nx - 2, block), ny - 2, nz - 2}, (size_t[3]){block, 1, 1}, device_new, new, count);
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++) {
        size_t at = x + nx * y + plane * z;
        float sum = old[at + plane] + old[at - plane] + old[at + nx] + old[at - nx] + old[at + 1] + old[at - 1];
        compare(new[at], c1 * sum - c0 * old[at], at);
      }
}

int main(int count, char **arguments) {
  const char *name = count == 4 ? arguments[1] : "";
  int n[3] = {0, 0, 0};
  int sizes = count == 4 ? sscanf(arguments[2], "%d,%d,%d", &n[0], &n[1], &n[2]) : 0;
  int block = count == 4 ? atoi(arguments[3]) : 0;
  int flat = sizes == 1 && n[0] > 0 && block > 0 && n[0] % block == 0;
  int deep = sizes == 3 && n[0] > 2 && n[1] > 2 && n[2] > 2 && block > 0;
  if (strcmp(name, "matmul") == 0 && flat) {
    build(name);
    matmul(n[0], block);
  } else if (strcmp(name, "transpose") == 0 && flat) {
    build(name);
    transpose(n[0], block);
  } else if (strcmp(name, "stencil") == 0 && deep) {
    build(name);
    stencil(n[0], n[1], n[2], block);
  } else {
    fprintf(stderr, "usage: crawford matmul|transpose N BLOCK    (N a multiple of BLOCK)\n"
                    "       crawford stencil NX,NY,NZ BLOCK\n");
    return 2;
  }
  if (wrong > 0) {
    fprintf(stderr, "crawford: %s: %zu elements are wrong\n", name, wrong);
    return 1;
  }
  printf("%s: correct\n", name);
  return 0;
}
