# jari_embed_recipes(<folder> <source>): writes a C++ source that holds all specs below a folder, and the samples that they
# name (<folder>/samples), so that `jari new` needs no folder. Files come in as they are, by the assembler.
function(jari_embed_recipes folder source)
  file(GLOB_RECURSE specs CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.yaml)
  file(GLOB samples CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/samples/*)
  set(blocks "")
  set(declarations "")
  set(entries "")
  set(number 0)
  foreach(file ${specs} ${samples})
    set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${folder}/${file})
    string(APPEND blocks "    \"jari_recipe_${number}:\\n.incbin \\\"${folder}/${file}\\\"\\njari_recipe_${number}_end:\\n\"\n")
    string(APPEND declarations "extern \"C\" const char jari_recipe_${number}[], jari_recipe_${number}_end[];\n")
    string(APPEND entries "      {\"${file}\", {jari_recipe_${number}, jari_recipe_${number}_end}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#include \"tools/recipes.hpp\"

asm(\".pushsection .rodata\\n\"
@blocks@    \".popsection\\n\");

@declarations@
namespace jari {

const std::vector<RecipeFile>& recipe_files() {
  static const std::vector<RecipeFile> files = {
@entries@  };
  return files;
}

}  // namespace jari
")
endfunction()
