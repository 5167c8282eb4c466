struct Grid { int nx, ny; double h; const double *in; double *out; };
extern "C" __global__ void struct_param(Grid g) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < g.nx && y < g.ny) g.out[y * g.nx + x] = g.h * g.in[y * g.nx + x];
}
