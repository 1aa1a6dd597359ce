// The table of claims: linear probing over a power of two, at most half full.
#include "router/path/demux.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "netio/packet/packet.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

namespace {

bool same(const DemuxClaim& a, const DemuxClaim& b) noexcept {
  return a.remote == b.remote && a.local == b.local && a.protocol == b.protocol && a.key == b.key;
}

// Multiplicative hashing over the whole claim. Addresses are configured, not chosen by an attacker,
// and the table is never more than half full.
std::size_t hash(const DemuxClaim& claim) noexcept {
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  std::uint64_t value = std::uint64_t{claim.remote.to_u32()} << 32 | claim.local.to_u32();
  value *= kMultiplier;
  value ^= std::uint64_t{claim.key.value_or(0)} << 16 |
           std::uint64_t{static_cast<std::uint8_t>(claim.protocol)} << 1 |
           (claim.key.has_value() ? 1U : 0U);
  value *= kMultiplier;
  return static_cast<std::size_t>(value >> 32);
}

}  // namespace

// The slot of an equal claim, or the free slot where it would stand.
std::size_t Demux::find(const DemuxClaim& claim) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(claim) & mask;
  while (table_[at].used && !same(table_[at].claim, claim)) {
    at = (at + 1) & mask;
  }
  return at;
}

void Demux::add(const DemuxClaim& claim, netio::TunnelId tunnel) {
  if ((used_ + 1) * 2 > table_.size()) {
    grow();
  }
  Entry& entry = table_[find(claim)];
  if (!entry.used) {
    ++used_;
  }
  entry = {.claim = claim, .tunnel = tunnel, .used = true};
  any_local_ = any_local_ || claim.local.is_unspecified();
  any_remote_ = any_remote_ || claim.remote.is_unspecified();
}

void Demux::grow() {
  const std::vector<Entry> old = std::exchange(table_, std::vector<Entry>(table_.size() * 2));
  for (const Entry& entry : old) {
    if (entry.used) {
      table_[find(entry.claim)] = entry;
    }
  }
}

netio::TunnelId Demux::lookup(const OuterFlow& flow) const noexcept {
  DemuxClaim claim{
      .protocol = flow.protocol, .local = flow.destination, .remote = flow.source, .key = flow.key};
  const Entry* entry = &table_[find(claim)];
  if (!entry->used && any_local_) {
    claim.local = {};
    entry = &table_[find(claim)];
  }
  if (!entry->used && any_remote_) {
    claim.local = flow.destination;
    claim.remote = {};
    entry = &table_[find(claim)];
  }
  if (!entry->used && any_local_ && any_remote_) {
    claim.local = {};
    entry = &table_[find(claim)];
  }
  return entry->tunnel;
}

}  // namespace ringway::router
