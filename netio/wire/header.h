// header_at: the only way from bytes to a header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace ringway::wire {

using Bytes = std::span<std::uint8_t>;
using ConstBytes = std::span<const std::uint8_t>;

// A struct that may be laid over packet bytes: fields of byte alignment only, nothing to construct.
template <class H>
concept Header = std::is_trivially_copyable_v<H> && std::is_standard_layout_v<H> && alignof(H) == 1;

// The header of type H that starts `offset` bytes into `bytes`, or null if it is not wholly there.
// The pointer is valid as long as the bytes are.
template <Header H>
[[nodiscard]] const H* header_at(ConstBytes bytes, std::size_t offset = 0) noexcept {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(H)) {
    return nullptr;
  }
  // All members of H are built from uint8_t arrays, so no access goes through an incompatible type.
  return reinterpret_cast<const H*>(bytes.data() + offset);  // NOLINT: the one place for it
}

template <Header H>
[[nodiscard]] H* header_at(Bytes bytes, std::size_t offset = 0) noexcept {
  return const_cast<H*>(header_at<H>(ConstBytes{bytes}, offset));  // NOLINT: the bytes are mutable
}

// The bytes of a header, for checksums and copies.
template <Header H>
[[nodiscard]] ConstBytes bytes_of(const H& header) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(&header), sizeof(H)};  // NOLINT: and back
}

}  // namespace ringway::wire
