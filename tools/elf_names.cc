#include "tools/elf_names.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace brigade {
namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);
using Dynamic = ElfW(Dyn);

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

// A file in memory. Its offsets are not trusted.
class Image {
 public:
  explicit Image(const std::string& path) {
    // Does not wait for the writer of a FIFO.
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) {
      error_ = errno;
    } else if (S_ISDIR(status.st_mode)) {
      error_ = EISDIR;
    } else if (status.st_size > 0) {
      bytes_ = static_cast<size_t>(status.st_size);
      memory_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      if (memory_ == MAP_FAILED) error_ = errno;
    }
    if (file >= 0) close(file);
  }
  ~Image() {
    if (memory_ != MAP_FAILED) munmap(memory_, bytes_);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  int error() const { return error_; }

  // `count` values of a type from `offset` on; null if the file ends before.
  template <typename T>
  const T* At(uint64_t offset, uint64_t count) const {
    if (memory_ == MAP_FAILED || offset > bytes_ || offset % alignof(T) != 0 ||
        count > (bytes_ - offset) / sizeof(T)) {
      return nullptr;
    }
    return reinterpret_cast<const T*>(static_cast<const char*>(memory_) + offset);
  }
  std::string_view Text(const Section& strings, uint64_t offset) const {
    const char* const all = At<char>(strings.sh_offset, strings.sh_size);
    if (all == nullptr || offset >= strings.sh_size) return "";
    return std::string_view(all + offset, strnlen(all + offset, strings.sh_size - offset));
  }

 private:
  int error_ = 0;
  size_t bytes_ = 0;
  void* memory_ = MAP_FAILED;
};

bool IsOfThisMachine(const Image& image) {
  const auto* const header = image.At<Header>(0, 1);
  const auto* const here = reinterpret_cast<const Header*>(getauxval(AT_SYSINFO_EHDR));
  return header != nullptr && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_ident[EI_CLASS] == kClass &&
         (here == nullptr || header->e_machine == here->e_machine);
}

void AddDefined(const Image& image, const Section& symbols, const Section& strings,
                const std::set<std::string>& wanted, std::set<std::string>* found) {
  const uint64_t count = symbols.sh_size / sizeof(Symbol);
  const auto* const all = image.At<Symbol>(symbols.sh_offset, count);
  for (uint64_t i = 0; all != nullptr && i < count; ++i) {
    const Symbol& symbol = all[i];
    const auto binding = ELF64_ST_BIND(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || (binding != STB_GLOBAL && binding != STB_WEAK)) continue;
    const std::string name(image.Text(strings, symbol.st_name));
    if (wanted.count(name) > 0) found->insert(name);
  }
}

void ReadDynamic(const Image& image, const Section& dynamic, ElfNames* found) {
  const uint64_t count = dynamic.sh_size / sizeof(Dynamic);
  const auto* const all = image.At<Dynamic>(dynamic.sh_offset, count);
  for (uint64_t i = 0; all != nullptr && i < count; ++i) {
    if (all[i].d_tag == DT_NEEDED) found->needs_libraries = true;
    if (all[i].d_tag == DT_FLAGS_1 && (all[i].d_un.d_val & DF_1_PIE) != 0) found->is_program = true;
  }
}

bool NamesLoader(const Image& image, const Header& header) {
  const auto* const segments = image.At<ElfW(Phdr)>(header.e_phoff, header.e_phnum);
  for (uint64_t i = 0; segments != nullptr && i < header.e_phnum; ++i) {
    if (segments[i].p_type == PT_INTERP) return true;
  }
  return false;
}

}  // namespace

Status ReadElfNames(const std::string& path, const std::set<std::string>& wanted, ElfNames* found) {
  const Image image(path);
  if (image.error() != 0) {
    return {StatusCode::kInvalidArgument, path + ": " + std::strerror(image.error())};
  }
  if (!IsOfThisMachine(image)) {
    return {StatusCode::kInvalidArgument,
            path +
                " is no program of this machine's kind (ELF); of a script, name the program "
                "that it starts"};
  }
  const auto& header = *image.At<Header>(0, 1);
  found->is_program = header.e_type == ET_EXEC || NamesLoader(image, header);
  const auto* const sections = image.At<Section>(header.e_shoff, header.e_shnum);
  for (uint64_t i = 0; sections != nullptr && i < header.e_shnum; ++i) {
    const Section& section = sections[i];
    if (section.sh_type == SHT_DYNAMIC) ReadDynamic(image, section, found);
    if (section.sh_link >= header.e_shnum) continue;
    const Section& strings = sections[section.sh_link];
    if (section.sh_type == SHT_DYNSYM)
      AddDefined(image, section, strings, wanted, &found->exported);
    if (section.sh_type == SHT_SYMTAB) AddDefined(image, section, strings, wanted, &found->defined);
  }
  found->defined.insert(found->exported.begin(), found->exported.end());
  return Status();
}

}  // namespace brigade
