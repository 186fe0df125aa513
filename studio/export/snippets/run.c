/* Runs model.onnx with its kernels. Build: cc -std=c11 run.c -o run -ldl; then, in this folder:
     ./run /path/to/libonnxruntime.so
   Reads input_0.bin, input_1.bin, … (zeros where one is missing), writes output_0.bin, …
   Numbers are places in ONNX Runtime's C interface, whose names onnxruntime_c_api.h has. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "model.h" /* INPUTS, OUTPUTS, inputs, input_names, output_names */
static void *(*const *api)();
static void check(void *status) {
  if (status) exit(fprintf(stderr, "%s\n", (const char *)api[2](status)) && 1);
}
int main(int count, char **arguments) {
  void *runtime = count > 1 ? dlopen(arguments[1], RTLD_NOW) : 0;
  if (!runtime) return fprintf(stderr, "usage: run /path/to/libonnxruntime.so\n"), 2;
  void *(**base)() = ((void *(**(*)())())dlsym(runtime, "OrtGetApiBase"))();
  api = (void *(*const *)())base[0](17); /* version 17 and later have all that is used here */
  void *env, *options, *library, *session, *memory, *in[INPUTS], *out[OUTPUTS] = {0}, *shape;
  check(api[3](2, "run", &env)), check(api[10](&options)); /* environment, session's options */
  check(api[29](options, "./kernels.so", &library));       /* RegisterCustomOpsLibrary */
  check(api[130](options, "optimization.disable_specified_optimizers", /* AddSessionConfigEntry */
                 "SkipLayerNormFusion;BiasGeluFusion")); /* slower on a CPU than what they fuse */
  check(api[7](env, "model.onnx", options, &session)), check(api[69](1, 0, &memory));
  for (int i = 0; i < INPUTS; i++) { /* CreateTensorWithDataAsOrtValue */
    char file[32], *data = calloc(inputs[i].bytes + 1, 1);
    FILE *given = fopen((sprintf(file, "input_%d.bin", i), file), "rb");
    if (given) fread(data, 1, inputs[i].bytes, given), fclose(given);
    check(api[49](memory, data, inputs[i].bytes, inputs[i].extents, inputs[i].rank, inputs[i].type, in + i));
  }
  check(api[9](session, (void *)0, input_names, in, (size_t)INPUTS, output_names, (size_t)OUTPUTS, out));
  for (int i = 0; i < OUTPUTS; i++) {
    char file[32];
    size_t elements, written;
    void *data;
    check(api[51](out[i], &data)), check(api[65](out[i], &shape)), check(api[64](shape, &elements));
    FILE *made = fopen((sprintf(file, "output_%d.bin", i), file), "wb");
    written = fwrite(data, output_bytes[i], elements, made), fclose(made);
    printf("%s: %zu elements\n", output_names[i], written);
  }
}
