#pragma once
// Where a value came from: a stretch of one line of a spec file, an override, or a sweep axis.

#include <memory>
#include <string>
#include <vector>

namespace jari {

// A text that diagnostics can quote: a spec file, or an override from the command line.
struct SourceFile {
  std::string name;                // as the user named it, or "override #2"
  std::vector<std::string> lines;  // without line ends
};

struct SourceSpan {
  std::shared_ptr<const SourceFile> file;  // null: made by the program (a default)
  int line = 0;                            // from 1
  int column = 0;                          // from 1, in code points
  int length = 1;                          // code points under the caret
  std::string origin;                      // "" or how it got here, e.g. "from sweep axis 'model.heads'"

  explicit operator bool() const { return file != nullptr; }
  std::string location() const;  // "configs/a.yaml:3:5", or "(default)"
};

}  // namespace jari
