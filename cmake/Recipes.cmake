# jari_embed_recipes(<folder> <source>): writes a C++ source that holds the texts of all specs below a folder, so that
# `jari new` needs no file beside the program.
function(jari_embed_recipes folder source)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.yaml)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
    file(READ ${folder}/${file} text)
    string(APPEND entries "      {\"${file}\", R\"recipe(${text})recipe\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#include \"tools/recipes.hpp\"

namespace jari {
const std::vector<RecipeFile>& recipe_files() {
  static const std::vector<RecipeFile> files{
@entries@  };
  return files;
}
}  // namespace jari
")
endfunction()
