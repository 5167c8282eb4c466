// Partners are known, whether two change places is not.
extern "C" __global__ void bitonic(float *v) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = v[blockIdx.x * 128 + t];
    __syncthreads();
    for (int k = 2; k <= 128; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if ((s[t] > s[other]) == up) {
                    float keep = s[t];
                    s[t] = s[other];
                    s[other] = keep;
                }
            }
            __syncthreads();
        }
    v[blockIdx.x * 128 + t] = s[t];
}
