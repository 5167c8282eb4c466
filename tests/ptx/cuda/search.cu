// The number of steps depends on data.
extern "C" __global__ void search(const int *sorted, int n, const int *wanted, int *found, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int low = 0, high = n, w = wanted[i];
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < w) low = middle + 1;
        else high = middle;
    }
    found[i] = low;
}
