#pragma once
// The one hierarchy of errors. A message says where, what was expected, what was found, what to do.
// Exceptions end the current command; an expected absence is a std::optional.

#include <stdexcept>
#include <string>
#include <utility>

#include "framework/base/source_span.hpp"

namespace jari {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A mistake in a spec or on the command line. `what()` is the whole rendered text of all diagnostics.
class SpecError : public Error {
 public:
  using Error::Error;
};

// Operands of an op do not fit together. `what()` is the whole text; the parts are there for diagnostics.
class ShapeError : public Error {
 public:
  explicit ShapeError(const std::string& message) : Error(message), message_(message) {}
  ShapeError(const std::string& text, std::string message, std::string path, SourceSpan span)
      : Error(text), message_(std::move(message)), path_(std::move(path)), span_(std::move(span)) {}

  const std::string& message() const { return message_; }  // without place
  const std::string& path() const { return path_; }        // of the node: "model/attention/scores", or ""
  const SourceSpan& span() const { return span_; }         // the spec line that made the node, if there is one

 private:
  std::string message_, path_;
  SourceSpan span_;
};

// A device is missing, or failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// A file could not be read or written, or holds something else than it should.
class StoreError : public Error {
 public:
  using Error::Error;
};

// A loadable module was refused.
class PluginError : public Error {
 public:
  using Error::Error;
};

// A broken promise inside jari itself: never the answer to a user's mistake.
[[noreturn]] void fail_assertion(const char* condition, const char* file, int line, const std::string& message);

}  // namespace jari

#define JARI_ASSERT(condition, message)                                                \
  do {                                                                                 \
    if (!(condition)) ::jari::fail_assertion(#condition, __FILE__, __LINE__, message); \
  } while (false)
