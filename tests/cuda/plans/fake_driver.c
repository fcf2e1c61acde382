// A libcuda.so.1 without a card: it takes kernels and gives something for them that can not be run. All else fails as
// the toolkit's stub does. cuDNN needs no more to plan a graph for a card that it only knows the properties of.

enum { kSuccess = 0, kStubLibrary = 34 };

static char thing;  // what all that is taken is

// Functions whose first argument is where what they make goes.
#define TAKES(name)       \
  int name(void** made) { \
    *made = &thing;       \
    return kSuccess;      \
  }
#define DOES(name) \
  int name(void) { return kSuccess; }
#define NAME(name) \
  int name(void) { return kStubLibrary; }

TAKES(cuLibraryLoadData)
TAKES(cuLibraryGetKernel)
TAKES(cuModuleLoadData)
TAKES(cuModuleLoadDataEx)
TAKES(cuModuleGetFunction)
TAKES(cuKernelGetFunction)
DOES(cuLibraryUnload)
DOES(cuModuleUnload)
DOES(cuFuncSetAttribute)
DOES(cuKernelSetAttribute)

#include "driver_names.inc"
