#pragma once
// What the trainers tell the outside while they work. Called from several threads.

#include <cstdint>
#include <string>

namespace jari {

struct Trial;

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void already_done(const Trial& /*trial*/) {}  // in an earlier process
  virtual void started(const Trial& /*trial*/, std::int64_t /*from_step*/) {}
  virtual void stepped(const Trial& /*trial*/, std::int64_t /*step*/, double /*loss*/) {}
  virtual void ended(const Trial& /*trial*/, const std::string& /*status*/, const std::string& /*message*/) {}
  // Something that a person should know: a damaged checkpoint that was passed over.
  virtual void note(const Trial& /*trial*/, const std::string& /*message*/) {}
};

}  // namespace jari
