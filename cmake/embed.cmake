# Writes C++ that holds the prompts: cmake -DOUT=FILE.cpp -DFOLDER=src/agent/prompts -P embed.cmake
# A text's key is the name of its file without the ending.
file(GLOB FILES ${FOLDER}/*.md)
set(code "#include \"agent/embedded.h\"\n\nnamespace asmevo::agent {\n\nstd::span<const EmbeddedText> embedded_texts() {\n  static constexpr EmbeddedText texts[] = {\n")
foreach(file IN LISTS FILES)
  get_filename_component(key ${file} NAME_WE)
  file(READ "${file}" text)
  string(APPEND code "      {\"${key}\", R\"embedded(${text})embedded\"},\n")
endforeach()
string(APPEND code "  };\n  return texts;\n}\n\n} // namespace asmevo::agent\n")
file(WRITE ${OUT} "${code}")
