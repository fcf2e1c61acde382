// What a card can do at best, for bench/gpu.py: time from one small kernel to the next in a stream and in a graph,
// bytes/s of a copy within its memory, FLOP/s of cuBLAS's products. Prints one line of JSON; medians of several rounds.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kRounds = 9;
constexpr int kLaunches = 1000;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench_card: can not %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "bench_card: cuBLAS can not %s: %s\n", what, cublasGetStatusString(status));
  std::exit(1);
}

// As small as a kernel gets that depends on the one before: a thread adds one to one number.
__global__ void add_one(int* number) { ++*number; }

// As random bits of the mantissa and sign as bf16 and f32 can have near 1: a card that multiplies zeros keeps cooler,
// and so a higher clock, than one that works.
__global__ void fill_random(unsigned short* halves, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u;
    bits = (bits ^ (bits >> 15)) * 2246822519u;
    halves[i] = static_cast<unsigned short>(0x3f00u | ((bits >> 16) & 0x80ffu));
  }
}

class Clock {
 public:
  explicit Clock(cudaStream_t stream) : stream_(stream) {
    check(cudaEventCreate(&begin_), "make an event");
    check(cudaEventCreate(&end_), "make an event");
  }

  // Seconds on the card that `work` takes, the median of the rounds; one more before them is not timed.
  template <class Work>
  double seconds(const Work& work) {
    std::vector<double> rounds;
    for (int round = 0; round <= kRounds; ++round) {
      check(cudaEventRecord(begin_, stream_), "record an event");
      work();
      check(cudaEventRecord(end_, stream_), "record an event");
      check(cudaStreamSynchronize(stream_), "wait");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "read its clock");
      if (round > 0) rounds.push_back(milliseconds * 1e-3);
    }
    std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
    return rounds[kRounds / 2];
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_, end_;
};

void launch_many(int* number, cudaStream_t stream) {
  for (int i = 0; i < kLaunches; ++i) add_one<<<1, 1, 0, stream>>>(number);
  check(cudaGetLastError(), "launch a kernel");
}

double gap_in_stream(int* number, cudaStream_t stream, Clock& clock) {
  return clock.seconds([&] { launch_many(number, stream); }) / kLaunches;
}

double gap_in_graph(int* number, cudaStream_t stream, Clock& clock) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin to record");
  launch_many(number, stream);
  check(cudaStreamEndCapture(stream, &graph), "record");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "make a graph");
  const double gap = clock.seconds([&] { check(cudaGraphLaunch(executable, stream), "start a graph"); }) / kLaunches;
  check(cudaGraphExecDestroy(executable), "take a graph down");
  check(cudaGraphDestroy(graph), "take a graph down");
  return gap;
}

// Bytes read and written; far more than the caches hold.
double copy_rate(cudaStream_t stream, Clock& clock) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  void *from = nullptr, *to = nullptr;
  check(cudaMalloc(&from, bytes), "take memory");
  check(cudaMalloc(&to, bytes), "take memory");
  check(cudaMemsetAsync(from, 1, bytes, stream), "fill memory");
  const double seconds =
      clock.seconds([&] { check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copy"); });
  check(cudaFree(from), "give memory back");
  check(cudaFree(to), "give memory back");
  return 2.0 * bytes / seconds;
}

struct Kind {
  const char* name;
  cudaDataType_t type;
  std::size_t element;
  cublasComputeType_t compute;
};

constexpr Kind kKinds[] = {{"f32", CUDA_R_32F, 4, CUBLAS_COMPUTE_32F},
                           {"tf32", CUDA_R_32F, 4, CUBLAS_COMPUTE_32F_FAST_TF32},
                           {"bf16", CUDA_R_16BF, 2, CUBLAS_COMPUTE_32F}};

// FLOP/s of `batch` products of square matrices.
double product_rate(cublasHandle_t handle, const Kind& kind, int size, int batch, cudaStream_t stream, Clock& clock) {
  const long long elements = static_cast<long long>(size) * size;
  const std::size_t bytes = static_cast<std::size_t>(elements) * static_cast<std::size_t>(batch) * kind.element;
  void* matrices[3];
  for (void*& matrix : matrices) {
    check(cudaMalloc(&matrix, bytes), "take memory");
    fill_random<<<1024, 256, 0, stream>>>(static_cast<unsigned short*>(matrix), bytes / 2);
    check(cudaGetLastError(), "fill memory");
  }
  const float one = 1, zero = 0;
  constexpr int calls = 20;
  const double seconds = clock.seconds([&] {
    for (int call = 0; call < calls; ++call) {
      check(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, matrices[0], kind.type,
                                       size, elements, matrices[1], kind.type, size, elements, &zero, matrices[2],
                                       kind.type, size, elements, batch, kind.compute, CUBLAS_GEMM_DEFAULT),
            "multiply");
    }
  });
  for (void* matrix : matrices) check(cudaFree(matrix), "give memory back");
  return 2.0 * size * static_cast<double>(elements) * batch * calls / seconds;
}

// {"f32": {"4096x1": ..., ...}, ...}
std::string product_rates(cudaStream_t stream, Clock& clock) {
  cublasHandle_t handle = nullptr;
  check(cublasCreate(&handle), "start");
  check(cublasSetStream(handle, stream), "take a stream");
  struct Shape {
    int size, batch;
  };
  std::string text;
  for (const Kind& kind : kKinds) {
    std::string rates;
    for (const Shape shape : {Shape{4096, 1}, Shape{128, 1}, Shape{128, 16}, Shape{128, 256}}) {
      char rate[80];
      std::snprintf(rate, sizeof(rate), "%s\"%dx%d\": %.6g", rates.empty() ? "" : ", ", shape.size, shape.batch,
                    product_rate(handle, kind, shape.size, shape.batch, stream, clock));
      rates += rate;
    }
    text += (text.empty() ? "\"" : ", \"") + std::string(kind.name) + "\": {" + rates + "}";
  }
  check(cublasDestroy(handle), "end");
  return "{" + text + "}";
}

}  // namespace

int main() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "find a card");
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "ask for the driver's version");
  check(cudaRuntimeGetVersion(&runtime), "ask for the runtime's version");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  int* number = nullptr;
  check(cudaMalloc(&number, sizeof(int)), "take memory");
  check(cudaMemset(number, 0, sizeof(int)), "fill memory");
  Clock clock(stream);
  const double in_stream = gap_in_stream(number, stream, clock), in_graph = gap_in_graph(number, stream, clock);
  const double copy = copy_rate(stream, clock);
  const std::string products = product_rates(stream, clock);
  std::printf("{\"card\": \"%s\", \"multiprocessors\": %d, \"driver\": %d, \"runtime\": %d, ", properties.name,
              properties.multiProcessorCount, driver, runtime);
  std::printf("\"gap_in_stream\": %.4g, \"gap_in_graph\": %.4g, \"copy_bytes_per_second\": %.6g, ", in_stream, in_graph,
              copy);
  std::printf("\"product_flops_per_second\": %s}\n", products.c_str());
}
