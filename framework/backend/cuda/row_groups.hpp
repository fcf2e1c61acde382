#pragma once
// Which entries of a list of ids have the same id, as on the CPU (backend/cpu/row_slots.hpp): distinct ids, called
// slots, by their first appearance, and the entries of each in their order. An id below 0 belongs to none; one that is
// too large counts as the last.
//
// Whoever comes first among threads never shows: ids find each other in a hash table, where an id's place depends on
// chance but what is kept there (its first entry, how many there are) does not; and entries that threads have put into
// their group's stretch in any order are sorted there. All of it is work on integers, in six launches. Where the ids
// are shared by all trials it is done once.

#include "framework/backend/cuda/indexing.hpp"
#include "framework/backend/cuda/rows.hpp"

namespace jari::cuda {

inline constexpr unsigned kGroupThreads = 256;
inline constexpr int kSlotsOfBlock = kGroupThreads / kWarp;
inline constexpr int kTileEntries = kGroupThreads * 4;  // entries that a block numbers
inline constexpr int kSmallGroup = kWarp;               // entries that a warp sorts and adds up
inline constexpr int kBitWords = 2048;                  // of a set of entries, in shared memory
inline constexpr std::int32_t kLastEntry = 0x7fffffff;  // behind all others
inline constexpr std::int32_t kNoPlace = -1;

// Where a trial's groups are kept.
struct RowGroups {
  std::int64_t rows, entries, most, capacity, tiles;
  Operand<std::int64_t> tile_sums;  // by tile: its first appearances * 2^32 + their entries
  Operand<std::int32_t> memory;

  // By place of the hash table: an id, its first entry, how many it has, its slot.
  __device__ std::int32_t* keys() const { return memory.of_trial(); }
  __device__ std::int32_t* firsts() const { return keys() + capacity; }
  __device__ std::int32_t* counts() const { return firsts() + capacity; }
  __device__ std::int32_t* slots() const { return counts() + capacity; }
  // By entry: its place in the hash table.
  __device__ std::int32_t* places() const { return slots() + capacity; }
  // Entries by their group: as they came, and in order.
  __device__ std::int32_t* scattered() const { return places() + entries; }
  __device__ std::int32_t* sorted() const { return scattered() + entries; }
  // By slot: its id, and where its entries begin; starts()[used()] is where they all end.
  __device__ std::int32_t* ids() const { return sorted() + entries; }
  __device__ std::int32_t* starts() const { return ids() + most; }
  __device__ std::int32_t& used() const { return starts()[most + 1]; }
  __device__ std::int32_t size_of(std::int64_t slot) const {
    return slot < used() ? starts()[slot + 1] - starts()[slot] : 0;
  }

  std::int64_t numbers() const { return 4 * capacity + 3 * entries + 2 * most + 2; }
};

// Sizes, known from shapes.
class RowGrouping {
 public:
  // `entries` ids below `rows`.
  RowGrouping(std::int64_t rows, std::int64_t entries)
      : groups_{rows, entries, entries < rows ? entries : rows, 32, blocks_of(entries, kTileEntries), {}, {}} {
    if (groups_.tiles == 0) groups_.tiles = 1;
    while (groups_.capacity < 2 * groups_.most) groups_.capacity *= 2;
  }

  std::int64_t most() const { return groups_.most; }  // slots
  std::size_t bytes() const { return sums_bytes() + aligned(static_cast<std::size_t>(groups_.numbers()) * 4); }

  // Groups entries by `ids`, a struct with `__device__ std::int32_t operator()(std::int64_t entry) const`; `shared`:
  // which gives the same for all trials. They are kept in the part of the workspace from `offset` on, which has
  // `bytes_a_trial` a trial in all.
  template <class Ids>
  RowGroups group(const Call& call, const Ids& ids, bool shared, std::size_t offset, std::size_t bytes_a_trial) const;

 private:
  std::size_t sums_bytes() const { return aligned(static_cast<std::size_t>(groups_.tiles) * sizeof(std::int64_t)); }

  RowGroups groups_;
};

// Ids that lie one behind the other.
struct IdList {
  Operand<const std::int32_t> ids;
  __device__ std::int32_t operator()(std::int64_t entry) const { return ids.of_trial()[entry]; }
};

// Of the values of a block's threads before this one; `total` is that of all. `parts` as for reduce_block.
template <class T>
__device__ T sum_of_threads_before(T value, T* parts, T& total) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  T sum = value;  // with this thread, within the warp
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const T before = __shfl_up_sync(kWholeWarp, sum, static_cast<unsigned>(distance));
    if (lane >= distance) sum += before;
  }
  if (lane == kWarp - 1) parts[warp] = sum;
  __syncthreads();
  T before = 0;
  total = 0;
  for (int i = 0; i < static_cast<int>(blockDim.x) / kWarp; ++i) {
    if (i < warp) before += parts[i];
    total += parts[i];
  }
  __syncthreads();
  return before + sum - value;
}

namespace row_groups {

struct Clear {
  RowGroups groups;
  __device__ void operator()(std::int64_t place) const {
    groups.keys()[place] = -1;
    groups.firsts()[place] = kLastEntry;
    groups.counts()[place] = 0;
  }
};

// Finds the place of an entry's id, or takes a free one.
template <class Ids>
struct Claim {
  RowGroups groups;
  Ids ids;
  __device__ void operator()(std::int64_t entry) const {
    std::int32_t id = ids(entry);
    if (id < 0) {
      groups.places()[entry] = kNoPlace;
      return;
    }
    if (id >= groups.rows) id = static_cast<std::int32_t>(groups.rows - 1);
    const auto mask = static_cast<std::uint32_t>(groups.capacity - 1);
    std::uint32_t place = static_cast<std::uint32_t>(id) * 2654435761u;  // Knuth's multiplier
    for (place = (place ^ (place >> 15)) & mask;; place = (place + 1) & mask) {
      const std::int32_t there = atomicCAS(&groups.keys()[place], -1, id);
      if (there == -1 || there == id) break;
    }
    groups.places()[entry] = static_cast<std::int32_t>(place);
    atomicMin(&groups.firsts()[place], static_cast<std::int32_t>(entry));
    atomicAdd(&groups.counts()[place], 1);
  }
};

// Entry `entry`'s part of a tile's sum.
__device__ inline std::int64_t first_appearance(const RowGroups& groups, std::int64_t entry) {
  if (entry >= groups.entries) return 0;
  const std::int32_t place = groups.places()[entry];
  if (place == kNoPlace || groups.firsts()[place] != entry) return 0;
  return (std::int64_t{1} << 32) + groups.counts()[place];
}

// A block takes a tile.
template <class Groups>
__global__ void sum_tiles(Groups groups) {
  JARI_SHARED(std::int64_t, parts, 32);
  std::int64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += first_appearance(groups, static_cast<std::int64_t>(blockIdx.x) * kTileEntries + 4 * threadIdx.x + i);
  sum = reduce_block(sum, Sum(), parts);
  if (threadIdx.x == 0) groups.tile_sums.of_trial()[blockIdx.x] = sum;
}

// A block takes a tile: what the tiles before it have, and the entries before in it, give a first appearance its slot
// and the start of its group.
template <class Groups>
__global__ void number_slots(Groups groups) {
  JARI_SHARED(std::int64_t, parts, 32);
  std::int64_t before = 0, total = 0, own[4], sum = 0;
  for (std::int64_t tile = threadIdx.x; tile < blockIdx.x; tile += blockDim.x)
    before += groups.tile_sums.of_trial()[tile];
  before = reduce_block(before, Sum(), parts);
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kTileEntries + 4 * threadIdx.x;
  for (int i = 0; i < 4; ++i) sum += own[i] = first_appearance(groups, begin + i);
  std::int64_t at = before + sum_of_threads_before(sum, parts, total);
  for (int i = 0; i < 4; ++i) {
    if (own[i] != 0) {
      const std::int64_t slot = at >> 32;
      const std::int32_t place = groups.places()[begin + i];
      groups.slots()[place] = static_cast<std::int32_t>(slot);
      groups.ids()[slot] = groups.keys()[place];
      groups.starts()[slot] = static_cast<std::int32_t>(at & 0xffffffff);
    }
    at += own[i];
  }
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) {
    groups.used() = static_cast<std::int32_t>((before + total) >> 32);
    groups.starts()[groups.used()] = static_cast<std::int32_t>((before + total) & 0xffffffff);
  }
}

// Puts an entry into its group's stretch, which is filled from its end.
struct Scatter {
  RowGroups groups;
  __device__ void operator()(std::int64_t entry) const {
    const std::int32_t place = groups.places()[entry];
    if (place == kNoPlace) return;
    const std::int32_t left = atomicAdd(&groups.counts()[place], -1);
    groups.scattered()[groups.starts()[groups.slots()[place]] + left - 1] = static_cast<std::int32_t>(entry);
  }
};

// A block sorts `size` entries: a bit for each in shared memory, then the bits that are set in their order. Those bits
// stand for as many entries at a time as there is room for.
__device__ inline void sort_large_group(const std::int32_t* from, std::int32_t size, std::int32_t* to,
                                        std::int64_t entries, std::uint32_t* bits, std::int32_t* parts) {
  constexpr int kWords = kBitWords / kGroupThreads;  // of a thread
  constexpr std::int32_t kRange = kBitWords * 32;
  for (std::int64_t begin = 0; begin < entries; begin += kRange) {
    for (int i = static_cast<int>(threadIdx.x); i < kBitWords; i += kGroupThreads) bits[i] = 0;
    __syncthreads();
    for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < size; i += kGroupThreads) {
      const std::int64_t bit = from[i] - begin;
      if (bit >= 0 && bit < kRange) atomicAdd(&bits[bit / 32], 1u << (bit % 32));
    }
    __syncthreads();
    const std::uint32_t* const words = bits + threadIdx.x * kWords;
    std::int32_t count = 0, total = 0;
    for (int i = 0; i < kWords; ++i) count += __popc(words[i]);
    std::int32_t at = sum_of_threads_before(count, parts, total);
    for (int i = 0; i < kWords; ++i) {
      const std::int64_t first = begin + (static_cast<std::int64_t>(threadIdx.x) * kWords + i) * 32;
      for (std::uint32_t word = words[i]; word != 0; word &= word - 1)
        to[at++] = static_cast<std::int32_t>(first + __ffs(static_cast<int>(word)) - 1);
    }
    to += total;
    __syncthreads();
  }
}

// A warp sorts up to 32 entries: each goes to where as many are before it.
__device__ inline void sort_small_group(const std::int32_t* from, std::int32_t size, std::int32_t* to) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int32_t entry = lane < size ? from[lane] : kLastEntry;
  int before = 0;
  for (int other = 0; other < size; ++other) before += __shfl_sync(kWholeWarp, entry, other) < entry;
  if (lane < size) to[before] = entry;
}

// A block sorts eight groups: small ones by a warp each, then large ones by all its threads.
template <class Groups>
__global__ void sort_groups(Groups groups) {
  JARI_SHARED(std::uint32_t, bits, kBitWords);
  JARI_SHARED(std::int32_t, parts, 32);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSlotsOfBlock;
  const std::int64_t own = first + threadIdx.x / kWarp;
  const std::int32_t size = groups.size_of(own);
  if (size > 0 && size <= kSmallGroup) {
    const std::int32_t start = groups.starts()[own];
    sort_small_group(groups.scattered() + start, size, groups.sorted() + start);
  }
  for (std::int64_t slot = first; slot < first + kSlotsOfBlock; ++slot) {
    const std::int32_t large = groups.size_of(slot);
    if (large <= kSmallGroup) continue;
    const std::int32_t start = groups.starts()[slot];
    sort_large_group(groups.scattered() + start, large, groups.sorted() + start, groups.entries, bits, parts);
  }
}

// Call::launch for `trials` trials.
template <class... Parameters, class... Values>
void launch_trials(const Call& call, int trials, void (*kernel)(Parameters...), std::int64_t blocks, Values... values) {
  if (blocks == 0 || trials == 0) return;
  simt::launch(kernel, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(trials)), dim3(kGroupThreads), 0,
               call.stream(), values...);
}

template <class Function>
void launch_for_each(const Call& call, int trials, std::int64_t count, const Function& function) {
  launch_trials(call, trials, for_each_element<Function>, blocks_of(count, kGroupThreads), count, function);
}

}  // namespace row_groups

template <class Ids>
RowGroups RowGrouping::group(const Call& call, const Ids& ids, bool shared, std::size_t offset,
                             std::size_t bytes_a_trial) const {
  using namespace row_groups;
  RowGroups groups = groups_;
  groups.tile_sums = call.workspace<std::int64_t>(offset, bytes_a_trial);
  groups.memory = call.workspace<std::int32_t>(offset + sums_bytes(), bytes_a_trial);
  if (shared) groups.tile_sums.stride = groups.memory.stride = 0;
  const int trials = shared && call.trials() > 1 ? 1 : call.trials();
  launch_for_each(call, trials, groups.capacity, Clear{groups});
  launch_for_each(call, trials, groups.entries, Claim<Ids>{groups, ids});
  launch_trials(call, trials, sum_tiles<RowGroups>, groups.tiles, groups);
  launch_trials(call, trials, number_slots<RowGroups>, groups.tiles, groups);
  launch_for_each(call, trials, groups.entries, Scatter{groups});
  launch_trials(call, trials, sort_groups<RowGroups>, blocks_of(groups.most, kSlotsOfBlock), groups);
  return groups;
}

}  // namespace jari::cuda
