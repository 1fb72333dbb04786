/* Functions of which one half stands in a branch. */
#ifdef __cplusplus
extern "C" {
#endif

API struct number *(*make_number)(const char *of) ATTR;
API int (parenthesised)(struct number *of);

int number_equal(struct number a, struct number b) {
  return compare(a, b
#ifdef EXACT
      , 1) && (
#else
      , 0) || (
#endif
      a.kind == b.kind);
}

#if OLD
int number_value(n)
  struct number *n;
{
#else
int number_value(struct number *n) {
#endif
  union {
    double wide;
    long bits;
  } both = { 0 };
#define HALF(x) \
  ((x) / 2)
  return HALF(n->value);
}

TEST_BEGIN(test_halves) {
  if (a) {
    check(va_arg(ap, char *));
  }
}
TEST_END

#if 0
int never(void) { return
#endif

typedef struct {
  int size;
} BIG_CTX;

typedef enum kind kind;
enum kind {
  KIND_NONE,
#ifdef MORE
  KIND_MORE,
#endif
  KIND_LAST
};

#ifdef __cplusplus
}
#endif
