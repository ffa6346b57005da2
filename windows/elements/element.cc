#include "windows/elements/element.h"

namespace brigade {
namespace {

struct Row {
  size_t bytes;
  const char* name;
};

// In the order of Element.
constexpr Row kRows[] = {
    {1, "byte"},
    {1, "int8"},
    {2, "int16"},
    {4, "int32"},
    {8, "int64"},
    {1, "uint8"},
    {2, "uint16"},
    {4, "uint32"},
    {8, "uint64"},
    {sizeof(float), "float"},
    {sizeof(double), "double"},
    {sizeof(long double), "long double"},
    {2 * sizeof(float), "complex float"},
    {2 * sizeof(double), "complex double"},
    {2 * sizeof(long double), "complex long double"},
    {1, "bool"},
    {4, "logical"},
    {sizeof(float) + sizeof(int), "float and int"},
    {sizeof(double) + sizeof(int), "double and int"},
    {sizeof(long double) + sizeof(int), "long double and int"},
    {sizeof(long) + sizeof(int), "long and int"},
    {sizeof(short) + sizeof(int), "short and int"},
    {2 * sizeof(int), "int and int"},
    {2 * sizeof(float), "float and float"},
    {2 * sizeof(double), "double and double"},
    {0, "mixed"},
};
static_assert(sizeof(kRows) / sizeof(kRows[0]) == kElements + 1);

}  // namespace

size_t ElementBytes(Element element) { return kRows[static_cast<int>(element)].bytes; }
const char* ElementName(Element element) { return kRows[static_cast<int>(element)].name; }

}  // namespace brigade
