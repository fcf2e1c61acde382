// Loading word tables and searching them; bench/tables.py compares with gensim.
//
//   bench_tables load FILE             seconds to read the file
//   bench_tables search FILE QUERIES THREADS
//                                      nearest ten rows of the first QUERIES rows: row comparisons per second
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "framework/base/error.hpp"
#include "framework/table/nearest.hpp"
#include "framework/table/table_file.hpp"

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Not getrusage's, which begins with what the process that started this one held.
long peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6)) * 1024;
  return 0;
}

int measure(const std::string& what, const std::string& path, std::int64_t queries, int threads) {
  const auto begin = std::chrono::steady_clock::now();
  const jari::WordTable table = jari::read_table(path).table;
  const double load = seconds_since(begin);
  if (what == "load") {
    fmt::print("{{\"rows\": {}, \"width\": {}, \"seconds\": {}, \"peak_memory_bytes\": {}}}\n", table.size(),
               table.width(), load, peak_memory_bytes());
    return 0;
  }
  jari::ThreadPool pool(threads);
  const jari::NeighborSearch search(table, jari::Closeness::cosine, pool);
  const auto rows = static_cast<std::size_t>(std::min(queries, table.size()) * table.width());
  const auto start = std::chrono::steady_clock::now();
  const auto found = search.find(table.rows().values().first(rows), 10);
  const double seconds = seconds_since(start);
  const double comparisons = static_cast<double>(found.size()) * static_cast<double>(table.size());
  fmt::print("{{\"queries\": {}, \"seconds\": {}, \"comparisons_per_second\": {}}}\n", found.size(), seconds,
             comparisons / seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "bench_tables load FILE | bench_tables search FILE QUERIES THREADS\n");
    return 2;
  }
  try {
    return measure(argv[1], argv[2], argc > 3 ? std::atol(argv[3]) : 1000, argc > 4 ? std::atoi(argv[4]) : 1);
  } catch (const jari::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
