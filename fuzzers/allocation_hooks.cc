// Tells AllocationMeter of every allocation of the program: by the
// sanitizer's hooks where there is one, else by replacing operator new.
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "fuzzers/allocation.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define WEIGHTPROOF_SANITIZER_HOOKS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WEIGHTPROOF_SANITIZER_HOOKS 1
#endif

namespace allocation = weightproof::fuzzers::allocation;

#ifdef WEIGHTPROOF_SANITIZER_HOOKS

extern "C" {
int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void*, std::size_t),
    void (*free_hook)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void* p);
}

namespace {

const bool kInstalled = [] {
  __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t size) {
        allocation::OnAllocate(size);
      },
      [](const volatile void* p) {
        allocation::OnFree(__sanitizer_get_allocated_size(p));
      });
  allocation::hooked = true;
  return true;
}();

}  // namespace

#else

namespace {

const bool kInstalled = allocation::hooked = true;

void* Allocate(std::size_t size) {
  void* p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) throw std::bad_alloc();
  allocation::OnAllocate(malloc_usable_size(p));
  return p;
}

void Free(void* p) {
  if (p == nullptr) return;
  allocation::OnFree(malloc_usable_size(p));
  std::free(p);
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void operator delete(void* p) noexcept { Free(p); }
void operator delete[](void* p) noexcept { Free(p); }
void operator delete(void* p, std::size_t) noexcept { Free(p); }
void operator delete[](void* p, std::size_t) noexcept { Free(p); }

#endif
