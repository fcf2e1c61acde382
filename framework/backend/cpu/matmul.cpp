// Matrix products. A product is cut into tiles that its sizes fix: along the longer side of the result, or, where the
// contraction is much longer than both, along it into slabs whose partial results are added in order. Large f32 tiles
// are oneDNN's, each on one thread; small ones, and f64, are our own.

#include "framework/ops/matmul.hpp"

#include <omp.h>

#include <fmt/format.h>

#include <dnnl.hpp>
#include <fstream>
#include <optional>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/large_matmul.hpp"
#include "framework/backend/cpu/products.hpp"
#include "framework/backend/cpu/scratch.hpp"
#include "framework/backend/cpu/small_product.hpp"

namespace jari {

namespace {

using namespace cpu;

// Element (i, j) at data[i * row + j * column].
struct Layout {
  std::int64_t row, column;
  std::int64_t offset(std::int64_t i, std::int64_t j) const { return i * row + j * column; }
};

Layout layout_of(std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? Layout{1, rows} : Layout{columns, 1};
}

// [m, k] x [k, n] with the operands' layouts; the result's rows are `c_row` elements apart.
struct Product {
  std::int64_t m, n, k;
  Layout a, b;
  std::int64_t c_row;
};

// A product of oneDNN, made once and then run by any thread.
class LibraryProduct {
 public:
  explicit LibraryProduct(const Product& product) {
    use_one_thread();
    using dnnl::memory;
    const auto describe = [](std::int64_t rows, std::int64_t columns, Layout layout) {
      return memory::desc({rows, columns}, memory::data_type::f32, memory::dims{layout.row, layout.column});
    };
    a_ = describe(product.m, product.k, product.a);
    b_ = describe(product.k, product.n, product.b);
    c_ = describe(product.m, product.n, {product.c_row, 1});
    // Debian's oneDNN is built so that threads which run one primitive at a time share the scratchpad that it makes for
    // itself, and on CPUs with AVX-512 products use it. So each thread brings its own.
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc plan(dnnl::matmul::desc(a_, b_, c_), attributes, engine());
    scratchpad_ = plan.scratchpad_desc();
    primitive_ = dnnl::matmul(plan);
  }

  void run(const float* a, const float* b, float* c) const {
    use_one_thread();
    thread_local dnnl::stream stream(engine());
    const auto memory = [](const dnnl::memory::desc& description, const float* data) {
      return dnnl::memory(description, engine(), const_cast<float*>(data));  // the interface has no const
    };
    primitive_.execute(
        stream, {{DNNL_ARG_SRC, memory(a_, a)},
                 {DNNL_ARG_WEIGHTS, memory(b_, b)},
                 {DNNL_ARG_DST, memory(c_, c)},
                 {DNNL_ARG_SCRATCHPAD, dnnl::memory(scratchpad_, engine(), thread_scratch(scratchpad_.get_size()))}});
  }

 private:
  static const dnnl::engine& engine() {
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
  }
  // oneDNN cuts work by OpenMP's number of threads, a setting of the calling thread.
  static void use_one_thread() {
    thread_local const bool done = (omp_set_num_threads(1), true);
    static_cast<void>(done);
  }

  dnnl::memory::desc a_, b_, c_, scratchpad_;
  dnnl::matmul primitive_;
};

// Multiply-adds from which the library's packing pays.
constexpr std::int64_t kLibraryFrom = 48 * 48 * 48;

template <class T>
void multiply_tile(const Product& product, const T* a, const T* b, T* c) {
  const auto& [m, n, k, left, right, c_row] = product;
  if (right.column == 1) {
    multiply<T>({a, left.row, left.column}, b, right.row, c, c_row, m, n, k);
  } else if (left.column == 1) {
    multiply_transposed(a, left.row, b, right.column, c, c_row, m, n, k);
  } else {  // both transposed: no gradient or component needs it to be fast
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (std::int64_t p = 0; p < k; ++p) sum += a[left.offset(i, p)] * b[right.offset(p, j)];
        c[i * c_row + j] = sum;
      }
    }
  }
}

template <class T>
class TileProduct {
 public:
  explicit TileProduct(const Product& product) : product_(product) {}
  void run(const T* a, const T* b, T* c) const { multiply_tile(product_, a, b, c); }

 private:
  Product product_;
};

template <>
class TileProduct<float> {
 public:
  explicit TileProduct(const Product& product) : product_(product) {
    if (product.m * product.n * product.k >= kLibraryFrom) library_.emplace(product);
  }
  void run(const float* a, const float* b, float* c) const {
    if (library_) {
      library_->run(a, b, c);
    } else {
      multiply_tile(product_, a, b, c);
    }
  }

 private:
  Product product_;
  std::optional<LibraryProduct> library_;
};

// Where each product of a batch finds its operand, in elements: leading axes of size 1 repeat.
std::vector<std::int64_t> batch_offsets(const Shape& operand, const Shape& batch) {
  const std::int64_t matrix = operand.last(2).size();
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(batch.size()));
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    std::int64_t rest = i, offset = 0, step = matrix;
    for (int axis = 1; axis <= batch.rank(); ++axis) {  // from the last leading axis on
      const std::int64_t index = rest % batch[-axis];
      rest /= batch[-axis];
      if (axis + 2 > operand.rank()) continue;
      const std::int64_t size = operand[-axis - 2];
      if (size > 1) offset += index * step;
      step *= size;
    }
    offsets[static_cast<std::size_t>(i)] = offset;
  }
  return offsets;
}

constexpr std::int64_t kTileOperations = 4'000'000;  // multiply-adds that are worth handing to another core
constexpr std::int64_t kSlab = 1024;

template <class T>
class MatmulKernel final : public Kernel {
 public:
  explicit MatmulKernel(const KernelRequest& request) {
    const auto& attributes = request.attributes.as<MatmulAttributes>();
    const Shape &left = request.inputs[0].shape, &right = request.inputs[1].shape;
    MatmulSizes sizes = matmul_sizes(request.inputs[0], request.inputs[1], attributes);
    if (right.rank() == 2 && !attributes.transpose_left) {  // rows of all the batch share the right operand
      sizes.m *= sizes.batch.size();
      sizes.batch = {};
      left_offsets_ = right_offsets_ = {0};
    } else {
      left_offsets_ = batch_offsets(left, sizes.batch);
      right_offsets_ = batch_offsets(right, sizes.batch);
    }
    whole_ = {sizes.m,
              sizes.n,
              sizes.k,
              layout_of(sizes.m, sizes.k, attributes.transpose_left),
              layout_of(sizes.k, sizes.n, attributes.transpose_right),
              sizes.n};
    cut();
    if (whole_.m * whole_.n > 0) make_tiles();
  }

  std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(batch() * (slabs() - 1) * whole_.m * whole_.n) * sizeof(T);
  }

  void run(const KernelArguments& arguments) const override {
    const std::int64_t tiles = static_cast<std::int64_t>(tiles_.size()), size = whole_.m * whole_.n;
    const T *left = arguments.input<T>(0), *right = arguments.input<T>(1);
    T *out = arguments.output<T>(0), *partials = static_cast<T*>(arguments.workspace);
    for_blocks(*arguments.workers, batch() * tiles, tiles_each_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t product = i / tiles;
        const Tile& tile = tiles_[static_cast<std::size_t>(i % tiles)];
        T* to = tile.slab == 0 ? out + product * size : partials + (product * (slabs() - 1) + tile.slab - 1) * size;
        const auto at = static_cast<std::size_t>(product);
        products_[tile.product].run(left + left_offsets_[at] + tile.a, right + right_offsets_[at] + tile.b,
                                    to + tile.c);
      }
    });
    if (slabs() > 1) add_slabs(*arguments.workers, out, partials);
  }

 private:
  struct Tile {
    std::size_t product;   // which of products_: all tiles but the last have one size
    std::int64_t a, b, c;  // offsets in elements
    std::int64_t slab;     // slab 0 goes to the output, the others to the workspace
  };

  std::int64_t batch() const { return static_cast<std::int64_t>(left_offsets_.size()); }
  std::int64_t slabs() const { return std::max<std::int64_t>(1, blocks_of(whole_.k, tile_.k)); }

  // The size of a tile: one of the three sizes is cut.
  void cut() {
    const auto& [m, n, k, a, b, c_row] = whole_;
    tile_ = whole_;
    const auto most = [](std::int64_t other) {
      return std::max<std::int64_t>(32, kTileOperations / std::max<std::int64_t>(1, other) / 16 * 16);
    };
    if (k >= 2 * kSlab && k >= 4 * std::max(m, n)) {
      tile_.k = kSlab;
    } else if (m >= n) {
      tile_.m = std::min(m, most(n * k));
    } else {
      tile_.n = std::min(n, most(m * k));
    }
    const std::int64_t operations = std::max<std::int64_t>(1, tile_.m * tile_.n * tile_.k);
    tiles_each_ = std::max<std::int64_t>(1, kTileOperations / 2 / operations);
    tile_.k = std::max<std::int64_t>(1, tile_.k);
  }

  void make_tiles() {
    Product last = tile_;
    for (std::int64_t k = 0; k < std::max<std::int64_t>(1, whole_.k); k += tile_.k) {
      for (std::int64_t m = 0; m < whole_.m; m += tile_.m) {
        for (std::int64_t n = 0; n < whole_.n; n += tile_.n) {
          Product tile = tile_;
          tile.m = std::min(tile_.m, whole_.m - m);
          tile.n = std::min(tile_.n, whole_.n - n);
          tile.k = std::min(tile_.k, whole_.k - k);
          const bool is_new = products_.empty() || tile.m != last.m || tile.n != last.n || tile.k != last.k;
          if (is_new) products_.emplace_back(tile);
          last = tile;
          tiles_.push_back(
              {products_.size() - 1, whole_.a.offset(m, k), whole_.b.offset(k, n), m * whole_.c_row + n, k / tile_.k});
        }
      }
    }
  }

  void add_slabs(const Workers& workers, T* out, const T* partials) const {
    const std::int64_t size = whole_.m * whole_.n;
    for (std::int64_t product = 0; product < batch(); ++product) {
      T* to = out + product * size;
      const T* from = partials + product * (slabs() - 1) * size;
      for_blocks(workers, size, kBlock, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t slab = 0; slab + 1 < slabs(); ++slab) {
          const T* partial = from + slab * size;
#pragma omp simd
          for (std::int64_t i = begin; i < end; ++i) to[i] += partial[i];
        }
      });
    }
  }

  Product whole_{}, tile_{};
  std::int64_t tiles_each_ = 1;  // by block of work
  std::vector<std::int64_t> left_offsets_, right_offsets_;
  std::vector<TileProduct<T>> products_;
  std::vector<Tile> tiles_;
};

}  // namespace

namespace {

std::unique_ptr<Kernel> make_product(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype,
                  [&]<class T>() -> std::unique_ptr<Kernel> { return std::make_unique<MatmulKernel<T>>(request); });
}

// A product, and then what is added to it.
std::unique_ptr<Kernel> make_sum(const KernelRequest& request) {
  const auto& attributes = request.attributes.as<MatmulAttributes>();
  KernelRequest alone = request;
  alone.inputs.resize(2);
  alone.attributes = MatmulAttributes{attributes.transpose_left, attributes.transpose_right};
  std::shared_ptr<const Kernel> product = make_cpu_matmul(alone);
  const std::size_t workspace = product->workspace_bytes();
  const std::int64_t size = request.outputs[0].shape.size(), n = request.outputs[0].shape[-1];
  const std::int64_t rows = n == 0 ? 0 : size / n;
  const bool biased = attributes.biased, added = attributes.added;
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel(
        [=](const KernelArguments& arguments) {
          product->run(arguments);
          for_row_blocks(*arguments.workers, rows, n, [&](std::int64_t begin, std::int64_t end) {
            const T* const addend = added ? arguments.input<T>(biased ? 3 : 2) + begin * n : nullptr;
            add_to_rows(arguments.output<T>(0) + begin * n, end - begin, n, biased ? arguments.input<T>(2) : nullptr,
                        addend);
          });
        },
        workspace);
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_matmul(const KernelRequest& request) {
  if (std::unique_ptr<Kernel> large = make_large_matmul(request)) return large;
  return request.inputs.size() > 2 ? make_sum(request) : make_product(request);
}

std::string cpu_description() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown CPU";
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    model = line.substr(colon + 2);
    break;
  }
#ifdef __AVX512F__
  const char* compiled_for = "AVX-512";
#elif defined(__AVX2__)
  const char* compiled_for = "AVX2";
#else
  const char* compiled_for = "the basic instructions";
#endif
  return fmt::format("{}, compiled for {}", model, compiled_for);
}

std::string cpu_backend_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace jari
