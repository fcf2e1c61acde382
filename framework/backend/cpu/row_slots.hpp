#pragma once
// Which entries of a list of ids have the same id: distinct ids by their first appearance, and the entries of each.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace jari::cpu {

class RowSlots {
 public:
  // Bytes of a workspace for `entries` ids below `rows`, of which at most `most` are distinct.
  static std::size_t bytes(std::int64_t rows, std::int64_t entries, std::int64_t most) {
    return static_cast<std::size_t>(rows + 2 * entries + most + 1) * sizeof(std::int32_t);
  }

  // Distinct ids are written to `ids`, which has room for `most`. Entries are added in their order.
  RowSlots(void* workspace, std::int64_t rows, std::int64_t entries, std::int32_t* ids, std::int64_t most)
      : rows_(rows),
        most_(most),
        ids_(ids),
        slot_of_id_(static_cast<std::int32_t*>(workspace)),
        slot_of_entry_(slot_of_id_ + rows),
        entries_(slot_of_entry_ + entries),
        starts_(entries_ + entries) {
    std::fill_n(slot_of_id_, rows, -1);
    std::fill_n(starts_, most + 1, 0);
  }

  // An id below 0 belongs to none; one that is too large counts as the last. What there is no room for is left out.
  void add(std::int32_t id) {
    std::int32_t& entry = slot_of_entry_[added_++];
    entry = -1;
    if (id < 0) return;
    id = static_cast<std::int32_t>(std::min<std::int64_t>(id, rows_ - 1));
    std::int32_t& slot = slot_of_id_[id];
    if (slot < 0 && used_ == most_) {
      overflowed_ = true;
      return;
    }
    if (slot < 0) {
      slot = static_cast<std::int32_t>(used_);
      ids_[used_++] = id;
    }
    entry = slot;
    ++starts_[slot];
  }

  // After all entries: groups them. Places of `ids` that are left stand for no row.
  void finish() {
    std::fill(ids_ + used_, ids_ + most_, -1);
    std::int32_t next = 0;
    for (std::int64_t slot = 0; slot <= used_ && slot <= most_; ++slot) {
      const std::int32_t count = starts_[slot];
      starts_[slot] = next;
      next += count;
    }
    for (std::int64_t i = 0; i < added_; ++i) {
      if (slot_of_entry_[i] >= 0) entries_[starts_[slot_of_entry_[i]]++] = static_cast<std::int32_t>(i);
    }
    // Each start has moved to its group's end, which is the next one's start.
    std::copy_backward(starts_, starts_ + used_, starts_ + used_ + 1);
    starts_[0] = 0;
  }

  std::int64_t used() const { return used_; }
  bool overflowed() const { return overflowed_; }
  // Of an entry; below 0: of none.
  std::int32_t slot_of(std::int64_t entry) const { return slot_of_entry_[entry]; }

  // Calls each(entry) for the entries of the distinct id `slot`, in their order.
  template <class Each>
  void for_entries(std::int64_t slot, const Each& each) const {
    for (std::int32_t i = starts_[slot]; i < starts_[slot + 1]; ++i) each(entries_[i]);
  }

 private:
  std::int64_t rows_, most_;
  std::int32_t *ids_, *slot_of_id_, *slot_of_entry_, *entries_, *starts_;
  std::int64_t used_ = 0, added_ = 0;
  bool overflowed_ = false;
};

}  // namespace jari::cpu
