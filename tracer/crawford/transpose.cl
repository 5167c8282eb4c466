// Transposition, one element for each thread (Crawford, listing 7.2).
__kernel void transpose(__global const float *in, __global float *out, int n) {
  int column = get_global_id(0);
  int row = get_global_id(1);
  out[column * n + row] = in[row * n + column];
}
