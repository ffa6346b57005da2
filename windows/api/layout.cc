// The layouts of the C interface.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "brigade/window.h"
#include "membuf/element.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "windows/api/layout_handle.h"
#include "windows/layout/typed_layout.h"

namespace {

using brigade::Element;
using brigade::Invalid;
using brigade::Status;
using brigade::TypedLayout;

Status InARow(int64_t count, const TypedLayout& of, TypedLayout* made) {
  return TypedLayout::Repeat(count, of.extent(), of, made);
}

// Makes a layout, as `make` fills it in.
template <typename Make>
brigade_status MakeLayout(brigade_layout** layout, const Make& make) {
  return brigade::Enter(nullptr, [&]() -> Status {
    if (layout == nullptr) return Invalid("layout: the place for the new one is a null pointer");
    *layout = nullptr;
    TypedLayout made;
    BRIGADE_RETURN_IF_ERROR(make(&made).WithContext("layout"));
    *layout = new brigade_layout{std::move(made)};
    return Status();
  });
}

Status CheckValues(const brigade_layout* of) {
  return of != nullptr ? Status() : Invalid("the layout of its values is a null pointer");
}

Status ListOf(int64_t count, const brigade_block* blocks, size_t block_bytes, TypedLayout* made) {
  if (count < 0) return Invalid("a negative count");
  if (count > 0 && blocks == nullptr) return Invalid("blocks is a null pointer");
  if (block_bytes != sizeof(brigade_block)) {
    return Invalid("block_bytes is " + std::to_string(block_bytes) +
                   ": pass sizeof(brigade_block), " + std::to_string(sizeof(brigade_block)));
  }
  std::vector<TypedLayout> rows(static_cast<size_t>(count));
  std::vector<TypedLayout::Part> parts;
  for (size_t b = 0; b < rows.size(); ++b) {
    const std::string name = "block " + std::to_string(b);
    const brigade_block& block = blocks[b];
    if (block.of == nullptr) return Invalid(name + ": the layout is a null pointer");
    BRIGADE_RETURN_IF_ERROR(InARow(block.count, block.of->layout, &rows[b]).WithContext(name));
    parts.push_back({block.offset, &rows[b]});
  }
  return TypedLayout::List(parts, made);
}

}  // namespace

namespace brigade {

Status ToElement(int type, Element* element) {
  static_assert(kElements == BRIGADE_DOUBLE_AND_DOUBLE + 1, "the numbers are those of C");
  BRIGADE_RETURN_IF_ERROR(Translate("type", type, kElements, element));
  if (*element != Element::kFloat16 && *element != Element::kBfloat16) return Status();
  return Invalid("type " + std::to_string(type) + " is not for windows");
}

}  // namespace brigade

const brigade_layout* brigade_layout_of(brigade_type type) {
  // Not destroyed: functions of atexit may still use windows.
  static const std::vector<brigade_layout>& all = *[] {
    auto* const made = new std::vector<brigade_layout>;
    for (int e = 0; e < brigade::kElements; ++e) {
      made->push_back({TypedLayout::Run(static_cast<Element>(e), 1)});
    }
    return made;
  }();
  Element element;
  return brigade::ToElement(type, &element).ok() ? &all[static_cast<size_t>(element)] : nullptr;
}

brigade_status brigade_layout_contiguous(int64_t count, const brigade_layout* of,
                                         brigade_layout** layout) {
  return MakeLayout(layout, [&](TypedLayout* made) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckValues(of));
    return InARow(count, of->layout, made);
  });
}

brigade_status brigade_layout_strided(int64_t count, int64_t block, int64_t stride,
                                      const brigade_layout* of, brigade_layout** layout) {
  return MakeLayout(layout, [&](TypedLayout* made) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckValues(of));
    TypedLayout row;
    BRIGADE_RETURN_IF_ERROR(InARow(block, of->layout, &row));
    return TypedLayout::Repeat(count, stride, row, made);
  });
}

brigade_status brigade_layout_list(int64_t count, const brigade_block* blocks, size_t block_bytes,
                                   brigade_layout** layout) {
  return MakeLayout(layout,
                    [&](TypedLayout* made) { return ListOf(count, blocks, block_bytes, made); });
}

brigade_status brigade_layout_resized(int64_t extent, const brigade_layout* of,
                                      brigade_layout** layout) {
  return MakeLayout(layout, [&](TypedLayout* made) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckValues(of));
    if (!TypedLayout::IsInRange(extent)) {
      return Invalid("an extent of " + std::to_string(extent) + " bytes");
    }
    *made = of->layout.Resized(extent);
    return Status();
  });
}

void brigade_layout_destroy(brigade_layout* layout) { delete layout; }
