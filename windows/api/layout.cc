// The layouts of the C face.

#include <cstdint>
#include <string>
#include <vector>

#include "brigade/window.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "windows/api/layout_handle.h"
#include "windows/elements/element.h"
#include "windows/layout/typed_layout.h"

namespace {

using brigade::Invalid;
using brigade::Status;
using brigade::ToC;
using brigade::TypedLayout;

constexpr int64_t kMost = int64_t{1} << 62;

Status CheckPointers(const brigade_layout* of, brigade_layout* const* layout) {
  if (of == nullptr) return Invalid("layout: the layout of its values is a null pointer");
  if (layout == nullptr) return Invalid("layout: the place for the new one is a null pointer");
  return Status();
}

Status InARow(int64_t count, const TypedLayout& of, TypedLayout* made) {
  return TypedLayout::Repeat(count, of.extent(), of, made);
}

brigade_status Give(const Status& status, const TypedLayout& made, brigade_layout** layout) {
  if (!status.ok()) return ToC(status.WithContext("layout"));
  *layout = new brigade_layout{made};
  return BRIGADE_OK;
}

Status ListOf(int64_t count, const brigade_block* blocks, TypedLayout* made) {
  if (count < 0) return Invalid("a negative count");
  if (count > 0 && blocks == nullptr) return Invalid("blocks is a null pointer");
  std::vector<TypedLayout> rows(static_cast<size_t>(count));
  std::vector<TypedLayout::Part> parts;
  for (size_t b = 0; b < rows.size(); ++b) {
    const std::string block = "block " + std::to_string(b);
    if (blocks[b].of == nullptr) return Invalid(block + ": the layout is a null pointer");
    BRIGADE_RETURN_IF_ERROR(
        InARow(blocks[b].count, blocks[b].of->layout, &rows[b]).WithContext(block));
    parts.push_back({blocks[b].offset, &rows[b]});
  }
  return TypedLayout::List(parts, made);
}

}  // namespace

const brigade_layout* brigade_layout_of(brigade_element element) {
  static_assert(BRIGADE_ELEMENT_DOUBLE_AND_DOUBLE == brigade::kElements - 1);
  // Not destroyed: functions of atexit may still use windows.
  static const std::vector<brigade_layout>& all = *[] {
    auto* const made = new std::vector<brigade_layout>;
    for (int e = 0; e < brigade::kElements; ++e) {
      made->push_back({TypedLayout::Run(static_cast<brigade::Element>(e), 1)});
    }
    return made;
  }();
  const auto e = static_cast<size_t>(element);
  return e < all.size() ? &all[e] : nullptr;
}

brigade_status brigade_layout_contiguous(int64_t count, const brigade_layout* of,
                                         brigade_layout** layout) {
  const Status status = CheckPointers(of, layout);
  if (!status.ok()) return ToC(status);
  TypedLayout made;
  return Give(InARow(count, of->layout, &made), made, layout);
}

brigade_status brigade_layout_strided(int64_t count, int64_t block, int64_t stride,
                                      const brigade_layout* of, brigade_layout** layout) {
  Status status = CheckPointers(of, layout);
  if (!status.ok()) return ToC(status);
  TypedLayout row;
  TypedLayout made;
  status = InARow(block, of->layout, &row);
  if (status.ok()) status = TypedLayout::Repeat(count, stride, row, &made);
  return Give(status, made, layout);
}

brigade_status brigade_layout_list(int64_t count, const brigade_block* blocks,
                                   brigade_layout** layout) {
  if (layout == nullptr) {
    return ToC(Invalid("layout: the place for the new one is a null pointer"));
  }
  TypedLayout made;
  const Status status = ListOf(count, blocks, &made);
  return Give(status, made, layout);
}

brigade_status brigade_layout_resized(int64_t extent, const brigade_layout* of,
                                      brigade_layout** layout) {
  Status status = CheckPointers(of, layout);
  if (!status.ok()) return ToC(status);
  if (extent >= kMost || extent <= -kMost) {
    status = Invalid("an extent of " + std::to_string(extent) + " bytes");
  }
  return Give(status, status.ok() ? of->layout.Resized(extent) : TypedLayout(), layout);
}

void brigade_layout_destroy(brigade_layout* layout) { delete layout; }
