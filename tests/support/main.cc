// main() of every doctest program; the linker takes it from the library of test support.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
