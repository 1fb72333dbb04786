#include <vector>
namespace outer::inner {
namespace {
int hidden = 1;
}

/// A shape.
template <typename T, int N = 3>
class Shape : public Base<T>, private Other {
public:
    static constexpr int MAX = 10;
    using value_type = T;
    typedef T *pointer;
    explicit Shape(int n) : n_(n) {}
    Shape(const Shape &) = delete;
    virtual ~Shape() = default;
    virtual double area() const noexcept = 0;
    // Compares.
    bool operator==(const Shape &other) const { return n_ == other.n_; }
    T operator()(int i, int j);
    explicit operator bool() const { return true; }
    template <class U> void visit(U &&u) { u(*this); }
    static Shape *make();
    friend std::ostream &operator<<(std::ostream &out, const Shape &shape);
    enum class Color : char { Red, Green };
    struct Inner { int a = 1; void deep() {} };
    auto trailing() -> std::vector<T>;
protected:
    int n_, m_ = 2;
    std::vector<T> items_{};
};

struct Größe final {
    int x;
    [[nodiscard]] int get() const { return x; }
};

template <typename T, int N>
double Shape<T, N>::area() const noexcept { return 0; }
template <typename T, int N> Shape<T, N> *Shape<T, N>::make() { return nullptr; }
Thing::Thing(int a) : Base(a), b_{a} { }
Thing::~Thing() { }
Thing &Thing::operator=(const Thing &) { return *this; }
Thing::operator int() const { return 1; }
void a::b::free_in_namespace() {}

template <> void special<int>(int) {}
template <typename T> concept Addable = requires(T a) { a + a; };
template <typename T> using Ptr = T *;
constexpr double pi = 3.14;
inline int &reference() { static int x; return x; }
auto lambda = [](int x) { return x; };
class Forward;
extern "C" {
int c_function(int);
}
extern "C" void c_alone() {}
union Either { int i; float f; };
} // namespace outer::inner

#define LOG(x) do { } while (0)
int main(int argc, char **argv) try { return 0; } catch (...) { return 1; }
