// Feeds the files of a corpus to a fuzz target, so that whatever was found once stays found.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{argv[i]}) {
      if (!entry.is_regular_file()) {
        continue;
      }
      std::ifstream in{entry.path(), std::ios::binary};
      const std::vector<char> text{std::istreambuf_iterator<char>{in}, {}};
      // An exact copy on the heap, so that a sanitizer sees the first byte read past the end.
      const std::vector<std::uint8_t> bytes{text.begin(), text.end()};
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++files;
    }
  }
  std::printf("replayed %zu inputs\n", files);
  return files == 0 ? 1 : 0;  // an empty corpus tests nothing
}
