#include "windows/multiply/blas.h"

#include <dlfcn.h>

#include <string>

namespace brigade {

Status Gemm::Find(Element element, Gemm* gemm) {
  const char* name = nullptr;
  switch (element) {
    case Element::kFloat:
      name = "sgemm_";
      break;
    case Element::kDouble:
      name = "dgemm_";
      break;
    case Element::kComplexFloat:
      name = "cgemm_";
      break;
    case Element::kComplexDouble:
      name = "zgemm_";
      break;
    default:
      return {StatusCode::kInvalidArgument,
              std::string("element: matrices of ") + ElementName(element) + " are not multiplied"};
  }
  gemm->call_ = reinterpret_cast<Call>(dlsym(RTLD_DEFAULT, name));
  if (gemm->call_ != nullptr) return Status();
  return {StatusCode::kUnavailable,
          std::string("no ") + name +
              " in this process: link or preload a BLAS (-Wl,--no-as-needed), or dlopen it with "
              "RTLD_GLOBAL"};
}

}  // namespace brigade
