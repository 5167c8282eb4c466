// Where it stores depends on the data of other lanes.
extern "C" __global__ void ballot_compact(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool keep = i < n && in[i] > 4;
    unsigned all = __ballot_sync(~0u, keep);
    if (keep) out[(i & ~31) + __popc(all & ((1u << lane) - 1))] = in[i];
}
