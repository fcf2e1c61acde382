#include "framework/table/projection.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/table/similarity.hpp"

namespace jari {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr std::int64_t kBlock = 1024;

// Rows block by block, in f64: [up to kBlock, width].
Matrix block_of(const WordTable& table, std::span<const std::int64_t> rows, std::int64_t block) {
  const auto begin = static_cast<std::size_t>(block * kBlock);
  const std::size_t size = std::min(static_cast<std::size_t>(kBlock), rows.size() - begin);
  Matrix result(static_cast<Eigen::Index>(size), table.width());
  for (std::size_t i = 0; i < size; ++i) {
    result.row(static_cast<Eigen::Index>(i)) =
        Eigen::Map<const Eigen::RowVectorXf>(table.row(rows[begin + i]).data(), table.width()).cast<double>();
  }
  return result;
}

// One value a block, added in the order of the blocks: the same at any number of threads.
template <class Value, class Make>
Value sum_over_blocks(std::int64_t blocks, ThreadPool& pool, Value sum, const Make& make) {
  const auto at_once = static_cast<std::int64_t>(4 * pool.threads());
  for (std::int64_t first = 0; first < blocks; first += at_once) {
    const std::int64_t some = std::min(at_once, blocks - first);
    std::vector<Value> parts(static_cast<std::size_t>(some));
    pool.for_each(some, [&](std::int64_t i, int) { parts[static_cast<std::size_t>(i)] = make(first + i); });
    for (const Value& part : parts) sum += part;
  }
  return sum;
}

bool begins_word(std::string_view token) {
  return token.starts_with("\u2581") || token.starts_with("\u0120") || token.starts_with(' ');
}

std::vector<double> column(const Projection& projection, std::int64_t component) {
  std::vector<double> values;
  for (auto i = static_cast<std::size_t>(component); i < projection.coordinates.size();
       i += static_cast<std::size_t>(projection.components))
    values.push_back(projection.coordinates[i]);
  return values;
}

}  // namespace

Projection principal_components(const WordTable& table, std::span<const std::int64_t> rows, std::int64_t components,
                                ThreadPool& pool) {
  JARI_ASSERT(rows.size() >= 2, "one row has no variance");
  const std::int64_t width = table.width(), count = std::min(components, width);
  const auto total = static_cast<std::int64_t>(rows.size()), blocks = (total + kBlock - 1) / kBlock;
  const auto rows_of_block = [&](std::int64_t block) { return block_of(table, rows, block); };
  const Eigen::RowVectorXd mean = sum_over_blocks<Eigen::RowVectorXd>(
                                      blocks, pool, Eigen::RowVectorXd::Zero(width),
                                      [&](std::int64_t block) { return rows_of_block(block).colwise().sum().eval(); }) /
                                  static_cast<double>(total);
  const Matrix covariance = sum_over_blocks<Matrix>(blocks, pool, Matrix::Zero(width, width),
                                                    [&](std::int64_t block) {
                                                      const Matrix centered = rows_of_block(block).rowwise() - mean;
                                                      return Matrix(centered.transpose() * centered);
                                                    }) /
                            static_cast<double>(total - 1);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);

  Projection result;
  result.components = count;
  result.mean.assign(mean.data(), mean.data() + width);
  const double all = covariance.trace();
  Matrix directions(count, width);
  for (std::int64_t i = 0; i < count; ++i) {
    Eigen::VectorXd direction = solver.eigenvectors().col(width - 1 - i);
    Eigen::Index largest = 0;
    direction.cwiseAbs().maxCoeff(&largest);
    if (direction[largest] < 0) direction = -direction;
    directions.row(i) = direction.transpose();
    const double variance = std::max(0.0, solver.eigenvalues()[width - 1 - i]);
    result.variance.push_back(variance);
    result.variance_ratio.push_back(all > 0 ? variance / all : 0);
  }
  result.directions.assign(directions.data(), directions.data() + directions.size());
  result.coordinates.resize(rows.size() * static_cast<std::size_t>(count));
  pool.for_each(blocks, [&](std::int64_t block, int) {
    const Matrix centered = rows_of_block(block).rowwise() - mean;
    Eigen::Map<Matrix>(result.coordinates.data() + block * kBlock * count, centered.rows(), count).noalias() =
        centered * directions.transpose();
  });
  return result;
}

std::vector<double> coordinates_of(const Projection& projection, std::span<const float> row) {
  std::vector<double> coordinates(static_cast<std::size_t>(projection.components));
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    for (std::size_t k = 0; k < row.size(); ++k)
      coordinates[i] += (static_cast<double>(row[k]) - projection.mean[k]) * projection.directions[i * row.size() + k];
  return coordinates;
}

std::vector<AxisMeaning> meaning_of_axes(const WordTable& table, std::span<const std::int64_t> rows,
                                         const Projection& projection) {
  std::vector<double> frequency, start;
  for (const std::int64_t row : rows) {
    if (!table.counts().empty()) {
      const auto count = static_cast<double>(table.counts()[static_cast<std::size_t>(row)]);
      frequency.push_back(std::log(std::max(1.0, count)));
    }
    start.push_back(begins_word(table.word(row)) ? 1 : 0);
  }
  std::vector<AxisMeaning> meanings;
  for (std::int64_t i = 0; i < projection.components; ++i) {
    const std::vector<double> axis = column(projection, i);
    const double none = std::numeric_limits<double>::quiet_NaN();
    meanings.push_back({frequency.empty() ? none : pearson(axis, frequency), pearson(axis, start)});
  }
  return meanings;
}

}  // namespace jari
