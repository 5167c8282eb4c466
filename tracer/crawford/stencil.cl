// Stencil of seven points with a border that stays as it is (Crawford, listing 7.3).
__kernel void stencil(__global const float *old, __global float *new, int nx, int ny, float c0, float c1) {
  int x = get_global_id(0) + 1;
  int y = get_global_id(1) + 1;
  int z = get_global_id(2) + 1;
  if (x >= nx - 1)
    return;
  int plane = nx * ny;
  int at = x + nx * y + plane * z;
  new[at] = c1 * (old[at + plane] + old[at - plane] + old[at + nx] + old[at - nx] + old[at + 1] + old[at - 1]) -
            c0 * old[at];
}
