// What stands behind code that a grammar does not understand.
namespace lib {
TEST(Buffer, Throws) {
  SECTION("more") {
    EXPECT(Local{1}, json::type_error&);
  }
}

class Behind {
 public:
  Behind() = default;
  using Type = int;
  strange int odd;
  int plain;
};

template <class T>
struct Last<T, std::enable_if_t<(sizeof(T) > 4)>> {
  T value;
};
}  // namespace lib
