// Macros around constructors, calls of macros, and headers of types with parentheses.
namespace lib {
class View {
 public:
  constexpr LIB_INLINE View(const char* data) : data_(data), size_(count(data)) {}

  LIB_CONSTEXPR
  LIB_INLINE
  View(const char* data, int size)
      : data_(data),
        size_(is_same<char>::value && !is_empty(size)
                  ? size
                  : count(data)) {}

  template <typename T>
  LIB_CONSTEXPR20 View(const T& from LIB_BUILTIN, int size LIB_BUILTIN) noexcept : data_(from.data()) {}

  LIB_CONSTEXPR friend auto operator==(View left, View right) -> bool {
    return left.compare(right) == 0;
  }

 private:
  const char* data_;
  int size_;
};

LIB_TYPE_CONSTANT(int, int_type);
LIB_TYPE_CONSTANT(long long, long_long_type);
LIB_DEFAULT_ACTION(::std::string, "");  // of a macro
LIB_DEFAULT_ACTION(unsigned char, '\0');
LIB_DEFAULT_ACTION(void, );

LIB_INLINE View::View(int count)
    : size_(count) {}
LIB_INLINE View::~View() {}

LIB_EXPORT template <typename T> class Store {
  T value;
};

template <typename T, typename E>
struct Format<Expected<T, E>, enable_if<(is_void<T>::value || is_known<T>::value) && is_known<E>::value>> {
  LIB_CONSTEXPR auto parse(Context& context) -> const char* { return context.begin(); }
  T held;
};

template <typename S>
struct Text : is_class<decltype(to_view(declval<S>()))> {
  S text;
};

void print(const char* format, ...);
void log_like(1, 2) report(const char* format, ...);
extern void log_like(1, 0) report_all(const char* format);

template LIB_API auto View::find<char>(char wanted) -> int;
struct Behind {
  int last;
};
}  // namespace lib
