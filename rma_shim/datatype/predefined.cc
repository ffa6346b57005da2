#include "rma_shim/datatype/predefined.h"

#include <cstddef>
#include <unordered_map>

#include "membuf/check.h"
#include "membuf/element.h"

namespace brigade {
namespace rma {
namespace {

int64_t SizeOf(MPI_Datatype type) {
  int size = 0;
  if (type == MPI_DATATYPE_NULL) return size;
  MPI_Type_size(type, &size);
  return size;
}

// Returns the one of these elements that is as long as the type, else kByte.
Element OfSize(MPI_Datatype type, Element first, Element last) {
  for (int e = static_cast<int>(first); e <= static_cast<int>(last); ++e) {
    const auto element = static_cast<Element>(e);
    if (static_cast<int64_t>(ElementBytes(element)) == SizeOf(type)) return element;
  }
  return Element::kByte;
}

using Elements = std::unordered_map<MPI_Datatype, Element>;

// Fortran's may be missing in an MPI, and are MPI_DATATYPE_NULL then. Characters and bytes are no
// numbers in the standard, but in both families of MPIs.
Elements MakeElements() {
  Elements elements;
  for (const MPI_Datatype type :
       {MPI_CHAR, MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T,
        MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER,
        MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}) {
    elements[type] = OfSize(type, Element::kInt8, Element::kInt64);
  }
  for (const MPI_Datatype type : {MPI_BYTE, MPI_CHARACTER, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,
                                  MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                                  MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}) {
    elements[type] = OfSize(type, Element::kUint8, Element::kUint64);
  }
  for (const MPI_Datatype type :
       {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) {
    elements[type] = OfSize(type, Element::kFloat, Element::kDouble);
  }
  for (const MPI_Datatype type :
       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
        MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16}) {
    elements[type] = OfSize(type, Element::kComplexFloat, Element::kComplexDouble);
  }
  elements[MPI_LONG_DOUBLE] = Element::kLongDouble;
  elements[MPI_C_LONG_DOUBLE_COMPLEX] = Element::kComplexLongDouble;
  elements[MPI_CXX_LONG_DOUBLE_COMPLEX] = Element::kComplexLongDouble;
  elements[MPI_C_BOOL] = Element::kBool;
  elements[MPI_CXX_BOOL] = Element::kBool;
  elements[MPI_LOGICAL] = Element::kLogical32;
  elements[MPI_2REAL] = Element::kFloatAndFloat;
  elements[MPI_2DOUBLE_PRECISION] = Element::kDoubleAndDouble;
  elements[MPI_2INTEGER] = Element::kIntAndInt;
  elements[MPI_2INT] = Element::kIntAndInt;
  elements.erase(MPI_DATATYPE_NULL);
  return elements;
}

// C's pair of a value and where it was found, with the gap that the compiler leaves.
template <typename Value>
TypedLayout Pair(Element pair, Element value) {
  struct InC {
    Value value;
    int location;
  };
  const TypedLayout first = TypedLayout::Run(value, 1);
  const TypedLayout second = TypedLayout::Run(Element::kInt32, 1);
  TypedLayout both;
  BRIGADE_CHECK(TypedLayout::List({{0, &first}, {offsetof(InC, location), &second}}, &both).ok());
  return both.WithElement(pair);
}

}  // namespace

TypedLayout PredefinedLayout(MPI_Datatype type) {
  if (type == MPI_FLOAT_INT) return Pair<float>(Element::kFloatAndInt, Element::kFloat);
  if (type == MPI_DOUBLE_INT) return Pair<double>(Element::kDoubleAndInt, Element::kDouble);
  if (type == MPI_LONG_INT) return Pair<long>(Element::kLongAndInt, Element::kInt64);
  if (type == MPI_SHORT_INT) return Pair<short>(Element::kShortAndInt, Element::kInt16);
  if (type == MPI_LONG_DOUBLE_INT) {
    return Pair<long double>(Element::kLongDoubleAndInt, Element::kLongDouble);
  }
  static const Elements* const elements = new Elements(MakeElements());
  const auto known = elements->find(type);
  const Element element = known == elements->end() ? Element::kByte : known->second;
  const auto bytes = static_cast<int64_t>(ElementBytes(element));
  if (SizeOf(type) != bytes) return TypedLayout::Run(Element::kByte, SizeOf(type));
  return TypedLayout::Run(element, 1);
}

bool FindAccumulateOp(MPI_Op op, CombineOp* found) {
  static const struct {
    MPI_Op op;
    CombineOp found;
  } kOps[] = {
      {MPI_SUM, CombineOp::kSum},
      {MPI_REPLACE, CombineOp::kReplace},
      {MPI_NO_OP, CombineOp::kNoOp},
      {MPI_PROD, CombineOp::kProduct},
      {MPI_MAX, CombineOp::kMax},
      {MPI_MIN, CombineOp::kMin},
      {MPI_LAND, CombineOp::kLogicalAnd},
      {MPI_LOR, CombineOp::kLogicalOr},
      {MPI_LXOR, CombineOp::kLogicalXor},
      {MPI_BAND, CombineOp::kBitAnd},
      {MPI_BOR, CombineOp::kBitOr},
      {MPI_BXOR, CombineOp::kBitXor},
      {MPI_MAXLOC, CombineOp::kMaxLocation},
      {MPI_MINLOC, CombineOp::kMinLocation},
  };
  for (const auto& known : kOps) {
    if (known.op != op) continue;
    *found = known.found;
    return true;
  }
  return false;
}

}  // namespace rma
}  // namespace brigade
