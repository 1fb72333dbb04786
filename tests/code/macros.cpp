// Macros that a grammar takes for types, and branches of `#if` that close what others open.
#ifndef EXAMPLE_MACROS_H
#define EXAMPLE_MACROS_H

#define LIB_API __attribute__((visibility("default")))
#define LIB_CHECK(a, b) \
  do {                  \
    compare(a, b);      \
  } while (0)

LIB_BEGIN_NAMESPACE

LIB_DISABLE_WARNINGS(4251 4275)
namespace lib {
LIB_EXPORT
class LIB_API Buffer : public Base {
 public:
  LIB_API explicit Buffer(int size);
  LIB_CONSTEXPR20 ~Buffer();
  LIB_INLINE auto size() const -> int LIB_NOEXCEPT { return size_; }
  const char* name() const LIB_GUARDED_BY(mutex_);
  friend bool operator==(const Buffer& a, const Buffer& b) { return a.size_ == b.size_; }
 LIB_PRIVATE_UNLESS_TESTED:
  int size_;
};

template <typename T, LIB_ENABLE_IF(sizeof(T) > 4 && is_big<T>::value)>
auto wide(T value) -> T { return value; }

template <typename R, typename... Args>
class LIB_API [[nodiscard]] Call<R(Args...)> final {
 public:
  using Result = R;
};

struct Flags {
  enum : unsigned {
    first_flag = 1,
#ifdef LIB_MORE
#define LIB_LAST 3
    second_flag = 2,
#endif
    last_flag = LIB_LAST,
  };
};

LIB_API Pointer *(*hook)(Pointer *of) LIB_ATTR;

TEST(Buffer, Grows) {
  struct Local {
    int left;
  };
  use(Local{1});
}
}  // namespace lib

LIB_END_NAMESPACE

#ifdef LIB_OLD
int behind(int only) {
#else
int behind(int one, int two) {
#endif
  return choose(
#if LIB_HAS_INCLUDE(<bit>) && \
    LIB_VERSION > 3
      1,
#else
      0,
#endif
      2);
}

static const int table[] = {
#define ROW(x) x,
#include "rows.inc"
#ifdef LIB_OLD
    1,
#else
    2,
#endif
};
static int after_the_table;

class LIB_ALIGNED(16) Aligned {
 public:
  void grow() { size_ += 1; }
#ifdef LIB_OLD
  void old_way(int a
#else
  void new_way(int a
#endif
  );
  int size_;
};
#endif
