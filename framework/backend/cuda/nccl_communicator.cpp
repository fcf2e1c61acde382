#include "framework/backend/cuda/nccl_communicator.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"

#ifdef JARI_HAS_NCCL

#include <nccl.h>

#include <atomic>

#include "framework/backend/cuda/stream_queue.hpp"

namespace jari::cuda {
namespace {

void check_library(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  throw DeviceError(fmt::format("NCCL could not {}: {}", what, ncclGetErrorString(status)));
}

ncclDataType_t data_type(DType dtype) {
  if (dtype == DType::f32) return ncclFloat;
  if (dtype == DType::f64) return ncclDouble;
  throw DeviceError("NCCL: sums of f32 and f64 alone");
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(ncclComm_t communicator, int rank, int ranks)
      : communicator_(communicator), rank_(rank), ranks_(ranks) {}
  ~NcclCommunicator() override {
    if (const ncclComm_t communicator = communicator_) ncclCommDestroy(communicator);
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  // On the queue's card, which stream() makes the thread's current one.
  void all_reduce_sum(void* to, const void* from, std::int64_t count, DType dtype, DeviceQueue& queue) override {
    const ncclComm_t communicator = communicator_;
    if (communicator == nullptr) throw DeviceError("NCCL: a rank has given up");
    check_library(ncclAllReduce(from, to, static_cast<std::size_t>(count), data_type(dtype), ncclSum, communicator,
                                static_cast<StreamQueue&>(queue).stream()),
                  "sum over cards");
  }

  // Frees it as well. Not under a lock: a call of another thread may be waiting for the very rank that gives up.
  void abort() override {
    if (const ncclComm_t communicator = communicator_.exchange(nullptr)) ncclCommAbort(communicator);
  }

 private:
  std::atomic<ncclComm_t> communicator_;
  int rank_, ranks_;
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> make_nccl_communicators(const std::vector<int>& cards) {
  const auto count = static_cast<int>(cards.size());
  std::vector<ncclComm_t> made(cards.size());
  check_library(ncclCommInitAll(made.data(), count, cards.data()), "connect the cards");
  std::vector<std::shared_ptr<Communicator>> communicators;
  for (int rank = 0; rank < count; ++rank)
    communicators.push_back(std::make_shared<NcclCommunicator>(made[static_cast<std::size_t>(rank)], rank, count));
  return communicators;
}

}  // namespace jari::cuda

#else

namespace jari::cuda {

std::vector<std::shared_ptr<Communicator>> make_nccl_communicators(const std::vector<int>& cards) {
  throw DeviceError(
      fmt::format("{} cards for one trial need NCCL, and libjari_cuda.so was built without it", cards.size()));
}

}  // namespace jari::cuda

#endif
