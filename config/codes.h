// The stable numbers of everything that can be wrong with a configuration file.
//
// 10xx: the text; 11xx: one value; 12xx: values that do not fit together; 13xx: loops; 20xx:
// warnings. A number is never given a second meaning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::config {

enum class Code : std::uint16_t {
  cannot_read = 1000,
  bad_syntax = 1001,
  unknown_key = 1002,
  wrong_shape = 1003,
  defined_twice = 1004,
  several_documents = 1005,
  unclosed_quote = 1006,
  tab_indentation = 1007,
  bad_character = 1008,
  anchor_or_alias = 1009,
  explicit_tag = 1010,
  leading_zero = 1011,
  merge_key = 1012,
  file_too_large = 1013,
  nested_too_deep = 1014,
  too_many_values = 1015,
  missing_key = 1016,
  empty_value = 1017,
  empty_file = 1018,
  unknown_version = 1019,
  more_errors = 1020,
  line_too_long = 1021,

  not_a_boolean = 1101,
  not_a_number = 1102,
  not_an_address = 1103,
  out_of_range = 1104,
  unknown_word = 1105,
  not_a_prefix = 1106,
  ipv6_underlay = 1107,
  bad_name = 1108,
  name_too_long = 1109,
  unusable_remote = 1110,
  unusable_local = 1111,
  unusable_prefix = 1112,
  not_of_this_kind = 1113,
  not_a_default = 1114,
  not_a_key = 1115,
  host_bits = 1116,

  too_many = 1201,
  interface_taken = 1202,
  same_identity = 1203,
  local_is_remote = 1204,
  overridden_twice = 1205,
  ignore_df_with_pmtudisc = 1206,
  mtu_out_of_range = 1207,
  mtu_below_ipv6 = 1208,
  family_not_carried = 1209,
  address_twice = 1210,
  route_twice = 1211,
  unknown_tunnel = 1212,

  route_loop = 1301,
  mutual_loop = 1302,

  network_as_address = 2001,
  address_shared = 2002,
  strict_csum_idle = 2003,
  tos_ecn_bits = 2004,
};

// "RW1002".
[[nodiscard]] std::string code_text(Code code);

// Every code there is, in order.
[[nodiscard]] std::vector<Code> all_codes();

}  // namespace ringway::config
