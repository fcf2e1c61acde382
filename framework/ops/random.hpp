#pragma once
// Draws. Element i of a tensor takes word i % 4 of block i / 4 of the RandomStream {seed, stream, step}, as 24 bits, in
// f32 and f64 alike: a reference run in f64 drops the same elements.

#include "framework/base/philox.hpp"
#include "framework/graph/op.hpp"

namespace jari {

struct RandomUniformAttributes {
  std::uint64_t stream = 0;  // hash of the path
  Shape shape;
  DType dtype = DType::f32;

  template <class F>
  void fields(F& f) {
    f("stream", stream);
    f("shape", shape);
    f("dtype", dtype);
  }
};

struct RandomIdsAttributes {
  std::uint64_t stream = 0;
  Shape shape;
  std::int64_t count = 0;  // of ids
  std::int64_t first = 0;  // element of the stream that the first one is
  bool masked = false;     // whether an input says which are asked for

  template <class F>
  void fields(F& f) {
    f("stream", stream);
    f("shape", shape);
    f("count", count);
    f("first", first);
    f("masked", masked);
  }
};

// Which inputs random_ids has: seed, step, [asked,] [limits, others].
struct RandomIdsInputs {
  RandomIdsInputs(const RandomIdsAttributes& attributes, const std::vector<TensorType>& inputs) {
    if (attributes.masked) {
      asked = 2;
      const std::int64_t all = inputs[2].shape.size();
      each = all > 0 ? attributes.shape.size() / all : 1;
    }
    const int next = attributes.masked ? 3 : 2;
    if (static_cast<int>(inputs.size()) > next) {
      limits = next;
      others = next + 1;
    }
  }
  int asked = -1, limits = -1, others = -1;  // -1: it has none
  std::int64_t each = 1;                     // draws of one that is asked for
};

// Two draws of 32 random bits by an alias table of `count` ids -> an id.
JARI_HOST_DEVICE inline std::int32_t alias_id(std::uint32_t place, std::uint32_t height, const std::int32_t* limits,
                                              const std::int32_t* others, std::uint32_t count) {
  const std::uint32_t cell = uniform_below(place, count);
  return height < static_cast<std::uint32_t>(limits[cell]) ? static_cast<std::int32_t>(cell) : others[cell];
}

// Draw `element` of a stream.
JARI_HOST_DEVICE inline std::int32_t alias_draw(const RandomStream& random, std::uint64_t element,
                                                const std::int32_t* limits, const std::int32_t* others,
                                                std::uint32_t count) {
  const PhiloxBlock block = random.block(static_cast<std::uint32_t>(element / 2));
  const std::uint64_t word = element % 2 * 2;
  return alias_id(block.word[word], block.word[word + 1], limits, others, count);
}

struct DropoutAttributes {
  std::uint64_t stream = 0;

  template <class F>
  void fields(F& f) {
    f("stream", stream);
  }
};

}  // namespace jari
