extern "C" __global__ void nbody_tile(const float4 *body, float4 *force, int n) {
    __shared__ float4 s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float fx = 0, fy = 0, fz = 0;
    for (int t = 0; t < n / 64; t++) {
        s[threadIdx.x] = body[t * 64 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), w = s[j].w * r * r * r;
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        __syncthreads();
    }
    force[i] = make_float4(fx, fy, fz, 0);
}
