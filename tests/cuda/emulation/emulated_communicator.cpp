#include "tests/cuda/emulation/emulated_communicator.hpp"

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "framework/backend/cuda/stream_queue.hpp"
#include "framework/base/error.hpp"

namespace jari::test {
namespace {

// Where the threads of all ranks meet.
class Meeting {
 public:
  explicit Meeting(int ranks) : given_(static_cast<std::size_t>(ranks)) {}
  int ranks() const { return static_cast<int>(given_.size()); }

  // The last one to come takes the sum; nobody comes to the next meeting before having its copy.
  void sum(int rank, void* to, const void* from, std::int64_t count, DType dtype) {
    std::unique_lock lock(mutex_);
    throw_if_aborted();
    given_[static_cast<std::size_t>(rank)] = {from, count, dtype};
    if (++here_ == ranks()) {
      dtype == DType::f64 ? take_sum<double>() : take_sum<float>();
      here_ = 0;
      ++meetings_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [this, meeting = meetings_] { return meetings_ != meeting || aborted_; });
      throw_if_aborted();
    }
    if (!refusal_.empty()) throw DeviceError(refusal_);
    std::memcpy(to, sum_.data(), sum_.size());
  }

  void abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }

 private:
  struct Given {
    const void* from = nullptr;
    std::int64_t count = 0;
    DType dtype = DType::f32;
  };

  void throw_if_aborted() const {
    if (aborted_) throw DeviceError("another rank has given up");
  }

  template <class T>
  void take_sum() {
    const Given& first = given_.front();
    for (const Given& each : given_) {
      if (each.count != first.count || each.dtype != first.dtype) refusal_ = "ranks sum different things";
    }
    if (!refusal_.empty()) return;
    sum_.assign(static_cast<std::size_t>(first.count) * sizeof(T), std::byte{0});
    for (std::int64_t i = 0; i < first.count; ++i) {
      T sum = static_cast<const T*>(first.from)[i];
      for (std::size_t rank = 1; rank < given_.size(); ++rank) sum += static_cast<const T*>(given_[rank].from)[i];
      std::memcpy(sum_.data() + static_cast<std::size_t>(i) * sizeof(T), &sum, sizeof(T));
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Given> given_;
  std::vector<std::byte> sum_;
  std::string refusal_;
  int here_ = 0;
  std::int64_t meetings_ = 0;
  bool aborted_ = false;
};

class EmulatedCommunicator final : public Communicator {
 public:
  EmulatedCommunicator(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return meeting_->ranks(); }
  void all_reduce_sum(void* to, const void* from, std::int64_t count, DType dtype, DeviceQueue& queue) override {
    static_cast<cuda::StreamQueue&>(queue).stream()->enqueue(
        [=, meeting = meeting_, rank = rank_] { meeting->sum(rank, to, from, count, dtype); });
  }
  void abort() override { meeting_->abort(); }

 private:
  std::shared_ptr<Meeting> meeting_;
  int rank_;
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> make_emulated_communicators(int ranks) {
  const auto meeting = std::make_shared<Meeting>(ranks);
  std::vector<std::shared_ptr<Communicator>> communicators;
  for (int rank = 0; rank < ranks; ++rank)
    communicators.push_back(std::make_shared<EmulatedCommunicator>(meeting, rank));
  return communicators;
}

}  // namespace jari::test
