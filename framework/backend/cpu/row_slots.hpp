#pragma once
// Numbers the distinct ids of a list by their first appearance.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace jari::cpu {

class RowSlots {
 public:
  // Bytes of a workspace for ids below `rows`, with `extra` numbers for the caller.
  static std::size_t bytes(std::int64_t rows, std::int64_t extra) {
    return static_cast<std::size_t>(rows + extra) * sizeof(std::int32_t);
  }

  // Distinct ids are written to `ids`, which has room for `most`.
  RowSlots(void* workspace, std::int64_t rows, std::int32_t* ids, std::int64_t most)
      : slots_(static_cast<std::int32_t*>(workspace)), rows_(rows), ids_(ids), most_(most) {
    std::fill_n(slots_, rows, -1);
  }

  std::int32_t* extra() const { return slots_ + rows_; }

  // The number of an id; -1 for one below 0. Ids that are too large count as the last.
  std::int32_t of(std::int32_t id) {
    if (id < 0) return -1;
    id = static_cast<std::int32_t>(std::min<std::int64_t>(id, rows_ - 1));
    std::int32_t& slot = slots_[id];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(used_);
      ids_[used_++] = id;
    }
    return slot;
  }

  std::int64_t used() const { return used_; }
  // The places that are left stand for no row.
  void finish() { std::fill(ids_ + used_, ids_ + most_, -1); }

 private:
  std::int32_t* slots_;
  std::int64_t rows_;
  std::int32_t* ids_;
  std::int64_t most_, used_ = 0;
};

}  // namespace jari::cpu
